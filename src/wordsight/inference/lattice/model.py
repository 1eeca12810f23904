"""The factored lattice: tracks of several participants and the states of several words, jointly.

A node at a frame is one detection per participant and one state per word. Its weight and the weight
of a step factor over participants and words, so nothing of the size of the product is ever given:
only a row of detections per frame, and a small table per word.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.errors import WordsightError

__all__ = [
    "Lattice",
    "LatticeCounts",
    "LatticeError",
    "LatticePath",
    "LatticeScore",
    "LatticeTooLargeError",
    "WordChain",
    "weights_from_logs",
]


class LatticeError(WordsightError, ValueError):
    """Arrays that do not form a lattice."""


class LatticeTooLargeError(LatticeError, MemoryError):
    """A lattice that would not fit into the memory it may use."""


@dataclass(frozen=True)
class WordChain:
    """One word of a sentence: a hidden Markov chain that watches some of the participants.

    Attributes:
        participants: Which participants it watches, each once, in the order of its roles.
        initial: ``(I,)`` weight of each state in the first frame.
        transition: ``(I, I)`` weight of each step from a state (row) to a state (column).
        emission: ``(T, I, J, ..., J)`` weight of each state in each frame, with one axis of
            detections per participant; non-negative. See :func:`weights_from_logs`.
        final: ``(I,)`` weight of each state in the last frame; ones if not given.
        log_scale: Logarithm of a factor taken out of the emission, over all frames.
    """

    participants: tuple[int, ...]
    initial: NDArray[np.float64]
    transition: NDArray[np.float64]
    emission: NDArray[np.float64]
    final: NDArray[np.float64] | None = None
    log_scale: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "participants", tuple(int(p) for p in self.participants))
        for name in ("initial", "transition", "emission"):
            object.__setattr__(self, name, _weights(getattr(self, name), f"the word's {name}"))
        if self.final is not None:
            object.__setattr__(self, "final", _weights(self.final, "the word's final"))
        self._check_shapes()

    @property
    def num_states(self) -> int:
        """How many states the word has."""
        return len(self.initial)

    @property
    def num_participants(self) -> int:
        """How many participants the word watches."""
        return len(self.participants)

    def _check_shapes(self) -> None:
        states = self.initial.shape
        if len(states) != 1 or states[0] == 0 or self.transition.shape != states * 2:
            raise LatticeError(
                f"a word of I states needs initial (I,) and transition (I, I), got "
                f"{states} and {self.transition.shape}."
            )
        if self.final is not None and self.final.shape != states:
            raise LatticeError(f"a word's final must be {states}, got {self.final.shape}.")
        if not self.participants or len(set(self.participants)) != len(self.participants):
            raise LatticeError(
                f"a word watches one or more different participants, got {self.participants}."
            )
        shape = self.emission.shape
        if len(shape) != 2 + self.num_participants or shape[1:2] != states:
            raise LatticeError(
                f"a word of {states[0]} states over {self.num_participants} participants needs an "
                f"emission of (T, {states[0]}{', J' * self.num_participants}), got {shape}."
            )


@dataclass(frozen=True)
class Lattice:
    """One clip and one sentence: what there is to choose from, and what each choice weighs.

    The weight of a choice of one track per participant and one state sequence per word is the
    product of all entries it passes. A masked detection has weight 0.

    Attributes:
        num_participants: Number P of tracks to choose.
        unary: ``(T, J)`` weight of each detection for every participant, or ``(P, T, J)`` where
            participants differ.
        coherence: ``(T - 1, J, J)`` weight of each step from a detection in a frame (row) to one
            in the next (column), or ``(P, T - 1, J, J)``.
        words: The words; a participant that no word watches is still tracked.
        log_scale: Logarithm of a factor taken out of ``unary`` and ``coherence``, over all frames
            and all participants.
    """

    num_participants: int
    unary: NDArray[np.float64]
    coherence: NDArray[np.float64]
    words: tuple[WordChain, ...] = ()
    log_scale: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "num_participants", int(self.num_participants))
        object.__setattr__(self, "words", tuple(self.words))
        for name in ("unary", "coherence"):
            object.__setattr__(self, name, _weights(getattr(self, name), name))
        if self.num_participants < 1:
            raise LatticeError(f"a lattice needs a participant, got {self.num_participants}.")
        self._check_tracks()
        for word in self.words:
            self._check_word(word)

    @property
    def num_frames(self) -> int:
        """Number T of frames."""
        return int(self.unary.shape[-2])

    @property
    def num_detections(self) -> int:
        """Number J of detections per frame, masked ones included."""
        return int(self.unary.shape[-1])

    @property
    def num_nodes(self) -> int:
        """Number of joint states per frame, exact however large."""
        states = math.prod(word.num_states for word in self.words)
        return int(self.num_detections**self.num_participants) * states

    @property
    def total_log_scale(self) -> float:
        """Logarithm of everything taken out of the arrays, words included."""
        return self.log_scale + sum(word.log_scale for word in self.words)

    def unary_of(self, participant: int) -> NDArray[np.float64]:
        """Return the ``(T, J)`` weights of one participant's detections."""
        return self.unary if self.unary.ndim == 2 else self.unary[participant]

    def coherence_of(self, participant: int) -> NDArray[np.float64]:
        """Return the ``(T - 1, J, J)`` weights of one participant's steps."""
        return self.coherence if self.coherence.ndim == 3 else self.coherence[participant]

    def _check_tracks(self) -> None:
        frames, detections = self.unary.shape[-2:] if self.unary.ndim in (2, 3) else (0, 0)
        if frames == 0 or detections == 0:
            raise LatticeError(
                "a lattice needs unary weights (T, J) or (P, T, J) of at least one frame and one "
                f"detection, got {self.unary.shape}."
            )
        steps = (frames - 1, detections, detections)
        apart = (self.num_participants,)
        if self.unary.ndim == 3 and self.unary.shape[:1] != apart:
            raise LatticeError(f"unary has {len(self.unary)} participants, expected {apart[0]}.")
        if self.coherence.shape not in (steps, apart + steps):
            raise LatticeError(
                f"coherence must be {steps} or {apart + steps}, got {self.coherence.shape}."
            )

    def _check_word(self, word: WordChain) -> None:
        if max(word.participants) >= self.num_participants or min(word.participants) < 0:
            raise LatticeError(
                f"a word watches participants {word.participants}, but there are "
                f"{self.num_participants}, numbered from 0."
            )
        detections = (self.num_detections,) * word.num_participants
        expected = (self.num_frames, word.num_states, *detections)
        if word.emission.shape != expected:
            raise LatticeError(
                f"a word's emission must be {expected} to fit the lattice, got "
                f"{word.emission.shape}."
            )


