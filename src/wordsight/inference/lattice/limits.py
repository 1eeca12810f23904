"""Lattices of any size within limits: whole where they fit, in parts or pruned where they do not.

In parts a clip of any length gives exactly the same. Where even single frames are too large, the
best detections are kept, and the results say how much was lost at most.
"""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TypeVar

from wordsight.inference.lattice.beam import beam_bytes, beam_counts
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
    """A lattice did not fit; part of it was left out, and how much at most is said."""


@dataclass(frozen=True)
class Limits:
    """What one lattice may use.

    Attributes:
        max_bytes: Memory, beside its own arrays.
        most_detections: Detections per participant and frame; all that fit if None.
        beam_loss: Share of the summed weight that a beam may lose where scores and counts are
            computed; no beam if None. Best paths have none.
    """

    max_bytes: int = DEFAULT_MEMORY
    most_detections: int | None = None
    beam_loss: float | None = None

    def __post_init__(self) -> None:
        if self.beam_loss is not None and not 0 <= self.beam_loss < 1:
            raise LatticeError(f"a loss is a share from 0 to under 1, got {self.beam_loss}.")
        if self.beam_loss is not None and self.most_detections is not None:
            raise LatticeError("a beam keeps joint states, not detections: choose one limit.")
        if self.max_bytes < 1 or (self.most_detections is not None and self.most_detections < 1):
            raise LatticeError(
                "limits are 1 byte or more and 1 detection or more, got "
                f"{self.max_bytes} and {self.most_detections}."
            )

    def touch(self, lattice: Lattice) -> bool:
        """Tell whether part of a lattice is to be left out even if all of it fits."""
        return self.beam_loss is not None or (
            self.most_detections is not None and self.most_detections < lattice.num_detections
        )


_limits: ContextVar[Limits] = ContextVar("limits", default=Limits())  # noqa: B039 - it is frozen
_losses: ContextVar[list[float] | None] = ContextVar("losses", default=None)


@contextmanager
def using_limits(limits: Limits) -> Iterator[None]:
    """Keep to other limits for the time of a block."""
    token = _limits.set(limits)
    try:
        yield
    finally:
        _limits.reset(token)


@contextmanager
def collect_losses() -> Iterator[list[float]]:
    """Collect the lost shares of lattices that did not fit, instead of warning of each."""
    noted: list[float] = []
    token = _losses.set(noted)
    try:
        yield noted
    finally:
        _losses.reset(token)


def scores_within_limits(lattices: Sequence[Lattice], *, threads: int = 1) -> list[LatticeScore]:
    """Do what :func:`wordsight.inference.log_scores` does, within the limits.

    Args:
        lattices: What to score.
        threads: How many to work on at once.

    Returns:
        One score per lattice; one that was pruned says what it lost at most.

    Raises:
        LatticeTooLargeError: If not even one detection per participant fits.
    """

    def pruned(whole: Lattice, few: PrunedLattice) -> LatticeScore:
        kept, upper = log_scores([few.kept, few.upper])
        return LatticeScore(kept.log_joint, log_partition(whole), log_upper=upper.log_joint)

    def all_at_once(some: Sequence[Lattice]) -> list[LatticeScore]:
        return log_scores(some, threads=threads, max_bytes=_limits.get().max_bytes)

    def beamed(lattice: Lattice, loss: float) -> LatticeScore:
        kept = beam_counts(lattice, loss=loss)
        return LatticeScore(kept.log_joint, kept.log_partition, log_upper=kept.log_upper)

    return _within_limits(lattices, all_at_once, None, pruned, beamed)


def counts_within_limits(
    lattices: Sequence[Lattice], *, participants: bool = False, threads: int = 1
) -> list[LatticeCounts]:
    """Do what :func:`wordsight.inference.expected_counts` does, within the limits.

    Args:
        lattices: The clips and sentences.
        participants: Whether to return the posterior of every participant's detections too.
        threads: How many to work on at once.

    Returns:
        One result per lattice, with tables over all detections, 0 for those left out.

    Raises:
        LatticeTooLargeError: If not even one detection per participant fits.
    """

    def in_parts(lattice: Lattice) -> LatticeCounts:
        return streamed_counts(lattice, participants=participants)

    def pruned(whole: Lattice, few: PrunedLattice) -> LatticeCounts:
        counted = in_parts(few.kept)
        (upper,) = log_scores([few.upper])
        tables = (few.whole_table(table, n) for n, table in enumerate(counted.tables))
        posterior = counted.participants
        return replace(
            counted,
            log_partition=log_partition(whole),
            tables=tuple(tables),
            participants=None if posterior is None else few.whole_participants(posterior),
            log_upper=upper.log_joint,
        )

    def all_at_once(some: Sequence[Lattice]) -> list[LatticeCounts]:
        limit = _limits.get().max_bytes
        return expected_counts(some, participants=participants, threads=threads, max_bytes=limit)

    def beamed(lattice: Lattice, loss: float) -> LatticeCounts:
        return beam_counts(lattice, loss=loss, participants=participants)

    return _within_limits(lattices, all_at_once, in_parts, pruned, beamed)


