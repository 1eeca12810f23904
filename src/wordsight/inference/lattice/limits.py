"""Inference on lattices of any size within limits of memory.

Each lattice is computed whole where it fits, in parts where only single frames fit (exactly the
same result for clips of any length), or else with the best detections of each frame, with a bound
on what that loses.
"""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TypeVar

from wordsight.inference.lattice.model import (
    Lattice,
    LatticeCounts,
    LatticeError,
    LatticePath,
    LatticeScore,
    LatticeTooLargeError,
)
from wordsight.inference.lattice.prune import PrunedLattice, prune
from wordsight.inference.lattice.run import (
    DEFAULT_MEMORY,
    best_paths,
    expected_counts,
    lattice_bytes,
    log_scores,
)
from wordsight.inference.lattice.stream import (
    log_partition,
    streamed_bytes,
    streamed_counts,
    streamed_path,
)

__all__ = [
    "Limits",
    "PrunedWarning",
    "collect_losses",
    "counts_within_limits",
    "current_limits",
    "paths_within_limits",
    "report_loss",
    "report_losses",
    "scores_within_limits",
    "using_limits",
]

Result = TypeVar("Result", LatticeScore, LatticeCounts, LatticePath)

_GROUPS = 2


class PrunedWarning(UserWarning):
    """A lattice did not fit into memory and was pruned; the message bounds the loss."""


@dataclass(frozen=True)
class Limits:
    """What one lattice may use.

    Attributes:
        max_bytes: Memory, not counting the lattice's own arrays.
        most_detections: Detections per participant and frame; all that fit if ``None``.
    """

    max_bytes: int = DEFAULT_MEMORY
    most_detections: int | None = None

    def __post_init__(self) -> None:
        if self.max_bytes < 1 or (self.most_detections is not None and self.most_detections < 1):
            raise LatticeError(
                "limits must be 1 byte or more and 1 detection or more, got "
                f"{self.max_bytes} and {self.most_detections}."
            )

    def prunes(self, lattice: Lattice) -> bool:
        """Return whether a lattice is pruned even if all of it fits."""
        return self.most_detections is not None and self.most_detections < lattice.num_detections


_limits: ContextVar[Limits] = ContextVar("limits", default=Limits())  # noqa: B039 - it is frozen
_losses: ContextVar[list[float] | None] = ContextVar("losses", default=None)


def current_limits() -> Limits:
    """Return the limits in effect."""
    return _limits.get()


@contextmanager
def using_limits(limits: Limits) -> Iterator[None]:
    """Apply other limits inside a block."""
    token = _limits.set(limits)
    try:
        yield
    finally:
        _limits.reset(token)


@contextmanager
def collect_losses() -> Iterator[list[float]]:
    """Collect the lost shares of pruned lattices inside a block instead of warning of each."""
    losses: list[float] = []
    token = _losses.set(losses)
    try:
        yield losses
    finally:
        _losses.reset(token)


def report_losses(losses: Sequence[float]) -> None:
    """Add losses that were collected elsewhere to those of the enclosing block, if any."""
    collected = _losses.get()
    if collected is not None:
        collected.extend(losses)


def report_loss(lost_mass: float, participants: int, given: int, kept: int, what: str) -> None:
    """Add a loss to those of the enclosing :func:`collect_losses`, or else warn of it.

    Args:
        lost_mass: Upper bound on the lost share.
        participants: Number of participants.
        given: Number of candidates of each participant.
        kept: How many of them were kept.
        what: What the candidates are, such as "detections per frame".
    """
    collected = _losses.get()
    if collected is not None:
        collected.append(lost_mass)
        return
    warnings.warn(
        f"a sentence of {participants} participants over {given} {what} was computed with the best "
        f"{kept} of each participant; at most {lost_mass:.2g} of its weight is lost. Allow more "
        f"memory ({_limits.get().max_bytes / 2**30:.1f} GiB now) or cut the clip to lose less; "
        "--prune sets how many are kept.",
        PrunedWarning,
        stacklevel=5,
    )


def scores_within_limits(lattices: Sequence[Lattice], *, threads: int = 1) -> list[LatticeScore]:
    """Compute :func:`wordsight.inference.log_scores` within the limits.

    Args:
        lattices: What to score.
        threads: How many to compute at once.

    Returns:
        One score per lattice; ``lost_mass`` of a pruned one bounds its loss.

    Raises:
        LatticeTooLargeError: If not even one detection per participant fits.
    """

    def whole(some: Sequence[Lattice]) -> list[LatticeScore]:
        return log_scores(some, threads=threads, max_bytes=_limits.get().max_bytes)

    def pruned(lattice: Lattice, few: PrunedLattice) -> LatticeScore:
        kept, upper = log_scores([few.kept, few.upper])
        return LatticeScore(kept.log_joint, log_partition(lattice), log_upper=upper.log_joint)

    return _within_limits(lattices, whole, None, pruned)


