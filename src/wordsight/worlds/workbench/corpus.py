"""The corpus of the workbench: protocols carried out before the camera, and how it is painted."""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from string import ascii_lowercase

import numpy as np

from wordsight.worlds.camera import Effects, FilmCamera
from wordsight.worlds.checks import (
    Rng,
    WorldError,
    film_rng,
    pick,
    require_count,
    require_names,
    require_number,
)
from wordsight.worlds.film import Picture, RenderedFilm, shoot
from wordsight.worlds.painter import Floats, Image, Layer, mix, shade
from wordsight.worlds.sketch import SIZE, Sketch, Sprite, soft_shadow
from wordsight.worlds.workbench.deeds import choose_order
from wordsight.worlds.workbench.hands import BenchPose, HandSprites, joints_of
from wordsight.worlds.workbench.recording import Manner, WorkbenchRecording, WorkbenchTruth, perform
from wordsight.worlds.workbench.stage import Stream
from wordsight.worlds.workbench.steps import KINDS, kinds_for, write_protocol
from wordsight.worlds.workbench.things import (
    SCENERIES,
    THINGS,
    VIEW,
    paint_occluder,
    paint_scenery,
    seen,
)
from wordsight.worlds.workbench.vessels import ThingLook

__all__ = ["WorkbenchFilm", "WorkbenchPicture", "workbench"]


_SIDES = (-1.0, 1.0)

_BOTTOM = float(VIEW.metres((0, SIZE[1]))[1]) - 0.05  # below the picture, in metres

_RAISED = 0.012  # metres; what is higher is in the air, before everything that stands


