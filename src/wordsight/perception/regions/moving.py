"""Regions that differ from the background: blobs of foreground without their shadows.

A blob may contain two people side by side, and one person may be split into two blobs; both
alternatives are returned.
"""

from itertools import permutations

import cv2
import numpy as np

from wordsight.perception.regions.blob import Blob, Mask, Picture, blobs_of

__all__ = ["join_stacks", "moving_regions", "split_pair", "without_shadow"]


# Shadows are darker than the background and have its colour.

_DARKEST = 0.55  # of the background's lightness; darker pixels belong to a dark object
_LIGHTEST = 0.98
_COLOUR_SLACK = 7.0  # CIELAB units
_LEAST_CORE = 0.35  # of the blob; with less, the blob is an object that resembles a shadow
_GAP = 3  # pixels between two objects that only their shadows connect
# In the shade, CIELAB lightness and colour scale together if black is at this value: L + 16 is
# proportional to the cube root of the light (41 of OpenCV's 255 steps).
_BLACK = 40.8
_BLOCK = np.ones((3, 3), np.uint8)


def without_shadow(blob: Blob, lab: Picture, scene: Picture) -> list[Blob]:
    """Remove the cast shadow of a moving blob, and separate objects that only shadows connect.

    Grey clothes in front of a grey road resemble a shadow, so the shadow only narrows the box:
    everything between parts that cannot be shadow is kept.

    Args:
        blob: A blob that differs from the background.
        lab: ``(H, W, 3)`` image in CIELAB.
        scene: ``(H, W, 3)`` background in CIELAB.

    Returns:
        The blob in one or more pieces; unchanged if it has no clear shadow.
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
    """Return the ranges of non-empty columns, joining those closer than the gap."""
    columns = np.flatnonzero(core.any(axis=0))
    cuts = np.flatnonzero(np.diff(columns) > _GAP)
    starts = columns[np.concatenate([[0], cuts + 1])]
    ends = columns[np.concatenate([cuts, [len(columns) - 1]])] + 1
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


def _narrowed(blob: Blob, core: Mask, left: int, right: int) -> Blob:
    rows = np.flatnonzero(core[:, left:right].any(axis=1))
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    return blob.piece(left, top, right, bottom)


_LEAST_SHARE = 0.0007  # of the image: 54 pixels of 320 x 240
_USUAL_SHARE = 0.004  # smaller blobs get lower scores
_CLEAR = 30.0  # colour distance of a half-certain object
_PAIR_WEIGHT = 0.95  # the halves are less certain than the blob
_LEAST_ASPECT = 0.5  # width by height; narrower blobs are one object
_STACK_GAP = 0.12  # of the height of both together
_STACK_SHARED = 0.6  # of the narrower one's width
_STACK_WIDTHS = 2.5  # the wider one by the narrower one
_STACKED_WEIGHT = 0.7
_VALLEY = 0.6  # relative height of a blob between two objects


def moving_regions(mask: Mask, distance: Picture, lab: Picture, scene: Picture) -> list[Blob]:
    """Return the blobs of foreground, with alternatives for joined and split objects.

    Args:
        mask: ``(H, W)`` 255 in the foreground.
        distance: ``(H, W)`` colour distance from the background.
        lab: ``(H, W, 3)`` image in CIELAB.
        scene: ``(H, W, 3)`` background in CIELAB.
    """
    patches = [
        piece.scored(_score(piece, distance))
        for blob in blobs_of(mask, int(_LEAST_SHARE * mask.size))
        for piece in without_shadow(blob, lab, scene)
    ]
    halves = [half for patch in patches for half in split_pair(patch)]
    return join_stacks(patches) + halves


def split_pair(blob: Blob) -> list[Blob]:
    """Return the two halves of a blob with a valley between two peaks, or nothing."""
    if blob.width < max(8, _LEAST_ASPECT * blob.height):
        return []
    heights = cv2.blur(np.count_nonzero(blob.mask, axis=0).astype(np.float32)[None], (3, 1))[0]
    # The peaks are at least a fifth of the width away from the edges and each other.
    edge = blob.width // 5
    inner = heights[edge : blob.width - edge]
    cut = edge + int(inner.argmin())
    if heights[cut] > _VALLEY * min(heights[:cut].max(initial=0), heights[cut:].max(initial=0)):
        return []
    halves = [_trimmed(blob, 0, cut), _trimmed(blob, cut, blob.width)]
    return [half.scored(_PAIR_WEIGHT * blob.score) for half in halves if half is not None]


def join_stacks(blobs: list[Blob]) -> list[Blob]:
    """Join blobs above one another, as when a belt has the colour of the wall.

    Returns:
        The joined blobs, then all given blobs, with a lower score if they were joined.
    """
    stacks, joined = [], set()
    for (i, upper), (j, lower) in permutations(enumerate(blobs), 2):
        height = lower.y2 - upper.y1
        shared = min(upper.x2, lower.x2) - max(upper.x1, lower.x1)
        narrow, wide = sorted((upper.width, lower.width))
        if (
            upper.y1 < lower.y1
            and upper.y2 < lower.y2
            and lower.y1 - upper.y2 < _STACK_GAP * height
            and shared > _STACK_SHARED * narrow
            and wide < _STACK_WIDTHS * narrow
        ):
            stacks.append(_joined(upper, lower))
            joined |= {i, j}
    return stacks + [
        blob.scored(_STACKED_WEIGHT * blob.score) if index in joined else blob
        for index, blob in enumerate(blobs)
    ]


def _joined(upper: Blob, lower: Blob) -> Blob:
    x1, x2 = min(upper.x1, lower.x1), max(upper.x2, lower.x2)
    mask = np.zeros((lower.y2 - upper.y1, x2 - x1), np.uint8)
    for blob in (upper, lower):
        rows = slice(blob.y1 - upper.y1, blob.y2 - upper.y1)
        mask[rows, blob.x1 - x1 : blob.x2 - x1] |= blob.mask
    score = max(upper.score, lower.score)
    return Blob(x1, upper.y1, x2, lower.y2, mask, int(cv2.countNonZero(mask)), score)


def _trimmed(blob: Blob, left: int, right: int) -> Blob | None:
    rows = np.flatnonzero(blob.mask[:, left:right].any(axis=1))
    if not len(rows):
        return None
    return blob.piece(left, int(rows[0]), right, int(rows[-1]) + 1)


def _score(blob: Blob, distance: Picture) -> float:
    mean = cv2.mean(blob.crop(distance), blob.mask)[0]
    size = min(1.0, float(np.sqrt(blob.area / (_USUAL_SHARE * distance.size))))
    return float(size * (0.5 + 0.5 * mean / (mean + _CLEAR)))
