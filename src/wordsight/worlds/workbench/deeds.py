"""`Protocol`: a procedure in steps of sentences; and the deeds that carry its sentences out.

A deed is a generator of the stage and the names of things, with empty hands before and after; the
guide to worlds shows how to add one.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from wordsight.worlds.checks import Registry, Rng
from wordsight.worlds.painter import Colour, mix
from wordsight.worlds.sketch import Point
from wordsight.worlds.workbench.stage import BenchStage, Hand, Script, Stream, ThingState
from wordsight.worlds.workbench.things import THINGS, BenchPlace

__all__ = [
    "DEEDS",
    "Deed",
    "Protocol",
    "ProtocolSentence",
    "Step",
    "StepOrder",
    "choose_order",
    "deed",
]

Deed = Callable[..., Script]

DEEDS: Registry[Deed] = Registry("deed")
"""All deeds by name."""

_POURING = 1.75  # radians a vessel is tilted to pour


@dataclass(frozen=True)
class ProtocolSentence:
    """One sentence of a step."""

    text: str
    deed: str  # name of what is done
    things: Mapping[str, str]  # names of the things it is done with, by the deed's arguments

    def named(self) -> tuple[str, ...]:
        """Return the things of the bench that the text names, in the order of the registry."""
        words = self.text.lower().replace(",", " ").replace(".", " ")
        return tuple(name for name in THINGS if f" {THINGS[name].phrase} " in f" {words} ")


@dataclass(frozen=True)
class Step:
    """A numbered step."""

    kind: str  # name of the kind of step it was made from
    sentences: tuple[ProtocolSentence, ...]  # one to four; the first stands beside the number


@dataclass(frozen=True)
class Protocol:
    """A whole procedure."""

    title: str  # what is made
    steps: tuple[Step, ...]
    things: tuple[str, ...]  # names of the things it needs

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


@dataclass(frozen=True)
class StepOrder:
    """The steps as they are done; all numbers count steps from 0."""

    steps: tuple[int, ...]
    skipped: tuple[int, ...] = ()
    repeated: tuple[int, ...] = ()  # done twice in a row
    swapped: tuple[tuple[int, int], ...] = ()  # neighbours that change places


def choose_order(num_steps: int, skip: float, repeat: float, swap: float, rng: Rng) -> StepOrder:
    """Draw an order in which each step is left out or done twice with some probability.

    Neighbours change places with the probability ``swap``, but no step moves twice; one step is
    always done.
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


def deed(name: str) -> Callable[[Deed], Deed]:
    """Register a function as a deed."""
    return lambda function: DEEDS.add(name, function)


def _over_mouth(stage: BenchStage, target: str, above: float) -> BenchPlace:
    """Return a place above the mouth of a vessel, a little in front of it."""
    x, depth, height = stage.things[target].point(stage.things[target].thing.mouth)
    return x, depth - 0.004, height + above


def _shifted(place: BenchPlace, across: float, up: float) -> BenchPlace:
    """Return a place further right and higher."""
    return place[0] + across, place[1], place[2] + up


def _working_angle(hand: Hand, state: ThingState) -> float:
    """Return how a tool is turned in a hand at work; tips point away from the palm."""
    return state.thing.work * hand.side


def _dip(stage: BenchStage, hand: Hand, target: str, deep: float) -> Script:
    """Bring the tip of the held tool over a vessel, then down into it."""
    state = stage.held(hand)
    tip, angle = state.thing.tip, _working_angle(hand, state)
    yield from stage.guide(hand, tip, _over_mouth(stage, target, 0.045), angle)
    yield from stage.guide(hand, tip, _over_mouth(stage, target, -deep), angle)


def _fill(stage: BenchStage, target: str, amount: float, content: Colour) -> None:
    """Add something to what is in a vessel; its colour becomes a blend."""
    state = stage.things[target]
    if state.thing.vessel:
        share = amount / (max(state.level, 0.0) + amount)
        state.content = mix(state.content, content, share)
        state.level = min(state.level + amount, 1.0)


# Moving a thing, setting it on another, shaking it, pressing its button.


@deed("fetch")
def _fetch(stage: BenchStage, thing: str) -> Script:
    """Get a vessel to the middle of the bench."""
    hand = stage.nearer(thing)
    yield from stage.bring(hand, thing)
    yield from stage.wait(0.5)
    yield from stage.let_go(hand)


