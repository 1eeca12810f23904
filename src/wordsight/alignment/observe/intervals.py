"""Intervals of touched things, their division into chunks, and the file format they are read from.

The layout is that of the published wet-lab data, ``ID start end thing,thing,STEP`` after a header.
The last token may be the number of the true step, which is used for scoring only.
"""

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.alignment.records import Chunk, Observed
from wordsight.errors import FormatError, RecordError
from wordsight.language.captions.decoding import read_text

__all__ = ["IntervalFile", "chunks_of_frames", "chunks_of_intervals", "cut_evenly"]

_LONGEST = 100 * 3600.0
"""Most seconds of a video: each is a chunk, and a mistyped time would exhaust the memory."""


def chunks_of_intervals(intervals: Iterable[Chunk]) -> tuple[Chunk, ...]:
    """Cut intervals into chunks of about a second; those without things are omitted.

    An interval longer than a second is cut into ``int(duration + 1)`` equal chunks. An interval
    that overlaps its predecessor, because of rounding or two hands, begins where that one ends.
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
    """Group frames into chunks of equal length; chunks without things are omitted.

    Args:
        times: ``(T,)`` times of the frames, in seconds.
        things: Names of the K columns of ``present``.
        present: ``(T, K)`` whether a thing is touched or in motion in a frame.
        seconds: Length of a chunk.
        least_share: Least share of a chunk's frames in which a thing must be touched.
        verbs: Names of the V columns of ``verb_present``.
        verb_present: ``(T, V)`` whether something moves in that manner in a frame.
    """
    clock = np.asarray(times, dtype=np.float64)
    if seconds <= 0:
        raise RecordError(f"chunks must last longer than 0 s, got {seconds}.")
    if not len(clock):
        return ()
    moving = np.zeros((len(clock), 0), bool) if verb_present is None else verb_present
    # The small constant keeps 0.3 s, which is a little less in binary, in the chunk it opens.
    index = ((clock - clock[0]) / seconds + 1e-6).astype(np.int64)
    starts = np.flatnonzero(np.r_[True, np.diff(index) > 0])
    counts = np.diff(np.r_[starts, len(clock)])
    shares = np.add.reduceat(present.astype(float), starts, axis=0) / counts[:, None]
    manners = np.add.reduceat(moving.astype(float), starts, axis=0) / counts[:, None]
    step = float(np.median(np.diff(clock))) if len(clock) > 1 else seconds
    chunks = []
    for place, first in enumerate(starts):
        touched = frozenset(np.array(things, dtype=object)[shares[place] >= least_share])
        if not touched:
            continue
        begin = float(clock[0] + index[first] * seconds)
        end = min(begin + seconds, float(clock[-1]) + step)
        how = frozenset(np.array(verbs, dtype=object)[manners[place] >= least_share])
        chunks.append(Chunk(begin, max(begin, end), touched, how))
    return tuple(chunks)


@dataclass(frozen=True)
class IntervalFile:
    """A file of intervals with the things touched in each.

    Columns are separated by white space; the ID and the header are optional. Intervals without
    things, in which nothing is touched, are omitted.

    Attributes:
        path: The file.
        video_id: The video; by default the name of the file.
        duration: Length of the video in seconds; by default up to the last interval.
    """

    path: str | os.PathLike[str]
    video_id: str | None = None
    duration: float | None = None

    def observe(self) -> Observed:
        """Return the chunks; those of one interval have the same things."""
        intervals = [interval for interval, _ in self._rows()]
        name = Path(self.path).name.split(".")[0] if self.video_id is None else self.video_id
        chunks = chunks_of_intervals(intervals)
        last = max((interval.end for interval in intervals), default=0.0)
        return Observed(name, chunks, last if self.duration is None else self.duration)

    def gold_steps(self) -> NDArray[np.int64]:
        """Return ``(T,)`` the true step of each chunk as numbered in the file, -1 if missing."""
        steps: list[int] = []
        clock = -math.inf
        rows = sorted(self._rows(), key=lambda row: (row[0].start, row[0].end))
        for interval, step in rows:
            if interval.things:
                start = max(interval.start, clock)
                clock = max(interval.end, start)
                steps += [step] * len(list(cut_evenly(start, clock)))
        return np.array(steps, dtype=np.int64)

    def _rows(self) -> list[tuple[Chunk, int]]:
        rows = []
        for number, line in enumerate(read_text(self.path).splitlines(), start=1):
            fields = line.split()
            is_header = number == 1 and not any(_is_number(field) for field in fields)
            if fields and not is_header:
                rows.append(self._row(fields, number, line))
        return rows

    def _row(self, fields: list[str], number: int, line: str) -> tuple[Chunk, int]:
        # Without an ID the line begins with two times.
        has_id = not (len(fields) > 1 and _is_number(fields[0]) and _is_number(fields[1]))
        has_id = has_id or (len(fields) > 2 and _is_number(fields[2]))
        times, tokens = fields[has_id : has_id + 2], "".join(fields[has_id + 2 :])
        if len(times) < 2 or not all(_is_number(time) for time in times):
            raise FormatError(
                f"{self.path}, line {number}: expected 'ID start end thing,thing,STEP', got "
                f"{line[:60]!r}; correct the line."
            )
        start, end = (float(time) for time in times)
        if not 0 <= start <= end:
            raise FormatError(
                f"{self.path}, line {number}: an interval must start at 0 s or later and not end "
                f"before it starts, got {start:g} to {end:g} s; correct the times."
            )
        if end > _LONGEST:
            raise FormatError(
                f"{self.path}, line {number}: an interval ends at {end:g} s, after more than "
                f"{_LONGEST / 3600:g} hours; times are in seconds: correct them."
            )
        things = [token for token in tokens.split(",") if token]
        step = int(things.pop()) if things and things[-1].isdecimal() else -1
        return Chunk(start, end, frozenset(things)), step


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
