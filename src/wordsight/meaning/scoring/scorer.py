"""Reading a clip with words: how much better a sentence explains it than the corpus does.

Two ways, one interface. Where things are tracks, each word is a chain of states on each choice of
tracks, and words share nothing but that choice, so all sentences of a clip share their work. Where
detections are loose, tracks and words are solved together in the lattice.
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
    """How the things of a clip are weighed before any word is heard.

    Attributes:
        unseen: Weight of the unseen thing beside each thing that is seen.
        detection_scale: Slope of the logistic that turns a detector's score into a weight; lattice
            only, as the next ones.
        reach: How far, in diagonals, a box may be from where it was expected and still be likely
            the same, between frames 1/40 s apart; longer steps reach further with their root.
        softness: How gradually likely turns into unlikely, in diagonals.
        label_change: Weight of a track's changing its detector; 0 forbids it, as the paper does.
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
    """The best single explanation of a clip by a sentence.

    Attributes:
        log_score: Logarithm of its weight.
        things: ``(T, P)`` the column of each participant in each frame; the last is the unseen.
        states: ``(T, L)`` the state of each word in each frame.
    """

    log_score: float
    things: NDArray[np.int64]
    states: NDArray[np.int64]


class ClipScorer(Protocol):
    """One clip, read with words."""

    def log_ratios(self, sentences: Sequence[Sentence]) -> Array:
        """Return ``(K,)`` log likelihood ratios of sentences against the background."""

    def add_counts(
        self, sentences: Sequence[Sentence], shares: Array, counts: CountsByWord
    ) -> None:
        """Add the expected counts of every sentence, times its share, to ``counts``."""

    def posteriors(self, sentence: Sentence) -> tuple[Array, list[Array]]:
        """Return ``(T, P, J)`` of the participants' things, and per word ``(T, J, .., J, I)``."""

    def evidence(self, sentence: Sentence, most: int) -> Array:
        """Return ``(C, L, TRAITS)`` what speaks for each word on the best choices of things."""

    def best_path(self, sentence: Sentence) -> BestPath:
        """Return the single best choice of things and states."""


def make_scorer(
    seen: Observation, tables: Mapping[str, WordTables], sight: TrackPrior, *, threads: int = 1
) -> ClipScorer:
    """Read a clip the way its detections allow.

    Args:
        seen: The clip.
        tables: The words.
        sight: How things are weighed.
        threads: How many lattices to work on at once.
    """
    from wordsight.meaning.scoring.lattice_scorer import LatticeScorer
    from wordsight.meaning.scoring.track_scorer import TrackScorer

    if seen.tracked:
        return TrackScorer(seen, tables, sight)
    return LatticeScorer(seen, tables, sight, threads=threads)