class WorkbenchPicture(Picture):
    """Paints any frame of one film.

    Things that no hand touches are painted together once, until one of them changes.
    """

    def __init__(
        self, recording: WorkbenchRecording, effects: Effects, camera: FilmCamera, rng: Rng
    ) -> None:
        scenery = pick(SCENERIES, rng)
        # The shutter is open a thirtieth of a second at most.
        shutter = min(1.0, recording.frame_rate / 30.0)
        super().__init__(effects, camera, VIEW, scenery.light, shutter)
        self._recording = recording
        self._darkness = 0.5 * effects.shadow
        self._background = paint_scenery(scenery, effects, rng)
        # What hangs between the camera and the bench.
        left, here = bool(rng.random() < 0.5), rng.random() < 1.2 * effects.occlusion
        if here:
            layer = Layer((0, 0, SIZE[0], SIZE[1]))
            paint_occluder(layer, left, effects.occlusion)
            self._occluders = [layer.cropped()]
        self._hands = HandSprites(recording.hand_look, VIEW.scale, self._light)
        self._touched = recording.touched()
        heights = recording.places[:, :, 2]
        # How far above its last resting place a thing is, as long as a hand touches it.
        self._raised = np.where(self._touched, heights - heights.min(axis=1, keepdims=True), 0.0)
        tracks = [seen(recording.places), recording.angles[..., None]]
        self._tracks = np.concatenate(tracks, axis=-1)
        poses = recording.poses
        self._hand_tracks = np.array([[(p[hand].x, p[hand].y) for p in poses] for hand in (0, 1)])
        self._sprites: dict[tuple[int, ThingLook], Sprite] = {}
        self._resting: tuple[object, Image] | None = None
        self._shadows = [
            soft_shadow(THINGS[name].width * 1.1, 0.030, VIEW.scale, self._darkness)
            for name in recording.things
        ]

    def _differ(self, one: int, other: int) -> bool:
        recording = self._recording
        frames = (recording.poses, recording.looks, recording.streams)
        arrays = (recording.places, recording.angles)
        return any(each[one] != each[other] for each in frames) or any(
            not np.array_equal(each[:, one], each[:, other]) for each in arrays
        )

    def _paint(self, index: int) -> Image:
        live = self._live(index)
        image = self._rest(index, live).copy()
        poses = self._recording.poses[index]
        for number in live:
            self._paint_shadow(image, number, index)
        for number in self._by_depth(live, index):
            name = self._recording.things[number]
            for hand, pose in enumerate(poses):
                if pose.touching == name and pose.hold == "wrap":
                    self._paint_fingers_behind(image, pose, hand, index)
            self._paint_thing(image, number, index)
        for stream in self._recording.streams[index]:
            self._paint_stream(image, stream)
        for hand in sorted((0, 1), key=lambda k: -poses[k].depth):
            self._paint_hand(image, poses[hand], hand, index)
        return image

    def _live(self, index: int) -> list[int]:
        """Return the things that must be painted again: touched ones and what is before them."""
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

    def _reach(self, number: int, index: int) -> tuple[Floats, Floats]:
        """Return about where a resting thing is seen: lower left and upper right, metres."""
        thing = THINGS[self._recording.things[number]]
        box, spot = thing.box, self._tracks[number, index, :2]
        if thing.lies:
            return spot - box[1, 1], spot + box[1, 1]
        return spot + box[0], spot + box[1]

    def _by_depth(self, numbers: list[int], index: int) -> list[int]:
        """Sort things: the furthest first, what is in the air last."""
        depths, raised = self._recording.places[:, index, 1], self._raised[:, index]
        return sorted(numbers, key=lambda k: (raised[k] >= _RAISED, -float(depths[k])))

    def _rest(self, index: int, live: list[int]) -> Image:
        """Return the bench with all things that are not painted again."""
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

    def _paint_thing(self, image: Image, number: int, index: int) -> None:
        look = self._recording.looks[index][number]
        if (number, look) not in self._sprites:
            thing = THINGS[self._recording.things[number]]
            self._sprites[number, look] = thing.sprite(look, VIEW.scale, self._light)
        self._place(image, self._sprites[number, look], self._tracks[number], index)

    def _paint_shadow(self, image: Image, number: int, index: int) -> None:
        if self._darkness > 0:
            x, depth, height = self._recording.places[number, index].tolist()
            across, up = seen((x - 0.010 * self._light, depth, 0.0)).tolist()
            self._place_shadow(image, self._shadows[number], (across, up + 0.002), height, 4.0)

    def _paint_fingers_behind(self, image: Image, pose: BenchPose, hand: int, index: int) -> None:
        motion = self._motion(self._hand_tracks[hand], index)
        self._hands.behind(pose, _SIDES[hand]).place(image, VIEW, (pose.x, pose.y), motion=motion)

    def _paint_hand(self, image: Image, pose: BenchPose, hand: int, index: int) -> None:
        """Paint the sleeve, the palm, the thumb and the fingers before what is held."""
        side, motion = _SIDES[hand], self._motion(self._hand_tracks[hand], index)
        wrist, far = joints_of(pose, side)["arm"]
        along = (far - wrist) / np.hypot(*(far - wrist))
        if wrist[1] > _BOTTOM:
            arm = self._hands.arm(float((wrist[1] - _BOTTOM) / -along[1]))
            angle = float(np.arctan2(along[0], -along[1]))
            arm.place(image, VIEW, wrist.tolist(), angle, motion)
        self._hands.before(pose, side).place(image, VIEW, (pose.x, pose.y), motion=motion)

    def _paint_stream(self, image: Image, stream: Stream) -> None:
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
        sketch.onto(image)


_WORLD = "workbench"

_FEWEST_STEPS, _MOST_STEPS = 10, 25

_WORST_CRF = 51  # the encoder's limit


class WorkbenchFilm(RenderedFilm[WorkbenchTruth]):
    """A film of the workbench, with its truth frame by frame."""


