"""`BoxTable`: boxes by frame number, the common representation of all formats.

Files number their frames, Wordsight uses presentation times; the table converts between the two.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.errors import FormatError, RecordError
from wordsight.records import Detections

__all__ = ["MAX_FRAMES", "NO_ID", "BoxCollector", "BoxTable"]


MAX_FRAMES = 2_000_000
"""Largest plausible frame number, 18 hours at 30 frames per second; more is a damaged file."""

_MAX_PLACES = 40_000_000  # frames times boxes per frame; more than a gigabyte as arrays

NO_ID = -1
"""The track id of a box that belongs to no track."""


@dataclass(frozen=True, eq=False)
class BoxTable:
    """N boxes with their frame numbers.

    Attributes:
        frames: ``(N,)`` frame numbers, counting from 0.
        boxes: ``(N, 4)`` corners x1, y1, x2, y2 in pixels, 0-based, end-exclusive.
        scores: ``(N,)`` confidences.
        labels: ``(N,)`` indices into the label names.
        ids: ``(N,)`` track ids, ``-1`` where unknown.
        label_names: The classes.
        frame_size: Width and height, if known.
        covered: ``(T,)`` numbers of the frames that the file covers, with and without boxes;
            ``None`` if unknown.
        times: ``(T,)`` presentation times of the covered frames, if known.
        frame_rate: Frames per second, if known.
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
            detections: The detections.
            times: ``(T,)`` presentation times of all frames of the video; a frame gets the index
                of the nearest time.
            frame_rate: Frames per second; a frame gets its time multiplied by this, rounded.
                Without either, frames are numbered in order.
        """
        numbers = _numbers(detections.times, times, frame_rate)
        rows, columns = np.nonzero(detections.mask)
        ids = detections.ids
        return cls(
            frames=numbers[rows],
            boxes=detections.boxes[rows, columns],
            scores=detections.scores[rows, columns],
            labels=detections.labels[rows, columns],
            ids=np.full(len(rows), NO_ID) if ids is None else ids[rows, columns],
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
        """Return detections with presentation times.

        Args:
            name: File name for messages.
            times: ``(T,)`` presentation times of all frames of the video.
            frame_rate: Frames per second, if there are no times.
            frame_size: Width and height, to replace those of the file.

        Raises:
            FormatError: If the times are unknown, or a box is beyond the last frame.
        """
        video_times = None if times is None else np.asarray(times, dtype=np.float64)
        covered = self._covered(name, video_times)
        seconds = self._seconds(name, covered, video_times, frame_rate)
        rows = np.searchsorted(covered, self.frames)
        counts = np.bincount(rows, minlength=len(covered))
        width = int(counts.max(initial=0))
        if len(covered) * width > _MAX_PLACES:
            raise FormatError(
                f"{name} has {len(covered):,} frames and {width:,} boxes in one of them, too many "
                "for the memory; check the frame numbers, or split the file."
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

    def _covered(self, name: str, times: NDArray[np.float64] | None) -> NDArray[np.int64]:
        covered = self.covered
        if covered is None:
            last = int(self.frames.max(initial=-1)) + 1
            covered = np.arange(last if times is None else max(last, len(times)))
        if times is not None and len(covered) and covered[-1] >= len(times):
            if len(self.frames) and self.frames.max() < len(times):
                return covered[covered < len(times)]
            raise FormatError(
                f"{name} has boxes in frame {int(self.frames.max(initial=covered[-1]))} (counting "
                f"from 0), but the video has {len(times)} frames; check that it is the right "
                "video. If the file counts from 1, pass first_frame=1."
            )
        return covered

    def _seconds(
        self,
        name: str,
        covered: NDArray[np.int64],
        times: NDArray[np.float64] | None,
        frame_rate: float | None,
    ) -> NDArray[np.float64]:
        if times is not None:
            return times[covered]
        if frame_rate is None and self.times is not None:
            return self.times
        rate = self.frame_rate if frame_rate is None else frame_rate
        if len(covered) == 0:
            return np.zeros(0)
        if rate is None:
            raise FormatError(
                f"{name} has frame numbers but no times; give the frames per second (--rate, in "
                "Python frame_rate) or the video's times (VideoReader(path).times)."
            )
        if not (math.isfinite(rate) and rate > 0):
            raise FormatError(f"frame_rate must be above 0, got {rate}.")
        return covered / float(rate)

    def _smallest_size(self) -> tuple[int, int]:
        if len(self.boxes) == 0:
            return 1, 1
        right, bottom = np.ceil(self.boxes[:, 2:].max(axis=0))
        return max(1, int(right)), max(1, int(bottom))


def _numbers(
    own_times: NDArray[np.float64], times: ArrayLike | None, frame_rate: float | None
) -> NDArray[np.int64]:
    if times is not None:
        numbers = _nearest(own_times, np.asarray(times, dtype=np.float64))
    elif frame_rate is not None:
        numbers = np.round(own_times * frame_rate).astype(np.int64)
    else:
        numbers = np.arange(len(own_times), dtype=np.int64)
    if len(numbers) and (
        numbers[0] < 0 or numbers[-1] >= MAX_FRAMES or (np.diff(numbers) < 1).any()
    ):
        raise FormatError(
            "the frames cannot be numbered: two would get the same number, or one a number below "
            f"0 or above {MAX_FRAMES:,}; pass the times of their video."
        )
    return numbers


def _nearest(own_times: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.int64]:
    if len(times) == 0 and len(own_times):
        raise FormatError("the video has no frames, but the detections have.")
    after = np.clip(np.searchsorted(times, own_times), 1, max(len(times) - 1, 1))
    if len(times) < 2:
        return np.zeros(len(own_times), dtype=np.int64)
    nearer_before = own_times - times[after - 1] <= times[after] - own_times
    return np.where(nearer_before, after - 1, after).astype(np.int64)


_MAX_COORDINATE = 1e9  # pixels; far outside any frame
_MAX_ID = 2**62


class BoxCollector:
    """Collects the boxes of a file one by one, validates each, and builds the table.

    Args:
        name: File name for messages.
        label_names: The classes; if None, they are collected in order of appearance.
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
        """Return an error that names the file and the place in it."""
        return FormatError(f"{self._name}, {where}: {problem}")

    def add(
        self,
        where: str,
        frame: int,
        box: tuple[float, float, float, float],
        *,
        score: float = 1.0,
        label: str = "object",
        track_id: int = NO_ID,
    ) -> None:
        """Add one box; ``frame`` counts from 0 and ``where`` is the place in the file."""
        self.check_frame(where, frame)
        if not all(math.isfinite(value) for value in (*box, score)):
            raise self.error(
                where, f"the box {box} with score {score} is not finite; remove the line."
            )
        if max(abs(value) for value in box) > _MAX_COORDINATE:
            raise self.error(where, f"the box {box} is far outside any frame.")
        if not (box[0] < box[2] and box[1] < box[3]):
            raise self.error(
                where,
                f"the box must have a positive width and height, got {box[2] - box[0]:g} x "
                f"{box[3] - box[1]:g}; correct or remove it.",
            )
        if abs(track_id) > _MAX_ID:
            raise self.error(where, f"the track id {track_id} is too large.")
        self._frames.append(frame)
        self._boxes.append(box)
        self._scores.append(score)
        self._kinds.append(self._index(where, label))
        self._ids.append(max(track_id, NO_ID))

    def check_frame(self, where: str, frame: int) -> None:
        """Reject frame numbers (from 0) that are negative or implausibly large."""
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
        """Return the table of all boxes so far."""
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
