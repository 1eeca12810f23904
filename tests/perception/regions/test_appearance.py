"""Looks: like things near each other, unlike things apart, whatever light, place and size."""

import numpy as np
import pytest

from wordsight.perception.regions.blob import (
    APPEARANCE_SIZE,
    OUTLINE_SIZE,
    blobs_of,
    describe,
    outlines,
    to_lab,
)

RED, BLUE, GREY = (190, 40, 40), (40, 60, 170), (90, 90, 95)


def look(colour, box=(60, 60, 100, 140), light=1.0, stripes=0, size=(240, 320)):
    image = np.full((*size, 3), 150.0)
    x1, y1, x2, y2 = box
    image[y1:y2, x1:x2] = colour
    if stripes:
        image[y1:y2:stripes, x1:x2] = (230, 230, 230)
    mask = np.zeros(size, np.uint8)
    mask[y1:y2, x1:x2] = 255
    (blob,) = blobs_of(mask, 1)
    lab = to_lab(np.clip(image * light, 0, 255).astype(np.uint8))
    return describe([blob], lab)[0]


def apart(one, other):
    return float(np.linalg.norm(one - other))


def test_shape_type_and_range():
    row = look(RED)
    assert row.shape == (APPEARANCE_SIZE,) and row.dtype == np.float32
    assert 24 <= APPEARANCE_SIZE <= 40 and np.abs(row).max() < 2


@pytest.mark.parametrize(
    "change",
    [
        {"light": 0.7},  # dimmer
        {"light": 1.2},  # brighter
        {"box": (200, 90, 240, 170)},  # elsewhere
        {"box": (60, 60, 110, 160)},  # somewhat larger
        {"size": (360, 480), "box": (90, 90, 150, 210)},  # a larger picture of the same
    ],
)
def test_the_same_thing_stays_near(change):
    red = look(RED)
    again = look(RED, **change)
    others = [look(BLUE), look(GREY), look(RED, box=(60, 60, 140, 80), stripes=6)]
    assert apart(red, again) < 0.6 * min(apart(red, other) for other in others)


def test_colour_shape_and_texture_all_count():
    red = look(RED)
    assert apart(red, look(BLUE)) > 0.5
    assert apart(red, look(RED, box=(60, 60, 140, 100))) > 0.5
    assert apart(red, look(RED, stripes=5)) > 0.5


def test_only_the_pixels_of_the_patch_count():
    image = np.full((100, 100, 3), 150, np.uint8)
    image[20:80, 20:80] = RED
    lab = to_lab(image)
    mask = np.zeros((100, 100), np.uint8)
    mask[22:78, 22:78] = 255
    (blob,) = blobs_of(mask, 1)
    image[40:60, 40:60] = BLUE
    holed = mask.copy()
    holed[36:64, 36:64] = 0
    (ring,) = blobs_of(holed, 1)
    assert (
        np.abs(describe([blob], lab)[0][:11] - describe([ring], to_lab(image))[0][:11]).max() < 0.1
    )


def test_an_appearance_that_is_known_is_kept():
    mask = np.zeros((50, 50), np.uint8)
    mask[10:20, 10:20] = 255
    known = np.arange(APPEARANCE_SIZE, dtype=np.float32)
    (blob,) = blobs_of(mask, 1)
    rows = describe([blob.described(known), blob], np.zeros((50, 50, 3), np.uint8))
    assert rows[0].tolist() == known.tolist() and rows[1].tolist() != known.tolist()


def test_no_regions_and_tiny_regions():
    assert describe([], np.zeros((9, 9, 3), np.uint8)).shape == (0, APPEARANCE_SIZE)
    mask = np.zeros((9, 9), np.uint8)
    mask[4, 4] = 255
    (blob,) = blobs_of(mask, 1, least_side=1)
    assert np.isfinite(describe([blob], np.zeros((9, 9, 3), np.uint8))).all()


def test_outlines_follow_the_edges_whatever_the_size_and_light():
    grey = np.full((120, 160), 60, np.uint8)
    grey[20:60:4, 10:50] = 200  # horizontal stripes
    grey[20:60, 100:140:4] = 200  # vertical stripes
    large = np.repeat(np.repeat(grey, 2, axis=0), 2, axis=1)
    boxes = np.array([[10.0, 20, 50, 60], [100, 20, 140, 60]])
    flat, upright = outlines(grey, boxes)
    again = outlines(large // 2 + 30, 2 * boxes)
    assert flat.shape == (OUTLINE_SIZE,) and np.isfinite(flat).all()
    near = [np.linalg.norm(row - other) for row, other in zip((flat, upright), again, strict=True)]
    assert max(near) < 0.5 * np.linalg.norm(flat - upright)


def test_outlines_of_boxes_that_leave_the_picture():
    grey = np.arange(40 * 30, dtype=np.uint8).reshape(30, 40)
    rows = outlines(
        grey, np.array([[-5.0, -5, 50, 50], [39.5, 29.5, 39.9, 29.9], [60, 60, 70, 70]])
    )
    assert rows.shape == (3, OUTLINE_SIZE) and np.isfinite(rows).all()
    assert outlines(grey, np.zeros((0, 4))).shape == (0, OUTLINE_SIZE)
