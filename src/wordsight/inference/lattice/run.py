"""Running many lattices: packed by shape, in threads, with a guard on memory.

The functions here are what models call. The same numbers come out whatever the number of threads
and however clips are grouped.
"""

import math
import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.lattice.model import (
    Lattice,
    LatticeCounts,
    LatticePath,
    LatticeScore,
    LatticeTooLargeError,
    WordChain,
)
from wordsight.inference.lattice.pack import ArrayPool, Pack, pack, scratch_array
from wordsight.inference.lattice.plan import Topology, topology_of
from wordsight.inference.lattice.reference import counts_reference, path_reference, score_reference
from wordsight.inference.numba_support import numba_available

__all__ = ["DEFAULT_MEMORY", "best_paths", "expected_counts", "lattice_bytes", "log_scores"]

DEFAULT_MEMORY = 2 << 30
"""Bytes one lattice may use unless the caller allows more: a quarter of a small laptop."""

Array = NDArray[np.float64]
Backend = Literal["compiled", "reference"]
Result = TypeVar("Result", LatticeScore, LatticeCounts, LatticePath)

# Clips packed into one call of the kernel: enough to hide the cost of the call, few enough that
# their tables stay in the processor's cache from packing to counting.
_CLIPS_PER_CALL = 32
_BYTES_PER_CALL = 2 << 20

_results = ArrayPool()


def log_scores(
    lattices: Sequence[Lattice],
    *,
    threads: int = 1,
    backend: Backend = "compiled",
    max_bytes: int = DEFAULT_MEMORY,
) -> list[LatticeScore]:
    """Sum over all choices of tracks and word states, for each lattice.

    Args:
        lattices: What to score; lattices of one shape are worked on together.
        threads: How many to work on at once.
        backend: The compiled kernel, or plain numpy to compare with.
        max_bytes: Memory one lattice may use.

    Returns:
        One score per lattice, in order.

    Raises:
        LatticeTooLargeError: If a lattice would need more than ``max_bytes``.
    """
    _guard(lattices, max_bytes, frames_kept=False)
    if backend == "reference" or not numba_available():
        return [score_reference(lattice) for lattice in lattices]
    return _in_batches(lattices, _scores_of_pack, threads)


def expected_counts(
    lattices: Sequence[Lattice],
    *,
    participants: bool = False,
    threads: int = 1,
    backend: Backend = "compiled",
    max_bytes: int = DEFAULT_MEMORY,
) -> list[LatticeCounts]:
    """Compute scores and the expected counts of every word's states and steps.

    Args:
        lattices: The clips and sentences.
        participants: Whether to return the posterior of every participant's detections too.
        threads: How many to work on at once.
        backend: The compiled kernel, or plain numpy to compare with.
        max_bytes: Memory one lattice may use.

    Returns:
        One result per lattice, in order.

    Raises:
        LatticeTooLargeError: If a lattice would need more than ``max_bytes``.
    """
    _guard(lattices, max_bytes, frames_kept=True)
    if backend == "reference" or not numba_available():
        return [counts_reference(lattice) for lattice in lattices]
    if not participants:
        return _in_batches(lattices, _counts_of_pack, threads)
    counted = _in_batches([_with_probes(lattice) for lattice in lattices], _counts_of_pack, threads)
    return [
        _without_probes(counts, lattice) for counts, lattice in zip(counted, lattices, strict=True)
    ]


def best_paths(
    lattices: Sequence[Lattice],
    *,
    threads: int = 1,
    backend: Backend = "compiled",
    max_bytes: int = DEFAULT_MEMORY,
) -> list[LatticePath]:
    """Find the heaviest choice of tracks and word states, for each lattice.

    Args:
        lattices: The clips and sentences.
        threads: How many to work on at once.
        backend: The compiled kernel, or plain numpy to compare with.
        max_bytes: Memory one lattice may use.

    Returns:
        One path per lattice, in order.

    Raises:
        LatticeTooLargeError: If a lattice would need more than ``max_bytes``.
    """
    _guard(lattices, max_bytes, frames_kept=True)
    if backend == "reference" or not numba_available():
        return [path_reference(lattice) for lattice in lattices]
    return _in_batches(lattices, _paths_of_pack, threads)


