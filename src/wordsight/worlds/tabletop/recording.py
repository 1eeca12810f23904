"""Scenarios of the tabletop, how they are performed, and the recordings this gives.

The script moves the hand, physics moves the blocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.chance import Rng, pick
from wordsight.worlds.hands import HandLook
from wordsight.worlds.painter import Floats, palette, shade
from wordsight.worlds.performance import Activity, Stage
from wordsight.worlds.sketch import Point
from wordsight.worlds.tabletop.acts import BlockPhysics, HandAct, Puppet, wait
from wordsight.worlds.tabletop.blocks import AGENT, Block, Room
from wordsight.worlds.tabletop.events import TabletopEvent
from wordsight.worlds.tabletop.hand import TabletopPose
from wordsight.worlds.tabletop.settings import SETTINGS

__all__ = ["TabletopRecording", "TabletopScenario", "cast_scenario", "perform"]

_MOST_BLOCKS = 6
_SETTLING = 0.5  # seconds before the film in which blocks come to rest
_SKINS = palette("f0c8ae e0ac8c c68662 966448")
_SLEEVES = palette("3a4e82 78787c 2c5c54 963c4a eceae4 2e3036 c49660")


@dataclass(frozen=True)
class TabletopScenario:
    """A film before it is performed."""

    event: TabletopEvent
    cast: dict[str, str]  # blocks by the role they play
    blocks: tuple[Block, ...]
    places: dict[str, Point]  # middle of each block at the beginning, metres
    held: str | None  # block in the hand at the beginning
    start: Point  # position of the hand at the beginning, metres
    acts: tuple[HandAct, ...]  # one after the other
    speed: float  # of the hand, metres per second
    look: HandLook
    setting: str  # name of the table and the wall


@dataclass(frozen=True)
class TabletopRecording:
    """What happened in T frames to M blocks and P pairs of things."""

    scenario: TabletopScenario
    frame_rate: float  # per second
    poses: tuple[TabletopPose, ...]  # of the hand, T of them
    places: Floats  # (M, T, 3) x, y of the middle and angle of the blocks
    held: tuple[str | None, ...]  # block in the hand in every frame
    pairs: tuple[tuple[str, str], ...]  # of things; the table comes second
    pushed: NDArray[np.bool_]  # (P, T) whether the two pushed each other
    distances: Floats  # (P, T) metres between their outlines, at most 1 cm
    activities: tuple[Activity, ...]  # in the order they began

    @property
    def num_frames(self) -> int:
        """Number of frames."""
        return len(self.poses)

    @property
    def blocks(self) -> tuple[str, ...]:
        """Names of the blocks, in the order of the arrays."""
        return tuple(block.name for block in self.scenario.blocks)


def cast_scenario(event: TabletopEvent, colours: Sequence[str], rng: Rng) -> TabletopScenario:
    """Draw everything that an event leaves open; it needs as many colours as it has roles."""
    roles, in_hand, way = event.plan(rng)
    most = min(_MOST_BLOCKS, len(colours))
    number = int(rng.integers(len(event.roles), most + 1))
    names = [str(name) for name in rng.permutation(list(colours))[:number]]
    cast = dict(zip(event.roles, names, strict=False))
    blocks = tuple(_carve(name, rng) for name in names)
    towers = [[cast[role] for role in tower] for tower in roles]
    towers += _bystanders(names[len(event.roles) :], len(towers), rng)
    look = _look(rng)
    room = Room(towers, blocks, look.left, rng)
    held, start = None, room.air() if in_hand else room.away()
    if in_hand:
        held, height = cast["object"], blocks[event.roles.index("object")].height
        room.places[held] = (start[0], start[1] - 0.12 * height)
    acts = (wait(room.pause()), *event.acts(cast, room, way), wait(room.pause()))
    speed, setting = float(rng.uniform(0.34, 0.60)), str(rng.choice(list(SETTINGS)))
    return TabletopScenario(
        event, cast, blocks, room.places, held, start, acts, speed, look, setting
    )


def _carve(name: str, rng: Rng) -> Block:
    width, height = rng.uniform(0.066, 0.082), rng.uniform(0.056, 0.080)
    return Block(name, float(width), float(height), int(rng.integers(1 << 30)))


def _bystanders(names: Sequence[str], used: int, rng: Rng) -> list[list[str]]:
    """Stand the blocks that take no part in towers of one or two, leaving two columns free."""
    space = max(Room.COLUMNS - used - 2, 1)
    towers: list[list[str]] = []
    for name in names:
        single = [tower for tower in towers if len(tower) == 1]
        if len(towers) >= space or (single and rng.random() < 0.25):
            (single[0] if single else towers[-1]).append(name)
        else:
            towers.append([name])
    return towers


def _look(rng: Rng) -> HandLook:
    sleeve = pick(_SLEEVES, rng)
    cuff = shade(sleeve, 0.82) if rng.random() < 0.5 else (238, 236, 230)
    skin = shade(pick(_SKINS, rng), rng.uniform(0.95, 1.04))
    return HandLook(skin, sleeve, cuff, bool(rng.random() < 0.4), float(rng.uniform(0.95, 1.06)))


def perform(scenario: TabletopScenario, frame_rate: float = 30.0) -> TabletopRecording:
    """Perform a scenario and record it ``frame_rate`` times per second."""
    stage = Stage(frame_rate)
    physics = BlockPhysics(scenario.blocks, scenario.places)
    hand = Puppet(scenario.blocks, physics, scenario.start, scenario.speed)
    physics.place_hand(AGENT, scenario.start)
    if scenario.held is not None:
        hand.opening = hand.width(scenario.held)
        physics.grip(scenario.held)
    settling = round(_SETTLING / stage.tick)
    for step in range(settling + stage.per_frame):
        if step == settling:
            physics.contacts()  # forget what happened while settling
        physics.step({AGENT: hand.place}, stage.tick)
    poses, places, held, contacts = [], [], [], []
    script = stage.script(AGENT, hand, scenario.acts, ends_before=1)
    running = True
    while running:
        poses.append(hand.pose())
        places.append(physics.places())
        held.append(physics.held)
        contacts.append(physics.contacts())
        for _ in range(stage.per_frame):
            running = next(script, StopIteration) is not StopIteration
            if not running:
                break
            physics.step({AGENT: hand.place}, stage.tick)
        stage.frame += 1
    pushed, distances = zip(*contacts, strict=True)
    return TabletopRecording(
        scenario,
        frame_rate,
        tuple(poses),
        np.stack(places, axis=1),
        tuple(held),
        physics.pairs,
        np.array(pushed).T,
        np.array(distances).T,
        tuple(stage.activities),
    )
