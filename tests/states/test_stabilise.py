"""The camera's shake and the table's height, read off tracks whose truth is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordsight.states import StateError, StateObservations, TrackedObject, TrackSmoothing
from wordsight.states.grounding.stabilise import camera_shake, heights_above_table, stabilised

TIMES = np.arange(150) / 30


def wander(random, size):
    """Smooth motion of some pixels, as a hand-held camera makes it."""
    window = np.hanning(19)
    steps = random.normal(size=(len(TIMES) + 18, 2))
    smooth = [np.convolve(steps[:, k], window, mode="valid") for k in (0, 1)]
    return size * np.stack(smooth, axis=1) / np.sqrt((window**2).sum())


def table(num_resting=3):
    """Blocks that stand, the last of which is carried away to the right and put down again."""
    boxes = np.zeros((len(TIMES), num_resting + 1, 4)) + np.array([0.0, 340, 50, 396])
    boxes[:, :, [0, 2]] += 110.0 * np.arange(num_resting + 1)[:, None]
    along = np.clip((np.arange(len(TIMES)) - 60) / 40, 0, 1)
    boxes[:, -1, [0, 2]] += 120 * along[:, None]
    boxes[:, -1, [1, 3]] -= 90 * np.sin(np.pi * along)[:, None]
    return boxes


@pytest.mark.parametrize("num_resting", [1, 2, 4])
@pytest.mark.parametrize("size", [1.5, 3.0])
def test_shake_is_found_though_something_is_carried(num_resting, size):
    random = np.random.default_rng(num_resting)
    shake = wander(random, size)
    boxes = table(num_resting) + np.tile(shake, 2)[:, None] + random.normal(0, 0.3, (150, 1, 4))
    left = camera_shake(boxes, TIMES) - shake
    assert left.std(axis=0).max() < 0.4
    calm = stabilised(boxes[:, :, None], TIMES)[:, 0, 0]
    assert calm.std(axis=0).max() < 0.6


def test_shake_of_nothing_known():
    lost = np.full((150, 2, 4), np.nan)
    restless = np.zeros((150, 1, 4)) + np.array([0, 0, 20, 30])
    restless += 40.0 * np.arange(150)[:, None, None]
    for boxes in (lost, restless, table()[:1]):  # not seen, never at rest, one frame
        assert not camera_shake(boxes, TIMES[: len(boxes)]).any()


def test_shake_of_a_thing_that_is_lost_for_a_while():
    shake = wander(np.random.default_rng(3), 2.0)
    boxes = table() + np.tile(shake, 2)[:, None]
    boxes[40:90, 0] = np.nan
    assert (camera_shake(boxes, TIMES) - shake).std(axis=0).max() < 0.3


def test_a_box_drawn_too_low_does_not_lift_the_others():
    boxes = table()
    boxes[:, 0, 3] += 7
    things = [TrackedObject(name) for name in "abcd"]
    found = StateObservations.from_boxes(
        "v", TIMES, things, boxes, smoothing=TrackSmoothing(3, hold=True, steady=True)
    )
    elevation = found.features["elevation"]
    assert np.abs(elevation[:, :3]).max() < 0.5
    assert elevation[80, 3] == pytest.approx(90, abs=3)


def test_a_box_cut_off_from_below_does_not_rise():
    boxes = table()
    boxes[40:80, 0, 3] -= 5  # a mug in front of it
    found = heights_above_table(boxes, TIMES)
    assert np.abs(found[:, :3]).max() < 0.5
    boxes[100:, 1, [1, 3]] -= 20  # raised: both edges go
    np.testing.assert_allclose(heights_above_table(boxes, TIMES)[100:, 1], 20, atol=0.5)


def test_what_stands_on_another_counts_from_the_table():
    boxes = table()
    boxes[:, 1, [1, 3]] -= 56
    np.testing.assert_allclose(
        heights_above_table(boxes, TIMES)[:, :3], [[0, 56, 0]] * 150, atol=0.5
    )
    boxes[:50, 1] = np.nan
    assert np.isnan(heights_above_table(boxes, TIMES)[:50, 1]).all()


def test_heights_where_nothing_is_seen_for_long():
    lost = np.full((5, 2, 4), np.nan)
    assert np.isnan(heights_above_table(lost, TIMES[:5])).all()
    assert heights_above_table(lost[:0], TIMES[:0]).shape == (0, 2)
    winking = table()[:, :1]
    winking[::2] = np.nan
    assert np.nanmax(heights_above_table(winking, TIMES)) == 0


def test_steadying_needs_the_whole_video():
    with pytest.raises(StateError, match="steady=False"):
        StateObservations.from_boxes(
            "v",
            TIMES,
            [TrackedObject(name) for name in "abcd"],
            table(),
            smoothing=TrackSmoothing(steady=True),
            causal=True,
        )


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(-300, 300), st.floats(-300, 300))
def test_shake_does_not_depend_on_where_the_picture_is_nor_on_the_order(seed, across, down):
    random = np.random.default_rng(seed)
    boxes = table() + np.tile(wander(random, 2.0), 2)[:, None]
    found = camera_shake(boxes, TIMES)
    moved = camera_shake(boxes + np.array([across, down, across, down]), TIMES)
    np.testing.assert_allclose(found, moved, atol=1e-6)
    np.testing.assert_allclose(found, camera_shake(boxes[:, ::-1], TIMES), atol=1e-9)