def lattice_bytes(lattice: Lattice, *, frames_kept: bool = True) -> int:
    """Return about how many bytes inference on a lattice needs beside its own arrays.

    Args:
        lattice: The lattice; only its sizes are looked at.
        frames_kept: Whether all frames are kept, as counts and paths need, or one at a time.
    """
    tables = sum(word.emission.size for word in lattice.words)
    nodes = lattice.num_nodes
    joint = int(lattice.num_detections**lattice.num_participants)
    per_frame = 8 * nodes
    # Areas of one frame for nodes, weights, work, posteriors with their sums, and one per word
    # with states; every word's index of joint detections.
    areas = 6 + sum(word.num_states > 1 for word in lattice.words)
    fixed = areas * per_frame + 8 * joint * (len(lattice.words) + 1) + 16 * tables
    return fixed + (lattice.num_frames * per_frame if frames_kept else 0)


def _guard(lattices: Sequence[Lattice], max_bytes: int, *, frames_kept: bool) -> None:
    for lattice in lattices:
        needed = lattice_bytes(lattice, frames_kept=frames_kept)
        if needed > max_bytes:
            raise LatticeTooLargeError(_too_large(lattice, needed, max_bytes))


def _too_large(lattice: Lattice, needed: int, max_bytes: int) -> str:
    states = " x ".join(str(w.num_states) for w in lattice.words if w.num_states > 1) or "1"
    return (
        f"a sentence of {lattice.num_participants} participants over {lattice.num_detections} "
        f"detections, with word states {states}, has {lattice.num_nodes:,} joint states in each of "
        f"{lattice.num_frames} frames and needs {needed / 2**30:.1f} GiB, more than the allowed "
        f"{max_bytes / 2**30:.1f} GiB. Keep fewer detections per frame (--prune), use fewer frames "
        "per second, cut the clip or the sentence into parts, or allow more memory (max_bytes)."
    )


def _in_batches(
    lattices: Sequence[Lattice], work: Callable[[Pack], list[Result]], threads: int
) -> list[Result]:
    waiting = deque(_batches(lattices, threads))
    results: dict[int, Result] = {}

    def take_turns() -> None:
        try:
            while True:
                try:
                    shape, numbers = waiting.popleft()
                except IndexError:
                    return
                found = work(pack([lattices[number] for number in numbers], shape))
                results.update(zip(numbers, found, strict=True))
        except BaseException:
            waiting.clear()  # the rest is not needed
            raise

    helpers = min(threads, len(waiting)) - 1
    # The caller works too: handing every batch over would cost more than packing it.
    helping = [_pool(threads - 1).submit(take_turns) for _ in range(helpers)]
    try:
        take_turns()
    finally:
        for helper in helping:
            if not helper.cancel():  # one that has not begun is not waited for
                helper.result()
    return [results[number] for number in range(len(lattices))]


