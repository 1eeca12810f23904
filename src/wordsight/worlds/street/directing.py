"""Directing: drawing scenarios until one fits, lasts as long as it should and leaves no doubt."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from wordsight.worlds.checks import WorldError
from wordsight.worlds.street.acts import Wait
from wordsight.worlds.street.places.place import Place
from wordsight.worlds.street.plots import PLOTS, Draft, Unfit, plots_showing
from wordsight.worlds.street.recording import PersonScript, StreetRecording, StreetScenario, perform
from wordsight.worlds.street.sentences import num_tellings
from wordsight.worlds.street.truth import StreetTruth

__all__ = ["FilmBrief", "direct"]

_SHORTEST, _LONGEST = 3.0, 5.0  # seconds of a film
_TAIL = 0.25  # seconds at least after everything is done
_DRAWS = 2000  # more than enough: about one draw in five fits
_SECOND_PERSON = 0.35  # share of films with two people
_LEAST_TELLINGS = 4  # different sentences that can be written about a film
_BYSTANDER, _DISTRACTOR, _DOUBLE = 0.75, 0.5, 0.12  # shares of things nobody deals with


@dataclass(frozen=True)
class FilmBrief:
    """What a film shall show.

    Attributes:
        place: Where it is shot.
        verb: What shall happen, among other things.
        noun: What it shall happen to.
        objects: The nouns of things that people deal with.
        distractors: The nouns of things that stand about.
        frame_rate: Frames per second.
    """

    place: Place
    verb: str
    noun: str
    objects: tuple[str, ...]
    distractors: tuple[str, ...]
    frame_rate: float


def direct(order: FilmBrief, rng: np.random.Generator) -> StreetRecording:
    """Draw scenarios and perform them until one shows what was ordered without any doubt."""
    for _ in range(_DRAWS):
        try:
            scenario = _draw(order, rng)
        except Unfit:
            continue
        recording = perform(scenario, order.frame_rate)
        if _is_good(recording, order):
            return recording
    raise WorldError(
        f"no film of {order.verb} with a {order.noun} came out of {_DRAWS} draws; ask for other "
        "objects or actions."
    )


def _draw(order: FilmBrief, rng: np.random.Generator) -> StreetScenario:
    draft = Draft(order.place, rng)
    _lead(draft, order)
    if draft.chance(_SECOND_PERSON):
        _second(draft, order)
    _dress(draft, order)
    seconds = max(part.seconds() for part in draft.parts) + _TAIL
    if seconds > _LONGEST:
        raise Unfit("too long")
    least = max(seconds, _SHORTEST)
    duration = draft.between(least, min(least + 0.8, _LONGEST))
    return StreetScenario(
        place=order.place,
        props=tuple(draft.props),
        spots=draft.spots,
        parts=tuple(_delayed(part, duration, draft) for part in draft.parts),
        duration=duration,
    )


def _delayed(part: PersonScript, duration: float, draft: Draft) -> PersonScript:
    """Let a part begin somewhere in the film rather than always at once."""
    slack = max(duration - part.seconds() - _TAIL, 0.0)
    return replace(part, acts=(Wait(draft.between(0.0, slack)), *part.acts))


def _lead(draft: Draft, order: FilmBrief) -> None:
    plots = plots_showing(order.verb)
    plot = plots[int(draft.rng.integers(len(plots)))]
    draft.add_part(plot.write(draft, order.noun, _goal(draft, order, order.noun)))


def _goal(draft: Draft, order: FilmBrief, noun: str) -> str | None:
    others = [other for other in (*order.objects, *order.distractors) if other != noun]
    if not others or draft.chance(0.25):
        return None
    return _one_of(others, draft.rng)


def _second(draft: Draft, order: FilmBrief) -> None:
    """Let someone else do something on the ground that is left, or just stand there."""
    draft.room = _free_room(draft)
    width = draft.room[1] - draft.room[0]
    used = {prop.thing.noun for prop in draft.props}
    nouns = [noun for noun in order.objects if noun not in used]
    fitting = [PLOTS[name] for name in PLOTS if PLOTS[name].room <= width]
    if fitting and nouns and draft.chance(0.75):
        plot = fitting[int(draft.rng.integers(len(fitting)))]
        draft.add_part(plot.write(draft, _one_of(nouns, draft.rng), None))
    elif width > 0.2:
        x = draft.between(*draft.room)
        draft.add_part(PersonScript(draft.person(), x, draft.side(), None, ()))


def _free_room(draft: Draft) -> tuple[float, float]:
    """Return the larger side of the ground that the first part leaves free."""
    low, high = draft.room
    taken = (*draft.feet_at, *draft.things_at)
    left, right = (low, min(taken) - 0.65), (max(taken) + 0.65, high)
    return max(left, right, key=lambda room: room[1] - room[0])


def _dress(draft: Draft, order: FilmBrief) -> None:
    """Let other things stand about."""
    used = {prop.thing.noun for prop in draft.props}
    for nouns, share in ((order.objects, _BYSTANDER), (order.distractors, _DISTRACTOR)):
        for noun in nouns:
            if draft.chance(_DOUBLE if noun in used else share):
                draft.add_bystander(noun)


def _is_good(recording: StreetRecording, order: FilmBrief) -> bool:
    truth = StreetTruth(recording)
    shown = any(
        event.verb == order.verb and truth.kinds[event.patient] == order.noun
        for event in truth.events
    )
    upright = bool(np.all(np.abs(recording.places[:, -1, 2]) < 0.6))
    return shown and upright and truth.is_clear() and num_tellings(truth) >= _LEAST_TELLINGS


def _one_of(names: Sequence[str], rng: np.random.Generator) -> str:
    return names[int(rng.integers(len(names)))]
