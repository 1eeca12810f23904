"""`Regions`: finds moving or distinct regions without weights and without classes."""

import os
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wordsight.perception.detectors.registry import DetectorError
from wordsight.perception.regions.blob import (
    APPEARANCE_SIZE,
    Picture,
    boxes_of,
    describe,
    outlines,
    to_lab,
)
from wordsight.perception.regions.codebook import Codebook
from wordsight.perception.regions.finder import RegionFinder
from wordsight.records import FrameDetections
from wordsight.video import Frame

__all__ = ["Regions"]

_METHOD = 2  # increased when results change, so that libraries detect again
_LEAST_SIDE = 16  # pixels of the scaled image; smaller ones have too little detail


class Regions:
    """Moving or distinct regions of a static or slowly moving camera; needs no model.

    It models the background and reports regions that differ from it, without their shadows; static
    regions that are distinct from their surroundings; and distinct parts of large moving regions,
    such as what a person carries. An object that stops moving is still reported. A cut starts a new
    background. Scores measure distinctness, 0.1 to 1; large moving regions come first, details and
    parts last.

    Args:
        max_boxes: Largest number of regions in a frame, best first.
        codebook: A fitted codebook, or its file: regions are then labelled by appearance instead
            of ``region``.
        long_side: Longer side in pixels to which frames are scaled; smaller is faster and coarser.

    Raises:
        DetectorError: If an option is out of range or the codebook does not fit.

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
        """Yield the regions of each frame, in order."""
        finder: RegionFinder | None = None
        for frame in frames:
            lab, scale = self._small(frame)
            blobs = finder.update(lab, frame.time) if finder is not None else None
            if blobs is None:
                finder = RegionFinder(lab, frame.time, self._max_boxes)
                blobs = finder.update(lab, frame.time) or []
            boxes = boxes_of(blobs) * scale
            looks = describe(blobs, lab)
            edges = outlines(frame.scaled(*frame.size, gray=True), boxes)
            appearance = np.concatenate([looks, edges], axis=1)
            yield FrameDetections(
                time=frame.time,
                boxes=boxes,
                scores=np.array([blob.score for blob in blobs], np.float64),
                labels=self._labels(appearance),
                appearance=appearance,
            )

    def settings(self) -> dict[str, Any]:
        """Return the options, and the size of the codebook."""
        return {
            "method": _METHOD,
            "max_boxes": self._max_boxes,
            "long_side": self._long_side,
            "looks": None if self._codebook is None else len(self._codebook.label_names),
        }

    def explain_nothing(self) -> str:
        """Say why nothing may have been found."""
        return (
            "nothing moved, and nothing stood out from what is around it; it needs a camera that "
            "stands or turns slowly"
        )

    def _small(self, frame: Frame) -> tuple[Picture, NDArray[np.float64]]:
        """Return the scaled image in CIELAB, and the size of its pixels in pixels of the frame."""
        shrink = min(1.0, self._long_side / max(frame.size))
        width, height = (max(_LEAST_SIDE, round(side * shrink)) for side in frame.size)
        scale = np.array([frame.size[0] / width, frame.size[1] / height] * 2)
        return to_lab(frame.scaled(width, height)), scale

    def _labels(self, appearance: NDArray[np.float32]) -> NDArray[np.int32]:
        if self._codebook is None:
            return np.zeros(len(appearance), np.int32)
        return self._codebook.predict(appearance)


def _checked(codebook: Codebook | str | os.PathLike[str] | None) -> Codebook | None:
    if codebook is None:
        return None
    book = codebook if isinstance(codebook, Codebook) else Codebook.load(codebook)
    if book.centres_.shape[1] != APPEARANCE_SIZE:
        raise DetectorError(
            f"the codebook must be fitted to region appearances of {APPEARANCE_SIZE} numbers, got "
            f"{book.centres_.shape[1]}; fit it to detections of the detector regions."
        )
    return book
