"""`Blob`: a connected set of pixels, extracted from a mask; and colour distances in CIELAB."""

from dataclasses import dataclass
from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Blob",
    "Mask",
    "Picture",
    "above",
    "blobs_of",
    "boxes_of",
    "colour_distance",
    "components",
    "cut_out",
    "gradient",
    "to_lab",
    "weigh",
]


Mask = NDArray[np.uint8]
Pixel = TypeVar("Pixel", bound=np.generic)


@dataclass(frozen=True, eq=False, slots=True)
class Blob:
    """A connected set of pixels.

    Attributes:
        x1: Left edge of its box in pixels of the scaled image.
        y1: Upper edge.
        x2: Right edge, exclusive.
        y2: Lower edge, exclusive.
        mask: ``(y2 - y1, x2 - x1)`` 255 inside the blob, 0 elsewhere in its box.
        area: Number of pixels.
        score: Confidence that it is an object, 0 to 1.
        appearance: ``(D,)`` appearance, if known.
    """

    x1: int
    y1: int
    x2: int
    y2: int
    mask: Mask
    area: int
    score: float = 0.0
    appearance: NDArray[np.float32] | None = None

    @property
    def width(self) -> int:
        """Width of the box in pixels."""
        return self.x2 - self.x1

    @property
    def height(self) -> int:
        """Height of the box in pixels."""
        return self.y2 - self.y1

    def crop(self, picture: NDArray[Pixel]) -> NDArray[Pixel]:
        """Return the part of an image inside the box, without copying."""
        return picture[self.y1 : self.y2, self.x1 : self.x2]

    def covered(self, mask: Mask) -> float:
        """Return the share of the blob that a mask of the whole image covers."""
        return float(cv2.countNonZero(self.crop(mask) & self.mask) / self.area)

    def scored(self, score: float) -> "Blob":
        """Return the same blob with another score."""
        return Blob(self.x1, self.y1, self.x2, self.y2, self.mask, self.area, score)

    def described(self, appearance: NDArray[np.float32]) -> "Blob":
        """Return the same blob with its appearance."""
        return Blob(*self._box(), self.mask, self.area, self.score, appearance)

    def shifted(self, dx: int, dy: int) -> "Blob":
        """Return the blob moved right and down."""
        x1, y1, x2, y2 = self._box()
        box = x1 + dx, y1 + dy, x2 + dx, y2 + dy
        return Blob(*box, self.mask, self.area, self.score, self.appearance)

    def piece(self, left: int, top: int, right: int, bottom: int) -> "Blob":
        """Return the part of the blob in a window relative to the corner of its box."""
        mask = np.ascontiguousarray(self.mask[top:bottom, left:right])
        box = self.x1 + left, self.y1 + top, self.x1 + right, self.y1 + bottom
        return Blob(*box, mask, int(cv2.countNonZero(mask)), self.score)

    def _box(self) -> tuple[int, int, int, int]:
        return self.x1, self.y1, self.x2, self.y2


def blobs_of(mask: Mask, least_area: int, *, least_side: int = 3) -> list[Blob]:
    """Return the 4-connected blobs of a mask that are large enough.

    Args:
        mask: ``(H, W)`` not 0 inside.
        least_area: Least number of pixels.
        least_side: Least width and height.

    Returns:
        The blobs in the order of their first pixel.
    """
    labels, stats = components(mask)
    fits = (stats[:, cv2.CC_STAT_AREA] >= least_area) & (stats[:, 2:4].min(axis=1) >= least_side)
    fits[0] = False  # the background
    return [cut_out(labels, stats[index], index) for index in np.flatnonzero(fits).tolist()]


def components(mask: Mask) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Label the 4-connected components of a mask.

    Returns:
        ``(H, W)`` label of each pixel, 0 outside; and ``(N, 5)`` left, top, width, height and area
        of each component, the first row being the background.
    """
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=4)
    return np.asarray(labels, np.int32), np.asarray(stats, np.int32)


def cut_out(labels: NDArray[np.int32], stats: NDArray[np.int32], index: int) -> Blob:
    """Return the component ``index`` of a label image, given its row of statistics."""
    x, y, width, height, area = stats.tolist()
    inside = (labels[y : y + height, x : x + width] == index).view(np.uint8) * np.uint8(255)
    return Blob(x, y, x + width, y + height, inside, area)


def boxes_of(blobs: list[Blob]) -> NDArray[np.float64]:
    """Return the ``(N, 4)`` boxes of blobs in pixels of the scaled image."""
    rows = [(blob.x1, blob.y1, blob.x2, blob.y2) for blob in blobs]
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


Picture = NDArray[np.uint8]

# OpenCV scales lightness to 0..255 and keeps a and b in their own units, so lightness has half the
# weight of colour.
_WEIGHTS = np.array([[0.5, 1.0, 1.0]], dtype=np.float32)
_CROSS = cv2.getStructuringElement(cv2.MORPH_RECT, (3, 3))


def to_lab(rgb: Picture) -> Picture:
    """Convert ``(H, W, 3)`` RGB into slightly smoothed 8-bit CIELAB."""
    smooth = cv2.GaussianBlur(rgb, (3, 3), 0)
    return np.asarray(cv2.cvtColor(smooth, cv2.COLOR_RGB2LAB), dtype=np.uint8)


def weigh(difference: Picture) -> Picture:
    """Return the ``(H, W)`` weighted sum of the channels of an ``(H, W, 3)`` CIELAB difference."""
    return np.asarray(cv2.transform(difference, _WEIGHTS), dtype=np.uint8)


def colour_distance(one: Picture, other: Picture) -> Picture:
    """Return the ``(H, W)`` distance of two CIELAB images, 0 to 255; about 5 is just visible."""
    return weigh(np.asarray(cv2.absdiff(one, other), dtype=np.uint8))


def above(values: Picture, limit: float) -> Picture:
    """Return an ``(H, W)`` mask, 255 where ``values`` are above the limit."""
    return np.asarray(cv2.threshold(values, limit, 255, cv2.THRESH_BINARY)[1], dtype=np.uint8)


def gradient(lab: Picture) -> Picture:
    """Return the ``(H, W)`` largest colour step around each pixel."""
    steps = cv2.morphologyEx(lab, cv2.MORPH_GRADIENT, _CROSS)
    return weigh(np.asarray(steps, dtype=np.uint8))
