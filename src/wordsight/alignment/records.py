"""Inputs and outputs of alignment: lines of instructions, chunks of observed video, alignments.

All records are small and frozen. Lines and chunks are counted from 0, times are in seconds, and
intervals include their start and exclude their end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import RecordError

__all__ = [
    "NO_LINE",
    "Aligner",
    "Alignment",
    "Chunk",
    "Constraint",
    "Dictionary",
    "Instructions",
    "Line",
    "LineBoundary",
    "LineSpan",
    "Observed",
]

Array = NDArray[np.float64]
Dictionary = dict[str, dict[str, float]]
"""Noun to thing to the probability that the noun names that thing."""

NO_LINE = -1
"""What stands in place of a line where a chunk belongs to none."""


@dataclass(frozen=True)
class Line:
    """One sentence of the instructions.

    Attributes:
        text: The sentence as written.
        step: Number of the step it belongs to; never falls from one line to the next.
        nouns: Heads of its noun phrases, lower case, each once.
        verbs: Its verbs, lower case, each once.
    """

    text: str
    step: int
    nouns: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Instructions:
    """A text as a sequence of lines grouped into steps.

    Attributes:
        name: What the text is called.
        lines: At least one line, in order.
    """

    name: str
    lines: tuple[Line, ...]

    def __post_init__(self) -> None:
        if not self.lines:
            raise RecordError(
                f"the instructions {self.name!r} hold no line; give a text with at least one "
                "sentence."
            )
        steps = self.steps
        if (np.diff(steps) < 0).any():
            raise RecordError(
                f"steps of {self.name!r} must not fall from line to line, got {steps.tolist()}."
            )

    @property
    def steps(self) -> NDArray[np.int64]:
        """``(N,)`` number of each line's step."""
        return np.array([line.step for line in self.lines], dtype=np.int64)


@dataclass(frozen=True)
class Chunk:
    """What was observed in one interval.

    Attributes:
        start: When it begins, in seconds.
        end: When it ends.
        things: The things touched or in motion.
        verbs: How they move.
    """

    start: float
    end: float
    things: frozenset[str]
    verbs: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Observed:
    """What was observed in one video.

    Attributes:
        video_id: Which video.
        chunks: In order of time, without overlap; stretches in which nothing was touched may be
            left out or given as chunks without things.
        duration: Length of the video in seconds.
    """

    video_id: str
    chunks: tuple[Chunk, ...]
    duration: float

    def __post_init__(self) -> None:
        times = self.times
        if not np.isfinite(times).all() or (times[:, 1] < times[:, 0]).any():
            raise RecordError(f"{self.video_id}: every chunk must end after it starts.")
        # A rounding error of the source is no overlap.
        if (times[1:, 0] < times[:-1, 1] - 1e-6).any():
            late = int(np.argmax(times[1:, 0] < times[:-1, 1] - 1e-6)) + 1
            raise RecordError(
                f"{self.video_id}: chunk {late} starts at {times[late, 0]:.3f} s, before the one "
                f"in front ends ({times[late - 1, 1]:.3f} s); sort chunks and cut overlaps."
            )

    @property
    def times(self) -> Array:
        """``(T, 2)`` start and end of each chunk."""
        return np.array([(c.start, c.end) for c in self.chunks], dtype=np.float64).reshape(-1, 2)


@dataclass(frozen=True)
class LineSpan:
    """When a line happens.

    Attributes:
        line: Which line.
        start: When it begins, in seconds.
        end: When it ends.
        confidence: Probability that a moment of the span belongs to the line's step, 0 to 1; for a
            line that did not happen, the probability that it did not.
        happened: Whether the line was found in the video. If not, ``start`` and ``end`` are both
            the moment where it would have been.
    """

    line: int
    start: float
    end: float
    confidence: float
    happened: bool = True


@dataclass(frozen=True)
class LineBoundary:
    """A moment at which one line gives way to another.

    Attributes:
        time: When, in seconds.
        before: Line that ends there, -1 if none.
        after: Line that begins there, -1 if none.
        confidence: Probability that the change lies within two seconds of this time, 0 to 1.
    """

    time: float
    before: int
    after: int
    confidence: float


@dataclass(frozen=True)
class Constraint:
    """What the user knows: when a line starts, ends, or both.

    Attributes:
        line: Which line.
        start: When it begins, in seconds; ``None`` if not known.
        end: When it ends; ``None`` if not known.
    """

    line: int
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True, eq=False)
class Alignment:
    """Which moment of a video belongs to which line.

    Attributes:
        video_id: Which video.
        times: ``(T, 2)`` start and end of each chunk, in seconds.
        posterior: ``(T, N)`` probability that a chunk belongs to a line; what a row lacks to one
            is the probability that the chunk belongs to no line.
        best: ``(T,)`` line of each chunk in the best alignment, -1 for none.
        spans: When each line happens, one or more per line (repeated lines have several), in
            order of line and then of time; lines that never happen have one span that says so.
        boundaries: Changes from line to line in order of time.
        steps: ``(N,)`` step of each line.
    """

    video_id: str
    times: Array
    posterior: Array
    best: NDArray[np.int64]
    spans: tuple[LineSpan, ...]
    boundaries: tuple[LineBoundary, ...]
    steps: NDArray[np.int64]


class Aligner(Protocol):
    """A model that learns from texts with their videos, and times one against the other."""

    @property
    def dictionary_(self) -> Dictionary:
        """The learned dictionary: noun to thing to probability."""
        ...

    def fit(self, pairs: Sequence[tuple[Instructions, Observed]]) -> Self:
        """Learn from texts with their videos; several videos may share a text."""
        ...

    def posterior(self, instructions: Instructions, observed: Observed) -> Array:
        """Return ``(T, N)`` probabilities that each chunk belongs to each line."""
        ...

    def align(
        self,
        instructions: Instructions,
        observed: Observed,
        *,
        constraints: Sequence[Constraint] = (),
    ) -> Alignment:
        """Return which moment belongs to which line."""
        ...

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the model to a folder."""
        ...
