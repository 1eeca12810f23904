"""Streaming inference on long clips: memory grows with the square root of their length.

A first pass keeps the nodes of a few frames only. Then, from the last part to the first, each part
is walked again from there, its frames kept just until they are counted.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.lattice import reference as plain
from wordsight.inference.lattice.model import Lattice, LatticeCounts, LatticePath
from wordsight.inference.lattice.pack import Pack, log_constant, pack
from wordsight.inference.lattice.run import _with_probes, _without_probes, lattice_bytes, log_scores
from wordsight.inference.numba_support import numba_available

__all__ = [
    "CompiledParts",
    "FrameRange",
    "ReferenceParts",
    "best_of_parts",
    "log_partition",
    "slice_lattice",
    "streamed_bytes",
    "streamed_counts",
    "streamed_path",
]


Array = NDArray[np.float64]
Backend = Literal["compiled", "reference"]
FrameRange = tuple[int, int]
"""First and last frame; neighbouring parts share one."""


class PartwiseRecursion(Protocol):
    """Forward-backward on the parts of one lattice."""

    def forward(self, part: FrameRange, nodes: Array | None) -> tuple[Array, float]:
        """Return the nodes of a part's last frame, and the log of what was divided out."""

    def ended(self, nodes: Array) -> float:
        """Return the log of the last nodes' sum under the final weights."""

    def future(self, nodes: Array, log_total: float) -> Array:
        """Return the future of the last frame."""

    def backward(
        self, part: FrameRange, nodes: Array | None, future: Array, counts: LatticeCounts
    ) -> Array:
        """Count what is expected in a part; return the future of its first frame."""


def streamed_counts(
    lattice: Lattice,
    *,
    participants: bool = False,
    backend: Backend = "compiled",
    part: int | None = None,
) -> LatticeCounts:
    """Compute what :func:`wordsight.inference.expected_counts` does, in little memory.

    Takes about a third longer: every part is walked forward twice.

    Args:
        lattice: The clip and sentence.
        participants: Whether to return the posterior of every participant's detections too.
        backend: The compiled kernel, or plain numpy to compare with.
        part: Frames in a part; the root of the clip's number if not given.
    """
    if participants:
        return _without_probes(
            streamed_counts(_with_probes(lattice), backend=backend, part=part), lattice
        )
    partition = log_partition(lattice)
    if backend == "compiled" and numba_available():
        found = _counted(lattice, CompiledParts(lattice), partition, part)
        # Scaled numbers may be too small for what logarithms can tell.
        if found.log_joint > -np.inf or partition == -np.inf:
            return found

    return _counted(lattice, ReferenceParts(lattice), partition, part)


def _counted(
    lattice: Lattice, work: PartwiseRecursion, partition: float, part: int | None
) -> LatticeCounts:
    parts = _parts(lattice.num_frames, part)
    nodes: Array | None = None
    starts: list[Array | None] = []
    total = 0.0
    for each in parts:
        starts.append(nodes)
        nodes, log = work.forward(each, nodes)
        total += log
        if total == -np.inf:
            return _nothing(lattice, partition)
    assert nodes is not None  # there is a part, since there is a frame
    last = work.ended(nodes)
    if last == -np.inf:
        return _nothing(lattice, partition)
    counts = replace(_nothing(lattice, partition), log_joint=total + last)
    future = work.future(nodes, last)
    for each, start in zip(reversed(parts), reversed(starts), strict=True):
        future = work.backward(each, start, future, counts)
    _count_still_words(lattice, counts)
    return replace(counts, log_joint=counts.log_joint + lattice.total_log_scale)


def _nothing(lattice: Lattice, partition: float) -> LatticeCounts:
    return LatticeCounts(
        -np.inf,
        partition,
        tuple(np.zeros((word.num_states,) * 2) for word in lattice.words),
        tuple(np.zeros(word.emission.shape) for word in lattice.words),
    )


def _count_still_words(lattice: Lattice, counts: LatticeCounts) -> None:
    for word, steps in zip(lattice.words, counts.transitions, strict=True):
        if word.num_states == 1:
            steps[:] = lattice.num_frames - 1


