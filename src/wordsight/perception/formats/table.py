"""What every format is read into and written from: a plain table of boxes by frame number.

Formats know frames by number, Wordsight by presentation time. The step from one to the other is
here, once.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.errors import FormatError, RecordError
from wordsight.records import Detections

__all__ = ["MAX_FRAMES", "NO_ID", "BoxTable", "Gatherer"]


MAX_FRAMES = 2_000_000
"""The highest frame number believed, 18 hours at 30 frames per second; more is a damaged file."""

_MAX_PLACES = 40_000_000  # frames times boxes per frame; more than a gigabyte as arrays

NO_ID = -1
"""The identity of a box that belongs to no track."""


@dataclass(frozen=True, eq=False)
class BoxTable:
    """N boxes with the numbers of their frames.

    Attributes:
        frames: ``(N,)`` number of the frame, counting from 0.
        boxes: ``(N, 4)`` corners x1, y1, x2, y2 in pixels, 0-based, end-exclusive.
        scores: ``(N,)`` confidences.
        labels: ``(N,)`` index into the label names.
        ids: ``(N,)`` identities, ``-1`` where unknown.
        label_names: The classes.
        frame_size: Width and height, if the file tells.
        covered: ``(T,)`` numbers of the frames the file speaks of, with and without boxes; ``None``
            if it does not tell.
        times: ``(T,)`` presentation times of the covered frames, if the file tells.
        frame_rate: Frames per second, if the file tells.
    """

    frames: NDArray[np.int64]
    boxes: NDArray[np.float64]
    scores: NDArray[np.float64]
    labels: NDArray[np.int32]
    ids: NDArray[np.int64]
    label_names: tuple[str, ...]
    frame_size: tuple[int, int] | None = None
    covered: NDArray[np.int64] | None = None
    times: NDArray[np.float64] | None = None
    frame_rate: float | None = None

    @classmethod
    def from_detections(
        cls,
        detections: Detections,
        *,
        times: ArrayLike | None = None,
        frame_rate: float | None = None,
    ) -> "BoxTable":
        """Number the frames of detections.

        Args:
            detections: What to write.
            times: ``(T,)`` presentation times of all frames of the video; a frame gets the number
                of its time there.
            frame_rate: Frames per second; a frame gets its time times this, rounded. Without
                either, frames are numbered in order.
        """
        numbers = _numbers(detections.times, times, frame_rate)
        rows, columns = np.nonzero(detections.mask)
        known = detections.ids
        return cls(
            frames=numbers[rows],
            boxes=detections.boxes[rows, columns],
            scores=detections.scores[rows, columns],
            labels=detections.labels[rows, columns],
            ids=np.full(len(rows), NO_ID) if known is None else known[rows, columns],
            label_names=detections.label_names,
            frame_size=detections.frame_size,
            covered=numbers,
            times=np.asarray(detections.times),
            frame_rate=frame_rate,
        )

    def to_detections(
        self,
        name: str,
        *,
        times: ArrayLike | None = None,
        frame_rate: float | None = None,
        frame_size: tuple[int, int] | None = None,
    ) -> Detections:
        """Give the frames their presentation times.

        Args:
            name: The file's name, for messages.
            times: ``(T,)`` presentation times of all frames of the video.
            frame_rate: Frames per second, if there are no times.
            frame_size: Width and height, where the file does not tell or is wrong.

        Raises:
            FormatError: If there is no way to tell the times, or a box lies beyond the last frame.
        """
        shown = None if times is None else np.asarray(times, dtype=np.float64)
        covered = self._covered(name, shown)
        seconds = self._seconds(name, covered, shown, frame_rate)
        rows = np.searchsorted(covered, self.frames)
        counts = np.bincount(rows, minlength=len(covered))
        width = int(counts.max(initial=0))
        if len(covered) * width > _MAX_PLACES:
            raise FormatError(
                f"{name} has {len(covered):,} frames and {width:,} boxes in one of them, more than "
                "fits in memory; is a frame number wrong? Split the file otherwise."
            )
        order = np.argsort(rows, kind="stable")
        columns = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        places = (rows[order], columns)
        mask = np.zeros((len(covered), width), dtype=np.bool_)
        mask[places] = True

        def spread(values: NDArray[Any]) -> NDArray[Any]:
            array = np.zeros((*mask.shape, *values.shape[1:]), dtype=values.dtype)
            array[places] = values[order]
            return array

        try:
            return Detections(
                times=seconds,
                boxes=spread(self.boxes),
                scores=spread(self.scores),
                labels=spread(self.labels),
                mask=mask,
                label_names=self.label_names,
                frame_size=frame_size or self.frame_size or self._smallest_size(),
                ids=spread(self.ids) if (self.ids != NO_ID).any() else None,
            )
        except RecordError as error:
            raise FormatError(f"{name}: {error}") from error

    def _covered(self, name: str, shown: NDArray[np.float64] | None) -> NDArray[np.int64]:
        covered = self.covered
        if covered is None:
            last = int(self.frames.max(initial=-1)) + 1
            covered = np.arange(last if shown is None else max(last, len(shown)))
        if shown is not None and len(covered) and covered[-1] >= len(shown):
            if len(self.frames) and self.frames.max() < len(shown):
                return covered[covered < len(shown)]
            raise FormatError(
                f"{name} has boxes in frame {int(self.frames.max(initial=covered[-1]))} (counting "
                f"from 0), but the video has {len(shown)} frames; is it the right video, and does "
                "the file count from 1? Then pass first_frame=1."
            )
        return covered

    def _seconds(
        self,
        name: str,
        covered: NDArray[np.int64],
        shown: NDArray[np.float64] | None,
        frame_rate: float | None,
    ) -> NDArray[np.float64]:
        if shown is not None:
            return shown[covered]
        if frame_rate is None and self.times is not None:
            return self.times
        rate = self.frame_rate if frame_rate is None else frame_rate
        if len(covered) == 0:
            return np.zeros(0)
        if rate is None:
            raise FormatError(
                f"{name} counts frames but does not say how fast they follow each other; pass the "
                "video's times (VideoReader(path).times) or a frame_rate."
            )
        if not (math.isfinite(rate) and rate > 0):
            raise FormatError(f"a frame rate must be above 0, got {rate}.")
        return covered / float(rate)

    def _smallest_size(self) -> tuple[int, int]:
        if len(self.boxes) == 0:
            return 1, 1
        right, bottom = np.ceil(self.boxes[:, 2:].max(axis=0))
        return max(1, int(right)), max(1, int(bottom))


def _numbers(
    seen: NDArray[np.float64], times: ArrayLike | None, frame_rate: float | None
) -> NDArray[np.int64]:
    if times is not None:
        numbers = _nearest(seen, np.asarray(times, dtype=np.float64))
    elif frame_rate is not None:
        numbers = np.round(seen * frame_rate).astype(np.int64)
    else:
        numbers = np.arange(len(seen), dtype=np.int64)
    if len(numbers) and (
        numbers[0] < 0 or numbers[-1] >= MAX_FRAMES or (np.diff(numbers) < 1).any()
    ):
        raise FormatError(
            "the frames cannot be numbered: two of them would get the same number, or one a number "
            f"below 0 or beyond {MAX_FRAMES:,}; pass the times of the video they come from."
        )
    return numbers


def _nearest(seen: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.int64]:
    if len(times) == 0 and len(seen):
        raise FormatError("the video has no frames, but the detections have.")
    after = np.clip(np.searchsorted(times, seen), 1, max(len(times) - 1, 1))
    if len(times) < 2:
        return np.zeros(len(seen), dtype=np.int64)
    nearer_before = seen - times[after - 1] <= times[after] - seen
    return np.where(nearer_before, after - 1, after).astype(np.int64)


# Collecting the boxes of a file one by one, with the checks every box must pass.

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
