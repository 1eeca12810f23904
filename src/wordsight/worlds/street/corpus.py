"""The corpus of the street: films balanced over places, verbs and things."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from wordsight.worlds.camera import Effects
from wordsight.worlds.chance import Rng, film_rng, pick
from wordsight.worlds.checks import WorldError, require_count, require_names, require_number
from wordsight.worlds.film import RenderedFilm
from wordsight.worlds.picture import shoot
from wordsight.worlds.street.acts import wait
from wordsight.worlds.street.picture import StreetPicture
from wordsight.worlds.street.places import PLACES, Place
from wordsight.worlds.street.plots import PLOTS, Draft, Unfit, plots_showing
from wordsight.worlds.street.recording import (
    PersonScript,
    StreetRecording,
    StreetScenario,
    perform,
)
from wordsight.worlds.street.things import THINGS
from wordsight.worlds.street.truth import StreetTruth, choose_sentences, count_sentences

__all__ = ["DEFAULT_PLACES", "GENERALISATION_PLACE", "StreetFilm", "street"]

DEFAULT_PLACES = ("courtyard", "park", "kerb")
"""The places of the corpus; each serves as one fold."""

GENERALISATION_PLACE = "harbour"
"""A place learners never see unless asked for."""

_WORLD = "street"
_ACTIONS = ("approached", "picked-up", "put-down", "carried")
_OBJECTS = ("backpack", "chair", "trash-can")
_DISTRACTORS = ("traffic-cone", "stool")
_SENTENCES, _CLIPS = 159, 61  # the published corpus has so many sentences for so many clips
_SHORTEST, _LONGEST = 3.0, 5.0  # seconds of a film
_TAIL = 0.25  # seconds at least after everything is done
_DRAWS = 2000  # more than enough: about one draw in five fits
_SECOND_PERSON = 0.35  # share of films with two people
_LEAST_SENTENCES = 4  # different sentences that can be written about a film
_BYSTANDER, _DISTRACTOR, _DOUBLE = 0.75, 0.5, 0.12  # shares of things no one deals with


@dataclass(frozen=True)
class _Brief:
    """What a film shall show."""

    place: Place
    verb: str  # what shall happen, among other things
    noun: str  # what it shall happen to
    objects: tuple[str, ...]  # nouns of the things that people deal with
    distractors: tuple[str, ...]  # nouns of the things that stand about
    frame_rate: float


@dataclass(frozen=True)
class StreetFilm(RenderedFilm):
    """A film of the street.

    Attributes:
        truth: Ground truth; it can judge every sentence of the grammar.
    """

    truth: StreetTruth


def street(
    clips: int = 61,
    random_state: int = 0,
    *,
    places: Sequence[str] | None = None,
    actions: Sequence[str] = _ACTIONS,
    objects: Sequence[str] = _OBJECTS,
    distractors: Sequence[str] = _DISTRACTORS,
    noise: float = 0.3,
    effects: Effects | None = None,
    frame_rate: float = 30.0,
) -> Iterator[StreetFilm]:
    """Make films of people who pick up, put down, carry and approach things outdoors.

    Film number k is the same however many are made. By default 61 films come with 159 sentences,
    in three places that serve as folds.

    Args:
        clips: Number of films.
        random_state: The seed.
        places: Where they are shot, in turn; ``harbour`` is kept for tests of generalisation.
        actions: The verbs they are made for, in turn; other things may happen, too.
        objects: Nouns of the things people deal with, in turn.
        distractors: Nouns of things that stand about.
        noise: How rich and how degraded the pictures are, 0 to 1.
        effects: Strengths one by one instead of ``noise``.
        frame_rate: Frames per second.

    Returns:
        The films, each made when it is asked for.

    Raises:
        WorldError: If a name is unknown, or a number out of range.

    Examples:
        >>> film = next(street(clips=1))
        >>> film.name, film.truth.holds(film.sentences[0])
        ('street-000', True)
    """
    shooting_places = PLACES.check(
        require_names("place", DEFAULT_PLACES if places is None else places)
    )
    verbs = require_names("action", actions)
    for verb in verbs:
        plots_showing(verb)
    nouns = THINGS.check(require_names("object", objects))
    others = THINGS.check(distractors)
    rate = require_number("frame_rate", frame_rate, 1.0, 120.0)
    strengths = Effects.at(noise) if effects is None else effects
    count = require_count("clips", clips, unit="clip")
    film_rng(random_state, _WORLD, 0)  # refuses a bad seed now rather than at the first film

    def film(index: int) -> StreetFilm:
        # Go through places fastest, then verbs, then things.
        rest, place = divmod(index, len(shooting_places))
        rest, verb = divmod(rest, len(verbs))
        noun = nouns[rest % len(nouns)]
        brief = _Brief(PLACES[shooting_places[place]], verbs[verb], noun, nouns, others, rate)
        return _film(index, int(random_state), brief, strengths)

    return (film(index) for index in range(count))


def _film(index: int, random_state: int, brief: _Brief, effects: Effects) -> StreetFilm:
    rng = partial(film_rng, random_state, _WORLD, index)
    recording = _direct(brief, rng("script"))
    shot = shoot(recording, effects, rng, StreetTruth, StreetPicture)
    # Two or three, so that the first n films have n * 159 / 61 sentences, rounded down.
    count = (index + 1) * _SENTENCES // _CLIPS - index * _SENTENCES // _CLIPS
    return StreetFilm(
        name=f"{_WORLD}-{index:03d}",
        world=_WORLD,
        index=index,
        random_state=random_state,
        sentences=choose_sentences(shot["truth"], brief.verb, count, rng("sentences")),
        **shot,
    )


# Directing: drawing scenarios until one fits, has the right length and is unambiguous.


def _direct(brief: _Brief, rng: Rng) -> StreetRecording:
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


def _draw(brief: _Brief, rng: Rng) -> StreetScenario:
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

    def delayed(script: PersonScript) -> PersonScript:
        """Let a script begin somewhere in the film rather than always at once."""
        slack = max(duration - script.seconds() - _TAIL, 0.0)
        return replace(script, acts=(wait(draft.between(0.0, slack)), *script.acts))

    return StreetScenario(
        place=brief.place,
        props=tuple(draft.props),
        spots=draft.spots,
        scripts=tuple(delayed(script) for script in draft.scripts),
        duration=duration,
    )


def _goal(draft: Draft, brief: _Brief) -> str | None:
    others = [noun for noun in (*brief.objects, *brief.distractors) if noun != brief.noun]
    if not others or draft.chance(0.25):
        return None
    return pick(others, draft.rng)


def _add_second(draft: Draft, brief: _Brief) -> None:
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


def _add_bystanders(draft: Draft, brief: _Brief) -> None:
    """Let other things stand about."""
    used = {prop.thing.noun for prop in draft.props}
    for nouns, share in ((brief.objects, _BYSTANDER), (brief.distractors, _DISTRACTOR)):
        for noun in nouns:
            if draft.chance(_DOUBLE if noun in used else share):
                draft.add_bystander(noun)


def _is_good(recording: StreetRecording, brief: _Brief) -> bool:
    truth = StreetTruth(recording)
    shown = any(
        event.verb == brief.verb and truth.kinds[event.patient] == brief.noun
        for event in truth.events
    )
    upright = bool(np.all(np.abs(recording.places[:, -1, 2]) < 0.6))
    return shown and upright and truth.is_clear() and count_sentences(truth) >= _LEAST_SENTENCES
