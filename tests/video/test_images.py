"""Pictures go to disk and come back; what is not a picture is refused before it is unpacked."""

import struct
import zlib

import cv2
import numpy as np
import pytest

from wordsight.errors import VideoError
from wordsight.video.images import checked_image, read_image, write_image


def gradient(height=40, width=60):
    image = np.zeros((height, width, 3), np.uint8)
    image[..., 0] = np.linspace(0, 255, width)
    image[..., 1] = np.linspace(0, 255, height)[:, None]
    return image


def png_that_claims(width, height):
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
    return b"\x89PNG\r\n\x1a\n" + chunk


def test_png_is_exact_and_jpeg_is_close(tmp_path):
    image = gradient()
    write_image(tmp_path / "a.png", image)
    write_image(tmp_path / "a.JPG", image)
    assert np.array_equal(read_image(tmp_path / "a.png"), image)
    back = read_image(tmp_path / "a.JPG").astype(int)
    assert np.abs(back - image).mean() < 4
    # Red stays red: the channels are not swapped.
    assert back[0, -1, 0] > 200 and back[0, -1, 2] < 60


def test_same_picture_same_bytes(tmp_path):
    write_image(tmp_path / "a.png", gradient())
    write_image(tmp_path / "b.png", gradient())
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_grey_and_transparent_files_become_rgb(tmp_path):
    cv2.imwrite(str(tmp_path / "grey.png"), np.full((4, 5), 77, np.uint8))
    cv2.imwrite(str(tmp_path / "clear.png"), np.full((4, 5, 4), 77, np.uint8))
    assert (read_image(tmp_path / "grey.png") == np.full((4, 5, 3), 77)).all()
    assert read_image(tmp_path / "clear.png").shape == (4, 5, 3)


def test_an_existing_file_is_kept_unless_told(tmp_path):
    path = tmp_path / "a b 🎬.png"
    path.write_bytes(b"precious")
    with pytest.raises(VideoError, match="exists already"):
        write_image(path, gradient())
    assert path.read_bytes() == b"precious"
    write_image(path, gradient(), overwrite=True)
    assert read_image(path).shape == (40, 60, 3)


def test_pictures_that_claim_too_much_are_not_unpacked(tmp_path):
    (tmp_path / "bomb.png").write_bytes(png_that_claims(60_000, 60_000))
    with pytest.raises(VideoError, match="60000 x 60000 pixels"):
        read_image(tmp_path / "bomb.png")
    write_image(tmp_path / "a.jpg", gradient())
    with pytest.raises(VideoError, match="60 x 40 pixels"):
        read_image(tmp_path / "a.jpg", max_pixels=1000)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a PNG or JPEG"),
        (b"just text", "not a PNG or JPEG"),
        (b"\xff\xd8\xff", "not a PNG or JPEG"),  # a JPEG cut after its mark
        (b"\xff\xd8\xff\xe0\x00\x00" * 9, "not a PNG or JPEG"),  # segments of no length
        (png_that_claims(4, 4), "damaged"),  # a PNG without pixels
    ],
)
def test_what_is_not_a_picture_is_refused(tmp_path, data, message):
    path = tmp_path / "a.png"
    path.write_bytes(data)
    with pytest.raises(VideoError, match=message):
        read_image(path)


def test_names_and_places_that_do_not_work(tmp_path):
    with pytest.raises(VideoError, match="does not exist"):
        read_image(tmp_path / "none.png")
    with pytest.raises(VideoError, match="cannot be read"):
        read_image(tmp_path)
    with pytest.raises(VideoError, match=r"must end in \.png"):
        write_image(tmp_path / "a.gif", gradient())
    (tmp_path / "file").write_text("")
    with pytest.raises(VideoError, match="cannot be written"):
        write_image(tmp_path / "file" / "a.png", gradient())


@pytest.mark.parametrize(
    "image",
    [
        None,
        np.zeros((4, 4), np.uint8),  # grey
        np.zeros((4, 4, 4), np.uint8),  # with transparency
        np.zeros((4, 4, 3), np.float32),  # not bytes
        np.zeros((0, 4, 3), np.uint8),  # empty
    ],
)
def test_images_are_checked(image):
    with pytest.raises(VideoError, match=r"\(height, width, 3\)"):
        checked_image(image)


def test_a_png_that_breaks_off_anywhere_is_damaged(tmp_path):
    whole = tmp_path / "whole.png"
    write_image(whole, np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8))
    data, cut = whole.read_bytes(), tmp_path / "cut.png"
    for size in [*range(24, 400, 25), *range(len(data) - 60, len(data), 7)]:
        cut.write_bytes(data[:size])
        with pytest.raises(VideoError, match=r"cut\.png is damaged"):
            read_image(cut)
    cut.write_bytes(data + b"something behind its end")
    np.testing.assert_array_equal(read_image(cut), read_image(whole))
