"""Things that differ from the scene: patches of foreground without their shadows, and pairs."""

import cv2
import numpy as np

from wordsight.perception.figure_ground.blob import Blob, Mask, blobs_of
from wordsight.perception.figure_ground.colour import Picture
from wordsight.perception.figure_ground.shadow import without_shadow

__all__ = ["moving_things", "pair_in"]

_LEAST_SHARE = 0.0007  # of the picture: 54 pixels of 320 x 240
_CLEAR = 30.0  # colour distance at which a patch is half sure to be more than noise
_PAIR_WEIGHT = 0.95  # two halves are guessed, the patch was seen
_LEAST_ASPECT = 0.5  # width by height; narrower patches are one thing
_VALLEY = 0.6  # how much less high a patch must be between two things


def moving_things(mask: Mask, distance: Picture, lab: Picture, scene: Picture) -> list[Blob]:
    """Return the patches of foreground as things, those of two people side by side also halved.

    Args:
        mask: ``(H, W)`` 255 in the foreground.
        distance: ``(H, W)`` colour distance from the scene.
        lab: ``(H, W, 3)`` the picture in CIELAB.
        scene: ``(H, W, 3)`` the scene in CIELAB.
    """
    things = [
        piece.scored(_score(piece, distance))
        for blob in blobs_of(mask, int(_LEAST_SHARE * mask.size))
        for piece in without_shadow(blob, lab, scene)
    ]
    return things + [half for thing in things for half in pair_in(thing)]


def pair_in(blob: Blob) -> list[Blob]:
    """Return the two halves of a patch with a valley between two summits, or nothing."""
    if blob.width < max(8, _LEAST_ASPECT * blob.height):
        return []
    heights = cv2.blur(np.count_nonzero(blob.mask, axis=0).astype(np.float32)[None], (3, 1))[0]
    # The summits are at least a fifth of the width away from the edges and each other.
    edge = blob.width // 5
    inner = heights[edge : blob.width - edge]
    cut = edge + int(inner.argmin())
    if heights[cut] > _VALLEY * min(heights[:cut].max(initial=0), heights[cut:].max(initial=0)):
        return []
    halves = [_trimmed(blob, 0, cut), _trimmed(blob, cut, blob.width)]
    return [half.scored(_PAIR_WEIGHT * blob.score) for half in halves if half is not None]


def _trimmed(blob: Blob, left: int, right: int) -> Blob | None:
    rows = np.flatnonzero(blob.mask[:, left:right].any(axis=1))
    if not len(rows):
        return None
    return blob.piece(left, int(rows[0]), right, int(rows[-1]) + 1)


def _score(blob: Blob, distance: Picture) -> float:
    mean = cv2.mean(blob.crop(distance), blob.mask)[0]
    return float(0.5 + 0.5 * mean / (mean + _CLEAR))
