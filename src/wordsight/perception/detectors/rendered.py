"""`Rendered`: objects of the rendered worlds, by a small network that ships with Wordsight.

Published experiments on learning words use a detector that was trained beforehand on other images;
this is that detector for the rendered worlds. OpenCV runs the network.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from importlib.resources import files
from typing import Any, ClassVar

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.perception.detectors.network_input import InputFormat, Preparation
from wordsight.perception.detectors.network_output import decode
from wordsight.perception.detectors.registry import DetectorError
from wordsight.perception.detectors.suppression import suppress
from wordsight.records import FrameDetections
from wordsight.video import Frame

__all__ = ["RENDERED_THINGS", "Rendered"]

RENDERED_THINGS = (
    *("backpack", "beaker", "black block", "blue block", "bottle", "chair", "cylinder", "dish"),
    *("flask", "funnel", "green block", "hand", "jar", "marker", "orange block", "person"),
    *("pipette", "purple block", "rack", "red block", "scale", "spoon", "stirrer", "stool"),
    *("tape", "towel", "traffic-cone", "trash-can", "tube", "white block", "yellow block"),
)
"""The classes of the network, in order."""

_MODEL = "rendered.onnx"
_VERSION = 2  # increased with the network, so that libraries detect again
_INPUT = InputFormat("images", (320, 240), channels_last=False, dtype=np.float32)
_OVERLAP = 0.5  # largest intersection over union of two objects of one class


class Rendered:
    """People and things of the rendered worlds, with their classes; of no use on real videos.

    The network was trained on films that no experiment uses, those of the street in none of the
    street's own places, by ``experiments/rendered_detector.py``.

    Args:
        confidence: Least score of reported objects, 0 to 1.
        max_boxes: Largest number of objects in a frame.

    Raises:
        DetectorError: If an option is out of range.
    """

    name: ClassVar[str] = "rendered"

    def __init__(self, *, confidence: float = 0.3, max_boxes: int = 20) -> None:
        if not 0 < confidence <= 1:
            raise DetectorError(f"confidence must be above 0 and at most 1, got {confidence}.")
        if max_boxes < 1:
            raise DetectorError(f"max_boxes must be 1 or more, got {max_boxes}.")
        self.label_names: tuple[str, ...] = RENDERED_THINGS
        self._confidence = confidence
        self._max_boxes = max_boxes

    def detect(self, frames: Iterable[Frame]) -> Iterator[FrameDetections]:
        """Yield the objects in each frame, in order."""
        for frame in frames:
            image, placement = _INPUT.prepare(frame, Preparation())
            self._network.setInput(image)
            boxes, scores, labels = self._chosen(np.asarray(self._network.forward()))
            boxes = placement.to_frame(boxes, frame.size)
            visible = (boxes[:, 2:] - boxes[:, :2]).min(axis=1, initial=np.inf) > 0
            yield FrameDetections(frame.time, boxes[visible], scores[visible], labels[visible])

    def settings(self) -> dict[str, Any]:
        """Return the options, and the version of the network."""
        return {
            "network": _VERSION,
            "confidence": self._confidence,
            "max_boxes": self._max_boxes,
        }

    def explain_nothing(self) -> str:
        """Say why nothing may have been found."""
        return (
            "it knows the people and things of rendered worlds alone; for real videos take "
            "another detector, such as objects"
        )

    @cached_property
    def _network(self) -> cv2.dnn.Net:
        model = files("wordsight.perception.detectors").joinpath(_MODEL).read_bytes()
        return cv2.dnn.readNetFromONNX(np.frombuffer(model, np.uint8))

    def _chosen(
        self, output: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]:
        found = decode("yolov8", {"output0": output}, len(self.label_names), _INPUT.size)
        sure = np.flatnonzero(found.scores >= self._confidence)
        boxes, scores, labels = found.boxes[sure], found.scores[sure], found.labels[sure]
        kept = suppress(boxes, scores, _OVERLAP, labels=labels, limit=self._max_boxes)
        return boxes[kept], scores[kept], labels[kept]