def streamed_path(lattice: Lattice, *, part: int | None = None) -> LatticePath:
    """Find what :func:`wordsight.inference.best_paths` does, in little memory.

    Args:
        lattice: The clip and sentence.
        part: Frames in a part; the root of the clip's number if not given.
    """
    from wordsight.inference.lattice.reference import path_reference

    if not numba_available():
        return path_reference(lattice)
    found = best_of_parts(lattice, _parts(lattice.num_frames, part))
    return path_reference(lattice) if found is None else found


def streamed_bytes(lattice: Lattice) -> int:
    """Return about how many bytes streaming needs beside the lattice's own arrays."""
    kept = 2 * (math.isqrt(lattice.num_frames) + 2)
    few = lattice_bytes(lattice, frames_kept=False)
    return few + 8 * lattice.num_nodes * kept


def slice_lattice(lattice: Lattice, first: int, last: int) -> Lattice:
    """Return the frames from ``first`` to ``last``, both included; scales stay with the whole."""
    frames, between = slice(first, last + 1), slice(first, last)
    words = tuple(
        replace(word, emission=word.emission[frames], log_scale=0.0) for word in lattice.words
    )
    return Lattice(
        lattice.num_participants,
        lattice.unary[..., frames, :],
        lattice.coherence[..., between, :, :],
        words,
    )


def log_partition(lattice: Lattice) -> float:
    """Return the log sum over tracks alone, one participant at a time."""
    apart = lattice.unary.ndim == 3 or lattice.coherence.ndim == 4
    people: Sequence[int] = range(lattice.num_participants) if apart else [0]
    alone = [Lattice(1, lattice.unary_of(p), lattice.coherence_of(p)) for p in people]
    found = sum(score.log_partition for score in log_scores(alone))
    return found * (1 if apart else lattice.num_participants) + lattice.log_scale


def _parts(frames: int, length: int | None) -> list[FrameRange]:
    step = max(1, math.isqrt(frames) if length is None else length)
    starts = list(range(0, max(frames - 1, 1), step))
    return list(zip(starts, [*starts[1:], frames - 1], strict=True))


# The two ways to work on parts of a lattice: the compiled kernel, and plain logarithms.


