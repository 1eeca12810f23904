"""The corpus of the tabletop: films of a hand and blocks, and how their frames are painted."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from wordsight.worlds.camera import Effects, FilmCamera
from wordsight.worlds.checks import (
    Rng,
    WorldError,
    film_rng,
    require_count,
    require_names,
    require_number,
)
from wordsight.worlds.film import Picture, RenderedFilm, shoot
from wordsight.worlds.painter import Floats, Image, Layer
from wordsight.worlds.sketch import SIZE, Sketch, soft_shadow
from wordsight.worlds.tabletop.acts import EVENTS, TabletopEvent
from wordsight.worlds.tabletop.recording import (
    TabletopRecording,
    TabletopTruth,
    cast_scenario,
    perform,
)
from wordsight.worlds.tabletop.things import (
    COLOURS,
    SETTINGS,
    VIEW,
    arm_extent_of,
    extent_of,
    joints_of,
    paint_arm,
    paint_back,
    paint_front,
    paint_occluder,
    paint_setting,
)

__all__ = ["TabletopFilm", "TabletopPicture", "tabletop"]


class TabletopPicture(Picture):
    """Paints any frame of one film; the background and resting blocks are painted once."""

    _UNSEEN = 1e-4  # metres

    def __init__(
        self, recording: TabletopRecording, effects: Effects, camera: FilmCamera, rng: Rng
    ) -> None:
        setting = SETTINGS[recording.scenario.setting]
        super().__init__(effects, camera, VIEW, setting.light)
        self._recording = recording
        self._darkness = 0.6 * effects.shadow
        blocks = recording.scenario.blocks
        scale = VIEW.scale
        self._sprites = [block.sprite(scale, effects.texture, effects.shading) for block in blocks]
        self._shadows = [
            soft_shadow(block.width * 1.3, 0.026, scale, self._darkness) for block in blocks
        ]
        held = set(recording.held)
        self._touched = [number for number, block in enumerate(blocks) if block.name in held]
        self._background = paint_setting(setting, effects, rng)
        resting = [number for number in range(len(blocks)) if number not in self._touched]
        self._paint_blocks(self._background, resting, 0)
        # What stands close to the camera: the stronger, the more likely and the larger.
        x, here = float(rng.uniform(40, SIZE[0] - 40)), rng.random() < 1.2 * effects.occlusion
        if here:
            layer = Layer((x - 100, SIZE[1] - 160, x + 100, SIZE[1]))
            paint_occluder(layer, x, effects.occlusion, rng)
            self._occluders = [layer.cropped()]
        self._hands = np.array([(pose.x, pose.y, pose.opening) for pose in recording.poses])
        holds = [(float(name is not None),) for name in recording.held]
        places = recording.places.transpose(1, 0, 2).reshape(recording.num_frames, -1)
        self._state = np.concatenate([self._hands, holds, places], axis=1)

    def _paint(self, index: int) -> Image:
        image = self._background.copy()
        held = self._recording.held[index]
        number = None if held is None else self._recording.blocks.index(held)
        self._paint_blocks(image, self._touched, index, held=number)
        self._paint_hand(image, number, index)
        return image

    def _paint_blocks(
        self, image: Image, numbers: list[int], index: int, held: int | None = None
    ) -> None:
        """Paint shadows, then blocks from the bottom up: the upper hide the tops of the lower."""
        for number in numbers:
            self._paint_shadow(image, number, index)
        heights = self._recording.places[:, index, 1]
        for number in sorted(numbers, key=lambda k: float(heights[k])):
            if number != held:
                self._paint_block(image, number, index)

    def _paint_block(self, image: Image, number: int, index: int) -> None:
        self._place(image, self._sprites[number], self._recording.places[number], index)

    def _paint_shadow(self, image: Image, number: int, index: int) -> None:
        if self._darkness <= 0 or self._is_above_another(number, index):
            return
        x, y, _ = self._recording.places[number, index].tolist()
        above = max(y - self._recording.scenario.blocks[number].height / 2, 0.0)
        spot = (x + 0.008 - self._light * (0.012 + 0.3 * above), 0.004)
        self._place_shadow(image, self._shadows[number], spot, above, 4.0)

    def _is_above_another(self, number: int, index: int) -> bool:
        places = self._recording.places[:, index]
        beside = np.abs(places[:, 0] - places[number, 0])
        return bool(np.any((places[:, 1] < places[number, 1]) & (beside < 0.05)))

    def _paint_hand(self, image: Image, held: int | None, index: int) -> None:
        look, pose = self._recording.scenario.look, self._recording.poses[index]
        joints = joints_of(pose, look)
        motion = self._motion(self._hands[:, :2], index)
        arm, fingers = _inside(arm_extent_of(joints, look)), _inside(extent_of(joints, look))
        if arm is not None:
            sketch = Sketch(VIEW, arm, self._light)
            paint_arm(sketch, joints, look)
            sketch.onto(image, motion)
        if fingers is None:
            return
        sketch = Sketch(VIEW, fingers, self._light)
        paint_back(sketch, joints, look)
        if held is not None:
            sketch.onto(image, motion)
            self._paint_block(image, held, index)
            sketch = Sketch(VIEW, fingers, self._light)
        paint_front(sketch, joints, look)
        sketch.onto(image, motion)


def _inside(box: Floats) -> Floats | None:
    """Cut a ``(2, 2)`` box in metres at the edges of the picture; None if it is outside."""
    corners = VIEW.metres([(0, SIZE[1]), (SIZE[0], 0)])
    cut = np.clip(box, corners[0] - 0.02, corners[1] + 0.02)
    return cut if np.all(cut[1] > cut[0]) else None


_WORLD = "tabletop"


class TabletopFilm(RenderedFilm[TabletopTruth]):
    """A film of the tabletop, with its truth frame by frame."""


def tabletop(
    films_per_event: int = 30,
    random_state: int = 0,
    *,
    events: Sequence[str] | None = None,
    colours: Sequence[str] | None = None,
    noise: float = 0.3,
    effects: Effects | None = None,
    frame_rate: float = 30.0,
) -> Iterator[TabletopFilm]:
    """Make films of a hand that plays with coloured blocks.

    Film number k of an event is the same however many are made, and whatever other events.

    Args:
        films_per_event: Number of films of each event.
        random_state: The seed.
        events: Which events; by default all seven.
        colours: Which colours the blocks have; a film takes two to six of them.
        noise: How rich and how degraded the pictures are, 0 to 1.
        effects: Strengths one by one instead of ``noise``.
        frame_rate: Frames per second.

    Returns:
        The films, each made when it is asked for, event after event.

    Raises:
        WorldError: If a name is unknown, or a number out of range.

    Examples:
        >>> film = next(tabletop(films_per_event=1, events=["stack"]))
        >>> film.name, film.truth.event
        ('tabletop-stack-000', 'stack(hand,black,red,white)')
    """
    count = require_count("films_per_event", films_per_event)
    names = EVENTS.check(require_names("event", tuple(EVENTS) if events is None else events))
    strengths = Effects.at(noise) if effects is None else effects
    if len(set(names)) < len(names):
        raise WorldError(f"name each event once, got {', '.join(names)}.")
    wanted = require_names("colour", tuple(COLOURS) if colours is None else colours)
    paints = COLOURS.check(dict.fromkeys(wanted))
    for name in names:
        needed = len(EVENTS[name].roles)
        if len(paints) < needed:
            raise WorldError(
                f"{name} needs {needed} blocks of different colours, "
                f"got {', '.join(paints)}; name more colours."
            )
    rate = require_number("frame_rate", frame_rate, 10.0, 120.0)
    film_rng(random_state, _WORLD, 0)  # refuses a bad seed now rather than at the first film

    def film(event: TabletopEvent, index: int, number: int) -> TabletopFilm:
        rng = partial(film_rng, random_state, f"{_WORLD}/{event.name}", index)
        scenario = cast_scenario(event, paints, rng("script"))
        blocks = {role: f"{colour} block" for role, colour in scenario.cast.items()}
        recording = perform(scenario, rate)
        return TabletopFilm(
            name=f"{_WORLD}-{event.name}-{index:03d}",
            world=_WORLD,
            index=number,
            random_state=int(random_state),
            sentences=tuple(sentence.format(**blocks) for sentence in event.sentences),
            **shoot(recording, strengths, rng, TabletopTruth, TabletopPicture),
        )

    return (
        film(EVENTS[name], index, number * count + index)
        for number, name in enumerate(names)
        for index in range(count)
    )
