"""Batches: lattices of one shape as torch arrays, and their results.

Clips are copied as they lie; the device puts frames first, so that what a step reads lies together.
Words of one state move nowhere: they only weigh. The states of all other words are joined into one,
which is small.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.lattice.model import Lattice, WordChain
from wordsight.inference.lattice.plan import Topology

__all__ = ["BatchShape", "for_each", "pack_batch", "split_steps", "split_table"]

Array = NDArray[np.float64]
Numbers = NDArray[Any]

_THREADS, _CLIPS_PER_THREAD = 8, 16  # copying is what a processor does here, and it waits a lot


@dataclass(frozen=True)
class BatchShape:
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


def pack_batch(lattices: Sequence[Lattice], shape: BatchShape, dtype: Any) -> list[Numbers]:
    """Lay clips side by side, each padded with frames that change nothing.

    Args:
        lattices: At most B clips of one topology.
        shape: The sizes to fill up to.
        dtype: Of the arrays.

    Returns:
        In order: ``unary`` (B, P or 1, T, J), ``coherence`` (B, P or 1, T - 1, J, J), ``initial``
        and ``final`` (B, Q), ``transition`` (B, Q, Q), ``alive`` (T, B) 1 up to each clip's last
        frame, ``last`` (T, B) 1 at it, and per word ``(B, T, I, J, ..., J)`` its weights with
        participants ascending.
    """
    wide, clips = shape.topology, shape.clips
    seen, states = wide.num_detections, wide.num_word_states
    people = [
        1 if shared else wide.num_participants
        for shared in (wide.shared_unary, wide.shared_coherence)
    ]
    unary = np.empty((clips, people[0], shape.frames, seen), dtype)
    coherence = np.empty((clips, people[1], max(shape.frames - 1, 0), seen, seen), dtype)
    initial, final = np.zeros((2, clips, states), dtype)
    transition = np.zeros((clips, states, states), dtype)
    alive, last = np.zeros((2, shape.frames, clips), dtype)
    tables = [
        np.empty((clips, shape.frames, count, *(seen,) * len(axes)), dtype)
        for axes, count in wide.words
    ]

    def lay(n: int) -> None:
        length = lattices[n].num_frames if n < len(lattices) else 0
        unary[n, :, length:] = 1.0
        coherence[n, :, max(length - 1, 0) :] = np.eye(seen)
        for table in tables:
            table[n, length:] = 1.0
        if not length:
            return
        lattice = lattices[n]
        unary[n, :, :length] = lattice.unary
        coherence[n, :, : length - 1] = lattice.coherence
        initial[n], transition[n], final[n] = _joined([lattice.words[w] for w in shape.moving])
        alive[:length, n], last[length - 1, n] = 1.0, 1.0
        for table, word in zip(tables, lattice.words, strict=True):
            table[n, :length] = _ascending(word)

    for_each(lay, clips)
    return [unary, coherence, initial, final, transition, alive, last, *tables]


def for_each(work: Callable[[int], Any], count: int) -> list[Any]:
    """Do work on the numbers up to ``count``, several at once where there are many."""
    threads = min(_THREADS, os.cpu_count() or 1, count // _CLIPS_PER_THREAD)
    if threads < 2:
        return [work(number) for number in range(count)]
    with ThreadPoolExecutor(max_workers=threads) as pool:
        return list(pool.map(work, range(count), chunksize=_CLIPS_PER_THREAD))


def split_table(table: Numbers, word: WordChain) -> Array:
    """Return ``(T, I, J, ..., J)`` in the order of a word's roles from one with roles ascending."""
    if len(word.participants) == 1:
        return np.ascontiguousarray(table, dtype=np.float64)
    places = np.argsort(np.argsort(word.participants))
    return np.ascontiguousarray(table.transpose(0, 1, *(2 + places)), dtype=np.float64)


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
    if len(words) == 1:  # the usual case; a product of one takes longer than a copy
        (word,) = words
        ends = final.repeat(word.num_states) if word.final is None else word.final
        return word.initial, word.transition, ends
    for word in words:
        ends = np.ones(word.num_states) if word.final is None else word.final
        initial, final = _kron(initial, word.initial), _kron(final, ends)
        transition = _kron(transition, word.transition)
    return initial, transition, final


def _kron(one: Array, other: Array) -> Array:
    return np.asarray(np.kron(one, other), dtype=np.float64)


def _ascending(word: WordChain) -> Array:
    """Return a word's emission with its participants ascending."""
    if len(word.participants) == 1:
        return word.emission
    return word.emission.transpose(0, 1, *(2 + np.argsort(word.participants)))
