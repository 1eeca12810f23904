"""The corpus of the workbench: protocols, each carried out before the camera a few times."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from string import ascii_lowercase

from wordsight.worlds.camera import Effects
from wordsight.worlds.chance import film_rng
from wordsight.worlds.checks import WorldError, require_count, require_names, require_number
from wordsight.worlds.film import RenderedFilm
from wordsight.worlds.picture import shoot
from wordsight.worlds.workbench.picture import WorkbenchPicture
from wordsight.worlds.workbench.protocol import choose_order
from wordsight.worlds.workbench.recording import Manner, perform
from wordsight.worlds.workbench.steps import KINDS, kinds_for, write_protocol
from wordsight.worlds.workbench.things import THINGS
from wordsight.worlds.workbench.truth import WorkbenchTruth

__all__ = ["WorkbenchFilm", "workbench"]

_WORLD = "workbench"
_FEWEST_STEPS, _MOST_STEPS = 10, 25
_WORST_CRF = 51  # the encoder's limit


@dataclass(frozen=True)
class WorkbenchFilm(RenderedFilm):
    """A film of the workbench.

    Attributes:
        truth: Ground truth, frame by frame.
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
        films: Number of films.
        random_state: The seed.
        videos_per_protocol: Number of films that share a protocol, up to 26.
        steps: Number of steps of a protocol; by default drawn from 10 to 25.
        kinds: Which kinds of steps protocols are made of; by default all.
        objects: What may stand on the bench besides beaker and flask; by default everything.
        skip: Probability of each step to be left out.
        repeat: Probability of each step to be done twice.
        swap: Probability of each pair of neighbouring steps to change places.
        stray: Probability that a hand touches something unrelated between two sentences.
        pace: How fast people work, 0.25 to 4; 1 is unhurried, 1.5 is brisk.
        noise: How rich and how degraded the pictures are, 0 to 1.
        effects: Strengths one by one instead of ``noise``.
        frame_rate: Frames per second.

    Returns:
        The films, each made when it is asked for.

    Raises:
        WorldError: If a name is unknown, or a number out of range.

    Examples:
        >>> film = next(workbench(films=1, steps=10))
        >>> film.name, film.sentences[0] in film.companions[".txt"]
        ('workbench-000-a', True)
    """
    count = require_count("films", films)
    rates = {"skip": skip, "repeat": repeat, "swap": swap, "stray": stray}
    for name, rate in rates.items():
        require_number(name, rate, 0.0, 1.0)
    manner = Manner(
        require_number("pace", pace, 0.25, 4.0),
        stray,
        require_number("frame_rate", frame_rate, 5.0, 60.0),
    )
    takes = require_count("videos_per_protocol", videos_per_protocol, unit="video per protocol")
    if takes > len(ascii_lowercase):
        raise WorldError(f"videos_per_protocol can be 26 at most, got {takes}.")
    num_steps = None if steps is None else require_count("steps", steps, unit="step")
    wanted = KINDS.check(require_names("kind of step", tuple(KINDS) if kinds is None else kinds))
    there = THINGS.check(require_names("object", tuple(THINGS) if objects is None else objects))
    possible = kinds_for(wanted, there)
    strengths = Effects.at(noise) if effects is None else effects
    film_rng(random_state, _WORLD, 0)  # refuses a bad seed now rather than at the first film

    def film(index: int) -> WorkbenchFilm:
        number, take = divmod(index, takes)
        rng = film_rng(random_state, f"{_WORLD}/protocol", number)
        drawn = int(rng.integers(_FEWEST_STEPS, _MOST_STEPS + 1))
        protocol = write_protocol(num_steps or drawn, possible, there, rng)
        rng_for = partial(film_rng, random_state, _WORLD, index)
        order = choose_order(len(protocol.steps), skip, repeat, swap, rng_for("order"))
        recording = perform(protocol, order, manner, rng_for("script"))
        shot = shoot(recording, strengths, rng_for, WorkbenchTruth, WorkbenchPicture)
        return WorkbenchFilm(
            name=f"{_WORLD}-{number:03d}-{ascii_lowercase[take]}",
            world=_WORLD,
            index=index,
            random_state=int(random_state),
            sentences=tuple(sentence.text for sentence in protocol.sentences),
            companions={".txt": protocol.text()},
            **shot | {"crf": _crf(strengths, manner.frame_rate)},
        )

    return (film(index) for index in range(count))


def _crf(effects: Effects, frame_rate: float) -> int:
    """Return the encoder's quality number for the quality that 30 frames per second would have.

    The encoder spends more on frames that are shown longer: 3 steps for each halving of the rate.
    """
    extra = max(round(3 * math.log2(30.0 / frame_rate)), 0)
    return min(effects.crf + extra, _WORST_CRF)