def weights_from_logs(
    logs: ArrayLike, *, shared_axes: int = 1
) -> tuple[NDArray[np.float64], float]:
    """Turn logarithms into weights whose largest in each frame is 1.

    Args:
        logs: ``(T, ...)`` logarithms; ``-inf`` is weight 0.
        shared_axes: How many leading axes to keep apart when looking for the largest: 1 for one
            largest per frame, 0 for one overall.

    Returns:
        The weights, and the logarithm of what was taken out of all frames together, for
        ``WordChain.log_scale`` or, times the number of participants, ``Lattice.log_scale``.
    """
    values = np.asarray(logs, dtype=np.float64)
    rest = tuple(range(shared_axes, values.ndim))
    largest = np.max(values, axis=rest, keepdims=True, initial=-np.inf)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    return np.exp(values - largest), float(largest.sum())


def _weights(values: ArrayLike, what: str) -> NDArray[np.float64]:
    array = np.ascontiguousarray(values, dtype=np.float64)
    # One pass each: min and max are NaN if anything is, so both comparisons fail then.
    if array.size and not (array.min() >= 0.0 and array.max() < np.inf):
        raise LatticeError(
            f"{what} must hold finite weights of 0 or more, got {array.min()} to {array.max()}; "
            "give 0 to what is impossible."
        )
    return array


# What inference on a lattice returns.


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
