"""Tracks into frames and back."""

import numpy as np
import pytest

from tests.perception.scenes import Walker, scene
from wordsight.errors import RecordError
from wordsight.perception.formats import read_boxes, write_boxes
from wordsight.perception.tracking.tracker import Tracker
from wordsight.perception.tracking.tracks import detections_from_tracks, tracks_from_ids
from wordsight.records import Detections, FrameDetections

WALKERS = [
    Walker((50, 50), (40, 0), hidden=(20, 21, 22)),
    Walker((400, 300), (-40, 0), first=10),
    Walker((200, 200), (0, 20), label=1),
]


@pytest.fixture(scope="module")
def followed():
    detections, _ = scene(WALKERS, labels=("person", "dog"))
    return detections, Tracker().track(detections, "street")


def test_there_and_back(followed):
    detections, tracks = followed
    framed = detections_from_tracks(tracks, detections.times, (640, 480))
    again = tracks_from_ids(framed, "street")
    assert [track.track_id for track in again] == [track.track_id for track in tracks]
    for one, other in zip(tracks, again, strict=True):
        np.testing.assert_array_equal(one.boxes, other.boxes)
        np.testing.assert_array_equal(one.scores, other.scores)
        assert (one.start, one.end, one.label) == (other.start, other.end, other.label)


@pytest.mark.parametrize("name", ["tracks.txt", "tracks.json", "tracks.xml", "tracks.csv"])
def test_tracks_survive_a_file(followed, tmp_path, name):
    detections, tracks = followed
    framed = detections_from_tracks(tracks, detections.times, (640, 480))
    write_boxes(tmp_path / name, framed)
    again = read_boxes(tmp_path / name, times=detections.times, label_names=framed.label_names)
    for one, other in zip(tracks_from_ids(framed), tracks_from_ids(again), strict=True):
        assert one == other


def test_no_tracks():
    framed = detections_from_tracks([], [0.0, 0.1], (64, 48))
    assert framed.mask.shape == (2, 0)
    assert tracks_from_ids(framed) == []
    assert detections_from_tracks([], [], (64, 48)).times.tolist() == []


def test_times_and_labels_must_fit(followed):
    detections, tracks = followed
    with pytest.raises(RecordError, match="between two frames"):
        detections_from_tracks(tracks, detections.times + 0.01, (640, 480))
    with pytest.raises(RecordError, match="'dog' of a track is not among"):
        detections_from_tracks(tracks, detections.times, (640, 480), label_names=["person"])


def marked(ids, labels):
    boxes = np.tile([0, 0, 5.0, 5], (len(ids), 1))
    frame = FrameDetections(0.0, boxes, np.ones(len(ids)), np.array(labels), ids=np.array(ids))
    return Detections.from_frames([frame], label_names=["cup", "bowl"], frame_size=(64, 48))


def test_an_identity_used_for_two_labels_makes_two_tracks():
    tracks = tracks_from_ids(marked([3, 3, -1], [0, 1, 0]))
    assert [(track.label, track.track_id) for track in tracks] == [("bowl", 1), ("cup", 2)]


def test_an_identity_in_two_places_is_refused():
    with pytest.raises(RecordError, match="cup 3 has two boxes at"):
        tracks_from_ids(marked([3, 3], [0, 0]))
