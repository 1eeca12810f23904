"""The trackers to compare with, and the experiment that compares them, on made-up walkers."""

from dataclasses import replace

import numpy as np
import pytest

from experiments.baselines.online_trackers import BYTETRACK, OC_SORT, SORT
from experiments.tracking import measure
from tests.experiments.test_mot15 import true_boxes
from tests.perception.scenes import Walker, scene
from wordsight.perception.formats import write_boxes

CROSSING = [Walker((50, 100), (120, 0)), Walker((350, 105), (-120, 0))]
ALL = {"SORT": SORT, "ByteTrack": BYTETRACK, "OC-SORT": OC_SORT}


def identities(tracker, detections):
    found = tracker.track(detections)
    return np.unique(found.ids[found.mask]).tolist()


@pytest.mark.parametrize("name", ALL)
def test_walkers_apart_have_a_track_each(name):
    detections, _ = scene([Walker((50, 50), (40, 0)), Walker((400, 300), (-40, 0))])
    assert len(identities(ALL[name], detections)) == 2


def test_patience_bridges_a_gap():
    hidden = tuple(range(20, 28))
    detections, _ = scene([Walker((50, 50), (20, 0), hidden=hidden)])
    assert len(identities(SORT, detections)) == 2
    assert len(identities(OC_SORT, detections)) == 1


def test_unsure_detections_extend_tracks_but_start_none():
    detections, _ = scene([Walker((50, 50), (40, 0))])
    scores = np.where(np.arange(len(detections)) % 3 == 2, 0.3, 0.9)[:, None] * detections.mask
    wavering = replace(detections, scores=scores)
    found = BYTETRACK.track(wavering)
    assert len(np.unique(found.ids[found.mask])) == 1
    assert found.mask.sum() == len(detections)
    assert identities(BYTETRACK, replace(detections, scores=0.3 * detections.mask)) == []


@pytest.mark.slow
def test_all_trackers_are_measured(tmp_path):
    pytest.importorskip("motmetrics")
    detections, _ = scene(
        [Walker((50, 50), (40, 0)), Walker((300, 200), (-40, 0), first=5, last=50)]
    )
    write_boxes(tmp_path / "mot15" / "street" / "det" / "det.txt", detections)
    write_boxes(tmp_path / "mot15" / "street" / "gt" / "gt.txt", true_boxes())
    results = measure(tmp_path, ("mot15",))
    assert set(results) == {"Wordsight", *ALL, *(f"{name}, tuned" for name in ALL)}
    assert all(results[name]["mot15"]["mota"] > 80 for name in results)
    for name in ALL:
        assert results[f"{name}, tuned"]["mot15"]["mota"] >= results[name]["mot15"]["mota"]
