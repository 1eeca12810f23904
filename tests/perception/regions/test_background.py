"""The remembered scene: what differs, what is learned, what is healed, where the camera turned."""

import cv2
import numpy as np
import pytest

from wordsight.perception.detectors.suppression import box_iou
from wordsight.perception.regions.background import CameraMotion, SceneBackground, moved
from wordsight.perception.regions.blob import blobs_of, boxes_of, colour_distance, to_lab
from wordsight.perception.regions.finder import StaticRegions

THING = np.s_[60:100, 100:130]


def texture(seed=0, width=160):
    rng = np.random.default_rng(seed)
    grain = cv2.GaussianBlur(rng.normal(0, 1, (120, width)), (0, 0), 3)
    return np.clip(150 + 25 * (grain / grain.std()), 0, 255)[..., None].repeat(3, axis=2)


def lab_of(image):
    return to_lab(np.clip(image, 0, 255).astype(np.uint8))


def with_thing(colour=(190, 40, 40), where=THING):
    image = texture()
    image[where] = colour
    return lab_of(image)


def blob_at(where=THING):
    mask = np.zeros((120, 160), np.uint8)
    mask[where] = 255
    return blobs_of(mask, 1)[0]


def has_thing_at(inventory, x, foreground=None):
    """Say whether the red thing is among the still ones with its left edge at x."""
    nothing = np.zeros((120, 160), np.uint8)
    boxes = boxes_of(inventory.visible(nothing if foreground is None else foreground))
    return box_iou(np.array([[x, 60, x + 30, 100.0]]), boxes).max(initial=0) > 0.7


def test_only_what_is_new_differs():
    distance, mask = SceneBackground(lab_of(texture())).compare(with_thing())
    assert mask[THING].mean() > 240
    mask[55:105, 95:135] = 0
    assert not mask.any() and distance[THING].min() > 20


def test_a_shake_of_one_pixel_is_nothing():
    background = SceneBackground(lab_of(texture()))
    for dx, dy in ((1, 0), (0, -1), (1, 1)):
        shaken = lab_of(np.roll(texture(), (dy, dx), axis=(0, 1)))
        mask = background.compare(shaken)[1]
        assert (mask[5:-5, 5:-5] > 0).mean() < 0.01


def test_the_foreground_is_not_learned_and_the_rest_is():
    background = SceneBackground(lab_of(texture()))
    picture = with_thing()
    brighter = picture.copy()
    brighter[..., 0] += 6
    for _ in range(200):
        distance, mask = background.compare(brighter)
        background.learn(brighter, distance, cv2.dilate(mask, np.ones((3, 3), np.uint8)), 0.04)
    assert background.compare(brighter)[1][THING].mean() > 240
    light = colour_distance(background.picture, brighter)
    assert light[:40].max() <= 2


def test_a_hole_that_something_left_is_told_from_a_thing():
    came = SceneBackground(lab_of(texture()))
    _, mask = came.compare(with_thing())
    assert not came.holes(with_thing(), mask)[THING].any()
    left = SceneBackground(with_thing())
    _, mask = left.compare(lab_of(texture()))
    assert (left.holes(lab_of(texture()), mask)[THING] > 0).mean() > 0.9


def test_a_hole_is_healed_once_it_rests():
    background, empty = SceneBackground(with_thing()), lab_of(texture())
    healed_after = None
    for step in range(20):
        distance, mask = background.compare(empty)
        if not mask[62:98, 102:128].any():
            healed_after = step
            break
        background.heal(empty, background.holes(empty, mask))
        background.learn(empty, distance, mask, 0.04)
    assert healed_after is not None and 3 <= healed_after <= 8


def test_a_thing_becomes_scenery_after_a_long_rest():
    background, picture = SceneBackground(lab_of(texture())), with_thing()
    seconds = 0
    while background.compare(picture)[1].any():
        distance, mask = background.compare(picture)
        background.heal(picture, np.zeros_like(mask))
        background.learn(picture, distance, mask, 1.0)
        seconds += 1
        assert seconds < 110
    assert seconds > 60


