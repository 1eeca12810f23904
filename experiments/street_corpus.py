"""The street corpus as experiments use it: films, what is seen in them, what is said of them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from experiments.report import say
from experiments.street_objects import OTHER, ObjectDetector, shown_by
from wordsight.errors import WordsightError
from wordsight.library import Library
from wordsight.perception import tracked_clip
from wordsight.perception.detectors.rendered import RENDERED_THINGS
from wordsight.perception.detectors.suppression import box_iou
from wordsight.perception.regions.codebook import Codebook
from wordsight.perception.tracking.tracks import track_regions
from wordsight.records import Clip, Detections, FrameDetections
from wordsight.worlds import write_world
from wordsight.worlds.street import StreetFilm

__all__ = [
    "SIGHTS",
    "StreetClip",
    "detector_recall",
    "labelled",
    "named_by_hand",
    "see_street",
    "surest",
    "true_clip",
]

SIGHTS = ("rendered", "objects", "tracks", "regions", "truth")
"""What can be seen: what the detector of the rendered worlds finds, linked; linked regions labelled
by an object detector or by their looks; single regions labelled by their looks; or the true boxes
with their nouns."""

_RATE = 10.0  # frames per second


@dataclass(frozen=True)
class StreetClip:
    """One film of the corpus with what is seen in it.

    Attributes:
        film: The film; its truth judges sentences.
        place: Where it was shot; the fold it belongs to.
        clip: What is seen, linked over time where that is done beforehand.
        detected: The same before anything was linked.
    """

    film: StreetFilm
    place: str
    clip: Clip
    detected: Clip


def see_street(films: Sequence[StreetFilm], sight: str, folder: Path) -> list[StreetClip]:
    """Look at films.

    Args:
        films: Which.
        sight: One of :data:`SIGHTS`.
        folder: Where the videos and a library of them are kept, and found again; not needed for
            the truth.
    """
    if sight == "truth":
        detected = clips = [_numbered(true_clip(film)) for film in films]
    else:
        detector = "rendered" if sight == "rendered" else "regions"
        detected = clips = list(map(_numbered, _library_clips(films, folder, detector)))
        if sight == "rendered":
            clips = [tracked_clip(clip, for_words=True) for clip in clips]
        elif sight in ("objects", "tracks"):
            clips = [
                replace(clip, detections=track_regions(clip.detections, clip.video_id))
                for clip in clips
            ]
    places = [str(film.truth.record()["place"]) for film in films]
    return [StreetClip(*row) for row in zip(films, places, clips, detected, strict=True)]


def _numbered(clip: Clip) -> Clip:
    """Hide the names of classes: what nouns mean is to be learned."""
    seen = clip.detections
    numbers = [RENDERED_THINGS.index(n) if n in RENDERED_THINGS else -1 for n in seen.label_names]
    if -1 in numbers:
        return clip
    names = [f"class {number:02d}" for number in range(len(RENDERED_THINGS))]
    labels = np.array(numbers)[np.where(seen.mask, seen.labels, 0)]
    return replace(clip, detections=seen.relabelled(labels, names))


def surest(clip: Clip, count: int) -> Clip:
    """Keep so many boxes of each class in every frame, those with the highest scores."""
    seen = clip.detections
    same = seen.mask[:, None] & (seen.labels[:, :, None] == seen.labels[:, None])
    above = same & (seen.scores[:, None] > seen.scores[:, :, None])
    before = same & (seen.scores[:, None] == seen.scores[:, :, None])
    before &= np.tri(seen.mask.shape[1], k=-1, dtype=np.bool_)
    kept = seen.mask & ((above | before).sum(axis=2) < count)
    return replace(clip, detections=replace(seen, mask=kept))


def detector_recall(items: Sequence[StreetClip]) -> tuple[float, float]:
    """Return recall and precision of what was detected: right class, half of the overlap."""
    hits = wanted = found = 0
    for item in items:
        seen, film = item.detected.detections, item.film
        rows = np.minimum(np.round(seen.times * film.frame_rate).astype(int), film.num_frames - 1)
        for number, row in enumerate(rows.tolist()):
            frame = seen.frame(number)
            found += len(frame.boxes)
            for name, boxes in film.truth.boxes.items():
                if np.isfinite(boxes[row]).all():
                    own = frame.labels == RENDERED_THINGS.index(film.truth.kinds[name])
                    overlaps = box_iou(boxes[row][None], frame.boxes[own])
                    hits += bool((overlaps >= 0.5).any())
                    wanted += 1
    return hits / max(1, wanted), hits / max(1, found)


def true_clip(film: StreetFilm) -> Clip:
    """Return the true boxes of a film, labelled with their nouns, with identities."""
    nouns = tuple(sorted(set(film.truth.kinds.values())))
    individuals = list(film.truth.boxes)
    step = max(1, round(film.frame_rate / _RATE))
    frames = []
    for row in range(0, film.num_frames, step):
        boxes = np.array([film.truth.boxes[name][row] for name in individuals])
        there = np.isfinite(boxes).all(axis=1)
        labels = np.array([nouns.index(film.truth.kinds[name]) for name in individuals])
        frames.append(
            FrameDetections(
                row / film.frame_rate,
                boxes[there],
                np.ones(int(there.sum())),
                labels[there].astype(np.int32),
                ids=np.flatnonzero(there),
            )
        )
    seen = Detections.from_frames(frames, label_names=nouns, frame_size=film.size)
    return Clip(film.name, 0.0, film.duration, seen)


def _library_clips(films: Sequence[StreetFilm], folder: Path, detector: str) -> list[Clip]:
    videos = folder / "films"
    if not (videos / "truth.jsonl").is_file():
        say(f"rendering {len(films)} films")
        write_world(films, videos)
    wanted = {f"{film.name}.mp4": film for film in films}
    with Library.open(folder / f"library-{detector}", create=True) as library:
        report = library.add(videos, rate=_RATE, detector=detector)
        if report.failed:
            raise WordsightError(f"{len(report.failed)} films could not be added: {report.failed}")
        found = {
            entry.name: library.clip(entry.id, 0.0, entry.duration) for entry in library.videos()
        }
    missing = sorted(set(wanted) - set(found))
    if missing:
        raise WordsightError(
            f"{folder} holds another corpus: {missing[0]} is not in it; choose another folder."
        )
    return [found[name] for name in wanted]


def labelled(
    training: Sequence[StreetClip], testing: Sequence[StreetClip], words: int, random_state: int
) -> tuple[list[StreetClip], list[StreetClip]]:
    """Label what is seen with what can be learned from the training clips alone.

    Args:
        training: Clips to learn from.
        testing: Clips that are only labelled.
        words: How many looks to tell apart, or 0 for the objects of the training clips.
        random_state: Seed of the looks.

    Returns:
        Both, labelled. What has no appearance, such as true boxes, keeps its labels.
    """
    clips = [item.clip for item in training]
    looks = [
        seen.appearance[seen.mask]
        for seen in (clip.detections for clip in clips)
        if seen.appearance is not None
    ]
    if not looks:
        return list(training), list(testing)
    if words:
        book = Codebook(words=words, random_state=random_state).fit(np.concatenate(looks))

        def label(clip: Clip) -> Clip:
            return replace(clip, detections=book.label(clip.detections))

    else:
        label = ObjectDetector().fit(clips, [item.film for item in training]).label
    return (
        [replace(item, clip=label(item.clip)) for item in training],
        [replace(item, clip=label(item.clip)) for item in testing],
    )


def named_by_hand(training: Sequence[StreetClip], clips: Sequence[StreetClip]) -> list[StreetClip]:
    """Rename labels to the noun of what they show most often in the training clips.

    This is what somebody who writes meanings by hand does first: look what the labels stand for. It
    uses true boxes, which no learner sees.
    """
    nouns = sorted({noun for item in training for noun in item.film.truth.kinds.values()})
    names = [*nouns, OTHER]
    counts: dict[str, Counter[str]] = {}
    for item in training:
        seen = item.clip.detections
        shown = shown_by(seen, item.film)[seen.mask].tolist()
        for label, noun in zip(seen.labels[seen.mask].tolist(), shown, strict=True):
            counts.setdefault(seen.label_names[label], Counter())[noun] += 1
    meant = {label: _commonest(row) for label, row in counts.items()}

    def rename(item: StreetClip) -> StreetClip:
        seen = item.clip.detections
        table = np.array([names.index(meant.get(name, OTHER)) for name in seen.label_names])
        renamed = seen.relabelled(table[seen.labels], names)
        return replace(item, clip=replace(item.clip, detections=renamed))

    return [rename(item) for item in clips]


def _commonest(counts: Counter[str]) -> str:
    # A look that shows a thing only now and then is still the best hint there is to that thing.
    things = {noun: count for noun, count in counts.items() if noun != OTHER}
    best = max(things, key=lambda noun: things[noun], default=OTHER)
    return best if 4 * things.get(best, 0) >= counts[OTHER] else OTHER