class CompiledParts:
    """Parts of a lattice by the compiled kernel; nodes are scaled weights.

    Args:
        lattice: The whole lattice.
    """

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice
        self._constant = log_constant(lattice)
        self._final: Array = np.ones(1)
        for word in lattice.words:
            if word.num_states > 1:
                final = np.ones(word.num_states) if word.final is None else word.final
                self._final = np.asarray(np.kron(self._final, final))

    def forward(self, part: FrameRange, nodes: Array | None) -> tuple[Array, float]:
        """Return the nodes of a part's last frame, and the log of what was divided out."""
        packed = _packed(self.lattice, part)
        found, masses = self._walk(packed, nodes, kept=1)
        log = float(np.log(masses[:-1]).sum()) if found is not None else -np.inf
        return (np.zeros(0) if found is None else found), log

    def ended(self, nodes: Array) -> float:
        """Return the log of the last nodes' sum under the final weights."""
        mass = float((nodes.reshape(len(self._final), -1).sum(axis=1) * self._final).sum())
        return float(np.log(mass)) + self._constant if mass > 0 else -np.inf

    def future(self, nodes: Array, log_total: float) -> Array:
        """Return the future of the last frame."""
        share = self._final / np.exp(log_total - self._constant)
        return np.repeat(share, len(nodes) // len(share))

    def backward(
        self, part: FrameRange, nodes: Array | None, future: Array, counts: LatticeCounts
    ) -> Array:
        """Count what is expected in a part; return the future of its first frame."""
        from wordsight.inference.lattice.kernels.entry_points import count_back

        packed = _packed(self.lattice, part)
        arrivals = np.empty((packed.longest, packed.num_nodes))
        _, masses = self._walk(packed, nodes, arrivals=arrivals)
        tables = np.empty((packed.num_rows, packed.num_entries))
        steps = np.zeros(packed.num_step_entries)
        count_back(*packed.arrays, arrivals, masses, future, tables, steps)
        frames = slice(part[0], part[1] + 1)
        for whole, table in zip(counts.tables, packed.split_tables(0, tables), strict=True):
            whole[frames] = table
        found = packed.split_steps(0, steps, possible=True)
        for total, some in zip(counts.transitions, found, strict=True):
            total += some
        return future

    def _walk(
        self, packed: Pack, nodes: Array | None, *, kept: int = 1, arrivals: Array | None = None
    ) -> tuple[Array | None, Array]:
        from wordsight.inference.lattice.kernels.entry_points import move_on

        areas = np.empty((kept, packed.num_nodes)) if arrivals is None else arrivals
        masses = np.empty(packed.longest)
        here = np.empty(packed.num_nodes) if nodes is None else nodes.copy()
        mass = move_on(*packed.arrays, areas, masses, here, nodes is None)
        return (None if mass < 0 else here), masses


class ReferenceParts:
    """Parts of a lattice by plain numpy; nodes are logarithms with one axis per participant.

    Args:
        lattice: The whole lattice.
    """

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice

    def forward(self, part: FrameRange, nodes: Array | None) -> tuple[Array, float]:
        """Return the nodes of a part's last frame; nothing is divided out of logarithms."""
        return self._walk(part, nodes)[-1], 0.0

    def ended(self, nodes: Array) -> float:
        """Return the log of the last nodes' sum under the final weights."""
        return plain._log_sum(nodes + plain._final(self.lattice))

    def future(self, nodes: Array, log_total: float) -> Array:
        """Return the future of the last frame."""
        return plain._final(self.lattice) - log_total + np.zeros_like(nodes)

    def backward(
        self, part: FrameRange, nodes: Array | None, future: Array, counts: LatticeCounts
    ) -> Array:
        """Count what is expected in a part; return the future of its first frame."""
        here, forward = slice_lattice(self.lattice, *part), self._walk(part, nodes, kept=True)
        tables = [table[part[0] : part[1] + 1] for table in counts.tables]
        tracks = np.zeros((here.num_participants, here.num_frames, here.num_detections))
        for frame in range(here.num_frames - 1, -1, -1):
            posterior = np.exp(forward[frame] + future)
            plain._add_tables(here, posterior, frame, tables, tracks)
            if frame:
                ahead = future + plain._frame_weights(here, frame)
                plain._add_steps(here, forward[frame - 1], ahead, frame, list(counts.transitions))
                future = plain._retreat(here, ahead, frame)
        return future

    def _walk(self, part: FrameRange, nodes: Array | None, *, kept: bool = False) -> list[Array]:
        here = slice_lattice(self.lattice, *part)
        walked = [plain._initial(here) if nodes is None else nodes]
        for frame in range(1, here.num_frames):
            walked.append(plain._advance(here, walked[-1], frame))
            if not kept:
                del walked[0]
        return walked


def best_of_parts(lattice: Lattice, parts: list[FrameRange]) -> LatticePath | None:
    """Find the heaviest choice by the compiled kernel; ``None`` if it is too light for it."""
    from wordsight.inference.lattice.kernels.entry_points import move_on_best, trace

    starts: list[Array] = []
    packed = _packed(lattice, parts[0])
    best = np.empty((1, packed.num_nodes))
    score = 0.0
    for number, part in enumerate(parts):
        starts.append(best[-1].copy())
        packed = _packed(lattice, part)
        score += move_on_best(*packed.arrays, best, number == 0, number == len(parts) - 1)
        if score == -np.inf:
            return None
    nodes = np.empty(lattice.num_frames, dtype=np.int64)
    nodes[-1] = int(best[-1].argmax())
    for number in range(len(parts) - 1, -1, -1):
        part = parts[number]
        packed = _packed(lattice, part)
        best = np.empty((packed.longest, packed.num_nodes))
        best[0] = starts[number]
        move_on_best(*packed.arrays, best, number == 0, number == len(parts) - 1)
        trace(*packed.arrays, best, nodes[part[0] : part[1] + 1])
    shape = [word.num_states for word in lattice.words]
    shape += [lattice.num_detections] * lattice.num_participants
    digits = np.stack(np.unravel_index(nodes, shape), axis=1).astype(np.int64)
    own, whole = len(lattice.words), score + log_constant(lattice) + lattice.total_log_scale
    return LatticePath(float(whole), digits[:, own:], digits[:, :own])


def _packed(lattice: Lattice, part: FrameRange) -> Pack:
    return pack([slice_lattice(lattice, *part)])