@lru_cache(maxsize=4)
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return threads that live on, because their work areas do."""
    return ThreadPoolExecutor(max_workers=threads, thread_name_prefix="lattice")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not come along


def _batches(lattices: Sequence[Lattice], threads: int) -> list[tuple[Topology, list[int]]]:
    """Group lattices by shape into batches small enough to share among threads."""
    by_shape: dict[Topology, list[int]] = {}
    for number, lattice in enumerate(lattices):
        by_shape.setdefault(topology_of(lattice), []).append(number)
    batches = []
    for shape, numbers in by_shape.items():
        frames = max(lattices[number].num_frames for number in numbers)
        size = _BYTES_PER_CALL // (16 * frames * (sum(shape.table_sizes) + 1))
        if threads > 1:
            size = min(size, math.ceil(len(numbers) / (4 * threads)))
        size = min(max(size, 1), _CLIPS_PER_CALL)
        work = frames * shape.num_tracks * shape.num_word_states
        for first in range(0, len(numbers), size):
            batches.append((work, shape, numbers[first : first + size]))
    # The heaviest first and the last in small pieces, so that no thread is left working alone.
    batches.sort(key=lambda batch: -batch[0] * len(batch[2]))
    cut = [(shape, numbers) for _, shape, numbers in batches]
    if threads > 1:
        last, cut = cut[-threads:], cut[:-threads]
        for shape, numbers in last:
            size = math.ceil(len(numbers) / 4)
            cut += [(shape, numbers[n : n + size]) for n in range(0, len(numbers), size)]
    return cut


def _scores_of_pack(packed: Pack) -> list[LatticeScore]:
    scores = _run_kernel(packed, np.empty((0, packed.num_entries)))[0]
    return [
        LatticeScore(*_logs(lattice, row, constant)) if _trusted(row) else score_reference(lattice)
        for lattice, row, constant in zip(packed.lattices, scores, packed.constants, strict=True)
    ]


def _counts_of_pack(packed: Pack) -> list[LatticeCounts]:
    tables = _results.empty((packed.num_rows, packed.num_entries))
    scores, steps = _run_kernel(packed, tables)
    results = []
    for number, lattice in enumerate(packed.lattices):
        if not _trusted(scores[number]):
            results.append(counts_reference(lattice))
            continue
        joint, partition = _logs(lattice, scores[number], packed.constants[number])
        if joint == -np.inf:
            packed.rows_of(number, tables)[:] = 0.0
            steps[number] = 0.0
        results.append(
            LatticeCounts(
                joint,
                partition,
                packed.split_steps(number, steps[number], possible=joint > -np.inf),
                packed.split_tables(number, tables),
            )
        )
    return results


def _run_kernel(packed: Pack, tables: Array) -> tuple[Array, Array]:
    """Return scores and transition counts of a pack; fill ``tables`` unless it is empty."""
    from wordsight.inference.lattice.kernels.entry_points import counts

    scores = np.empty((len(packed.lattices), 2))
    steps = np.zeros((len(packed.lattices), packed.num_step_entries))
    kept = packed.longest if len(tables) else 1
    counts(*packed.arrays, scratch_array("nodes", (kept, packed.num_nodes)), scores, tables, steps)
    return scores, steps


def _paths_of_pack(packed: Pack) -> list[LatticePath]:
    from wordsight.inference.lattice.kernels.entry_points import paths

    scores = np.empty(len(packed.lattices))
    nodes = np.empty(packed.num_rows, dtype=np.int64)
    paths(*packed.arrays, scratch_array("nodes", (packed.longest, packed.num_nodes)), scores, nodes)
    results = []
    for number, lattice in enumerate(packed.lattices):
        if scores[number] == -np.inf:
            # Either impossible, or too unlikely for scaled numbers: logarithms can tell.
            results.append(path_reference(lattice))
            continue
        tracks, states = packed.split_path(number, nodes)
        score = scores[number] + packed.constants[number] + lattice.total_log_scale
        results.append(LatticePath(float(score), tracks, states))
    return results


def _trusted(scores: Array) -> bool:
    """Tell whether the kernel's answer stands: without any track nothing is possible anyway."""
    return bool(scores[0] > -np.inf or scores[1] == -np.inf)


def _logs(lattice: Lattice, scores: Array, constant: float) -> tuple[float, float]:
    joint = float(scores[0]) + constant + lattice.total_log_scale
    return joint, float(scores[1]) + lattice.log_scale


def _with_probes(lattice: Lattice) -> Lattice:
    """Add a word per participant that says nothing: its table is the participant's posterior."""
    one = np.ones(1)
    emission = np.ones((lattice.num_frames, 1, lattice.num_detections))
    probes = tuple(
        WordChain((p,), one, one[None], emission) for p in range(lattice.num_participants)
    )
    return Lattice(
        lattice.num_participants,
        lattice.unary,
        lattice.coherence,
        lattice.words + probes,
        lattice.log_scale,
    )


def _without_probes(counts: LatticeCounts, lattice: Lattice) -> LatticeCounts:
    own = len(lattice.words)
    tracks = np.stack([table[:, 0] for table in counts.tables[own:]])
    return LatticeCounts(
        counts.log_joint,
        counts.log_partition,
        counts.transitions[:own],
        counts.tables[:own],
        tracks,
    )
