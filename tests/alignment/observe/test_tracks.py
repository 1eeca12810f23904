"""Hands and things followed in pictures and in space: what is touched, what moves, and how."""

import numpy as np
import pytest

from wordsight.alignment.observe.tracks import Handling, TrackedThings
from wordsight.errors import RecordError

TIMES = np.arange(60) / 10


def point(x, y):
    return np.stack(np.broadcast_arrays(x, y, np.zeros(60)), axis=1)[:, :2].astype(float)


def box(x, y, size=20.0):
    centre = point(x, y)
    return np.hstack([centre - size / 2, centre + size / 2])


def observe(things, hands=(), **handling):
    rule = Handling(**({"reach": 10.0, "speed": np.inf, "least_share": 0.5} | handling))
    return TrackedThings("film", TIMES, things, hands, rule).observe()


def test_a_thing_is_touched_while_a_hand_is_near():
    hand = point(np.where(TIMES < 3, 100, 400), 50)
    seen = observe({"cup": box(100, 50), "bag": box(400, 50)}, [hand])
    assert [set(c.things) for c in seen.chunks] == [{"cup"}] * 3 + [{"bag"}] * 3
    assert seen.duration == pytest.approx(6.0)


def test_distance_is_measured_to_the_edge_of_a_box():
    assert len(observe({"cup": box(100, 50)}, [point(119, 50)]).chunks) == 6
    assert observe({"cup": box(100, 50)}, [point(121, 50)]).chunks == ()


def test_points_in_space():
    hand = np.zeros((60, 3))
    near, far = hand + 0.03, hand + 0.05
    # The published rule is a squared distance below 0.004.
    seen = observe({"near": near, "far": far}, [hand], reach=0.004**0.5)
    assert {name for chunk in seen.chunks for name in chunk.things} == {"near"}


def test_each_hand_may_touch_only_the_nearest_thing():
    things = {"cup": box(100, 50), "bag": box(125, 50)}
    hand = [point(108, 50)]
    assert set(observe(things, hand).chunks[0].things) == {"cup", "bag"}
    assert set(observe(things, hand, nearest=True).chunks[0].things) == {"cup"}


def test_things_in_motion_count_without_a_hand():
    x = np.where(TIMES < 3, 100, 100 + 50 * (TIMES - 3))
    seen = observe({"cup": box(x, 50), "bag": box(400, 50)}, speed=20.0)
    assert {name for chunk in seen.chunks for name in chunk.things} == {"cup"}
    assert [chunk.start for chunk in seen.chunks] == [3.0, 4.0, 5.0]


@pytest.mark.parametrize(
    ("x", "y", "manner"),
    [
        (100, 300 - 40 * TIMES, "rising"),
        (100, 40 * TIMES, "sinking"),
        (40 * TIMES, 100, "sliding"),
        (100 + 8 * np.sin(15 * TIMES), 100, "shaking"),
        (100, 100, "still"),
    ],
)
def test_manners(x, y, manner):
    seen = observe({"cup": box(x, y)}, [point(x, y)], smoothing=0.05)
    assert [manner in chunk.verbs for chunk in seen.chunks] == [True] * 6


def test_a_hand_that_comes_and_goes():
    hand = point(np.r_[np.linspace(140, 100, 30), np.linspace(100, 140, 30)], 50)
    seen = observe({"cup": box(100, 50, 60)}, [hand], reach=20.0)
    assert "nearing" in seen.chunks[0].verbs
    assert "leaving" in seen.chunks[-1].verbs


def test_hands_that_move_freely_can_be_observed_too():
    hand = point(100, 300 - 40 * TIMES)
    seen = observe({"cup": box(500, 50)}, [hand], speed=20.0, hands_too=True)
    assert [set(chunk.things) for chunk in seen.chunks] == [{"hand"}] * 6
    assert all("hand rising" in chunk.verbs for chunk in seen.chunks)
    assert observe({"cup": box(500, 50)}, [hand], speed=20.0).chunks == ()


def test_where_a_track_is_lost_nothing_is_touched():
    cup = box(100, 50)
    cup[:30] = np.nan
    assert [chunk.start for chunk in observe({"cup": cup}, [point(100, 50)]).chunks] == [3, 4, 5]


@pytest.mark.parametrize("things", [{}, {"cup": np.full((60, 4), np.nan)}])
def test_a_video_with_no_touch_at_all(things):
    assert observe(things, [point(0, 0)]).chunks == ()


@pytest.mark.parametrize(
    ("things", "hands"),
    [
        ({"cup": np.zeros((5, 4))}, []),  # another length
        ({"cup": np.zeros((60, 5))}, []),  # neither points nor boxes
        ({"cup": np.zeros((60, 4))}, [np.zeros((60, 3))]),  # picture and space mixed
    ],
)
def test_shapes_that_do_not_fit_are_refused(things, hands):
    with pytest.raises(RecordError):
        observe(things, hands)
