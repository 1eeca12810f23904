"""Annotated pictures turned, cut out and put into wider ones: whether things are still found."""

from collections.abc import Callable, Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["CHANGES"]

Boxes = NDArray[np.float64]
Image = NDArray[np.uint8]
Part = tuple[Image, Boxes, NDArray[np.intp]]
"""A picture, boxes in it, and of which things of the whole picture they are."""

_GREY = 120  # around pictures
_LONGEST = 480  # side of what is cut out, pixels


def _turned(image: Image, boxes: Boxes, turns: int) -> Iterator[Part]:
    """Yield the picture after quarter turns to the left."""
    for _ in range(turns):
        left, top, right, bottom = boxes.T
        boxes = np.stack([top, image.shape[1] - right, bottom, image.shape[1] - left], axis=1)
        image = np.ascontiguousarray(np.rot90(image))
    yield image, boxes, np.arange(len(boxes))


def _cut_out(image: Image, boxes: Boxes, sides: float) -> Iterator[Part]:
    """Yield each thing alone, in a square so many times its size, as far as the picture goes."""
    for number, box in enumerate(boxes):
        middle, half = (box[:2] + box[2:]) / 2, sides * (box[2:] - box[:2]).max() / 2
        low = np.maximum(middle - half, 0).astype(int)
        high = np.minimum(middle + half, image.shape[1::-1]).astype(int)
        part = image[low[1] : high[1], low[0] : high[0]]
        factor = _LONGEST / max(part.shape[:2])
        shown = cv2.resize(part, None, fx=factor, fy=factor, interpolation=cv2.INTER_CUBIC)
        here = (box - np.tile(low, 2)) * factor
        yield np.asarray(shown, np.uint8), here[None], np.array([number])


def _set_in(image: Image, boxes: Boxes, times: int) -> Iterator[Part]:
    """Yield the picture in the middle of a grey one so many times as wide."""
    height, width = image.shape[:2]
    around = np.full((times * height, times * width, 3), _GREY, np.uint8)
    top, left = (times - 1) * height // 2, (times - 1) * width // 2
    around[top : top + height, left : left + width] = image
    yield around, boxes + np.array([left, top, left, top]), np.arange(len(boxes))


CHANGES: dict[str, Callable[[Image, Boxes], Iterator[Part]]] = {
    "turned by 90": lambda image, boxes: _turned(image, boxes, 1),
    "turned by 180": lambda image, boxes: _turned(image, boxes, 2),
    "turned by 270": lambda image, boxes: _turned(image, boxes, 3),
    "alone in 1.3 sides": lambda image, boxes: _cut_out(image, boxes, 1.3),
    "alone in 1.6 sides": lambda image, boxes: _cut_out(image, boxes, 1.6),
    "alone in 2.2 sides": lambda image, boxes: _cut_out(image, boxes, 2.2),
    "in 2 widths": lambda image, boxes: _set_in(image, boxes, 2),
    "in 3 widths": lambda image, boxes: _set_in(image, boxes, 3),
}
"""Ways to change a picture, by their names."""
