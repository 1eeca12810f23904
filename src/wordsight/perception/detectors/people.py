"""`People`: upright people by the histogram-of-gradients detector that ships with OpenCV."""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.perception.detectors.registry import DetectorError
from wordsight.perception.detectors.suppression import box_iou, suppress
from wordsight.records import FrameDetections
from wordsight.video import Frame

__all__ = ["People"]

_MODEL_HEIGHT = 96.0  # height of a person in the model's window of 64 x 128 pixels
# Margin of the window around the person, as shares of its width and height.
_MARGIN = np.array([0.22, 0.13, -0.22, -0.13])
_MOST_SIDE = 1600  # pixels; larger frames take seconds
_PYRAMID_STEP = 1.1
_OVERLAP = 0.4  # largest intersection over union of two people
_MIDDLE, _STEEPNESS = 0.5, 2.5  # of the sigmoid from the classifier's margin to a score


class People:
    """Upright people, by the histogram-of-gradients detector built into OpenCV.

    It finds people who stand or walk and are fully visible. It is slow, about 10 frames per second
    at 640 x 480; a higher ``smallest`` is faster.

    Args:
        smallest: Height of the smallest person to find, as a share of the frame's height.
        confidence: Least score of reported people, 0 to 1.
        max_boxes: Largest number of people in a frame.

    Raises:
        DetectorError: If an option is out of range.
    """

    name: ClassVar[str] = "people"

    def __init__(
        self, *, smallest: float = 1 / 6, confidence: float = 0.4, max_boxes: int = 12
    ) -> None:
        if not 0.02 <= smallest <= 1:
            raise DetectorError(
                f"smallest must be a share of the frame's height from 0.02 to 1, got {smallest}."
            )
        if not 0 <= confidence <= 1:
            raise DetectorError(f"confidence must be between 0 and 1, got {confidence}.")
        if max_boxes < 1:
            raise DetectorError(f"max_boxes must be 1 or more, got {max_boxes}.")
        self.label_names: tuple[str, ...] = ("person",)
        self._smallest = smallest
        self._confidence = confidence
        self._max_boxes = max_boxes

    def detect(self, frames: Iterable[Frame]) -> Iterator[FrameDetections]:
        """Yield the people in each frame, in order."""
        model = cv2.HOGDescriptor()
        weights = cv2.HOGDescriptor.getDefaultPeopleDetector()
        model.setSVMDetector(np.asarray(weights, np.float32))
        for frame in frames:
            boxes, scores = self._people(model, frame)
            yield FrameDetections(frame.time, boxes, scores, np.zeros(len(boxes), np.int32))

    def settings(self) -> dict[str, Any]:
        """Return the options."""
        return {
            "smallest": self._smallest,
            "confidence": self._confidence,
            "max_boxes": self._max_boxes,
        }

    def explain_nothing(self) -> str:
        """Say why nothing may have been found."""
        return (
            "it knows upright people alone, seen from head to foot, at least "
            f"{self._smallest:.0%} of the picture high and with a score of {self._confidence:g} or "
            "more (--option smallest=0.1 and confidence=0.2 report more)"
        )

    def _people(
        self, model: cv2.HOGDescriptor, frame: Frame
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        width, height = self._working_size(frame.size)
        windows, margins = model.detectMultiScale(
            frame.scaled(width, height, gray=True),
            winStride=(8, 8),
            padding=(8, 8),
            scale=_PYRAMID_STEP,
            groupThreshold=0,
        )
        if not len(windows):
            return np.zeros((0, 4)), np.zeros(0)
        scores = 1 / (1 + np.exp(-_STEEPNESS * (np.ravel(margins).astype(np.float64) - _MIDDLE)))
        boxes = _without_margin(np.asarray(windows, np.float64))
        boxes *= np.array([frame.size[0] / width, frame.size[1] / height] * 2)
        boxes, scores = self._merged(boxes, scores)
        limits = np.array([*frame.size, *frame.size], np.float64)
        boxes = np.clip(boxes, 0, limits)
        visible = (boxes[:, 2:] - boxes[:, :2]).min(axis=1) > 1
        return boxes[visible], scores[visible]

    def _working_size(self, size: tuple[int, int]) -> tuple[int, int]:
        scale = _MODEL_HEIGHT / (self._smallest * size[1])
        scale = min(scale, _MOST_SIDE / max(size))
        # The model's window must fit, or OpenCV raises an error.
        scale = max(scale, 64 / size[0], 128 / size[1])
        return round(size[0] * scale), round(size[1] * scale)

    def _merged(
        self, boxes: NDArray[np.float64], scores: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Average overlapping windows of one person, which scatter around the true box."""
        sure = scores >= self._confidence
        boxes, scores = boxes[sure], scores[sure]
        kept = suppress(boxes, scores, _OVERLAP, limit=self._max_boxes)
        near = (box_iou(boxes[kept], boxes) > _OVERLAP) * scores
        return (near @ boxes) / near.sum(axis=1, keepdims=True), scores[kept]


def _without_margin(windows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert ``(N, 4)`` x, y, width, height of windows into boxes of the people in them."""
    corner, size = windows[:, :2], windows[:, 2:]
    boxes = np.concatenate([corner, corner + size], axis=1)
    return np.asarray(boxes + _MARGIN * np.tile(size, 2), np.float64)
