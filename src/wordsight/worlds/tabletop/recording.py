"""Scenarios of the tabletop and the recordings that performing them gives."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.painter import Colour, shade
from wordsight.worlds.tabletop.acts import HandAct, Puppet, Wait
from wordsight.worlds.tabletop.blocks import Block, Room
from wordsight.worlds.tabletop.events import EventPlan, TabletopEvent
from wordsight.worlds.tabletop.hand import BlockHandLook, BlockHandPose
from wordsight.worlds.tabletop.physics import BlockPhysics, Touch
from wordsight.worlds.tabletop.settings import SETTINGS
from wordsight.worlds.timing import Ticks

__all__ = [
    "MOST_BLOCKS",
    "HandActivity",
    "TabletopRecording",
    "TabletopScenario",
    "cast_scenario",
    "perform",
]


# MERGED FROM wordsight.worlds.tabletop.recording:
# `TabletopScenario`: a film of the tabletop before it is shot: blocks, places, acts and looks.


MOST_BLOCKS = 6

_SKINS: tuple[Colour, ...] = ((240, 200, 174), (224, 172, 140), (198, 134, 98), (150, 100, 72))
_SLEEVES: tuple[Colour, ...] = ((58, 78, 130), (120, 120, 124), (44, 92, 84), (150, 60, 74))
_SLEEVES += ((236, 234, 228), (46, 48, 54), (196, 150, 96))


@dataclass(frozen=True)
class TabletopScenario:
    """A film before it is shot.

    Attributes:
        event: What shall happen.
        cast: The blocks by the role they play.
        blocks: All blocks.
        places: x and y of the middle of each block at the beginning, metres.
        held: The block in the hand at the beginning, or None.
        start: Where the hand is at the beginning, metres.
        acts: What the hand does, one after the other.
        speed: How fast it works, metres per second.
        look: What the hand looks like.
        setting: Name of the table and the wall.
    """

    event: TabletopEvent
    cast: dict[str, str]
    blocks: tuple[Block, ...]
    places: dict[str, tuple[float, float]]
    held: str | None
    start: tuple[float, float]
    acts: tuple[HandAct, ...]
    speed: float
    look: BlockHandLook
    setting: str


def cast_scenario(
    event: TabletopEvent, colours: Sequence[str], rng: np.random.Generator
) -> TabletopScenario:
    """Choose everything that an event leaves open.

    Args:
        event: What shall happen.
        colours: Which colours the blocks may have; at least as many as the event has roles.
        rng: Where the chance comes from.
    """
    plan = event.plan(rng)
    most = min(MOST_BLOCKS, len(colours))
    number = int(rng.integers(len(event.roles), most + 1))
    names = [str(name) for name in rng.permutation(list(colours))[:number]]
    cast = dict(zip(event.roles, names, strict=False))
    blocks = tuple(_carve(name, rng) for name in names)
    towers = [[cast[role] for role in tower] for tower in plan.towers]
    towers += _bystanders(names[len(event.roles) :], len(towers), rng)
    look = _look(rng)
    room = Room(towers, blocks, look.left, rng)
    held, start = _begin(plan, cast, room, blocks)
    acts = (Wait(room.pause()), *plan.acts(cast, room), Wait(room.pause()))
    return TabletopScenario(
        event,
        cast,
        blocks,
        room.places,
        held,
        start,
        acts,
        float(rng.uniform(0.34, 0.60)),
        look,
        str(rng.choice(list(SETTINGS))),
    )


def _begin(
    plan: EventPlan, cast: dict[str, str], room: Room, blocks: Sequence[Block]
) -> tuple[str | None, tuple[float, float]]:
    if plan.held is None:
        return None, room.away()
    held, start = cast[plan.held], room.air()
    height = next(block.height for block in blocks if block.name == held)
    room.places[held] = (start[0], start[1] - 0.12 * height)
    return held, start


def _carve(name: str, rng: np.random.Generator) -> Block:
    width, height = rng.uniform(0.066, 0.082), rng.uniform(0.056, 0.080)
    return Block(name, float(width), float(height), int(rng.integers(1 << 30)))


def _bystanders(names: Sequence[str], used: int, rng: np.random.Generator) -> list[list[str]]:
    """Stand the blocks that take no part in towers of one or two, leaving two columns free."""
    space = max(Room.columns() - used - 2, 1)
    towers: list[list[str]] = []
    for name in names:
        lonely = [tower for tower in towers if len(tower) == 1]
        if len(towers) >= space or (lonely and rng.random() < 0.25):
            towers[-1 if not lonely else towers.index(lonely[0])].append(name)
        else:
            towers.append([name])
    return towers


def _look(rng: np.random.Generator) -> BlockHandLook:
    sleeve = _SLEEVES[rng.integers(len(_SLEEVES))]
    cuff = shade(sleeve, 0.82) if rng.random() < 0.5 else (238, 236, 230)
    skin = shade(_SKINS[rng.integers(len(_SKINS))], rng.uniform(0.95, 1.04))
    return BlockHandLook(
        skin, sleeve, cuff, bool(rng.random() < 0.4), float(rng.uniform(0.95, 1.06))
    )


@dataclass(frozen=True)
class HandActivity:
    """One act that was performed.

    Attributes:
        name: Which act, such as ``reach``.
        block: What it was done to, if anything.
        first: First frame in which it was under way.
        last: Last frame in which it was under way.
    """

    name: str
    block: str | None
    first: int
    last: int


@dataclass(frozen=True)
class TabletopRecording:
    """What physics and script did in T frames with M blocks.

    Attributes:
        scenario: What was planned.
        frame_rate: Frames per second.
        poses: What the hand did, T of them.
        places: ``(M, T, 3)`` x, y of the middle and angle of the blocks.
        held: For every frame the block in the hand, or None.
        pairs: The pairs of things; the table is called ``table`` and comes second.
        pushed: ``(P, T)`` whether the engine had the two push each other.
        distances: ``(P, T)`` metres between their outlines, at most 1 cm.
        activities: The acts in the order they began.
    """

    scenario: TabletopScenario
    frame_rate: float
    poses: tuple[BlockHandPose, ...]
    places: NDArray[np.float64]
    held: tuple[str | None, ...]
    pairs: tuple[tuple[str, str], ...]
    pushed: NDArray[np.bool_]
    distances: NDArray[np.float64]
    activities: tuple[HandActivity, ...]

    @property
    def num_frames(self) -> int:
        """How many frames there are."""
        return len(self.poses)

    @property
    def blocks(self) -> tuple[str, ...]:
        """Names of the blocks, in the order of the arrays."""
        return tuple(block.name for block in self.scenario.blocks)


# MERGED FROM wordsight.worlds.tabletop.recording:
# Performing a scenario of the tabletop: the script moves the hand, physics moves the blocks.


_SETTLING = 0.5  # seconds before the film in which blocks come to rest


def perform(scenario: TabletopScenario, frame_rate: float = 30.0) -> TabletopRecording:
    """Let a scenario happen.

    Args:
        scenario: What shall happen.
        frame_rate: How often it is recorded, per second.
    """
    stage = _Stage(scenario, frame_rate)
    stage.settle()
    return stage.shoot()


class _Stage:
    def __init__(self, scenario: TabletopScenario, frame_rate: float) -> None:
        self.scenario = scenario
        self.frame_rate = frame_rate
        self.ticks = Ticks(frame_rate)
        self.physics = BlockPhysics(scenario.blocks, scenario.places)
        self.hand = Puppet(scenario.blocks, self.physics, scenario.start, scenario.speed)
        self.frame = 0
        self.activities: list[HandActivity] = []

    def settle(self) -> None:
        self.physics.put_hand(self.scenario.start)
        if self.scenario.held is not None:
            self.hand.opening = self.hand.width(self.scenario.held)
            self.physics.grip(self.scenario.held)
        for _ in range(round(_SETTLING / self.ticks.seconds)):
            self.physics.step(self.hand.place, self.ticks.seconds)
        self.physics.touches()  # forget what happened while settling
        self._frame_of_time()

    def shoot(self) -> TabletopRecording:
        poses, places, held, touches = [], [], [], []
        script = self._script()
        running = True
        while running:
            poses.append(self.hand.pose())
            places.append(self.physics.places())
            held.append(self.physics.held)
            touches.append(self.physics.touches())
            running = self._play_frame(script)
            self.frame += 1
        return TabletopRecording(
            self.scenario,
            self.frame_rate,
            tuple(poses),
            np.stack(places, axis=1),
            tuple(held),
            tuple(touches[0]),
            *_as_arrays(touches),
            tuple(self.activities),
        )

    def _play_frame(self, script: Iterator[None]) -> bool:
        for _ in range(self.ticks.per_frame):
            if next(script, StopIteration) is StopIteration:
                return False
            self.physics.step(self.hand.place, self.ticks.seconds)
        return True

    def _frame_of_time(self) -> None:
        for _ in range(self.ticks.per_frame):
            self.physics.step(self.hand.place, self.ticks.seconds)

    def _script(self) -> Iterator[None]:
        for act in self.scenario.acts:
            first = self.frame
            yield from act.perform(self.hand, self.ticks.during)
            self.activities.append(
                HandActivity(act.name, act.block, first, max(self.frame - 1, first))
            )


def _as_arrays(
    touches: list[dict[tuple[str, str], Touch]],
) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.bool_]],
           np.ndarray[tuple[int, int], np.dtype[np.float64]]]:  # fmt: skip
    pushed = np.array([[touch.pushed for touch in frame.values()] for frame in touches]).T
    distances = np.array([[touch.distance for touch in frame.values()] for frame in touches]).T
    return pushed, distances