def test_erase_guesses_the_ground_and_restore_puts_back():
    background = SceneBackground(with_thing())
    pixels = blob_at().crop(background.picture).copy()
    background.erase(blob_at())
    assert background.compare(with_thing())[1][THING].mean() > 200
    assert colour_distance(background.picture, lab_of(texture()))[THING].mean() < 20
    background.restore(blob_at(), pixels)
    assert not background.compare(with_thing())[1][THING].any()


def test_light_is_followed_at_once():
    background = SceneBackground(lab_of(texture()))
    dark = lab_of(texture() * 0.8)
    background.follow_light(dark, np.zeros((120, 160), np.uint8))
    assert (background.compare(dark)[1] > 0).mean() < 0.02


@pytest.mark.parametrize("dx, dy", [(3, 0), (-5, 2), (0, -4), (8, 6), (0, 0), (1, 0)])
def test_the_turn_of_the_camera(dx, dy):
    wide = texture(width=200)[:, 20:180]
    scene, picture = lab_of(wide), lab_of(np.roll(wide, (dy, dx), axis=(0, 1)))
    found = CameraMotion((120, 160)).shift(scene, picture)
    if max(abs(dx), abs(dy)) > 1:
        assert np.abs(np.array(found) - (dx, dy)).max() <= 1
    background = SceneBackground(scene)
    background.follow_camera(dx, dy, picture)
    assert (background.compare(picture)[1] > 0).mean() < 0.01


def test_a_large_thing_that_moves_is_no_turn_of_the_camera():
    one, two = texture(), texture()
    one[20:110, 10:90] = (190, 40, 40)
    two[20:110, 16:96] = (190, 40, 40)
    assert CameraMotion((120, 160)).shift(lab_of(one), lab_of(two)) == (0, 0)


def test_unlike_pictures_give_no_turn():
    assert CameraMotion((120, 160)).shift(lab_of(texture(0)), lab_of(texture(1))) == (0, 0)


def test_moved_repeats_the_edge():
    plane = np.arange(12).reshape(3, 4)
    assert moved(plane, 1, 0).tolist() == [[0, 0, 1, 2], [4, 4, 5, 6], [8, 8, 9, 10]]
    assert moved(plane, 0, -1).tolist() == [[4, 5, 6, 7], [8, 9, 10, 11], [8, 9, 10, 11]]


def test_a_thing_passing_before_a_still_one_is_found_out():
    background, inventory = SceneBackground(with_thing()), StaticRegions(12)
    inventory.refresh(background.picture, 0.0)
    assert has_thing_at(inventory, 100)
    holes = np.zeros((120, 160), np.uint8)
    holes[60:100, 100:112] = 255
    assert inventory.remove_departed(holes, background, 0.1)
    assert background.compare(with_thing())[1][THING].any()
    inventory.restore_returned(with_thing(), background, 0.2)  # too early to say
    assert background.compare(with_thing())[1][THING].any()
    inventory.restore_returned(with_thing(), background, 0.7)
    assert not background.compare(with_thing())[1][62:98, 102:128].any()
    inventory.refresh(background.picture, 0.7)
    assert has_thing_at(inventory, 100)


def test_hidden_things_are_not_reported():
    background, inventory = SceneBackground(with_thing()), StaticRegions(12)
    inventory.refresh(background.picture, 0.0)
    hidden = np.zeros((120, 160), np.uint8)
    hidden[50:110, 90:140] = 255
    assert has_thing_at(inventory, 100) and not has_thing_at(inventory, 100, hidden)


def test_things_that_leave_the_picture_with_the_camera_are_forgotten():
    background, inventory = SceneBackground(with_thing()), StaticRegions(12)
    inventory.refresh(background.picture, 0.0)
    inventory.follow_camera(10, 0, (120, 160, 3), 0.1)
    assert has_thing_at(inventory, 110)
    inventory.follow_camera(25, 0, (120, 160, 3), 0.2)
    assert not has_thing_at(inventory, 135)
