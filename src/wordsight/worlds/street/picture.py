"""Painting the frames of a film of the street from its recording."""

from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.camera import Effects, FilmCamera
from wordsight.worlds.framing import visible
from wordsight.worlds.painter import Colour, Layer, lay_over
from wordsight.worlds.picture import Picture
from wordsight.worlds.sketch import Sketch, Sprite, View, soft_shadow, turned
from wordsight.worlds.street.figure import extent_of, paint_body, paint_near_arm
from wordsight.worlds.street.people import PersonLook
from wordsight.worlds.street.places.place import SIZE, Backdrop, Place
from wordsight.worlds.street.recording import StreetRecording

__all__ = ["StreetPicture", "boxes_of"]


_UNSEEN = 4e-4  # metres: a twentieth of a pixel
_MOST_LIGHT = 1.4  # shading at which light and dark sides are fully drawn is 1 / this


class StreetPicture(Picture):
    """Paints any frame of one film.

    What never moves is painted once: the backdrop, and the things nobody touches.

    Args:
        recording: What happened.
        effects: How rich and how spoiled the picture is.
        camera: Shake, exposure and grain.
        rng: Where the chance of the backdrop comes from.
    """

    def __init__(
        self,
        recording: StreetRecording,
        effects: Effects,
        camera: FilmCamera,
        rng: np.random.Generator,
    ) -> None:
        place = recording.scenario.place
        super().__init__(camera, place.view.scale, effects.blur)
        self._recording = recording
        self._view = place.view
        self._light = place.light * min(_MOST_LIGHT * effects.shading, 1.0)
        self._looks = [_lit(part.person.look, place) for part in recording.scenario.parts]
        self._sprites = [
            replace(prop, colour=_tinted(prop.colour, place)).sprite(place.scale, self._light)
            for prop in recording.scenario.props
        ]
        self._shadows = _Shadows(recording, place, effects)
        self._touched = np.any(recording.holders >= 0, axis=1)
        self._background = self._paint_background(place, effects, rng)
        self._occluders = _paint_occluders(place, effects, rng)
        self._state = _state_of(recording)

    def _differ(self, one: int, other: int) -> bool:
        return bool(np.abs(self._state[one] - self._state[other]).max() > _UNSEEN)

    def _paint(self, index: int) -> NDArray[np.uint8]:
        image = self._background.copy()
        moving = np.flatnonzero(self._touched).tolist()
        for thing in moving:
            self._shadows.under_thing(image, thing, index)
        for person in range(len(self._looks)):
            self._shadows.under_person(image, person, index)
        holders = self._recording.holders[:, index]
        for thing in moving:
            if holders[thing] < 0:
                self._paint_thing(image, thing, index)
        for person in range(len(self._looks)):
            held = np.flatnonzero(holders == person).tolist()
            self._paint_person(image, person, held, index)
        for sheet, corner in self._occluders:
            lay_over(image, sheet, corner)
        return image

    def _paint_background(
        self, place: Place, effects: Effects, rng: np.random.Generator
    ) -> NDArray[np.uint8]:
        backdrop = Backdrop(effects, rng)
        place.paint(backdrop)
        for thing in np.flatnonzero(~self._touched).tolist():
            self._shadows.under_thing(backdrop.image, thing, 0)
            self._paint_thing(backdrop.image, thing, 0)
        return backdrop.image

    def _paint_thing(self, image: NDArray[np.uint8], thing: int, index: int) -> None:
        x, y, angle = self._recording.places[thing, index]
        motion = self._motion(self._recording.places[thing, :, :2], index)
        self._sprites[thing].place(image, self._view, (x, y), float(angle), motion)

    def _paint_person(
        self, image: NDArray[np.uint8], person: int, held: list[int], index: int
    ) -> None:
        joints = self._recording.joints[person, index]
        look, facing = self._looks[person], float(self._recording.facings[person, index])
        motion = self._motion(self._recording.joints[person, :, 3], index)
        box = np.add(extent_of(joints, look).reshape(2, 2), ((-0.06, -0.02), (0.06, 0.03)))
        sketch = Sketch(self._view, box, self._light)
        paint_body(sketch, joints, look, facing)
        if not held:
            paint_near_arm(sketch, joints, look)
        sketch.layer.onto(image, motion)
        if not held:
            return
        for thing in held:
            self._paint_thing(image, thing, index)
        arm = joints[4:7]  # the near shoulder, elbow and hand
        front = Sketch(self._view, (arm.min(axis=0) - 0.08, arm.max(axis=0) + 0.08), self._light)
        paint_near_arm(front, joints, look)
        front.layer.onto(image, motion)


