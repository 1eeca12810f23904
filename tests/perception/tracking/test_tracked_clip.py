"""Tracked clips: one thing is one track, its class stays, what was missed is filled in."""

from dataclasses import replace

import numpy as np
import pytest

from wordsight.perception import Tracker, track_detections, tracked_clip
from wordsight.records import Clip, Detections, FrameDetections


def clip_of(frames):
    """Two classes: a walker and a thing at rest, each missed once, in changing order."""
    rng = np.random.default_rng(0)
    rows = []
    for t in range(frames):
        walker = np.array([10 + 4 * t, 20, 50 + 4 * t, 120], dtype=float)
        boxes = np.array([walker, [200, 80, 240, 120]]) + rng.normal(0, 1.0, (2, 4))
        labels = np.array([1, 0])
        kept = [n for n in rng.permutation(2) if t != 5 + n]
        rows.append(FrameDetections(t / 10, boxes[kept], np.full(len(kept), 0.9), labels[kept]))
    seen = Detections.from_frames(rows, label_names=["chair", "person"], frame_size=(320, 240))
    return Clip("walk", 0.0, frames / 10, seen)


@pytest.mark.parametrize(("for_words", "boxes"), [(False, 20), (True, 19)])
def test_one_thing_is_one_track_and_gaps_are_filled_where_words_do_not(for_words, boxes):
    found = tracked_clip(clip_of(20), for_words=for_words).detections
    assert found.label_names == ("chair", "person")
    for label in (0, 1):
        own = found.mask & (found.labels == label)
        assert len(np.unique(found.ids[own])) == 1
        assert own.sum() == boxes


def test_boxes_tremble_less_than_they_were_seen():
    seen = clip_of(20).detections
    raw, smooth = (track_detections(seen, tracker=Tracker(smoothing=s))[1] for s in (0.0, 0.3))
    jerk = [
        np.abs(np.diff(d.boxes[d.mask & (d.labels == 0)], axis=0)).mean() for d in (raw, smooth)
    ]
    assert jerk[1] < 0.6 * jerk[0]


def test_nothing_stays_nothing():
    nothing = [FrameDetections(0.0, np.zeros((0, 4)), np.zeros(0), np.zeros(0, int))]
    seen = Detections.from_frames(nothing, label_names=["a"], frame_size=(32, 24))
    assert not tracked_clip(Clip("empty", 0.0, 0.1, seen)).mask.any()


def growing(scale):
    """A person who is out of sight for a second and comes back ``scale`` times as large."""
    rows = []
    for t in range(40):
        size = np.array([40, 100]) * (scale if t >= 25 else 1.0)
        box = np.concatenate([100 - size / 2, 100 + size / 2])[None]
        box = box[:0] if 15 <= t < 25 else box
        ones = np.ones(len(box))
        rows.append(FrameDetections(t / 10, box, 0.9 * ones, ones.astype(int)))
    seen = Detections.from_frames(rows, label_names=["chair", "person"], frame_size=(320, 240))
    return Clip("growing", 0.0, 4.0, seen)


def test_words_let_boxes_change_their_size_more_freely_than_states_do():
    numbers = [
        len(np.unique(found.ids[found.mask]))
        for found in (
            tracked_clip(growing(2.0), for_words=words).detections for words in (False, True)
        )
    ]
    assert numbers == [2, 1]


def test_what_is_tracked_already_stays_as_it_is():
    once = tracked_clip(clip_of(20))
    assert tracked_clip(once) is once
    assert tracked_clip(once, for_words=True) is once
    tracks, same = track_detections(once.detections, "walk")
    assert same is once.detections
    assert [track.track_id for track in tracks] == [1, 2]


def test_regions_and_single_classes_stay_untracked_for_words():
    seen = clip_of(20).detections
    appearance = np.zeros((*seen.mask.shape, 3), np.float32)
    looks = replace(seen, appearance=appearance)
    one_class = seen.relabelled(np.zeros_like(seen.labels), ["thing"])
    for detections in (looks, one_class):
        clip = Clip("walk", 0.0, 2.0, detections)
        assert tracked_clip(clip, for_words=True) is clip
        assert tracked_clip(clip).detections.ids is not None


def test_words_see_each_box_with_the_class_it_was_detected_as():
    seen = clip_of(20).detections
    flipped = seen.labels.copy()
    flipped[::4] = 1 - flipped[::4]
    clip = Clip("walk", 0.0, 2.0, seen.relabelled(flipped, seen.label_names))
    one, other = (tracked_clip(clip, for_words=words).detections for words in (False, True))
    for number in (1, 2):
        assert len(np.unique(one.labels[one.mask & (one.ids == number)])) == 1
        assert len(np.unique(other.labels[other.mask & (other.ids == number)])) == 2
