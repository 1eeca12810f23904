"""`Blob`: a connected set of pixels extracted from a mask, and its appearance as a vector.

The vector changes little with light, position and size. It has four blocks, each scaled to about
unit length so that none dominates a distance: a histogram over 8 hues and 3 greys; mean and
deviation of the colours; shape; and the directions of edges with the lightness from top to bottom.
Histograms of oriented gradients over a grid of cells follow it: they distinguish things better, but
only many examples show which of them matter, so that codebooks leave them out.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = [
    "APPEARANCE_SIZE",
    "OUTLINE_SIZE",
    "Blob",
    "Mask",
    "Picture",
    "above",
    "blobs_of",
    "boxes_of",
    "colour_distance",
    "components",
    "cut_out",
    "describe",
    "gradient",
    "outlines",
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


_HUES = 8
_GREYS = 3
_DIRECTIONS = 8
_LEAST_CHROMA = 9.0  # CIELAB units; below this the hue is noise
_DARK, _BRIGHT = 0.6, 1.2  # of the mean lightness of the image: limits of the greys
_LEAST_EDGE = 80.0  # Sobel response of an edge, a lightness step of about 20 of 255
_STEP = 40.0  # CIELAB units that correspond to 1
APPEARANCE_SIZE = (_HUES + _GREYS) + 6 + 4 + (_DIRECTIONS + 1 + 3)
"""Length of the appearance vector without outlines."""

_CROP = 32  # pixels of a side to which boxes are scaled
_GRID = cv2.HOGDescriptor((_CROP, _CROP), (16, 16), (16, 16), (8, 8), 9)
OUTLINE_SIZE = _GRID.getDescriptorSize()
"""Length of the outlines that follow it in detections."""


def describe(blobs: list[Blob], lab: Picture) -> NDArray[np.float32]:
    """Compute the appearance of regions.

    Lightness is relative to the mean of the image, so that a change of light has little effect.

    Args:
        blobs: N regions; one with an appearance keeps it.
        lab: ``(H, W, 3)`` image in CIELAB.

    Returns:
        ``(N, APPEARANCE_SIZE)`` numbers, most of them between -1 and 1.
    """
    rows = np.zeros((len(blobs), APPEARANCE_SIZE), dtype=np.float32)
    light = float(cv2.mean(lab)[0]) if blobs else 0.0
    area = lab.shape[0] * lab.shape[1]
    for row, blob in zip(rows, blobs, strict=True):
        if blob.appearance is not None:
            row[:] = blob.appearance
        else:
            row[:11] = _tones(blob.crop(lab), blob, light)
            row[11:17] = _colours(blob.crop(lab), blob, light)
            row[17:21] = _shape(blob, area, lab.shape[0])
            row[21:30] = _edges(blob.crop(lab), blob)
            row[30:] = _run(blob.crop(lab), blob)
    return rows


def outlines(grey: Picture, boxes: NDArray[np.float64]) -> NDArray[np.float32]:
    """Compute the histograms of oriented gradients of boxes, each scaled to one size.

    Args:
        grey: ``(H, W)`` lightness.
        boxes: ``(N, 4)`` corners in its pixels.

    Returns:
        ``(N, OUTLINE_SIZE)`` numbers between 0 and 1.
    """
    rows = np.zeros((len(boxes), OUTLINE_SIZE), dtype=np.float32)
    height, width = grey.shape
    for row, (x1, y1, x2, y2) in zip(rows, boxes.tolist(), strict=True):
        left, top = min(max(int(x1), 0), width - 1), min(max(int(y1), 0), height - 1)
        right, bottom = max(left + 1, int(np.ceil(x2))), max(top + 1, int(np.ceil(y2)))
        crop = cv2.resize(grey[top:bottom, left:right], (_CROP, _CROP))
        row[:] = np.ravel(_GRID.compute(crop))
    return rows


def _tones(lab: Picture, blob: Blob, light: float) -> NDArray[np.float32]:
    tones = _HUE_OF[lab[..., 1], lab[..., 2]]
    grey = _HUES + (lab[..., 0] > _DARK * light).view(np.uint8) + (lab[..., 0] > _BRIGHT * light)
    return _histogram(np.where(tones == _HUES, grey, tones), blob, _HUES + _GREYS)


def _colours(lab: Picture, blob: Blob, light: float) -> NDArray[np.float64]:
    mean, spread = cv2.meanStdDev(lab, mask=blob.mask)
    values = np.concatenate([mean.ravel() - (light, 128.0, 128.0), spread.ravel()])
    return np.clip(values / _COLOUR_SCALE, -1, 1)


_COLOUR_SCALE = 2 * _STEP * np.array([2.0, 1.0, 1.0, 2.0, 1.0, 1.0])  # lightness counts 0 to 255


def _shape(blob: Blob, area: int, height: int) -> tuple[float, ...]:
    box = blob.width * blob.height
    return (
        0.5 * float(np.log2(blob.height / blob.width)),
        0.2 * float(np.log2(100.0 * box / area)),
        0.5 * blob.area / box,
        blob.height / height,
    )


def _edges(lab: Picture, blob: Blob) -> NDArray[np.float32]:
    light = np.ascontiguousarray(lab[..., 0])
    dx = cv2.Sobel(light, cv2.CV_32F, 1, 0, ksize=3)
    dy = cv2.Sobel(light, cv2.CV_32F, 0, 1, ksize=3)
    size, angle = cv2.cartToPolar(dx, dy)
    # Opposite directions are the same edge.
    direction = (angle * (_DIRECTIONS / np.pi)).astype(np.uint8) % _DIRECTIONS
    direction[size < _LEAST_EDGE] = _DIRECTIONS
    return _histogram(direction, blob, _DIRECTIONS + 1)


def _run(lab: Picture, blob: Blob) -> NDArray[np.float64]:
    """Return the relative lightness of the upper, middle and lower third."""
    cuts = [blob.height * third // 3 for third in range(4)]
    means = np.array(
        [cv2.mean(lab[top:bottom], blob.mask[top:bottom])[0] for top, bottom in pairwise(cuts)]
    )
    run: NDArray[np.float64] = (means - means.mean()) / (2 * _STEP)
    return run


def _histogram(values: Picture, blob: Blob, bins: int) -> NDArray[np.float32]:
    counts = cv2.calcHist([values.astype(np.uint8, copy=False)], [0], blob.mask, [bins], [0, bins])
    # With square roots, the Euclidean distance is the Hellinger distance of the histograms.
    return np.sqrt(counts.ravel() / max(1, blob.area))


def _hue_table() -> Picture:
    """Return the hue bin for every pair of 8-bit a and b; greys have the bin after the last."""
    a, b = np.meshgrid(np.arange(256) - 128.0, np.arange(256) - 128.0, indexing="ij")
    hue = np.floor((np.arctan2(b, a) + np.pi) * (_HUES / (2 * np.pi))).astype(int) % _HUES
    return np.where(np.hypot(a, b) < _LEAST_CHROMA, _HUES, hue).astype(np.uint8)


_HUE_OF = _hue_table()
