"""The records every learner speaks: detections, clips, sentences, results. Needs numpy only."""

from wordsight.records.clip import Clip
from wordsight.records.detections import Detections, FrameDetections
from wordsight.records.moments import Moment, Scene, Shot, Track
from wordsight.records.sentence import Sentence, Word

__all__ = [
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
