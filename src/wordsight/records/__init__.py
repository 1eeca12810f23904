"""Records that all learners share: detections, clips, sentences, results. Needs numpy only."""

from wordsight.records.clip import Clip, Sentence, Word
from wordsight.records.detections import BODY_PARTS, NAMELESS, Detections, FrameDetections
from wordsight.records.moments import Moment, Scene, Shot, Track

__all__ = [
    "BODY_PARTS",
    "NAMELESS",
    "Clip",
    "Detections",
    "FrameDetections",
    "Moment",
    "Scene",
    "Sentence",
    "Shot",
    "Track",
    "Word",
]
