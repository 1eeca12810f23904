"""`Inventory`: the still things of a scene, and noticing that one of them was moved."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.perception.figure_ground.appearance import describe
from wordsight.perception.figure_ground.background import Background
from wordsight.perception.figure_ground.blob import Blob, Mask, boxes_of
from wordsight.perception.figure_ground.colour import Picture, colour_distance
from wordsight.perception.figure_ground.still import still_things
from wordsight.perception.suppression import areas, box_iou, intersections

__all__ = ["Inventory"]

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

    def notice_departures(self, holes: Mask, background: Background, time: float) -> bool:
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

    def reconsider(self, lab: Picture, background: Background, time: float) -> None:
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
