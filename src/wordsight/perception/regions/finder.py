"""`RegionFinder`: finds moving and static regions in the images of one camera."""

from dataclasses import dataclass
from itertools import permutations

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.perception.detectors.suppression import areas, box_iou, intersections, suppress
from wordsight.perception.regions.background import CameraMotion, SceneBackground
from wordsight.perception.regions.blob import (
    Blob,
    Mask,
    Picture,
    above,
    blobs_of,
    boxes_of,
    colour_distance,
    describe,
)
from wordsight.perception.regions.still import parts_of, static_regions

__all__ = [
    "RegionFinder",
    "StaticRegions",
    "join_stacks",
    "moving_regions",
    "split_pair",
    "without_shadow",
]

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


_REFRESH_SECONDS = 1.0
_HURRY_SECONDS = 0.4  # the same while the camera turns or objects leave
_GONE_SHARE = 0.12  # an object that lost this share of its pixels has moved
_WHOLE_SHARE = 0.4  # least size of a part, relative to the whole, that moves the whole
_HIDDEN_SHARE = 0.4  # objects that are occluded more than this are not reported
_DOUBT_SECONDS = 0.4  # time until a departure is checked
_FORGET_SECONDS = 5.0
_UNCHANGED_SHARE = 0.75  # an object with this share of unchanged pixels has not left
_FAMILIAR_OVERLAP = 0.7  # intersection over union with the previous box
_SAME_OVERLAP = 0.85
_FAMILIAR_WEIGHT = 1.2
_UNCHANGED = 14  # colour distance


@dataclass(frozen=True)
class _Departure:
    time: float
    blob: Blob
    pixels: Picture  # of its box, as it was


class StaticRegions:
    """Static objects, found in the background model; detects when one of them is moved.

    Args:
        limit: Largest number of objects.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._blobs: list[Blob] = []
        self._departures: list[_Departure] = []
        self._due = -np.inf

    def refresh(self, scene: Picture, time: float) -> None:
        """Search the background again if an update is due."""
        if time < self._due:
            return
        self._due = time + _REFRESH_SECONDS
        blobs = self._familiar_first(static_regions(scene, 2 * self._limit))
        rows = describe(blobs, scene)
        self._blobs = [blob.described(row) for blob, row in zip(blobs, rows, strict=True)]

    def visible(self, foreground: Mask) -> list[Blob]:
        """Return the objects that are not occluded."""
        return [blob for blob in self._blobs if blob.covered(foreground) < _HIDDEN_SHARE]

    def follow_camera(self, dx: int, dy: int, shape: tuple[int, ...], time: float) -> None:
        """Shift the objects with the background, dropping those outside the image."""
        shifted = [blob.shifted(dx, dy) for blob in self._blobs]
        self._blobs = [blob for blob in shifted if _inside(blob, shape)]
        self._departures = []
        self._due = min(self._due, time + _HURRY_SECONDS)

    def remove_departed(self, holes: Mask, background: SceneBackground, time: float) -> bool:
        """Erase objects from the background that begin to leave.

        An object that begins to move uncovers a strip of ground behind it. Once it is erased from
        the background, the whole object differs from it, instead of only its edges.

        Args:
            holes: ``(H, W)`` 255 where an object left.
            background: The background.
            time: Time in seconds.

        Returns:
            Whether any object left.
        """
        gone = self._losing(holes)
        if not gone.any():
            return False
        gone |= self._containing(gone)
        for blob in np.array(self._blobs, object)[gone]:
            pixels = blob.crop(background.picture).copy()
            self._departures.append(_Departure(time, blob, pixels))
            background.erase(blob)
        self._blobs = [blob for blob, left in zip(self._blobs, gone, strict=True) if not left]
        self._due = min(self._due, time + _HURRY_SECONDS)
        return True

    def restore_returned(self, lab: Picture, background: SceneBackground, time: float) -> None:
        """Restore objects that did not leave but were only occluded for a moment."""
        kept = []
        for departure in self._departures:
            age = time - departure.time
            if age >= _DOUBT_SECONDS and _is_there(departure, lab):
                background.restore(departure.blob, departure.pixels)
                self._due = min(self._due, time)
            elif age < _FORGET_SECONDS:
                kept.append(departure)
        self._departures = kept

    def _familiar_first(self, blobs: list[Blob]) -> list[Blob]:
        """Prefer known objects and keep their boxes, so that boxes do not flicker."""
        overlap = box_iou(boxes_of(blobs), boxes_of(self._blobs))
        chosen = []
        for blob, row in zip(blobs, overlap, strict=True):
            nearest = int(row.argmax()) if len(row) else 0
            if len(row) and row[nearest] > _FAMILIAR_OVERLAP:
                score = min(1.0, _FAMILIAR_WEIGHT * blob.score)
                same = row[nearest] >= _SAME_OVERLAP
                blob = (self._blobs[nearest] if same else blob).scored(score)
            chosen.append(blob)
        return sorted(chosen, key=lambda blob: -blob.score)[: self._limit]

    def _losing(self, holes: Mask) -> NDArray[np.bool_]:
        """Return which objects lost pixels, assigning each hole to the smallest object around."""
        unexplained = holes.copy()
        gone = np.zeros(len(self._blobs), bool)
        for index in np.argsort([blob.area for blob in self._blobs], kind="stable").tolist():
            blob = self._blobs[index]
            if blob.covered(unexplained) > _GONE_SHARE:
                gone[index] = True
                blob.crop(unexplained)[:] = 0
        return gone

    def _containing(self, gone: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which objects contain one that left: if a part moved, the whole can move."""
        boxes = boxes_of(self._blobs)
        sizes = areas(boxes)
        within = intersections(boxes, boxes) > 0.8 * sizes[:, None]
        matters = sizes[:, None] > _WHOLE_SHARE * sizes[None, :]
        return np.asarray((within & matters & gone[:, None]).any(axis=0), np.bool_)


