"""`Protocol`: a procedure in steps of sentences, and the deeds that carry each sentence out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from wordsight.worlds.checks import Registry
from wordsight.worlds.workbench.things import THINGS

__all__ = [
    "KINDS",
    "Kind",
    "Protocol",
    "ProtocolSentence",
    "Step",
    "StepOrder",
    "Story",
    "choose_order",
    "kind_of_step",
]


@dataclass(frozen=True)
class ProtocolSentence:
    """One sentence of a step.

    Attributes:
        text: What is written.
        deed: Name of what is done.
        things: Names of the things it is done with, by the deed's arguments.
    """

    text: str
    deed: str
    things: Mapping[str, str]

    def named(self) -> tuple[str, ...]:
        """Return the things of the bench that the text names, in the order of the registry."""
        words = self.text.lower().replace(",", " ").replace(".", " ")
        return tuple(name for name in THINGS if f" {THINGS[name].phrase} " in f" {words} ")


@dataclass(frozen=True)
class Step:
    """A numbered step.

    Attributes:
        kind: Name of the kind of step it was made from.
        sentences: One to four; the first one stands beside the number.
    """

    kind: str
    sentences: tuple[ProtocolSentence, ...]


@dataclass(frozen=True)
class Protocol:
    """A whole procedure.

    Attributes:
        title: What is made.
        steps: What to do, in order.
        things: Names of the things it needs.
    """

    title: str
    steps: tuple[Step, ...]
    things: tuple[str, ...]

    @property
    def sentences(self) -> tuple[ProtocolSentence, ...]:
        """All sentences in order."""
        return tuple(sentence for step in self.steps for sentence in step.sentences)

    def text(self) -> str:
        """Return the text as people write it: numbered steps, further sentences indented."""
        lines = []
        for number, step in enumerate(self.steps, start=1):
            first, *rest = step.sentences
            lines.append(f"Step {number} {first.text}")
            lines += [f"    {sentence.text}" for sentence in rest]
            lines.append("")
        return "\n".join(lines)


# MERGED FROM wordsight.worlds.workbench.protocol:
# `StepOrder`: in which order somebody carries out the steps of a protocol, with human mistakes.


@dataclass(frozen=True)
class StepOrder:
    """The steps as they are done; all numbers count steps from 0.

    Attributes:
        steps: The steps one after the other.
        skipped: Steps that are left out.
        repeated: Steps that are done twice in a row.
        swapped: Pairs of neighbours that change places.
    """

    steps: tuple[int, ...]
    skipped: tuple[int, ...] = ()
    repeated: tuple[int, ...] = ()
    swapped: tuple[tuple[int, int], ...] = ()


def choose_order(
    num_steps: int, skip: float, repeat: float, swap: float, rng: np.random.Generator
) -> StepOrder:
    """Make mistakes at given rates.

    Args:
        num_steps: How many steps there are.
        skip: Chance of each step to be left out; one step always stays.
        repeat: Chance of each step that is done to be done twice.
        swap: Chance of each pair of neighbours to change places; no step moves twice.
        rng: Where the chance comes from.
    """
    draws = rng.random((3, num_steps))
    skipped = [k for k in range(num_steps) if draws[0, k] < skip]
    if len(skipped) == num_steps:
        skipped.pop(int(draws[0].argmax()))
    kept = [k for k in range(num_steps) if k not in skipped]
    swapped: list[tuple[int, int]] = []
    for k in range(len(kept) - 1):
        moved_already = bool(swapped) and swapped[-1][1] == kept[k]
        if draws[2, kept[k]] < swap and not moved_already:
            swapped.append((kept[k], kept[k + 1]))
    order = list(kept)
    for one, other in swapped:
        at = order.index(one)
        order[at : at + 2] = [other, one]
    repeated = tuple(k for k in kept if draws[1, k] < repeat)
    steps = tuple(k for step in order for k in ([step] * (2 if step in repeated else 1)))
    return StepOrder(steps, tuple(skipped), repeated, tuple(swapped))


# MERGED FROM wordsight.worlds.workbench.protocol:
# `Story`: what a protocol is about while it is being written: its vessel, substances, amounts.


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


Writer = Callable[[Story], list[ProtocolSentence]]


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
