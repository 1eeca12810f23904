"""The video side of alignment: which things are touched or in motion at which time."""

from wordsight.alignment.observe.detections import DetectedThings, HandlingSettings
from wordsight.alignment.observe.intervals import (
    IntervalFile,
    chunks_of_intervals,
)

__all__ = [
    "DetectedThings",
    "HandlingSettings",
    "IntervalFile",
    "chunks_of_intervals",
]
