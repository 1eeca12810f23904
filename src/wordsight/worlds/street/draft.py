"""`Draft`: a scenario in the making: who and what there is, and which ground is taken."""

from dataclasses import dataclass, field

import numpy as np

from wordsight.worlds.street.people.wardrobe import cast_look
from wordsight.worlds.street.places.place import Place
from wordsight.worlds.street.scenario import Part, Person
from wordsight.worlds.street.things.thing import Prop, cast_prop

__all__ = ["Draft", "Pace", "Unfit"]

_MARGIN = 0.36  # metres that people keep from the edge of the picture
_BETWEEN_THINGS = 0.62  # metres between the middles of things
_BESIDE_FEET = 0.50  # metres between a thing and where someone stands who does not deal with it


class Unfit(Exception):
    """What was drawn at random does not fit together; another draw may."""


@dataclass(frozen=True)
class Pace:
    """How fast someone acts.

    Attributes:
        speed: Walking speed in metres per second.
        acceleration: Metres per second squared.
        down: Seconds to bend.
        up: Seconds to rise.
    """

    speed: float
    acceleration: float
    down: float
    up: float

    @classmethod
    def drawn(cls, quick: bool, rng: np.random.Generator) -> "Pace":
        """Draw a pace that is clearly quick or clearly slow."""
        ranges = (
            ((1.9, 2.4), (6.5, 8.0), (0.34, 0.42), (0.36, 0.44))
            if quick
            else ((0.56, 0.74), (1.8, 2.4), (0.95, 1.20), (0.95, 1.20))
        )
        return cls(*(float(rng.uniform(*limits)) for limits in ranges))


@dataclass
class Draft:
    """What has been decided so far.

    Attributes:
        place: Where the film is shot.
        rng: Where the chance comes from.
        props: The things so far.
        spots: x of the things that stand on the ground at the beginning.
        parts: What the people do, so far.
        things_at: x of every place where a thing stands at some time.
        feet_at: x of every place where someone stands for a while.
        room: Least and greatest x that the next part may use.
    """

    place: Place
    rng: np.random.Generator
    props: list[Prop] = field(default_factory=list)
    spots: dict[str, float] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)
    things_at: list[float] = field(default_factory=list)
    feet_at: list[float] = field(default_factory=list)
    room: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        half = self.place.half_width - _MARGIN
        self.room = (-half, half)

    def between(self, low: float, high: float) -> float:
        """Draw a number."""
        return float(self.rng.uniform(low, high))

    def chance(self, probability: float) -> bool:
        """Toss a coin."""
        return bool(self.rng.random() < probability)

    def side(self) -> int:
        """Draw a direction: 1 right, -1 left."""
        return 1 if self.chance(0.5) else -1

    def walk(self, least: float, most: float, behind: float, ahead: float) -> tuple[float, float]:
        """Draw the beginning and the end of a walk that fits into the room.

        Args:
            least: Shortest way in metres.
            most: Longest way.
            behind: Room needed behind the beginning.
            ahead: Room needed beyond the end.
        """
        low, high = self.room
        most = min(most, high - low - behind - ahead)
        if most < least:
            raise Unfit("no room for a walk")
        way = self.between(least, most)
        start = self.between(low + behind, high - ahead - way)
        return (start, start + way) if self.chance(0.5) else (-start, -start - way)

    def stand_thing(self, noun: str, x: float) -> Prop:
        """Put a new thing on the ground."""
        prop = self._cast(noun)
        self.reserve(x)
        self.spots[prop.name] = x
        return prop

    def hold_thing(self, noun: str) -> Prop:
        """Make a new thing that someone holds at the beginning."""
        return self._cast(noun)

    def reserve(self, x: float) -> None:
        """Take ground for a thing, now or later in the film."""
        inside = abs(x) <= self.place.half_width - 0.28
        if not inside or not _clear(x, self.things_at, _BETWEEN_THINGS):
            raise Unfit("no room for a thing")
        self.things_at.append(x)

    def person(self) -> Person:
        """Make a new person."""
        return Person(f"person-{len(self.parts) + 1}", cast_look(self.rng))

    def add_part(self, part: Part) -> None:
        """Add what someone does, who must not stand in the way of others."""
        feet = [part.x]
        for act in part.acts:
            feet.append(act.leads_to(feet[-1]))
        low, high = self.room
        if not all(low <= x <= high for x in feet):
            raise Unfit("someone would leave the room")
        self.feet_at.extend(feet)
        self.parts.append(part)

    def add_bystander(self, noun: str) -> None:
        """Put a thing where nobody deals with it, if there is room."""
        half = self.place.half_width - 0.28
        for _ in range(12):
            x = self.between(-half, half)
            free = _clear(x, self.things_at, _BETWEEN_THINGS)
            if free and _clear(x, self.feet_at, _BESIDE_FEET):
                self.stand_thing(noun, x)
                return

    def _cast(self, noun: str) -> Prop:
        number = 1 + sum(prop.thing.noun == noun for prop in self.props)
        prop = cast_prop(noun, f"{noun}-{number}", self.rng)
        self.props.append(prop)
        return prop


def _clear(x: float, others: list[float], distance: float) -> bool:
    return all(abs(x - other) >= distance for other in others)
