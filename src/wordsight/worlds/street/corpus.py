"""The corpus of the street: films balanced over places, verbs and things."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from wordsight.worlds.camera import Effects, FilmCamera
from wordsight.worlds.checks import checked_count, checked_names, checked_number
from wordsight.worlds.film import RenderedFilm, generator
from wordsight.worlds.street.directing import FilmBrief, direct
from wordsight.worlds.street.picture import StreetPicture
from wordsight.worlds.street.places import PLACES, SIZE
from wordsight.worlds.street.plots import plots_showing
from wordsight.worlds.street.recording import StreetRecording
from wordsight.worlds.street.sentences import tell
from wordsight.worlds.street.things import THINGS
from wordsight.worlds.street.truth import StreetTruth

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
_FRAME_RATES = (1.0, 120.0)  # per second


@dataclass(frozen=True)
class StreetFilm(RenderedFilm):
    """A film of the street.

    Attributes:
        truth: What is known about it; it can judge every sentence of the grammar.
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
        clips: How many films.
        random_state: The seed.
        places: Where they are shot, in turn; ``harbour`` is kept for tests of generalisation.
        actions: The verbs they are made for, in turn; other things may happen, too.
        objects: Nouns of the things people deal with, in turn.
        distractors: Nouns of things that stand about.
        noise: How rich and how spoiled the pictures are, 0 to 1.
        effects: Strengths one by one instead of ``noise``.
        frame_rate: Frames per second.

    Returns:
        The films, made one after the other as they are asked for.

    Raises:
        WorldError: If a name is unknown, or a number out of range.

    Examples:
        >>> film = next(street(clips=1))
        >>> film.name, film.truth.holds(film.sentences[0])
        ('street-000', True)
    """
    studio = _Studio(places, actions, objects, distractors, frame_rate, random_state)
    strengths = Effects.at(noise) if effects is None else effects
    count = checked_count("clips", clips, unit="clip")
    generator(random_state, _WORLD, 0)  # refuses a bad seed now rather than at the first film
    return (studio.film(index, strengths) for index in range(count))


class _Studio:
    """Checks what was asked for once, then makes any film by its number."""

    def __init__(
        self,
        places: Sequence[str] | None,
        actions: Sequence[str],
        objects: Sequence[str],
        distractors: Sequence[str],
        frame_rate: float,
        random_state: int,
    ) -> None:
        self._places = PLACES.check(
            checked_names("place", DEFAULT_PLACES if places is None else places)
        )
        self._actions = checked_names("action", actions)
        for action in self._actions:
            plots_showing(action)
        self._objects = THINGS.check(checked_names("object", objects))
        self._distractors = THINGS.check(distractors)
        self._frame_rate = checked_number("frame_rate", frame_rate, *_FRAME_RATES)
        self._random_state = random_state

    def film(self, index: int, effects: Effects) -> StreetFilm:
        order = self._order(index)
        recording = direct(order, self._chance(index, "script"))
        camera = FilmCamera(effects, SIZE, recording.num_frames, self._chance(index, "camera"))
        truth = StreetTruth(recording, effects, camera.offsets)
        count = _num_sentences(index)
        return StreetFilm(
            name=f"{_WORLD}-{index:03d}",
            world=_WORLD,
            index=index,
            random_state=int(self._random_state),
            frame_rate=self._frame_rate,
            size=SIZE,
            num_frames=recording.num_frames,
            sentences=tell(truth, order.verb, count, self._chance(index, "sentences")),
            truth=truth,
            crf=effects.crf,
            make_picture=lambda: self._picture(index, recording, effects, camera),
        )

    def _order(self, index: int) -> FilmBrief:
        """Go through places fastest, then verbs, then things."""
        rest, place = divmod(index, len(self._places))
        rest, action = divmod(rest, len(self._actions))
        return FilmBrief(
            place=PLACES[self._places[place]],
            verb=self._actions[action],
            noun=self._objects[rest % len(self._objects)],
            objects=self._objects,
            distractors=self._distractors,
            frame_rate=self._frame_rate,
        )

    def _picture(
        self, index: int, recording: StreetRecording, effects: Effects, camera: FilmCamera
    ) -> StreetPicture:
        return StreetPicture(recording, effects, camera, self._chance(index, "picture"))

    def _chance(self, index: int, purpose: str) -> np.random.Generator:
        return generator(self._random_state, _WORLD, index, purpose)


def _num_sentences(index: int) -> int:
    """Return 2 or 3, so that the first n films have n * 159 / 61 sentences, rounded down."""
    return (index + 1) * _SENTENCES // _CLIPS - index * _SENTENCES // _CLIPS
