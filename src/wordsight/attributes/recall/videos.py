"""Attribute words for things in videos: for looking up, for adjectives and for searching."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.errors import TeachingError
from wordsight.attributes.learner import AttributeLearner
from wordsight.attributes.recall.answers import NamedAttribute, Naming
from wordsight.language import Entry, PartOfSpeech
from wordsight.progress import Progress
from wordsight.records import Detections, Shot
from wordsight.video import VideoReader

__all__ = [
    "NamedDetection",
    "ShotTerm",
    "adjective_entries",
    "adjective_name",
    "crop_box",
    "label_by_attribute",
    "name_detections",
    "shot_terms",
    "shot_words",
]

_LEAST_SIDE = 4  # pixels: less of a thing shows no attribute
_AT_ONCE = 256
UNKNOWN = "unknown"


@dataclass(frozen=True)
class NamedDetection:
    """A detection and its words.

    Attributes:
        time: When, in seconds.
        frame: Which frame of the detections, from 0 on.
        place: Which detection of the frame, a column of the arrays.
        box: Corners x1, y1, x2, y2 in pixels.
        identity: Which thing it is over time; -1 where that is not known.
        naming: Its words.
    """

    time: float
    frame: int
    place: int
    box: tuple[float, float, float, float]
    identity: int
    naming: Naming


@dataclass(frozen=True)
class ShotTerm:
    """A word for a thing in a shot.

    Attributes:
        identity: Which thing; -1 where that is not known.
        word: The word.
        confidence: How sure it is, from 0 to 1.
    """

    identity: int
    word: str
    confidence: float


def crop_box(image: NDArray[np.uint8], box: Sequence[float]) -> NDArray[np.uint8]:
    """Return the part of an image that a box shows.

    Args:
        image: RGB ``(H, W, 3)``.
        box: Corners x1, y1, x2, y2 in pixels; it may reach beyond the image.

    Raises:
        TeachingError: If less than four pixels of it lie inside the image in width or height.
    """
    height, width = image.shape[:2]
    x1, y1, x2, y2 = (round(float(value)) for value in box)
    x1, x2 = max(0, x1), min(width, x2)
    y1, y2 = max(0, y1), min(height, y2)
    if x2 - x1 < _LEAST_SIDE or y2 - y1 < _LEAST_SIDE:
        raise TeachingError(
            f"the box {tuple(box)} shows too little of an image of {width} x {height} pixels; "
            f"{_LEAST_SIDE} pixels each way are needed."
        )
    return image[y1:y2, x1:x2]


def name_detections(
    learner: AttributeLearner,
    video: str | os.PathLike[str],
    detections: Detections,
    *,
    rate: float = 2.0,
    progress: Progress | None = None,
) -> list[NamedDetection]:
    """Name what was detected in a video.

    Args:
        learner: What was taught.
        video: The video file.
        detections: What a detector saw in it.
        rate: At most so many frames per second are looked at.
        progress: Told how far it has come.

    Returns:
        One entry for every detection looked at that shows enough pixels, in order of time.
    """
    frames = _frames_to_look_at(detections.times, rate)
    found: list[NamedDetection] = []
    crops: list[NDArray[np.uint8]] = []
    waiting: list[tuple[int, int]] = []
    with VideoReader(video) as reader:
        for done, frame in enumerate(frames, start=1):
            image = reader.frame_at(float(detections.times[frame])).image
            for place in np.flatnonzero(detections.mask[frame]):
                try:
                    crops.append(crop_box(image, detections.boxes[frame, place]).copy())
                except TeachingError:
                    continue
                waiting.append((int(frame), int(place)))
            if len(crops) >= _AT_ONCE or done == len(frames):
                found += _named(learner, detections, crops, waiting)
                crops, waiting = [], []
            if progress is not None:
                progress(done, len(frames), "Naming")
    return found


def label_by_attribute(
    detections: Detections, named: Sequence[NamedDetection], attribute: int
) -> Detections:
    """Return detections labelled by one attribute's words, for learning adjectives from them.

    A thing with an identity gets the word most of its looks speak for, weighed by confidence;
    other detections the word of the look nearest in time and place in their frame. What was not
    looked at, or has no word, is ``unknown``.

    Args:
        detections: What a detector saw.
        named: Their words, from :func:`name_detections`.
        attribute: Which attribute.
    """
    words = sorted({answer.word for answer in _answers(named, attribute)})
    names = (*words, UNKNOWN)
    labels = np.full(detections.mask.shape, len(words), dtype=np.int32)
    votes: dict[int, NDArray[np.float64]] = {}
    for one in named:
        answer = one.naming.attributes[attribute]
        if not answer.known:
            continue
        labels[one.frame, one.place] = words.index(answer.word)
        if one.identity >= 0:
            row = votes.setdefault(one.identity, np.zeros(len(words)))
            row[words.index(answer.word)] += answer.confidence
    if detections.ids is not None:
        for identity, row in votes.items():
            labels[(detections.ids == identity) & detections.mask] = int(row.argmax())
    labels[~detections.mask] = 0
    return detections.relabelled(labels, names)


def adjective_entries(learner: AttributeLearner) -> tuple[Entry, ...]:
    """Return the spelled words of a learner as adjectives of a lexicon."""
    names = (adjective_name(word.name) for word in learner.words_ if word.spelled)
    return tuple(Entry(name, PartOfSpeech.ADJECTIVE) for name in dict.fromkeys(names))


def adjective_name(word: str) -> str:
    """Return what a word is called in a lexicon: in lower case, words joined by hyphens."""
    return "-".join(word.lower().split())


def shot_terms(
    named: Sequence[NamedDetection],
    shots: Sequence[Shot],
    *,
    least_confidence: float = 0.5,
) -> list[list[str]]:
    """Return, per shot, the words for what is seen in it, as terms for a text index.

    A word stands once for every thing it names (or once in all, where things have no identity);
    the words of one thing follow one another.
    """
    return [
        [term.word for term in terms if term.confidence >= least_confidence]
        for terms in shot_words(named, shots)
    ]


def shot_words(named: Sequence[NamedDetection], shots: Sequence[Shot]) -> list[list[ShotTerm]]:
    """Return, per shot, the words for what is seen in it, and how sure they are.

    All looks at a thing have a say in its words. Things without an identity are taken together:
    each word that names one of them stands there once, as sure as the surest look.
    """
    return [
        _words_of([one for one in named if shot.start <= one.time < shot.end]) for shot in shots
    ]


def _words_of(looks: Sequence[NamedDetection]) -> list[ShotTerm]:
    things: dict[int, list[NamedDetection]] = {}
    for look in looks:
        things.setdefault(look.identity, []).append(look)
    return [
        term
        for identity in sorted(things)
        for term in (_surest if identity < 0 else _voted)(identity, things[identity])
    ]


def _voted(identity: int, looks: Sequence[NamedDetection]) -> Iterator[ShotTerm]:
    """Yield for each attribute of one thing the word most looks speak for, and their mean say."""
    for answers in zip(*(look.naming.attributes for look in looks), strict=True):
        says: dict[str, float] = {}
        for answer in answers:
            if answer.known:
                says[answer.word] = says.get(answer.word, 0.0) + answer.confidence / len(looks)
        if says:
            word = max(says, key=lambda one: says[one])
            yield ShotTerm(identity, word, says[word])


def _surest(identity: int, looks: Sequence[NamedDetection]) -> Iterator[ShotTerm]:
    best: dict[str, float] = {}
    for look in looks:
        for answer in look.naming.attributes:
            if answer.known:
                best[answer.word] = max(best.get(answer.word, 0.0), answer.confidence)
    for word in sorted(best):
        yield ShotTerm(identity, word, best[word])


def _answers(named: Sequence[NamedDetection], attribute: int) -> Iterator[NamedAttribute]:
    for one in named:
        if not 0 <= attribute < len(one.naming.attributes):
            raise TeachingError(
                f"there is no attribute {attribute}; there are {len(one.naming.attributes)}, "
                "counted from 0."
            )
        if one.naming.attributes[attribute].known:
            yield one.naming.attributes[attribute]


def _frames_to_look_at(times: NDArray[np.float64], rate: float) -> list[int]:
    chosen: list[int] = []
    for number, time in enumerate(times):
        # A hair of slack: 0.5 s later must not become a frame later by rounding.
        if not chosen or time - times[chosen[-1]] >= 1 / rate - 1e-6:
            chosen.append(number)
    return chosen


def _named(
    learner: AttributeLearner,
    detections: Detections,
    crops: list[NDArray[np.uint8]],
    places: list[tuple[int, int]],
) -> list[NamedDetection]:
    if not crops:
        return []
    found = []
    for naming, (frame, place) in zip(learner.name_all(crops), places, strict=True):
        x1, y1, x2, y2 = (float(value) for value in detections.boxes[frame, place])
        identity = -1 if detections.ids is None else int(detections.ids[frame, place])
        time = float(detections.times[frame])
        found.append(NamedDetection(time, frame, place, (x1, y1, x2, y2), identity, naming))
    return found
