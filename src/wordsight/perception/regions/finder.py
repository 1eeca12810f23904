"""`RegionFinder`: follows one camera and says which regions of each picture are things."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.perception.detectors.suppression import areas, box_iou, intersections, suppress
from wordsight.perception.regions.appearance import describe
from wordsight.perception.regions.background import CameraMotion, SceneBackground
from wordsight.perception.regions.blob import Blob, Mask, Picture, above, boxes_of, colour_distance
from wordsight.perception.regions.moving import moving_things
from wordsight.perception.regions.still import parts_of, still_things

__all__ = ["Inventory", "RegionFinder"]


# `Inventory`: the still things of a scene, and noticing that one of them was moved.

_LOOK_AGAIN_SECONDS = 1.0
_HURRY_SECONDS = 0.4  # the same while the camera turns or things leave
_GONE_SHARE = 0.12  # a thing that lost this share of its pixels has moved
_WHOLE_SHARE = 0.4  # a part that is at least this much of a whole takes it along
_HIDDEN_SHARE = 0.4  # a thing more hidden than this is not reported
_DOUBT_SECONDS = 0.4  # after which it is checked whether the thing really left
_FORGET_SECONDS = 5.0
_UNCHANGED_SHARE = 0.75  # a thing of which that much is where it was has not left
_FAMILIAR_OVERLAP = 0.7  # of the boxes of a thing at two looks
_SAME_OVERLAP = 0.85
_FAMILIAR_WEIGHT = 1.2
_UNCHANGED = 14  # colour distance


@dataclass(frozen=True)
class _Departure:
    time: float
    blob: Blob
    pixels: Picture  # of its box, as it was


class Inventory:
    """The things that belong to the scene, found in the background where nothing hides them.

    Args:
        limit: The most things to keep.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._blobs: list[Blob] = []
        self._departures: list[_Departure] = []
        self._due = -np.inf

    def refresh(self, scene: Picture, time: float) -> None:
        """Look at the scene again if it is time to."""
        if time < self._due:
            return
        self._due = time + _LOOK_AGAIN_SECONDS
        blobs = self._familiar_first(still_things(scene, 2 * self._limit))
        looks = describe(blobs, scene)
        self._blobs = [blob.described(look) for blob, look in zip(blobs, looks, strict=True)]

    def visible(self, foreground: Mask) -> list[Blob]:
        """Return the things that nothing hides."""
        return [blob for blob in self._blobs if blob.covered(foreground) < _HIDDEN_SHARE]

    def follow_camera(self, dx: int, dy: int, shape: tuple[int, ...], time: float) -> None:
        """Move the things right and down with the scene, leaving out those that went out of it."""
        shifted = [blob.shifted(dx, dy) for blob in self._blobs]
        self._blobs = [blob for blob in shifted if _inside(blob, shape)]
        self._departures = []
        self._due = min(self._due, time + _HURRY_SECONDS)

    def notice_departures(self, holes: Mask, background: SceneBackground, time: float) -> bool:
        """Erase from the scene the things that begin to leave it.

        A thing that begins to move uncovers a strip of ground behind it. Once it is no longer part
        of the scene, the whole of it differs from the scene, instead of its edges only.

        Args:
            holes: ``(H, W)`` 255 where something left the scene.
            background: The scene.
            time: The time in seconds.

        Returns:
            Whether any thing left.
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

    def reconsider(self, lab: Picture, background: SceneBackground, time: float) -> None:
        """Put things back into the scene that did not leave: something only passed before them."""
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
        """Favour what was there before and keep its box, so that boxes do not come and go."""
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
        """Say which things lost pixels, laying each hole to the smallest thing around it."""
        unexplained = holes.copy()
        gone = np.zeros(len(self._blobs), bool)
        for index in np.argsort([blob.area for blob in self._blobs], kind="stable").tolist():
            blob = self._blobs[index]
            if blob.covered(unexplained) > _GONE_SHARE:
                gone[index] = True
                blob.crop(unexplained)[:] = 0
        return gone

    def _containing(self, gone: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Say which things contain one that left: where a part moved, the whole can move."""
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


_CUT_SHARE = 0.55  # of the picture that differs from the scene: this is another scene
_SUDDEN_SHARE = 0.35  # the same, if that much changed since the picture before
_SUDDEN = 11  # colour distance
_LOST_SHARE = 0.25  # if that much differs for long, the camera moves in ways not followed here
_LOST_SECONDS = 0.4
_PARTS_SHARE = 0.004  # of the picture; only larger things are searched for parts
_PARTS = 4  # of one thing
_LEAST_SCORE = 0.1  # less distinct regions are detail of the scenery
_OVERLAP = 0.6  # two boxes that overlap more are one thing
_BLOCK = np.ones((3, 3), np.uint8)
# Taller than wide: what the background's colour breaks apart lies above one another more often
# than two people are nearer than this side by side.
_JOIN = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (3, 7))


class RegionFinder:
    """Keeps the background and the still things of one camera from picture to picture.

    Args:
        lab: ``(H, W, 3)`` first picture in CIELAB.
        time: When it is shown, in seconds.
        limit: The most things to report in a picture.
    """

    def __init__(self, lab: Picture, time: float, limit: int) -> None:
        self._limit = limit
        self._background = SceneBackground(lab)
        self._inventory = Inventory(limit)
        self._camera = CameraMotion(lab.shape[:2])
        self._last = lab
        self._mask: Mask = np.zeros(lab.shape[:2], np.uint8)
        self._time = time
        self._lost = 0.0

    def look(self, lab: Picture, time: float) -> list[Blob] | None:
        """Take the next picture.

        Args:
            lab: ``(H, W, 3)`` picture in CIELAB.
            time: When it is shown, in seconds.

        Returns:
            The things in it, best first; ``None`` if it shows another scene.
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
        self._inventory.refresh(self._background.picture, time)
        self._last, self._mask = lab, mask
        return self._things(lab, distance, mask)

    def _follow_light_and_camera(self, lab: Picture) -> None:
        self._background.follow_light(lab, self._mask)
        dx, dy = self._camera.shift(self._background.picture, lab)
        if dx or dy:
            self._background.follow_camera(dx, dy, lab)
            self._inventory.follow_camera(dx, dy, lab.shape, self._time)

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
        """Heal the scene where things left it, and return what then differs from it."""
        background = self._background
        self._inventory.reconsider(lab, background, self._time)
        holes = background.holes(lab, mask)
        if self._inventory.notice_departures(holes, background, self._time):
            distance, mask = self._difference(lab)
            holes = background.holes(lab, mask)
        return distance, mask & ~background.heal(lab, holes)

    def _things(self, lab: Picture, distance: Picture, mask: Mask) -> list[Blob]:
        moving = moving_things(mask, distance, lab, self._background.picture)
        large = [blob for blob in moving if blob.area > _PARTS_SHARE * mask.size]
        parts = [part for blob in large for part in parts_of(blob, lab, _PARTS)]
        blobs = moving + self._inventory.visible(mask) + parts
        blobs = [blob for blob in blobs if blob.score >= _LEAST_SCORE]
        scores = np.array([blob.score for blob in blobs])
        kept = suppress(boxes_of(blobs), scores, _OVERLAP, limit=self._limit)
        return [blobs[index] for index in kept.tolist()]
