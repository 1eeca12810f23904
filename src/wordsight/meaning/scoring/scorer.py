"""`ClipScorer`: how much better sentences explain a clip than the background does.

Two implementations share one interface. Where objects are tracks, every word is a chain of states
on every assignment of tracks to its arguments, and sentences share these chains. Where detections
have no identities, tracks and words are solved together in a lattice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.checks import require_number
from wordsight.meaning.features import Observation
from wordsight.meaning.scoring.tables import WordCounts, WordTables
from wordsight.records import Sentence

__all__ = ["BestPath", "ClipScorer", "CountsByWord", "TrackPrior", "make_scorer"]

Array = NDArray[np.float64]
CountsByWord = dict[str, WordCounts]


@dataclass(frozen=True)
class TrackPrior:
    """Weights of objects and tracks, independent of any word.

    Attributes:
        unseen: Weight of the unseen object beside each visible one.
        detection_scale: Slope of the logistic that turns a detection score into a weight; this
            and the following are used by the lattice only.
        reach: How far, in diagonals, a box may be from its predicted position and still likely be
            the same object, between frames 1/40 s apart; grows with the root of the time step.
        softness: Width of the transition from likely to unlikely, in diagonals.
        label_change: Weight of a track that changes its label; 0 forbids it, as in the paper.
    """

    unseen: float = 0.1
    detection_scale: float = 6.0
    reach: float = 50 / 1600
    softness: float = 11 / 1600
    label_change: float = 1e-3

    def __post_init__(self) -> None:
        for name in ("unseen", "detection_scale", "label_change"):
            require_number(name, getattr(self, name), least=0.0)
        for name in ("reach", "softness"):
            require_number(name, getattr(self, name), above=0.0)


@dataclass(frozen=True)
class BestPath:
    """The single best explanation of a clip by a sentence.

    Attributes:
        log_score: Logarithm of its weight.
        objects: ``(T, P)`` the object of each participant in each frame; the last is the unseen.
        states: ``(T, L)`` the state of each word in each frame.
    """

    log_score: float
    objects: NDArray[np.int64]
    states: NDArray[np.int64]


class ClipScorer(Protocol):
    """Inference on one clip with the words of a lexicon."""

    def log_ratios(self, sentences: Sequence[Sentence]) -> Array:
        """Return ``(K,)`` log likelihood ratios of sentences against the background."""

    def add_counts(
        self, sentences: Sequence[Sentence], shares: Array, counts: CountsByWord
    ) -> None:
        """Add the expected counts of every sentence, times its share, to ``counts``."""

    def posteriors(self, sentence: Sentence) -> tuple[Array, list[Array]]:
        """Return ``(T, P, J)`` of the participants' objects, and per word ``(T, J, .., J, I)``."""

    def evidence(self, sentence: Sentence, most: int) -> Array:
        """Return ``(C, L, NUM_EVIDENCE)`` evidence of each word on the best assignments."""

    def best_path(self, sentence: Sentence) -> BestPath:
        """Return the single best assignment of objects and states."""


def make_scorer(
    observation: Observation,
    tables: Mapping[str, WordTables],
    prior: TrackPrior,
    *,
    threads: int = 1,
) -> ClipScorer:
    """Return the scorer of a clip that suits its detections.

    Args:
        observation: The clip.
        tables: The words.
        prior: Weights of objects and tracks.
        threads: Number of lattices to compute at once.
    """
    from wordsight.meaning.scoring.clip_scorers import LatticeScorer, TrackScorer

    if observation.tracked:
        return TrackScorer(observation, tables, prior)
    return LatticeScorer(observation, tables, prior, threads=threads)
