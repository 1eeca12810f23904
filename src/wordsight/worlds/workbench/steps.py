"""The kinds of steps that protocols are written with, and how a whole protocol is written."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from wordsight.worlds.checks import Registry, Rng, WorldError, pick
from wordsight.worlds.workbench.deeds import Protocol, ProtocolSentence, Step
from wordsight.worlds.workbench.things import THINGS

__all__ = ["KINDS", "StepKind", "Story", "kind_of_step", "kinds_for", "write_protocol"]

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
_AMOUNTS = {
    "g": (2, 4, 5, 8, 10, 16, 20),
    "mg": (50, 64, 120, 250),
    "mL": (10, 25, 50, 100, 200, 250),
    "uL": (20, 50, 100, 200, 500),
    "seconds": (10, 20, 30, 45),
    "minutes": (1, 2, 5, 10),
    "rpm": (200, 300, 400, 600),
}
_ALWAYS = ("beaker", "flask")
_MOST_BYSTANDERS = 2


class Story:
    """What a protocol is about while it is being written.

    Args:
        rng: Random generator.

    Attributes:
        vessel: The vessel in which everything is made.
        product: What is made.
        powder: The powder in the jar at the moment.
        liquid: The liquid in the bottle.
    """

    def __init__(self, rng: Rng) -> None:
        self.rng = rng
        self.vessel = pick(_ALWAYS, rng)
        self.product = pick(_PRODUCTS, rng)
        self.powder = pick(_POWDERS, rng)
        self.liquid = pick(_LIQUIDS, rng)

    def choose(self, *options: Choice) -> Choice:
        """Draw one of several options."""
        return pick(options, self.rng)

    def chance(self, share: float) -> bool:
        """Draw True with a probability."""
        return bool(self.rng.random() < share)

    def new_powder(self) -> str:
        """Turn to another powder."""
        self.powder = pick(_POWDERS, self.rng)
        return self.powder

    def new_liquid(self) -> str:
        """Turn to another liquid."""
        self.liquid = pick(_LIQUIDS, self.rng)
        return self.liquid

    def other_vessel(self) -> str:
        """Return the vessel that is not the main one."""
        return "flask" if self.vessel == "beaker" else "beaker"

    def amount(self, unit: str) -> str:
        """Draw a quantity in g, mg, mL, uL, seconds, minutes or rpm."""
        return f"{pick(_AMOUNTS[unit], self.rng)} {unit}"


Sentences = Iterator[ProtocolSentence]
Writer = Callable[[Story], Sentences]


@dataclass(frozen=True)
class StepKind:
    """A kind of step."""

    name: str
    needs: tuple[str, ...]  # things it may use besides the vessels
    when: str  # first, middle or last
    weight: float  # how often it is chosen, relative to the others
    write: Writer


KINDS: Registry[StepKind] = Registry("kind of step")
"""All kinds of steps by name."""


def kind_of_step(
    name: str, *, needs: tuple[str, ...], when: str = "middle", weight: float = 1.0
) -> Callable[[Writer], Writer]:
    """Register a function that writes the sentences of a kind of step, as in `StepKind`."""

    def register(write: Writer) -> Writer:
        KINDS.add(name, StepKind(name, needs, when, weight, write))
        return write

    return register


def kinds_for(kinds: Sequence[str], objects: Sequence[str]) -> tuple[StepKind, ...]:
    """Return the kinds of steps that some objects, with beaker and flask, are enough for.

    Raises:
        WorldError: If none is left for the middle of a protocol.
    """
    there = {*objects, *_ALWAYS}
    possible = tuple(KINDS[name] for name in kinds if set(KINDS[name].needs) <= there)
    if not any(kind.when == "middle" for kind in possible):
        needs = "; ".join(f"{name}: {', '.join(KINDS[name].needs)}" for name in kinds)
        raise WorldError(
            f"no step can be done with {', '.join(sorted(there))}; add objects that one needs "
            f"({needs})."
        )
    return possible


def write_protocol(
    num_steps: int, kinds: Sequence[StepKind], objects: Sequence[str], rng: Rng
) -> Protocol:
    """Write a protocol: a beginning, a middle of many kinds of steps, an end.

    A few ``objects`` stand on the bench besides what the steps need.
    """
    story = Story(rng)
    first, middle, last = (
        [kind for kind in kinds if kind.when == time] for time in ("first", "middle", "last")
    )
    chosen = [story.choose(*(first or middle))]
    while len(chosen) < num_steps:
        # The same kind twice in a row only if there is no other.
        options = [kind for kind in middle if kind is not chosen[-1]] or middle
        weights = np.array([kind.weight for kind in options])
        chosen.append(options[int(rng.choice(len(options), p=weights / weights.sum()))])
    if num_steps > 1 and last:
        chosen[-1] = story.choose(*last)
    steps = tuple(Step(kind.name, tuple(kind.write(story))) for kind in chosen)
    return Protocol(story.product, steps, _things_of(steps, objects, rng))


def _things_of(steps: Sequence[Step], objects: Sequence[str], rng: Rng) -> tuple[str, ...]:
    """Return what the steps use, and a few things they do not, in the order of the registry."""
    sentences = [sentence for step in steps for sentence in step.sentences]
    used = {thing for sentence in sentences for thing in sentence.things.values()}
    used |= {name for sentence in sentences for name in sentence.named()}
    used |= set(_ALWAYS)
    if "tube" in used:
        used.add("rack")
    spare = [name for name in THINGS if name in objects and name not in {*used, "tube"}]
    count = int(rng.integers(0, _MOST_BYSTANDERS + 1))
    used |= {str(name) for name in rng.permutation(spare)[:count]}
    return tuple(name for name in THINGS if name in used)


def _do(text: str, deed: str, **things: str) -> ProtocolSentence:
    return ProtocolSentence(text, deed, things)


# The kinds; their order and the order of their draws decide what a seed gives.


@kind_of_step("label", needs=("marker", "tape"), when="first")
def _label(story: Story) -> Sentences:
    vessel = story.vessel
    text = story.choose(
        f'Write "{story.product}" on the {vessel} with the marker.',
        f'Label the {vessel} with the marker: "{story.product}" and the date.',
    )
    yield _do(text, "write", marker="marker", thing=vessel)
    if story.chance(0.6):
        text = f"Stick a piece of tape on the {vessel} to protect the label."
        yield _do(text, "stick", tape="tape", thing=vessel)
    if story.chance(0.4):
        yield _do(f"Place the {vessel} in the middle of the bench.", "fetch", thing=vessel)


@kind_of_step("tape shut", needs=("tape", "dish"), weight=0.7)
def _tape_shut(story: Story) -> Sentences:
    minutes = story.amount("minutes")
    text = "Tear off a strip of tape and stick it around the petri dish."
    yield _do(text, "stick", tape="tape", thing="dish")
    if not story.chance(0.5):
        text = f"Put the petri dish aside and incubate it for {minutes} at room temperature."
        yield _do(text, "store", thing="dish")


@kind_of_step("add liquid", needs=("bottle",), weight=1.2)
def _add_liquid(story: Story) -> Sentences:
    amount, liquid, vessel = story.amount("mL"), story.new_liquid(), story.vessel
    text = f"Add {amount} of {liquid} to the {vessel} from the bottle."
    if not story.chance(0.5):
        yield _do(f"Prepare the {vessel} for {amount} of {liquid}.", "fetch", thing=vessel)
        text = "Use the bottle near the sink and pour slowly."
    yield _do(text, "pour", source="bottle", target=vessel)


@kind_of_step("measure", needs=("bottle", "cylinder"), weight=1.4)
def _measure(story: Story) -> Sentences:
    amount, liquid, vessel = story.amount("mL"), story.new_liquid(), story.vessel
    text = f"Measure {amount} of {liquid} from the bottle into the cylinder."
    yield _do(text, "pour", source="bottle", target="cylinder")
    if story.chance(0.4):
        text = "Lift the cylinder to eye level and check the volume at the meniscus."
        yield _do(text, "swirl", vessel="cylinder")
    text = story.choose(
        f"Pour the {liquid} from the cylinder into the {vessel}.",
        f"Empty the cylinder into the {vessel} until the volume is {amount}.",
    )
    yield _do(text, "pour", source="cylinder", target=vessel)


@kind_of_step("rinse", needs=("bottle", "towel"), weight=0.8)
def _rinse(story: Story) -> Sentences:
    vessel, amount = story.other_vessel(), story.amount("mL")
    text = f"Rinse the {vessel} with {amount} of {story.liquid} from the bottle."
    yield _do(text, "pour", source="bottle", target=vessel)
    yield _do(f"Swirl the {vessel} to wet its walls.", "swirl", vessel=vessel)
    yield _do(f"Dry off the {vessel} with the towel.", "wipe", towel="towel", thing=vessel)


@kind_of_step("stir", needs=("spoon", "towel"), weight=1.2)
def _stir(story: Story) -> Sentences:
    vessel, seconds = story.vessel, story.amount("seconds")
    text = story.choose(
        f"Stir the solution in the {vessel} with the spoon for {seconds}.",
        f"Mix with the spoon in the {vessel} until the {story.powder} has dissolved.",
    )
    yield _do(text, "stir", tool="spoon", vessel=vessel)
    if story.chance(0.4):
        yield _do("Wipe the spoon clean with the towel.", "wipe", towel="towel", thing="spoon")


@kind_of_step("stir by machine", needs=("stirrer",))
def _stir_by_machine(story: Story) -> Sentences:
    vessel = story.vessel
    yield _do(f"Place the {vessel} on the stirrer.", "set on", thing=vessel, device="stirrer")
    yield _do(f"Turn on the stirrer at {story.amount('rpm')}.", "press", device="stirrer")
    minutes = story.amount("minutes")
    text = f"After {minutes}, when no powder is left, take the {vessel} off the stirrer."
    yield _do(text, "take off", thing=vessel)


@kind_of_step("shake", needs=("bottle",))
def _shake(story: Story) -> Sentences:
    if story.chance(0.4):
        text = f"Put a cap on the bottle and shake it to mix the {story.liquid} with the water."
        yield _do(text, "shake", vessel="bottle")
    else:
        text = f"Swirl the {story.vessel} gently until the solution is clear."
        yield _do(text, "swirl", vessel=story.vessel)


@kind_of_step("decant", needs=("funnel",))
def _decant(story: Story) -> Sentences:
    story.vessel = "flask"
    yield _do("Set the funnel on the flask.", "set on", thing="funnel", device="flask")
    text = "Pour the solution from the beaker through the funnel into the flask."
    yield _do(text, "pour through", source="beaker", funnel="funnel", target="flask")
    yield _do("Take the funnel off and put it back.", "take off", thing="funnel")


@kind_of_step("plate", needs=("dish",))
def _plate(story: Story) -> Sentences:
    text = f"Pour {story.amount('mL')} of the medium from the {story.vessel} into the petri dish."
    yield _do(text, "pour", source=story.vessel, target="dish")
    if story.chance(0.6):
        text = "Swirl the petri dish to spread the medium, without bubbles."
        yield _do(text, "swirl", vessel="dish")
    if story.chance(0.4):
        text = f"Put the petri dish aside for {story.amount('minutes')} to set."
        yield _do(text, "store", thing="dish")


@kind_of_step("aliquot", needs=("pipette", "bottle", "tube", "rack"), weight=1.3)
def _aliquot(story: Story) -> Sentences:
    amount, source, target = story.amount("uL"), "bottle", "tube"
    yield _do(f"Set the pipette to {amount}.", "adjust", tool="pipette")
    text = f"Transfer {amount} of {story.liquid} from the bottle to the test tube with the pipette."
    if not story.chance(0.6):
        text = f"Pipette {amount} from the test tube into the {story.vessel}, avoiding bubbles."
        source, target = "tube", story.vessel
    yield _do(text, "transfer", pipette="pipette", source=source, target=target)


@kind_of_step("mix tube", needs=("tube", "rack"), weight=0.9)
def _mix_tube(story: Story) -> Sentences:
    seconds = story.amount("seconds")
    if story.chance(0.5):
        text = f"Take the test tube out of the rack and shake it for {seconds}."
        yield _do(text, "shake", vessel="tube")
    else:
        text = f"Shake the test tube for {seconds} until the pellet is gone."
        yield _do(text, "shake", vessel="tube")
        text = f"Pour the test tube into the {story.vessel} and return it to the rack."
        yield _do(text, "pour", source="tube", target=story.vessel)


@kind_of_step("prepare", needs=("towel", "marker"), when="first")
def _prepare(story: Story) -> Sentences:
    vessel = story.vessel
    text = f"Wipe the dust off the {vessel} with the towel."
    yield _do(text, "wipe", towel="towel", thing=vessel)
    yield _do(f"Place the {vessel} in the middle of the bench.", "fetch", thing=vessel)
    if story.chance(0.6):
        text = f'Write the date and "{story.product}" on the {vessel} with the marker.'
        yield _do(text, "write", marker="marker", thing=vessel)


@kind_of_step("dry", needs=("towel",), weight=0.9)
def _dry(story: Story) -> Sentences:
    vessel = story.choose(story.vessel, "bottle", story.vessel)
    text = story.choose(
        f"Dry off the {vessel} with the towel.",
        f"Wipe any drops off the outside of the {vessel} with the towel.",
    )
    yield _do(text, "wipe", towel="towel", thing=vessel)


@kind_of_step("finish", needs=("towel",), when="last")
def _finish(story: Story) -> Sentences:
    vessel = story.vessel
    yield _do(f"Dry off the {vessel} with the towel.", "wipe", towel="towel", thing=vessel)
    text = f"Place the {vessel} at the back of the bench and store the {story.product} at 4 C."
    yield _do(text, "store", thing=vessel)


@kind_of_step("tidy", needs=("towel", "spoon"), when="last")
def _tidy(story: Story) -> Sentences:
    yield _do("Clean the spoon with the towel.", "wipe", towel="towel", thing="spoon")
    text = f"Put the {story.vessel} back and keep the {story.product} in the fridge."
    yield _do(text, "store", thing=story.vessel)


@kind_of_step("weigh", needs=("dish", "scale", "spoon", "jar"), weight=1.6)
def _weigh(story: Story) -> Sentences:
    powder, amount = story.new_powder(), story.amount("g")
    yield _do("Place the petri dish on the scale.", "set on", thing="dish", device="scale")
    text = story.choose("Zero the scale.", "Press the button to tare the scale.")
    yield _do(text, "press", device="scale")
    text = f"Using the spoon, measure {amount} of {powder} from the jar into the petri dish."
    yield _do(text, "scoop", spoon="spoon", source="jar", target="dish")
    text = story.choose(
        f"Add the {powder} in the petri dish to the {story.vessel}.",
        f"Tip the {powder} from the petri dish into the {story.vessel}.",
    )
    yield _do(text, "pour", source="dish", target=story.vessel)


@kind_of_step("weigh directly", needs=("scale", "spoon", "jar"), weight=0.8)
def _weigh_directly(story: Story) -> Sentences:
    powder, amount = story.new_powder(), story.amount("mg")
    yield _do("Set the beaker on the scale.", "set on", thing="beaker", device="scale")
    yield _do("Wait for the display and zero the scale.", "press", device="scale")
    text = f"Add {amount} of {powder} from the jar to the beaker with the spoon."
    yield _do(text, "scoop", spoon="spoon", source="jar", target="beaker")
    yield _do("Take the beaker off the scale.", "take off", thing="beaker")
