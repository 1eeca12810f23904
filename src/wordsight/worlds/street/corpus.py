"""The corpus of the street: films balanced over places, verbs and things."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from wordsight.worlds.camera import Effects
from wordsight.worlds.chance import film_rng
from wordsight.worlds.checks import require_count, require_names, require_number
from wordsight.worlds.film import RenderedFilm
from wordsight.worlds.picture import shoot
from wordsight.worlds.street.directing import FilmBrief, direct
from wordsight.worlds.street.picture import StreetPicture
from wordsight.worlds.street.places import PLACES
from wordsight.worlds.street.plots import plots_showing
from wordsight.worlds.street.things import THINGS
from wordsight.worlds.street.truth import StreetTruth, choose_sentences

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
        brief = FilmBrief(PLACES[shooting_places[place]], verbs[verb], noun, nouns, others, rate)
        return _film(index, int(random_state), brief, strengths)

    return (film(index) for index in range(count))


def _film(index: int, random_state: int, brief: FilmBrief, effects: Effects) -> StreetFilm:
    rng = partial(film_rng, random_state, _WORLD, index)
    recording = direct(brief, rng("script"))
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
