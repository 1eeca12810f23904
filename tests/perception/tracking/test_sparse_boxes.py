"""Boxes on every n-th frame of a video are followed at their own rate."""

from dataclasses import replace

import numpy as np
import pytest

from tests.perception.scenes import Walker, scene
from wordsight.perception import Tracker, tracked_clip
from wordsight.perception.tracking.tracklets import frames_looked_at
from wordsight.records import Clip

WALKERS = [Walker((50, 50), (40, 0)), Walker((400, 300), (-40, 0))]


def thinned(detections, kept):
    """Leave boxes in the frames ``kept`` only; the other frames stay, without boxes."""
    mask = detections.mask.copy()
    mask[~np.isin(np.arange(len(mask)), kept)] = False
    return replace(detections, mask=mask)


@pytest.mark.parametrize("step", [2, 3, 5, 10])
def test_boxes_on_every_nth_frame_are_linked(step):
    seen, _ = scene(WALKERS, frames=75)
    sparse = thinned(seen, np.arange(0, 75, step))
    tracks = Tracker().track(sparse)
    assert len(tracks) == 2
    for track, walker in zip(sorted(tracks, key=lambda t: t.boxes[0, 0]), WALKERS, strict=True):
        assert len(track) >= 75 - 2 * step  # frames between are filled in
        np.testing.assert_allclose(track.boxes, [walker.box(t) for t in track.times], atol=8)


def test_the_rate_of_the_boxes_counts_and_not_that_of_the_video():
    seen, _ = scene(WALKERS, frames=75)
    rows = np.arange(0, 75, 3)
    sparse = thinned(seen, rows)
    dense = replace(
        sparse,
        **{name: getattr(sparse, name)[rows] for name in ("times", "boxes", "scores", "labels")},
        mask=sparse.mask[rows],
    )
    for one, other in zip(Tracker().track(sparse), Tracker().track(dense), strict=True):
        np.testing.assert_allclose(one.boxes[one.observed], other.boxes, atol=3)


def test_frames_looked_at():
    def looked_at(kept, frames=30):
        mask = np.zeros((frames, 1), dtype=bool)
        mask[kept] = True
        return frames_looked_at(mask).tolist()

    every_third = list(range(0, 30, 3))
    assert looked_at(every_third) == every_third
    assert looked_at([n for n in every_third if n not in (9, 12)]) == every_third  # seen in vain
    ten_of_25 = [0, 2, 5, 7, 10, 12, 15, 17, 20, 22, 25, 27]
    assert looked_at(ten_of_25) == ten_of_25
    everything = list(range(30))
    assert looked_at(everything) == everything
    assert looked_at([n for n in everything if n % 7]) == everything  # misses
    assert looked_at([3, 4, 17]) == everything  # too few to tell
    assert looked_at([0, 2, 13, 19, 28]) == everything  # false alarms now and then
    assert looked_at([]) == everything


def test_words_see_sparse_boxes_of_one_class_at_their_own_rate():
    seen, _ = scene(WALKERS, frames=75)
    sparse = thinned(seen, np.arange(0, 75, 3))
    clip = Clip("walk", 0.0, 3.1, sparse)
    for_words = tracked_clip(clip, for_words=True)
    assert for_words.mask.any(axis=1).all()
    assert len(for_words) == 25
