"""`FilmTruth`: the parts of a film's ground truth that all worlds share: boxes, spans, effects."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from wordsight.worlds.camera import Effects
from wordsight.worlds.painter import Floats
from wordsight.worlds.sketch import SIZE, View

__all__ = ["FilmTruth", "FrameSequence", "runs", "visible"]

_LEAST = 2.0  # pixels a box must keep inside the picture to count as visible

Value = TypeVar("Value")


class FrameSequence(Protocol):
    """What all recordings have in common."""

    @property
    def num_frames(self) -> int:
        """Number of frames."""

    @property
    def frame_rate(self) -> float:
        """Frames per second."""


Recording = TypeVar("Recording", bound=FrameSequence)


class FilmTruth(ABC, Generic[Recording]):
    """Ground truth of one film, taken from script and physics, never from pixels.

    Args:
        recording: What happened, from script and physics.
        effects: Strengths of the effects on the picture; kept in the record.
        offsets: ``(T, 2)`` pixels by which the camera's shake moves each frame; 0 if not given.
    """

    def __init__(
        self, recording: Recording, effects: Effects | None = None, offsets: Floats | None = None
    ) -> None:
        self.recording = recording
        self._effects = Effects.at(0.0) if effects is None else effects
        self._offsets = np.zeros((recording.num_frames, 2)) if offsets is None else offsets

    @property
    @abstractmethod
    def boxes(self) -> Mapping[str, Floats]:
        """For every individual ``(T, 4)`` pixels x1, y1, x2, y2; NaN while out of the picture."""

    @abstractmethod
    def record(self) -> dict[str, Any]:
        """Return the truth and the effects for ``truth.jsonl``; the guide lists the fields.

        Two films with equal records are taken to be the same film when a run is resumed.
        """

    def _framed(self, view: View, points: ArrayLike) -> Floats:
        """Turn ``(T, N, 2)`` metres into ``(T, 4)`` visible boxes that follow the shake."""
        return visible(view.box(points) + np.tile(self._offsets, 2), SIZE)

    def _boxes_record(self) -> dict[str, list[list[float] | None]]:
        """Round boxes to tenths of a pixel, so that machines that differ in the last bit agree."""
        return {
            name: [None if np.isnan(box[0]) else box for box in np.round(boxes, 1).tolist()]
            for name, boxes in self.boxes.items()
        }

    def _span(self, first: int, last: int) -> dict[str, Any]:
        """Describe a span of frames, both included, with its times in seconds, the end excluded."""
        rate = self.recording.frame_rate
        return {
            "frames": [int(first), int(last)],
            "start": round(first / rate, 3),
            "end": round((last + 1) / rate, 3),
        }


def visible(boxes: Floats, size: tuple[int, int]) -> Floats:
    """Cut ``(T, 4)`` boxes at the edges of the picture; those that are outside become NaN."""
    clipped = np.clip(boxes, 0.0, np.tile(size, 2))
    clipped[(clipped[:, 2:] - clipped[:, :2]).min(axis=1) < _LEAST] = np.nan
    return clipped


def runs(values: Iterable[Value]) -> Iterator[tuple[Value, int, int]]:
    """Yield each run of equal values with its first and its last position.

    Examples:
        >>> list(runs("aab"))
        [('a', 0, 1), ('b', 2, 2)]
    """
    first = 0
    for value, group in groupby(values):
        end = first + sum(1 for _ in group)
        yield value, first, end - 1
        first = end
