"""An object detector for the street, taught with true boxes in the training places.

The published experiment had detectors for its four classes of objects, trained beforehand with
boxes; this is their counterpart. Nouns are taught to an :class:`AttributeLearner` by what linked
regions look like; regions that show nothing it knows are left out. Which class is which noun is not
passed on to the learner of words: it sees class numbers.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes import AttributeLearner, Lessons
from wordsight.perception.regions.blob import APPEARANCE_SIZE
from wordsight.records import Clip, Detections
from wordsight.worlds.street import StreetFilm

__all__ = ["OTHER", "ObjectDetector", "shown_by"]

OTHER = "other"
"""What a region shows that covers none of the things."""

Array = NDArray[np.float64]

_LEAST_OVERLAP = 0.4  # intersection over union at which a region is said to show a thing
_CAUTION = 1.5  # log odds against "other": a thing missed costs a word more than one too many


def shown_by(detections: Detections, film: StreetFilm) -> NDArray[np.str_]:
    """Return ``(T, J)`` the noun of the thing each box covers, or :data:`OTHER`."""
    individuals = list(film.truth.boxes)
    nouns = np.array([film.truth.kinds[name] for name in individuals] + [OTHER])
    found = np.full(detections.mask.shape, len(individuals))
    for row, time in enumerate(detections.times):
        frame = min(round(time * film.frame_rate), film.num_frames - 1)
        real = np.array([film.truth.boxes[name][frame] for name in individuals])
        overlaps = _overlaps(detections.boxes[row], real)
        best = overlaps.argmax(axis=1)
        enough = overlaps.max(axis=1) >= _LEAST_OVERLAP
        found[row] = np.where(enough & detections.mask[row], best, len(individuals))
    return np.asarray(nouns[found])


class ObjectDetector:
    """Names linked regions by nouns taught with their looks, size and shape.

    Attributes:
        names_: The nouns it knows, sorted, with :data:`OTHER` last.
    """

    def fit(self, clips: Sequence[Clip], films: Sequence[StreetFilm]) -> "ObjectDetector":
        """Learn from linked regions what each thing looks like; films tell what they show."""
        looks, kinds = [], []
        for clip, film in zip(clips, films, strict=True):
            shown = shown_by(clip.detections, film)
            for place in _tracks(clip.detections):
                values, counts = np.unique(shown[place], return_counts=True)
                kinds.append(str(values[counts.argmax()]))
                looks.append(_look(clip.detections, place))
        self.names_ = (*sorted(set(kinds) - {OTHER}), OTHER)
        data, silent = np.array(looks), (None,) * len(kinds)
        lessons = Lessons((data,), tuple(kinds), np.zeros((len(kinds), 0)), silent)
        self._taught = AttributeLearner(num_attributes=1, relations=False).fit_lessons(lessons)
        return self

    def label(self, clip: Clip) -> Clip:
        """Return the regions that show something known, labelled with it."""
        seen = clip.detections
        labels, kept = np.zeros_like(seen.labels), np.zeros_like(seen.mask)
        for place in _tracks(seen):
            (answer,) = self._taught.recall([_look(seen, place)[None]])
            odds = np.full(len(self.names_), -np.inf)
            for word, chance in zip(answer.classes, answer.probabilities[0], strict=True):
                name = self._taught.words_[word].name
                odds[self.names_.index(name)] = np.log(chance + 1e-12)
            odds[-1] -= _CAUTION
            best = int(odds.argmax())
            labels[place], kept[place] = best, best < len(self.names_) - 1
        named = replace(seen, labels=labels, label_names=self.names_, mask=kept, appearance=None)
        return replace(clip, detections=named)


def _tracks(seen: Detections) -> list[NDArray[np.bool_]]:
    """Return per identity ``(T, J)`` where its boxes are."""
    if seen.ids is None:
        return []
    return [seen.mask & (seen.ids == number) for number in np.unique(seen.ids[seen.mask])]


def _look(seen: Detections, place: NDArray[np.bool_]) -> Array:
    sizes = np.median(seen.boxes[place][:, 2:] - seen.boxes[place][:, :2], axis=0)
    shape = 0.5 * np.log(np.maximum(sizes, 1.0))
    looks = np.zeros(0) if seen.appearance is None else seen.appearance[place].mean(axis=0)
    looks = looks[:APPEARANCE_SIZE]  # without outlines: too many numbers for so few things
    return np.concatenate([looks, shape])


def _overlaps(boxes: Array, others: Array) -> Array:
    """Return ``(N, M)`` intersections over unions, 0 where a box is out of sight."""
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    both = np.clip(high - low, 0, None).prod(axis=2)
    one, other = ((b[:, 2:] - b[:, :2]).prod(axis=1) for b in (boxes, others))
    union = one[:, None] + other[None] - both
    return np.asarray(np.nan_to_num(both / np.where(union > 0, union, np.nan)))
