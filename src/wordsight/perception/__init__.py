"""What is where in a video: detectors, the files that hold boxes, looks and tracks."""

from wordsight.perception.codebook import Codebook
from wordsight.perception.detector import (
    Detector,
    DetectorError,
    available_detectors,
    load_detector,
)
from wordsight.perception.formats import convert_boxes, read_boxes, write_boxes
from wordsight.perception.linking import linked
from wordsight.perception.observe import observe, watch
from wordsight.perception.tracker import Tracker, best_track
from wordsight.perception.tracks import detections_from_tracks, tracks_from_ids

__all__ = [
    "Codebook",
    "Detector",
    "DetectorError",
    "Tracker",
    "available_detectors",
    "best_track",
    "convert_boxes",
    "detections_from_tracks",
    "linked",
    "load_detector",
    "observe",
    "read_boxes",
    "tracks_from_ids",
    "watch",
    "write_boxes",
]
