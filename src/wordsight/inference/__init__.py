"""Inference on arrays: lattices, chains, mixtures, the EM loop's monitor.

Needs numpy only; compiled parts import numba when they are first used.
"""

from wordsight.inference.drop_dtw import drop_dtw
from wordsight.inference.em import ConvergenceMonitor, ObjectiveFellError, ObjectiveFellWarning
from wordsight.inference.jumps import (
    JumpChain,
    JumpCounts,
    jump_counts,
    jump_path,
    jump_score,
)
from wordsight.inference.lattice import (
    Lattice,
    LatticeError,
    LatticeTooLargeError,
    WordChain,
    weights_from_logs,
)
from wordsight.inference.lattice_beam import BeamCounts, beam_counts
from wordsight.inference.lattice_engine import (
    DEFAULT_MEMORY,
    best_paths,
    expected_counts,
    lattice_bytes,
    log_scores,
)
from wordsight.inference.lattice_fit import (
    Limits,
    PrunedWarning,
    counts_that_fit,
    current_limits,
    note_losses,
    noting_losses,
    paths_that_fit,
    scores_that_fit,
    within,
)
from wordsight.inference.lattice_pruning import PrunedLattice, prune
from wordsight.inference.lattice_results import LatticeCounts, LatticePath, LatticeScore
from wordsight.inference.lattice_streaming import streamed_counts, streamed_path
from wordsight.inference.mixtures import MixtureError, MixtureFits, Mixtures, fit_mixtures
from wordsight.inference.mixtures_starts import reseeded, start_mixture
from wordsight.inference.segments import SegmentChain, SegmentCounts, segment_counts

__all__ = [
    "DEFAULT_MEMORY",
    "BeamCounts",
    "ConvergenceMonitor",
    "JumpChain",
    "JumpCounts",
    "Lattice",
    "LatticeCounts",
    "LatticeError",
    "LatticePath",
    "LatticeScore",
    "LatticeTooLargeError",
    "Limits",
    "MixtureError",
    "MixtureFits",
    "Mixtures",
    "ObjectiveFellError",
    "ObjectiveFellWarning",
    "PrunedLattice",
    "PrunedWarning",
    "SegmentChain",
    "SegmentCounts",
    "WordChain",
    "beam_counts",
    "best_paths",
    "counts_that_fit",
    "current_limits",
    "drop_dtw",
    "expected_counts",
    "fit_mixtures",
    "jump_counts",
    "jump_path",
    "jump_score",
    "lattice_bytes",
    "log_scores",
    "note_losses",
    "noting_losses",
    "paths_that_fit",
    "prune",
    "reseeded",
    "scores_that_fit",
    "segment_counts",
    "start_mixture",
    "streamed_counts",
    "streamed_path",
    "weights_from_logs",
    "within",
]
