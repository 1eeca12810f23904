"""`Regions`: finds moving or distinct regions without weights and without classes."""

import os
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wordsight.perception.detectors.registry import DetectorError
from wordsight.perception.regions.appearance import APPEARANCE_SIZE, describe
from wordsight.perception.regions.blob import Picture, boxes_of, to_lab
from wordsight.perception.regions.codebook import Codebook
from wordsight.perception.regions.finder import RegionFinder
from wordsight.records import FrameDetections
from wordsight.video import Frame

__all__ = ["Regions"]

_METHOD = 1  # raised when the same options would find other boxes, so that libraries look again
_LEAST_SIDE = 16  # pixels of the small picture; below this nothing can be told apart


class Regions:
    """Moving or distinct regions of a static or slowly moving camera; needs no model.

    It keeps a picture of the scene behind the things and reports what differs from it, without the
    shadows; what stands out of the scene itself, whether or not it ever moves; and distinct parts
    of large moving things, such as what a person carries. A thing that stops moving stays reported.
    A cut begins a new scene. Scores say how clearly a region stands out, 0.1 to 1; large moving
    things come first, details and parts last.

    Args:
        max_boxes: The most regions in a frame, best first.
        codebook: A fitted codebook, or the file of one: regions are then labelled by their look
            instead of all ``region``.
        long_side: Size in pixels at which frames are looked at; smaller is faster and coarser.

    Raises:
        DetectorError: If an option is out of range or the codebook is for other appearances.

    Examples:
        >>> image = np.full((240, 320, 3), 90, np.uint8)
        >>> image[100:160, 50:90] = (200, 40, 40)
        >>> next(Regions().detect([Frame.from_array(image, 0.0)])).boxes.tolist()
        [[50.0, 100.0, 90.0, 160.0]]
    """

    name: ClassVar[str] = "regions"

    def __init__(
        self,
        *,
        max_boxes: int = 12,
        codebook: Codebook | str | os.PathLike[str] | None = None,
        long_side: int = 320,
    ) -> None:
        if max_boxes < 1:
            raise DetectorError(f"max_boxes must be 1 or more, got {max_boxes}.")
        if not 64 <= long_side <= 2048:
            raise DetectorError(f"long_side must be 64 to 2048 pixels, got {long_side}.")
        self._max_boxes = max_boxes
        self._long_side = long_side
        self._codebook = _checked(codebook)
        self.label_names: tuple[str, ...] = (
            ("region",) if self._codebook is None else self._codebook.label_names
        )

    def detect(self, frames: Iterable[Frame]) -> Iterator[FrameDetections]:
        """Yield the regions of each frame, in order, as soon as it comes."""
        scene: RegionFinder | None = None
        for frame in frames:
            lab, scale = self._small(frame)
            blobs = scene.look(lab, frame.time) if scene is not None else None
            if blobs is None:
                scene = RegionFinder(lab, frame.time, self._max_boxes)
                blobs = scene.look(lab, frame.time) or []
            looks = describe(blobs, lab)
            yield FrameDetections(
                time=frame.time,
                boxes=boxes_of(blobs) * scale,
                scores=np.array([blob.score for blob in blobs], np.float64),
                labels=self._labels(looks),
                appearance=looks,
            )

    def settings(self) -> dict[str, Any]:
        """Return the options it was made with, and how many looks its codebook tells apart."""
        return {
            "method": _METHOD,
            "max_boxes": self._max_boxes,
            "long_side": self._long_side,
            "looks": None if self._codebook is None else len(self._codebook.label_names),
        }

    def _small(self, frame: Frame) -> tuple[Picture, NDArray[np.float64]]:
        """Return the small picture in CIELAB, and the size of its pixels in those of the frame."""
        shrink = min(1.0, self._long_side / max(frame.size))
        width, height = (max(_LEAST_SIDE, round(side * shrink)) for side in frame.size)
        scale = np.array([frame.size[0] / width, frame.size[1] / height] * 2)
        return to_lab(frame.scaled(width, height)), scale

    def _labels(self, looks: NDArray[np.float32]) -> NDArray[np.int32]:
        if self._codebook is None:
            return np.zeros(len(looks), np.int32)
        return self._codebook.predict(looks)


def _checked(codebook: Codebook | str | os.PathLike[str] | None) -> Codebook | None:
    if codebook is None:
        return None
    book = codebook if isinstance(codebook, Codebook) else Codebook.load(codebook)
    if book.centres_.shape[1] != APPEARANCE_SIZE:
        raise DetectorError(
            f"the codebook must be fitted to the {APPEARANCE_SIZE} numbers that regions are "
            f"described by, this one has {book.centres_.shape[1]}; fit it to detections of regions."
        )
    return book
