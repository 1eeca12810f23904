"""The baseline does what it says, no more."""

import numpy as np

from experiments.greedy_iou import track_greedily
from tests.perception.scenes import Walker, scene


def names_of(tracked, truth):
    """For each walker the identities its boxes got."""
    ids = {}
    for t, who in enumerate(truth):
        for column, walker in enumerate(who):
            ids.setdefault(int(walker), set()).add(int(tracked.ids[t, column]))
    return ids


def test_boxes_that_overlap_keep_their_identity():
    detections, truth = scene([Walker((50, 50), (40, 0)), Walker((400, 300), (-40, 0))])
    tracked = track_greedily(detections)
    np.testing.assert_array_equal(tracked.boxes, detections.boxes)
    ids = names_of(tracked, truth)
    assert all(len(own) == 1 for own in ids.values())
    assert ids[0] != ids[1]


def test_a_gap_longer_than_its_patience_ends_a_track():
    detections, truth = scene([Walker((50, 50), (10, 0), hidden=(20, 21, 22))])
    assert len(names_of(track_greedily(detections, patience=0.05), truth)[0]) == 2
    assert len(names_of(track_greedily(detections, patience=0.5), truth)[0]) == 1


def test_no_identity_is_given_twice_in_a_frame():
    detections, _ = scene([Walker((50, 50), (0, 0))] * 3, false_alarms=2.0)
    tracked = track_greedily(detections)
    for t in range(len(tracked)):
        ids = tracked.frame(t).ids
        assert len(set(ids.tolist())) == len(ids)


def test_nothing_to_see():
    assert track_greedily(scene([], frames=3)[0]).mask.sum() == 0
