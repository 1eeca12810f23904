"""The video side of alignment: which things are touched or in motion when, from three sources."""

from wordsight.alignment.watching.detections import DetectedThings, Noticing
from wordsight.alignment.watching.intervals import IntervalFile
from wordsight.alignment.watching.motion import MANNERS, Manners
from wordsight.alignment.watching.source import Interval, Source, chunks_of_intervals
from wordsight.alignment.watching.tracks import Handling, TrackedThings

__all__ = [
    "MANNERS",
    "DetectedThings",
    "Handling",
    "Interval",
    "IntervalFile",
    "Manners",
    "Noticing",
    "Source",
    "TrackedThings",
    "chunks_of_intervals",
]