@deed("store")
def _store(stage: BenchStage, thing: str) -> Script:
    """Bring a thing back to where it belongs."""
    yield from stage.put_home(stage.nearer(thing), thing)


@deed("set on")
def _set_on(stage: BenchStage, thing: str, device: str) -> Script:
    """Set a thing on a device, or a funnel on a vessel."""
    hand, base, state = stage.nearer(thing), stage.things[device], stage.things[thing]
    if base.thing.vessel and base.place[1] > 0.4:
        keeper = stage.other(hand)
        yield from stage.bring(keeper, device)
        yield from stage.let_go(keeper)
    for other, above in list(stage.things.items()):
        if above.stands_on == device and other != thing:
            yield from stage.put_home(hand, other)
    yield from stage.take(hand, thing)
    x, depth, height = base.place
    if base.thing.top > 0:
        goal = (x, depth - 0.002, height + base.thing.top)
    else:
        sunk = 0.030  # metres by which a stem hangs into a mouth
        goal = (x, depth + 0.002, height + base.thing.mouth[1] - sunk - state.thing.tip[1])
    yield from stage.put(hand, goal, stands_on=device)


@deed("take off")
def _take_off(stage: BenchStage, thing: str) -> Script:
    """Take a thing off what it stands on: a vessel to the middle, anything else home."""
    hand = stage.nearer(thing)
    if stage.things[thing].thing.vessel:
        yield from stage.take(hand, thing)
        yield from stage.let_down(hand, thing)
    else:
        yield from stage.put_home(hand, thing)


@deed("press")
def _press(stage: BenchStage, device: str) -> Script:
    """Press a button or turn a knob."""
    hand = stage.nearer(device)
    yield from stage.touch(hand, device, stage.things[device].thing.tip)
    yield from stage.wait(1.0)
    yield from stage.let_go(hand)


@deed("shake")
def _shake(stage: BenchStage, vessel: str) -> Script:
    """Shake a vessel in the air."""
    hand, state = stage.nearer(vessel), stage.things[vessel]
    yield from stage.take(hand, vessel)
    yield from stage.move(hand, (0.04 * hand.side, 0.24, 0.14), 0.0)
    centre = hand.place
    for turn in stage.clock(2.0, 3.5):
        swing = math.sin(42 * turn) * math.sin(math.pi * turn)
        goal = (centre[0] + 0.020 * swing, centre[1], centre[2] + 0.022 * abs(swing))
        hand.come_to(state, hand.grip_of(state), goal, 0.35 * swing)
        yield
    yield from stage.let_down(hand, vessel)


@deed("swirl")
def _swirl(stage: BenchStage, vessel: str) -> Script:
    """Lift a vessel a little and move it in circles."""
    hand, state = stage.nearer(vessel), stage.things[vessel]
    yield from stage.take(hand, vessel)
    centre = hand.place
    for turn in stage.clock(2.0, 3.5):
        fade = math.sin(math.pi * turn)
        x, y = 0.022 * math.sin(26 * turn) * fade, 0.010 * math.cos(26 * turn) * fade
        goal = (centre[0] + x, centre[1] + y, centre[2])
        hand.come_to(state, hand.grip_of(state), goal, 0.06 * math.sin(26 * turn) * fade)
        yield
    yield from stage.let_down(hand, vessel)


# Bringing liquids and powders from one thing into another.


@deed("pour")
def _pour(stage: BenchStage, source: str, target: str) -> Script:
    """Pour from one vessel into another that the other hand steadies."""
    giver = stage.nearer(source)
    keeper = stage.other(giver)
    yield from stage.bring(keeper, target)
    yield from stage.take(giver, source)
    yield from _tip_out(stage, giver, source, target)
    yield from stage.put_home(giver, source)
    yield from stage.leave(keeper)


@deed("pour through")
def _pour_through(stage: BenchStage, source: str, funnel: str, target: str) -> Script:
    """Pour into a vessel through the funnel on it."""
    if stage.things[funnel].stands_on != target:
        yield from _set_on(stage, funnel, target)
    giver = stage.nearer(source)
    keeper = stage.other(giver)
    yield from stage.touch(keeper, funnel)
    yield from stage.take(giver, source)
    yield from _tip_out(stage, giver, source, funnel)
    _fill(stage, target, 0.35, stage.things[source].content)
    yield from stage.put_home(giver, source)
    yield from stage.let_go(keeper)


