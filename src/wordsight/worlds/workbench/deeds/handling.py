"""Deeds that move a thing, set it on another, shake it or press its button."""

import math

from wordsight.worlds.workbench.bench import Place
from wordsight.worlds.workbench.deeds.deed import deed
from wordsight.worlds.workbench.stage import Script, Stage

__all__ = ["fetch", "press", "set_on", "shake", "store", "swirl", "take_off"]


@deed("fetch")
def fetch(stage: Stage, thing: str) -> Script:
    """Get a vessel to the middle of the bench."""
    hand = stage.nearer(thing)
    yield from stage.bring(hand, thing)
    yield from stage.wait(0.5)
    yield from stage.let_go(hand)


@deed("store")
def store(stage: Stage, thing: str) -> Script:
    """Bring a thing back to where it belongs."""
    yield from stage.put_home(stage.nearer(thing), thing)


@deed("set on")
def set_on(stage: Stage, thing: str, device: str) -> Script:
    """Set a thing on a device, or a funnel on a vessel."""
    hand, base = stage.nearer(thing), stage.things[device]
    if base.thing.vessel and base.place[1] > 0.4:
        keeper = stage.other(hand)
        yield from stage.bring(keeper, device)
        yield from stage.let_go(keeper)
    for other, state in list(stage.things.items()):
        if state.stands_on == device and other != thing:
            yield from stage.put_home(hand, other)
    yield from stage.take(hand, thing)
    yield from stage.put(hand, _place_on(stage, thing, device), stands_on=device)


@deed("take off")
def take_off(stage: Stage, thing: str) -> Script:
    """Take a thing off what it stands on: a vessel to the middle, anything else home."""
    hand = stage.nearer(thing)
    if stage.things[thing].thing.vessel:
        yield from stage.take(hand, thing)
        yield from stage.let_down(hand, thing)
    else:
        yield from stage.put_home(hand, thing)


@deed("press")
def press(stage: Stage, device: str) -> Script:
    """Press a button or turn a knob."""
    hand = stage.nearer(device)
    yield from stage.touch(hand, device, stage.things[device].thing.tip)
    yield from stage.wait(1.0)
    yield from stage.let_go(hand)


@deed("shake")
def shake(stage: Stage, vessel: str) -> Script:
    """Shake a vessel in the air."""
    hand, state = stage.nearer(vessel), stage.things[vessel]
    yield from stage.take(hand, vessel)
    yield from stage.move(hand, (0.04 * hand.side, 0.24, 0.14), 0.0)
    centre = hand.place
    for turn in stage.clock(float(stage.rng.uniform(2.0, 3.5))):
        fade = math.sin(math.pi * turn)
        swing = math.sin(42 * turn) * fade
        goal = (centre[0] + 0.020 * swing, centre[1], centre[2] + 0.022 * abs(swing))
        hand.come_to(state, hand.grip_of(state), goal, 0.35 * swing)
        yield
    yield from stage.let_down(hand, vessel)


@deed("swirl")
def swirl(stage: Stage, vessel: str) -> Script:
    """Lift a vessel a little and move it in circles."""
    hand, state = stage.nearer(vessel), stage.things[vessel]
    yield from stage.take(hand, vessel)
    centre = hand.place
    for turn in stage.clock(float(stage.rng.uniform(2.0, 3.5))):
        fade = math.sin(math.pi * turn)
        x, y = 0.022 * math.sin(26 * turn) * fade, 0.010 * math.cos(26 * turn) * fade
        goal = (centre[0] + x, centre[1] + y, centre[2])
        hand.come_to(state, hand.grip_of(state), goal, 0.06 * math.sin(26 * turn) * fade)
        yield
    yield from stage.let_down(hand, vessel)


def _place_on(stage: Stage, thing: str, device: str) -> Place:
    """Return where the origin of a thing is when it stands on another."""
    base, state = stage.things[device], stage.things[thing]
    x, depth, height = base.place
    if base.thing.top > 0:
        return x, depth - 0.002, height + base.thing.top
    sunk = 0.030  # metres by which a stem hangs into a mouth
    return x, depth + 0.002, height + base.thing.mouth[1] - sunk - state.thing.tip[1]
