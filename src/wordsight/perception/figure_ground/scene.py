"""`Scene`: follows one camera and says which regions of each picture are things."""

import cv2
import numpy as np

from wordsight.perception.figure_ground.background import Background
from wordsight.perception.figure_ground.blob import Blob, Mask, boxes_of
from wordsight.perception.figure_ground.camera import Camera
from wordsight.perception.figure_ground.colour import Picture, above, colour_distance
from wordsight.perception.figure_ground.inventory import Inventory
from wordsight.perception.figure_ground.moving import moving_things
from wordsight.perception.figure_ground.still import parts_of
from wordsight.perception.suppression import suppress

__all__ = ["Scene"]

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


class Scene:
    """Keeps the background and the still things of one camera from picture to picture.

    Args:
        lab: ``(H, W, 3)`` first picture in CIELAB.
        time: When it is shown, in seconds.
        limit: The most things to report in a picture.
    """

    def __init__(self, lab: Picture, time: float, limit: int) -> None:
        self._limit = limit
        self._background = Background(lab)
        self._inventory = Inventory(limit)
        self._camera = Camera(lab.shape[:2])
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
