"""Films of the workbench as alignment sees them: through truth, and through our own perception.

Rendering and looking take most of the time, so both are kept in a folder and used again.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.report import say
from wordsight.alignment import Chunk, Instructions, Observed
from wordsight.alignment.observe import DetectedThings, chunks_of_intervals
from wordsight.alignment.observe.detections import label_by_appearance
from wordsight.alignment.text import instructions_from_text
from wordsight.files import atomic_path
from wordsight.perception import load_detector, observe
from wordsight.records import Detections, FrameDetections
from wordsight.video import VideoReader
from wordsight.worlds.workbench import WorkbenchFilm, workbench

__all__ = ["SOURCES", "Take", "make_takes", "observed_through", "spoiled"]

SOURCES = ("touches", "boxes", "rendered", "regions")
"""What the hands truly touch; true boxes; a trained detector; regions without any model."""

_RATE = 5.0  # frames looked at per second
_SHORTEST = 0.2  # seconds; a shorter touch is a brush
_HANDS = ("left_hand", "right_hand")


@dataclass(frozen=True, eq=False)
class Take:
    """One film with its text and truth.

    Attributes:
        film: The film.
        instructions: Its protocol, as read from the text.
        steps: ``(T,)`` the step under way in each frame, counting from 0; -1 for none.
        skipped: Steps that were left out.
    """

    film: WorkbenchFilm
    instructions: Instructions
    steps: NDArray[np.int64]
    skipped: frozenset[int]


def make_takes(count: int, rate: float, *, steps: int, random_state: int) -> list[Take]:
    """Make films, two per protocol, in which each mistake has the given rate."""
    films = workbench(count, random_state, steps=steps, skip=rate, repeat=rate, swap=rate)
    return [
        Take(
            film,
            instructions_from_text(film.companions[".txt"], film.name),
            film.truth.steps - 1,
            frozenset(film.truth.recording.order.skipped),
        )
        for film in films
    ]


def observed_through(
    source: str, takes: list[Take], folder: Path = Path(), prefix: str = ""
) -> list[Observed]:
    """Return what was observed in each film through one of ``SOURCES``.

    Args:
        source: Which one.
        takes: The films.
        folder: Where films and detections are kept; the truth needs neither.
        prefix: What their names begin with, to tell films of different settings apart.
    """
    if source == "touches":
        return [_touched(take.film) for take in takes]
    if source == "boxes":
        return [DetectedThings(t.film.name, _true_boxes(t.film)).observe() for t in takes]
    seen = [_seen(take.film, source, folder / f"{prefix}-{take.film.name}") for take in takes]
    return [
        DetectedThings(take.film.name, one, duration=take.film.duration).observe()
        for take, one in zip(takes, label_by_appearance(seen), strict=True)
    ]


def spoiled(
    seen: list[Observed], unseen: float, missed: float, wrong: float, random: np.random.Generator
) -> list[Observed]:
    """Return touches as a poor program would find them.

    Args:
        seen: What is truly touched in each film.
        unseen: Probability of each thing to be seen in no film.
        missed: Probability of each touch to be missed.
        wrong: Probability of each touch to be of another thing; half of it to see one too many.
        random: Source of random numbers.
    """
    things = sorted({thing for one in seen for chunk in one.chunks for thing in chunk.things})
    gone = {thing for thing in things if random.random() < unseen}
    found = []
    for one in seen:
        chunks: list[Chunk] = []
        before: frozenset[str] | None = None
        now: frozenset[str] = frozenset()
        for chunk in one.chunks:
            held = chunk.things - gone
            if held != before:  # what is missed is missed as long as it is held
                kept = [thing for thing in sorted(held) if random.random() >= missed]
                before, now = held, frozenset(_mistaken(kept, things, wrong, random))
            if now:
                chunks.append(replace(chunk, things=now))
        found.append(replace(one, chunks=tuple(chunks)))
    return found


def _mistaken(
    kept: list[str], things: list[str], wrong: float, random: np.random.Generator
) -> list[str]:
    any_thing = [str(thing) for thing in random.choice(things, len(kept) + 1)]
    taken = [a if random.random() < wrong else t for t, a in zip(kept, any_thing, strict=False)]
    return taken + any_thing[-1:] * bool(random.random() < wrong / 2)


def _touched(film: WorkbenchFilm) -> Observed:
    sets = [frozenset(film.truth.touched(k).values()) for k in range(film.num_frames)]
    changes = [k for k in range(1, len(sets)) if sets[k] != sets[k - 1]]
    edges = [0, *changes, len(sets)]
    intervals = [
        Chunk(first / film.frame_rate, end / film.frame_rate, sets[first])
        for first, end in pairwise(edges)
        if (end - first) / film.frame_rate >= _SHORTEST
    ]
    return Observed(film.name, chunks_of_intervals(intervals), film.duration)


def _true_boxes(film: WorkbenchFilm) -> Detections:
    """Return true boxes at the rate perception has, hands under one label."""
    names = sorted({"hand", *(name for name in film.truth.boxes if name not in _HANDS)})
    labels = [names.index("hand" if n in _HANDS else n) for n in film.truth.boxes]
    boxes = np.stack(list(film.truth.boxes.values()), axis=1)
    frames = []
    for index in range(0, film.num_frames, round(film.frame_rate / _RATE)):
        there = np.isfinite(boxes[index]).all(axis=1)
        frames.append(
            FrameDetections(
                float(film.times[index]),
                boxes[index, there],
                np.ones(int(there.sum())),
                np.array(labels, dtype=np.int32)[there],
            )
        )
    return Detections.from_frames(frames, label_names=names, frame_size=film.size)


def _seen(film: WorkbenchFilm, detector: str, stem: Path) -> Detections:
    kept = stem.with_name(f"{stem.name}.{detector}.npz")
    if kept.exists():
        return Detections.load(kept)
    video = stem.with_name(f"{stem.name}.mp4")
    if not video.exists():
        say(f"rendering {video.name}")
        film.write(video)
    say(f"looking at {video.name} with {detector}")
    with VideoReader(video) as reader:
        found = observe(reader, load_detector(detector), rate=_RATE)
    with atomic_path(kept) as temporary:
        found.save(temporary)
    return found
