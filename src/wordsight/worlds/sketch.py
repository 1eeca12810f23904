"""Drawing in the metres of a scene: `View`, `Sketch`, and `Sprite` for rigid things."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import ArrayLike

from wordsight.worlds.painter import Colour, Floats, Image, Layer, lay_over, shade

__all__ = ["SIZE", "Point", "Sketch", "Sprite", "View", "moved", "rounded", "soft_shadow", "turned"]

SIZE = (640, 480)
"""Width and height of the frames of all worlds in pixels."""

Point = tuple[float, float]
"""Metres right and up."""

_LIT, _UNLIT = 1.10, 0.78
"""Brightness of the sides of a round body towards the light and away from it."""

_SOLID = 100  # opacity from which a pixel belongs to the thing; shadows and seams lie below
_DETAIL = 2.0
"""How much finer a sprite is painted than it is shown, so that turning it keeps it sharp."""


@dataclass(frozen=True)
class View:
    """A camera that looks straight at a vertical plane.

    Attributes:
        scale: Pixels per metre.
        centre: Column of x = 0, in pixels.
        ground: Row of y = 0, in pixels; y grows upwards in the scene and downwards in the picture.
    """

    scale: float
    centre: float
    ground: float

    def pixels(self, points: ArrayLike) -> Floats:
        """Turn ``(..., 2)`` metres into ``(..., 2)`` columns and rows."""
        points = np.asarray(points, dtype=np.float64)
        return points * (self.scale, -self.scale) + (self.centre, self.ground)

    def metres(self, pixels: ArrayLike) -> Floats:
        """Turn ``(..., 2)`` columns and rows into ``(..., 2)`` metres."""
        pixels = np.asarray(pixels, dtype=np.float64)
        return (pixels - (self.centre, self.ground)) / (self.scale, -self.scale)

    def box(self, points: ArrayLike) -> Floats:
        """Return the ``(..., 4)`` pixel boxes x1, y1, x2, y2 around ``(..., N, 2)`` metres."""
        pixels = self.pixels(points)
        return np.concatenate([pixels.min(axis=-2), pixels.max(axis=-2)], axis=-1)


class Sketch(Layer):
    """A :class:`Layer` with the coordinates of a :class:`View`: metres, y upwards.

    Args:
        view: How metres become pixels.
        box: ``(2, 2)`` lower left and upper right corner of the part to draw on, in metres.
        light: Where the light comes from: -1 left, 1 right; smaller values are softer.
    """

    def __init__(self, view: View, box: ArrayLike, light: float = 0.0) -> None:
        super().__init__(np.add(view.box(box), (-2, -2, 2, 2)))
        self.view = view
        self.scale = view.scale
        self.light = light

    def _pixels(self, points: ArrayLike) -> Floats:
        return self.view.pixels(points)

    def tube(
        self, points: ArrayLike, widths: Sequence[float], colour: Colour, *, lit: bool = True
    ) -> None:
        """Draw a round body along a chain of joints, lighter on the side of the light if lit."""
        pixels = self.view.pixels(points)
        thick = [max(width * self.scale, 1.0) for width in widths]
        if not lit or abs(self.light) < 1e-6:
            self.limb_pixels(pixels, thick, colour)
            return
        self.limb_pixels(pixels, thick, shade(colour, 1 - (1 - _UNLIT) * abs(self.light)))
        thin = [width * 0.74 for width in thick]
        side = math.copysign(0.11, self.light)
        shifted = [
            (x + side * width, y - 0.35 * side * width)
            for (x, y), width in zip(pixels.tolist(), thick, strict=True)
        ]
        self.limb_pixels(shifted, thin, shade(colour, 1 + (_LIT - 1) * abs(self.light)))


def rounded(x1: float, y1: float, x2: float, y2: float, radius: float) -> Floats:
    """Return ``(N, 2)`` points of a rectangle with round corners."""
    radius = min(radius, abs(x2 - x1) / 2, abs(y2 - y1) / 2)
    left, right, low, high = x1 + radius, x2 - radius, y1 + radius, y2 - radius
    points = []
    for quarter, (x, y) in enumerate([(right, high), (left, high), (left, low), (right, low)]):
        angles = np.linspace(quarter * np.pi / 2, (quarter + 1) * np.pi / 2, 5)
        points.append(np.stack([x + radius * np.cos(angles), y + radius * np.sin(angles)], axis=1))
    return np.concatenate(points)


def turned(points: ArrayLike, angle: float) -> Floats:
    """Turn ``(..., 2)`` points around the origin by ``angle`` radians, counter-clockwise."""
    cosine, sine = np.cos(angle), np.sin(angle)
    turn = np.array([[cosine, sine], [-sine, cosine]])
    return np.asarray(np.asarray(points, dtype=np.float64) @ turn)


def moved(points: ArrayLike, places: Floats) -> Floats:
    """Return ``(T, N, 2)`` points that move and turn with ``(T, 3)`` x, y and angles."""
    return np.stack([turned(points, place[2]) + place[:2] for place in places])


class Sprite:
    """A rigid thing painted once, then laid into any number of frames, moved and turned.

    Args:
        sheet: ``(h, w, 4)`` premultiplied picture.
        scale: Pixels of the sheet per metre.
        origin: Column and row of the thing's own origin in the sheet.
    """

    def __init__(self, sheet: Image, scale: float, origin: ArrayLike) -> None:
        self._sheet = sheet
        self._scale = scale
        self._origin = np.asarray(origin, dtype=np.float64)
        height, width = sheet.shape[:2]
        corners = np.array([(0, 0), (width, 0), (0, height), (width, height)], dtype=np.float64)
        self._corners = (corners - self._origin) * (1.0, -1.0) / scale  # metres around the origin
        self._kept: tuple[tuple[float, ...], Image, tuple[int, int]] | None = None

    @classmethod
    def painted(
        cls, paint: Callable[[Sketch], None], box: ArrayLike, scale: float, *, light: float = 0.0
    ) -> "Sprite":
        """Paint a sprite.

        Args:
            paint: Draws the thing around its own origin, in metres.
            box: ``(2, 2)`` lower left and upper right corner of what is drawn, in metres.
            scale: Pixels per metre in the pictures it will be shown in.
            light: Where the light comes from, as in :class:`Sketch`.
        """
        view = View(scale * _DETAIL, 0.0, 0.0)
        sketch = Sketch(view, box, light)
        paint(sketch)
        corner = np.asarray(sketch.corner, dtype=np.float64)
        return cls(sketch.finished(), view.scale, -corner)

    @property
    def outline(self) -> Floats:
        """``(N, 2)`` metres around the origin: the convex hull of what is painted."""
        solid = np.argwhere(self._sheet[..., 3] > _SOLID)[:, ::-1]
        hull = np.asarray(cv2.convexHull(solid.astype(np.int32)), dtype=np.float64)[:, 0]
        return (hull + 0.5 - self._origin) * (1.0, -1.0) / self._scale

    def place(
        self,
        image: Image,
        view: View,
        position: Sequence[float],
        angle: float = 0.0,
        motion: Sequence[float] = (0.0, 0.0),
        stretch: float = 1.0,
    ) -> None:
        """Lay the thing over ``image`` in place.

        Args:
            image: ``(H, W, 3)`` RGB.
            view: How metres become pixels.
            position: Where its origin lies, in metres.
            angle: Radians by which it is turned counter-clockwise.
            motion: Pixels it moves while the shutter is open.
            stretch: How much larger than painted.
        """
        key = (*(round(float(part), 4) for part in position), round(angle, 3), stretch, view.scale)
        if self._kept is None or self._kept[0] != key:
            self._kept = (key, *self._warped(view, position, angle, stretch))
        lay_over(image, self._kept[1], self._kept[2], motion)

    def _warped(
        self, view: View, position: Sequence[float], angle: float, stretch: float
    ) -> tuple[Image, tuple[int, int]]:
        centre = view.pixels(position)
        corners = turned(self._corners, angle) * (view.scale * stretch, -view.scale * stretch)
        low = np.floor(corners.min(axis=0) + centre).astype(int) - 1
        size = np.ceil(corners.max(axis=0) + centre).astype(int) + 1 - low
        zoom = view.scale * stretch / self._scale
        cosine, sine = zoom * np.cos(angle), zoom * np.sin(angle)
        linear = np.array([[cosine, sine], [-sine, cosine]])  # rows grow downwards
        # OpenCV maps pixel centres, we count from corners.
        shift = centre - low - linear @ (self._origin - 0.5) - 0.5
        matrix = np.column_stack([linear, shift])
        warped = cv2.warpAffine(self._sheet, matrix, (int(size[0]), int(size[1])))
        return np.asarray(warped, dtype=np.uint8), (int(low[0]), int(low[1]))


def soft_shadow(width: float, height: float, scale: float, darkness: float) -> Sprite:
    """Return the soft dark spot that a thing throws on the ground around it.

    Args:
        width: Metres across.
        height: Metres from front to back, as seen.
        scale: Pixels per metre in the pictures it will be shown in.
        darkness: From 0 to 1.
    """
    pixels = (max(int(width * scale * 1.5), 4), max(int(height * scale * 2.5), 4))
    alpha = np.zeros((pixels[1], pixels[0]), dtype=np.float32)
    centre = (pixels[0] // 2, pixels[1] // 2)
    axes = (max(int(width * scale / 2), 1), max(int(height * scale / 2), 1))
    cv2.ellipse(alpha, centre, axes, 0, 0, 360, (darkness * 255,), cv2.FILLED)
    alpha = np.asarray(cv2.GaussianBlur(alpha, (0, 0), max(height * scale * 0.3, 0.8)))
    sheet = np.zeros((*alpha.shape, 4), dtype=np.uint8)
    sheet[..., 3] = np.round(alpha)
    return Sprite(sheet, scale, (pixels[0] / 2, pixels[1] / 2))
