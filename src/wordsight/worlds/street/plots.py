"""Plots: short stories for one person and one thing, each written for the verbs it shows.

A plot is a function that takes ground from the draft and returns what the person does; see the
guide to worlds for how to add one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wordsight.worlds.registry import Registry
from wordsight.worlds.street.actor import REACH
from wordsight.worlds.street.acts import Act, PickUp, PutDown, Turn, Wait, Walk
from wordsight.worlds.street.draft import Draft, Pace
from wordsight.worlds.street.scenario import Part

__all__ = ["PLOTS", "Plot", "plots_showing"]


@dataclass(frozen=True)
class Plot:
    """A short story.

    Attributes:
        verbs: The verbs it shows, most striking first.
        room: Metres of ground it needs.
        write: Decides places and acts: ``write(draft, noun, goal)``; ``goal`` is the noun of
            something to go to or from, or None.
    """

    verbs: tuple[str, ...]
    room: float
    write: Callable[[Draft, str, str | None], Part]


PLOTS: Registry[Plot] = Registry("plot")
"""All plots by name."""


def plots_showing(verb: str) -> list[Plot]:
    """Return the plots that show a verb."""
    found = [PLOTS[name] for name in PLOTS if verb in PLOTS[name].verbs]
    if not found:
        known = Registry[str]("action")
        for name in PLOTS:
            for shown in PLOTS[name].verbs:
                if shown not in known:
                    known.add(shown, shown)
        known.check([verb])
    return found


def _approach(draft: Draft, noun: str, goal: str | None) -> Part:
    stop = draft.between(0.48, 0.66)
    start, end = draft.walk(1.15, 2.7, 0.0, stop)
    side = _direction(start, end)
    draft.stand_thing(noun, end + side * stop)
    return _part(draft, start, side, None, [_walk(draft, end)])


def _pick(draft: Draft, noun: str, goal: str | None) -> Part:
    x, side = _stand(draft)
    prop = draft.stand_thing(noun, x + side * REACH)
    return _part(draft, x, side, None, [_pick_up(draft, prop.name)])


def _put(draft: Draft, noun: str, goal: str | None) -> Part:
    x, side = _stand(draft)
    prop = draft.hold_thing(noun)
    draft.reserve(x + side * REACH)
    return _part(draft, x, side, prop.name, [_put_down(draft, prop.name)])


def _carry(draft: Draft, noun: str, goal: str | None) -> Part:
    start, end = draft.walk(1.0, 2.6, 0.3, 0.6)
    prop = draft.hold_thing(noun)
    _mark(draft, goal, start, end)
    return _part(draft, start, _direction(start, end), prop.name, [_walk(draft, end)])


def _fetch(draft: Draft, noun: str, goal: str | None) -> Part:
    """Walk to a thing and pick it up."""
    start, end = draft.walk(1.1, 2.4, 0.0, REACH)
    side = _direction(start, end)
    prop = draft.stand_thing(noun, end + side * REACH)
    return _part(draft, start, side, None, [_walk(draft, end), _pick_up(draft, prop.name)])


def _take_along(draft: Draft, noun: str, goal: str | None) -> Part:
    """Pick a thing up and carry it on."""
    start, end = draft.walk(1.0, 2.2, 0.0, 0.6)
    side = _direction(start, end)
    prop = draft.stand_thing(noun, start + side * REACH)
    _mark(draft, goal, start, end)
    return _part(draft, start, side, None, [_pick_up(draft, prop.name), _walk(draft, end)])


def _bring(draft: Draft, noun: str, goal: str | None) -> Part:
    """Carry a thing somewhere and put it down."""
    start, end = draft.walk(1.0, 2.2, 0.3, 0.6)
    side = _direction(start, end)
    prop = draft.hold_thing(noun)
    draft.reserve(end + side * REACH)
    if goal is not None:
        draft.stand_thing(goal, start - side * draft.between(0.5, 0.7))
    return _part(draft, start, side, prop.name, [_walk(draft, end), _put_down(draft, prop.name)])


def _leave_behind(draft: Draft, noun: str, goal: str | None) -> Part:
    """Put a thing down and walk away to something else."""
    stop = draft.between(0.5, 0.65)
    start, end = draft.walk(1.1, 2.2, REACH, stop)
    side = _direction(start, end)
    prop = draft.hold_thing(noun)
    draft.reserve(start - side * REACH)
    if goal is not None:
        draft.stand_thing(goal, end + side * stop)
    acts: list[Act] = [_put_down(draft, prop.name), Turn(side), _walk(draft, end)]
    return _part(draft, start, -side, prop.name, acts)


def _mark(draft: Draft, goal: str | None, start: float, end: float) -> None:
    """Stand something where a walk leads to, or where it comes from."""
    if goal is None:
        return
    side = _direction(start, end)
    if draft.chance(0.6):
        draft.stand_thing(goal, end + side * draft.between(0.80, 0.88))
    else:
        draft.stand_thing(goal, start - side * draft.between(0.5, 0.7))


def _part(draft: Draft, x: float, facing: int, holding: str | None, acts: Sequence[Act]) -> Part:
    pauses: list[Act] = []
    for act in acts:
        pauses.extend([Wait(draft.between(0.12, 0.35)), act])
    return Part(draft.person(), x, facing, holding, tuple(pauses))


def _stand(draft: Draft) -> tuple[float, int]:
    side = draft.side()
    low, high = draft.room
    return draft.between(low + (REACH if side < 0 else 0), high - (REACH if side > 0 else 0)), side


def _direction(start: float, end: float) -> int:
    return 1 if end > start else -1


def _pace(draft: Draft) -> Pace:
    return Pace.drawn(draft.chance(0.5), draft.rng)


def _walk(draft: Draft, goal: float) -> Walk:
    pace = _pace(draft)
    return Walk(goal, pace.speed, pace.acceleration)


def _pick_up(draft: Draft, thing: str) -> PickUp:
    pace = _pace(draft)
    return PickUp(thing, pace.down, pace.up)


def _put_down(draft: Draft, thing: str) -> PutDown:
    pace = _pace(draft)
    return PutDown(thing, pace.down, pace.up)


for _name, _plot in (
    ("approach", Plot(("approached",), 2.0, _approach)),
    ("pick", Plot(("picked-up",), 0.8, _pick)),
    ("put", Plot(("put-down",), 0.8, _put)),
    ("carry", Plot(("carried",), 2.2, _carry)),
    ("fetch", Plot(("approached", "picked-up"), 2.0, _fetch)),
    ("take along", Plot(("carried", "picked-up"), 2.2, _take_along)),
    ("bring", Plot(("carried", "put-down"), 2.4, _bring)),
    ("leave behind", Plot(("put-down",), 2.4, _leave_behind)),
):
    PLOTS.add(_name, _plot)
