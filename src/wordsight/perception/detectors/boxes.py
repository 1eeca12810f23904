"""`BoxFile`: reads the boxes of a video from a file instead of detecting them."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wordsight.files import sha256_of
from wordsight.perception.detectors.registry import DetectorError
from wordsight.perception.formats import read_table
from wordsight.perception.formats.table import NO_ID
from wordsight.records import FrameDetections
from wordsight.video import Frame

__all__ = ["BoxFile"]

_SAME_SHAPE = 0.02  # relative difference up to which two aspect ratios are the same


class BoxFile:
    """Boxes from a file: MOT text, COCO JSON, CVAT-for-video XML or CSV.

    Each frame gets the boxes of its frame number. If the file states a frame size and the video has
    another one with the same aspect ratio, boxes are scaled.

    Args:
        path: The file.
        format: ``mot``, ``coco``, ``cvat`` or ``csv``; recognised by the content if None.
        label_names: The classes and their order; by default those in the file.
        first_frame: Number of the first frame in the file; 1 for MOT, 0 for the others.
        video: Id or name of the video in a COCO file with several.

    Raises:
        FormatError: If the file is missing, damaged or of another format.
    """

    name: ClassVar[str] = "boxes"

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        label_names: Sequence[str] | None = None,
        first_frame: int | None = None,
        video: int | str | None = None,
    ) -> None:
        self._path = Path(path)
        table = read_table(
            path, format=format, label_names=label_names, first_frame=first_frame, video=video
        )
        self.label_names: tuple[str, ...] = table.label_names
        order = np.argsort(table.frames, kind="stable")
        self._frames = table.frames[order]
        self._boxes, self._scores = table.boxes[order], table.scores[order]
        self._labels = table.labels[order]
        self._ids = table.ids[order] if (table.ids != NO_ID).any() else None
        self._size = table.frame_size
        self._options = {"format": format, "first_frame": first_frame, "video": video}
        self._hash = sha256_of(self._path)

    def detect(self, frames: Iterable[Frame]) -> Iterator[FrameDetections]:
        """Yield the boxes of each frame, with the track ids of the file."""
        for frame in frames:
            first, last = np.searchsorted(self._frames, [frame.index, frame.index + 1])
            here = slice(first, last)
            yield FrameDetections(
                time=frame.time,
                boxes=self._boxes[here] * self._scale(frame.size),
                scores=self._scores[here],
                labels=self._labels[here],
                ids=None if self._ids is None else self._ids[here],
            )

    def settings(self) -> dict[str, Any]:
        """Return the file's name and hash, and how it was read."""
        return {
            "file": self._path.name,
            "sha256": self._hash,
            "label_names": list(self.label_names),
            **self._options,
        }

    def explain_nothing(self) -> str:
        """Say why nothing may have been found."""
        if not len(self._frames):
            return f"{self._path.name} has no boxes"
        return (
            f"the {len(self._frames)} boxes of {self._path.name} lie on frames "
            f"{self._frames[0]} to {self._frames[-1]}, counted from 0; none of these was looked at"
        )

    def _scale(self, size: tuple[int, int]) -> NDArray[np.float64]:
        if self._size is None or self._size == size:
            return np.ones(4)
        across, down = size[0] / self._size[0], size[1] / self._size[1]
        if abs(across / down - 1.0) > _SAME_SHAPE:
            raise DetectorError(
                f"{self._path.name} is for frames of {self._size[0]} x {self._size[1]} pixels, but "
                f"the video has {size[0]} x {size[1]}; check that it belongs to this video."
            )
        return np.array([across, down, across, down])
