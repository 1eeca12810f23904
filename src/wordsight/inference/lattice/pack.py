"""Packing lattices of one shape into arrays for the kernel, and unpacking its results."""

import math
import threading
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.lattice.model import Lattice, WordChain
from wordsight.inference.lattice.plan import KernelPlan, Topology, plan_of, topology_of

__all__ = ["ArrayPool", "Pack", "aligned_array", "log_constant", "pack", "scratch_array"]

_MAX_SCRATCH = 8 << 20
"""Numbers in a scratch array that is kept, 64 MiB of them; larger ones are rare and released."""


class _Scratch(threading.local):
    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[np.float64]] = {}


_scratch = _Scratch()


def scratch_array(name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return an uninitialised array, valid until this thread asks for the same name again."""
    size = math.prod(shape)
    array = _scratch.arrays.get(name)
    if array is None or array.size < size:
        array = aligned_array(size)
        if size <= _MAX_SCRATCH:
            _scratch.arrays[name] = array
    return array[:size].reshape(shape)


def aligned_array(size: int) -> NDArray[np.float64]:
    """Return an uninitialised array that starts at a cache line, so that vectors cross none.

    The kernels compile this function, too.
    """
    numbers = np.empty(size + 7)
    skipped = -(numbers.ctypes.data // 8) % 8
    return numbers[skipped : skipped + size]


class ArrayPool:
    """Creates result arrays and reuses their memory once no view of them is left.

    Args:
        max_bytes: Unused memory to keep; memory returned beyond that is released.
    """

    def __init__(self, max_bytes: int = 64 << 20) -> None:
        self._max_bytes = max_bytes
        self._free: dict[int, list[NDArray[np.float64]]] = {}
        self._free_bytes = 0
        # Reentrant: garbage collection may return memory while the lock is held.
        self._lock = threading.RLock()

    def empty(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return an uninitialised array that the caller may keep."""
        size = math.prod(shape)
        return np.asarray(_Loan(self, self._take(size))).reshape(shape) if size else np.empty(shape)

    def _take(self, size: int) -> NDArray[np.float64]:
        with self._lock:
            free = self._free.get(size)
            if free:
                self._free_bytes -= 8 * size
                return free.pop()
        return np.empty(size)

    def _give_back(self, memory: NDArray[np.float64]) -> None:
        with self._lock:
            if self._free_bytes + memory.nbytes <= self._max_bytes:
                self._free.setdefault(memory.size, []).append(memory)
                self._free_bytes += memory.nbytes


class _Loan:
    """Memory of a pool as the base of an array: every view keeps it alive."""

    def __init__(self, pool: ArrayPool, memory: NDArray[np.float64]) -> None:
        self._pool, self._memory = pool, memory
        self.__array_interface__: dict[str, Any] = memory.__array_interface__

    def __del__(self) -> None:
        self._pool._give_back(self._memory)


Array = NDArray[np.float64]


@dataclass(frozen=True)
class Pack:
    """Several lattices of one shape as the arrays the kernel takes.

    Attributes:
        lattices: The lattices.
        arrays: Everything the kernel reads, in the order of its arguments.
        constants: ``(N,)`` log weight of the words of one state, which the kernel leaves out.
        lengths: ``(N,)`` frames of each lattice.
        rows: ``(N,)`` where each lattice's frames begin.
        topology: Their shape.
    """

    lattices: list[Lattice]
    arrays: tuple[Any, ...]
    constants: list[float]
    lengths: list[int]
    rows: list[int]
    topology: Topology

    @property
    def num_rows(self) -> int:
        """Frames of all lattices together."""
        return sum(self.lengths)

    @property
    def longest(self) -> int:
        """Frames of the longest lattice."""
        return max(self.lengths)

    @property
    def num_nodes(self) -> int:
        """Nodes of one frame."""
        return self.lattices[0].num_nodes

    @property
    def num_entries(self) -> int:
        """Table entries of one frame."""
        return sum(self.topology.table_sizes)

    @property
    def num_step_entries(self) -> int:
        """Transition counts of one lattice: those of words with more than one state."""
        return sum(states**2 for _, states in self.topology.words if states > 1)

    def rows_of(self, number: int, rows: Array) -> Array:
        """Return the rows of one lattice's frames, as a view."""
        start = self.rows[number]
        return rows[start : start + self.lengths[number]]

    def split_tables(self, number: int, tables: Array) -> tuple[Array, ...]:
        """Cut the table rows of a lattice into one ``(T, I, J, ..., J)`` array per word."""
        lattice = self.lattices[number]
        own = self.rows_of(number, tables)
        parts = []
        place = 0
        for word, size in zip(lattice.words, self.topology.table_sizes, strict=True):
            ascending = own[:, place : place + size].reshape(word.emission.shape)
            place += size
            parts.append(_reordered(ascending, word, back=True))
        return tuple(parts)

    def split_steps(self, number: int, steps: Array, *, possible: bool) -> tuple[Array, ...]:
        """Cut a row of transition counts into one ``(I, I)`` array per word."""
        parts = []
        place = 0
        for word in self.lattices[number].words:
            n = word.num_states
            if n == 1:
                # The only step there is happens between all frames.
                parts.append(
                    np.full((1, 1), (self.lattices[number].num_frames - 1) * possible, float)
                )
                continue
            parts.append(steps[place : place + n * n].reshape(n, n))
            place += n * n
        return tuple(parts)

    def split_path(
        self, number: int, nodes: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Take a path apart into ``(T, P)`` detections and ``(T, L)`` states."""
        lattice = self.lattices[number]
        start = self.rows[number]
        path = nodes[start : start + self.lengths[number]]
        shape = [word.num_states for word in lattice.words]
        shape += [lattice.num_detections] * lattice.num_participants
        digits = np.stack(np.unravel_index(path, shape), axis=1).astype(np.int64)
        return digits[:, len(lattice.words) :], digits[:, : len(lattice.words)]


def pack(lattices: list[Lattice], topology: Topology | None = None) -> Pack:
    """Lay lattices of one shape, ``topology`` if it is known, side by side."""
    topology = topology or topology_of(lattices[0])
    plan: KernelPlan = plan_of(topology)
    lengths = [lattice.num_frames for lattice in lattices]
    frames = np.array(lengths, dtype=np.int64)
    rows = np.array([0, *accumulate(lengths[:-1])], dtype=np.int64)
    arrays = (
        frames,
        rows,
        rows - np.arange(len(lattices)),
        _emissions(lattices, topology, sum(lengths)),
        _joined([_apart(lattice.unary, 2) for lattice in lattices], 1),
        _joined([_apart(lattice.coherence, 3) for lattice in lattices], 1),
        np.stack([_parameters(lattice) for lattice in lattices]),
        plan,
    )
    constants = [log_constant(lattice) for lattice in lattices]
    return Pack(lattices, arrays, constants, lengths, rows.tolist(), topology)


def _emissions(lattices: list[Lattice], topology: Topology, num_rows: int) -> Array:
    """Return the ``(rows, entries)`` tables of all words of all frames."""
    packed = scratch_array("emission", (num_rows, sum(topology.table_sizes)))
    row = 0
    for lattice in lattices:
        frames, place = lattice.num_frames, 0
        for word, size in zip(lattice.words, topology.table_sizes, strict=True):
            table = _reordered(word.emission, word)
            packed[row : row + frames, place : place + size] = table.reshape(frames, -1)
            place += size
        row += frames
    return packed


def _reordered(table: Array, word: WordChain, *, back: bool = False) -> Array:
    """Bring a table's participants into ascending order, or from it back to the word's."""
    if len(word.participants) == 1 or list(word.participants) == sorted(word.participants):
        return table
    order = np.argsort(word.participants)
    return table.transpose(0, 1, *((np.argsort(order) if back else order) + 2))


def _apart(array: Array, shared_ndim: int) -> Array:
    return array[None] if array.ndim == shared_ndim else array


def _joined(arrays: list[Array], axis: int) -> Array:
    if len(arrays) == 1:
        return np.ascontiguousarray(arrays[0])
    return np.concatenate(arrays, axis=axis)


def _parameters(lattice: Lattice) -> Array:
    """Return initial, final and transition weights of the words that have more than one state."""
    many = [word for word in lattice.words if word.num_states > 1]
    initial = [word.initial for word in many]
    final = [np.ones(w.num_states) if w.final is None else w.final for w in many]
    steps = [word.transition.reshape(-1) for word in many]
    return np.concatenate([*initial, *final, *steps, np.zeros(1)])


def log_constant(lattice: Lattice) -> float:
    """Return the log weight of the starts, steps and ends of words of one state."""
    total = 0.0
    steps = lattice.num_frames - 1
    for word in lattice.words:
        if word.num_states == 1:
            total += _log(word.initial[0]) + (steps * _log(word.transition[0, 0]) if steps else 0.0)
            total += 0.0 if word.final is None else _log(word.final[0])
    return total


def _log(weight: float) -> float:
    return math.log(weight) if weight > 0.0 else -math.inf
