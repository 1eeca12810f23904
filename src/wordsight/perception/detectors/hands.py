"""`Hands`: hands by a published palm network that is fetched once."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, ClassVar

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.perception.detectors.network_process import IsolatedNetwork, open_network
from wordsight.perception.detectors.network_session import LocalNetwork
from wordsight.perception.detectors.registry import DetectorError
from wordsight.perception.detectors.suppression import suppress
from wordsight.perception.networks.catalog import fetched_network
from wordsight.records import FrameDetections
from wordsight.video import Frame

__all__ = ["Hands"]

_SIDE = 192
_GRIDS = ((8, 2), (16, 6))  # stride, and anchors in each cell
_OVERLAP = 0.3
_WRIST, _KNUCKLE = 0, 2  # of the seven points of a palm: the middle finger's
# From the box of a palm to that of its hand, in sides of the palm: how large, how far along. Chosen
# in the middle of what covers all 13 hands of experiments/data/film_frames.json.
_SCALE, _SHIFT = 1.9, 0.3
Array = NDArray[np.float64]


class Hands:
    """Hands, by a network that `wordsight detectors get` fetches.

    The network finds palms in a square picture. A frame is looked at as a whole and in
    overlapping squares, so that hands that are small in it are found too.

    Args:
        confidence: Least score of what is reported.
        max_boxes: The most hands in a frame.
        squares: Whether to look at squares of the frame, not only at the whole.
        device: ``cpu`` or ``cuda``.

    Raises:
        DetectorError: If the network was not fetched yet, or an option is out of range.
    """

    name: ClassVar[str] = "hands"

    def __init__(
        self,
        *,
        confidence: float = 0.5,
        max_boxes: int = 6,
        squares: bool = True,
        device: str = "cpu",
    ) -> None:
        if not 0 < confidence <= 1 or max_boxes < 1:
            raise DetectorError(
                "confidence must lie above 0 and up to 1 and max_boxes be 1 or more, got "
                f"{confidence} and {max_boxes}."
            )
        self._path = fetched_network(self.name)
        self.label_names: tuple[str, ...] = ("hand",)
        self._confidence, self._max_boxes, self._squares = confidence, max_boxes, squares
        self._device = device

    def detect(self, frames: Iterable[Frame]) -> Iterator[FrameDetections]:
        """Yield the hands in each frame, in order."""
        for frame in frames:
            image = frame.image
            found = [self._look(image, *window) for window in _windows(image, self._squares)]
            boxes, scores = (np.concatenate(parts) for parts in zip(*found, strict=True))
            height, width = image.shape[:2]
            boxes = np.clip(boxes, 0, [width, height, width, height])
            visible = (boxes[:, 2:] - boxes[:, :2]).min(axis=1, initial=np.inf) > 1
            boxes, scores = boxes[visible], scores[visible]
            kept = suppress(boxes, scores, _OVERLAP, limit=self._max_boxes)
            labels = np.zeros(len(kept), np.int32)
            yield FrameDetections(frame.time, boxes[kept], scores[kept], labels)

    def settings(self) -> dict[str, Any]:
        """Return everything that shapes the results."""
        return {
            "network": 2,
            "confidence": self._confidence,
            "max_boxes": self._max_boxes,
            "squares": self._squares,
        }

    @cached_property
    def _network(self) -> LocalNetwork | IsolatedNetwork:
        return open_network(self._path, 1, self._device, None)

    def _look(self, image: NDArray[np.uint8], x: int, y: int, side: int) -> tuple[Array, Array]:
        """Return the boxes and scores of hands in a square of the frame, filled up with black."""
        part = image[max(y, 0) : y + side, max(x, 0) : x + side]
        canvas = np.zeros((side, side, 3), np.uint8)
        top, left = max(-y, 0), max(-x, 0)
        canvas[top : top + part.shape[0], left : left + part.shape[1]] = part
        small = cv2.resize(canvas, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
        picture = small.transpose(2, 0, 1)[None].astype(np.float32) / 255
        outputs = self._network.run({self._network.inputs[0].name: picture})
        points, logits = sorted(outputs.values(), key=lambda one: -one.shape[-1])
        boxes, scores = decode_palms(points[0].astype(np.float64), logits[0, :, 0])
        sure = scores >= self._confidence
        return boxes[sure] * side + np.array([x, y, x, y]), scores[sure]


def decode_palms(raw: Array, logits: NDArray[Any]) -> tuple[Array, Array]:
    """Return boxes of hands as shares of the picture, and their scores.

    Args:
        raw: ``(N, 18)`` centre, size and seven points of each palm, relative to its anchor.
        logits: ``(N,)`` log odds that there is a palm.
    """
    anchors = _anchors()
    scores = 1 / (1 + np.exp(-np.clip(logits.astype(np.float64), -50, 50)))
    centre = raw[:, :2] / _SIDE + anchors
    side = np.abs(raw[:, 2:4]).max(axis=1) / _SIDE
    points = raw[:, 4:].reshape(-1, 7, 2) / _SIDE + anchors[:, None]
    along = points[:, _KNUCKLE] - points[:, _WRIST]
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
    middle = centre + _SHIFT * side[:, None] * along
    half = 0.5 * _SCALE * side[:, None]
    return np.concatenate([middle - half, middle + half], axis=1), scores


def _anchors() -> Array:
    parts = []
    for stride, count in _GRIDS:
        cells = (np.arange(_SIDE // stride) + 0.5) * stride / _SIDE
        y, x = np.meshgrid(cells, cells, indexing="ij")
        parts.append(np.repeat(np.stack([x.ravel(), y.ravel()], axis=1), count, axis=0))
    return np.concatenate(parts)


def _windows(image: NDArray[np.uint8], squares: bool) -> list[tuple[int, int, int]]:
    """Return the squares to look at: the whole, then squares of the shorter side if asked for."""
    height, width = image.shape[:2]
    side = max(height, width)
    windows = [((width - side) // 2, (height - side) // 2, side)]
    if squares and height != width:
        short = min(height, width)
        for offset in np.linspace(0, side - short, -(-side // short)):
            windows.append((int(offset), 0, short) if width > height else (0, int(offset), short))
    return windows
