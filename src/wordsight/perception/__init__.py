"""What is where in a video: detectors, the files that hold boxes, looks and tracks."""

from wordsight.perception.codebook import Codebook
from wordsight.perception.detector import (
    Detector,
    DetectorError,
    available_detectors,
    load_detector,
)
from wordsight.perception.observe import observe, watch

__all__ = [
    "Codebook",
    "Detector",
    "DetectorError",
    "available_detectors",
    "load_detector",
    "observe",
    "watch",
]
