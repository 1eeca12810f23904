"""Lattices of one shape side by side, as the arrays torch computes with, and their results apart.

Frames come first and clips second, so that what a step reads lies together. Words of one state move
nowhere: they only weigh. The states of all other words are joined into one, which is small.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.lattice import Lattice, WordChain
from wordsight.inference.lattice_plan import Topology

__all__ = ["Shape", "log_constant", "pack_batch", "split_steps", "split_table"]

Array = NDArray[np.float64]
Numbers = NDArray[Any]


@dataclass(frozen=True)
class Shape:
    """The sizes of a batch, beyond which nothing about it matters to how it is computed.

    Attributes:
        topology: Participants, detections and words.
        frames: Frames T of the longest clip, padding included.
        clips: Clips B, padding included.
    """

    topology: Topology
    frames: int
    clips: int

    @property
    def moving(self) -> list[int]:
        """The words with more than one state."""
        return [n for n, (_, states) in enumerate(self.topology.words) if states > 1]

    @property
    def moving_states(self) -> list[int]:
        """How many states each of them has."""
        return [self.topology.words[n][1] for n in self.moving]


def pack_batch(lattices: Sequence[Lattice], shape: Shape, dtype: Any) -> list[Numbers]:
    """Lay clips side by side, each padded with frames that change nothing.

    Args:
        lattices: At most B clips of one topology.
        shape: The sizes to fill up to.
        dtype: Of the arrays.

    Returns:
        In order: ``unary`` (T, B, P or 1, J), ``coherence`` (T - 1, B, P or 1, J, J), ``initial``
        and ``final`` (B, Q), ``transition`` (B, Q, Q), ``alive`` (T, B) 1 up to each clip's last
        frame, ``last`` (T, B) 1 at it, and per word ``(T, B, J, ..., J, I)`` its weights with
        participants ascending.
    """
    wide, seen = shape.topology, shape.topology.num_detections
    apart = [
        1 if shared else wide.num_participants
        for shared in (wide.shared_unary, wide.shared_coherence)
    ]
    states = wide.num_word_states
    unary = np.ones((shape.frames, shape.clips, apart[0], seen), dtype)
    coherence = np.zeros((max(shape.frames - 1, 0), shape.clips, apart[1], seen, seen), dtype)
    coherence[...] = np.eye(seen, dtype=dtype)
    initial, final = np.zeros((2, shape.clips, states), dtype)
    transition = np.zeros((shape.clips, states, states), dtype)
    alive, last = np.zeros((2, shape.frames, shape.clips), dtype)
    tables = [
        np.ones((shape.frames, shape.clips, *(seen,) * len(axes), count), dtype)
        for axes, count in wide.words
    ]
    for n, lattice in enumerate(lattices):
        length = lattice.num_frames
        unary[:length, n] = np.moveaxis(_apart(lattice.unary, 2), 0, 1)
        coherence[: length - 1, n] = np.moveaxis(_apart(lattice.coherence, 3), 0, 1)
        initial[n], transition[n], final[n] = _joined([lattice.words[w] for w in shape.moving])
        alive[:length, n], last[length - 1, n] = 1.0, 1.0
        for table, word in zip(tables, lattice.words, strict=True):
            order = np.argsort(word.participants)
            table[:length, n] = word.emission.transpose(0, *(2 + order), 1)
    return [unary, coherence, initial, final, transition, alive, last, *tables]


def log_constant(lattice: Lattice) -> float:
    """Return the log weight of the starts, steps and ends of words of one state."""
    total, steps = 0.0, lattice.num_frames - 1
    for word in lattice.words:
        if word.num_states == 1:
            ends = 1.0 if word.final is None else word.final[0]
            total += _log(word.initial[0]) + _log(ends)
            total += steps * _log(word.transition[0, 0]) if steps else 0.0
    return total


def split_table(table: Numbers, word: WordChain) -> Array:
    """Return ``(T, I, J, ..., J)`` in the order of a word's roles from one with roles ascending."""
    places = np.argsort(np.argsort(word.participants))
    ordered = table.transpose(0, table.ndim - 1, *(1 + places))
    return np.ascontiguousarray(ordered, dtype=np.float64)


def split_steps(steps: Numbers, lattice: Lattice, *, possible: bool) -> tuple[Array, ...]:
    """Return every word's ``(I, I)`` expected steps from the ``(Q, Q)`` of all together."""
    sizes = [word.num_states for word in lattice.words if word.num_states > 1]
    joint = steps.astype(np.float64).reshape((*sizes, *sizes))
    parts: list[Array] = []
    place = 0
    for word in lattice.words:
        if word.num_states == 1:
            parts.append(np.full((1, 1), float(lattice.num_frames - 1) * possible))
            continue
        kept = {place, place + len(sizes)}
        parts.append(joint.sum(axis=tuple(a for a in range(joint.ndim) if a not in kept)))
        place += 1
    return tuple(parts)


def _joined(words: Sequence[WordChain]) -> tuple[Array, Array, Array]:
    """Return initial, transition and final weights of words as if they were one."""
    initial: Array = np.ones(1)
    final: Array = np.ones(1)
    transition: Array = np.ones((1, 1))
    for word in words:
        ends = np.ones(word.num_states) if word.final is None else word.final
        initial, final = _kron(initial, word.initial), _kron(final, ends)
        transition = _kron(transition, word.transition)
    return initial, transition, final


def _kron(one: Array, other: Array) -> Array:
    return np.asarray(np.kron(one, other), dtype=np.float64)


def _apart(array: Array, shared_ndim: int) -> Array:
    return array[None] if array.ndim == shared_ndim else array


def _log(weight: float) -> float:
    return math.log(weight) if weight > 0.0 else -math.inf
