"""`FilmCamera`: turns clean pictures of a scene into what a hand-held camera would record."""

from dataclasses import dataclass, fields
from functools import lru_cache

import cv2
import numpy as np

from wordsight.worlds.checks import Rng, WorldError, require_number
from wordsight.worlds.painter import Floats, Image

__all__ = ["Effects", "FilmCamera"]

_BEST_CRF, _WORST_CRF = 20, 42
"""H.264 quality without visible loss, and quality at which small things dissolve into blocks."""

_MAX_SHAKE = 5.0  # pixels; standard deviation of the wander at full strength
_MAX_FLICKER = 0.12  # share of the brightness
_MAX_GRAIN = 12.0  # grey levels; standard deviation
_TILE_GRAIN = 36.0  # grey levels stored in the noise tile: large, so that 8 bits keep its shape
_TILE_MARGIN = 64  # pixels by which the tile is larger than a frame, so that its corner can move


@dataclass(frozen=True)
class Effects:
    """How strongly the picture differs from a clean drawing; strengths from 0 (none) to 1.

    Attributes:
        texture: Grain of walls, ground and clothes.
        shading: Light and dark sides of things.
        shadow: Darkness of the shadows on the ground.
        grain: Sensor noise.
        blur: Motion blur, as the share of the frame time that the shutter is open.
        flicker: Exposure that wanders from frame to frame.
        compression: Loss in the encoder.
        occlusion: How much stands between the camera and the scene.
        shake: How far a hand-held camera wanders.

    Examples:
        >>> Effects.at(0.0).grain
        0.0
        >>> Effects(grain=0.5).shake
        0.0
    """

    texture: float = 0.6
    shading: float = 0.6
    shadow: float = 0.6
    grain: float = 0.0
    blur: float = 0.0
    flicker: float = 0.0
    compression: float = 0.0
    occlusion: float = 0.0
    shake: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            require_number(field.name, getattr(self, field.name), 0, 1)

    @classmethod
    def at(cls, noise: float) -> "Effects":
        """Set all strengths by one number.

        What makes a picture rich (texture, shading, shadow) comes early on the scale, what degrades
        it (grain, blur, ...) grows evenly.
        """
        if not (isinstance(noise, int | float) and 0 <= noise <= 1):
            raise WorldError(f"noise must lie between 0 (clean) and 1 (strong), got {noise!r}.")
        rich = ("texture", "shading", "shadow")
        noise = float(noise)
        return cls(**{f.name: noise**0.5 if f.name in rich else noise for f in fields(cls)})

    @property
    def crf(self) -> int:
        """The encoder's quality number, 20 (clean) to 42 (strong loss)."""
        return round(_BEST_CRF + self.compression * (_WORST_CRF - _BEST_CRF))


class FilmCamera:
    """Shake, exposure and grain of one film.

    Everything that varies from frame to frame is drawn beforehand, so that any frame can be made
    alone and truth boxes can follow the shake.

    Args:
        effects: Their strengths.
        size: Width and height of a frame in pixels.
        num_frames: Frames of the film.
        rng: Random generator.

    Attributes:
        offsets: ``(N, 2)`` pixels by which each frame is moved right and down; truth boxes add it.
    """

    def __init__(self, effects: Effects, size: tuple[int, int], num_frames: int, rng: Rng) -> None:
        self._effects = effects
        self._size = size
        shake = np.stack([_wander(num_frames, 9, rng), _wander(num_frames, 9, rng)], axis=1)
        self.offsets: Floats = shake * effects.shake * _MAX_SHAKE
        # Buffers; new ones for every frame would cost more than the arithmetic.
        self._pad = int(np.ceil(np.abs(self.offsets).max(initial=0.0))) + 2
        width, height = size[0] + 2 * self._pad, size[1] + 2 * self._pad
        self._padded = np.empty((height, width, 3), dtype=np.uint8)
        self._moved = np.empty((height, size[0], 3), dtype=np.uint8)
        self._gains = 1.0 + _wander(num_frames, 5, rng) * effects.flicker * _MAX_FLICKER
        self._corners = rng.integers(0, _TILE_MARGIN, size=(num_frames, 2))

    def develop(self, image: Image, index: int) -> Image:
        """Return frame ``index`` as recorded; ``image`` is ``(H, W, 3)`` and may be changed."""
        if self._effects.shake > 0:
            self._shift(image, *self.offsets[index])
        gain = float(self._gains[index])
        if self._effects.grain > 0:
            amount = self._effects.grain * _MAX_GRAIN / _TILE_GRAIN
            (x, y), (width, height) = self._corners[index], self._size
            tile = _noise_tile(self._size)[y : y + height, x : x + width]
            # One pass for exposure and grain: image * gain + (tile - 128) * amount.
            cv2.addWeighted(image, gain, tile, amount, -128.0 * amount, dst=image)
        elif gain != 1.0:
            cv2.convertScaleAbs(image, dst=image, alpha=gain)
        return image

    def _shift(self, image: Image, dx: float, dy: float) -> None:
        """Move the picture in place by parts of pixels; what comes in mirrors the edge."""
        width, height = self._size
        pad = self._pad
        cv2.copyMakeBorder(image, pad, pad, pad, pad, cv2.BORDER_REFLECT_101, dst=self._padded)
        # Bilinear, one axis after the other: a third of the time of a general warp.
        x, y = int(np.floor(-dx)), int(np.floor(-dy))
        right, down = -dx - x, -dy - y
        x, y = x + pad, y + pad
        left_part, right_part = (self._padded[:, k : k + width] for k in (x, x + 1))
        cv2.addWeighted(left_part, 1 - right, right_part, right, 0.0, dst=self._moved)
        upper, lower = (self._moved[k : k + height] for k in (y, y + 1))
        cv2.addWeighted(upper, 1 - down, lower, down, 0.0, dst=image)


def _wander(num_frames: int, smoothing: int, rng: Rng) -> Floats:
    """Return ``(N,)`` smooth random motion around 0 with standard deviation near 1."""
    steps = rng.normal(size=num_frames + 2 * smoothing)
    window = np.hanning(2 * smoothing + 1)
    return np.convolve(steps, window / np.sqrt((window**2).sum()), mode="valid")[:num_frames]


@lru_cache(maxsize=4)
def _noise_tile(size: tuple[int, int]) -> Image:
    # The tile is the same in every film; what differs is the corner it is taken from.
    width, height = size
    rng = np.random.default_rng(20_130)
    shape = (height + _TILE_MARGIN, width + _TILE_MARGIN)
    brightness = rng.normal(0.0, 1.0, (*shape, 1)).astype(np.float32)
    colour = rng.normal(0.0, 0.5, (*shape, 3)).astype(np.float32)
    tile = 128.0 + _TILE_GRAIN * (brightness + colour)
    return np.asarray(np.clip(tile, 0, 255), dtype=np.uint8)
