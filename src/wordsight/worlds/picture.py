"""`Picture`: the painting of frames that all worlds share, and the shooting of films."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from wordsight.worlds.camera import Effects, FilmCamera
from wordsight.worlds.chance import Rng
from wordsight.worlds.painter import Floats, Image, lay_over
from wordsight.worlds.sketch import SIZE, Point, Sprite, View
from wordsight.worlds.truth import FilmTruth, FrameSequence

__all__ = ["Picture", "shoot"]

Recording = TypeVar("Recording", bound=FrameSequence)

_MOST_LIGHT = 1.4  # shading at which light and dark sides are fully drawn is 1 / this


class Picture(ABC):
    """Paints any frame of one film.

    What never moves is painted once, by the subclasses.

    Args:
        effects: Strengths of the effects on the picture.
        camera: Shake, exposure and grain.
        view: How metres become pixels.
        light: Where the light comes from: -1 left, 1 right.
        shutter: Share of the time between two frames that the shutter is open at full blur.
    """

    _UNSEEN = 0.0  # metres; smaller movements are not painted
    _state: Floats  # (T, K) all numbers that a frame depends on
    _background: Image  # (480, 640, 3) all that never changes
    _occluders: Sequence[tuple[Image, tuple[int, int]]] = ()  # sheets and corners

    def __init__(
        self, effects: Effects, camera: FilmCamera, view: View, light: float, shutter: float = 1.0
    ) -> None:
        self._camera = camera
        self._view = view
        self._light = light * min(_MOST_LIGHT * effects.shading, 1.0)
        self._blur = view.scale * (shutter * effects.blur)
        self._last: tuple[int, Image] | None = None

    def __call__(self, index: int) -> Image:
        """Return frame ``index`` as ``(480, 640, 3)`` RGB."""
        # People and hands often keep still; then the last painting is used again.
        if self._last is None or self._differ(index, self._last[0]):
            image = self._paint(index)
            for sheet, corner in self._occluders:
                lay_over(image, sheet, corner)
            self._last = (index, image)
        return self._camera.develop(self._last[1].copy(), index)

    @abstractmethod
    def _paint(self, index: int) -> Image:
        """Paint a frame as a perfect camera would see it, without what stands before the scene."""

    def _differ(self, one: int, other: int) -> bool:
        """Whether two frames look different before the camera adds its own."""
        return bool(np.abs(self._state[one] - self._state[other]).max() > self._UNSEEN)

    def _motion(self, track: Floats, index: int) -> tuple[float, float]:
        """Return the pixels a point moves while the shutter is open; ``track`` is in metres."""
        before, after = max(index - 1, 0), min(index + 1, len(track) - 1)
        across, up = (track[after] - track[before]) / max(after - before, 1) * self._blur
        return float(across), -float(up)

    def _place(self, image: Image, sprite: Sprite, track: Floats, index: int) -> None:
        """Lay a thing over ``image`` where it is; ``track`` is ``(T, 3)`` x, y and angle."""
        x, y, angle = track[index]
        motion = self._motion(track[:, :2], index)
        sprite.place(image, self._view, (x, y), float(angle), motion)

    def _place_shadow(
        self, image: Image, shadow: Sprite, spot: Point, above: float, shrink: float
    ) -> None:
        """Darken the ground under a thing; the higher it is, the smaller the spot."""
        size = round(1.0 / (1.0 + shrink * max(above, 0.0)), 2)
        shadow.place(image, self._view, spot, stretch=size)


def shoot(
    recording: Recording,
    effects: Effects,
    rng: Callable[[str], Rng],
    make_truth: Callable[[Recording, Effects, Floats], FilmTruth[Recording]],
    make_picture: Callable[[Recording, Effects, FilmCamera, Rng], Picture],
) -> dict[str, Any]:
    """Return the fields of a `RenderedFilm` that follow from its recording.

    The film's generator for a purpose is ``rng(purpose)``; ``make_truth`` and ``make_picture`` are
    the classes of the world's truth and pictures.
    """
    camera = FilmCamera(effects, SIZE, recording.num_frames, rng("camera"))
    return {
        "frame_rate": recording.frame_rate,
        "size": SIZE,
        "num_frames": recording.num_frames,
        "truth": make_truth(recording, effects, camera.offsets),
        "crf": effects.crf,
        "make_picture": lambda: make_picture(recording, effects, camera, rng("picture")),
    }
