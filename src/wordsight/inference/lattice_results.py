"""What inference on a lattice returns."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["LatticeCounts", "LatticePath", "LatticeScore"]


@dataclass(frozen=True)
class LatticeScore:
    """The sum over all tracks and state sequences.

    Attributes:
        log_joint: Logarithm of the summed weight of all choices.
        log_partition: The same with the tracks alone, as if the sentence had no words.
        log_upper: Where part of the choices was left out, what ``log_joint`` would be at most.
    """

    log_joint: float
    log_partition: float
    log_upper: float | None = field(default=None, kw_only=True)

    @property
    def lost_mass(self) -> float:
        """Share of the summed weight that was left out, at most; 0 if nothing was."""
        return _lost(self.log_joint, self.log_upper)

    @property
    def log_likelihood(self) -> float:
        """Logarithm of the words' likelihood averaged over tracks; ``-inf`` if impossible."""
        if self.log_joint == -np.inf:
            return -np.inf
        return self.log_joint - self.log_partition


@dataclass(frozen=True)
class LatticeCounts(LatticeScore):
    """Expected counts of everything a word does, given clip and sentence.

    All are zero if the sentence is impossible in the clip.

    Attributes:
        transitions: Per word ``(I, I)``: expected steps from state to state, summed over frames.
        tables: Per word ``(T, I, J, ..., J)``: probability in each frame of the word's state
            together with the detections of its participants, in the order of its roles.
        participants: ``(P, T, J)`` probability of each participant's detection, if asked for.
    """

    transitions: tuple[NDArray[np.float64], ...]
    tables: tuple[NDArray[np.float64], ...]
    participants: NDArray[np.float64] | None = None

    def initial(self, word: int) -> NDArray[np.float64]:
        """Return the ``(I,)`` probability of each state of a word in the first frame."""
        return np.asarray(self.states(word)[0])

    def states(self, word: int) -> NDArray[np.float64]:
        """Return the ``(T, I)`` probability of each state of a word in each frame."""
        table = self.tables[word]
        return np.asarray(table.sum(axis=tuple(range(2, table.ndim))))


@dataclass(frozen=True)
class LatticePath:
    """The heaviest single choice.

    Attributes:
        log_score: Logarithm of its weight; ``-inf`` if nothing is possible.
        tracks: ``(T, P)`` the detection of each participant in each frame; -1 if impossible.
        states: ``(T, L)`` the state of each word in each frame; -1 if impossible.
        log_upper: Where part of the choices was left out, what ``log_score`` would be at most.
    """

    log_score: float
    tracks: NDArray[np.int64]
    states: NDArray[np.int64]
    log_upper: float | None = field(default=None, kw_only=True)

    @property
    def lost_mass(self) -> float:
        """By what share the heaviest choice of all may be heavier than this one, at most."""
        return _lost(self.log_score, self.log_upper)


def _lost(log_found: float, log_upper: float | None) -> float:
    if log_upper is None or log_upper == -np.inf:
        return 0.0
    return max(0.0, float(-np.expm1(log_found - log_upper)))
