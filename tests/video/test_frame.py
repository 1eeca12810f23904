"""Frames: pixels made on demand, in any size, upright, and never written to."""

import av
import numpy as np
import pytest

from wordsight.video import Frame
from wordsight.video.read.frame import Converter


def gradient(width, height):
    x = np.linspace(0, 255, width)[None, :].repeat(height, axis=0)
    y = np.linspace(0, 255, height)[:, None].repeat(width, axis=1)
    return np.stack([x, y, 255 - x], axis=2).astype(np.uint8)


def decoded(image):
    return av.VideoFrame.from_ndarray(image, format="rgb24").reformat(format="yuv444p")


def test_from_array_keeps_its_own_read_only_copy():
    image = gradient(40, 30)
    frame = Frame.from_array(image, 1.5, 7)
    image[:] = 0
    assert (frame.index, frame.time, frame.size) == (7, 1.5, (40, 30))
    assert frame.image.max() == 255
    assert frame.image is frame.image
    with pytest.raises(ValueError, match="read-only"):
        frame.image[0, 0] = 0


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((4, 4), np.uint8),  # gray
        np.zeros((4, 4, 4), np.uint8),  # four channels
        np.zeros((4, 4, 3), np.float64),  # not bytes
        np.zeros((0, 4, 3), np.uint8),  # no rows
    ],
)
def test_from_array_refuses_what_is_not_an_rgb_image(image):
    with pytest.raises(ValueError, match=r"\(H, W, 3\) array of uint8"):
        Frame.from_array(image, 0.0)


@pytest.mark.parametrize("gray", [False, True])
def test_scaling_a_picture_and_an_array_gives_nearly_the_same(gray):
    image = gradient(120, 80)
    from_array = Frame.from_array(image, 0.0).scaled(30, 20, gray=gray)
    frame = Frame(decoded(image), 0.0, 0, (120, 80))
    from_picture = frame.scaled(30, 20, gray=gray)
    assert from_array.shape == from_picture.shape == ((20, 30) if gray else (20, 30, 3))
    assert np.abs(from_array.astype(int) - from_picture.astype(int)).mean() < 3
    assert not from_picture.flags.writeable
    assert frame.scaled(30, 20, gray=gray) is from_picture


def test_image_has_the_asked_size():
    frame = Frame(decoded(gradient(120, 80)), 0.0, 0, (60, 40))
    assert frame.image.shape == (40, 60, 3)
    assert frame.size == (60, 40)


@pytest.mark.parametrize("quarter_turns", [0, 1, 2, 3])
def test_turned_pictures_come_upright_in_every_size(quarter_turns):
    image = gradient(120, 80)
    upright = np.rot90(image, quarter_turns)
    size = (upright.shape[1], upright.shape[0])
    frame = Frame(decoded(image), 0.0, 0, size, quarter_turns=quarter_turns)
    assert np.abs(frame.image.astype(int) - upright.astype(int)).mean() < 3
    small = frame.scaled(size[0] // 4, size[1] // 4)
    expected = Frame.from_array(upright, 0.0).scaled(size[0] // 4, size[1] // 4)
    assert np.abs(small.astype(int) - expected.astype(int)).mean() < 3


def test_a_converter_serves_several_sizes_in_turn():
    converter, picture = Converter(), decoded(gradient(64, 48))
    for width, height in [(16, 12), (32, 24), (16, 12)]:
        assert converter.convert(picture, width, height, "rgb24").shape == (height, width, 3)


@pytest.mark.parametrize("size", [(0, 5), (5, -1)])
def test_a_size_without_pixels_is_refused(size):
    with pytest.raises(ValueError, match="1 or more"):
        Frame.from_array(gradient(8, 8), 0.0).scaled(*size)


def test_odd_widths_have_no_padding():
    frame = Frame(decoded(gradient(121, 81)), 0.0, 0, (121, 81))
    assert frame.scaled(37, 23, gray=True).shape == (23, 37)
    assert frame.image.shape == (81, 121, 3)
