"""Observations from a file: one line per interval with the things touched in it.

The layout is that of the published wet-lab data, ``ID start end thing,thing,STEP`` after a header:
the last token may be the number of the true step, which is read for scoring and never observed.
"""

import math
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.records import Observed
from wordsight.alignment.watching.source import Interval, chunks_of_intervals, cut_evenly
from wordsight.errors import FormatError
from wordsight.language.captions.decoding import read_text

__all__ = ["IntervalFile"]

_LONGEST = 100 * 3600.0
"""Seconds of a video at most: each is a chunk, and a slip of the pen would fill the memory."""


@dataclass(frozen=True)
class IntervalFile:
    """What was touched, as a file tells.

    Columns are parted by white space; the ID may be missing, and so may a header. Intervals without
    a thing say that nothing was touched, and are left out.

    Attributes:
        path: The file.
        video_id: Which video; the name of the file if left out.
        duration: Length of the video in seconds; up to the last interval if left out.
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
        """Return ``(T,)`` the true step of each chunk as numbered in the file, -1 if not told."""
        steps: list[int] = []
        clock = -math.inf
        rows = sorted(self._rows(), key=lambda row: (row[0].start, row[0].end))
        for interval, step in rows:
            if interval.things:
                start = max(interval.start, clock)
                clock = max(interval.end, start)
                steps += [step] * len(list(cut_evenly(start, clock)))
        return np.array(steps, dtype=np.int64)

    def _rows(self) -> list[tuple[Interval, int]]:
        rows = []
        for number, line in enumerate(read_text(self.path).splitlines(), start=1):
            fields = line.split()
            is_header = number == 1 and not any(_is_number(field) for field in fields)
            if fields and not is_header:
                rows.append(self._row(fields, number, line))
        return rows

    def _row(self, fields: list[str], number: int, line: str) -> tuple[Interval, int]:
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
                f"{self.path}, line {number}: an interval ends at {end:g} s, which is over "
                f"{_LONGEST / 3600:g} hours; times are in seconds: correct them."
            )
        things = [token for token in tokens.split(",") if token]
        step = int(things.pop()) if things and things[-1].isdecimal() else -1
        return Interval(start, end, frozenset(things)), step


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
