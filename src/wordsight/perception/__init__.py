"""Objects in video: detectors, files of boxes, appearance of regions, and tracking."""

from wordsight.perception.detectors.observe import observe, watch
from wordsight.perception.detectors.registry import (
    Detector,
    DetectorError,
    available_detectors,
    load_detector,
)
from wordsight.perception.formats import convert_boxes, read_boxes, write_boxes
from wordsight.perception.regions.codebook import Codebook
from wordsight.perception.tracking.tracker import Tracker
from wordsight.perception.tracking.tracks import (
    detections_from_tracks,
    track_detections,
    tracked_clip,
    tracks_from_ids,
)

__all__ = [
    "Codebook",
    "Detector",
    "DetectorError",
    "Tracker",
    "available_detectors",
    "convert_boxes",
    "detections_from_tracks",
    "load_detector",
    "observe",
    "read_boxes",
    "track_detections",
    "tracked_clip",
    "tracks_from_ids",
    "watch",
    "write_boxes",
]
