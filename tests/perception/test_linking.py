"""Linking: one thing is one track, its class stays, what was missed is filled in."""

import numpy as np

from wordsight.perception import Tracker, linked
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


def test_one_thing_is_one_track_and_gaps_are_filled():
    found = linked(clip_of(20)).detections
    assert found.label_names == ("chair", "person")
    for label in (0, 1):
        own = found.mask & (found.labels == label)
        assert len(np.unique(found.ids[own])) == 1
        assert own.sum() == 20


def test_boxes_tremble_less_than_they_were_seen():
    raw, smooth = (linked(clip_of(20), Tracker(smoothing=s)).detections for s in (0.0, 0.3))
    jerk = [
        np.abs(np.diff(d.boxes[d.mask & (d.labels == 0)], axis=0)).mean() for d in (raw, smooth)
    ]
    assert jerk[1] < 0.6 * jerk[0]


def test_nothing_stays_nothing():
    nothing = [FrameDetections(0.0, np.zeros((0, 4)), np.zeros(0), np.zeros(0, int))]
    seen = Detections.from_frames(nothing, label_names=["a"], frame_size=(32, 24))
    assert not linked(Clip("empty", 0.0, 0.1, seen)).mask.any()
