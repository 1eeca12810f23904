"""Painting the frames of a film of the workbench from its recording."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.camera import Effects, FilmCamera
from wordsight.worlds.painter import Layer, lay_over, mix, shade
from wordsight.worlds.picture import Picture
from wordsight.worlds.sketch import Sketch, Sprite, soft_shadow
from wordsight.worlds.workbench.bench import SIZE, VIEW, seen
from wordsight.worlds.workbench.hand_painter import HandSprites
from wordsight.worlds.workbench.hands import HandPose, joints_of
from wordsight.worlds.workbench.recording import WorkbenchRecording
from wordsight.worlds.workbench.scenery import Scenery, paint_occluder, paint_scenery
from wordsight.worlds.workbench.stage import Stream
from wordsight.worlds.workbench.things import THINGS, ThingLook

__all__ = ["WorkbenchPicture"]

_SIDES = (-1.0, 1.0)
_BOTTOM = float(VIEW.metres((0, SIZE[1]))[1]) - 0.05  # below the picture, in metres
_RAISED = 0.012  # metres; what is higher is in the air, before everything that stands


class WorkbenchPicture(Picture):
    """Paints any frame of one film.

    Things that no hand touches are painted together once, until one of them changes.

    Args:
        recording: What happened.
        effects: How rich and how spoiled the picture is.
        camera: Shake, exposure and grain.
        rng: Where the chance of the scenery comes from.
    """

    def __init__(
        self,
        recording: WorkbenchRecording,
        effects: Effects,
        camera: FilmCamera,
        rng: np.random.Generator,
    ) -> None:
        # The shutter is open a thirtieth of a second at most.
        super().__init__(camera, VIEW.scale, min(1.0, recording.frame_rate / 30.0) * effects.blur)
        self._recording = recording
        self._darkness = 0.5 * effects.shadow
        scenery = Scenery.chosen(rng)
        self._light = scenery.light * min(1.4 * effects.shading, 1.0)
        self._background = paint_scenery(scenery, effects.texture, effects.shading, rng)
        self._occluders = _paint_occluders(effects, rng)
        self._hands = HandSprites(recording.hand_look, VIEW.scale, self._light)
        self._touched = recording.touched()
        heights = recording.places[:, :, 2]
        # How far above its last resting place a thing is, as long as a hand touches it.
        self._raised = np.where(self._touched, heights - heights.min(axis=1, keepdims=True), 0.0)
        self._sprites: dict[tuple[int, ThingLook], Sprite] = {}
        self._resting: tuple[object, NDArray[np.uint8]] | None = None
        self._shadows = [
            soft_shadow(THINGS[name].width * 1.1, 0.030, VIEW.scale, self._darkness)
            for name in recording.things
        ]

    def _differ(self, one: int, other: int) -> bool:
        recording = self._recording
        return (
            recording.poses[one] != recording.poses[other]
            or recording.looks[one] != recording.looks[other]
            or recording.streams[one] != recording.streams[other]
            or not np.array_equal(recording.places[:, one], recording.places[:, other])
            or not np.array_equal(recording.angles[:, one], recording.angles[:, other])
        )

    def _paint(self, index: int) -> NDArray[np.uint8]:
        live = self._live(index)
        image = self._rest(index, live).copy()
        poses = self._recording.poses[index]
        for number in live:
            self._paint_shadow(image, number, index)
        for number in self._by_depth(live, index):
            name = self._recording.things[number]
            for hand, pose in enumerate(poses):
                if pose.touching == name and pose.hold == "wrap":
                    self._paint_behind(image, pose, hand, index)
            self._paint_thing(image, number, index)
        for stream in self._recording.streams[index]:
            self._paint_stream(image, stream)
        for hand in sorted((0, 1), key=lambda k: -poses[k].depth):
            self._paint_hand(image, poses[hand], hand, index)
        for sheet, corner in self._occluders:
            lay_over(image, sheet, corner)
        return image

    def _live(self, index: int) -> list[int]:
        """Return the things that must be painted anew: touched ones and what is before them."""
        touched = self._touched[:, index]
        bases = self._recording.stands_on[:, index]
        live = touched | ((bases >= 0) & touched[bases])
        places = self._recording.places[:, index]
        for number in np.flatnonzero(touched & (self._raised[:, index] < _RAISED)).tolist():
            nearer = places[:, 1] < places[number, 1]
            low, high = self._reach(number, index)
            for other in np.flatnonzero(nearer & ~live).tolist():
                other_low, other_high = self._reach(other, index)
                live[other] = bool(np.all(other_low < high) and np.all(low < other_high))
        return [int(number) for number in np.flatnonzero(live)]

    def _reach(self, number: int, index: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return about where a resting thing is seen: lower left and upper right, metres."""
        box = THINGS[self._recording.things[number]].box
        where = self._tracks[number, index]
        if THINGS[self._recording.things[number]].lies:
            return where - box[1, 1], where + box[1, 1]
        return where + box[0], where + box[1]

    def _by_depth(self, numbers: list[int], index: int) -> list[int]:
        """Sort things: the furthest first, what is in the air last."""
        depths, raised = self._recording.places[:, index, 1], self._raised[:, index]
        return sorted(numbers, key=lambda k: (raised[k] >= _RAISED, -float(depths[k])))

    def _rest(self, index: int, live: list[int]) -> NDArray[np.uint8]:
        """Return the bench with all things that are not painted anew."""
        resting = [number for number in range(len(self._recording.things)) if number not in live]
        looks, places = self._recording.looks[index], self._recording.places[:, index]
        key = (tuple(resting), tuple(looks[k] for k in resting), places[resting].tobytes())
        if self._resting is None or self._resting[0] != key:
            image = self._background.copy()
            for number in resting:
                self._paint_shadow(image, number, index)
            for number in self._by_depth(resting, index):
                self._paint_thing(image, number, index)
            self._resting = (key, image)
        return self._resting[1]

    def _paint_thing(self, image: NDArray[np.uint8], number: int, index: int) -> None:
        recording = self._recording
        look = recording.looks[index][number]
        if (number, look) not in self._sprites:
            thing = THINGS[recording.things[number]]
            self._sprites[number, look] = thing.sprite(look, VIEW.scale, self._light)
        x, y = self._tracks[number, index].tolist()
        motion = self._motion(self._tracks[number], index)
        angle = float(recording.angles[number, index])
        self._sprites[number, look].place(image, VIEW, (x, y), angle, motion)

    def _paint_shadow(self, image: NDArray[np.uint8], number: int, index: int) -> None:
        """Darken the bench under a thing; the higher it is, the smaller the spot."""
        if self._darkness <= 0:
            return
        x, depth, height = self._recording.places[number, index]
        size = round(1.0 / (1.0 + 4.0 * max(float(height), 0.0)), 2)
        across, up = seen((x - 0.010 * self._light, depth, 0.0)).tolist()
        self._shadows[number].place(image, VIEW, (across, up + 0.002), stretch=size)

    def _paint_behind(
        self, image: NDArray[np.uint8], pose: HandPose, hand: int, index: int
    ) -> None:
        """Paint the fingers that go behind what is held."""
        motion = self._motion(self._hand_tracks[hand], index)
        self._hands.behind(pose, _SIDES[hand]).place(image, VIEW, (pose.x, pose.y), motion=motion)

    def _paint_hand(self, image: NDArray[np.uint8], pose: HandPose, hand: int, index: int) -> None:
        """Paint the sleeve, the palm, the thumb and the fingers before what is held."""
        side, motion = _SIDES[hand], self._motion(self._hand_tracks[hand], index)
        wrist, far = joints_of(pose, side)["arm"]
        along = (far - wrist) / np.hypot(*(far - wrist))
        if wrist[1] > _BOTTOM:
            arm = self._hands.arm(float((wrist[1] - _BOTTOM) / -along[1]))
            angle = float(np.arctan2(along[0], -along[1]))
            arm.place(image, VIEW, wrist.tolist(), angle, motion)
        self._hands.before(pose, side).place(image, VIEW, (pose.x, pose.y), motion=motion)

    def _paint_stream(self, image: NDArray[np.uint8], stream: Stream) -> None:
        start, end = seen(stream.start), seen(stream.end)
        box = np.array([np.minimum(start, end) - 0.01, np.maximum(start, end) + 0.01])
        sketch = Sketch(VIEW, box, self._light)
        if stream.grains:
            for share in np.linspace(0.05, 0.95, 9):
                spot = start + (end - start) * share + (0.003 * np.sin(40 * share), 0.0)
                sketch.ellipse(spot, (0.004, 0.004), shade(stream.colour, 0.92))
        else:
            sketch.stroke([start, end], 0.007, shade(stream.colour, 0.9))
            sketch.stroke([start, end], 0.003, mix(stream.colour, (255, 255, 255), 0.5))
        sketch.layer.onto(image)

    @cached_property
    def _tracks(self) -> NDArray[np.float64]:
        return seen(self._recording.places)

    @cached_property
    def _hand_tracks(self) -> NDArray[np.float64]:
        poses = self._recording.poses
        return np.array([[(pose[hand].x, pose[hand].y) for pose in poses] for hand in (0, 1)])


def _paint_occluders(
    effects: Effects, rng: np.random.Generator
) -> list[tuple[NDArray[np.uint8], tuple[int, int]]]:
    """Paint what hangs between the camera and the bench."""
    left, here = bool(rng.random() < 0.5), rng.random() < 1.2 * effects.occlusion
    if not here:
        return []
    layer = Layer((0, 0, SIZE[0], SIZE[1]))
    paint_occluder(layer, left, effects.occlusion)
    sheet = layer.finished()
    columns = np.flatnonzero(sheet[..., 3].any(axis=0))
    first, last = int(columns[0]), int(columns[-1]) + 1
    return [(np.ascontiguousarray(sheet[:, first:last]), (first, 0))]
