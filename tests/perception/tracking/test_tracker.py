"""Tracks of scenes whose truth is known."""

import time
from dataclasses import replace

import numpy as np
import pytest

from tests.perception.scenes import Walker, owners, scene
from wordsight.perception.tracking.tracker import Tracker
from wordsight.records import Detections, FrameDetections

TWO_APART = [Walker((50, 50), (40, 0)), Walker((400, 300), (-40, 0))]
CROSSING = [Walker((50, 100), (120, 0)), Walker((350, 105), (-120, 0))]


def check_follows(walkers, tracker=None, **options):
    """Each walker has one track of its own, with all its detections."""
    detections, truth = scene(walkers, **options)
    tracks = (tracker or Tracker()).track(detections)
    assert len(tracks) == len(walkers)
    seen = [owners(track, detections, truth) for track in tracks]
    assert sorted((set(own) for own in seen), key=min) == [{k} for k in range(len(walkers))]
    for own in seen:
        total = sum(int((frame == own[0]).sum()) for frame in truth)
        assert len(own) >= 0.95 * total
    return tracks, detections


@pytest.mark.parametrize(
    ("walkers", "options"),
    [
        (TWO_APART, {}),  # nothing difficult
        (CROSSING, {}),  # two people pass each other at full overlap
        (CROSSING, {"frame_rate": 12.5, "frames": 30}),  # the same at half the rate
        (CROSSING, {"scale": 0.1}),  # in a tiny picture
        (CROSSING, {"scale": 10.0}),  # in a huge picture
        (CROSSING, {"flow": True}),  # with optical flow
        (TWO_APART, {"false_alarms": 2.0}),  # more false alarms than people
        (TWO_APART, {"jitter": 4.0}),  # a detector with a shaky hand
        ([Walker((50, 50), (900, 0), (20, 20))], {"frames": 25}),  # a ball: two sizes per frame
        ([Walker((200, 200), (0, 0))], {}),  # something that stands still
    ],
)
def test_every_walker_is_followed(walkers, options):
    check_follows(walkers, **options)


def test_a_gap_is_filled_and_marked():
    hidden = tuple(range(20, 35))
    tracks, detections = check_follows([Walker((50, 50), (60, 0), hidden=hidden), TWO_APART[1]])
    track = next(track for track in tracks if not track.observed.all())
    np.testing.assert_array_equal(track.times, detections.times)
    assert np.flatnonzero(~track.observed).tolist() == list(hidden)
    assert (track.scores[~track.observed] == 0).all()
    expected = np.array([Walker((50, 50), (60, 0)).box(t) for t in track.times])
    assert np.abs(track.boxes - expected).max() < 6


def test_a_gap_too_long_is_not_bridged():
    walker = Walker((50, 50), (20, 0), hidden=tuple(range(30, 90)))
    detections, _ = scene([walker], frames=120)
    assert len(Tracker(max_gap=1.0).track(detections)) == 2


def test_the_same_object_crossing_an_occlusion_keeps_its_velocity():
    """Two walkers vanish behind a pillar from opposite sides and come out again."""
    hidden = tuple(range(25, 36))
    check_follows([replace(walker, hidden=hidden) for walker in CROSSING])


def test_times_count_and_not_frames():
    """Dropping frames at random leaves true times, and a velocity is pixels per second."""
    rng = np.random.default_rng(2)
    times = np.sort(rng.choice(np.arange(120) / 25, 70, replace=False))
    check_follows(CROSSING, times=times)


def test_what_a_person_carries_has_a_track_of_its_own():
    walkers = [Walker((50, 50), (40, 0)), Walker((52, 50), (40, 0), (24, 40), label=1)]
    detections, _ = scene(walkers, labels=("person", "backpack"), jitter=3.0)
    tracks = Tracker().track(detections)
    assert sorted(track.label for track in tracks) == ["backpack", "person"]
    assert all(len(track) == len(detections) for track in tracks)


def test_false_alarms_alone_make_no_tracks():
    detections, _ = scene([], false_alarms=3.0, frames=100)
    assert Tracker().track(detections) == []


def test_short_tracks_are_dropped():
    blink = Walker((500, 50), (0, 0), first=30, last=33)
    detections, _ = scene([*TWO_APART, blink])
    assert len(Tracker(min_detections=3).track(detections)) == 3
    assert len(Tracker(min_detections=5).track(detections)) == 2


def test_an_extension_reaches_beyond_the_last_detection():
    detections, _ = scene([Walker((50, 50), (60, 0), first=10, last=40)])
    (track,) = Tracker(extension=0.2).track(detections)
    assert track.times[0] == pytest.approx(0.2)
    assert track.times[-1] == pytest.approx(1.8)
    assert track.observed.sum() == 31
    assert abs(track.boxes[-1, 0] - (50 + 60 * 1.8)) < 5


def test_tracks_know_their_video_their_number_and_their_end():
    _, detections = check_follows([Walker((50, 50), (40, 0), first=20), TWO_APART[1]])
    named = Tracker().track(detections, "street")
    assert [track.track_id for track in named] == [1, 2]
    assert {track.video_id for track in named} == {"street"}
    assert named[0].start == 0.0
    assert named[1].start == pytest.approx(20 / 25)
    assert named[0].end == pytest.approx(60 / 25)  # when the last frame has been shown