def _tip_out(stage: BenchStage, hand: Hand, source: str, target: str) -> Script:
    """Tilt the held vessel over another until much of it has run out, and right it again."""
    state = stage.things[source]
    mouth: Point = state.thing.mouth
    goal = _over_mouth(stage, target, 0.030)
    goal = (goal[0] + 0.012 * hand.side, *goal[1:])
    flat = state.thing.height < 0.03  # a dish is tipped by its rim
    lip: Point = (-hand.side * state.thing.width * 0.4, mouth[1]) if flat else mouth
    yield from stage.guide(hand, lip, _shifted(goal, 0.05 * hand.side, 0.03), 0.0)
    tilt = hand.side * (1.2 if flat else _POURING)
    yield from stage.guide(hand, lip, goal, tilt)
    before, share = state.level, min(state.level, 0.45) if state.level > 0 else 0.2
    end = _over_mouth(stage, target, -0.02)
    for done in stage.clock(1.4, 2.4):
        if 0.08 < done < 0.92:
            stage.streams.append(Stream(state.point(lip), end, state.content, flat))
        state.level = max(before - share * done, 0.0)
        yield
    _fill(stage, target, 0.35, state.content)
    yield from stage.guide(hand, lip, _shifted(goal, 0.05 * hand.side, 0.04), 0.0)


@deed("scoop")
def _scoop(stage: BenchStage, spoon: str, source: str, target: str) -> Script:
    """Take powder out of a jar with a spoon, several times."""
    hand = stage.skilled
    keeper, tool = stage.other(hand), stage.things[spoon]
    yield from stage.bring(keeper, source)
    yield from stage.take(hand, spoon)
    for _ in range(int(stage.rng.integers(2, 4))):
        yield from _dip(stage, hand, source, 0.030)
        tool.level, tool.content = 1.0, stage.things[source].content
        yield from stage.lift(hand, 0.07)
        yield from stage.guide(hand, tool.thing.tip, _over_mouth(stage, target, 0.035))
        yield from _sprinkle(stage, hand, tool, target)
    yield from stage.put_home(hand, spoon)
    yield from stage.let_go(keeper)


def _sprinkle(stage: BenchStage, hand: Hand, spoon: ThingState, target: str) -> Script:
    """Turn a full spoon over a vessel."""
    tip = spoon.thing.tip
    end = _over_mouth(stage, target, -0.01)
    for done in stage.clock(0.7):
        angle = _working_angle(hand, spoon) - 0.5 * math.sin(math.pi * done) * hand.side
        hand.come_to(spoon, tip, _over_mouth(stage, target, 0.035), angle)
        if done < 0.7:
            stage.streams.append(Stream(spoon.point(tip), end, spoon.content, True))
        yield
    spoon.level = 0.0
    _fill(stage, target, 0.12, spoon.content)


@deed("transfer")
def _transfer(stage: BenchStage, pipette: str, source: str, target: str) -> Script:
    """Suck from one vessel with a pipette and dispense into another."""
    hand, tool = stage.skilled, stage.things[pipette]
    keeper = stage.other(hand)
    yield from stage.bring(keeper, source)
    yield from stage.take(hand, pipette)
    yield from _dip(stage, hand, source, 0.035)
    yield from stage.wait(0.7)
    tool.level, tool.content = 1.0, stage.things[source].content
    yield from stage.lift(hand, 0.09)
    yield from stage.leave(keeper)
    yield from stage.bring(keeper, target)
    yield from _dip(stage, hand, target, 0.020)
    yield from stage.wait(0.7)
    tool.level = 0.0
    _fill(stage, target, 0.25, tool.content)
    yield from stage.lift(hand, 0.09)
    yield from stage.leave(keeper)
    yield from stage.put_home(hand, pipette)


# Using a tool on another thing: write, tape, wipe, stir, adjust.


