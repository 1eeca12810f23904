"""Shadows that things cast: darker than the scene, yet of its colour."""

import cv2
import numpy as np

from wordsight.perception.figure_ground.blob import Blob, Mask
from wordsight.perception.figure_ground.colour import Picture

__all__ = ["without_shadow"]

_DARKEST = 0.55  # of the scene's lightness; darker is a dark thing, not a shadow
_LIGHTEST = 0.98
_COLOUR_SLACK = 7.0  # CIELAB units
_LEAST_CORE = 0.35  # of the patch; with less, the patch is a thing that looks like a shadow
_GAP = 3  # pixels between two things that only their shadows connect
# CIELAB lightness and colour shrink together in the shade once black is counted from here:
# L + 16 is proportional to the cube root of the light (41 of OpenCV's 255 steps).
_BLACK = 40.8
_BLOCK = np.ones((3, 3), np.uint8)


def without_shadow(blob: Blob, lab: Picture, scene: Picture) -> list[Blob]:
    """Take the cast shadow off a moving patch, and part things that only shadows connect.

    Grey clothes before a grey road look like a shadow too. So the shadow only narrows the box:
    whatever lies between parts that cannot be shadow is kept.

    Args:
        blob: A patch that differs from the scene.
        lab: ``(H, W, 3)`` the picture in CIELAB.
        scene: ``(H, W, 3)`` the scene in CIELAB.

    Returns:
        The patch in one or more pieces, itself if it has no clear shadow.
    """
    shade = _shade(blob.crop(lab), blob.crop(scene))
    core = np.asarray(cv2.morphologyEx(blob.mask & ~shade, cv2.MORPH_OPEN, _BLOCK), np.uint8)
    size = cv2.countNonZero(core)
    if size < _LEAST_CORE * blob.area or size == blob.area:
        return [blob]
    return [_narrowed(blob, core, *run) for run in _runs(core)] or [blob]


def _shade(now: Picture, scene: Picture) -> Mask:
    seen, behind = now.astype(np.float32), scene.astype(np.float32)
    ratio = (seen[..., 0] + _BLACK) / (behind[..., 0] + _BLACK)
    faded = (behind[..., 1:] - 128) * ratio[..., None]
    off = np.abs(seen[..., 1:] - 128 - faded).max(axis=2)
    inside = (ratio > _DARKEST) & (ratio < _LIGHTEST) & (off < _COLOUR_SLACK)
    return np.where(inside, 255, 0).astype(np.uint8)


def _runs(core: Mask) -> list[tuple[int, int]]:
    """Return the ranges of columns that hold something, joining those closer than the gap."""
    columns = np.flatnonzero(core.any(axis=0))
    cuts = np.flatnonzero(np.diff(columns) > _GAP)
    starts = columns[np.concatenate([[0], cuts + 1])]
    ends = columns[np.concatenate([cuts, [len(columns) - 1]])] + 1
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


def _narrowed(blob: Blob, core: Mask, left: int, right: int) -> Blob:
    rows = np.flatnonzero(core[:, left:right].any(axis=1))
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    return blob.piece(left, top, right, bottom)
