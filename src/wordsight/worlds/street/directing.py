"""Directing: drawing scenarios until one fits, lasts as long as it should and is unambiguous."""

from dataclasses import dataclass, replace

import numpy as np

from wordsight.worlds.chance import Rng, pick
from wordsight.worlds.checks import WorldError
from wordsight.worlds.street.acts import wait
from wordsight.worlds.street.places import Place
from wordsight.worlds.street.plots import PLOTS, Draft, Unfit, plots_showing
from wordsight.worlds.street.recording import (
    PersonScript,
    StreetRecording,
    StreetScenario,
    perform,
)
from wordsight.worlds.street.truth import StreetTruth, count_sentences

__all__ = ["FilmBrief", "direct"]

_SHORTEST, _LONGEST = 3.0, 5.0  # seconds of a film
_TAIL = 0.25  # seconds at least after everything is done
_DRAWS = 2000  # more than enough: about one draw in five fits
_SECOND_PERSON = 0.35  # share of films with two people
_LEAST_SENTENCES = 4  # different sentences that can be written about a film
_BYSTANDER, _DISTRACTOR, _DOUBLE = 0.75, 0.5, 0.12  # shares of things no one deals with


@dataclass(frozen=True)
class FilmBrief:
    """What a film shall show."""

    place: Place
    verb: str  # what shall happen, among other things
    noun: str  # what it shall happen to
    objects: tuple[str, ...]  # nouns of the things that people deal with
    distractors: tuple[str, ...]  # nouns of the things that stand about
    frame_rate: float


def direct(brief: FilmBrief, rng: Rng) -> StreetRecording:
    """Draw scenarios and perform them until one clearly shows what the brief asks for."""
    for _ in range(_DRAWS):
        try:
            scenario = _draw(brief, rng)
        except Unfit:
            continue
        recording = perform(scenario, brief.frame_rate)
        if _is_good(recording, brief):
            return recording
    raise WorldError(
        f"no film of {brief.verb} with a {brief.noun} came out of {_DRAWS} draws; ask for other "
        "objects or actions."
    )


def _draw(brief: FilmBrief, rng: Rng) -> StreetScenario:
    draft = Draft(brief.place, rng)
    plot = pick(plots_showing(brief.verb), rng)
    draft.add_script(plot.write(draft, brief.noun, _goal(draft, brief)))
    if draft.chance(_SECOND_PERSON):
        _add_second(draft, brief)
    _add_bystanders(draft, brief)
    seconds = max(script.seconds() for script in draft.scripts) + _TAIL
    if seconds > _LONGEST:
        raise Unfit("too long")
    least = max(seconds, _SHORTEST)
    duration = draft.between(least, min(least + 0.8, _LONGEST))
    return StreetScenario(
        place=brief.place,
        props=tuple(draft.props),
        spots=draft.spots,
        scripts=tuple(_delayed(script, duration, draft) for script in draft.scripts),
        duration=duration,
    )


def _delayed(script: PersonScript, duration: float, draft: Draft) -> PersonScript:
    """Let a script begin somewhere in the film rather than always at once."""
    slack = max(duration - script.seconds() - _TAIL, 0.0)
    return replace(script, acts=(wait(draft.between(0.0, slack)), *script.acts))


def _goal(draft: Draft, brief: FilmBrief) -> str | None:
    others = [noun for noun in (*brief.objects, *brief.distractors) if noun != brief.noun]
    if not others or draft.chance(0.25):
        return None
    return pick(others, draft.rng)


def _add_second(draft: Draft, brief: FilmBrief) -> None:
    """Let someone else do something on the ground that is left, or just stand there."""
    low, high = draft.room
    taken = (*draft.feet_at, *draft.things_at)
    sides = (low, min(taken) - 0.65), (max(taken) + 0.65, high)
    draft.room = max(*sides, key=lambda room: room[1] - room[0])
    width = draft.room[1] - draft.room[0]
    used = {prop.thing.noun for prop in draft.props}
    nouns = [noun for noun in brief.objects if noun not in used]
    fitting = [plot for plot in PLOTS.values() if plot.room <= width]
    if fitting and nouns and draft.chance(0.75):
        plot = pick(fitting, draft.rng)
        draft.add_script(plot.write(draft, pick(nouns, draft.rng), None))
    elif width > 0.2:
        x, person = draft.between(*draft.room), draft.person()
        draft.add_script(PersonScript(*person, x, draft.side(), None, ()))


def _add_bystanders(draft: Draft, brief: FilmBrief) -> None:
    """Let other things stand about."""
    used = {prop.thing.noun for prop in draft.props}
    for nouns, share in ((brief.objects, _BYSTANDER), (brief.distractors, _DISTRACTOR)):
        for noun in nouns:
            if draft.chance(_DOUBLE if noun in used else share):
                draft.add_bystander(noun)


def _is_good(recording: StreetRecording, brief: FilmBrief) -> bool:
    truth = StreetTruth(recording)
    shown = any(
        event.verb == brief.verb and truth.kinds[event.patient] == brief.noun
        for event in truth.events
    )
    upright = bool(np.all(np.abs(recording.places[:, -1, 2]) < 0.6))
    return shown and upright and truth.is_clear() and count_sentences(truth) >= _LEAST_SENTENCES
