"""Films of the tabletop as tracks by name with their truth: rendered and looked at once, then kept.

A folder holds, per noise level and seed, ``NAME.mp4`` and ``NAME-EYE-seen.npz`` (detections). Films
already there are not made again, so that a run that was interrupted goes on where it stopped. Two
eyes can be chosen: the network trained on other rendered films, or taught colours; the films that
teach colours have a seed of their own. Both are told which colours the blocks of a film have.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.report import say
from experiments.tabletop_colours import SMALL, ColourDetector, ColourTable
from experiments.tabletop_tracks import NamedTracker, clip_of, follow_classes
from wordsight.engine import Processes
from wordsight.errors import WordsightError
from wordsight.perception import load_detector, watch
from wordsight.records import Clip, Detections
from wordsight.states import Fact, StateSequence, parse_fact
from wordsight.video import VideoReader
from wordsight.worlds.tabletop import EVENTS, TabletopFilm, tabletop
from wordsight.worlds.tabletop.things import AGENT, COLOURS

__all__ = ["EYES", "Scene", "look_at_films", "scenes", "true_states"]

_TEACHING_SEED = 1_000_003
_TEACHING_FILMS = 3  # of each event
_EVERY = 4  # frames; neighbours teach the same
_STILLS = 15  # frames whose median is the scene without the hand
_FRAME_RATE = 30.0  # frames per second; hand and support both hold a block for a sixth of one

EYES = ("network", "colours", "boxes")
"""How things are found; ``boxes`` renders nothing and shakes the true boxes as a network would."""

_SHAKES = {True: (1.0, 1.6, 0.69), False: (0.8, 0.75, 0.84)}
"""Of the hand, and of blocks: pixels of lasting and of passing error, and how slowly it passes; as
the network errs at noise 0.3 in films of seed 11."""


@dataclass(frozen=True)
class Scene:
    """One film as it was tracked, and what is true of it.

    Attributes:
        clip: The tracks: labels are the names of the things, identities their numbers.
        event: Its event with arguments, ``stack(hand,red,green,blue)``.
        start: When the event begins, seconds.
        end: When it is over, seconds.
        truth: The states.
        boxes: For the hand and every block ``(T, 4)`` true boxes, NaN while out of sight.
    """

    clip: Clip
    event: str
    start: float
    end: float
    truth: StateSequence
    boxes: dict[str, NDArray[np.float64]]

    @property
    def kind(self) -> str:
        """The event without its arguments."""
        return self.event.partition("(")[0]


@dataclass(frozen=True)
class _Share:
    """Every so-manyth film of a corpus, for one process to look at."""

    folder: Path
    films_per_event: int
    noise: float
    random_state: int
    see: str
    first: int
    step: int


def look_at_films(
    folder: Path,
    films_per_event: int,
    *,
    noise: float,
    random_state: int = 0,
    see: str = "network",
    workers: int = 1,
) -> None:
    """Render films and find things in them, in several processes; see :func:`scenes`."""
    if see != "network":  # colours are taught once for all films; boxes need no look
        return
    corpus = folder, films_per_event, noise, random_state, see
    shares = [_Share(*corpus, first, workers) for first in range(workers)]
    for outcome in Processes(workers).map(look_at_share, shares):
        if outcome.error is not None:
            raise WordsightError(f"films could not be made: {outcome.error}")


def look_at_share(share: _Share) -> int:
    """Look at the films of a share; return how many were not in the folder yet."""
    place, eye, made = _place(share.folder, share.noise, share.random_state), _Network(), 0
    films = tabletop(
        share.films_per_event, share.random_state, noise=share.noise, frame_rate=_FRAME_RATE
    )
    for film in islice(films, share.first, None, share.step):
        path = place / f"{film.name}-{share.see}-seen.npz"
        if not path.exists():
            eye.look(film, _rendered(film, place)).save(path)
            made += 1
    return made


def scenes(
    folder: Path,
    films_per_event: int,
    *,
    noise: float,
    random_state: int = 0,
    see: str = "network",
) -> Iterator[Scene]:
    """Render and track films, event after event; those in the folder are only read.

    Args:
        folder: Where films and tracks are kept.
        films_per_event: How many of each of the seven events.
        noise: How spoiled the pictures are, 0 to 1.
        random_state: The seed of the world.
        see: One of :data:`EYES`.
    """
    place = _place(folder, noise, random_state)
    if see == "boxes":
        yield from _shaken(films_per_event, noise, random_state)
        return
    eye: _Network | _Colours = _Network() if see == "network" else _Colours(folder, noise)
    total, made = films_per_event * len(EVENTS), 0
    for film in tabletop(films_per_event, random_state, noise=noise, frame_rate=_FRAME_RATE):
        path = place / f"{film.name}-{see}-seen.npz"
        if not path.exists():
            eye.look(film, _rendered(film, place)).save(path)
            made += 1
            if made % 10 == 0:
                say(f"looked at {made} films, now {film.name} of {total} in {place}")
        yield _scene(film, eye.follow(film, Detections.load(path)))


def _shaken(films_per_event: int, noise: float, random_state: int) -> Iterator[Scene]:
    """Yield films with their true boxes, shaken more the noisier the pictures would be."""
    rng = np.random.default_rng(random_state)
    for film in tabletop(films_per_event, random_state, noise=noise, frame_rate=_FRAME_RATE):
        seen = np.stack(
            [
                boxes + _shakes(rng, len(boxes), *_SHAKES[name == AGENT]) * (0.5 + noise / 0.6)
                for name, boxes in film.truth.boxes.items()
            ],
            axis=1,
        )
        # What is hardly in the picture any more can be shaken inside out: then it is not seen.
        seen[(seen[..., 2:] - seen[..., :2]).min(axis=-1) <= 0] = np.nan
        clip = clip_of(film.times, seen, tuple(film.truth.boxes), film.size, film.name)
        yield _scene(film, clip)


def _shakes(
    rng: np.random.Generator, frames: int, lasting: float, passing: float, slow: float
) -> NDArray[np.float64]:
    """Return errors ``(T, 4)``: one that stays and one that wanders."""
    wander = rng.normal(0.0, passing, (frames, 4))
    for k in range(1, frames):
        wander[k] = slow * wander[k - 1] + np.sqrt(1 - slow**2) * wander[k]
    return np.asarray(wander + rng.normal(0.0, lasting, 4), dtype=np.float64)


def true_states(film: TabletopFilm) -> StateSequence:
    """Return what holds in every frame; ``contacts(a,b)``: a, the lower one, supports b."""
    rows = [
        {_directed(parse_fact(text), film, frame) for text in facts}
        for frame, facts in enumerate(film.truth.facts)
    ]
    facts = tuple(sorted(set().union(*rows)))
    values = np.array([[fact in row for fact in facts] for row in rows], dtype=np.bool_)
    return StateSequence(film.name, film.times, facts, values)


def _directed(fact: Fact, film: TabletopFilm, frame: int) -> Fact:
    if fact.predicate != "contacts":
        return fact
    lower_edge = {name: film.truth.boxes[name][frame][3] for name in fact.arguments}
    return Fact("contacts", tuple(sorted(fact.arguments, key=lambda name: -lower_edge[name])))


class _Network:
    """Sees things by name with the network that knows the rendered worlds."""

    def __init__(self) -> None:
        self._detector = load_detector("rendered")

    def look(self, film: TabletopFilm, video: Path) -> Detections:
        with VideoReader(video) as reader:
            return watch(reader.frames(), self._detector, film.size, flow=False)

    def follow(self, film: TabletopFilm, seen: Detections) -> Clip:
        names = {name if name == AGENT else f"{name} block": name for name in film.truth.boxes}
        return follow_classes(seen, names, film.name)


class _Colours:
    """Sees things by colours; taught when it is first needed."""

    def __init__(self, folder: Path, noise: float):
        self._place, self._noise = _place(folder, noise, _TEACHING_SEED), noise
        self._table: ColourTable | None = None
        self._tracker = NamedTracker()

    def look(self, film: TabletopFilm, video: Path) -> Detections:
        return _patches(self._taught(), film, video)

    def follow(self, film: TabletopFilm, seen: Detections) -> Clip:
        self._taught()
        return self._tracker.follow(seen, film.name)

    def _taught(self) -> ColourTable:
        if self._table is None:
            self._table = self._learn()
        return self._table

    def _learn(self) -> ColourTable:
        say(f"teaching colours with films in {self._place}")
        table = ColourTable((AGENT, *COLOURS))
        films = list(
            tabletop(_TEACHING_FILMS, _TEACHING_SEED, noise=self._noise, frame_rate=_FRAME_RATE)
        )
        videos = [_rendered(film, self._place) for film in films]
        kept = self._place / "colours.npz"
        if kept.exists():
            table.load(kept)
        else:
            for film, video in zip(films, videos, strict=True):
                _show(table, film, video)
            table.save(kept)
        seen = []
        for film, video in zip(films, videos, strict=True):
            path = self._place / f"{film.name}.npz"
            if not path.exists():
                _patches(table, film, video).save(path)
            seen.append(Detections.load(path))
        self._tracker.fit(seen, [dict(film.truth.boxes) for film in films])
        return table


def _show(table: ColourTable, film: TabletopFilm, video: Path) -> None:
    shrink = SMALL[0] / film.size[0]
    with VideoReader(video) as reader:
        for number, frame in enumerate(reader.frames()):
            if number % _EVERY == 0:
                boxes = {name: box[number] * shrink for name, box in film.truth.boxes.items()}
                table.see(frame.scaled(*SMALL), boxes)


def _patches(table: ColourTable, film: TabletopFilm, video: Path) -> Detections:
    with VideoReader(video) as reader:
        every = max(film.num_frames // _STILLS, 1)
        some = [f.scaled(*SMALL) for k, f in enumerate(reader.frames()) if k % every == 0]
        still = np.median(np.stack(some), axis=0).astype(np.uint8)
        detector = ColourDetector(table, sorted(film.truth.boxes), (AGENT,), still)
        return watch(reader.frames(), detector, film.size, flow=False)


def _rendered(film: TabletopFilm, place: Path) -> Path:
    video = place / f"{film.name}.mp4"
    if not video.exists():
        film.write(video)
    return video


def _place(folder: Path, noise: float, random_state: int) -> Path:
    return folder / f"noise-{noise:g}-seed-{random_state}-rate-{_FRAME_RATE:g}"


def _scene(film: TabletopFilm, clip: Clip) -> Scene:
    spans = [film.truth.span(part) for part in film.truth.recording.scenario.event.parts]
    start, end = spans[0][0] / film.frame_rate, (spans[-1][1] + 1) / film.frame_rate
    boxes = dict(film.truth.boxes)
    return Scene(clip, film.truth.event, start, end, true_states(film), boxes)
