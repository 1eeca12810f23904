"""Collecting the boxes of a file one by one, with the checks every box must pass."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError
from wordsight.perception.formats.table import MAX_FRAMES, NO_ID, BoxTable

__all__ = ["Gatherer"]

_MAX_COORDINATE = 1e9  # pixels; far outside of any picture
_MAX_ID = 2**62


class Gatherer:
    """Collects boxes one by one, checking each, and makes the table.

    Args:
        name: The file's name, for messages.
        label_names: The classes, if they are known beforehand; else they are taken as they come.
        closed: Whether a class that is not among them is an error.
    """

    def __init__(
        self, name: str, label_names: Sequence[str] | None = None, *, closed: bool = True
    ) -> None:
        self._name = name
        self._labels = {label: index for index, label in enumerate(label_names or ())}
        self._closed = closed and label_names is not None
        self._frames: list[int] = []
        self._boxes: list[tuple[float, float, float, float]] = []
        self._scores: list[float] = []
        self._kinds: list[int] = []
        self._ids: list[int] = []

    def error(self, where: str, problem: str) -> FormatError:
        """Make the error to raise, naming the file and the place."""
        return FormatError(f"{self._name}, {where}: {problem}")

    def add(
        self,
        where: str,
        frame: int,
        box: tuple[float, float, float, float],
        *,
        score: float = 1.0,
        label: str = "object",
        identity: int = NO_ID,
    ) -> None:
        """Take one box of a frame counted from 0; ``where`` is its place in the file."""
        self.check_frame(where, frame)
        if not all(math.isfinite(value) for value in (*box, score)):
            raise self.error(
                where, f"the box {box} with score {score} is not finite; remove the line."
            )
        if max(abs(value) for value in box) > _MAX_COORDINATE:
            raise self.error(where, f"the box {box} is far outside of any picture.")
        if not (box[0] < box[2] and box[1] < box[3]):
            raise self.error(
                where,
                f"the box must have a positive width and height, got {box[2] - box[0]:g} x "
                f"{box[3] - box[1]:g}; correct or remove it.",
            )
        if abs(identity) > _MAX_ID:
            raise self.error(where, f"the identity {identity} is too large.")
        self._frames.append(frame)
        self._boxes.append(box)
        self._scores.append(score)
        self._kinds.append(self._index(where, label))
        self._ids.append(max(identity, NO_ID))

    def check_frame(self, where: str, frame: int) -> None:
        """Refuse frame numbers (from 0) that are negative or beyond belief."""
        if frame < 0:
            raise self.error(where, "the frame number is below that of the first frame.")
        if frame >= MAX_FRAMES:
            raise self.error(
                where, f"frame {frame:,} is beyond the limit of {MAX_FRAMES:,}; is it a time?"
            )

    def table(
        self,
        *,
        frame_size: tuple[int, int] | None = None,
        covered: Sequence[int] | NDArray[np.int64] | None = None,
        times: Sequence[float] | None = None,
        frame_rate: float | None = None,
    ) -> BoxTable:
        """Make the table of all boxes so far."""
        return BoxTable(
            frames=np.array(self._frames, dtype=np.int64),
            boxes=np.array(self._boxes, dtype=np.float64).reshape(-1, 4),
            scores=np.array(self._scores, dtype=np.float64),
            labels=np.array(self._kinds, dtype=np.int32),
            ids=np.array(self._ids, dtype=np.int64),
            label_names=tuple(self._labels),
            frame_size=frame_size,
            covered=None if covered is None else np.asarray(covered, dtype=np.int64),
            times=None if times is None else np.array(times, dtype=np.float64),
            frame_rate=frame_rate,
        )

    def _index(self, where: str, label: str) -> int:
        if label not in self._labels:
            if self._closed:
                raise self.error(
                    where,
                    f"the label {label!r} is not among {', '.join(map(repr, self._labels))}; add "
                    "it to the label names.",
                )
            self._labels[label] = len(self._labels)
        return self._labels[label]
