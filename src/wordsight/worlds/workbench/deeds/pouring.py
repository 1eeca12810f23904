"""Deeds that bring liquids and powders from one thing into another."""

import math

from wordsight.worlds.workbench.deeds.deed import (
    deed,
    dip,
    fill,
    over_mouth,
    raise_up,
    shifted,
    working_angle,
)
from wordsight.worlds.workbench.deeds.handling import set_on
from wordsight.worlds.workbench.stage import Hand, Script, Stage, Stream
from wordsight.worlds.workbench.things.thing import Point

__all__ = ["pour", "pour_through", "scoop", "transfer"]

_POURING = 1.75  # radians a vessel is tilted to pour


@deed("pour")
def pour(stage: Stage, source: str, target: str) -> Script:
    """Pour from one vessel into another that the other hand steadies."""
    giver = stage.nearer(source)
    keeper = stage.other(giver)
    yield from stage.bring(keeper, target)
    yield from stage.take(giver, source)
    yield from _tip_out(stage, giver, source, target)
    yield from stage.put_home(giver, source)
    yield from stage.leave(keeper)


@deed("pour through")
def pour_through(stage: Stage, source: str, funnel: str, target: str) -> Script:
    """Pour into a vessel through the funnel on it."""
    if stage.things[funnel].stands_on != target:
        yield from set_on(stage, funnel, target)
    giver = stage.nearer(source)
    keeper = stage.other(giver)
    yield from stage.touch(keeper, funnel)
    yield from stage.take(giver, source)
    yield from _tip_out(stage, giver, source, funnel)
    fill(stage, target, 0.35, stage.things[source].content)
    yield from stage.put_home(giver, source)
    yield from stage.let_go(keeper)


@deed("scoop")
def scoop(stage: Stage, spoon: str, source: str, target: str) -> Script:
    """Take powder out of a jar with a spoon, several times."""
    hand = stage.skilled
    keeper, tool = stage.other(hand), stage.things[spoon]
    yield from stage.bring(keeper, source)
    yield from stage.take(hand, spoon)
    for _ in range(int(stage.rng.integers(2, 4))):
        yield from dip(stage, hand, source, 0.030)
        tool.level, tool.content = 1.0, stage.things[source].content
        yield from raise_up(stage, hand, 0.07)
        yield from stage.guide(hand, tool.thing.tip, over_mouth(stage, target, 0.035))
        yield from _sprinkle(stage, hand, spoon, target)
    yield from stage.put_home(hand, spoon)
    yield from stage.let_go(keeper)


@deed("transfer")
def transfer(stage: Stage, pipette: str, source: str, target: str) -> Script:
    """Suck from one vessel with a pipette and dispense into another."""
    hand, tool = stage.skilled, stage.things[pipette]
    keeper = stage.other(hand)
    yield from stage.bring(keeper, source)
    yield from stage.take(hand, pipette)
    yield from dip(stage, hand, source, 0.035)
    yield from stage.wait(0.7)
    tool.level, tool.content = 1.0, stage.things[source].content
    yield from raise_up(stage, hand, 0.09)
    yield from stage.leave(keeper)
    yield from stage.bring(keeper, target)
    yield from dip(stage, hand, target, 0.020)
    yield from stage.wait(0.7)
    tool.level = 0.0
    fill(stage, target, 0.25, tool.content)
    yield from raise_up(stage, hand, 0.09)
    yield from stage.leave(keeper)
    yield from stage.put_home(hand, pipette)


def _tip_out(stage: Stage, hand: Hand, source: str, target: str) -> Script:
    """Tilt the held vessel over another until much of it has run out, and right it again."""
    state = stage.things[source]
    mouth: Point = state.thing.mouth
    goal = over_mouth(stage, target, 0.030)
    goal = (goal[0] + 0.012 * hand.side, *goal[1:])
    flat = state.thing.height < 0.03  # a dish is tipped by its rim
    lip: Point = (-hand.side * state.thing.width * 0.4, mouth[1]) if flat else mouth
    yield from stage.guide(hand, lip, shifted(goal, 0.05 * hand.side, 0.03), 0.0)
    tilt = hand.side * (1.2 if flat else _POURING)
    yield from stage.guide(hand, lip, goal, tilt)
    before, share = state.level, min(state.level, 0.45) if state.level > 0 else 0.2
    end = over_mouth(stage, target, -0.02)
    for done in stage.clock(float(stage.rng.uniform(1.4, 2.4))):
        if 0.08 < done < 0.92:
            stage.streams.append(Stream(state.point(lip), end, state.content, flat))
        state.level = max(before - share * done, 0.0)
        yield
    fill(stage, target, 0.35, state.content)
    yield from stage.guide(hand, lip, shifted(goal, 0.05 * hand.side, 0.04), 0.0)


def _sprinkle(stage: Stage, hand: Hand, tool: str, target: str) -> Script:
    """Turn a full spoon over a vessel."""
    state = stage.things[tool]
    tip = state.thing.tip
    end = over_mouth(stage, target, -0.01)
    for done in stage.clock(0.7):
        angle = working_angle(hand, state) - 0.5 * math.sin(math.pi * done) * hand.side
        hand.come_to(state, tip, over_mouth(stage, target, 0.035), angle)
        if done < 0.7:
            stage.streams.append(Stream(state.point(tip), end, state.content, True))
        yield
    state.level = 0.0
    fill(stage, target, 0.12, state.content)
