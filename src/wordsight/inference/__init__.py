"""Inference on arrays: lattices, chains, mixtures, the EM loop's monitor.

Needs numpy only; compiled parts import numba when they are first used.
"""

from wordsight.inference.chains.segments import (
    JumpChain,
    JumpCounts,
    SegmentChain,
    SegmentCounts,
    jump_counts,
    jump_path,
    segment_counts,
)
from wordsight.inference.convergence import (
    ConvergenceMonitor,
    ObjectiveFellError,
    ObjectiveFellWarning,
)
from wordsight.inference.lattice.limits import (
    Limits,
    PrunedWarning,
    collect_losses,
    counts_within_limits,
    current_limits,
    paths_within_limits,
    report_losses,
    scores_within_limits,
    using_limits,
)
from wordsight.inference.lattice.model import (
    Lattice,
    LatticeCounts,
    LatticeError,
    LatticePath,
    LatticeScore,
    LatticeTooLargeError,
    WordChain,
    weights_from_logs,
)
from wordsight.inference.lattice.prune import PrunedLattice, prune
from wordsight.inference.lattice.run import (
    DEFAULT_MEMORY,
    best_paths,
    expected_counts,
    lattice_bytes,
    log_scores,
)
from wordsight.inference.lattice.stream import streamed_counts, streamed_path
from wordsight.inference.mixtures.gaussian import (
    MixtureError,
    MixtureFits,
    Mixtures,
    fit_mixtures,
    reseed_mixture,
    start_mixture,
)

__all__ = [
    "DEFAULT_MEMORY",
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
    "best_paths",
    "collect_losses",
    "counts_within_limits",
    "current_limits",
    "expected_counts",
    "fit_mixtures",
    "jump_counts",
    "jump_path",
    "lattice_bytes",
    "log_scores",
    "paths_within_limits",
    "prune",
    "report_losses",
    "reseed_mixture",
    "scores_within_limits",
    "segment_counts",
    "start_mixture",
    "streamed_counts",
    "streamed_path",
    "using_limits",
    "weights_from_logs",
]
