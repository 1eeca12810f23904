"""Model of the background, updated with every image.

A running mean that excludes the foreground, so that an object that comes to rest stays foreground.
An object that leaves uncovers a hole that also differs from the mean; a hole resembles its
surroundings, unlike an object, and is filled in.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.perception.regions.blob import Blob, Mask, Picture, above, colour_distance, weigh

__all__ = ["CameraMotion", "SceneBackground", "moved"]


_LEAST_RESPONSE = 0.08  # of phase correlation; below it the two images share no pattern
_LEAST_SHIFT = 1.0  # pixels; the background model tolerates a shake of one pixel
_LEAST_GAIN = 0.9  # largest ratio of the differences with and without the shift
_SHRINK = 2  # half size is four times faster, and the result is rounded anyway


class CameraMotion:
    """Estimates the shift of the whole image by phase correlation.

    Args:
        shape: Height and width of the images.
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self._size = max(2, shape[1] // _SHRINK), max(2, shape[0] // _SHRINK)
        self._window = cv2.createHanningWindow(self._size, cv2.CV_32F)

    def shift(self, scene: Picture, lab: Picture) -> tuple[int, int]:
        """Return the shift of the scene in the image in pixels, right and down.

        Args:
            scene: ``(H, W, 3)`` background in CIELAB.
            lab: ``(H, W, 3)`` image in CIELAB.

        Returns:
            Whole pixels, so that shifting the background does not blur it.
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
    """Return whether the shift explains the image; large moving objects also cause a response."""
    height, width = lab.shape[:2]
    if abs(dx) >= width // 2 or abs(dy) >= height // 2:
        return False
    now = lab[max(0, dy) : height + min(0, dy), max(0, dx) : width + min(0, dx)]
    then = scene[max(0, -dy) : height + min(0, -dy), max(0, -dx) : width + min(0, -dx)]
    there = scene[max(0, dy) : height + min(0, dy), max(0, dx) : width + min(0, dx)]
    shifted, kept = cv2.mean(cv2.absdiff(now, then)), cv2.mean(cv2.absdiff(now, there))
    return sum(shifted) < _LEAST_GAIN * sum(kept)


def moved(plane: NDArray[np.generic], dx: int, dy: int) -> NDArray[np.generic]:
    """Return an ``(H, W, ...)`` array shifted right and down, repeating its edge."""
    height, width = plane.shape[:2]
    rows = np.clip(np.arange(height) - dy, 0, height - 1)
    columns = np.clip(np.arange(width) - dx, 0, width - 1)
    return plane[rows][:, columns]


_LEAST_DISTANCE = 11.0  # least colour distance of the foreground
_NOISE_FACTOR = 3.0
_FIRST_NOISE = 2.0
_LEARN_SECONDS = 2.0  # time constant of the mean
_REST_SECONDS = 0.16  # time a pixel must be static before a hole is filled
_ABSORB_SECONDS = 90.0  # an object static for this long becomes background
_STEP = 9  # frame-to-frame colour distance above which a pixel is in motion
_SURROUND = 1 / 5  # side of the averaging window of the surroundings, of the long side
_LIGHT_STEP = 0.7  # least change of lightness (0 to 255) of the whole image that is followed
_BLOCK = np.ones((3, 3), np.uint8)

Plane = NDArray[np.float32]


class SceneBackground:
    """The scene without moving objects.

    Attributes:
        picture: ``(H, W, 3)`` background in CIELAB.
    """

    def __init__(self, lab: Picture) -> None:
        self._mean = lab.astype(np.float32)
        self.picture = lab.copy()
        self._noise: Plane = np.full(lab.shape[:2], _FIRST_NOISE, np.float32)
        self._rest: Plane = np.zeros(lab.shape[:2], np.float32)
        self._last = lab
        self._age = 0.0

    def compare(self, lab: Picture) -> tuple[Picture, Mask]:
        """Return where and how much an image differs from the background.

        A pixel may have any value of its eight neighbours in the background, since cameras shake by
        a pixel and compression moves edges.

        Args:
            lab: ``(H, W, 3)`` image in CIELAB.

        Returns:
            ``(H, W)`` colour distance, and ``(H, W)`` mask, 255 in the foreground.
        """
        above = cv2.subtract(lab, cv2.dilate(self.picture, _BLOCK))
        below = cv2.subtract(cv2.erode(self.picture, _BLOCK), lab)
        distance = weigh(np.asarray(cv2.add(above, below), np.uint8))
        limit = cv2.convertScaleAbs(self._noise, alpha=_NOISE_FACTOR, beta=_LEAST_DISTANCE)
        return distance, np.asarray(cv2.compare(distance, limit, cv2.CMP_GT), np.uint8)

    def learn(self, lab: Picture, distance: Picture, foreground: Mask, seconds: float) -> None:
        """Update mean and noise outside the foreground.

        Args:
            lab: ``(H, W, 3)`` image in CIELAB.
            distance: ``(H, W)`` from :meth:`compare`.
            foreground: ``(H, W)`` 255 where the background is hidden.
            seconds: Time since the previous image.
        """
        self._age += seconds
        ground = cv2.bitwise_not(foreground)
        rate = seconds / min(_LEARN_SECONDS, self._age + 1e-6)
        rate = min(0.5, max(rate, seconds / _LEARN_SECONDS))
        cv2.accumulateWeighted(lab, self._mean, rate, ground)
        cv2.accumulateWeighted(distance, self._noise, 0.25 * rate, ground)
        self._note_rest(lab, foreground, seconds)

    def heal(self, lab: Picture, holes: Mask) -> Mask:
        """Copy holes that objects left, and objects at rest for long, into the background.

        A hole must be static for a moment: an object that passes in front of another one can
        resemble the surroundings too.

        Args:
            lab: ``(H, W, 3)`` image in CIELAB.
            holes: ``(H, W)`` from :meth:`holes`.

        Returns:
            ``(H, W)`` 255 where the background was updated.
        """
        ripe = (self._rest >= _ABSORB_SECONDS) | (holes > 0) & (self._rest >= _REST_SECONDS)
        healed: Mask = ripe.view(np.uint8) * np.uint8(255)
        self._adopt(lab, healed)
        return healed

    def erase(self, blob: Blob) -> None:
        """Replace a static object in the background by an estimate from its surroundings."""
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
        """Put back an erased object, with the ``pixels`` of its box."""
        inside = blob.crop(self._mean)
        inside[:] = np.where(blob.mask[..., None] > 0, pixels, inside)
        self._refresh()

    def follow_light(self, lab: Picture, foreground: Mask) -> None:
        """Adapt the lightness of the background to that of the image."""
        ground = cv2.bitwise_not(foreground)
        change = cv2.mean(lab, ground)[0] - cv2.mean(self.picture, ground)[0]
        if abs(change) > _LIGHT_STEP:
            self._mean[..., 0] += np.float32(change)
            self._refresh()

    def follow_camera(self, dx: int, dy: int, lab: Picture) -> None:
        """Shift the background right and down, and copy newly visible parts from the image."""
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
        """Return where the image resembles its surroundings more than the background does.

        Args:
            lab: ``(H, W, 3)`` image in CIELAB.
            foreground: ``(H, W)`` 255 where the image differs from the background.

        Returns:
            ``(H, W)`` 255 in the part of the foreground that is a hole left by an object.
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
