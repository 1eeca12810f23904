"""`Hands`: hands by published networks of palms and joints that are fetched once."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.perception.detectors.network_process import IsolatedNetwork, open_network
from wordsight.perception.detectors.network_session import LocalNetwork
from wordsight.perception.detectors.registry import DetectorError
from wordsight.perception.detectors.suppression import suppress
from wordsight.perception.networks.catalog import fetched_network, installed_network
from wordsight.records import FrameDetections
from wordsight.video import Frame

__all__ = ["HandPoints", "Hands", "decode_palms"]

_PALM_SIDE = 192
_GRIDS = ((8, 2), (16, 6))  # stride, and anchors in each cell
_OVERLAP = 0.3
_WRIST, _KNUCKLE = 0, 2  # of the seven points of a palm: the middle finger's
_LEAST_PALM, _LEAST_PALM_ALONE = 0.3, 0.5  # scores of palms that are looked at, and believed
_WIDE = 1.6  # sides of the frame: room around it for hands that fill it
# From the box of a palm to that of its hand, in sides of the palm: how large, how far along. Chosen
# in the middle of what covers all 13 hands of experiments/data/film_frames.json.
_SCALE, _SHIFT = 1.9, 0.3
_POINTS = "hand-points"
_HAND_SIDE = 224
# As published: the square to look at, in sides of the palm, and how far along the hand it lies.
_HAND_SCALE, _HAND_SHIFT = 2.6, 0.5
_MARGIN = 0.1  # of flesh around the joints, in sides of their box
Array = NDArray[np.float64]


class HandPoints:
    """Joints of hands, whose outermost are the sides of a hand's box.

    Args:
        path: The network.
        device: ``cpu`` or ``cuda``.
    """

    def __init__(self, path: Path, device: str) -> None:
        self._path, self._device = path, device

    def look(
        self, image: NDArray[np.uint8], centre: Array, side: float, along: Array
    ) -> tuple[Array, float]:
        """Return the box of a hand, and how sure it is that there is one.

        Args:
            image: The picture.
            centre: ``(2,)`` middle of the palm in pixels.
            side: Side of the palm in pixels.
            along: ``(2,)`` the direction from the wrist to the fingers, of length 1.
        """
        to_picture = self._square(centre + _HAND_SHIFT * side * along, _HAND_SCALE * side, along)
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        part = cv2.warpAffine(image, to_picture, (_HAND_SIDE, _HAND_SIDE), flags=flags)
        picture = part.transpose(2, 0, 1)[None].astype(np.float32) / 255
        outputs = list(self._network.run({self._network.inputs[0].name: picture}).values())
        # Joints in pixels of the square; that it is a hand; right or left; joints in metres.
        joints = outputs[0].reshape(-1, 3)[:, :2].astype(np.float64)
        joints = joints @ to_picture[:, :2].T + to_picture[:, 2]
        low, high = joints.min(axis=0), joints.max(axis=0)
        margin = _MARGIN * np.sqrt(np.prod(high - low))
        return np.concatenate([low - margin, high + margin]), float(outputs[1].item())

    @staticmethod
    def _square(centre: Array, side: float, up: Array) -> Array:
        """Return ``(2, 3)`` what maps the network's picture, fingers up, to a square."""
        scale = side / _HAND_SIDE
        turn = scale * np.array([[-up[1], -up[0]], [up[0], -up[1]]])
        return np.column_stack([turn, centre - turn @ [_HAND_SIDE / 2, _HAND_SIDE / 2]])

    @cached_property
    def _network(self) -> LocalNetwork | IsolatedNetwork:
        return open_network(self._path, 1, self._device, None)


@dataclass(frozen=True, eq=False)
class Palms:
    """Palms in a picture, in pixels or shares of its side.

    Attributes:
        centres: ``(N, 2)`` their middles.
        sides: ``(N,)`` the sides of squares around them.
        along: ``(N, 2)`` directions from the wrist to the fingers, of length 1.
        scores: ``(N,)`` how sure they are.
    """

    centres: Array
    sides: Array
    along: Array
    scores: Array

    def boxes(self, scale: float = 1.0, shift: float = 0.0) -> Array:
        """Return squares around palms, that many sides large and moved along the hand."""
        middles = self.centres + shift * self.sides[:, None] * self.along
        halves = 0.5 * scale * self.sides[:, None]
        return np.concatenate([middles - halves, middles + halves], axis=1)

    def take(self, kept: NDArray[Any]) -> "Palms":
        """Return some of them."""
        return Palms(self.centres[kept], self.sides[kept], self.along[kept], self.scores[kept])


