"""`BenchStage`: what hands can do at the bench, frame by frame: reach, take, move, put, steady."""

import math
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from wordsight.worlds.checks import Rng, pick
from wordsight.worlds.painter import Colour
from wordsight.worlds.performance import smooth
from wordsight.worlds.sketch import Point
from wordsight.worlds.workbench.hands import BenchPose
from wordsight.worlds.workbench.things import WORK_SPOTS, BenchPlace, WorkbenchThing, seen
from wordsight.worlds.workbench.vessels import ThingLook

__all__ = ["BenchStage", "Hand", "Script", "Stream", "ThingState"]

Script = Iterator[None]
"""What happens; one frame passes at each step."""

_REACHING, _CARRYING = 0.85, 0.62  # metres per second, on the mean
_GRASPING = 0.25  # seconds to close or open a hand
_ROOM = 0.085  # metres between the middles of things that stand side by side
_AT_WORK = 0.33  # depth up to which vessels are near enough to work with


@dataclass
class ThingState:
    """The changing state of one individual thing."""

    thing: WorkbenchThing
    home: BenchPlace
    place: BenchPlace  # of its origin
    angle: float  # radians by which it is turned, counter-clockwise
    colour: Colour
    level: float  # how full it is, 0 to 1
    content: Colour  # of what is in it
    labelled: bool = False
    stands_on: str | None = None  # name of the thing under it; None for the bench

    def point(self, local: Point) -> BenchPlace:
        """Return where a point of the thing is now."""
        x, y = _turned(local, self.angle)
        return self.place[0] + x, self.place[1], self.place[2] + y

    def look(self) -> ThingLook:
        """Return what it looks like now; levels go in twelfths, so that sprites can be kept."""
        level = math.ceil(self.level * 12 - 1e-6) / 12 if self.level > 0.01 else 0.0
        return ThingLook(self.colour, level, self.content, self.labelled)


@dataclass
class Hand:
    """The changing state of one hand; most attributes are those of `BenchPose`."""

    name: str  # left_hand or right_hand
    side: float  # -1 for the left, 1 for the right
    place: BenchPlace  # of the point that it grips
    closing: float = 0.0
    hold: str = "pinch"
    radius: float = 0.02
    touching: str | None = None
    holding: bool = False

    def grip_of(self, state: ThingState) -> Point:
        """Return the point of a thing that this hand takes; left hands take left edges."""
        x, y = state.thing.grip
        return x * self.side, y

    def come_to(self, state: ThingState, local: Point, goal: BenchPlace, angle: float) -> None:
        """Move so that a point of the held thing, turned by ``angle``, is at ``goal``."""
        state.angle = angle
        grip = self.grip_of(state)
        x, y = _turned((grip[0] - local[0], grip[1] - local[1]), angle)
        self.place = (goal[0] + x, goal[1], goal[2] + y)
        x, y = _turned(grip, angle)
        state.place = (self.place[0] - x, self.place[1], self.place[2] - y)

    def pose(self) -> BenchPose:
        """Return the present pose."""
        x, y = seen(self.place).tolist()
        grip = (self.closing, self.hold, self.radius, self.touching, self.holding)
        return BenchPose(x, y, self.place[1], *grip)


@dataclass(frozen=True)
class Stream:
    """Something that falls from one thing into another."""

    start: BenchPlace
    end: BenchPlace
    colour: Colour
    grains: bool  # whether it is powder rather than liquid


def _turned(point: Point, angle: float) -> Point:
    cosine, sine = math.cos(angle), math.sin(angle)
    return cosine * point[0] - sine * point[1], sine * point[0] + cosine * point[1]