def _is_there(departure: _Departure, lab: Picture) -> bool:
    blob = departure.blob
    same = colour_distance(blob.crop(lab), departure.pixels) < _UNCHANGED
    return bool((same & (blob.mask > 0)).sum() > _UNCHANGED_SHARE * blob.area)


def _inside(blob: Blob, shape: tuple[int, ...]) -> bool:
    return blob.x1 >= 0 and blob.y1 >= 0 and blob.x2 <= shape[1] and blob.y2 <= shape[0]


_CUT_SHARE = 0.55  # share of foreground that means another scene
_SUDDEN_SHARE = 0.35  # the same, if as much changed since the previous image
_SUDDEN = 11  # colour distance
_LOST_SHARE = 0.25  # share of foreground that, if it lasts, means unmodelled camera motion
_LOST_SECONDS = 0.4
_PARTS_SHARE = 0.004  # of the image; only larger objects are searched for parts
_PARTS = 4  # of one object
_LEAST_SCORE = 0.1  # less distinct regions are background detail
_OVERLAP = 0.6  # largest intersection over union of two objects
# Taller than wide: parts of a person that the background's colour separates are above one another
# more often than two people are this close side by side.
_JOIN = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (3, 7))


class RegionFinder:
    """Models background and static objects of one camera, and finds regions in each image.

    Args:
        lab: ``(H, W, 3)`` first image in CIELAB.
        time: Its time in seconds.
        limit: Largest number of regions per image.
    """

    def __init__(self, lab: Picture, time: float, limit: int) -> None:
        self._limit = limit
        self._background = SceneBackground(lab)
        self._static = StaticRegions(limit)
        self._camera = CameraMotion(lab.shape[:2])
        self._last = lab
        self._mask: Mask = np.zeros(lab.shape[:2], np.uint8)
        self._time = time
        self._lost = 0.0

    def update(self, lab: Picture, time: float) -> list[Blob] | None:
        """Process the next image.

        Args:
            lab: ``(H, W, 3)`` image in CIELAB.
            time: Its time in seconds.

        Returns:
            The regions in it, best first; ``None`` if it shows another scene.
        """
        seconds = float(np.clip(time - self._time, 1e-3, 0.5))
        self._time = time
        self._follow_light_and_camera(lab)
        distance, mask = self._difference(lab)
        if self._is_other_scene(lab, mask, seconds):
            return None
        if mask.any():
            distance, mask = self._settle(lab, distance, mask)
        margin = np.asarray(cv2.dilate(mask, _BLOCK), np.uint8)
        self._background.learn(lab, distance, margin, seconds)
        self._static.refresh(self._background.picture, time)
        self._last, self._mask = lab, mask
        return self._regions(lab, distance, mask)

    def _follow_light_and_camera(self, lab: Picture) -> None:
        self._background.follow_light(lab, self._mask)
        dx, dy = self._camera.shift(self._background.picture, lab)
        if dx or dy:
            self._background.follow_camera(dx, dy, lab)
            self._static.follow_camera(dx, dy, lab.shape, self._time)

    def _difference(self, lab: Picture) -> tuple[Picture, Mask]:
        distance, mask = self._background.compare(lab)
        calm = cv2.medianBlur(mask, 5)
        return distance, np.asarray(cv2.morphologyEx(calm, cv2.MORPH_CLOSE, _JOIN), np.uint8)

    def _is_other_scene(self, lab: Picture, mask: Mask, seconds: float) -> bool:
        share = cv2.countNonZero(mask) / mask.size
        self._lost = self._lost + seconds if share > _LOST_SHARE else 0.0
        if share > _CUT_SHARE or self._lost > _LOST_SECONDS:
            return True
        if share < _SUDDEN_SHARE:
            return False
        changed = above(colour_distance(lab, self._last), _SUDDEN)
        return bool(cv2.countNonZero(changed) > _SUDDEN_SHARE * mask.size)

    def _settle(self, lab: Picture, distance: Picture, mask: Mask) -> tuple[Picture, Mask]:
        """Update the background where objects left, and return the remaining foreground."""
        background = self._background
        self._static.restore_returned(lab, background, self._time)
        holes = background.holes(lab, mask)
        if self._static.remove_departed(holes, background, self._time):
            distance, mask = self._difference(lab)
            holes = background.holes(lab, mask)
        return distance, mask & ~background.heal(lab, holes)

    def _regions(self, lab: Picture, distance: Picture, mask: Mask) -> list[Blob]:
        moving = moving_regions(mask, distance, lab, self._background.picture)
        large = [blob for blob in moving if blob.area > _PARTS_SHARE * mask.size]
        parts = [part for blob in large for part in parts_of(blob, lab, _PARTS)]
        blobs = moving + self._static.visible(mask) + parts
        blobs = [blob for blob in blobs if blob.score >= _LEAST_SCORE]
        scores = np.array([blob.score for blob in blobs])
        kept = suppress(boxes_of(blobs), scores, _OVERLAP, limit=self._limit)
        return [blobs[index] for index in kept.tolist()]