class _Shadows:
    """The soft shadows on the ground; they lie away from the light."""

    def __init__(self, recording: StreetRecording, place: Place, effects: Effects) -> None:
        self._recording = recording
        self._view = place.view
        self._lean = -0.22 * place.light
        self._on = effects.shadow > 0
        darkness = 0.55 * place.shadow * effects.shadow
        self._things = [
            soft_shadow(prop.width * 1.25, 0.10, place.scale, darkness)
            for prop in recording.scenario.props
        ]
        self._people = [
            soft_shadow(0.62, 0.12, place.scale, darkness) for _ in recording.scenario.parts
        ]

    def under_thing(self, image: NDArray[np.uint8], thing: int, index: int) -> None:
        """Darken the ground under a thing; the higher it is, the smaller the spot."""
        if self._on:
            x, y, _ = self._recording.places[thing, index]
            size = round(1.0 / (1.0 + 1.2 * max(float(y), 0.0)), 2)
            where = (float(x) + self._lean * (0.3 + float(y)), 0.0)
            self._place(self._things[thing], image, where, size)

    def under_person(self, image: NDArray[np.uint8], person: int, index: int) -> None:
        """Darken the ground under the feet of a person."""
        if self._on:
            feet = self._recording.joints[person, index][[12, 16], 0]  # the ankles
            where = (float(feet.mean()) + 0.04 + self._lean * 0.6, 0.0)
            self._place(self._people[person], image, where, 1.0)

    def _place(
        self, shadow: Sprite, image: NDArray[np.uint8], where: tuple[float, float], size: float
    ) -> None:
        shadow.place(image, self._view, where, 0.0, stretch=size)


def _paint_occluders(
    place: Place, effects: Effects, rng: np.random.Generator
) -> list[tuple[NDArray[np.uint8], tuple[int, int]]]:
    """Paint what stands close to the camera; the stronger, the more and the larger."""
    sheets = []
    for threshold in (0.85, 0.35):
        x, here = float(rng.uniform(40, SIZE[0] - 40)), rng.random() < effects.occlusion / threshold
        if effects.occlusion > 0 and here:
            layer = Layer((x - 110, 0, x + 110, SIZE[1]))
            place.paint_occluder(layer, x, effects.occlusion, rng)
            sheets.append(_cropped(layer))
    return sheets


def _cropped(layer: Layer) -> tuple[NDArray[np.uint8], tuple[int, int]]:
    sheet = layer.finished()
    rows, columns = np.nonzero(sheet[..., 3])
    top, left = int(rows.min()), int(columns.min())
    part = sheet[top : rows.max() + 1, left : columns.max() + 1]
    return np.ascontiguousarray(part), (layer.corner[0] + left, layer.corner[1] + top)


def _state_of(recording: StreetRecording) -> NDArray[np.float64]:
    """Return ``(T, K)`` every number that decides what a frame looks like, in metres."""
    frames = recording.num_frames
    moving = (recording.joints, recording.facings, recording.places, 10.0 * recording.holders)
    parts = [np.moveaxis(part, 1, 0).reshape(frames, -1) for part in moving]
    return np.concatenate(parts, axis=1)


def _tinted(colour: Colour, place: Place) -> Colour:
    red, green, blue = (
        round(min(part * tint, 255.0)) for part, tint in zip(colour, place.tint, strict=True)
    )
    return red, green, blue


def _lit(look: PersonLook, place: Place) -> PersonLook:
    colours = {
        field.name: _tinted(getattr(look, field.name), place)
        for field in fields(look)
        if isinstance(getattr(look, field.name), tuple)
    }
    return replace(look, **colours)  # type: ignore[arg-type]


# MERGED FROM wordsight.worlds.street.picture:
# Where every individual of a film is in the picture, from the geometry of bodies and things.


def boxes_of(
    recording: StreetRecording, offsets: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Return ``(T, 4)`` pixel boxes x1, y1, x2, y2 by name; NaN while out of the picture.

    Args:
        recording: What happened.
        offsets: ``(T, 2)`` pixels by which the camera's shake moves each frame.
    """
    view = recording.scenario.place.view
    boxes = {}
    for part, joints in zip(recording.scenario.parts, recording.joints, strict=True):
        boxes[part.person.name] = extent_of(joints, part.person.look)
    for prop, places in zip(recording.scenario.props, recording.places, strict=True):
        corners = np.concatenate(prop.solids())
        moved = np.stack([turned(corners, place[2]) + place[:2] for place in places])
        boxes[prop.name] = np.concatenate([moved.min(axis=1), moved.max(axis=1)], axis=1)
    shift = np.tile(offsets, 2)
    return {name: visible(_in_pixels(view, box) + shift, SIZE) for name, box in boxes.items()}


def _in_pixels(view: View, boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = view.pixels(boxes[:, :2]), view.pixels(boxes[:, 2:])
    # Rows grow downwards: the top of the scene is the small row.
    return np.stack([low[:, 0], high[:, 1], high[:, 0], low[:, 1]], axis=1)
