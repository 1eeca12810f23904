"""Steps aligned with per-frame class scores, as a network gives them, without labels.

Where a network has said for every frame how probable each class is, a list of classes in order is
aligned with the frames by a semi-Markov model. It learns from all videos together what the network
mistakes for what, and how long steps of each class last.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from wordsight.alignment.models.clock import order_weights
from wordsight.errors import AlignmentError
from wordsight.inference.chains.segments import SegmentChain, SegmentCounts, segment_counts
from wordsight.progress import Progress

__all__ = ["ScoredPair", "ScoredSteps"]

Array = NDArray[np.float64]

_DIAGONAL = 0.7  # probability at first that the network is right
_CONFUSIONS = 5.0  # pseudo-counts of a class, spread as at first
_DURATIONS = 3.0  # pseudo-counts of the mean duration of all classes
_LONGEST = 8.0  # durations considered, in means of the longest step
_FLOOR = 1e-9


@dataclass(frozen=True, eq=False)
class ScoredPair:
    """A list of steps and the scores of one video.

    Attributes:
        steps: ``(K,)`` class of each step, in order.
        scores: ``(T, V)`` probability of each class in each frame.
    """

    steps: NDArray[np.int64]
    scores: Array

    def __post_init__(self) -> None:
        if self.scores.ndim != 2 or not len(self.scores) or not len(self.steps):
            raise AlignmentError(
                f"expected at least one step and scores of frames by classes, got "
                f"{len(self.steps)} steps and scores of shape {self.scores.shape}."
            )
        if len(self.steps) > len(self.scores):
            raise AlignmentError(
                f"{len(self.steps)} steps cannot be aligned with {len(self.scores)} frames; give "
                "the scores at a higher rate."
            )
        if not np.isfinite(self.scores).all() or (self.scores < 0).any():
            raise AlignmentError("scores must be probabilities: finite and not negative.")
        if self.steps.min() < 0 or self.steps.max() >= self.scores.shape[1]:
            raise AlignmentError(
                f"steps must be classes 0 to {self.scores.shape[1] - 1}, got {self.steps.tolist()}."
            )


@dataclass
class ScoredSteps:
    r"""A semi-Markov model over steps whose classes a network has scored.

    A frame has the likelihood ratio :math:`\eta + (1 - \eta) \sum_k C_{ck}\, s_k / \pi_k` under a
    step of class c: the network's score s over its mean :math:`\pi`, confusions C, and a share
    :math:`\eta` of frames that say nothing. Networks err in runs, so a run of n frames with the
    same best class counts as :math:`\tau n^g` independent ones. Durations are gamma distributed.

    Args:
        shape: Shape of the durations at the end of learning; it starts at 1.5, while means are
            unknown.
        temperature: :math:`\tau`.
        dependence: g.
        null: :math:`\eta`.
        change: Log weight of a step that changes where the network's best class does.
        skip: Probability that a step is left out.
        back: Probability of a return to the step before.
        iterations: Iterations of EM.

    Attributes:
        confusions_: ``(V, V)`` probability that frames of a class (row) look like another.
        durations_: ``(V,)`` mean duration of a step of each class, in frames.
    """

    shape: float = 6.0
    temperature: float = 0.7
    dependence: float = 0.7
    null: float = 0.4
    change: float = 1.0
    skip: float = 0.0
    back: float = 0.0
    iterations: int = 10

    def fit(self, pairs: Sequence[ScoredPair], progress: Progress | None = None) -> Self:
        """Learn confusions and durations from videos with their lists of steps.

        Args:
            pairs: The lists of steps with the scores of their videos.
            progress: Called with the number of videos looked at, each once an iteration.

        Raises:
            AlignmentError: If there is no pair, or they have different numbers of classes.
        """
        if not pairs or len({pair.scores.shape[1] for pair in pairs}) != 1:
            raise AlignmentError("give at least one video, all scored by the same classes.")
        self._prior = np.concatenate([pair.scores for pair in pairs]).mean(axis=0) + _FLOOR
        classes = len(self._prior)
        start = _DIAGONAL * np.eye(classes) + (1 - _DIAGONAL) * self._prior / self._prior.sum()
        mean = np.mean([len(pair.scores) / len(pair.steps) for pair in pairs])
        self.confusions_, self.durations_ = start, np.full(classes, float(mean))
        rounds = self.iterations * len(pairs)
        for number in range(self.iterations):
            ripe = min(1.0, number / max(self.iterations - 3, 1))
            counts = np.zeros_like(start)
            seconds, steps = np.zeros(classes), np.zeros(classes)
            for place, pair in enumerate(pairs, start=1):
                emission, expected = self._expect(pair, 1.5 + ripe * (self.shape - 1.5))
                states = expected.states
                weights = (1 - self.null) * states / emission
                ratios = pair.scores / self._prior
                table = self.confusions_[pair.steps]
                np.add.at(counts, pair.steps, table * (weights.T @ ratios))
                scale = len(states) / self.durations_[pair.steps].sum()
                np.add.at(seconds, pair.steps, states.sum(axis=0) / scale)
                np.add.at(steps, pair.steps, 1.0)
                if progress is not None:
                    progress(number * len(pairs) + place, rounds, "learning")
            counts += _CONFUSIONS * start
            self.confusions_ = counts / counts.sum(axis=1, keepdims=True)
            usual = _DURATIONS * self.durations_.mean()
            self.durations_ = (seconds + usual) / (steps + _DURATIONS)
        return self

    def posterior(self, pair: ScoredPair) -> Array:
        """Return ``(T, K)`` probability of each step in each frame."""
        return self._expect(pair, self.shape)[1].states

    def predict(self, pair: ScoredPair) -> NDArray[np.int64]:
        """Return ``(T,)`` the step of each frame, by number in the list."""
        return np.asarray(self.posterior(pair).argmax(axis=1), dtype=np.int64)

    def _expect(self, pair: ScoredPair, shape: float) -> tuple[Array, SegmentCounts]:
        """Return likelihood ratios ``(T, K)`` and the expected segmentation."""
        frames = len(pair.scores)
        ratios = (pair.scores / self._prior) @ self.confusions_[pair.steps].T
        emission = self.null + (1 - self.null) * ratios
        best = pair.scores.argmax(axis=1)
        changes = np.concatenate([[False], best[1:] != best[:-1], [False]])
        lengths = np.diff(np.flatnonzero(np.concatenate([[True], changes[1:-1], [True]])))
        runs = np.repeat(lengths.astype(np.float64) ** (self.dependence - 1), lengths)
        logs = self.temperature * runs[:, None] * np.log(np.maximum(emission, _FLOOR))
        means = self.durations_[pair.steps]
        chain = SegmentChain(
            _gamma(means * frames / means.sum(), shape, frames),
            *order_weights(len(pair.steps), self.skip, self.back),
        )
        edges = np.where(changes, self.change, 0.0)
        expected = segment_counts(logs, np.arange(frames + 1), edges, chain)
        if expected.log_likelihood == -np.inf:
            raise AlignmentError("no path leads through the steps; use a smaller shape.")
        return emission, expected


def _gamma(means: Array, shape: float, frames: int) -> Array:
    """Return ``(K, G)`` weights of durations of 0 .. G - 1 frames."""
    lengths = np.maximum(np.arange(int(min(frames, _LONGEST * means.max())) + 1), 0.5)
    scale = (means / shape)[:, None]
    logs = (shape - 1) * np.log(lengths) - lengths / scale
    return np.asarray(np.exp(logs - gammaln(shape) - shape * np.log(scale)))
