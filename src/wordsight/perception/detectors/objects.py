"""`Objects`: everyday things by a published network that is fetched once."""

from typing import Any, ClassVar

import numpy as np

from wordsight.perception.detectors.network_output import Candidates
from wordsight.perception.detectors.onnx import Onnx
from wordsight.perception.detectors.suppression import suppress
from wordsight.perception.networks.catalog import fetched_network

__all__ = ["Objects"]

_THING = "thing"
_WEAKEST = 0.1  # score below which boxes are noise


class Objects(Onnx):
    """People and 80 kinds of everyday things, by a network that `wordsight detectors get` fetches.

    Args:
        confidence: Least score of what is reported.
        overlap: Boxes of one class that overlap more are one object.
        max_boxes: The most objects in a frame.
        fill: Where a frame has fewer objects, boxes of what the network is unsure of are reported
            up to this many, as a ``thing``; 0 for none.
        threads: Processor threads of the network; 0 leaves it to onnxruntime.
        device: ``cpu`` or ``cuda``.

    Raises:
        DetectorError: If the network was not fetched yet, or an option is out of range.
    """

    name: ClassVar[str] = "objects"

    def __init__(
        self,
        *,
        confidence: float = 0.25,
        overlap: float = 0.5,
        max_boxes: int = 30,
        fill: int = 6,
        threads: int = 1,
        device: str = "cpu",
    ) -> None:
        super().__init__(
            fetched_network(self.name),
            style="yolov8",
            confidence=confidence,
            overlap=overlap,
            max_boxes=max_boxes,
            letterbox=False,  # it was trained with stretched pictures
            values="0-1",
            bgr=False,
            threads=threads,
            device=device,
            memory=None,  # it is known by its hash
        )
        self._fill = fill
        if fill:
            self.label_names = (*self.label_names, _THING)

    def settings(self) -> dict[str, Any]:
        """Return the network, and everything that affects the results."""
        return {**super().settings(), "fill": self._fill}

    def explain_nothing(self) -> str:
        """Say why nothing may have been found."""
        return self._explain_scores()

    def _chosen(self, found: Candidates) -> Candidates:
        sure = super()._chosen(found)
        room = min(self._fill, self._max_boxes) - len(sure.boxes)
        weak = (found.scores >= _WEAKEST) & (found.scores < self._confidence)
        if room <= 0 or not weak.any():
            return sure
        boxes = np.concatenate([sure.boxes, found.boxes[weak]])
        scores = np.concatenate([sure.scores, found.scores[weak]])
        # A thing must be something else than the objects, whatever its class.
        new = suppress(boxes, scores, self._overlap)
        new = new[new >= len(sure.boxes)][:room]
        things = np.full(len(new), len(self.label_names) - 1, np.int32)
        return Candidates(
            np.concatenate([sure.boxes, boxes[new]]),
            np.concatenate([sure.scores, scores[new]]),
            np.concatenate([sure.labels, things]),
        )
