"""What the scene looks like where nothing stands before it, learned while watching.

A running mean that leaves out the foreground, so that a thing that comes to rest stays foreground.
What leaves a place uncovers a hole that also differs from the mean; it is told from a thing by
looking like its surroundings, and healed.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.perception.regions.blob import Blob, Mask, Picture, above, colour_distance, weigh

__all__ = ["CameraMotion", "SceneBackground", "moved"]


# How far the camera turned between the scene as remembered and the picture at hand.

_LEAST_RESPONSE = 0.08  # of phase correlation; below it the two pictures share no pattern
_LEAST_SHIFT = 1.0  # pixels; the background takes a shake of one pixel for nothing
_LEAST_GAIN = 0.9  # the difference left after the shift, of that without it
_SHRINK = 2  # work at half size: four times faster, and the result is rounded anyway


class CameraMotion:
    """Estimates the shift of the whole picture by phase correlation.

    Args:
        shape: Height and width of the pictures.
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self._size = max(2, shape[1] // _SHRINK), max(2, shape[0] // _SHRINK)
        self._window = cv2.createHanningWindow(self._size, cv2.CV_32F)

    def shift(self, scene: Picture, lab: Picture) -> tuple[int, int]:
        """Return how many pixels right and down the scene lies in the picture from where it was.

        Args:
            scene: ``(H, W, 3)`` remembered scene in CIELAB.
            lab: ``(H, W, 3)`` picture in CIELAB.

        Returns:
            Whole pixels: a scene that is only ever moved by whole pixels never blurs.
        """
        before, now = self._light(scene), self._light(lab)
        (x, y), response = cv2.phaseCorrelate(before, now, self._window)
        x *= lab.shape[1] / self._size[0]
        y *= lab.shape[0] / self._size[1]
        if response < _LEAST_RESPONSE or max(abs(x), abs(y)) < _LEAST_SHIFT:
            return 0, 0
        dx, dy = round(x), round(y)
        return (dx, dy) if _fits_better(scene, lab, dx, dy) else (0, 0)

    def _light(self, lab: Picture) -> NDArray[np.float32]:
        small = cv2.resize(lab, self._size, interpolation=cv2.INTER_AREA)
        return np.asarray(small[..., 0], np.float32)


def _fits_better(scene: Picture, lab: Picture, dx: int, dy: int) -> bool:
    """Check that the shift explains the picture: large things that move also look like a shift."""
    height, width = lab.shape[:2]
    if abs(dx) >= width // 2 or abs(dy) >= height // 2:
        return False
    now = lab[max(0, dy) : height + min(0, dy), max(0, dx) : width + min(0, dx)]
    then = scene[max(0, -dy) : height + min(0, -dy), max(0, -dx) : width + min(0, -dx)]
    there = scene[max(0, dy) : height + min(0, dy), max(0, dx) : width + min(0, dx)]
    shifted, kept = cv2.mean(cv2.absdiff(now, then)), cv2.mean(cv2.absdiff(now, there))
    return sum(shifted) < _LEAST_GAIN * sum(kept)


def moved(plane: NDArray[np.generic], dx: int, dy: int) -> NDArray[np.generic]:
    """Return an ``(H, W, ...)`` array moved right and down, its old edge repeated behind it."""
    height, width = plane.shape[:2]
    rows = np.clip(np.arange(height) - dy, 0, height - 1)
    columns = np.clip(np.arange(width) - dx, 0, width - 1)
    return plane[rows][:, columns]


_LEAST_DISTANCE = 11.0  # colour distance below which nothing counts as different
_NOISE_FACTOR = 3.0
_FIRST_NOISE = 2.0
_LEARN_SECONDS = 2.0  # how fast the mean follows the light
_REST_SECONDS = 0.16  # how long a pixel must rest before it may be taken for a healed hole
_ABSORB_SECONDS = 90.0  # a thing that rested this long has become scenery
_STEP = 9  # frame-to-frame colour distance above which a pixel is in motion
_SURROUND = 1 / 5  # side of the window the surroundings are averaged in, of the long side
_LIGHT_STEP = 0.7  # lightness (0 to 255) by which the whole picture must change to be followed
_BLOCK = np.ones((3, 3), np.uint8)

Plane = NDArray[np.float32]


class SceneBackground:
    """The scene without its things, at the size of the small picture.

    Attributes:
        picture: ``(H, W, 3)`` the scene in CIELAB.
    """

    def __init__(self, lab: Picture) -> None:
        self._mean = lab.astype(np.float32)
        self.picture = lab.copy()
        self._noise: Plane = np.full(lab.shape[:2], _FIRST_NOISE, np.float32)
        self._rest: Plane = np.zeros(lab.shape[:2], np.float32)
        self._last = lab
        self._age = 0.0

    def compare(self, lab: Picture) -> tuple[Picture, Mask]:
        """Say how much and where a picture differs from the scene.

        A pixel may take any value of its eight neighbours in the scene: cameras shake by a pixel,
        and compression moves edges.

        Args:
            lab: ``(H, W, 3)`` picture in CIELAB.

        Returns:
            The ``(H, W)`` colour distance, and a ``(H, W)`` mask, 255 where it is foreground.
        """
        above = cv2.subtract(lab, cv2.dilate(self.picture, _BLOCK))
        below = cv2.subtract(cv2.erode(self.picture, _BLOCK), lab)
        distance = weigh(np.asarray(cv2.add(above, below), np.uint8))
        limit = cv2.convertScaleAbs(self._noise, alpha=_NOISE_FACTOR, beta=_LEAST_DISTANCE)
        return distance, np.asarray(cv2.compare(distance, limit, cv2.CMP_GT), np.uint8)

    def learn(self, lab: Picture, distance: Picture, foreground: Mask, seconds: float) -> None:
        """Follow light and noise where there is no foreground.

        Args:
            lab: ``(H, W, 3)`` picture in CIELAB.
            distance: ``(H, W)`` from :meth:`compare`.
            foreground: ``(H, W)`` 255 where the scene is hidden.
            seconds: Time since the picture before.
        """
        self._age += seconds
        ground = cv2.bitwise_not(foreground)
        rate = seconds / min(_LEARN_SECONDS, self._age + 1e-6)
        rate = min(0.5, max(rate, seconds / _LEARN_SECONDS))
        cv2.accumulateWeighted(lab, self._mean, rate, ground)
        cv2.accumulateWeighted(distance, self._noise, 0.25 * rate, ground)
        self._note_rest(lab, foreground, seconds)

    def heal(self, lab: Picture, holes: Mask) -> Mask:
        """Take holes that things left, and things that have become scenery, into the scene.

        A hole must have rested for a moment: a thing passing before another one of the scene can
        look like the surroundings too.

        Args:
            lab: ``(H, W, 3)`` picture in CIELAB.
            holes: ``(H, W)`` from :meth:`holes`.

        Returns:
            ``(H, W)`` 255 where it was healed.
        """
        ripe = (self._rest >= _ABSORB_SECONDS) | (holes > 0) & (self._rest >= _REST_SECONDS)
        healed: Mask = ripe.view(np.uint8) * np.uint8(255)
        self._adopt(lab, healed)
        return healed

    def erase(self, blob: Blob) -> None:
        """Guess the scene behind a thing that was taken for scenery, from what is around it."""
        pad = 3
        height, width = self.picture.shape[:2]
        y1, x1 = max(0, blob.y1 - pad - 5), max(0, blob.x1 - pad - 5)
        window = np.s_[y1 : min(height, blob.y2 + pad + 5), x1 : min(width, blob.x2 + pad + 5)]
        hole = np.zeros((height, width), np.uint8)
        hole[blob.y1 : blob.y2, blob.x1 : blob.x2] = blob.mask
        hole = np.asarray(cv2.dilate(hole[window], _BLOCK, iterations=pad), np.uint8)
        filled = np.asarray(cv2.inpaint(self.picture[window], hole, 3, cv2.INPAINT_TELEA), np.uint8)
        self._mean[window] = np.where(hole[..., None] > 0, filled, self._mean[window])
        self._refresh()

    def restore(self, blob: Blob, pixels: Picture) -> None:
        """Put back a thing that was erased, with the ``pixels`` of its box."""
        inside = blob.crop(self._mean)
        inside[:] = np.where(blob.mask[..., None] > 0, pixels, inside)
        self._refresh()

    def follow_light(self, lab: Picture, foreground: Mask) -> None:
        """Make the scene as light as the picture where the picture shows it."""
        ground = cv2.bitwise_not(foreground)
        change = cv2.mean(lab, ground)[0] - cv2.mean(self.picture, ground)[0]
        if abs(change) > _LIGHT_STEP:
            self._mean[..., 0] += np.float32(change)
            self._refresh()

    def follow_camera(self, dx: int, dy: int, lab: Picture) -> None:
        """Move the scene right and down, and take what came into view from the picture."""
        self._mean = np.ascontiguousarray(moved(self._mean, dx, dy), np.float32)
        self._noise = np.ascontiguousarray(moved(self._noise, dx, dy), np.float32)
        self._rest = np.ascontiguousarray(moved(self._rest, dx, dy), np.float32)
        self._last = np.ascontiguousarray(moved(self._last, dx, dy), np.uint8)
        fresh = np.full(lab.shape[:2], 255, np.uint8)
        height, width = lab.shape[:2]
        fresh[max(0, dy) : height + min(0, dy), max(0, dx) : width + min(0, dx)] = 0
        self._adopt(lab, fresh)

    def _note_rest(self, lab: Picture, foreground: Mask, seconds: float) -> None:
        moving = above(colour_distance(lab, self._last), _STEP)
        self._rest += np.float32(seconds)
        self._rest[(moving > 0) | (foreground == 0)] = 0
        self._last = lab
        self._refresh()

    def holes(self, lab: Picture, foreground: Mask) -> Mask:
        """Say where the picture looks more like its surroundings than the scene does.

        Args:
            lab: ``(H, W, 3)`` picture in CIELAB.
            foreground: ``(H, W)`` 255 where the picture differs from the scene.

        Returns:
            ``(H, W)`` 255 in the foreground that is rather a hole that something left.
        """
        # At half size: the surroundings are a wide average anyway.
        height, width = lab.shape[:2]
        half = (width // 2, height // 2)
        now = cv2.resize(lab, half, interpolation=cv2.INTER_AREA)
        scene = cv2.resize(self.picture, half, interpolation=cv2.INTER_AREA)
        open_ = cv2.bitwise_not(cv2.dilate(foreground, _BLOCK))
        weight = cv2.resize(open_, half, interpolation=cv2.INTER_AREA).astype(np.float32) / 255
        side = int(max(half) * _SURROUND) | 1
        total = cv2.boxFilter(now * weight[..., None], -1, (side, side), normalize=False)
        amount = cv2.boxFilter(weight, -1, (side, side), normalize=False)
        around = (total / np.maximum(amount, 1e-3)[..., None]).astype(np.uint8)
        apart_now = cv2.blur(colour_distance(np.asarray(now, np.uint8), around), (3, 3))
        apart_scene = cv2.blur(colour_distance(np.asarray(scene, np.uint8), around), (3, 3))
        fits = (apart_now.astype(np.int16) * 5 + 20 < apart_scene.astype(np.int16) * 4) & (
            amount > 0.1 * side * side
        )
        hole = cv2.resize(fits.view(np.uint8), (width, height), interpolation=cv2.INTER_NEAREST)
        return np.where(hole > 0, foreground, 0).astype(np.uint8)

    def _adopt(self, lab: Picture, where: Mask) -> None:
        cv2.copyTo(lab.astype(np.float32), where, self._mean)
        cv2.copyTo(np.full_like(self._noise, _FIRST_NOISE), where, self._noise)
        self._rest[where > 0] = 0
        self._refresh()

    def _refresh(self) -> None:
        self.picture = np.asarray(cv2.convertScaleAbs(self._mean), np.uint8)
