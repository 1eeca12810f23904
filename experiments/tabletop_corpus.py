"""Films of the tabletop as tracks by name with their truth: rendered and looked at once, then kept.

A folder holds, per noise level and seed, ``NAME.mp4`` and ``NAME.npz`` (the tracks). Films
already there are not made again, so that a run that was interrupted goes on where it stopped. The
films that teach colours have a seed of their own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.report import say
from experiments.tabletop_colours import SMALL, ColourDetector, ColourTable
from experiments.tabletop_tracks import NamedTracker
from wordsight.perception import watch
from wordsight.records import Clip, Detections
from wordsight.states import Fact, StateSequence, parse_fact
from wordsight.video import VideoReader
from wordsight.worlds.tabletop import EVENTS, TabletopFilm, tabletop
from wordsight.worlds.tabletop.blocks import COLOURS
from wordsight.worlds.tabletop.events import AGENT

__all__ = ["Scene", "scenes", "true_states"]

_TEACHING_SEED = 1_000_003
_TEACHING_FILMS = 3  # of each event
_EVERY = 4  # frames; neighbours teach the same
_STILLS = 15  # frames whose median is the scene without the hand
_FRAME_RATE = 15.0  # frames per second: half the world's usual, and half the work


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


def scenes(
    folder: Path, films_per_event: int, *, noise: float, random_state: int = 0
) -> Iterator[Scene]:
    """Render and track films, event after event; those in the folder are only read.

    Args:
        folder: Where films and tracks are kept.
        films_per_event: How many of each of the seven events.
        noise: How spoiled the pictures are, 0 to 1.
        random_state: The seed of the world.
    """
    place, eye = _place(folder, noise, random_state), _Eye(folder, noise)
    total, made = films_per_event * len(EVENTS), 0
    for film in tabletop(films_per_event, random_state, noise=noise, frame_rate=_FRAME_RATE):
        path = place / f"{film.name}.npz"
        if not path.exists():
            eye.track(film, _rendered(film, place)).save(path)
            made += 1
            if made % 10 == 0:
                say(f"tracked {made} films, now {film.name} of {total} in {place}")
        yield _scene(film, Clip.load(path))


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


class _Eye:
    """Sees things by name; taught when it is first needed."""

    def __init__(self, folder: Path, noise: float):
        self._place, self._noise = _place(folder, noise, _TEACHING_SEED), noise
        self._table: ColourTable | None = None
        self._tracker = NamedTracker()

    def track(self, film: TabletopFilm, video: Path) -> Clip:
        if self._table is None:
            self._table = self._learn()
        return self._tracker.follow(_patches(self._table, film, video), film.name)

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
    return folder / f"noise-{noise:g}-seed-{random_state}"


def _scene(film: TabletopFilm, clip: Clip) -> Scene:
    spans = [film.truth.span(part) for part in film.truth.recording.scenario.event.parts]
    start, end = spans[0][0] / film.frame_rate, (spans[-1][1] + 1) / film.frame_rate
    boxes = dict(film.truth.boxes)
    return Scene(clip, film.truth.event, start, end, true_states(film), boxes)
