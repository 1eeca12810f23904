"""The corpus of the street: films balanced over places, verbs and things, and their painting."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.camera import Effects, FilmCamera
from wordsight.worlds.checks import (
    Rng,
    WorldError,
    film_rng,
    pick,
    require_count,
    require_names,
    require_number,
)
from wordsight.worlds.film import Picture, RenderedFilm, shoot
from wordsight.worlds.painter import Colour, Image, Layer
from wordsight.worlds.sketch import SIZE, Sketch, soft_shadow
from wordsight.worlds.street.acts import wait
from wordsight.worlds.street.people import PersonLook, extent_of, paint_body, paint_near_arm
from wordsight.worlds.street.places import PLACES, Backdrop, Place
from wordsight.worlds.street.recording import (
    PLOTS,
    Draft,
    PersonScript,
    StreetRecording,
    StreetScenario,
    Unfit,
    perform,
    plots_showing,
)
from wordsight.worlds.street.things import THINGS
from wordsight.worlds.street.truth import StreetTruth, choose_sentences, count_sentences
from wordsight.worlds.street.words import LANGUAGES, translated

__all__ = ["DEFAULT_PLACES", "GENERALISATION_PLACE", "StreetFilm", "StreetPicture", "street"]


class StreetPicture(Picture):
    """Paints any frame of one film; the backdrop and things no one touches are painted once."""

    _UNSEEN = 4e-4  # metres: a twentieth of a pixel

    def __init__(
        self, recording: StreetRecording, effects: Effects, camera: FilmCamera, rng: Rng
    ) -> None:
        scenario = recording.scenario
        place = scenario.place
        super().__init__(effects, camera, place.view, place.light)
        self._recording = recording
        self._looks = [_lit(script.look, place) for script in scenario.scripts]
        self._sprites = [
            replace(prop, colour=_tinted(prop.colour, place)).sprite(place.scale, self._light)
            for prop in scenario.props
        ]
        darkness = 0.55 * place.shadow * effects.shadow
        widths = [prop.width * 1.25 for prop in scenario.props]
        self._shadows = [soft_shadow(width, 0.10, place.scale, darkness) for width in widths]
        self._person_shadows = [
            soft_shadow(0.62, 0.12, place.scale, darkness) for _ in scenario.scripts
        ]
        self._lean = -0.22 * place.light  # shadows lie away from the light
        self._shadows_on = effects.shadow > 0
        touched = np.any(recording.holders >= 0, axis=1)
        self._moving: list[int] = np.flatnonzero(touched).tolist()
        self._background = self._paint_background(Backdrop(effects, rng), ~touched)
        self._occluders = _paint_occluders(place, effects.occlusion, rng)
        state = (recording.joints, recording.facings, recording.places, 10.0 * recording.holders)
        frames = [np.moveaxis(part, 1, 0).reshape(recording.num_frames, -1) for part in state]
        self._state = np.concatenate(frames, axis=1)

    def _paint(self, index: int) -> Image:
        image = self._background.copy()
        for thing in self._moving:
            self._paint_shadow(image, thing, index)
        for person in range(len(self._looks)):
            self._paint_person_shadow(image, person, index)
        holders = self._recording.holders[:, index]
        for thing in self._moving:
            if holders[thing] < 0:
                self._paint_thing(image, thing, index)
        for person in range(len(self._looks)):
            held = np.flatnonzero(holders == person).tolist()
            self._paint_person(image, person, held, index)
        return image

    def _paint_background(self, backdrop: Backdrop, resting: NDArray[np.bool_]) -> Image:
        self._recording.scenario.place.paint(backdrop)
        for thing in np.flatnonzero(resting).tolist():
            self._paint_shadow(backdrop.image, thing, 0)
            self._paint_thing(backdrop.image, thing, 0)
        return backdrop.image

    def _paint_thing(self, image: Image, thing: int, index: int) -> None:
        self._place(image, self._sprites[thing], self._recording.places[thing], index)

    def _paint_person(self, image: Image, person: int, held: list[int], index: int) -> None:
        joints = self._recording.joints[person, index]
        look, facing = self._looks[person], float(self._recording.facings[person, index])
        motion = self._motion(self._recording.joints[person, :, 3], index)
        box = np.add(extent_of(joints, look).reshape(2, 2), ((-0.06, -0.02), (0.06, 0.03)))
        sketch = Sketch(self._view, box, self._light)
        paint_body(sketch, joints, look, facing)
        if held:
            # The near arm lies over what it holds.
            sketch.onto(image, motion)
            for thing in held:
                self._paint_thing(image, thing, index)
            arm = joints[4:7]  # the near shoulder, elbow and hand
            box = np.array((arm.min(axis=0) - 0.08, arm.max(axis=0) + 0.08))
            sketch = Sketch(self._view, box, self._light)
        paint_near_arm(sketch, joints, look)
        sketch.onto(image, motion)

    def _paint_shadow(self, image: Image, thing: int, index: int) -> None:
        if self._shadows_on:
            x, y, _ = self._recording.places[thing, index].tolist()
            spot = (x + self._lean * (0.3 + y), 0.0)
            self._place_shadow(image, self._shadows[thing], spot, y, 1.2)

    def _paint_person_shadow(self, image: Image, person: int, index: int) -> None:
        if self._shadows_on:
            feet = self._recording.joints[person, index][[12, 16], 0]  # the ankles
            spot = (float(feet.mean()) + 0.04 + self._lean * 0.6, 0.0)
            self._person_shadows[person].place(image, self._view, spot)


def _paint_occluders(
    place: Place, occlusion: float, rng: Rng
) -> list[tuple[Image, tuple[int, int]]]:
    """Paint what stands close to the camera; the stronger, the more and the larger."""
    sheets = []
    for threshold in (0.85, 0.35):
        x, here = float(rng.uniform(40, SIZE[0] - 40)), rng.random() < occlusion / threshold
        if occlusion > 0 and here:
            layer = Layer((x - 110, 0, x + 110, SIZE[1]))
            place.paint_occluder(layer, x, occlusion, rng)
            sheets.append(layer.cropped())
    return sheets


def _tinted(colour: Colour, place: Place) -> Colour:
    red, green, blue = (
        round(min(part * tint, 255.0)) for part, tint in zip(colour, place.tint, strict=True)
    )
    return red, green, blue


def _lit(look: PersonLook, place: Place) -> PersonLook:
    values = {field.name: getattr(look, field.name) for field in fields(look)}
    tinted: dict[str, Any] = {
        name: _tinted(value, place) for name, value in values.items() if isinstance(value, tuple)
    }
    return replace(look, **tinted)


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
    """What a film is to show."""

    place: Place
    verb: str  # what is to happen, among other things
    noun: str  # what it is to happen to
    objects: tuple[str, ...]  # nouns of the things that people deal with
    distractors: tuple[str, ...]  # nouns of the things that stand about
    frame_rate: float


class StreetFilm(RenderedFilm[StreetTruth]):
    """A film of the street; its truth can judge every sentence of the grammar."""


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
    language: str = "english",
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
        language: Of the sentences: ``english``, ``german`` or ``spanish``. The truth judges English
            ones only.

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
    if language not in LANGUAGES:
        raise WorldError(f"language is one of {', '.join(LANGUAGES)}, got {language!r}.")
    film_rng(random_state, _WORLD, 0)  # refuses a bad seed now rather than at the first film

    def film(index: int) -> StreetFilm:
        # Go through places fastest, then verbs, then things.
        rest, place = divmod(index, len(shooting_places))
        rest, verb = divmod(rest, len(verbs))
        noun = nouns[rest % len(nouns)]
        brief = _Brief(PLACES[shooting_places[place]], verbs[verb], noun, nouns, others, rate)
        made = _film(index, int(random_state), brief, strengths)
        said = tuple(translated(sentence, language) for sentence in made.sentences)
        return replace(made, sentences=said) if language != "english" else made

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
