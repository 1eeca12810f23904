"""The pieces the tracker is made of: gains of detections and links, best paths, gaps."""

from wordsight.perception.tracking.calibration import log_odds
from wordsight.perception.tracking.coherence import Coherence, States, steps_between
from wordsight.perception.tracking.paths import disjoint_paths
from wordsight.perception.tracking.viterbi import best_path

__all__ = ["Coherence", "States", "best_path", "disjoint_paths", "log_odds", "steps_between"]
