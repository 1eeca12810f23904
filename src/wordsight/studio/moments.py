"""What can be measured of the things in a video at one moment, as the features of words see it."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.language import PartOfSpeech
from wordsight.library import Library
from wordsight.meaning.features import (
    FEATURE_SETS,
    CategoryBins,
    ClipView,
    TrackFeature,
    get_feature,
    view_clip,
)
from wordsight.meaning.features.observation import measured
from wordsight.records import Clip
from wordsight.workflows.clips import followed

__all__ = ["Measured", "PairAt", "ThingAt", "look_at"]

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
    return replace(
        view,
        indices=view.indices[:, keep],
        present=view.present[:, keep],
        boxes=view.boxes[:, keep],
        labels=view.labels[:, keep],
        scores=view.scores[:, keep],
        velocity=view.velocity[:, keep],
        growth=view.growth[:, keep],
    )


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