def test_the_order_of_boxes_in_a_frame_does_not_matter():
    ordered, _ = scene(CROSSING, false_alarms=1.0, shuffle=False)
    rng = np.random.default_rng(0)
    frames = []
    for t in range(len(ordered)):
        frame = ordered.frame(t)
        order = rng.permutation(len(frame.boxes))
        frames.append(
            FrameDetections(
                frame.time, frame.boxes[order], frame.scores[order], frame.labels[order]
            )
        )
    mixed = Detections.from_frames(frames, label_names=["person"], frame_size=(640, 480))
    for one, other in zip(Tracker().track(ordered), Tracker().track(mixed), strict=True):
        np.testing.assert_allclose(one.boxes, other.boxes)
        np.testing.assert_array_equal(one.observed, other.observed)


def test_running_twice_gives_the_same():
    detections, _ = scene(CROSSING, false_alarms=2.0)
    assert Tracker().track(detections) == Tracker().track(detections)


@pytest.mark.parametrize("frames", [0, 1, 2])
def test_almost_nothing_to_see(frames):
    detections, _ = scene(TWO_APART, frames=frames)
    assert len(Tracker(min_detections=1, entry_cost=0.1).track(detections)) <= 2
    empty, _ = scene([], frames=frames)
    assert Tracker().track(empty) == []


@pytest.mark.slow
def test_a_long_video_takes_seconds():
    """Ten thousand frames with ten detections each: the time must not explode."""
    rng = np.random.default_rng(0)
    walkers = [
        Walker(tuple(rng.uniform(0, 4000, 2)), tuple(rng.normal(0, 5, 2)), hidden=())
        for _ in range(9)
    ]
    detections, _ = scene(walkers, frames=10_000, false_alarms=1.0)
    begin = time.process_time()
    tracks = Tracker().track(detections)
    assert time.process_time() - begin < 30
    assert len(tracks) == 9


def test_a_class_that_flips_does_not_cut_a_track():
    detections, _ = scene(TWO_APART, labels=("person", "chair"))
    labels = (np.random.default_rng(0).uniform(size=len(detections)) < 0.25).astype(int)
    flipping = detections.relabelled(
        np.broadcast_to(labels[:, None], detections.mask.shape), ("person", "chair")
    )
    tracks = Tracker().track(flipping)
    assert [(track.label, len(track)) for track in tracks] == 2 * [("person", len(detections))]


def test_a_thing_that_two_classes_fire_on_is_one_track():
    detections, _ = scene([TWO_APART[0]])
    twice = Detections(
        times=detections.times,
        boxes=np.repeat(detections.boxes, 2, axis=1) + np.array([[0, 0, 0, 0], [2, 1, 2, 1]]),
        scores=np.repeat(detections.scores, 2, axis=1) * [0.9, 0.5],
        labels=np.broadcast_to([1, 0], (len(detections), 2)),
        mask=np.repeat(detections.mask, 2, axis=1),
        label_names=("phone", "car"),
        frame_size=detections.frame_size,
    )
    (track,) = Tracker().track(twice)
    assert (track.label, len(track)) == ("car", len(detections))


@pytest.mark.parametrize(("speed", "expected"), [(0.0, 1), (20.0, 2)])
def test_what_rests_may_be_hidden_for_long(speed, expected):
    detections, _ = scene([Walker((200, 200), (speed, 0))], frames=250)
    mask = detections.mask.copy()
    mask[75:175] = False  # four seconds
    tracks = Tracker().track(replace(detections, mask=mask))
    assert len(tracks) == expected


def test_a_class_of_a_slower_detector_is_followed_at_its_own_rate():
    fast, slow = Walker((50, 50), (40, 0)), Walker((400, 300), (-40, 0), (24, 40), label=1)
    detections, _ = scene([fast, slow], labels=("cup", "person"))
    late = (np.arange(len(detections)) % 3 != 0)[:, None] & (detections.labels == 1)
    tracks = Tracker().track(replace(detections, mask=detections.mask & ~late))
    assert sorted(track.label for track in tracks) == ["cup", "person"]
    assert min(map(len, tracks)) >= len(detections) - 2


def test_who_leaves_does_not_become_the_wall_behind():
    """A box that only says that something is there is no reason to go on with a person's track."""
    frames = []
    for number in range(40):
        left = min(300 + 15.0 * number, 510.0)
        gone = number >= 20
        box = [505, 95, 640, 372] if gone else [left, 100, left + 130, 380]
        label, score = (1, 0.2) if gone else (0, 0.9)
        one = np.array([box], float), np.array([score]), np.array([label])
        frames.append(FrameDetections(number / 10, *one))
    seen = Detections.from_frames(frames, label_names=["person", "thing"], frame_size=(640, 480))
    tracks = Tracker().track(seen)
    assert [track.label for track in tracks if track.label == "person"] == ["person"]
    person = next(track for track in tracks if track.label == "person")
    assert person.end == pytest.approx(2.0)
    alone = replace(seen, mask=seen.mask & (seen.labels == 1))
    assert [track.label for track in Tracker().track(alone)] == ["thing"]


def test_doubtful_detections_continue_tracks_but_make_none():
    walkers = [Walker((50, 50), (40, 0)), Walker((400, 300), (-40, 0))]
    detections, _ = scene(walkers, shuffle=False)
    unsure = detections.scores.copy()
    unsure[:, 1] *= 0.3
    assert len(Tracker().track(replace(detections, scores=unsure))) == 1
    assert len(Tracker(sure=0.0).track(replace(detections, scores=unsure))) == 2
    unsure[10:20, 1] = 0.9
    assert len(Tracker().track(replace(detections, scores=unsure))) == 2
