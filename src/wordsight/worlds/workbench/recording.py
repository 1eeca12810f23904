"""Performing a protocol at the workbench, and what is then true: steps, touches, places."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.checks import Rng, pick
from wordsight.worlds.film import FilmTruth, runs
from wordsight.worlds.painter import Floats, palette, shade
from wordsight.worlds.performance import HandLook
from wordsight.worlds.sketch import turned
from wordsight.worlds.workbench.deeds import DEEDS, Protocol, ProtocolSentence, StepOrder
from wordsight.worlds.workbench.hands import BenchPose, extent_of, joints_of
from wordsight.worlds.workbench.stage import BenchStage, Script, Stream, ThingState
from wordsight.worlds.workbench.things import THINGS, VIEW, BenchPlace, lay_out, seen
from wordsight.worlds.workbench.vessels import ThingLook

__all__ = [
    "HANDS",
    "Manner",
    "PerformedSentence",
    "WorkbenchRecording",
    "WorkbenchTruth",
    "perform",
]


HANDS = ("left_hand", "right_hand")
"""Names of the hands, in the order of all arrays."""

_GLOVES = palette("4074cc 7c60be e8e6de 60b096")

_SKINS = palette("ecc0a4 d8a888 b07856 845840")

_LIQUIDS = palette("96c8de e2c478 de8e96 96cea0")

_POWDER = (246, 244, 234)


@dataclass(frozen=True)
class Manner:
    """How someone works."""

    pace: float = 1.0  # 1 is natural
    stray: float = 0.08  # probability of touching something unrelated between two sentences
    frame_rate: float = 15.0  # frames per second


@dataclass(frozen=True)
class PerformedSentence:
    """A sentence that was carried out."""

    step: int  # number of the step, counting from 0
    sentence: int  # number of the sentence in the whole protocol, counting from 0
    first: int  # frame
    last: int  # frame


@dataclass(frozen=True)
class WorkbenchRecording:
    """What was done in T frames with M things."""

    protocol: Protocol
    order: StepOrder
    frame_rate: float  # per second
    things: tuple[str, ...]  # names, in the order of the arrays
    places: Floats  # (M, T, 3) x, depth and height of the origins, metres
    angles: Floats  # (M, T) radians
    stands_on: NDArray[np.int64]  # (M, T) number of the thing under each, -1 for the bench
    looks: tuple[tuple[ThingLook, ...], ...]  # of each thing in every frame
    poses: tuple[tuple[BenchPose, BenchPose], ...]  # of the left and the right hand in every frame
    streams: tuple[tuple[Stream, ...], ...]  # what falls in every frame
    moments: tuple[PerformedSentence, ...]  # in the order they were carried out
    hand_look: HandLook

    @property
    def num_frames(self) -> int:
        """Number of frames."""
        return len(self.poses)

    def touched(self) -> NDArray[np.bool_]:
        """Return ``(M, T)`` whether a hand touches the thing in the frame."""
        touched = np.zeros((len(self.things), self.num_frames), dtype=np.bool_)
        numbers = {name: number for number, name in enumerate(self.things)}
        for frame, poses in enumerate(self.poses):
            for pose in poses:
                if pose.touching is not None:
                    touched[numbers[pose.touching], frame] = True
        return touched


def perform(protocol: Protocol, order: StepOrder, manner: Manner, rng: Rng) -> WorkbenchRecording:
    """Carry out the steps of a protocol in an order and manner."""
    dominant = 1.0 if rng.random() < 0.8 else -1.0
    things = _equip(protocol, dominant, rng)
    stage = BenchStage(things, dominant, manner.frame_rate, manner.pace, rng)
    reel = _Reel(stage)
    moments: list[PerformedSentence] = []
    for step, number, sentence in _sentences_of(protocol, order):
        reel.shoot(_pause(stage, manner, [*sentence.things.values()]))
        first = len(reel.poses)
        reel.shoot(DEEDS[sentence.deed](stage, **sentence.things))
        moments.append(PerformedSentence(step, number, first, len(reel.poses) - 1))
    reel.shoot(_pause(stage, manner, []))
    return WorkbenchRecording(
        protocol,
        order,
        manner.frame_rate,
        tuple(things),
        np.array(reel.places).transpose(1, 0, 2),
        np.array(reel.angles).T,
        np.array(reel.stands_on).T,
        tuple(reel.looks),
        tuple(reel.poses),
        tuple(reel.streams),
        tuple(moments),
        _dress(rng),
    )


def _sentences_of(
    protocol: Protocol, order: StepOrder
) -> Iterator[tuple[int, int, ProtocolSentence]]:
    starts = np.cumsum([0, *(len(step.sentences) for step in protocol.steps)])
    for step in order.steps:
        for number, sentence in enumerate(protocol.steps[step].sentences):
            yield step, int(starts[step]) + number, sentence


def _pause(stage: BenchStage, manner: Manner, next_things: list[str]) -> Script:
    """Draw the hands back for a moment, sometimes longer, sometimes touching something."""
    yield from stage.retire()
    rng = stage.rng
    idle = [name for name in stage.things if name not in next_things]
    if rng.random() < manner.stray and idle:
        name = str(rng.choice(idle))
        hand = stage.nearer(name)
        yield from stage.touch(hand, name)
        yield from stage.wait(float(rng.uniform(0.4, 1.0)))
        yield from stage.let_go(hand)
        yield from stage.retire()
    long = rng.random() < 0.12
    yield from stage.wait(float(rng.uniform(1.5, 3.0) if long else rng.uniform(0.2, 0.8)))


def _equip(protocol: Protocol, dominant: float, rng: Rng) -> dict[str, ThingState]:
    homes = lay_out(protocol.things, dominant, rng)
    liquid = pick(_LIQUIDS, rng)
    things = {}
    for name in protocol.things:
        thing, home = THINGS[name], homes[name]
        colour = pick(thing.colours, rng)
        content = _POWDER if name in ("jar", "spoon", "dish") else liquid
        level = float(rng.uniform(*thing.full)) if thing.full[1] > 0 else 0.0
        if name == "tube":
            level, content = 0.4, pick(_LIQUIDS, rng)
        things[name] = ThingState(thing, home, home, thing.rest, colour, level, content)
    return things


def _dress(rng: Rng) -> HandLook:
    gloves = bool(rng.random() < 0.7)
    skin = shade(pick(_GLOVES if gloves else _SKINS, rng), rng.uniform(0.94, 1.05))
    sleeve = (240, 240, 238) if rng.random() < 0.8 else (132, 166, 196)
    return HandLook(skin, sleeve, gloves=gloves)


class _Reel:
    """Records every frame of a stage."""

    def __init__(self, stage: BenchStage) -> None:
        self._stage = stage
        self._numbers = {name: number for number, name in enumerate(stage.things)}
        self.places: list[list[BenchPlace]] = []
        self.angles: list[list[float]] = []
        self.stands_on: list[list[int]] = []
        self.looks: list[tuple[ThingLook, ...]] = []
        self.poses: list[tuple[BenchPose, BenchPose]] = []
        self.streams: list[tuple[Stream, ...]] = []

    def shoot(self, script: Script) -> None:
        """Record a frame at every step of a script."""
        left, right = self._stage.hands
        for _ in script:
            states = self._stage.things.values()
            self.places.append([state.place for state in states])
            self.angles.append([state.angle for state in states])
            self.stands_on.append([self._numbers.get(s.stands_on or "", -1) for s in states])
            self.looks.append(tuple(state.look() for state in states))
            self.poses.append((left.pose(), right.pose()))
            self.streams.append(tuple(self._stage.streams))
            self._stage.streams.clear()


class WorkbenchTruth(FilmTruth[WorkbenchRecording]):
    """Ground truth of one film."""

    @cached_property
    def steps(self) -> NDArray[np.int64]:
        """``(T,)`` number of the step under way, counting from 1 as in the text; 0 for none."""
        numbers = np.zeros(self.recording.num_frames, dtype=np.int64)
        for moment in self.recording.moments:
            numbers[moment.first : moment.last + 1] = moment.step + 1
        return numbers

    @cached_property
    def sentences(self) -> NDArray[np.int64]:
        """``(T,)`` number of the sentence under way, counting from 0; -1 for none."""
        numbers = np.full(self.recording.num_frames, -1)
        for moment in self.recording.moments:
            numbers[moment.first : moment.last + 1] = moment.sentence
        return numbers

    def touched(self, frame: int) -> dict[str, str]:
        """Return what each hand touches in a frame; hands that touch nothing are left out."""
        poses = zip(HANDS, self.recording.poses[frame], strict=True)
        return {hand: pose.touching for hand, pose in poses if pose.touching is not None}

    @cached_property
    def boxes(self) -> Mapping[str, Floats]:
        """For both hands and every thing ``(T, 4)`` pixels x1, y1, x2, y2; NaN while out of sight.

        A hand reaches from the finger tips to the wrist. The boxes are whole: what something in
        front hides is part of them.
        """
        boxes = {}
        for hand, side, poses in zip(
            HANDS, (-1.0, 1.0), zip(*self.recording.poses, strict=True), strict=True
        ):
            extents = [extent_of(joints_of(pose, side)) for pose in poses]
            boxes[hand] = self._framed(VIEW, extents)
        for number, name in enumerate(self.recording.things):
            boxes[name] = self._framed(VIEW, self._outlines(number))
        return MappingProxyType(boxes)

    def record(self) -> dict[str, Any]:
        """Return the truth for ``truth.jsonl``."""
        order = self.recording.order
        return {
            "effects": dict(vars(self._effects)),
            "title": self.recording.protocol.title,
            "steps": [
                {
                    "step": number,
                    "kind": step.kind,
                    "sentences": [
                        {"text": sentence.text, "things": list(sentence.named())}
                        for sentence in step.sentences
                    ],
                }
                for number, step in enumerate(self.recording.protocol.steps, start=1)
            ],
            "order": [step + 1 for step in order.steps],
            "skipped": [step + 1 for step in order.skipped],
            "repeated": [step + 1 for step in order.repeated],
            "swapped": [[one + 1, other + 1] for one, other in order.swapped],
            "moments": [
                {"step": m.step + 1, "sentence": m.sentence, **self._span(m.first, m.last)}
                for m in self.recording.moments
            ],
            "touches": self._touches(),
            "boxes": self._boxes_record(),
        }

    def _touches(self) -> list[dict[str, Any]]:
        """List which hand touched what from which frame to which, in order of time."""
        touches = [
            {"hand": hand, "thing": thing, **self._span(first, last)}
            for number, hand in enumerate(HANDS)
            for thing, first, last in runs(poses[number].touching for poses in self.recording.poses)
            if thing is not None
        ]
        return sorted(touches, key=lambda touch: touch["frames"])

    def _outlines(self, number: int) -> Floats:
        """Return ``(T, N, 2)`` metres as seen: the outline of a thing in every frame."""
        recording = self.recording
        name = recording.things[number]
        outline = THINGS[name].sprite(recording.looks[0][number], VIEW.scale, 0.0).outline
        angles, kinds = np.unique(recording.angles[number], return_inverse=True)
        shapes = np.stack([turned(outline, float(angle)) for angle in angles])
        return shapes[kinds] + seen(recording.places[number])[:, None]