def workbench(
    films: int = 6,
    random_state: int = 0,
    *,
    videos_per_protocol: int = 2,
    steps: int | None = None,
    kinds: Sequence[str] | None = None,
    objects: Sequence[str] | None = None,
    skip: float = 0.0,
    repeat: float = 0.0,
    swap: float = 0.0,
    stray: float = 0.08,
    pace: float = 1.5,
    noise: float = 0.3,
    effects: Effects | None = None,
    frame_rate: float = 15.0,
) -> Iterator[WorkbenchFilm]:
    """Make films of two hands that carry out written protocols at a laboratory bench.

    Film number k is the same however many are made. Films of one protocol share its text, and
    differ in the bench, the person and the timing. By default a film takes about 13 s per step.

    Args:
        films: Number of films.
        random_state: The seed.
        videos_per_protocol: Number of films that share a protocol, up to 26.
        steps: Number of steps of a protocol; by default drawn from 10 to 25.
        kinds: Which kinds of steps protocols are made of; by default all.
        objects: What may stand on the bench besides beaker and flask; by default everything.
        skip: Probability of each step to be left out.
        repeat: Probability of each step to be done twice.
        swap: Probability of each pair of neighbouring steps to change places.
        stray: Probability that a hand touches something unrelated between two sentences.
        pace: How fast people work, 0.25 to 4; 1 is unhurried, 1.5 is brisk.
        noise: How rich and how degraded the pictures are, 0 to 1.
        effects: Strengths one by one instead of ``noise``.
        frame_rate: Frames per second.

    Returns:
        The films, each made when it is asked for.

    Raises:
        WorldError: If a name is unknown, or a number out of range.

    Examples:
        >>> film = next(workbench(films=1, steps=10))
        >>> film.name, film.sentences[0] in film.companions[".txt"]
        ('workbench-000-a', True)
    """
    count = require_count("films", films)
    rates = {"skip": skip, "repeat": repeat, "swap": swap, "stray": stray}
    for name, rate in rates.items():
        require_number(name, rate, 0.0, 1.0)
    manner = Manner(
        require_number("pace", pace, 0.25, 4.0),
        stray,
        require_number("frame_rate", frame_rate, 5.0, 60.0),
    )
    takes = require_count("videos_per_protocol", videos_per_protocol, unit="video per protocol")
    if takes > len(ascii_lowercase):
        raise WorldError(f"videos_per_protocol can be 26 at most, got {takes}.")
    num_steps = None if steps is None else require_count("steps", steps, unit="step")
    wanted = KINDS.check(require_names("kind of step", tuple(KINDS) if kinds is None else kinds))
    there = THINGS.check(require_names("object", tuple(THINGS) if objects is None else objects))
    possible = kinds_for(wanted, there)
    strengths = Effects.at(noise) if effects is None else effects
    film_rng(random_state, _WORLD, 0)  # refuses a bad seed now rather than at the first film

    def film(index: int) -> WorkbenchFilm:
        number, take = divmod(index, takes)
        rng = film_rng(random_state, f"{_WORLD}/protocol", number)
        drawn = int(rng.integers(_FEWEST_STEPS, _MOST_STEPS + 1))
        protocol = write_protocol(num_steps or drawn, possible, there, rng)
        rng_for = partial(film_rng, random_state, _WORLD, index)
        order = choose_order(len(protocol.steps), skip, repeat, swap, rng_for("order"))
        recording = perform(protocol, order, manner, rng_for("script"))
        shot = shoot(recording, strengths, rng_for, WorkbenchTruth, WorkbenchPicture)
        return WorkbenchFilm(
            name=f"{_WORLD}-{number:03d}-{ascii_lowercase[take]}",
            world=_WORLD,
            index=index,
            random_state=int(random_state),
            sentences=tuple(sentence.text for sentence in protocol.sentences),
            companions={".txt": protocol.text()},
            **shot | {"crf": _crf(strengths, manner.frame_rate)},
        )

    return (film(index) for index in range(count))


def _crf(effects: Effects, frame_rate: float) -> int:
    """Return the encoder's quality number for the quality that 30 frames per second would have.

    The encoder spends more on frames that are shown longer: 3 steps for each halving of the rate.
    """
    extra = max(round(3 * math.log2(30.0 / frame_rate)), 0)
    return min(effects.crf + extra, _WORST_CRF)