class Hands:
    """Hands, by networks that `wordsight detectors get` fetches.

    The first finds palms in a square picture: in overlapping squares of a frame, so that hands that
    are small in it are found, and in a wide one around it, for hands that fill it. The second finds
    the joints of each, and says whether it is a hand at all. Where only the first was fetched, a
    hand is a square around its palm.

    Args:
        confidence: Least score of what is reported; without the second network at least .5.
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
        confidence: float = 0.2,
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
        self._points: HandPoints | None = None
        if installed_network(_POINTS) is not None:
            self._points = HandPoints(fetched_network(_POINTS), device)
        self.label_names: tuple[str, ...] = ("hand",)
        self._confidence, self._max_boxes, self._squares = confidence, max_boxes, squares
        self._device = device

    def detect(self, frames: Iterable[Frame]) -> Iterator[FrameDetections]:
        """Yield the hands in each frame, in order."""
        for frame in frames:
            image = frame.image
            palms = self._palms(image)
            if self._points is None:
                boxes, scores = palms.boxes(_SCALE, _SHIFT), palms.scores
                least = max(self._confidence, _LEAST_PALM_ALONE)
            else:
                boxes, scores = _looked_at(image, palms, self._points)
                least = self._confidence
            height, width = image.shape[:2]
            boxes = np.clip(boxes, 0, [width, height, width, height])
            visible = (boxes[:, 2:] - boxes[:, :2]).min(axis=1, initial=np.inf) > 1
            visible &= scores >= least
            boxes, scores = boxes[visible], scores[visible]
            kept = suppress(boxes, scores, _OVERLAP, limit=self._max_boxes)
            labels = np.zeros(len(kept), np.int32)
            yield FrameDetections(frame.time, boxes[kept], scores[kept], labels)

    def settings(self) -> dict[str, Any]:
        """Return everything that shapes the results."""
        return {
            "network": 3,
            "points": self._points is not None,
            "confidence": self._confidence,
            "max_boxes": self._max_boxes,
            "squares": self._squares,
        }

    def explain_nothing(self) -> str:
        """Say why nothing may have been found."""
        least = self._confidence if self._points else max(self._confidence, _LEAST_PALM_ALONE)
        return (
            f"it knows hands alone, and reports those with a score of {least:g} or more "
            "(--option confidence=0.1 reports more); things need another detector, such as objects"
        )

    @cached_property
    def _network(self) -> LocalNetwork | IsolatedNetwork:
        return open_network(self._path, 1, self._device, None)

    def _palms(self, image: NDArray[np.uint8]) -> Palms:
        """Return the palms in a frame, each once."""
        found = [self._look(image, *window) for window in _windows(image, self._squares)]
        palms = Palms(
            np.concatenate([one.centres for one in found]),
            np.concatenate([one.sides for one in found]),
            np.concatenate([one.along for one in found]),
            np.concatenate([one.scores for one in found]),
        )
        return palms.take(suppress(palms.boxes(), palms.scores, _OVERLAP))

    def _look(self, image: NDArray[np.uint8], x: int, y: int, side: int) -> Palms:
        """Return the palms in a square of the frame, filled up with black."""
        part = image[max(y, 0) : y + side, max(x, 0) : x + side]
        scale = _PALM_SIDE / side
        width, height = (max(1, round(scale * length)) for length in (part.shape[1], part.shape[0]))
        left, top = round(scale * max(-x, 0)), round(scale * max(-y, 0))
        small = np.zeros((_PALM_SIDE, _PALM_SIDE, 3), np.uint8)
        small[top : top + height, left : left + width] = cv2.resize(
            part, (width, height), interpolation=cv2.INTER_AREA
        )
        picture = small.transpose(2, 0, 1)[None].astype(np.float32) / 255
        outputs = self._network.run({self._network.inputs[0].name: picture})
        points, logits = sorted(outputs.values(), key=lambda one: -one.shape[-1])
        palms = decode_palms(points[0].astype(np.float64), logits[0, :, 0])
        palms = palms.take(palms.scores >= _LEAST_PALM)
        return Palms(palms.centres * side + [x, y], palms.sides * side, palms.along, palms.scores)


def decode_palms(raw: Array, logits: NDArray[Any]) -> Palms:
    """Return palms in shares of the picture.

    Args:
        raw: ``(N, 18)`` centre, size and seven points of each palm, relative to its anchor.
        logits: ``(N,)`` log odds that there is a palm.
    """
    anchors = _anchors()
    scores = 1 / (1 + np.exp(-np.clip(logits.astype(np.float64), -50, 50)))
    points = raw[:, 4:].reshape(-1, 7, 2) / _PALM_SIDE
    along = points[:, _KNUCKLE] - points[:, _WRIST]
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
    sides = np.abs(raw[:, 2:4]).max(axis=1) / _PALM_SIDE
    return Palms(raw[:, :2] / _PALM_SIDE + anchors, sides, along, scores)


def _looked_at(image: NDArray[np.uint8], palms: Palms, points: HandPoints) -> tuple[Array, Array]:
    """Return the boxes of hands by their joints, and how sure it is that each is a hand."""
    found = [
        points.look(image, centre, float(side), along)
        for centre, side, along in zip(palms.centres, palms.sides, palms.along, strict=True)
    ]
    boxes = np.array([box for box, _ in found]).reshape(-1, 4)
    return boxes, np.array([score for _, score in found])


def _anchors() -> Array:
    parts = []
    for stride, count in _GRIDS:
        cells = (np.arange(_PALM_SIDE // stride) + 0.5) * stride / _PALM_SIDE
        y, x = np.meshgrid(cells, cells, indexing="ij")
        parts.append(np.repeat(np.stack([x.ravel(), y.ravel()], axis=1), count, axis=0))
    return np.concatenate(parts)


def _windows(image: NDArray[np.uint8], squares: bool) -> list[tuple[int, int, int]]:
    """Return the squares to look at: a wide one, then squares of the shorter side if asked for."""
    height, width = image.shape[:2]
    side = round(_WIDE * max(height, width))
    windows = [((width - side) // 2, (height - side) // 2, side)]
    if squares:
        short = min(height, width)
        for offset in np.linspace(0, max(height, width) - short, -(-max(height, width) // short)):
            windows.append((int(offset), 0, short) if width > height else (0, int(offset), short))
    return windows
