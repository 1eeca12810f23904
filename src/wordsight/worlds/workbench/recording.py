"""Performing a protocol at the workbench and recording every frame."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.painter import Colour, shade
from wordsight.worlds.workbench.bench import Place, lay_out
from wordsight.worlds.workbench.deeds import DEEDS
from wordsight.worlds.workbench.hands import HandLook, HandPose
from wordsight.worlds.workbench.protocol import Protocol, ProtocolSentence, StepOrder
from wordsight.worlds.workbench.stage import Script, Stage, Stream, ThingState
from wordsight.worlds.workbench.things import THINGS, ThingLook

__all__ = ["HANDS", "Manner", "PerformedSentence", "WorkbenchRecording", "perform"]


HANDS = ("left_hand", "right_hand")
"""Names of the hands, in the order of all arrays."""


@dataclass(frozen=True)
class PerformedSentence:
    """A sentence that was carried out.

    Attributes:
        step: Number of the step, counting from 0.
        sentence: Number of the sentence in the whole protocol, counting from 0.
        first: First frame.
        last: Last frame.
    """

    step: int
    sentence: int
    first: int
    last: int


@dataclass(frozen=True)
class WorkbenchRecording:
    """What was done in T frames with M things.

    Attributes:
        protocol: What was to be done.
        order: In which order the steps were done, and what went wrong.
        frame_rate: Frames per second.
        things: Names of the things, in the order of the arrays.
        places: ``(M, T, 3)`` x, depth and height of the origins, metres.
        angles: ``(M, T)`` radians.
        stands_on: ``(M, T)`` number of the thing that each stands on, -1 for the bench.
        looks: For every frame what each thing looks like.
        poses: For every frame what the left hand and the right hand do.
        streams: For every frame what falls from one thing into another.
        moments: The sentences in the order they were carried out.
        hand_look: What the hands look like.
    """

    protocol: Protocol
    order: StepOrder
    frame_rate: float
    things: tuple[str, ...]
    places: NDArray[np.float64]
    angles: NDArray[np.float64]
    stands_on: NDArray[np.int64]
    looks: tuple[tuple[ThingLook, ...], ...]
    poses: tuple[tuple[HandPose, HandPose], ...]
    streams: tuple[tuple[Stream, ...], ...]
    moments: tuple[PerformedSentence, ...]
    hand_look: HandLook

    @property
    def num_frames(self) -> int:
        """How many frames there are."""
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


# MERGED FROM wordsight.worlds.workbench.recording:
# Performing a protocol: deeds move hands and things, frames are recorded.


_GLOVES: tuple[Colour, ...] = ((64, 116, 204), (124, 96, 190), (232, 230, 222), (96, 176, 150))
_SKINS: tuple[Colour, ...] = ((236, 192, 164), (216, 168, 136), (176, 120, 86), (132, 88, 64))
_LIQUIDS: tuple[Colour, ...] = ((150, 200, 222), (226, 196, 120), (222, 142, 150), (150, 206, 160))
_POWDER: Colour = (246, 244, 234)


@dataclass(frozen=True)
class Manner:
    """How somebody works.

    Attributes:
        pace: How fast; 1 is natural.
        stray: Chance that a hand touches something unrelated between two sentences.
        frame_rate: Frames per second.
    """

    pace: float = 1.0
    stray: float = 0.08
    frame_rate: float = 15.0


def perform(
    protocol: Protocol, order: StepOrder, manner: Manner, rng: np.random.Generator
) -> WorkbenchRecording:
    """Carry out a protocol.

    Args:
        protocol: What to do.
        order: Which steps, in which order.
        manner: How.
        rng: Where the chance of this performance comes from.
    """
    dominant = 1.0 if rng.random() < 0.8 else -1.0
    things = _equip(protocol, dominant, rng)
    stage = Stage(things, dominant, manner.frame_rate, manner.pace, rng)
    reel = _Reel(stage)
    moments: list[PerformedSentence] = []
    for step, number, sentence in _sentences_of(protocol, order):
        reel.shoot(_pause(stage, manner, [*sentence.things.values()]))
        first = len(reel)
        arguments = dict(sentence.things)
        reel.shoot(DEEDS[sentence.deed](stage, **arguments))
        moments.append(PerformedSentence(step, number, first, len(reel) - 1))
    reel.shoot(_pause(stage, manner, []))
    return WorkbenchRecording(
        protocol,
        order,
        manner.frame_rate,
        tuple(things),
        reel.places,
        reel.angles,
        reel.stands_on,
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


def _pause(stage: Stage, manner: Manner, next_things: list[str]) -> Script:
    """Draw the hands back for a moment, sometimes longer, sometimes touching something."""
    yield from stage.retire()
    rng = stage.rng
    if rng.random() < manner.stray:
        idle = [name for name in stage.things if name not in next_things]
        name = str(rng.choice(idle)) if idle else None
        if name is not None:
            hand = stage.nearer(name)
            yield from stage.touch(hand, name)
            yield from stage.wait(float(rng.uniform(0.4, 1.0)))
            yield from stage.let_go(hand)
            yield from stage.retire()
    long = rng.random() < 0.12
    yield from stage.wait(float(rng.uniform(1.5, 3.0) if long else rng.uniform(0.2, 0.8)))


def _equip(protocol: Protocol, dominant: float, rng: np.random.Generator) -> dict[str, ThingState]:
    homes = lay_out(protocol.things, dominant, rng)
    liquid = _LIQUIDS[rng.integers(len(_LIQUIDS))]
    things = {}
    for name in protocol.things:
        thing = THINGS[name]
        colour = thing.colours[rng.integers(len(thing.colours))]
        content = _POWDER if name in ("jar", "spoon", "dish") else liquid
        level = float(rng.uniform(*thing.full)) if thing.full[1] > 0 else 0.0
        if name == "tube":
            level, content = 0.4, _LIQUIDS[rng.integers(len(_LIQUIDS))]
        things[name] = ThingState(
            thing, homes[name], homes[name], thing.rest, colour, level, content
        )
    return things


def _dress(rng: np.random.Generator) -> HandLook:
    gloves = bool(rng.random() < 0.7)
    colours = _GLOVES if gloves else _SKINS
    skin = shade(colours[rng.integers(len(colours))], rng.uniform(0.94, 1.05))
    sleeve = (240, 240, 238) if rng.random() < 0.8 else (132, 166, 196)
    return HandLook(skin, sleeve, gloves)


class _Reel:
    """Records every frame of a stage."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._numbers = {name: number for number, name in enumerate(stage.things)}
        self._places: list[list[Place]] = []
        self._angles: list[list[float]] = []
        self._stands_on: list[list[int]] = []
        self.looks: list[tuple[ThingLook, ...]] = []
        self.poses: list[tuple[HandPose, HandPose]] = []
        self.streams: list[tuple[Stream, ...]] = []

    def __len__(self) -> int:
        return len(self._places)

    def shoot(self, script: Script) -> None:
        """Record a frame at every step of a script."""
        left, right = self.stage.hands
        for _ in script:
            states = self.stage.things.values()
            self._places.append([state.place for state in states])
            self._angles.append([state.angle for state in states])
            self._stands_on.append([self._numbers.get(s.stands_on or "", -1) for s in states])
            self.looks.append(tuple(state.look() for state in states))
            self.poses.append((left.pose(), right.pose()))
            self.streams.append(tuple(self.stage.streams))
            self.stage.streams.clear()

    @property
    def places(self) -> NDArray[np.float64]:
        """``(M, T, 3)``."""
        return np.array(self._places).transpose(1, 0, 2)

    @property
    def angles(self) -> NDArray[np.float64]:
        """``(M, T)``."""
        return np.array(self._angles).T

    @property
    def stands_on(self) -> NDArray[np.int64]:
        """``(M, T)``."""
        return np.array(self._stands_on).T
