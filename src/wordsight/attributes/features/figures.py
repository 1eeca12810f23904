"""The object that stands out from the background of a picture."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["Figure", "find_figure", "gradient_histograms"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Picture = NDArray[np.uint8]

_LONGEST = 128  # pixels of the longer side for segmentation
_LEAST_SHARE, _MOST_SHARE = 0.002, 0.9  # of the picture; otherwise nothing stands out
_SPECK = 0.1  # of the largest component: smaller components are noise


def find_figure(picture: Picture) -> tuple[Mask, Picture]:
    """Segment what differs in colour from the border of a picture.

    Args:
        picture: RGB ``(H, W, 3)``.

    Returns:
        A mask of the figure, all true if nothing stands out; and the picture, both at most 128
        pixels wide and high.
    """
    scale = min(1.0, _LONGEST / max(picture.shape[:2]))
    size = tuple(max(1, round(side * scale)) for side in picture.shape[1::-1])
    small = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    smooth = cv2.GaussianBlur(small, (3, 3), 0)
    colours = cv2.cvtColor(smooth, cv2.COLOR_RGB2LAB).astype(np.float32)
    border = np.concatenate([colours[0], colours[-1], colours[:, 0], colours[:, -1]])
    distance = np.linalg.norm(colours - np.median(border, axis=0), axis=-1)
    levels = np.clip(distance * 2, 0, 255).astype(np.uint8)
    _, thresholded = cv2.threshold(levels, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    mask = _without_specks(np.asarray(thresholded, dtype=np.uint8))
    if not _LEAST_SHARE <= mask.mean() <= _MOST_SHARE:
        return np.ones(mask.shape, dtype=bool), small
    return mask, small


@dataclass(frozen=True)
class Figure:
    """The figure alone: its colour beside the background, its outline at one size, its extent.

    Attributes:
        side: Width and height to which the figure is scaled for its outline; a multiple of 16.
    """

    side: int = 32

    name = "figure"

    def describe(self, pictures: Sequence[Picture]) -> Array:
        """Return ``(N, D)``; D is 159 for a side of 32.

        Of the colour quartiles of three log ratios less the background, and medians; of the outline
        histograms of oriented gradients; of the extent logs of width, height and area as shares of
        the picture.
        """
        found = [find_figure(picture) for picture in pictures]
        outlines = gradient_histograms((self._outline(mask) for mask, _ in found), self.side)
        colours = np.stack([_colour_row(mask, small) for mask, small in found])
        extents = np.stack([_extent_row(mask) for mask, _ in found])
        return np.hstack([colours, extents, outlines])

    def _outline(self, mask: Mask) -> Picture:
        x1, y1, x2, y2 = _bounds(mask)
        # A square around the figure keeps its proportions: a 1 is narrow.
        half = max(x2 - x1, y2 - y1) / 2 * 1.15 + 1
        middle = ((x1 + x2) / 2, (y1 + y2) / 2)
        scale = self.side / (2 * half)
        affine = np.array(
            [[scale, 0, (half - middle[0]) * scale], [0, scale, (half - middle[1]) * scale]]
        )
        filled = mask.astype(np.uint8) * 255
        moved = cv2.warpAffine(filled, affine, (self.side, self.side), flags=cv2.INTER_LINEAR)
        return np.asarray(moved, dtype=np.uint8)


def gradient_histograms(grey: Iterable[Picture], side: int) -> Array:
    """Return ``(N, D)`` histograms of oriented gradients of square grey pictures."""
    cells = cv2.HOGDescriptor((side, side), (16, 16), (16, 16), (8, 8), 9)
    return np.stack([np.ravel(cells.compute(one)) for one in grey]).astype(np.float64)


def _colour_row(mask: Mask, small: Picture) -> Array:
    logs = np.log(small.astype(np.float64) + 8)
    red, green, blue = np.moveaxis(logs, -1, 0)
    row: list[float] = []
    for plane in (red - green, (red + green) / 2 - blue, logs.mean(axis=-1)):
        quartiles = np.percentile(plane[mask], [25, 50, 75])
        background = float(np.median(plane[~mask])) if not mask.all() else 0.0
        row += [*(quartiles - background), float(quartiles[1])]
    return np.array(row)


def _extent_row(mask: Mask) -> Array:
    x1, y1, x2, y2 = _bounds(mask)
    height, width = mask.shape
    return np.log([(x2 - x1) / width, (y2 - y1) / height, mask.mean()])


def _without_specks(mask: NDArray[np.uint8]) -> Mask:
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask)
    if count < 2:
        return mask > 0
    areas = stats[1:, cv2.CC_STAT_AREA]
    kept = 1 + np.flatnonzero(areas >= _SPECK * areas.max())
    return np.asarray(np.isin(labels, kept))


def _bounds(mask: Mask) -> tuple[int, int, int, int]:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
