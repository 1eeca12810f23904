"""Many lattices on a device: grouped by shape, the fused kernel where it fits, torch elsewhere.

Devices compute in float32. Every batch is checked: its first clip is done again on the processor in
float64, and a batch that fails is done there whole. So is every clip that float32 could not hold:
its score is not finite, or its posteriors do not sum to 1 in some frame.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from wordsight.inference.gpu.device import DeviceWarning, find_device
from wordsight.inference.gpu.lattice_fused import counts_fused, fold_for, fused_kernel
from wordsight.inference.gpu.lattice_torch import (
    batch_bytes,
    counts_torch,
    partitions_torch,
    scores_torch,
)
from wordsight.inference.lattice.limits import (
    counts_within_limits,
    current_limits,
    scores_within_limits,
)
from wordsight.inference.lattice.model import Lattice, LatticeCounts, LatticeScore
from wordsight.inference.lattice.plan import Topology, topology_of

__all__ = ["expected_counts_on", "log_scores_on"]

Result = TypeVar("Result", LatticeScore, LatticeCounts)

_TOLERANCE = 2e-3
"""Largest difference of a log score or a count that float32 may make, beside float64."""


def log_scores_on(
    lattices: Sequence[Lattice], device: str, *, double: bool = False
) -> list[LatticeScore]:
    """Score lattices on a device.

    Args:
        lattices: What to score.
        device: ``cuda``, ``cuda:1`` or ``torch-cpu``; see :func:`find_device`.
        double: Whether to compute in float64.

    Returns:
        One score per lattice, in order. Where the device is not there, the processor's kernel
        does the work after a :class:`DeviceWarning`.
    """
    place = find_device(device)
    if place is None:
        return scores_within_limits(lattices)

    def work(batch: Sequence[Lattice]) -> list[LatticeScore]:
        return scores_torch(batch, place, _dtype(double))

    return _in_batches(lattices, work, scores_within_limits, batch_bytes(place))


def expected_counts_on(
    lattices: Sequence[Lattice], device: str, *, double: bool = False, fused: bool = True
) -> list[LatticeCounts]:
    """Compute scores and expected counts on a device.

    Args:
        lattices: The clips and sentences.
        device: ``cuda``, ``cuda:1`` or ``torch-cpu``; see :func:`find_device`.
        double: Whether to compute in float64; the fused kernel is float32 and then left out.
        fused: Whether the fused kernel may be used.

    Returns:
        One result per lattice, in order, as :func:`wordsight.inference.expected_counts` gives it.
    """
    place = find_device(device)
    if place is None:
        return counts_within_limits(lattices)
    use_fused = fused and not double and place.type == "cuda"

    def work(batch: Sequence[Lattice]) -> list[LatticeCounts]:
        kernel = fused_kernel(str(place)) if use_fused and fold_for(topology_of(batch[0])) else None
        if kernel is None:
            return counts_torch(batch, place, _dtype(double))
        partitions = partitions_torch(batch, place, _dtype(double))
        return [
            LatticeCounts(
                found.log_joint + lattice.total_log_scale,
                partition + lattice.log_scale,
                found.transitions,
                found.tables,
            )
            for lattice, found, partition in zip(
                batch, counts_fused(batch, kernel, place), partitions, strict=True
            )
        ]

    return _in_batches(lattices, work, counts_within_limits, batch_bytes(place))


def _dtype(double: bool) -> Any:
    import torch

    return torch.float64 if double else torch.float32


def _in_batches(
    lattices: Sequence[Lattice],
    work: Callable[[Sequence[Lattice]], list[Result]],
    on_processor: Callable[[Sequence[Lattice]], list[Result]],
    most_bytes: int,
) -> list[Result]:
    results: dict[int, Result] = {}
    # What would not fit the device at all is left to the processor, which prunes if it must; so is
    # what is to be pruned in any case.
    limits = current_limits()
    large = [
        n for n, each in enumerate(lattices) if _bytes_of(each) > most_bytes or limits.prunes(each)
    ]
    results.update(zip(large, on_processor([lattices[n] for n in large]), strict=True))
    for numbers in _batches(lattices, set(large), most_bytes):
        batch = [lattices[number] for number in numbers]
        results.update(zip(numbers, _checked(batch, work(batch), on_processor), strict=True))
    return [results[number] for number in range(len(lattices))]


def _batches(lattices: Sequence[Lattice], without: set[int], most_bytes: int) -> list[list[int]]:
    """Group other lattices by shape, short beside short, into batches that fit the memory."""
    by_shape: dict[Topology, list[int]] = {}
    for number, lattice in enumerate(lattices):
        if number not in without:
            by_shape.setdefault(topology_of(lattice), []).append(number)
    batches = []
    for numbers in by_shape.values():
        numbers.sort(key=lambda number: lattices[number].num_frames)
        per_clip = _bytes_of(lattices[numbers[-1]])
        size = 1 << max(0, (most_bytes // per_clip).bit_length() - 1)
        batches += [numbers[first : first + size] for first in range(0, len(numbers), size)]
    return batches


def _bytes_of(lattice: Lattice) -> int:
    return 16 * lattice.num_frames * lattice.num_nodes


def _checked(
    batch: Sequence[Lattice],
    results: list[Result],
    on_processor: Callable[[Sequence[Lattice]], list[Result]],
) -> list[Result]:
    """Compare the first clip with float64 and do again what float32 could not hold."""
    (sure,) = on_processor(batch[:1])
    if not _alike(results[0], sure):
        warnings.warn(
            f"float32 on the device gives a log score of {results[0].log_joint} where float64 "
            f"gives {sure.log_joint}; the processor does this batch instead.",
            DeviceWarning,
            stacklevel=4,
        )
        return on_processor(batch)
    weak = [n for n, result in enumerate(results) if not _held(result)]
    for number, again in zip(weak, on_processor([batch[n] for n in weak]), strict=True):
        results[number] = again
    return results


def _held(found: LatticeScore | LatticeCounts) -> bool:
    """Tell whether float32 could hold the numbers of a clip.

    A future that weighs far more than the past foresaw overflows, though the score does not.
    """
    if not np.isfinite(found.log_joint):
        return False
    if not isinstance(found, LatticeCounts) or not found.tables:
        return True
    smallest = min(found.tables, key=lambda table: table.size)
    sums = smallest.reshape(len(smallest), -1).sum(axis=1)
    return bool((np.abs(sums - 1.0) <= _TOLERANCE).all())  # false where something is not a number


def _alike(found: Result, sure: Result) -> bool:
    if not np.isfinite(sure.log_joint) or not np.isfinite(found.log_joint):
        return True  # nothing to compare; what is not finite is done again anyway
    far = abs(found.log_joint - sure.log_joint) / max(1.0, abs(sure.log_joint))
    if isinstance(found, LatticeCounts) and isinstance(sure, LatticeCounts):
        gaps = [
            float(np.abs(one - other).max(initial=0.0))
            for one, other in zip(found.tables, sure.tables, strict=True)
        ]
        far = max(far, *gaps) if gaps else far
    return far <= _TOLERANCE
