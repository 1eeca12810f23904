"""The corpus of the workbench: protocols, each carried out before the camera a few times."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np

from wordsight.worlds.camera import Effects, FilmCamera
from wordsight.worlds.checks import WorldError, checked_count, checked_names, checked_number
from wordsight.worlds.film import RenderedFilm, generator
from wordsight.worlds.workbench.bench import SIZE
from wordsight.worlds.workbench.picture import WorkbenchPicture
from wordsight.worlds.workbench.protocol import Kind, Protocol, choose_order
from wordsight.worlds.workbench.recording import Manner, WorkbenchRecording, perform
from wordsight.worlds.workbench.steps import KINDS
from wordsight.worlds.workbench.things import THINGS
from wordsight.worlds.workbench.truth import WorkbenchTruth
from wordsight.worlds.workbench.writing import kinds_for, write_protocol

__all__ = ["WorkbenchFilm", "workbench"]

_WORLD = "workbench"
_FEWEST_STEPS, _MOST_STEPS = 10, 25
_WORST_CRF = 51  # the encoder's limit


@dataclass(frozen=True)
class WorkbenchFilm(RenderedFilm):
    """A film of the workbench.

    Attributes:
        truth: What is known about it, frame by frame.
    """

    truth: WorkbenchTruth


def workbench(
    films: int = 6,
    random_state: int = 0,
    *,
    videos_per_protocol: int = 2,
    steps: int | None = None,
    kinds: Sequence[str] | None = None,
    objects: Sequence[str] | None = None,
    skip: float = 0.0,
    repeat: float = 0.0,
    swap: float = 0.0,
    stray: float = 0.08,
    pace: float = 1.5,
    noise: float = 0.3,
    effects: Effects | None = None,
    frame_rate: float = 15.0,
) -> Iterator[WorkbenchFilm]:
    """Make films of two hands that carry out written protocols at a laboratory bench.

    Film number k is the same however many are made. Films of one protocol share its text, and
    differ in the bench, the person and the timing. By default a film takes about 13 s per step.

    Args:
        films: How many films.
        random_state: The seed.
        videos_per_protocol: How many films share a protocol, up to 26.
        steps: How many steps a protocol has; by default 10 to 25, by chance.
        kinds: Which kinds of steps protocols are made of; by default all.
        objects: What may stand on the bench besides beaker and flask; by default everything.
        skip: Chance of each step to be left out.
        repeat: Chance of each step to be done twice.
        swap: Chance of each pair of neighbouring steps to change places.
        stray: Chance that a hand touches something unrelated between two sentences.
        pace: How fast people work, 0.25 to 4; 1 takes its time, 1.5 is brisk.
        noise: How rich and how spoiled the pictures are, 0 to 1.
        effects: Strengths one by one instead of ``noise``.
        frame_rate: Frames per second.

    Returns:
        The films, made one after the other as they are asked for.

    Raises:
        WorldError: If a name is unknown, or a number out of range.

    Examples:
        >>> film = next(workbench(films=1, steps=10))
        >>> film.name, film.sentences[0] in film.companions[".txt"]
        ('workbench-000-a', True)
    """
    count = checked_count("films", films)
    rates = {"skip": skip, "repeat": repeat, "swap": swap, "stray": stray}
    for name, rate in rates.items():
        checked_number(name, rate, 0.0, 1.0)
    manner = Manner(
        checked_number("pace", pace, 0.25, 4.0),
        stray,
        checked_number("frame_rate", frame_rate, 5.0, 60.0),
    )
    wishes = _Wishes(
        _checked_takes(videos_per_protocol),
        None if steps is None else checked_count("steps", steps, unit="step"),
        *_checked_kinds(kinds, objects),
        (skip, repeat, swap),
        manner,
    )
    strengths = Effects.at(noise) if effects is None else effects
    generator(random_state, _WORLD, 0)  # refuses a bad seed now rather than at the first film
    return (_film(index, wishes, strengths, random_state) for index in range(count))


@dataclass(frozen=True)
class _Wishes:
    takes: int
    steps: int | None
    kinds: tuple[Kind, ...]
    objects: tuple[str, ...]
    rates: tuple[float, float, float]
    manner: Manner


def _film(index: int, wishes: _Wishes, effects: Effects, random_state: int) -> WorkbenchFilm:
    number, take = divmod(index, wishes.takes)
    protocol = _protocol(number, wishes, random_state)
    recording = _performance(index, protocol, wishes, random_state)
    chance = generator(random_state, _WORLD, index, "camera")
    camera = FilmCamera(effects, SIZE, recording.num_frames, chance)

    def make_picture() -> WorkbenchPicture:
        chance = generator(random_state, _WORLD, index, "picture")
        return WorkbenchPicture(recording, effects, camera, chance)

    return WorkbenchFilm(
        name=f"{_WORLD}-{number:03d}-{ascii_lowercase[take]}",
        world=_WORLD,
        index=index,
        random_state=int(random_state),
        frame_rate=recording.frame_rate,
        size=SIZE,
        num_frames=recording.num_frames,
        sentences=tuple(sentence.text for sentence in protocol.sentences),
        truth=WorkbenchTruth(recording, effects, camera.offsets),
        crf=_crf(effects, recording.frame_rate),
        make_picture=make_picture,
        companions={".txt": protocol.text()},
    )


def _crf(effects: Effects, frame_rate: float) -> int:
    """Return the encoder's quality number for the quality that 30 frames per second would have.

    The encoder spends more on frames that are shown longer: 3 steps for each halving of the rate.
    """
    extra = max(round(3 * math.log2(30.0 / frame_rate)), 0)
    return min(effects.crf + extra, _WORST_CRF)


def _protocol(number: int, wishes: _Wishes, random_state: int) -> Protocol:
    rng: np.random.Generator = generator(random_state, f"{_WORLD}/protocol", number)
    drawn = int(rng.integers(_FEWEST_STEPS, _MOST_STEPS + 1))
    return write_protocol(wishes.steps or drawn, wishes.kinds, wishes.objects, rng)


def _performance(
    index: int, protocol: Protocol, wishes: _Wishes, random_state: int
) -> WorkbenchRecording:
    mistakes = generator(random_state, _WORLD, index, "order")
    order = choose_order(len(protocol.steps), *wishes.rates, mistakes)
    return perform(protocol, order, wishes.manner, generator(random_state, _WORLD, index))


def _checked_takes(videos_per_protocol: int) -> int:
    takes = checked_count("videos_per_protocol", videos_per_protocol, unit="video per protocol")
    if takes > len(ascii_lowercase):
        raise WorldError(f"videos_per_protocol can be 26 at most, got {takes}.")
    return takes


def _checked_kinds(
    kinds: Sequence[str] | None, objects: Sequence[str] | None
) -> tuple[tuple[Kind, ...], tuple[str, ...]]:
    wanted = KINDS.check(checked_names("kind of step", tuple(KINDS) if kinds is None else kinds))
    there = THINGS.check(checked_names("object", tuple(THINGS) if objects is None else objects))
    return kinds_for(wanted, there), there
