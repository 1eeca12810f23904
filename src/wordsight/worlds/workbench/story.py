"""`Story`: what a protocol is about while it is being written: its vessel, substances, amounts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from wordsight.worlds.registry import Registry
from wordsight.worlds.workbench.protocol import Sentence
from wordsight.worlds.workbench.things import THINGS

__all__ = ["KINDS", "Kind", "Story", "kind_of_step"]

Choice = TypeVar("Choice")

_POWDERS = (
    *("sodium chloride", "bacto peptone", "yeast extract", "glucose", "agarose", "cellobiose"),
    *("adenine hemisulfate", "LB broth base", "sodium carbonate", "citric acid"),
)
_LIQUIDS = (
    *("DI water", "tris buffer", "ethanol", "phosphate buffer", "glycerol solution"),
    *("calcium chloride solution", "M9 salts", "EDTA solution"),
)
_PRODUCTS = (
    *("YPAD Yeast Media", "LB Growth Media", "M9 Media", "TE Buffer", "Agarose Gel"),
    *("PBS 1x", "Saline", "Stain Mix", "Lysis Buffer", "Citrate Buffer"),
)


class Story:
    """What is kept in mind while writing.

    Args:
        rng: Where the chance comes from.

    Attributes:
        vessel: The vessel in which everything is made.
        product: What is made.
        powder: The powder in the jar at the moment.
        liquid: The liquid in the bottle.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.vessel = self.choose(("beaker", "flask"))
        self.product = self.choose(_PRODUCTS)
        self.powder = self.choose(_POWDERS)
        self.liquid = self.choose(_LIQUIDS)

    def choose(self, options: Sequence[Choice]) -> Choice:
        """Pick one of several options."""
        return options[int(self.rng.integers(len(options)))]

    def chance(self, share: float) -> bool:
        """Decide with a chance."""
        return bool(self.rng.random() < share)

    def new_powder(self) -> str:
        """Turn to another powder."""
        self.powder = self.choose(_POWDERS)
        return self.powder

    def new_liquid(self) -> str:
        """Turn to another liquid."""
        self.liquid = self.choose(_LIQUIDS)
        return self.liquid

    def other_vessel(self) -> str:
        """Return the vessel that is not the main one."""
        return "flask" if self.vessel == "beaker" else "beaker"

    def amount(self, unit: str) -> str:
        """Return a quantity in g, mg, mL, uL, seconds, minutes or rpm."""
        numbers: dict[str, tuple[int, ...]] = {
            "g": (2, 4, 5, 8, 10, 16, 20),
            "mg": (50, 64, 120, 250),
            "mL": (10, 25, 50, 100, 200, 250),
            "uL": (20, 50, 100, 200, 500),
            "seconds": (10, 20, 30, 45),
            "minutes": (1, 2, 5, 10),
            "rpm": (200, 300, 400, 600),
        }
        return f"{self.choose(numbers[unit])} {unit}"

    def phrase(self, name: str) -> str:
        """Return what texts call a thing."""
        return THINGS[name].phrase


Writer = Callable[[Story], list[Sentence]]


@dataclass(frozen=True)
class Kind:
    """A kind of step.

    Attributes:
        name: Its name in the registry.
        needs: Things it may use besides the vessels.
        when: ``first``, ``middle`` or ``last``.
        weight: How often it is chosen, relative to the others.
        write: Writes the sentences.
    """

    name: str
    needs: tuple[str, ...]
    when: str
    weight: float
    write: Writer


KINDS: Registry[Kind] = Registry("kind of step")
"""All kinds of steps by name."""


def kind_of_step(
    name: str, *, needs: tuple[str, ...], when: str = "middle", weight: float = 1.0
) -> Callable[[Writer], Writer]:
    """Register a function that writes the sentences of one kind of step.

    Args:
        name: The kind's name.
        needs: Things it may use besides beaker and flask.
        when: ``first``, ``middle`` or ``last`` of a protocol.
        weight: How often it is chosen, relative to the others.
    """

    def register(write: Writer) -> Writer:
        KINDS.add(name, Kind(name, needs, when, weight, write))
        return write

    return register
