"""Clips of a library with what is said of them, and what features measure in one at one moment."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import WordsightError
from wordsight.language import PartOfSpeech
from wordsight.library import Library
from wordsight.library.catalog.entries import FilmPictures
from wordsight.meaning.features import (
    FEATURE_SETS,
    CategoryBins,
    ClipView,
    TrackFeature,
    get_feature,
    view_clip,
)
from wordsight.meaning.features.observation import measured
from wordsight.perception import tracked_clip
from wordsight.records import Clip

if TYPE_CHECKING:
    from wordsight.workflows.annotator import ClipAnnotator

__all__ = [
    "AlignedLine",
    "Measured",
    "PairAt",
    "ThingAt",
    "clip_between",
    "clips_with_sentences",
    "followed",
    "look_at",
    "names_of",
    "noted",
    "read_aligned",
    "whole_clip",
]


AlignedPlace = tuple[str, float, float]
"""A video, and a start and an end in it."""

_SURE = 0.5  # probability from which an aligned line counts as a sentence


@dataclass(frozen=True)
class AlignedLine:
    """A line of a text that was found in a video of the library.

    Attributes:
        video_id: The video.
        start: Start in seconds.
        end: End in seconds.
        text: The line.
    """

    video_id: str
    start: float
    end: float
    text: str


def read_aligned(library: Library, paths: Sequence[Path]) -> list[AlignedLine]:
    """Read the lines that ``wordsight align --output FILE.json`` found in videos of a library.

    Lines that did not happen and those that are as likely wrong as right are left out.

    Raises:
        WordsightError: If a file cannot be read, is about another video, or has no such line.
    """
    lines = []
    for path in paths:
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            for value in values if isinstance(values, list) else [values]:
                video = _video_called(library, str(value["video"]), path)
                lines += [
                    AlignedLine(video, float(span["start"]), float(span["end"]), str(line["text"]))
                    for line in value["lines"]
                    for span in line["spans"]
                    if span["confidence"] >= _SURE and span["start"] < span["end"]
                ]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise WordsightError(
                f"{path} is not an alignment: expected what `wordsight align --output FILE.json` "
                f"writes ({error})."
            ) from error
    if paths and not lines:
        raise WordsightError(
            f"no line of {', '.join(map(str, paths))} was found in its video with a probability of "
            f"{_SURE:g} or more; there is nothing to learn from."
        )
    return sorted(lines, key=lambda line: (line.video_id, line.start))


def _video_called(library: Library, name: str, path: Path) -> str:
    fitting = [v.id for v in library.videos() if name in names_of(library, v.id)]
    if len(fitting) != 1:
        raise WordsightError(
            f"{path} is about {name}, which means {len(fitting)} videos of {library.location}; add "
            "that video first, or align it by its id in the library."
        )
    return fitting[0]


def clips_with_sentences(
    library: Library, aligned: Sequence[AlignedLine] = ()
) -> tuple[list[Clip], list[list[str]]]:
    """Return the clips of a library and what is said of each, several sentences together.

    Args:
        library: The library.
        aligned: Lines of texts that were aligned with its videos; they count as sentences.

    Raises:
        WordsightError: If nothing is said of any video.
    """
    clips: list[Clip] = []
    said: list[list[str]] = []
    places: dict[AlignedPlace, int] = {}
    whole: Clip | None = None
    pairs = [
        *(((c.video_id, c.start, c.end), one.text) for c, one in library.pairs()),
        *(((one.video_id, one.start, one.end), one.text) for one in aligned),
    ]
    for key, text in pairs:
        if whole is None or whole.video_id != key[0]:
            # Things are followed through the whole video, as where words are used: what is seen
            # too briefly within a clip to be followed there may well be seen before and after it.
            whole = whole_clip(library, key[0])
        if key not in places:
            places[key] = len(clips)
            clips.append(whole.part(max(key[1], whole.start), min(key[2], whole.end)))
            said.append([])
        said[places[key]].append(text)
    if not clips:
        raise WordsightError(
            f"no video in {library.location} has a sentence; add some with metadata.jsonl, "
            "captions or wordsight add --sentence."
        )
    return clips, said


def whole_clip(library: Library, video_id: str, annotator: "ClipAnnotator | None" = None) -> Clip:
    """Return everything seen in a video of a library, its things named if an annotator is given."""
    seen = library.detections(video_id)
    start = float(seen.times[0]) if len(seen) else 0.0
    end = start + library.video(video_id).duration
    # The last frame may be shown a little longer than the container says.
    last = float(seen.times[-1]) + 1e-3 if len(seen) else end
    clip = followed(Clip(video_id, start, max(end, last), seen))
    clip = replace(clip, pictures=FilmPictures(library.video(video_id).path))
    return clip if annotator is None else annotator.name_clip(library, clip)


def clip_between(
    library: Library,
    video: str,
    start: float | None = None,
    end: float | None = None,
    annotator: "ClipAnnotator | None" = None,
) -> Clip:
    """Return what is seen in a video, or between two moments of it.

    Args:
        library: Where the video is.
        video: Its id, or the beginning of it.
        start: From which second; from the beginning if left out.
        end: Until which second; to the end if left out.
        annotator: Names the things of that part, where words were learned with names.

    Raises:
        WordsightError: If there is nothing between the two.
    """
    clip = whole_clip(library, library.resolve(video))
    if start is not None or end is not None:
        first = clip.start if start is None else max(start, clip.start)
        last = clip.end if end is None else min(end, clip.end)
        if not first < last:
            raise WordsightError(
                f"{video} runs from {clip.start:g} to {clip.end:g} s; there is nothing from "
                f"{first:g} to {last:g} s."
            )
        clip = clip.part(first, last)
    return clip if annotator is None else annotator.name_clip(library, clip)


def followed(clip: Clip) -> Clip:
    """Link what a detector with classes saw; regions, which have looks instead, stay loose."""
    return tracked_clip(clip, for_words=True)


Notes = TypeVar("Notes")


def names_of(library: Library, video_id: str) -> tuple[str, ...]:
    """Return what people may call a video: its id, its file, its file without the ending."""
    name = library.video(video_id).name
    return video_id, name, Path(name).stem


def noted(notes: Mapping[str, Notes], names: Sequence[str], file: str) -> Notes:
    """Return the notes of a video under the first of its names that has any.

    Args:
        notes: Notes by the name of the video.
        names: What the video may be called.
        file: Where that was read, for the message.

    Raises:
        WordsightError: If it has none.
    """
    known = next((name for name in names if name in notes), None)
    if known is None:
        raise WordsightError(
            f"{file} says nothing of {names[0]}; it knows {', '.join(sorted(notes)[:5])}."
        )
    return notes[known]


_AROUND = 1.0  # seconds looked at on both sides, so that motion and identity are known

_NEAR = 0.5  # seconds a frame may be away from the moment that is asked for

_STILL = 0.008  # diagonals per second under which nothing goes anywhere

_WAYS = (
    "right",
    "down and right",
    "down",
    "down and left",
    "left",
    "up and left",
    "up",
    "up and right",
)

_VERBS = FEATURE_SETS["recommended"].parts[PartOfSpeech.VERB]

_SINGLE = (*_VERBS.single, "area")


@dataclass(frozen=True)
class Measured:
    """One feature of a thing or of two.

    Attributes:
        feature: Its name in the lexicon.
        value: Its value; a category's number where values have names.
        text: The value for people, with its unit.
        about: What the feature is.
    """

    feature: str
    value: float
    text: str
    about: str


@dataclass(frozen=True)
class ThingAt:
    """A thing at a moment.

    Attributes:
        label: What the detector takes it for.
        score: How sure the detector is.
        box: Its corners in pixels.
        features: What can be measured of it.
    """

    label: str
    score: float
    box: tuple[float, float, float, float]
    features: tuple[Measured, ...]


@dataclass(frozen=True)
class PairAt:
    """Two things at a moment.

    Attributes:
        first: Which of the things is the first.
        second: Which is the second.
        features: What can be measured of the first and the second.
    """

    first: int
    second: int
    features: tuple[Measured, ...]


def look_at(
    library: Library, video_id: str, time: float
) -> tuple[float, tuple[ThingAt, ...], tuple[PairAt, ...]]:
    """Measure everything that is seen at a moment.

    Args:
        library: The library.
        video_id: The video.
        time: The moment, in seconds.

    Returns:
        The time of the frame, its things, and all pairs of them in both orders; nothing where no
        frame is near.
    """
    seen = library.detections(video_id)
    clip = Clip.cut(video_id, seen, max(0.0, time - _AROUND), time + _AROUND)
    if not len(clip) or not clip.mask.any():
        return time, (), ()
    view = view_clip(followed(clip), rate=None, min_visible=0.0)
    row = int(np.abs(view.times - time).argmin())
    if abs(float(view.times[row]) - time) > _NEAR:
        return time, (), ()
    view = _only(view, row)
    there = np.flatnonzero(view.present[row]).tolist()
    singles = {name: measured(get_feature(name), view) for name in _SINGLE}
    pairs = {name: measured(get_feature(name), view) for name in _VERBS.pairs}
    things = tuple(_thing(view, row, column, singles) for column in there)
    both = [(i, j) for i in range(len(there)) for j in range(len(there)) if i != j]
    return (
        float(view.times[row]),
        things,
        tuple(PairAt(i, j, _listed(pairs, (row, there[i], there[j]))) for i, j in both),
    )


def _only(view: ClipView, row: int) -> ClipView:
    """Leave out things that are not there at the moment: pairs are many."""
    keep = view.present[row].copy()
    keep[-1] = True  # the unseen thing always stays
    return view.cut(slice(None), keep)


def _thing(
    view: ClipView, row: int, column: int, singles: dict[str, NDArray[np.float64]]
) -> ThingAt:
    names = view.clip.detections.label_names
    label = int(view.labels[row, column])
    x1, y1, x2, y2 = view.boxes[row, column] * np.hypot(*view.clip.detections.frame_size)
    return ThingAt(
        names[label] if 0 <= label < len(names) else "something",
        float(view.scores[row, column]),
        (float(x1), float(y1), float(x2), float(y2)),
        (*_direction(view.velocity[row, column]), *_listed(singles, (row, column))),
    )


def _direction(velocity: NDArray[np.float64]) -> tuple[Measured, ...]:
    x, y = velocity.tolist()
    if not np.isfinite(x + y):
        return ()
    angle = float(np.degrees(np.arctan2(y, x)))
    way = "nowhere" if np.hypot(x, y) < _STILL else _WAYS[round(angle / 45) % 8]
    return (Measured("direction", angle, way, "Which way it moves."),)


def _listed(values: dict[str, NDArray[np.float64]], at: tuple[int, ...]) -> tuple[Measured, ...]:
    found = []
    for name, array in values.items():
        value = float(array[at])
        if np.isfinite(value):
            known = get_feature(name)
            found.append(Measured(name, value, _text(known, value), known.about))
    return tuple(found)


def _text(known: TrackFeature, value: float) -> str:
    if isinstance(known.scheme, CategoryBins):
        return known.scheme.names[int(value)]
    if known.name == "size-ratio":
        times = float(np.exp(abs(value)))
        return f"{times:.2g} times as {'large' if value >= 0 else 'small'}"
    unit = "per second" if known.unit == "1/s" else known.unit
    return f"{value:.3f} {unit}".strip()
