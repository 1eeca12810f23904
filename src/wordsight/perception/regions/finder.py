"""`RegionFinder`: finds moving and static regions in the images of one camera."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.perception.detectors.suppression import areas, box_iou, intersections, suppress
from wordsight.perception.regions.appearance import describe
from wordsight.perception.regions.background import CameraMotion, SceneBackground
from wordsight.perception.regions.blob import Blob, Mask, Picture, above, boxes_of, colour_distance
from wordsight.perception.regions.moving import moving_regions
from wordsight.perception.regions.still import parts_of, static_regions

__all__ = ["RegionFinder", "StaticRegions"]


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
_BLOCK = np.ones((3, 3), np.uint8)
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