def paths_within_limits(lattices: Sequence[Lattice], *, threads: int = 1) -> list[LatticePath]:
    """Do what :func:`wordsight.inference.best_paths` does, within the limits.

    Args:
        lattices: The clips and sentences.
        threads: How many to work on at once.

    Returns:
        One path per lattice, over the detections of the whole one.

    Raises:
        LatticeTooLargeError: If not even one detection per participant fits.
    """

    def pruned(whole: Lattice, few: PrunedLattice) -> LatticePath:
        found, upper = streamed_path(few.kept), streamed_path(few.upper)
        tracks = few.whole_tracks(found.tracks)
        return LatticePath(found.log_score, tracks, found.states, log_upper=upper.log_score)

    def all_at_once(some: Sequence[Lattice]) -> list[LatticePath]:
        return best_paths(some, threads=threads, max_bytes=_limits.get().max_bytes)

    return _within_limits(lattices, all_at_once, streamed_path, pruned)


def _within_limits(
    lattices: Sequence[Lattice],
    all_at_once: Callable[[Sequence[Lattice]], list[Result]],
    in_parts: Callable[[Lattice], Result] | None,
    pruned: Callable[[Lattice, PrunedLattice], Result],
    beamed: Callable[[Lattice, float], Result] | None = None,
) -> list[Result]:
    """Do each lattice by the beam that is asked for, the exact way that fits, or prune it."""
    limits, kept_frames = _limits.get(), in_parts is not None
    results: dict[int, Result] = {}
    for number, lattice in enumerate(lattices):
        fits = limits.beam_loss is not None and beam_bytes(lattice) <= limits.max_bytes
        if beamed is not None and limits.beam_loss is not None and fits:
            results[number] = beamed(lattice, limits.beam_loss)
            report_losses([results[number].lost_mass])
            continue
        most = limits.most_detections or lattice.num_detections
        if most >= lattice.num_detections:
            if lattice_bytes(lattice, frames_kept=kept_frames) <= limits.max_bytes:
                continue
            if in_parts is not None and streamed_bytes(lattice) <= limits.max_bytes:
                results[number] = in_parts(lattice)
                continue
        kept = _most_detections(lattice, most, limits.max_bytes, kept_frames=kept_frames)
        few = prune(lattice, kept, groups=_GROUPS)
        results[number] = pruned(lattice, few)
        sizes = lattice.num_participants, lattice.num_detections, few.places.shape[2]
        report_loss(results[number].lost_mass, *sizes, "detections per frame")
    rest = [number for number in range(len(lattices)) if number not in results]
    if rest:
        results.update(zip(rest, all_at_once([lattices[n] for n in rest]), strict=True))
    return [results[number] for number in range(len(lattices))]


def _most_detections(lattice: Lattice, most: int, max_bytes: int, *, kept_frames: bool) -> int:
    """Return how many detections per participant and frame can be kept."""
    largest = min(most, lattice.num_detections)
    for count in range(largest, 0, -1):
        # The bound's lattice has a few more; it is only ever scored, but costs as much per frame.
        size = min(count + _GROUPS, lattice.num_detections)
        if _bytes_with(lattice, size, kept_frames=kept_frames) <= max_bytes:
            return count
    needed = _bytes_with(lattice, 1, kept_frames=kept_frames)
    raise LatticeTooLargeError(
        f"a sentence of {lattice.num_participants} participants and {len(lattice.words)} words "
        f"over {lattice.num_frames} frames needs {needed / 2**30:.1f} GiB even with one detection "
        f"per participant, more than the allowed {max_bytes / 2**30:.1f} GiB. Cut the clip or the "
        "sentence into parts, or use fewer frames per second."
    )


def _bytes_with(lattice: Lattice, detections: int, *, kept_frames: bool) -> int:
    """Return about how many bytes the lattice would need with so many detections."""
    joint = int(detections**lattice.num_participants)
    states = [word.num_states for word in lattice.words]
    nodes = joint * math.prod(states)
    tables = sum(
        lattice.num_frames * word.num_states * detections**word.num_participants
        for word in lattice.words
    )
    areas = 6 + sum(count > 1 for count in states)
    if kept_frames:
        areas += 2 * (math.isqrt(lattice.num_frames) + 2)
    return int(8 * areas * nodes + 8 * joint * (len(states) + 1) + 16 * tables)


def current_limits() -> Limits:
    """Return the limits of the block at hand."""
    return _limits.get()


def report_loss(lost_mass: float, people: int, given: int, kept: int, what: str) -> None:
    """Note what was lost at most where losses are noted, or else warn of it.

    Args:
        lost_mass: The bound.
        people: Number of participants.
        given: How many things each might have been.
        kept: How many were kept.
        what: What they are, in a word.
    """
    noted = _losses.get()
    if noted is not None:
        noted.append(lost_mass)
        return
    warnings.warn(
        f"a sentence of {people} participants over {given} {what} was computed with the best "
        f"{kept} of each participant; at most {lost_mass:.2g} of its weight is lost. Allow more "
        f"memory ({_limits.get().max_bytes / 2**30:.1f} GiB now) or cut the clip to lose less; "
        "--prune says how many are kept.",
        PrunedWarning,
        stacklevel=5,
    )


def report_losses(losses: Sequence[float]) -> None:
    """Note losses that somebody asked for or that were noted elsewhere, where any are noted."""
    noted = _losses.get()
    if noted is not None:
        noted.extend(losses)
