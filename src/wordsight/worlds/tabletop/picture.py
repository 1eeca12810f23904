"""Painting the frames of a film of the tabletop from its recording."""

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.camera import Effects, FilmCamera
from wordsight.worlds.painter import Layer, lay_over
from wordsight.worlds.picture import Picture
from wordsight.worlds.sketch import Sketch, soft_shadow
from wordsight.worlds.tabletop.hand import joints_of
from wordsight.worlds.tabletop.hand_painter import (
    arm_extent_of,
    extent_of,
    paint_arm,
    paint_back,
    paint_front,
)
from wordsight.worlds.tabletop.recording import TabletopRecording
from wordsight.worlds.tabletop.settings import SETTINGS, SIZE, VIEW, paint_occluder, paint_setting

__all__ = ["TabletopPicture"]

_UNSEEN = 1e-4  # metres; a smaller movement is not seen


class TabletopPicture(Picture):
    """Paints any frame of one film.

    What never moves is painted once: the background, and the blocks nobody touches.

    Args:
        recording: What happened.
        effects: How rich and how spoiled the picture is.
        camera: Shake, exposure and grain.
        rng: Where the chance of the background comes from.
    """

    def __init__(
        self,
        recording: TabletopRecording,
        effects: Effects,
        camera: FilmCamera,
        rng: np.random.Generator,
    ) -> None:
        super().__init__(camera, VIEW.scale, effects.blur)
        self._recording = recording
        self._hands = np.array([(pose.x, pose.y) for pose in recording.poses])
        setting = SETTINGS[recording.scenario.setting]
        self._light = setting.light * min(1.4 * effects.shading, 1.0)
        self._darkness = 0.6 * effects.shadow
        blocks = recording.scenario.blocks
        self._sprites = [
            block.sprite(VIEW.scale, effects.texture, effects.shading) for block in blocks
        ]
        self._shadows = [
            soft_shadow(block.width * 1.3, 0.026, VIEW.scale, self._darkness) for block in blocks
        ]
        held = {name for name in recording.held if name is not None}
        self._touched = [number for number, block in enumerate(blocks) if block.name in held]
        self._background = paint_setting(setting, effects.texture, effects.shading, rng)
        resting = [number for number in range(len(blocks)) if number not in self._touched]
        for number in resting:
            self._paint_shadow(self._background, number, 0)
        for number in sorted(resting, key=lambda k: recording.places[k, 0, 1]):
            self._paint_block(self._background, number, 0)
        self._occluders = _paint_occluders(effects, rng)
        self._state = _state_of(recording)

    def _differ(self, one: int, other: int) -> bool:
        return bool(np.abs(self._state[one] - self._state[other]).max() > _UNSEEN)

    def _paint(self, index: int) -> NDArray[np.uint8]:
        image = self._background.copy()
        held = self._recording.held[index]
        for number in self._touched:
            self._paint_shadow(image, number, index)
        # From the bottom up: what stands on a block hides the top of it.
        heights = self._recording.places[:, index, 1]
        names = self._recording.blocks
        for number in sorted(self._touched, key=lambda k: float(heights[k])):
            if names[number] != held:
                self._paint_block(image, number, index)
        self._paint_hand(image, None if held is None else names.index(held), index)
        for sheet, corner in self._occluders:
            lay_over(image, sheet, corner)
        return image

    def _paint_block(self, image: NDArray[np.uint8], number: int, index: int) -> None:
        x, y, angle = self._recording.places[number, index]
        motion = self._motion(self._recording.places[number, :, :2], index)
        self._sprites[number].place(image, VIEW, (x, y), float(angle), motion)

    def _paint_shadow(self, image: NDArray[np.uint8], number: int, index: int) -> None:
        """Darken the table under a block; the higher it is, the smaller the spot."""
        if self._darkness <= 0 or self._is_above_another(number, index):
            return
        x, y, _ = self._recording.places[number, index]
        above = max(float(y) - self._recording.scenario.blocks[number].height / 2, 0.0)
        size = round(1.0 / (1.0 + 4.0 * above), 2)
        where = (float(x) + 0.008 - self._light * (0.012 + 0.3 * above), 0.004)
        self._shadows[number].place(image, VIEW, where, stretch=size)

    def _is_above_another(self, number: int, index: int) -> bool:
        places = self._recording.places[:, index]
        beside = np.abs(places[:, 0] - places[number, 0])
        return bool(np.any((places[:, 1] < places[number, 1]) & (beside < 0.05)))

    def _paint_hand(self, image: NDArray[np.uint8], held: int | None, index: int) -> None:
        look, pose = self._recording.scenario.look, self._recording.poses[index]
        joints = joints_of(pose, look)
        arm = _inside(arm_extent_of(joints, look))
        fingers = _inside(extent_of(joints, look))
        motion = self._motion(self._hands, index)
        if arm is not None:
            sketch = Sketch(VIEW, arm, self._light)
            paint_arm(sketch, joints, look)
            sketch.layer.onto(image, motion)
        if fingers is None:
            return
        sketch = Sketch(VIEW, fingers, self._light)
        paint_back(sketch, joints, look)
        if held is not None:
            sketch.layer.onto(image, motion)
            self._paint_block(image, held, index)
            sketch = Sketch(VIEW, fingers, self._light)
        paint_front(sketch, joints, look)
        sketch.layer.onto(image, motion)


def _state_of(recording: TabletopRecording) -> NDArray[np.float64]:
    """Return ``(T, N)`` all numbers that a painting depends on, in metres and radians."""
    hands = [(pose.x, pose.y, pose.opening) for pose in recording.poses]
    holds = [(float(name is not None),) for name in recording.held]
    places = recording.places.transpose(1, 0, 2).reshape(recording.num_frames, -1)
    return np.concatenate([hands, holds, places], axis=1)


def _inside(box: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Cut a ``(2, 2)`` box in metres at the edges of the picture; None if it is outside."""
    corners = VIEW.metres([(0, SIZE[1]), (SIZE[0], 0)])
    cut = np.clip(box, corners[0] - 0.02, corners[1] + 0.02)
    return cut if np.all(cut[1] > cut[0]) else None


def _paint_occluders(
    effects: Effects, rng: np.random.Generator
) -> list[tuple[NDArray[np.uint8], tuple[int, int]]]:
    """Paint what stands close to the camera; the stronger, the more likely and the larger."""
    x, here = float(rng.uniform(40, SIZE[0] - 40)), rng.random() < 1.2 * effects.occlusion
    if not here:
        return []
    layer = Layer((x - 100, SIZE[1] - 160, x + 100, SIZE[1]))
    paint_occluder(layer, x, effects.occlusion, rng)
    return [(layer.finished(), layer.corner)]
