"""What all sources of observations have in common, and how their findings become chunks."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.alignment.records import Chunk, Observed
from wordsight.errors import RecordError

__all__ = ["Interval", "Source", "chunks_of_frames", "chunks_of_intervals", "cut_evenly"]


class Source(Protocol):
    """Anything that can say which things were touched or in motion when.

    :class:`IntervalFile` reads it from a file, :class:`TrackedThings` finds it in tracks of hands
    and things, :class:`DetectedThings` in what a detector saw.
    """

    def observe(self) -> Observed:
        """Return what was touched or in motion, chunk by chunk."""
        ...


@dataclass(frozen=True)
class Interval:
    """A stretch of time during which the same things are touched.

    Attributes:
        start: When it begins, in seconds.
        end: When it ends.
        things: What is touched or in motion.
        verbs: How it moves.
    """

    start: float
    end: float
    things: frozenset[str]
    verbs: frozenset[str] = frozenset()


def chunks_of_intervals(intervals: Iterable[Interval]) -> tuple[Chunk, ...]:
    """Cut intervals into chunks of about a second; those without things are left out.

    An interval longer than a second is cut into ``int(duration + 1)`` equal chunks. Intervals that
    overlap their predecessor, as rounding or two hands make them, begin where it ends.
    """
    chunks: list[Chunk] = []
    clock = -np.inf
    for interval in sorted(intervals, key=lambda one: (one.start, one.end)):
        if not interval.things:
            continue
        start = max(interval.start, clock)
        clock = end = max(interval.end, start)
        for begin, finish in cut_evenly(start, end):
            chunks.append(Chunk(begin, finish, interval.things, interval.verbs))
    return tuple(chunks)


def cut_evenly(start: float, end: float) -> Iterator[tuple[float, float]]:
    """Yield the starts and ends of equal pieces of a second or less."""
    pieces = int(end - start + 1) if end - start > 1 else 1
    cuts = np.linspace(start, end, pieces + 1).tolist()
    yield from pairwise(cuts)


def chunks_of_frames(
    times: ArrayLike,
    things: Sequence[str],
    present: NDArray[np.bool_],
    *,
    seconds: float = 1.0,
    least_share: float = 0.3,
    verbs: Sequence[str] = (),
    verb_present: NDArray[np.bool_] | None = None,
) -> tuple[Chunk, ...]:
    """Gather frames into chunks of equal length; chunks in which nothing happens are left out.

    Args:
        times: ``(T,)`` times of the frames, in seconds.
        things: Names of the K columns of ``present``.
        present: ``(T, K)`` whether a thing is touched or in motion in a frame.
        seconds: Length of a chunk.
        least_share: Share of a chunk's frames in which a thing must be touched.
        verbs: Names of the columns of ``verb_present``.
        verb_present: ``(T, V)`` whether something moves in that manner in a frame.

    Returns:
        The chunks in order.
    """
    clock = np.asarray(times, dtype=np.float64)
    if seconds <= 0:
        raise RecordError(f"chunks must last longer than 0 s, got {seconds}.")
    if not len(clock):
        return ()
    moving = np.zeros((len(clock), 0), bool) if verb_present is None else verb_present
    # The millionth keeps 0.3 s, a little less in binary, in the chunk it opens.
    index = ((clock - clock[0]) / seconds + 1e-6).astype(np.int64)
    starts = np.flatnonzero(np.r_[True, np.diff(index) > 0])
    counts = np.diff(np.r_[starts, len(clock)])
    shares = np.add.reduceat(present.astype(float), starts, axis=0) / counts[:, None]
    manners = np.add.reduceat(moving.astype(float), starts, axis=0) / counts[:, None]
    usual = float(np.median(np.diff(clock))) if len(clock) > 1 else seconds
    chunks = []
    for place, first in enumerate(starts):
        touched = frozenset(np.array(things, dtype=object)[shares[place] >= least_share])
        if not touched:
            continue
        begin = float(clock[0] + index[first] * seconds)
        end = min(begin + seconds, float(clock[-1]) + usual)
        how = frozenset(np.array(verbs, dtype=object)[manners[place] >= least_share])
        chunks.append(Chunk(begin, max(begin, end), touched, how))
    return tuple(chunks)
