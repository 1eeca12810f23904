"""Patches: taken out of masks, cut, moved, joined, halved."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from wordsight.perception.regions.blob import Blob, blobs_of, boxes_of, to_lab
from wordsight.perception.regions.finder import join_stacks, split_pair, without_shadow

MASKS = arrays(np.uint8, (9, 12), elements=st.sampled_from([0, 255]))


def drawn(*boxes, shape=(60, 80)):
    mask = np.zeros(shape, np.uint8)
    for x1, y1, x2, y2 in boxes:
        mask[y1:y2, x1:x2] = 255
    return mask


@given(MASKS)
def test_patches_make_up_the_mask(mask):
    blobs = blobs_of(mask, 1, least_side=1)
    painted = np.zeros_like(mask)
    for blob in blobs:
        inside = blob.crop(painted)
        assert not (inside & blob.mask).any(), "two patches share a pixel"
        inside |= blob.mask
        assert blob.area == np.count_nonzero(blob.mask)
        assert blob.mask.any(axis=0).all() and blob.mask.any(axis=1).all()  # the box is tight
        assert blob.covered(mask) == 1.0
    np.testing.assert_array_equal(painted, mask)


def test_small_and_thin_patches_are_left_out():
    mask = drawn((0, 0, 10, 10), (20, 0, 22, 50), (40, 40, 43, 43))
    assert boxes_of(blobs_of(mask, 20)).tolist() == [[0, 0, 10, 10]]
    assert boxes_of([]).shape == (0, 4)


def test_moving_scoring_and_cutting_a_patch():
    (blob,) = blobs_of(drawn((10, 20, 30, 40)), 1)
    look = np.ones(3, np.float32)
    moved = blob.scored(0.5).described(look).shifted(-4, 2)
    assert boxes_of([moved]).tolist() == [[6, 22, 26, 42]]
    assert moved.score == 0.5 and moved.appearance is look and moved.area == 400
    assert moved.scored(0.1).appearance is None
    piece = blob.piece(5, 0, 15, 8)
    assert boxes_of([piece]).tolist() == [[15, 20, 25, 28]] and piece.area == 80


@pytest.mark.parametrize(
    "boxes, halves",
    [
        # two people whose hands touch
        ([(10, 10, 24, 50), (24, 30, 30, 34), (30, 12, 44, 50)], [(10, 10), (12, 50)]),
        ([(10, 10, 30, 50)], []),  # one thing without a valley
        ([(10, 10, 20, 50), (20, 30, 40, 50)], []),  # a thing with a lower one beside it
        ([(10, 10, 14, 50), (14, 40, 16, 44), (16, 10, 20, 50)], []),  # narrow: one person's legs
    ],
)
def test_pairs_are_halved_at_the_valley(boxes, halves):
    (blob,) = blobs_of(drawn(*boxes), 1)
    found = split_pair(blob.scored(0.8))
    assert len(found) == len(halves)
    if halves:
        assert found[0].x2 == found[1].x1 and 24 <= found[0].x2 <= 30
        assert (found[0].y1, found[1].y1) == (10, 12)
        assert all(half.score == pytest.approx(0.76) for half in found)


@pytest.mark.parametrize(
    "upper, lower, joined",
    [
        ((20, 5, 40, 30), (22, 32, 38, 55), True),  # a gap like a belt
        ((20, 5, 40, 20), (22, 40, 38, 55), False),  # too far apart
        ((0, 5, 20, 30), (30, 32, 50, 55), False),  # not above one another
        ((0, 5, 60, 30), (20, 32, 30, 55), False),  # widths too different
    ],
)
def test_patches_above_one_another_are_joined(upper, lower, joined):
    blobs = [blob.scored(0.9) for blob in blobs_of(drawn(upper, lower), 1)]
    found = join_stacks(blobs)
    assert len(found) == 2 + joined
    if joined:
        whole = found[0]
        assert boxes_of([whole]).tolist() == [[20, 5, 40, 55]]
        assert whole.area == sum(blob.area for blob in blobs) and whole.score == 0.9
        assert all(blob.score < 0.9 for blob in found[1:])


def test_a_blob_is_frozen():
    blob = Blob(0, 0, 1, 1, np.ones((1, 1), np.uint8), 1)
    with pytest.raises(AttributeError):
        blob.x1 = 3


# Shadows: darker of the same colour; taken off the box, never out of the thing.

GROUND = (150, 120, 90)


def scene_and(*parts):
    """Return the scene, the picture with coloured parts, and the patch where they differ."""
    scene = np.full((80, 120, 3), GROUND, np.uint8)
    picture, mask = scene.copy(), np.zeros((80, 120), np.uint8)
    for (x1, y1, x2, y2), colour in parts:
        picture[y1:y2, x1:x2] = colour
        mask[y1:y2, x1:x2] = 255
    (blob,) = blobs_of(mask, 1)
    return blob, to_lab(picture), to_lab(scene)


def shade(factor):
    return tuple(round(part * factor) for part in GROUND)


@pytest.mark.parametrize("factor", [0.6, 0.75, 0.9])
def test_a_shadow_beside_a_thing_is_taken_off(factor):
    blob, picture, scene = scene_and(
        ((40, 10, 60, 70), (200, 30, 30)), ((60, 62, 100, 70), shade(factor))
    )
    (thing,) = without_shadow(blob, picture, scene)
    np.testing.assert_allclose(boxes_of([thing]), [[40, 10, 60, 70]], atol=2)


def test_two_things_that_only_shadows_connect_are_parted():
    blob, picture, scene = scene_and(
        ((10, 10, 30, 70), (200, 30, 30)),
        ((30, 62, 80, 70), shade(0.7)),
        ((80, 10, 100, 70), (30, 40, 180)),
    )
    found = without_shadow(blob, picture, scene)
    np.testing.assert_allclose(boxes_of(found), [[10, 10, 30, 70], [80, 10, 100, 70]], atol=2)


def test_a_thing_that_looks_like_a_shadow_is_kept_whole():
    blob, picture, scene = scene_and(((40, 10, 60, 70), shade(0.7)))
    assert without_shadow(blob, picture, scene) == [blob]


def test_clothes_that_look_like_a_shadow_stay_between_the_parts_that_do_not():
    blob, picture, scene = scene_and(
        ((40, 10, 60, 25), (220, 180, 150)),
        ((40, 25, 60, 45), shade(0.7)),
        ((40, 45, 60, 70), (20, 20, 60)),
    )
    (thing,) = without_shadow(blob, picture, scene)
    np.testing.assert_allclose(boxes_of([thing]), [[40, 10, 60, 70]], atol=2)


def test_black_is_no_shadow():
    blob, picture, scene = scene_and(((40, 10, 60, 70), (15, 12, 9)))
    assert boxes_of(without_shadow(blob, picture, scene)).tolist() == [[40, 10, 60, 70]]
