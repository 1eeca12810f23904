"""Distinct regions of one picture: flat ground, texture, parts; rarity counted by hand."""

import cv2
import numpy as np
import pytest

from wordsight.perception.detectors.suppression import box_iou
from wordsight.perception.regions.blob import blobs_of, boxes_of, colour_distance, gradient, to_lab
from wordsight.perception.regions.still import contrast, parts_of, rarity, static_regions

THINGS = {
    "red": ((40, 60, 80, 120), (190, 40, 40)),
    "blue": ((180, 150, 230, 200), (40, 60, 170)),
    "yellow": ((260, 30, 290, 80), (220, 200, 40)),
}


def plain():
    return np.full((240, 320, 3), 150.0)


def wall_and_floor():
    image = plain()
    image[:140], image[140:] = (200, 195, 180), (140, 110, 85)
    return image


def bricks():
    image = np.full((240, 320, 3), (170.0, 100, 80))
    image[::12] = (205, 200, 190)
    for row, top in enumerate(range(0, 240, 12)):
        image[top : top + 12, 15 * (row % 2) :: 30] = (205, 200, 190)
    return image


def leaves():
    rng = np.random.default_rng(0)
    grain = cv2.GaussianBlur(rng.normal(0, 1, (240, 320)), (0, 0), 3)
    return np.array([70.0, 110, 50]) + 30 * (grain / grain.std())[..., None] * [0.8, 1, 0.6]


@pytest.mark.parametrize("scenery", [plain, wall_and_floor, bricks, leaves])
def test_things_are_found_before_any_scenery(scenery):
    image = scenery()
    for (x1, y1, x2, y2), colour in THINGS.values():
        image[y1:y2, x1:x2] = colour
    found = static_regions(to_lab(np.clip(image, 0, 255).astype(np.uint8)), 12)
    truth = np.array([box for box, _ in THINGS.values()], float)
    assert (box_iou(truth, boxes_of(found)).max(axis=1) > 0.6).all()
    best = box_iou(boxes_of(found[:3]), truth).max(axis=1)
    assert (best > 0.5).sum() >= 2, "scenery comes before the things"
    scores = [blob.score for blob in found]
    assert scores == sorted(scores, reverse=True) and 0 <= scores[-1] <= scores[0] <= 1


@pytest.mark.parametrize("value", [0, 128, 255])
def test_nothing_in_an_empty_picture(value):
    assert static_regions(to_lab(np.full((240, 320, 3), value, np.uint8)), 12) == []


def test_limit_is_kept():
    image = bricks().astype(np.uint8)
    assert len(static_regions(to_lab(image), 3)) <= 3


def test_a_thing_of_two_colours_is_found_whole_and_what_it_carries_as_a_part():
    image = plain().astype(np.uint8)
    image[60:100, 100:140] = (190, 40, 40)
    image[100:180, 100:140] = (30, 30, 60)
    image[90:130, 125:165] = (230, 210, 60)
    lab = to_lab(image)
    found = static_regions(lab, 12)
    whole = np.array([[100, 60, 165, 180.0]])
    assert box_iou(whole, boxes_of(found[:1]))[0, 0] > 0.85
    mask = (colour_distance(lab, to_lab(plain().astype(np.uint8))) > 10).view(np.uint8) * 255
    (blob,) = blobs_of(mask, 50)
    parts = parts_of(blob, lab, 4)
    carried = np.array([[125, 90, 165, 130.0]])
    assert box_iou(carried, boxes_of(parts)).max() > 0.6
    assert len(parts) <= 4 and all(part.score <= 0.6 for part in parts)


def test_contrast_grows_with_difference():
    scores = []
    for level in (150, 155, 170, 220):
        image = plain().astype(np.uint8)
        image[100:140, 100:140] = level
        mask = np.zeros((240, 320), np.uint8)
        mask[100:140, 100:140] = 255
        (blob,) = blobs_of(mask, 1)
        scores.append(contrast(blob, to_lab(image)))
    assert scores[0] == 0 and scores == sorted(scores) and scores[-1] > 0.5


def test_a_patch_that_fills_the_picture_has_no_contrast():
    (blob,) = blobs_of(np.full((60, 80), 255, np.uint8), 1)
    assert contrast(blob, np.zeros((60, 80, 3), np.uint8)) == 0


def test_rarity_is_the_share_of_like_colours_around_in_bits():
    image = np.full((240, 320, 3), (150, 150, 150), np.uint8)
    image[100:116, 150:166] = (200, 30, 30)
    bits = rarity(cv2.cvtColor(image, cv2.COLOR_RGB2LAB))
    assert bits[10, 10] == pytest.approx(0, abs=0.01)
    # 256 red pixels in a window of about 0.6 x 0.6 of the picture: 11 x 9 cells of 16 x 16.
    assert bits[108, 158] == pytest.approx(np.log2(11 * 9 * 256 / 256), abs=0.4)


def test_colours_of_a_fine_pattern_are_common():
    board = np.indices((240, 320)).sum(axis=0) // 4 % 2
    image = np.where(board[..., None] > 0, (200, 40, 40), (40, 60, 170)).astype(np.uint8)
    assert rarity(cv2.cvtColor(image, cv2.COLOR_RGB2LAB)).max() < 1.6


@pytest.mark.parametrize("shape", [(16, 16), (17, 40), (240, 16)])
def test_small_pictures_are_taken(shape):
    rng = np.random.default_rng(0)
    image = rng.integers(0, 255, (*shape, 3), dtype=np.uint8)
    assert rarity(to_lab(image)).shape == shape
    static_regions(to_lab(image), 5)


def test_steps_of_colour():
    image = plain().astype(np.uint8)
    image[:, 160:] = (190, 40, 40)
    steps = gradient(to_lab(image))
    assert steps[:, 150].max() == 0 and steps[:, 160].min() > 30