def counts_within_limits(
    lattices: Sequence[Lattice], *, participants: bool = False, threads: int = 1
) -> list[LatticeCounts]:
    """Compute :func:`wordsight.inference.expected_counts` within the limits.

    Args:
        lattices: The clips and sentences.
        participants: Whether to return the posterior of every participant's detections too.
        threads: How many to compute at once.

    Returns:
        One result per lattice, with tables over all detections, 0 for those left out.

    Raises:
        LatticeTooLargeError: If not even one detection per participant fits.
    """

    def whole(some: Sequence[Lattice]) -> list[LatticeCounts]:
        limit = _limits.get().max_bytes
        return expected_counts(some, participants=participants, threads=threads, max_bytes=limit)

    def in_parts(lattice: Lattice) -> LatticeCounts:
        return streamed_counts(lattice, participants=participants)

    def pruned(lattice: Lattice, few: PrunedLattice) -> LatticeCounts:
        counts = in_parts(few.kept)
        (upper,) = log_scores([few.upper])
        tables = (few.whole_table(table, n) for n, table in enumerate(counts.tables))
        posterior = counts.participants
        return replace(
            counts,
            log_partition=log_partition(lattice),
            tables=tuple(tables),
            participants=None if posterior is None else few.whole_participants(posterior),
            log_upper=upper.log_joint,
        )

    return _within_limits(lattices, whole, in_parts, pruned)


def paths_within_limits(lattices: Sequence[Lattice], *, threads: int = 1) -> list[LatticePath]:
    """Compute :func:`wordsight.inference.best_paths` within the limits.

    Args:
        lattices: The clips and sentences.
        threads: How many to compute at once.

    Returns:
        One path per lattice, over the detections of the whole lattice.

    Raises:
        LatticeTooLargeError: If not even one detection per participant fits.
    """

    def whole(some: Sequence[Lattice]) -> list[LatticePath]:
        return best_paths(some, threads=threads, max_bytes=_limits.get().max_bytes)

    def pruned(lattice: Lattice, few: PrunedLattice) -> LatticePath:
        path, upper = streamed_path(few.kept), streamed_path(few.upper)
        tracks = few.whole_tracks(path.tracks)
        return LatticePath(path.log_score, tracks, path.states, log_upper=upper.log_score)

    return _within_limits(lattices, whole, streamed_path, pruned)


def _within_limits(
    lattices: Sequence[Lattice],
    whole: Callable[[Sequence[Lattice]], list[Result]],
    in_parts: Callable[[Lattice], Result] | None,
    pruned: Callable[[Lattice, PrunedLattice], Result],
) -> list[Result]:
    """Compute each lattice in the first way that fits.

    ``in_parts`` is ``None`` where frames need not be kept, so that parts save nothing.
    """
    limits, frames_kept = _limits.get(), in_parts is not None
    results: dict[int, Result] = {}
    for number, lattice in enumerate(lattices):
        if not limits.prunes(lattice):
            if lattice_bytes(lattice, frames_kept=frames_kept) <= limits.max_bytes:
                continue
            if in_parts is not None and streamed_bytes(lattice) <= limits.max_bytes:
                results[number] = in_parts(lattice)
                continue
        few = prune(lattice, _detections_that_fit(lattice, limits, frames_kept), groups=_GROUPS)
        results[number] = pruned(lattice, few)
        sizes = lattice.num_participants, lattice.num_detections, few.places.shape[2]
        report_loss(results[number].lost_mass, *sizes, "detections per frame")
    rest = [number for number in range(len(lattices)) if number not in results]
    if rest:
        results.update(zip(rest, whole([lattices[n] for n in rest]), strict=True))
    return [results[number] for number in range(len(lattices))]


def _detections_that_fit(lattice: Lattice, limits: Limits, frames_kept: bool) -> int:
    """Return how many detections per participant and frame can be kept."""
    largest = min(limits.most_detections or lattice.num_detections, lattice.num_detections)
    for count in range(largest, 0, -1):
        # The lattice of the bound has a few more; it is only scored, but costs as much per frame.
        size = min(count + _GROUPS, lattice.num_detections)
        if _bytes_with(lattice, size, frames_kept) <= limits.max_bytes:
            return count
    needed = _bytes_with(lattice, 1, frames_kept)
    raise LatticeTooLargeError(
        f"a sentence of {lattice.num_participants} participants and {len(lattice.words)} words "
        f"over {lattice.num_frames} frames needs {needed / 2**30:.1f} GiB even with one detection "
        f"per participant, more than the allowed {limits.max_bytes / 2**30:.1f} GiB. Cut the clip "
        "or the sentence into parts, or use fewer frames per second."
    )


def _bytes_with(lattice: Lattice, detections: int, frames_kept: bool) -> int:
    """Return about how many bytes the lattice would need with so many detections."""
    joint = int(detections**lattice.num_participants)
    states = [word.num_states for word in lattice.words]
    nodes = joint * math.prod(states)
    tables = sum(
        lattice.num_frames * word.num_states * detections**word.num_participants
        for word in lattice.words
    )
    areas = 6 + sum(count > 1 for count in states)
    if frames_kept:
        areas += 2 * (math.isqrt(lattice.num_frames) + 2)
    return int(8 * areas * nodes + 8 * joint * (len(states) + 1) + 16 * tables)
