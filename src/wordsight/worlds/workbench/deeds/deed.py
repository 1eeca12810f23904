"""What deeds are, and the small movements that several of them share."""

from collections.abc import Callable

from wordsight.worlds.checks import Registry
from wordsight.worlds.painter import Colour, mix
from wordsight.worlds.workbench.bench import Place
from wordsight.worlds.workbench.stage import Hand, Script, Stage, ThingState

__all__ = [
    "DEEDS",
    "Deed",
    "deed",
    "dip",
    "fill",
    "over_mouth",
    "raise_up",
    "shifted",
    "working_angle",
]

Deed = Callable[..., Script]
"""A function of the stage and the names of things, with empty hands before and after."""

DEEDS: Registry[Deed] = Registry("deed")
"""All deeds by name."""


def deed(name: str) -> Callable[[Deed], Deed]:
    """Register a function as a deed."""
    return lambda function: DEEDS.add(name, function)


def over_mouth(stage: Stage, target: str, above: float) -> Place:
    """Return a place above the mouth of a vessel, a little in front of it."""
    x, depth, height = stage.things[target].point(stage.things[target].thing.mouth)
    return x, depth - 0.004, height + above


def shifted(place: Place, across: float, up: float) -> Place:
    """Return a place further right and higher."""
    return place[0] + across, place[1], place[2] + up


def working_angle(hand: Hand, state: ThingState) -> float:
    """Return how a tool is turned in a hand at work; tips point away from the palm."""
    return state.thing.work * hand.side


def raise_up(stage: Stage, hand: Hand, by: float) -> Script:
    """Lift what is held straight up."""
    yield from stage.move(hand, shifted(hand.place, 0.0, by))


def dip(stage: Stage, hand: Hand, target: str, deep: float) -> Script:
    """Bring the tip of the held tool over a vessel, then down into it."""
    state = stage.things[stage.held(hand)]
    tip, angle = state.thing.tip, working_angle(hand, state)
    yield from stage.guide(hand, tip, over_mouth(stage, target, 0.045), angle)
    yield from stage.guide(hand, tip, over_mouth(stage, target, -deep), angle)


def fill(stage: Stage, target: str, amount: float, content: Colour) -> None:
    """Add something to what is in a vessel; its colour becomes a blend."""
    state = stage.things[target]
    if state.thing.vessel:
        share = amount / (max(state.level, 0.0) + amount)
        state.content = mix(state.content, content, share)
        state.level = min(state.level + amount, 1.0)
