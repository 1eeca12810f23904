"""`Sketch`: drawing in the metres of a scene instead of the pixels of a picture."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.worlds.painter import Colour, Layer, shade
from wordsight.worlds.view import View

__all__ = ["Sketch", "rounded", "turned"]

_LIT, _UNLIT = 1.10, 0.78
"""Brightness of the sides of a round body towards the light and away from it."""


class Sketch:
    """A :class:`Layer` with the coordinates of a :class:`View`: metres, y upwards.

    Args:
        view: How metres become pixels.
        box: ``(2, 2)`` lower left and upper right corner of the part to draw on, in metres.
        light: Where the light comes from: -1 left, 1 right; smaller values are softer.
    """

    def __init__(self, view: View, box: ArrayLike, light: float = 0.0) -> None:
        self.view = view
        self.light = light
        corners = view.box(box)
        self.layer = Layer(np.add(corners, (-2, -2, 2, 2)))

    def polygon(self, points: ArrayLike, colour: Sequence[float]) -> None:
        """Fill the polygon through ``(N, 2)`` points."""
        self.layer.polygon(self.view.pixels(points), colour)

    def stroke(self, points: ArrayLike, width: float, colour: Sequence[float]) -> None:
        """Draw a line of constant width with round ends."""
        self.layer.stroke(self.view.pixels(points), width * self.view.scale, colour)

    def ellipse(
        self, centre: ArrayLike, axes: Sequence[float], colour: Sequence[float], angle: float = 0.0
    ) -> None:
        """Fill an ellipse with full ``axes``, turned clockwise by ``angle`` degrees."""
        scaled = [axis * self.view.scale for axis in axes]
        self.layer.ellipse(self.view.pixels(centre), scaled, colour, angle)

    def tube(
        self, points: ArrayLike, widths: Sequence[float], colour: Colour, *, lit: bool = True
    ) -> None:
        """Draw a round body along a chain of joints, lighter on the side of the light if lit."""
        pixels = self.view.pixels(points)
        thick = [max(width * self.view.scale, 1.0) for width in widths]
        if not lit or abs(self.light) < 1e-6:
            self.layer.limb(pixels, thick, colour)
            return
        self.layer.limb(pixels, thick, shade(colour, 1 - (1 - _UNLIT) * abs(self.light)))
        thin = [width * 0.74 for width in thick]
        side = math.copysign(0.11, self.light)
        shifted = [
            (x + side * width, y - 0.35 * side * width)
            for (x, y), width in zip(pixels.tolist(), thick, strict=True)
        ]
        self.layer.limb(shifted, thin, shade(colour, 1 + (_LIT - 1) * abs(self.light)))


def rounded(
    x1: float, y1: float, x2: float, y2: float, radius: float, *, steps: int = 5
) -> NDArray[np.float64]:
    """Return ``(N, 2)`` points of a rectangle with round corners."""
    radius = min(radius, abs(x2 - x1) / 2, abs(y2 - y1) / 2)
    corners = [
        (x2 - radius, y2 - radius),
        (x1 + radius, y2 - radius),
        (x1 + radius, y1 + radius),
        (x2 - radius, y1 + radius),
    ]
    points = []
    for quarter, (x, y) in enumerate(corners):
        angles = np.linspace(quarter * np.pi / 2, (quarter + 1) * np.pi / 2, steps)
        points.append(np.stack([x + radius * np.cos(angles), y + radius * np.sin(angles)], axis=1))
    return np.concatenate(points)


def turned(points: ArrayLike, angle: float) -> NDArray[np.float64]:
    """Turn ``(..., 2)`` points around the origin by ``angle`` radians, counter-clockwise."""
    cosine, sine = np.cos(angle), np.sin(angle)
    turn = np.array([[cosine, sine], [-sine, cosine]])
    return np.asarray(np.asarray(points, dtype=np.float64) @ turn)
