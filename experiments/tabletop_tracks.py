"""Following the hand and the blocks of the tabletop by name, through what a detector found.

A thing's track is Eq. 1 of our tracker: the best path through the detections that look like it and
move coherently. A network's scores say how likely a detection is the thing; of a patch of colour
this is learned, from its size and shape, in the films that taught the colours.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from experiments.baselines.best_path import best_path
from wordsight.perception.tracking import Coherence, States
from wordsight.records import Clip, Detections

__all__ = ["NamedTracker", "clip_of", "follow_classes", "overlaps"]

Array = NDArray[np.float64]
Boxes = dict[str, Array]

_SHOWS = 0.6  # intersection over union from which a patch is said to show the thing
_HARDLY = 0.4  # below this it shows something else; between the two it teaches nothing
_LEAST_CHANCE = 0.05  # below this a patch is not the thing, whatever moves coherently
_MOST_CERTAIN = 0.99


class NamedTracker:
    """Knows which patches of a colour are things, and follows them."""

    def fit(self, films: Sequence[Detections], truths: Sequence[Boxes]) -> "NamedTracker":
        """Learn from patches and the true boxes of each film ``(T, 4)`` by name."""
        from sklearn.ensemble import ExtraTreesClassifier

        self._names = tuple(sorted({name for boxes in truths for name in boxes}))
        rows, real = [], []
        for seen, boxes in zip(films, truths, strict=True):
            for label, name in enumerate(seen.label_names):
                frames, places = np.nonzero(seen.mask & (seen.labels == label))
                match = overlaps(seen.boxes[frames, places], boxes[name][frames])
                told = (match >= _SHOWS) | (match < _HARDLY)
                rows.append(self._described(seen, frames, places, name)[told])
                real.append(match[told] >= _SHOWS)
        self._model = ExtraTreesClassifier(60, min_samples_leaf=3, random_state=0)
        self._model.fit(np.concatenate(rows), np.concatenate(real))
        return self

    def follow(self, seen: Detections, video_id: str) -> Clip:
        """Return one track for each label, its identity being the number of the label."""
        boxes = np.full((len(seen), len(seen.label_names), 4), np.nan)
        for label, name in enumerate(seen.label_names):
            frames, places = np.nonzero(seen.mask & (seen.labels == label))
            if not len(frames):
                continue
            chances = self._model.predict_proba(self._described(seen, frames, places, name))[:, 1]
            likely = chances >= _LEAST_CHANCE
            frames, places, chances = frames[likely], places[likely], chances[likely]
            chosen = _best(seen, frames, places, chances)
            boxes[frames[chosen], label] = seen.boxes[frames[chosen], places[chosen]]
        return clip_of(seen.times, boxes, seen.label_names, seen.frame_size, video_id)

    def _described(
        self, seen: Detections, frames: NDArray[np.intp], places: NDArray[np.intp], name: str
    ) -> Array:
        which = np.array([name == known for known in self._names], dtype=np.float64)
        looks = np.zeros((len(frames), 0))
        if seen.appearance is not None:
            looks = seen.appearance[frames, places].astype(np.float64)
        return np.concatenate([looks, np.broadcast_to(which, (len(frames), len(which)))], axis=1)


def follow_classes(seen: Detections, names: dict[str, str], video_id: str) -> Clip:
    """Return one track for each class of a detector that tells all things apart.

    Args:
        seen: What it found; scores are chances.
        names: The name of each class to follow; no two things are of one class.
        video_id: The name of the film.
    """
    boxes = np.full((len(seen), len(names), 4), np.nan)
    for number, label in enumerate(names):
        frames, places = np.nonzero(seen.mask & (seen.labels == seen.label_names.index(label)))
        chosen = _best(seen, frames, places, seen.scores[frames, places])
        boxes[frames[chosen], number] = seen.boxes[frames[chosen], places[chosen]]
    return clip_of(seen.times, boxes, tuple(names.values()), seen.frame_size, video_id)


def overlaps(one: Array, other: Array) -> Array:
    """Return the intersection over union of boxes ``(..., 4)`` and others; 0 where one is NaN."""
    low = np.maximum(one[..., :2], other[..., :2])
    high = np.minimum(one[..., 2:], other[..., 2:])
    both = np.clip(high - low, 0, None).prod(axis=-1)
    areas = sum((box[..., 2:] - box[..., :2]).prod(axis=-1) for box in (one, other))
    return np.asarray(np.nan_to_num(both / np.maximum(areas - both, 1e-9)))


def _best(
    seen: Detections, frames: NDArray[np.intp], places: NDArray[np.intp], chances: Array
) -> NDArray[np.intp]:
    """Return which of the patches, one a frame, make the best path."""
    if not len(frames):
        return np.zeros(0, dtype=np.intp)
    boxes, coherence = seen.boxes[frames, places], Coherence()
    still = np.zeros((len(frames), 2))
    states = States(
        seen.times[frames],
        (boxes[:, :2] + boxes[:, 2:]) / 2,
        boxes[:, 2:] - boxes[:, :2],
        still,
        np.full((len(frames), 2), coherence.speed**2),
    )
    jitter = coherence.jitter(np.zeros((0, 4)), moving_unknown=True)
    groups = np.split(np.arange(len(frames)), np.flatnonzero(np.diff(frames)) + 1)
    certain = np.clip(chances, 1 - _MOST_CERTAIN, _MOST_CERTAIN)
    odds = np.log(certain / (1 - certain))
    links = []
    for before, after in pairwise(groups):
        tails, heads = np.repeat(before, len(after)), np.tile(after, len(before))
        distances = coherence.distances(states[tails], states[heads], jitter)
        links.append(coherence.gains(distances).reshape(len(before), len(after)))
    path, _ = best_path([odds[group] for group in groups], links)
    return np.array([group[j] for group, j in zip(groups, path, strict=True)], dtype=np.intp)


def clip_of(
    times: Array, boxes: Array, names: tuple[str, ...], size: tuple[int, int], video_id: str
) -> Clip:
    """Return tracks ``(T, n, 4)`` by name, NaN where a thing is not seen, as a clip."""
    known = ~np.isnan(boxes[..., 0])
    numbers = np.broadcast_to(np.arange(boxes.shape[1]), known.shape)
    followed = Detections(
        times=times,
        boxes=np.nan_to_num(boxes),
        scores=known.astype(np.float64),
        labels=numbers.astype(np.int32),
        mask=known,
        label_names=names,
        frame_size=size,
        ids=numbers.astype(np.int64),
    )
    return Clip(video_id, 0.0, float(times[-1]) + 0.1, followed)
