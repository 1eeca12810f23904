"""Scenarios of the tabletop, how they are performed, and the recordings this gives.

The script moves the hand, physics moves the blocks.

Facts say what the hand holds, what touches what, and what stands on the table. Two things touch
from the first frame in which the physics engine has them push each other until their outlines are
more than 1.5 mm apart; contacts and gaps shorter than 0.1 s are removed, because blocks that settle
and blocks that are let go bounce by fractions of a millimetre.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.checks import Rng, WorldError, pick
from wordsight.worlds.film import FilmTruth, runs
from wordsight.worlds.painter import Floats, palette, shade
from wordsight.worlds.performance import Activity, HandLook, Stage
from wordsight.worlds.sketch import Point, moved
from wordsight.worlds.tabletop.acts import (
    BlockPhysics,
    HandAct,
    Puppet,
    SupportChange,
    TabletopEvent,
    wait,
)
from wordsight.worlds.tabletop.things import (
    AGENT,
    SETTINGS,
    TABLE,
    VIEW,
    Block,
    Room,
    TabletopPose,
    extent_of,
    joints_of,
)

__all__ = [
    "TabletopRecording",
    "TabletopScenario",
    "TabletopTruth",
    "cast_scenario",
    "compress",
    "perform",
    "settled",
]


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


_APART = 0.0015  # metres

_FLICKER = 0.1  # seconds

State = TypeVar("State")


class TabletopTruth(FilmTruth[TabletopRecording]):
    """Ground truth of one film."""

    @cached_property
    def facts(self) -> tuple[frozenset[str], ...]:
        """For every frame the facts that hold, such as ``contacts(green,red)``."""
        return _facts_of(self.recording)

    @property
    def sequence(self) -> list[frozenset[str]]:
        """The states one after the other, each once as long as it lasts."""
        return compress(self.facts)

    @property
    def event(self) -> str:
        """The event with its arguments, such as ``stack(hand,red,green,blue)``."""
        scenario = self.recording.scenario
        blocks = [scenario.cast[role] for role in scenario.event.roles]
        return f"{scenario.event.name}({','.join([AGENT, *blocks])})"

    @cached_property
    def boxes(self) -> Mapping[str, Floats]:
        """For the hand and every block ``(T, 4)`` pixels x1, y1, x2, y2; NaN while out of sight.

        The hand reaches from the finger tips to the wrist. The boxes are whole: what something in
        front hides is part of them.
        """
        scenario, look = self.recording.scenario, self.recording.scenario.look
        hands = [extent_of(joints_of(pose, look), look) for pose in self.recording.poses]
        boxes = {AGENT: self._framed(VIEW, np.stack(hands))}
        for block, places in zip(scenario.blocks, self.recording.places, strict=True):
            boxes[block.name] = self._framed(VIEW, moved(block.outline, places))
        return MappingProxyType(boxes)

    @cached_property
    def polygons(self) -> Mapping[str, Floats]:
        """For every block ``(T, 4, 2)`` pixels: the corners of its front face."""
        blocks = zip(self.recording.scenario.blocks, self.recording.places, strict=True)
        shift = self._offsets[:, None]
        return MappingProxyType(
            {b.name: VIEW.pixels(moved(b.corners, places)) + shift for b, places in blocks}
        )

    def record(self) -> dict[str, Any]:
        """Return the truth for ``truth.jsonl``."""
        return {
            "setting": self.recording.scenario.setting,
            "effects": dict(vars(self._effects)),
            "event": self._event_record(),
            "sequence": [sorted(state) for state in self.sequence],
            "states": [
                {**self._span(first, last), "facts": sorted(facts)}
                for facts, first, last in runs(self.facts)
            ],
            "acts": [
                {"name": act.name, "block": act.thing, **self._span(act.first, act.last)}
                for act in self.recording.activities
            ],
            "boxes": self._boxes_record(),
            "polygons": {
                name: np.round(corners, 1).tolist() for name, corners in self.polygons.items()
            },
        }

    def span(self, part: SupportChange) -> tuple[int, int]:
        """Return the first and the last frame in which a part of the event is under way.

        A pick-up lasts from the grip until the block is free of its support, a put-down from the
        first contact with the support until the hand lets go: the frames in which both hold it.
        """
        cast = self.recording.scenario.cast
        block, support = cast[part.object], cast[part.support]
        both = {_attached(block), _contacts(block, support)}
        frames = [frame for frame, facts in enumerate(self.facts) if both <= facts]
        if not frames:
            raise WorldError(f"no {part.name} of {block} and {support} happens in this film.")
        return frames[0], frames[-1]

    def _event_record(self) -> dict[str, Any]:
        scenario = self.recording.scenario
        event, cast = scenario.event, scenario.cast
        spans = [self.span(part) for part in event.parts]
        return {
            "text": self.event,
            "name": event.name,
            "roles": {"agent": AGENT, **cast},
            **self._span(spans[0][0], spans[-1][1]),
            "parts": [
                {
                    "name": part.name,
                    "arguments": [AGENT, cast[part.object], cast[part.support]],
                    **self._span(*span),
                }
                for part, span in zip(event.parts, spans, strict=True)
            ],
        }


def _attached(block: str) -> str:
    return f"attached({AGENT},{block})"


def _contacts(one: str, other: str) -> str:
    first, second = sorted((one, other))
    return f"contacts({first},{second})"


def _facts_of(recording: TabletopRecording) -> tuple[frozenset[str], ...]:
    """Return the facts that hold in every frame."""
    frames: list[set[str]] = [
        {_attached(block)} if block is not None else set() for block in recording.held
    ]
    shortest = max(round(_FLICKER * recording.frame_rate), 1)
    for number, (one, other) in enumerate(recording.pairs):
        fact = f"grounded({one})" if other == TABLE else _contacts(one, other)
        touching = settled(recording.pushed[number], recording.distances[number], shortest)
        for frame in np.flatnonzero(touching):
            frames[frame].add(fact)
    return tuple(frozenset(facts) for facts in frames)


def settled(pushed: NDArray[np.bool_], distances: Floats, shortest: int) -> NDArray[np.bool_]:
    """Decide in which frames two things touch, ``(T,)``.

    Args:
        pushed: ``(T,)`` whether the physics engine had them push each other.
        distances: ``(T,)`` metres between their outlines.
        shortest: Frames that a contact or a gap must last; shorter ones are removed.
    """
    touching = np.zeros(len(pushed), dtype=np.bool_)
    now = False
    for frame, (push, distance) in enumerate(zip(pushed, distances, strict=True)):
        now = bool(push) or (now and distance <= _APART)
        touching[frame] = now
    # Gaps first: a block that bounces has arrived with the first bounce.
    for removed in (False, True):
        inner = list(runs(touching.tolist()))[1:-1]  # the first and the last run stay
        for value, first, last in inner:
            if value == removed and last + 1 - first < shortest:
                touching[first : last + 1] = not removed
    return touching


def compress(states: Iterable[State]) -> list[State]:
    """Leave out every state that equals the one before it.

    Examples:
        >>> compress("aabbba")
        ['a', 'b', 'a']
    """
    return [state for state, _ in groupby(states)]
