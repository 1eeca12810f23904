"""Multi-object tracking: log-odds of detections, coherence of links, optimal paths, gaps."""

from wordsight.perception.tracking.coherence import Coherence, States, log_odds, steps_between
from wordsight.perception.tracking.paths import disjoint_paths

__all__ = ["Coherence", "States", "disjoint_paths", "log_odds", "steps_between"]