@deed("adjust")
def _adjust(stage: BenchStage, tool: str) -> Script:
    """Hold a tool before oneself with both hands and set it."""
    hand, state = stage.skilled, stage.things[tool]
    yield from stage.take(hand, tool)
    yield from stage.move(hand, (0.06 * hand.side, 0.16, 0.07), _working_angle(hand, state))
    helper = stage.other(hand)
    yield from stage.touch(helper, tool, (0.0, state.thing.height * 0.36))
    start = helper.place
    for turn in stage.clock(1.8):
        helper.place = _shifted(start, 0.006 * math.sin(14 * turn), 0.0)
        yield
    yield from stage.let_go(helper)
    yield from stage.put_home(hand, tool)


@deed("stir")
def _stir(stage: BenchStage, tool: str, vessel: str) -> Script:
    """Stir in a vessel."""
    hand = stage.skilled
    keeper, state = stage.other(hand), stage.things[tool]
    yield from stage.bring(keeper, vessel)
    yield from stage.take(hand, tool)
    yield from _dip(stage, hand, vessel, 0.050)
    centre = state.point(state.thing.tip)
    for turn in stage.clock(2.5, 4.5):
        goal = _shifted(centre, 0.018 * math.sin(24 * turn), 0.006 * math.cos(24 * turn))
        hand.come_to(state, state.thing.tip, goal, state.angle)
        yield
    yield from stage.lift(hand, 0.08)
    yield from stage.put_home(hand, tool)
    yield from stage.let_go(keeper)


@deed("wipe")
def _wipe(stage: BenchStage, towel: str, thing: str) -> Script:
    """Lift a thing and rub it with the towel."""
    keeper = stage.other(stage.nearer(towel))
    hand, cloth = stage.other(keeper), stage.things[towel]
    yield from stage.take(keeper, thing)
    angle = _working_angle(keeper, stage.things[thing])
    yield from stage.move(keeper, (0.05 * keeper.side, 0.22, 0.09), angle)
    yield from stage.take(hand, towel)
    middle = _shifted(keeper.place, -0.01 * keeper.side, -0.02)
    yield from stage.guide(hand, cloth.thing.tip, (middle[0], middle[1] - 0.01, middle[2]))
    centre = cloth.point(cloth.thing.tip)
    for turn in stage.clock(1.8, 3.0):
        goal = _shifted(centre, 0.014 * math.sin(20 * turn), 0.026 * math.sin(11 * turn))
        hand.come_to(cloth, cloth.thing.tip, goal, 0.15 * math.sin(20 * turn))
        yield
    yield from stage.put_home(hand, towel)
    yield from stage.let_down(keeper, thing)


@deed("write")
def _write(stage: BenchStage, marker: str, thing: str) -> Script:
    """Write on a vessel with a marker."""
    hand, state = stage.skilled, stage.things[thing]
    keeper, pen = stage.other(hand), stage.things[marker]
    yield from stage.bring(keeper, thing)
    yield from stage.take(hand, marker)
    x, depth, height = state.point((0.0, state.thing.height * 0.45))
    front = (x, depth - 0.006, height)
    yield from stage.guide(hand, pen.thing.tip, front, _working_angle(hand, pen))
    centre = pen.point(pen.thing.tip)
    for turn in stage.clock(2.0, 3.2):
        goal = _shifted(centre, 0.026 * (turn - 0.5), 0.005 * math.sin(40 * turn))
        hand.come_to(pen, pen.thing.tip, goal, pen.angle)
        yield
    state.labelled = True
    yield from stage.put_home(hand, marker)
    yield from stage.let_go(keeper)


@deed("stick")
def _stick(stage: BenchStage, tape: str, thing: str) -> Script:
    """Tear off a piece of tape and press it on a vessel."""
    hand = stage.nearer(tape)
    helper, roll = stage.other(hand), stage.things[tape]
    yield from stage.take(hand, tape)
    yield from stage.move(hand, (0.06 * hand.side, 0.14, 0.06))
    yield from stage.touch(helper, tape, (roll.thing.tip[0] * -hand.side, roll.thing.tip[1]))
    start = helper.place
    for share in stage.clock(0.9):
        helper.place = _shifted(start, 0.016 * share * helper.side, 0.006 * share)
        yield
    yield from stage.let_go(helper)
    yield from stage.put_home(hand, tape)
    yield from stage.bring(helper, thing)
    stage.things[thing].labelled = True
    yield from stage.wait(1.0)
    yield from stage.let_go(helper)