class BenchStage:
    """The bench with its things and the two hands.

    Args:
        things: All things by name.
        dominant: 1 for a right-handed person, -1 for a left-handed one.
        frame_rate: Frames per second.
        pace: How fast the person works; 1 is natural.
        rng: Random generator.

    Attributes:
        things: As above.
        hands: The left hand and the right hand.
        streams: What is falling in the present frame.
    """

    def __init__(
        self,
        things: Mapping[str, ThingState],
        dominant: float,
        frame_rate: float,
        pace: float,
        rng: Rng,
    ) -> None:
        self.things = things
        self.rng = rng
        self.streams: list[Stream] = []
        self.hands = (
            Hand("left_hand", -1.0, (-0.19, -0.06, 0.0)),
            Hand("right_hand", 1.0, (0.19, -0.06, 0.0)),
        )
        self._dominant = dominant
        self._frame_rate = frame_rate
        self._pace = pace

    @property
    def skilled(self) -> Hand:
        """The hand that uses tools."""
        return self.hands[1] if self._dominant > 0 else self.hands[0]

    def other(self, hand: Hand) -> Hand:
        """Return the other hand."""
        return self.hands[1] if hand is self.hands[0] else self.hands[0]

    def nearer(self, name: str) -> Hand:
        """Return the hand on whose side a thing is."""
        return self.hands[0] if self.things[name].place[0] < 0 else self.hands[1]

    def held(self, hand: Hand) -> ThingState:
        """Return what a hand touches or holds."""
        if hand.touching is None:
            raise RuntimeError(f"the {hand.name} holds nothing")
        return self.things[hand.touching]

    def clock(self, seconds: float, longest: float | None = None) -> Iterator[float]:
        """Count frames: yields the share of the time that has passed, up to 1.

        Args:
            seconds: How long at the natural pace.
            longest: If given, the time is drawn between ``seconds`` and this.
        """
        if longest is not None:
            seconds = float(self.rng.uniform(seconds, longest))
        seconds *= float(self.rng.uniform(0.85, 1.2)) / self._pace
        frames = max(round(seconds * self._frame_rate), 1)
        for frame in range(1, frames + 1):
            yield frame / frames

    def wait(self, seconds: float) -> Script:
        """Let some time pass."""
        for _ in self.clock(seconds):
            yield

    def reach(self, hand: Hand, goal: BenchPlace) -> Script:
        """Move an empty hand somewhere in a low arch."""
        start = hand.place
        distance = float(np.hypot(goal[0] - start[0], goal[1] - start[1]))
        for share in self.clock(0.16 + distance / _REACHING):
            hand.place = _between(start, goal, smooth(share), 0.18 * distance)
            yield

    def touch(self, hand: Hand, name: str, local: Point | None = None) -> Script:
        """Reach for a thing and close the hand on it where it is."""
        state = self.things[name]
        yield from self.reach(hand, state.point(hand.grip_of(state) if local is None else local))
        hand.hold, hand.radius = state.thing.hold, state.thing.radius
        for share in self.clock(_GRASPING):
            hand.closing = smooth(share)
            if share > 0.5:
                hand.touching = name
            yield

    def take(self, hand: Hand, name: str) -> Script:
        """Touch a thing and lift it a little; what stands on it is put home first."""
        for above, state in self.things.items():
            if state.stands_on == name:
                yield from self.put_home(hand, above)
        yield from self.touch(hand, name)
        hand.holding = True
        self.things[name].stands_on = None
        yield from self.lift(hand, 0.035)

    def lift(self, hand: Hand, by: float) -> Script:
        """Lift what is held straight up."""
        x, depth, height = hand.place
        yield from self.move(hand, (x, depth, height + by))

    def move(self, hand: Hand, goal: BenchPlace, angle: float | None = None) -> Script:
        """Carry what is held until the grip is at ``goal``."""
        yield from self.guide(hand, hand.grip_of(self.held(hand)), goal, angle)

    def guide(
        self, hand: Hand, local: Point, goal: BenchPlace, angle: float | None = None
    ) -> Script:
        """Carry what is held until one point of it is at ``goal``, turned by ``angle``."""
        state = self.held(hand)
        start, turned = state.point(local), state.angle
        angle = turned if angle is None else angle
        distance = float(np.linalg.norm(np.subtract(goal, start))) + 0.08 * abs(angle - turned)
        for share in self.clock(0.12 + distance / _CARRYING):
            done = smooth(share)
            where = _between(start, goal, done, 0.12 * distance)
            hand.come_to(state, local, where, turned + (angle - turned) * done)
            yield

    def put(self, hand: Hand, goal: BenchPlace, stands_on: str | None = None) -> Script:
        """Put what is held so that its origin is at ``goal``, and let go of it."""
        state = self.held(hand)
        rest = state.thing.work if stands_on and state.thing.lies else state.thing.rest
        yield from self.guide(hand, (0.0, 0.0), (goal[0], goal[1], goal[2] + 0.03), rest)
        yield from self.guide(hand, (0.0, 0.0), goal, rest)
        state.stands_on = stands_on
        yield from self.let_go(hand)

    def let_go(self, hand: Hand) -> Script:
        """Open a hand."""
        hand.holding = False
        for share in self.clock(_GRASPING):
            hand.closing = 1.0 - smooth(share)
            if share > 0.5:
                hand.touching = None
            yield

    def put_home(self, hand: Hand, name: str) -> Script:
        """Bring a thing back to where it belongs, taking it first if need be."""
        if hand.touching != name:
            yield from self.take(hand, name)
        elif not hand.holding:
            hand.holding, self.things[name].stands_on = True, None
        yield from self.put(hand, self.things[name].home)

    def bring(self, hand: Hand, name: str) -> Script:
        """Get a vessel to the middle of the bench and keep a hand on it."""
        state = self.things[name]
        near = abs(state.place[0]) < 0.17 and state.place[1] < _AT_WORK
        if state.thing.zone == "rack":  # it cannot stand on the bench, so it is held
            yield from self.take(hand, name)
            yield from self.move(hand, (0.03 * hand.side, 0.24, 0.10), 0.0)
            return
        if state.stands_on is None and near:
            yield from self.touch(hand, name)
            return
        goal = yield from self._make_room(hand, name)
        yield from self.take(hand, name)
        yield from self.guide(hand, (0.0, 0.0), (goal[0], goal[1], 0.03), state.thing.rest)
        yield from self.guide(hand, (0.0, 0.0), goal, state.thing.rest)
        hand.holding = False

    def leave(self, hand: Hand) -> Script:
        """Take the hand off what was brought; what cannot stand on the bench goes home."""
        if hand.holding and hand.touching is not None:
            yield from self.put_home(hand, hand.touching)
        else:
            yield from self.let_go(hand)

    def let_down(self, hand: Hand, name: str) -> Script:
        """Put a vessel that is held down in the middle of the bench; other things go home."""
        thing = self.things[name].thing
        if not thing.vessel or thing.zone == "rack":
            yield from self.put_home(hand, name)
            return
        goal = next((spot for spot in WORK_SPOTS if self._blocker(spot, name) is None), None)
        yield from self.put(hand, self.things[name].home if goal is None else goal)

    def retire(self) -> Script:
        """Draw both hands back to the near edge of the bench."""
        away = 0.22 if self.rng.random() < 0.3 else 0.0
        ways = []
        for hand in self.hands:
            goal = (hand.side * float(self.rng.uniform(0.16, 0.24)), -0.05 - away, 0.0)
            ways.append(self.reach(hand, goal))
        # Both at once, until both are done.
        while ways:
            ways = [way for way in ways if next(way, StopIteration) is not StopIteration]
            if ways:
                yield

    def _make_room(self, hand: Hand, name: str) -> Generator[None, None, BenchPlace]:
        """Find a free working spot; if there is none, bring home what stands on one of them."""
        for spot in WORK_SPOTS:
            if self._blocker(spot, name) is None:
                return spot
        spot = pick(WORK_SPOTS, self.rng)
        while (blocker := self._blocker(spot, name)) is not None:
            yield from self.put_home(hand, blocker)
        return spot

    def _blocker(self, spot: BenchPlace, name: str) -> str | None:
        for other, state in self.things.items():
            if other == name or state.stands_on is not None:
                continue
            if np.hypot(state.place[0] - spot[0], state.place[1] - spot[1]) < _ROOM:
                return other
        return None


def _between(start: BenchPlace, goal: BenchPlace, share: float, arch: float) -> BenchPlace:
    x, depth, height = (a + (b - a) * share for a, b in zip(start, goal, strict=True))
    return x, depth, height + 4.0 * arch * share * (1.0 - share)
