"""`Scenario`: what shall happen in a film before it happens: who, what, where, and the scripts."""

from dataclasses import dataclass

from wordsight.worlds.street.acts import Act
from wordsight.worlds.street.people.wardrobe import Look
from wordsight.worlds.street.places.place import Place
from wordsight.worlds.street.things.thing import Prop

__all__ = ["Part", "Person", "Scenario"]


@dataclass(frozen=True)
class Person:
    """One individual person of a film.

    Attributes:
        name: Unique in the film, such as ``person-1``.
        look: Height, clothes and so on.
    """

    name: str
    look: Look


@dataclass(frozen=True)
class Part:
    """What one person does.

    Attributes:
        person: Who.
        x: Where they stand at the beginning, metres.
        facing: 1 looks right, -1 left.
        holding: Name of the thing they hold at the beginning, or None.
        acts: What they do, one after the other; then they stand until the end.
    """

    person: Person
    x: float
    facing: int
    holding: str | None
    acts: tuple[Act, ...]

    def seconds(self) -> float:
        """How long all acts take."""
        total, x = 0.0, self.x
        for act in self.acts:
            total += act.seconds(x)
            x = act.leads_to(x)
        return total


@dataclass(frozen=True)
class Scenario:
    """A film before it is shot.

    Attributes:
        place: Where.
        props: All things.
        spots: x of the things that stand on the ground at the beginning, by name.
        parts: What the people do.
        duration: Seconds.
    """

    place: Place
    props: tuple[Prop, ...]
    spots: dict[str, float]
    parts: tuple[Part, ...]
    duration: float
