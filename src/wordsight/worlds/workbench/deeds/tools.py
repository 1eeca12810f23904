"""Deeds that use a tool on another thing: write, tape, wipe, stir, adjust."""

import math

from wordsight.worlds.workbench.bench import Place
from wordsight.worlds.workbench.deeds.deed import deed, dip, raise_up, shifted, working_angle
from wordsight.worlds.workbench.stage import Script, Stage

__all__ = ["adjust", "stick", "stir", "wipe", "write"]


@deed("adjust")
def adjust(stage: Stage, tool: str) -> Script:
    """Hold a tool before oneself with both hands and set it."""
    hand = stage.skilled
    yield from stage.take(hand, tool)
    yield from stage.move(
        hand, (0.06 * hand.side, 0.16, 0.07), working_angle(hand, stage.things[tool])
    )
    helper = stage.other(hand)
    yield from stage.touch(helper, tool, (0.0, stage.things[tool].thing.height * 0.36))
    start = helper.place
    for turn in stage.clock(1.8):
        helper.place = shifted(start, 0.006 * math.sin(14 * turn), 0.0)
        yield
    yield from stage.let_go(helper)
    yield from stage.put_home(hand, tool)


@deed("stir")
def stir(stage: Stage, tool: str, vessel: str) -> Script:
    """Stir in a vessel."""
    hand = stage.skilled
    keeper, state = stage.other(hand), stage.things[tool]
    yield from stage.bring(keeper, vessel)
    yield from stage.take(hand, tool)
    yield from dip(stage, hand, vessel, 0.050)
    centre = state.point(state.thing.tip)
    for turn in stage.clock(float(stage.rng.uniform(2.5, 4.5))):
        x = 0.018 * math.sin(24 * turn)
        goal = (centre[0] + x, centre[1], centre[2] + 0.006 * math.cos(24 * turn))
        hand.come_to(state, state.thing.tip, goal, state.angle)
        yield
    yield from raise_up(stage, hand, 0.08)
    yield from stage.put_home(hand, tool)
    yield from stage.let_go(keeper)


@deed("wipe")
def wipe(stage: Stage, towel: str, thing: str) -> Script:
    """Lift a thing and rub it with the towel."""
    keeper = stage.other(stage.nearer(towel))
    hand, cloth = stage.other(keeper), stage.things[towel]
    yield from stage.take(keeper, thing)
    yield from stage.move(
        keeper, (0.05 * keeper.side, 0.22, 0.09), working_angle(keeper, stage.things[thing])
    )
    yield from stage.take(hand, towel)
    middle = shifted(keeper.place, -0.01 * keeper.side, -0.02)
    yield from stage.guide(hand, cloth.thing.tip, (middle[0], middle[1] - 0.01, middle[2]))
    centre = cloth.point(cloth.thing.tip)
    for turn in stage.clock(float(stage.rng.uniform(1.8, 3.0))):
        goal = shifted(centre, 0.014 * math.sin(20 * turn), 0.026 * math.sin(11 * turn))
        hand.come_to(cloth, cloth.thing.tip, goal, 0.15 * math.sin(20 * turn))
        yield
    yield from stage.put_home(hand, towel)
    yield from stage.let_down(keeper, thing)


@deed("write")
def write(stage: Stage, marker: str, thing: str) -> Script:
    """Write on a vessel with a marker."""
    hand = stage.skilled
    keeper, pen = stage.other(hand), stage.things[marker]
    yield from stage.bring(keeper, thing)
    yield from stage.take(hand, marker)
    yield from stage.guide(hand, pen.thing.tip, _label_of(stage, thing), working_angle(hand, pen))
    centre = pen.point(pen.thing.tip)
    for turn in stage.clock(float(stage.rng.uniform(2.0, 3.2))):
        goal = shifted(centre, 0.026 * (turn - 0.5), 0.005 * math.sin(40 * turn))
        hand.come_to(pen, pen.thing.tip, goal, pen.angle)
        yield
    stage.things[thing].labelled = True
    yield from stage.put_home(hand, marker)
    yield from stage.let_go(keeper)


@deed("stick")
def stick(stage: Stage, tape: str, thing: str) -> Script:
    """Tear off a piece of tape and press it on a vessel."""
    hand = stage.nearer(tape)
    helper, roll = stage.other(hand), stage.things[tape]
    yield from stage.take(hand, tape)
    yield from stage.move(hand, (0.06 * hand.side, 0.14, 0.06))
    yield from stage.touch(helper, tape, (roll.thing.tip[0] * -hand.side, roll.thing.tip[1]))
    start = helper.place
    for share in stage.clock(0.9):
        helper.place = shifted(start, 0.016 * share * helper.side, 0.006 * share)
        yield
    yield from stage.let_go(helper)
    yield from stage.put_home(hand, tape)
    yield from stage.bring(helper, thing)
    stage.things[thing].labelled = True
    yield from stage.wait(1.0)
    yield from stage.let_go(helper)


def _label_of(stage: Stage, thing: str) -> Place:
    """Return the place on the front of a vessel where one writes."""
    state = stage.things[thing]
    x, depth, height = state.point((0.0, state.thing.height * 0.45))
    return x, depth - 0.006, height
