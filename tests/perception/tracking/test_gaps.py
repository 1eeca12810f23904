"""Filling, smoothing and extending tracks."""

import numpy as np

from wordsight.perception.tracking.joining import extend, fill, smooth

BOX = np.array([10.0, 20.0, 30.0, 60.0])


def test_filled_boxes_lie_on_a_line_in_time_not_in_frames():
    times = np.array([0.0, 0.1, 0.4, 0.5])  # a variable frame rate
    boxes = np.stack([BOX, BOX + 50])
    rows, filled = fill(np.array([0, 3]), boxes, times)
    assert rows.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(filled, BOX + 50 * (times / 0.5)[:, None])


def test_a_track_without_gaps_stays_as_it_is():
    boxes = np.stack([BOX, BOX + 1, BOX + 5])
    rows, filled = fill(np.array([4, 5, 6]), boxes, np.arange(9) / 10)
    assert rows.tolist() == [4, 5, 6]
    np.testing.assert_array_equal(filled, boxes)


def test_smoothing_takes_jitter_out_and_leaves_steady_motion():
    times = np.arange(60) / 30
    path = BOX + 80 * times[:, None]
    np.testing.assert_allclose(smooth(path, times, 0.15), path, atol=1e-6)
    jittered = path + np.random.default_rng(0).normal(0, 2, path.shape)
    before, after = np.std(jittered - path), np.std(smooth(jittered, times, 0.15) - path)
    assert after < 0.7 * before


def test_smoothed_boxes_never_turn_inside_out():
    rng = np.random.default_rng(1)
    corners = rng.uniform(0, 100, (40, 2))
    wild = np.concatenate([corners, corners + rng.exponential(5, (40, 2)) + 0.01], axis=1)
    smoothed = smooth(wild, np.arange(40) / 10, 0.5)
    assert (smoothed[:, 2:] > smoothed[:, :2]).all()


def test_no_smoothing_changes_nothing():
    boxes = np.stack([BOX, BOX + 3, BOX])
    np.testing.assert_array_equal(smooth(boxes, np.arange(3.0), 0), boxes)


def test_an_extension_moves_on_as_before_and_stops_with_the_video():
    times = np.arange(10) / 10
    rows = np.array([2, 3, 4, 5])
    boxes = BOX + 30 * times[rows][:, None]
    longer, extended = extend(rows, boxes, times, 0.35, 0.5)
    assert longer.tolist() == list(range(9))
    np.testing.assert_allclose(extended, BOX + 30 * times[longer][:, None])
