"""`Scenario`: a film of the tabletop before it is shot: blocks, places, acts and looks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wordsight.worlds.painter import Colour, shade
from wordsight.worlds.tabletop.acts import Act, Wait
from wordsight.worlds.tabletop.blocks import Block
from wordsight.worlds.tabletop.events import Event, Plan
from wordsight.worlds.tabletop.hand import HandLook
from wordsight.worlds.tabletop.room import Room
from wordsight.worlds.tabletop.settings import SETTINGS

__all__ = ["MOST_BLOCKS", "Scenario", "cast_scenario"]

MOST_BLOCKS = 6

_SKINS: tuple[Colour, ...] = ((240, 200, 174), (224, 172, 140), (198, 134, 98), (150, 100, 72))
_SLEEVES: tuple[Colour, ...] = ((58, 78, 130), (120, 120, 124), (44, 92, 84), (150, 60, 74))
_SLEEVES += ((236, 234, 228), (46, 48, 54), (196, 150, 96))


@dataclass(frozen=True)
class Scenario:
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

    event: Event
    cast: dict[str, str]
    blocks: tuple[Block, ...]
    places: dict[str, tuple[float, float]]
    held: str | None
    start: tuple[float, float]
    acts: tuple[Act, ...]
    speed: float
    look: HandLook
    setting: str


def cast_scenario(event: Event, colours: Sequence[str], rng: np.random.Generator) -> Scenario:
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
    return Scenario(
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
    plan: Plan, cast: dict[str, str], room: Room, blocks: Sequence[Block]
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


def _look(rng: np.random.Generator) -> HandLook:
    sleeve = _SLEEVES[rng.integers(len(_SLEEVES))]
    cuff = shade(sleeve, 0.82) if rng.random() < 0.5 else (238, 236, 230)
    skin = shade(_SKINS[rng.integers(len(_SKINS))], rng.uniform(0.95, 1.04))
    return HandLook(skin, sleeve, cuff, bool(rng.random() < 0.4), float(rng.uniform(0.95, 1.06)))
