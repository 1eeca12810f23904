"""Frames as networks want them, and boxes back again."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.errors import FormatError
from wordsight.perception.detectors.network_input import InputFormat, Placement, Preparation
from wordsight.video import Frame


def declared(shape, kind="tensor(float)"):
    return SimpleNamespace(name="images", shape=shape, type=kind)


@pytest.mark.parametrize(
    "shape, wanted, size, last",
    [
        ([1, 3, 96, 128], None, (128, 96), False),
        (["batch", 3, "height", "width"], None, (640, 640), False),
        (["batch", 3, None, None], 320, (320, 320), False),
        ([1, 3, -1, -1], (64, 32), (64, 32), False),
        ([1, 96, 128, 3], 320, (128, 96), True),
    ],
)
def test_format_is_read_from_the_model(shape, wanted, size, last):
    form = InputFormat.of(declared(shape), wanted)
    assert form.size == size and form.channels_last is last


@pytest.mark.parametrize(
    "shape, kind, words",
    [
        ([1, 1, 28, 28], "tensor(float)", "expected one RGB image"),
        ([1, 3], "tensor(float)", "expected one RGB image"),
        ([1, 3, 8, 8], "tensor(int64)", "of tensor"),
        ([4, 3, 8, 8], "tensor(float)", "batch of 1"),
    ],
)
def test_other_inputs_are_refused(shape, kind, words):
    with pytest.raises(FormatError, match=words):
        InputFormat.of(declared(shape, kind), None)


FRAME = Frame.from_array(
    np.broadcast_to(np.array([255, 128, 0], np.uint8), (30, 60, 3)).copy(), 0.0
)


def test_letterbox_keeps_proportions_and_fills_with_grey():
    form = InputFormat.of(declared([1, 3, 40, 40]), None)
    values, placement = form.prepare(FRAME, Preparation(letterbox=True))
    assert values.shape == (1, 3, 40, 40) and values.dtype == np.float32
    assert placement.offset == (0, 10) and placement.scale == pytest.approx((2 / 3, 2 / 3))
    np.testing.assert_allclose(values[0, :, :10], 114 / 255)
    np.testing.assert_allclose(values[0, :, 10:30].mean(axis=(1, 2)), [1, 128 / 255, 0], atol=0.01)


def test_stretching_fills_the_picture():
    form = InputFormat.of(declared([1, 3, 40, 40]), None)
    values, placement = form.prepare(FRAME, Preparation())
    np.testing.assert_allclose(values[0].mean(axis=(1, 2)), [1, 128 / 255, 0], atol=0.01)
    assert placement == Placement((40 / 60, 40 / 30), (0.0, 0.0))


@pytest.mark.parametrize(
    "kind, dtype", [("tensor(float16)", np.float16), ("tensor(uint8)", np.uint8)]
)
def test_number_types_and_layout(kind, dtype):
    form = InputFormat.of(declared([1, 40, 40, 3], kind), None)
    values, _ = form.prepare(FRAME, Preparation())
    assert values.shape == (1, 40, 40, 3) and values.dtype == dtype
    top = 255 if dtype is np.uint8 else 1
    np.testing.assert_allclose(values[0, 20, 20], np.array([1, 0.5, 0]) * top, atol=0.01 * top)


def test_normalising_centres_the_colours():
    form = InputFormat.of(declared([1, 3, 40, 40]), None)
    values, _ = form.prepare(FRAME, Preparation(values="imagenet"))
    assert values[0, 0].mean() == pytest.approx((1 - 0.485) / 0.229, rel=0.01)


@pytest.mark.slow
@given(
    st.tuples(st.integers(20, 400), st.integers(20, 400)),
    st.tuples(st.floats(0, 0.4), st.floats(0, 0.4), st.floats(0.5, 1), st.floats(0.5, 1)),
    st.booleans(),
)
def test_boxes_come_back_to_where_they_were(size, shares, letterbox):
    frame = Frame.from_array(np.zeros((size[1], size[0], 3), np.uint8), 0.0)
    form = InputFormat.of(declared([1, 3, 96, 128]), None)
    _, placement = form.prepare(frame, Preparation(letterbox=letterbox))
    box = np.array([shares]) * np.tile(size, 2)
    seen = box * np.tile(placement.scale, 2) + np.tile(placement.offset, 2)
    np.testing.assert_allclose(placement.to_frame(seen, size), box, atol=1e-9)


def test_boxes_are_cut_at_the_edges():
    placement = Placement((1.0, 1.0), (0.0, 0.0))
    cut = placement.to_frame(np.array([[-5, -5, 500, 20.0]]), (100, 50))
    assert cut.tolist() == [[0, 0, 100, 20]]
