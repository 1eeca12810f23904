"""`Sprite`: a rigid thing painted once, then laid into any number of frames, moved and turned."""

from collections.abc import Callable, Sequence

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.worlds.painter import lay_over
from wordsight.worlds.sketch import Sketch, turned
from wordsight.worlds.view import View

__all__ = ["Sprite", "soft_shadow"]

_SOLID = 100  # opacity from which a pixel belongs to the thing; shadows and seams lie below
_DETAIL = 2.0
"""How much finer a sprite is painted than it is shown, so that turning it keeps it sharp."""


class Sprite:
    """The picture of a rigid thing.

    Args:
        sheet: ``(h, w, 4)`` premultiplied picture.
        scale: Pixels of the sheet per metre.
        origin: Column and row of the thing's own origin in the sheet.
    """

    def __init__(self, sheet: NDArray[np.uint8], scale: float, origin: ArrayLike) -> None:
        self._sheet = sheet
        self._scale = scale
        self._origin = np.asarray(origin, dtype=np.float64)
        height, width = sheet.shape[:2]
        corners = np.array([(0, 0), (width, 0), (0, height), (width, height)], dtype=np.float64)
        self._corners = (corners - self._origin) * (1.0, -1.0) / scale  # metres around the origin
        self._kept: tuple[tuple[float, ...], NDArray[np.uint8], tuple[int, int]] | None = None

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
        corner = np.asarray(sketch.layer.corner, dtype=np.float64)
        return cls(sketch.layer.finished(), view.scale, -corner)

    @property
    def outline(self) -> NDArray[np.float64]:
        """``(N, 2)`` metres around the origin: the convex hull of what is painted."""
        solid = np.argwhere(self._sheet[..., 3] > _SOLID)[:, ::-1]
        hull = np.asarray(cv2.convexHull(solid.astype(np.int32)), dtype=np.float64)[:, 0]
        return (hull + 0.5 - self._origin) * (1.0, -1.0) / self._scale

    def place(
        self,
        image: NDArray[np.uint8],
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
            angle: By how much it is turned, radians counter-clockwise.
            motion: Pixels it moves while the shutter is open.
            stretch: How much larger than painted.
        """
        key = (*(round(float(part), 4) for part in position), round(angle, 3), stretch, view.scale)
        if self._kept is None or self._kept[0] != key:
            self._kept = (key, *self._warped(view, position, angle, stretch))
        lay_over(image, self._kept[1], self._kept[2], motion)

    def _warped(
        self, view: View, position: Sequence[float], angle: float, stretch: float
    ) -> tuple[NDArray[np.uint8], tuple[int, int]]:
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
    """Return the soft dark spot that a thing of this width throws on the ground around it.

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
