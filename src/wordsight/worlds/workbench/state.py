"""The changing state of the workbench: where every thing is, and what the hands are doing."""

import math
from dataclasses import dataclass, field

from wordsight.worlds.painter import Colour
from wordsight.worlds.workbench.bench import Place, seen
from wordsight.worlds.workbench.hands import HandPose
from wordsight.worlds.workbench.things import Look, Thing
from wordsight.worlds.workbench.things.thing import Point

__all__ = ["Hand", "Stream", "ThingState"]


@dataclass
class ThingState:
    """One individual thing.

    Attributes:
        thing: What it is.
        home: Where it belongs.
        place: Where its origin is.
        angle: Radians by which it is turned, counter-clockwise.
        colour: Its main colour.
        level: How full it is, 0 to 1.
        content: Colour of what is in it.
        labelled: Whether something has been written on it.
        stands_on: Name of the thing it stands on, or None for the bench.
    """

    thing: Thing
    home: Place
    place: Place
    angle: float
    colour: Colour
    level: float
    content: Colour
    labelled: bool = False
    stands_on: str | None = None

    def point(self, local: Point) -> Place:
        """Return where a point of the thing is now."""
        x, y = _turned(local, self.angle)
        return self.place[0] + x, self.place[1], self.place[2] + y

    def look(self) -> Look:
        """Return what it looks like now; levels go in twelfths, so that pictures can be kept."""
        level = math.ceil(self.level * 12 - 1e-6) / 12 if self.level > 0.01 else 0.0
        return Look(self.colour, level, self.content, self.labelled)


@dataclass
class Hand:
    """One hand.

    Attributes:
        name: ``left_hand`` or ``right_hand``.
        side: -1 for the left, 1 for the right.
        place: Where the point is that it grips.
        closing: 0 open, 1 closed.
        hold: ``wrap`` or ``pinch``.
        radius: Metres from the grip to the palm.
        touching: Name of the thing it touches, or None.
        holding: Whether that thing moves with it.
    """

    name: str
    side: float
    place: Place
    closing: float = 0.0
    hold: str = "pinch"
    radius: float = 0.02
    touching: str | None = None
    holding: bool = False

    def grip_of(self, state: ThingState) -> Point:
        """Return the point of a thing that this hand takes; left hands take left edges."""
        x, y = state.thing.grip
        return x * self.side, y

    def carry(self, state: ThingState) -> None:
        """Put the thing that is held where the hand is."""
        x, y = _turned(self.grip_of(state), state.angle)
        state.place = (self.place[0] - x, self.place[1], self.place[2] - y)

    def come_to(self, state: ThingState, local: Point, goal: Place, angle: float) -> None:
        """Move so that a point of the held thing, turned by ``angle``, is at ``goal``."""
        state.angle = angle
        grip = self.grip_of(state)
        x, y = _turned((grip[0] - local[0], grip[1] - local[1]), angle)
        self.place = (goal[0] + x, goal[1], goal[2] + y)
        self.carry(state)

    def pose(self) -> HandPose:
        """Return the pose of the moment."""
        x, y = seen(self.place)
        return HandPose(
            float(x),
            float(y),
            self.place[1],
            self.closing,
            self.hold,
            self.radius,
            self.touching,
            self.holding,
        )


@dataclass(frozen=True)
class Stream:
    """Something that falls from one thing into another.

    Attributes:
        start: Where it leaves.
        end: Where it arrives.
        colour: Its colour.
        grains: Whether it is powder rather than liquid.
    """

    start: Place
    end: Place
    colour: Colour
    grains: bool = field(default=False)


def _turned(point: Point, angle: float) -> Point:
    cosine, sine = math.cos(angle), math.sin(angle)
    return cosine * point[0] - sine * point[1], sine * point[0] + cosine * point[1]
