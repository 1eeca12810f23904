"""Inputs and outputs of alignment: lines of instructions, chunks of observed video, alignments.

All records are small and frozen. Lines and chunks are counted from 0, times are in seconds, and
intervals include their start and exclude their end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import RecordError
from wordsight.records.html import timeline_html

__all__ = [
    "NO_LINE",
    "Alignment",
    "Chunk",
    "Constraint",
    "Dictionary",
    "Instructions",
    "Line",
    "LineBoundary",
    "LineSpan",
    "Observed",
    "ThingMotion",
]

Array = NDArray[np.float64]
Dictionary = dict[str, dict[str, float]]
"""Per noun the probability that it names each thing."""

NO_LINE = -1
"""The line of a chunk that belongs to none."""


@dataclass(frozen=True)
class Line:
    """One sentence of the instructions.

    Attributes:
        text: The sentence as written.
        step: Number of its step; never decreases from one line to the next.
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
        name: Name of the text.
        lines: At least one line, in order.
    """

    name: str
    lines: tuple[Line, ...]

    def __post_init__(self) -> None:
        if not self.lines:
            raise RecordError(
                f"the instructions {self.name!r} have no lines; give a text with at least one "
                "sentence."
            )
        steps = self.steps
        if (np.diff(steps) < 0).any():
            raise RecordError(
                f"step numbers of {self.name!r} must not decrease, got {steps.tolist()}."
            )

    @property
    def steps(self) -> NDArray[np.int64]:
        """``(N,)`` number of each line's step."""
        return np.array([line.step for line in self.lines], dtype=np.int64)


@dataclass(frozen=True)
class Chunk:
    """What was observed in one time interval.

    Attributes:
        start: Start in seconds.
        end: End in seconds.
        things: The things touched or in motion.
        verbs: How they move.
    """

    start: float
    end: float
    things: frozenset[str]
    verbs: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class ThingMotion:
    """How things move during the chunks of a video.

    Attributes:
        names: The O things.
        values: ``(O, T, F)`` measurements of each thing in each chunk.
    """

    names: tuple[str, ...]
    values: Array


@dataclass(frozen=True)
class Observed:
    """What was observed in one video.

    Attributes:
        video_id: The video.
        chunks: In order of time, without overlap; intervals in which nothing is touched may be
            missing or given as chunks without things.
        duration: Length of the video in seconds.
        motion: How the things move, where they were followed as boxes.
        fits: By sentence ``(T,)`` how well it fits each chunk by words that were learned
            elsewhere, as log ratios; sentences that are not here fit like any other.
    """

    video_id: str
    chunks: tuple[Chunk, ...]
    duration: float
    motion: ThingMotion | None = field(default=None, compare=False)
    fits: Mapping[str, Array] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        times = self.times
        if not np.isfinite(times).all() or (times[:, 1] < times[:, 0]).any():
            raise RecordError(f"{self.video_id}: every chunk must end after it starts.")
        # Rounding errors of the source do not count as overlap.
        if (times[1:, 0] < times[:-1, 1] - 1e-6).any():
            late = int(np.argmax(times[1:, 0] < times[:-1, 1] - 1e-6)) + 1
            raise RecordError(
                f"{self.video_id}: chunk {late} starts at {times[late, 0]:.3f} s, before the "
                f"previous one ends ({times[late - 1, 1]:.3f} s); sort chunks and cut overlaps."
            )

    @property
    def times(self) -> Array:
        """``(T, 2)`` start and end of each chunk."""
        return np.array([(c.start, c.end) for c in self.chunks], dtype=np.float64).reshape(-1, 2)


@dataclass(frozen=True)
class LineSpan:
    """When a line happens.

    Attributes:
        line: The line.
        start: Start in seconds.
        end: End in seconds.
        confidence: Mean probability that the span belongs to the line's step, 0 to 1; for a line
            that did not happen, the probability that it did not.
        happened: Whether the line was found in the video. If not, ``start`` and ``end`` are both
            the time at which it would be expected.
    """

    line: int
    start: float
    end: float
    confidence: float
    happened: bool = True


@dataclass(frozen=True)
class LineBoundary:
    """A change from one line to another.

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
    """A start or end time of a line that the user knows.

    Attributes:
        line: The line.
        start: Start in seconds; ``None`` if not known.
        end: End in seconds; ``None`` if not known.
    """

    line: int
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True, eq=False)
class Alignment:
    """The line of each chunk of a video.

    Attributes:
        video_id: The video.
        times: ``(T, 2)`` start and end of each chunk, in seconds.
        posterior: ``(T, N)`` probability that a chunk belongs to a line; one minus the sum of a row
            is the probability that the chunk belongs to no line.
        best: ``(T,)`` line of each chunk in the best alignment, -1 for none.
        spans: When each line happens, in order of line and then of time. Repeated lines have
            several spans; lines that do not happen have one with ``happened=False``.
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

    def _repr_html_(self, texts: Sequence[str] = ()) -> str:
        """Show when each line happens, in notebooks; ``texts`` are the lines."""
        rows: dict[int, list[tuple[float, float, float]]] = {n: [] for n in range(len(self.steps))}
        for span in self.spans:
            if span.happened:
                rows[span.line].append((span.start, span.end, span.confidence))
        names = [f"{n + 1}. {texts[n] if n < len(texts) else ''}".strip() for n in rows]
        end = float(self.times[-1, 1]) if len(self.times) else 0.0
        bars = list(zip(names, rows.values(), strict=True))
        return timeline_html(f"Alignment of {self.video_id}", bars, end)
