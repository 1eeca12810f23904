"""`Layer`: a transparent sheet of smooth shapes to lay over a picture; textures of surfaces."""

import math
from collections.abc import Sequence
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.worlds.checks import Rng

__all__ = [
    "Colour",
    "Floats",
    "Image",
    "Layer",
    "cloudy",
    "gradient",
    "lay_over",
    "mix",
    "palette",
    "roughen",
    "shade",
]

Colour = tuple[int, int, int]
"""Red, green and blue from 0 to 255."""

Image = NDArray[np.uint8]
Floats = NDArray[np.float64]

_OVERSAMPLING = 2
_SHIFT = 4  # bits after the point in OpenCV's coordinates: shapes move by sixteenths of a pixel

_DIRECTIONS = 64  # in which round ends are drawn
_TURNS = np.arange(3 * _DIRECTIONS) * (2 * np.pi / _DIRECTIONS)
_CIRCLE = np.stack([np.cos(_TURNS), np.sin(_TURNS)], axis=1)  # three turns, to cut any half from


def palette(colours: str) -> tuple[Colour, ...]:
    """Read colours from hexadecimal numbers: ``"f4ceb0 e4b694"``."""
    red_green_blue = [bytes.fromhex(colour) for colour in colours.split()]
    return tuple((red, green, blue) for red, green, blue in red_green_blue)


@lru_cache(maxsize=4096)  # figures ask for the same few dozen shades in every frame
def shade(colour: Colour, factor: float) -> Colour:
    """Make a colour darker (``factor`` below 1) or lighter (above 1)."""
    red, green, blue = (round(min(max(part * factor, 0.0), 255.0)) for part in colour)
    return red, green, blue


