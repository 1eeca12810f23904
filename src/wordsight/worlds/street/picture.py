"""Painting the frames of a film of the street from its recording."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.camera import Effects, FilmCamera
from wordsight.worlds.chance import Rng
from wordsight.worlds.painter import Colour, Image, Layer
from wordsight.worlds.picture import Picture
from wordsight.worlds.sketch import SIZE, Sketch, soft_shadow
from wordsight.worlds.street.people import PersonLook, extent_of, paint_body, paint_near_arm
from wordsight.worlds.street.places import Backdrop, Place
from wordsight.worlds.street.recording import StreetRecording

__all__ = ["StreetPicture"]


class StreetPicture(Picture):
    """Paints any frame of one film; the backdrop and things no one touches are painted once."""

    _UNSEEN = 4e-4  # metres: a twentieth of a pixel

    def __init__(
        self, recording: StreetRecording, effects: Effects, camera: FilmCamera, rng: Rng
    ) -> None:
        scenario = recording.scenario
        place = scenario.place
        super().__init__(effects, camera, place.view, place.light)
        self._recording = recording
        self._looks = [_lit(script.look, place) for script in scenario.scripts]
        self._sprites = [
            replace(prop, colour=_tinted(prop.colour, place)).sprite(place.scale, self._light)
            for prop in scenario.props
        ]
        darkness = 0.55 * place.shadow * effects.shadow
        widths = [prop.width * 1.25 for prop in scenario.props]
        self._shadows = [soft_shadow(width, 0.10, place.scale, darkness) for width in widths]
        self._person_shadows = [
            soft_shadow(0.62, 0.12, place.scale, darkness) for _ in scenario.scripts
        ]
        self._lean = -0.22 * place.light  # shadows lie away from the light
        self._shadows_on = effects.shadow > 0
        touched = np.any(recording.holders >= 0, axis=1)
        self._moving: list[int] = np.flatnonzero(touched).tolist()
        self._background = self._paint_background(Backdrop(effects, rng), ~touched)
        self._occluders = _paint_occluders(place, effects.occlusion, rng)
        state = (recording.joints, recording.facings, recording.places, 10.0 * recording.holders)
        frames = [np.moveaxis(part, 1, 0).reshape(recording.num_frames, -1) for part in state]
        self._state = np.concatenate(frames, axis=1)

    def _paint(self, index: int) -> Image:
        image = self._background.copy()
        for thing in self._moving:
            self._paint_shadow(image, thing, index)
        for person in range(len(self._looks)):
            self._paint_person_shadow(image, person, index)
        holders = self._recording.holders[:, index]
        for thing in self._moving:
            if holders[thing] < 0:
                self._paint_thing(image, thing, index)
        for person in range(len(self._looks)):
            held = np.flatnonzero(holders == person).tolist()
            self._paint_person(image, person, held, index)
        return image

    def _paint_background(self, backdrop: Backdrop, resting: NDArray[np.bool_]) -> Image:
        self._recording.scenario.place.paint(backdrop)
        for thing in np.flatnonzero(resting).tolist():
            self._paint_shadow(backdrop.image, thing, 0)
            self._paint_thing(backdrop.image, thing, 0)
        return backdrop.image

    def _paint_thing(self, image: Image, thing: int, index: int) -> None:
        self._place(image, self._sprites[thing], self._recording.places[thing], index)

    def _paint_person(self, image: Image, person: int, held: list[int], index: int) -> None:
        joints = self._recording.joints[person, index]
        look, facing = self._looks[person], float(self._recording.facings[person, index])
        motion = self._motion(self._recording.joints[person, :, 3], index)
        box = np.add(extent_of(joints, look).reshape(2, 2), ((-0.06, -0.02), (0.06, 0.03)))
        sketch = Sketch(self._view, box, self._light)
        paint_body(sketch, joints, look, facing)
        if held:
            # The near arm lies over what it holds.
            sketch.onto(image, motion)
            for thing in held:
                self._paint_thing(image, thing, index)
            arm = joints[4:7]  # the near shoulder, elbow and hand
            box = np.array((arm.min(axis=0) - 0.08, arm.max(axis=0) + 0.08))
            sketch = Sketch(self._view, box, self._light)
        paint_near_arm(sketch, joints, look)
        sketch.onto(image, motion)

    def _paint_shadow(self, image: Image, thing: int, index: int) -> None:
        if self._shadows_on:
            x, y, _ = self._recording.places[thing, index].tolist()
            spot = (x + self._lean * (0.3 + y), 0.0)
            self._place_shadow(image, self._shadows[thing], spot, y, 1.2)

    def _paint_person_shadow(self, image: Image, person: int, index: int) -> None:
        if self._shadows_on:
            feet = self._recording.joints[person, index][[12, 16], 0]  # the ankles
            spot = (float(feet.mean()) + 0.04 + self._lean * 0.6, 0.0)
            self._person_shadows[person].place(image, self._view, spot)


def _paint_occluders(
    place: Place, occlusion: float, rng: Rng
) -> list[tuple[Image, tuple[int, int]]]:
    """Paint what stands close to the camera; the stronger, the more and the larger."""
    sheets = []
    for threshold in (0.85, 0.35):
        x, here = float(rng.uniform(40, SIZE[0] - 40)), rng.random() < occlusion / threshold
        if occlusion > 0 and here:
            layer = Layer((x - 110, 0, x + 110, SIZE[1]))
            place.paint_occluder(layer, x, occlusion, rng)
            sheets.append(layer.cropped())
    return sheets


def _tinted(colour: Colour, place: Place) -> Colour:
    red, green, blue = (
        round(min(part * tint, 255.0)) for part, tint in zip(colour, place.tint, strict=True)
    )
    return red, green, blue


def _lit(look: PersonLook, place: Place) -> PersonLook:
    values = {field.name: getattr(look, field.name) for field in fields(look)}
    tinted: dict[str, Any] = {
        name: _tinted(value, place) for name, value in values.items() if isinstance(value, tuple)
    }
    return replace(look, **tinted)
