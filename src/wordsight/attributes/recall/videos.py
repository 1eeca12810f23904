"""Attribute words for detections in videos: naming, adjectives of a lexicon, and search terms."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.learner import AttributeLearner
from wordsight.attributes.recall.answers import NamedAttribute, Naming
from wordsight.errors import TeachingError
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
    "shot_words",
]

_LEAST_SIDE = 4  # pixels; smaller crops show no attribute
_BATCH = 256
UNKNOWN = "unknown"


@dataclass(frozen=True)
class NamedDetection:
    """A detection with its words.

    Attributes:
        time: Time in seconds.
        frame: Index of the frame in the detections.
        place: Index of the detection in the frame, a column of the arrays.
        box: Corners x1, y1, x2, y2 in pixels.
        identity: Track identity; -1 if unknown.
        naming: Its words.
        label: What the detector calls it.
    """

    time: float
    frame: int
    place: int
    box: tuple[float, float, float, float]
    identity: int
    naming: Naming
    label: str = ""


@dataclass(frozen=True)
class ShotTerm:
    """A word for an object in a shot.

    Attributes:
        identity: Track identity; -1 if unknown.
        word: The word.
        confidence: From 0 to 1.
    """

    identity: int
    word: str
    confidence: float


def crop_box(image: NDArray[np.uint8], box: Sequence[float]) -> NDArray[np.uint8]:
    """Return the part of an image inside a box.

    Args:
        image: RGB ``(H, W, 3)``.
        box: Corners x1, y1, x2, y2 in pixels; may extend beyond the image.

    Raises:
        TeachingError: If its part inside the image is less than four pixels wide or high.
    """
    height, width = image.shape[:2]
    x1, y1, x2, y2 = (round(float(value)) for value in box)
    x1, x2 = max(0, x1), min(width, x2)
    y1, y2 = max(0, y1), min(height, y2)
    if x2 - x1 < _LEAST_SIDE or y2 - y1 < _LEAST_SIDE:
        raise TeachingError(
            f"the box {tuple(box)} covers too little of an image of {width} x {height} pixels; "
            f"at least {_LEAST_SIDE} x {_LEAST_SIDE} pixels are needed."
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
    """Name the detections of a video.

    Args:
        learner: A fitted learner.
        video: The video file.
        detections: The detections.
        rate: Maximum number of frames per second to use.
        progress: Called after each frame.

    Returns:
        The detections of the frames used that have enough pixels, in order of time.
    """
    frames = _sample_frames(detections.times, rate)
    named: list[NamedDetection] = []
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
            if len(crops) >= _BATCH or done == len(frames):
                named += _name_crops(learner, detections, crops, waiting)
                crops, waiting = [], []
            if progress is not None:
                progress(done, len(frames), "Naming")
    return named


def label_by_attribute(
    detections: Detections, named: Sequence[NamedDetection], attribute: int
) -> Detections:
    """Return detections labelled by one attribute's words, to learn adjectives from.

    All detections of a track get the word with the largest sum of confidences; others keep their
    own word. Detections without a word are labelled ``unknown``.

    Args:
        detections: The detections.
        named: Their words, from :func:`name_detections`.
        attribute: The attribute.
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
    """Return the spelled words of a learner as adjectives for a lexicon."""
    names = (adjective_name(word.name) for word in learner.words_ if word.spelled)
    return tuple(Entry(name, PartOfSpeech.ADJECTIVE) for name in dict.fromkeys(names))


def adjective_name(word: str) -> str:
    """Return the lexicon entry of a word: in lower case, joined by hyphens."""
    return "-".join(word.lower().split())


def shot_words(named: Sequence[NamedDetection], shots: Sequence[Shot]) -> list[list[ShotTerm]]:
    """Return, per shot, the words for its objects with their confidences.

    The words of a track are voted by its detections. Detections without identity are pooled: each
    word occurs once, with its highest confidence.
    """
    return [
        _words_of([one for one in named if shot.start <= one.time < shot.end]) for shot in shots
    ]


def _words_of(detections: Sequence[NamedDetection]) -> list[ShotTerm]:
    tracks: dict[int, list[NamedDetection]] = {}
    for detection in detections:
        tracks.setdefault(detection.identity, []).append(detection)
    return [
        term
        for identity in sorted(tracks)
        for term in (_pooled if identity < 0 else _voted)(identity, tracks[identity])
    ]


def _voted(identity: int, detections: Sequence[NamedDetection]) -> Iterator[ShotTerm]:
    """Yield for each attribute of one track the word with the largest mean confidence."""
    for answers in zip(*(one.naming.attributes for one in detections), strict=True):
        votes: dict[str, float] = {}
        for answer in answers:
            if answer.known:
                share = answer.confidence / len(detections)
                votes[answer.word] = votes.get(answer.word, 0.0) + share
        if votes:
            word = max(votes, key=lambda one: votes[one])
            yield ShotTerm(identity, word, votes[word])


def _pooled(identity: int, detections: Sequence[NamedDetection]) -> Iterator[ShotTerm]:
    best: dict[str, float] = {}
    for detection in detections:
        for answer in detection.naming.attributes:
            if answer.known:
                best[answer.word] = max(best.get(answer.word, 0.0), answer.confidence)
    for word in sorted(best):
        yield ShotTerm(identity, word, best[word])


def _answers(named: Sequence[NamedDetection], attribute: int) -> Iterator[NamedAttribute]:
    for one in named:
        if not 0 <= attribute < len(one.naming.attributes):
            raise TeachingError(
                f"there is no attribute {attribute}; there are {len(one.naming.attributes)}, "
                "numbered from 0."
            )
        if one.naming.attributes[attribute].known:
            yield one.naming.attributes[attribute]


def _sample_frames(times: NDArray[np.float64], rate: float) -> list[int]:
    chosen: list[int] = []
    for number, time in enumerate(times):
        # With tolerance: rounding must not skip a frame exactly 0.5 s later.
        if not chosen or time - times[chosen[-1]] >= 1 / rate - 1e-6:
            chosen.append(number)
    return chosen


def _name_crops(
    learner: AttributeLearner,
    detections: Detections,
    crops: list[NDArray[np.uint8]],
    places: list[tuple[int, int]],
) -> list[NamedDetection]:
    if not crops:
        return []
    named = []
    for naming, (frame, place) in zip(learner.name_all(crops), places, strict=True):
        x1, y1, x2, y2 = (float(value) for value in detections.boxes[frame, place])
        identity = -1 if detections.ids is None else int(detections.ids[frame, place])
        time = float(detections.times[frame])
        label = detections.label_names[detections.labels[frame, place]]
        box = (x1, y1, x2, y2)
        named.append(NamedDetection(time, frame, place, box, identity, naming, label))
    return named