def mix(one: Colour, other: Colour, share: float) -> Colour:
    """Blend two colours; ``share`` is how much of the second."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


class Layer:
    """A transparent sheet over part of a picture; all points are pixels of that picture.

    Shapes are drawn at twice the size and averaged down, which smooths their edges. The sheet
    covers only the part of the picture it needs, so that small things are cheap to draw.

    Args:
        box: x1, y1, x2, y2 of the part covered, in pixels; rounded outwards.

    Attributes:
        corner: Column and row of the sheet's upper left corner in the picture.
        sheet: ``(h, w, 4)`` red, green, blue and opacity at twice the picture's resolution;
            colours are premultiplied by the opacity.
        scale: Pixels per unit of length.
    """

    scale = 1.0

    def __init__(self, box: ArrayLike) -> None:
        x1, y1, x2, y2 = np.asarray(box, dtype=np.float64)
        self.corner = (int(np.floor(x1)), int(np.floor(y1)))
        width = max(int(np.ceil(x2)) - self.corner[0], 1) * _OVERSAMPLING
        height = max(int(np.ceil(y2)) - self.corner[1], 1) * _OVERSAMPLING
        self.sheet: Image = np.zeros((height, width, 4), dtype=np.uint8)

    def polygon(self, points: ArrayLike, colour: Colour) -> None:
        """Fill the polygon through ``(N, 2)`` points."""
        corners = self._fixed(self._pixels(points))
        cv2.fillPoly(self.sheet, [corners], (*colour, 255), shift=_SHIFT)

    def rectangle(self, x1: float, y1: float, x2: float, y2: float, colour: Colour) -> None:
        """Fill the rectangle between two corners."""
        self.polygon([(x1, y1), (x2, y1), (x2, y2), (x1, y2)], colour)

    def stroke(self, points: ArrayLike, width: float, colour: Colour) -> None:
        """Draw a line with round ends through ``(N, 2)`` points."""
        thickness = max(round(width * self.scale * _OVERSAMPLING), 1)
        line = [self._fixed(self._pixels(points))]
        cv2.polylines(self.sheet, line, False, (*colour, 255), thickness, shift=_SHIFT)

    def limb(self, points: ArrayLike, widths: Sequence[float], colour: Colour) -> None:
        """Fill a chain of round joints of the given widths, joined by tapered parts."""
        self.limb_pixels(self._pixels(points), [width * self.scale for width in widths], colour)

    def limb_pixels(self, pixels: ArrayLike, widths: Sequence[float], colour: Colour) -> None:
        """Fill a chain of round joints like :meth:`limb`; points and widths are in pixels."""
        fine = _OVERSAMPLING << _SHIFT
        # Plain numbers: arrays of two or four would take longer than the drawing.
        joints = self._fixed(pixels)[:, 0].tolist()
        radii = [max(round(width * fine / 2), 1) for width in widths]
        for k in range(max(len(joints) - 1, 1)):
            last = min(k + 1, len(joints) - 1)
            outline = _capsule(joints[k], joints[last], radii[k], radii[last])
            cv2.fillConvexPoly(self.sheet, outline, (*colour, 255), shift=_SHIFT)

    def ellipse(
        self, centre: ArrayLike, axes: Sequence[float], colour: Colour, angle: float = 0.0
    ) -> None:
        """Fill an ellipse with full ``axes``, turned clockwise by ``angle`` degrees."""
        fine, half_pixel = _OVERSAMPLING << _SHIFT, (1 << _SHIFT) // 2
        x, y = (
            round((at - edge) * fine) - half_pixel
            for at, edge in zip(self._pixels(centre).tolist(), self.corner, strict=True)
        )
        half = [max(round(axis * self.scale * fine / 2), 1) for axis in axes]
        paint = (*colour, 255)
        cv2.ellipse(self.sheet, (x, y), half, angle, 0, 360, paint, cv2.FILLED, shift=_SHIFT)

    def tint(self, field: NDArray[np.float32]) -> None:
        """Multiply the colours by ``(h, w)`` values around 1 that cover the whole sheet."""
        height, width = self.sheet.shape[:2]
        field = np.asarray(cv2.resize(field, (width, height)), dtype=np.float32)
        coloured = self.sheet[..., :3] * field[..., None]
        # Premultiplied colours must not exceed their opacity.
        self.sheet[..., :3] = np.minimum(coloured, self.sheet[..., 3:])

    def mirror(self) -> None:
        """Swap left and right."""
        self.sheet = np.ascontiguousarray(self.sheet[:, ::-1])

    def finished(self) -> Image:
        """Return the sheet at the picture's resolution, ``(H, W, 4)`` premultiplied."""
        height, width = self.sheet.shape[:2]
        size = (width // _OVERSAMPLING, height // _OVERSAMPLING)
        return np.asarray(cv2.resize(self.sheet, size, interpolation=cv2.INTER_AREA), np.uint8)

    def cropped(self) -> tuple[Image, tuple[int, int]]:
        """Return the part of the finished sheet that is painted, and its corner."""
        sheet = self.finished()
        rows, columns = np.nonzero(sheet[..., 3])
        top, left = int(rows.min()), int(columns.min())
        part = sheet[top : rows.max() + 1, left : columns.max() + 1]
        return np.ascontiguousarray(part), (self.corner[0] + left, self.corner[1] + top)

    def onto(self, image: Image, motion: Sequence[float] = (0.0, 0.0)) -> None:
        """Lay the sheet over ``image``, blurred along ``motion`` pixels of movement."""
        lay_over(image, self.finished(), self.corner, motion)

    def _pixels(self, points: ArrayLike) -> Floats:
        return np.asarray(points, dtype=np.float64)

    def _fixed(self, pixels: ArrayLike) -> NDArray[np.int32]:
        """Turn picture pixels into OpenCV's fixed-point pixels of the sheet, ``(N, 1, 2)``."""
        # OpenCV counts from pixel centres, we count from corners.
        fine, half = _OVERSAMPLING << _SHIFT, (1 << _SHIFT) // 2
        shift = (self.corner[0] * fine + half, self.corner[1] * fine + half)
        local = np.asarray(pixels, dtype=np.float64).reshape(-1, 1, 2) * fine - shift
        return np.rint(local).astype(np.int32)


def lay_over(
    image: Image, sheet: Image, corner: tuple[int, int], motion: Sequence[float] = (0.0, 0.0)
) -> None:
    """Lay a premultiplied ``(h, w, 4)`` sheet over an RGB image in place, cut at its borders.

    Args:
        image: ``(H, W, 3)`` picture to change.
        sheet: What to lay over it.
        corner: Column and row of the sheet's upper left corner in the image.
        motion: Pixels it moves right and down while the shutter is open; blurs it.
    """
    sheet, corner = _motion_blurred(sheet, corner, motion)
    x, y = corner
    left, top = max(-x, 0), max(-y, 0)
    right = min(sheet.shape[1], image.shape[1] - x)
    bottom = min(sheet.shape[0], image.shape[0] - y)
    if right <= left or bottom <= top:
        return
    part = sheet[top:bottom, left:right]
    below = image[y + top : y + bottom, x + left : x + right]
    colour = cv2.cvtColor(part, cv2.COLOR_RGBA2RGB)
    clear = cv2.cvtColor(cv2.bitwise_not(part[..., 3]), cv2.COLOR_GRAY2RGB)
    below[...] = cv2.add(cv2.multiply(below, clear, scale=1.0 / 255.0), colour)


def _motion_blurred(
    sheet: Image, corner: tuple[int, int], motion: Sequence[float]
) -> tuple[Image, tuple[int, int]]:
    # A box filter along each axis: exact for straight movement along an axis, close otherwise.
    across, down = (round(abs(part)) for part in motion)
    if across < 2 and down < 2:
        return sheet, corner
    pad_x, pad_y = across // 2 + 1, down // 2 + 1
    padded = cv2.copyMakeBorder(
        sheet, pad_y, pad_y, pad_x, pad_x, cv2.BORDER_CONSTANT, value=(0, 0, 0, 0)
    )
    blurred = cv2.blur(padded, (max(across, 1), max(down, 1)))
    return np.asarray(blurred, dtype=np.uint8), (corner[0] - pad_x, corner[1] - pad_y)


def _capsule(
    one: Sequence[int], other: Sequence[int], radius1: int, radius2: int
) -> NDArray[np.int32]:
    """Return the outline of two round joints and what lies between them."""
    along = math.atan2(other[1] - one[1], other[0] - one[0])
    ahead = round(along / (2 * math.pi) * _DIRECTIONS) + _DIRECTIONS
    outline = np.empty((2, _DIRECTIONS // 4 + 1, 2))
    for half, (centre, radius, middle) in enumerate(
        ((other, radius2, ahead), (one, radius1, ahead + _DIRECTIONS // 2))
    ):
        first, last = middle - _DIRECTIONS // 4, middle + _DIRECTIONS // 4
        np.multiply(_CIRCLE[first : last + 1 : 2], radius, out=outline[half])
        outline[half] += centre
    return outline.reshape(-1, 2).astype(np.int32)


def gradient(size: tuple[int, int], above: Colour, below: Colour) -> Image:
    """Return a ``(H, W, 3)`` picture that changes from one colour at the top to another."""
    share = np.linspace(0.0, 1.0, size[1])[:, None, None]
    column = np.asarray(above) * (1.0 - share) + np.asarray(below) * share
    return np.repeat(np.round(column).astype(np.uint8), size[0], axis=1)


def cloudy(
    size: tuple[int, int], cell: float, rng: Rng, *, octaves: int = 3
) -> NDArray[np.float32]:
    """Return ``(H, W)`` smooth noise around 0, roughly from -1 to 1.

    The largest lumps have ``cell`` pixels; each of the ``octaves`` that are added up halves it.
    """
    width, height = size
    total = np.zeros((height, width), dtype=np.float32)
    for octave in range(octaves):
        step = max(cell / 2**octave, 1.0)
        shape = (int(height / step) + 2, int(width / step) + 2)
        grid = rng.uniform(-1.0, 1.0, shape).astype(np.float32)
        lumps = cv2.resize(grid, (width, height), interpolation=cv2.INTER_CUBIC)
        total += np.asarray(lumps) / (2**octave)
    return total * np.float32(0.7)


def roughen(
    image: Image, strength: float, rng: Rng, *, cell: float = 24.0, octaves: int = 4
) -> None:
    """Make a ``(H, W, 3)`` surface uneven in place; ``strength`` 1 varies it by about 30 %."""
    if strength <= 0.0:
        return
    height, width = image.shape[:2]
    field = 1.0 + 0.3 * strength * cloudy((width, height), cell, rng, octaves=octaves)
    image[...] = np.clip(image * field[..., None], 0, 255).astype(np.uint8)
