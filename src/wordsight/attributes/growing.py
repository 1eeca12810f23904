"""Teaching more: lessons added later, with known words, new words or new attributes."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.errors import TeachingError
from wordsight.attributes.exclusivity import Meetings
from wordsight.attributes.grouping import Attribution, Vocabulary, word_directions, word_meetings
from wordsight.attributes.lessons import Lessons
from wordsight.attributes.word_types import WordTypes

if TYPE_CHECKING:
    from wordsight.attributes.learner import AttributeLearner

__all__ = ["grow"]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

_STRANGE = 1.5  # times the radius of the nearest known word: beyond, a recording is a new word
_RATE = 0.2  # meetings within an attribute beside those of chance, where nothing else is known


def grow(learner: "AttributeLearner", lessons: Lessons) -> None:
    """Add lessons to a learner.

    Known words keep their attributes. A new word joins the attribute whose words it never meets
    on similar pictures, or founds a new one if it meets words of all. The space of pictures stays
    as it is; discriminants are learned anew from all lessons.

    Args:
        learner: A learner that was taught; it is changed.
        lessons: What comes in addition, described with the same features.

    Raises:
        TeachingError: If the learner recalls by linear maps, which cannot grow.
    """
    if learner.settings.recall == "nearest-sound":
        raise TeachingError("recall 'nearest-sound' cannot grow; teach anew with all lessons.")
    x = np.vstack([learner.x_, learner.space_.transform(lessons.kinds)])
    old = len(learner.texts_)
    both = Lessons(
        (x,),
        learner.texts_ + lessons.texts,
        _stacked(learner.speech_, lessons.speech),
        learner.sounds_ + lessons.sounds,
    )
    vocabulary = _vocabulary(learner, lessons, both)
    cca = word_directions(vocabulary.words, x, learner.settings)
    meetings = word_meetings(vocabulary.words, x, learner.settings)
    groups = _joined(learner.attribution_.words, meetings)
    assigned = np.concatenate([learner.attribution_.lessons, groups[vocabulary.words[old:]]])
    found = Attribution(assigned, groups, cca, counts=learner.counts_)
    learner._take(both, learner.space_, x, vocabulary, found)


def _stacked(before: Array, after: Array) -> Array:
    width = max(before.shape[1], after.shape[1])
    if before.shape[1] and after.shape[1] and before.shape[1] != after.shape[1]:
        raise TeachingError("new recordings are described by other features than the old ones.")

    def widened(rows: Array) -> Array:
        return rows if rows.shape[1] == width else np.full((len(rows), width), np.nan)

    return np.vstack([widened(before), widened(after)])


def _vocabulary(learner: "AttributeLearner", lessons: Lessons, both: Lessons) -> Vocabulary:
    known = learner.vocabulary_
    places = _places(learner, both)
    names = list(known.names)
    words = np.concatenate([known.words, np.full(len(lessons), -1, dtype=np.intp)])
    for number, text in enumerate(lessons.texts, start=len(known.words)):
        if text is not None:
            if text not in names:
                names.append(text)
            words[number] = names.index(text)
    unspelled = np.flatnonzero(words < 0)
    if len(unspelled):
        found = _recognised(places, words, unspelled)
        fresh = found < 0
        if fresh.any():
            found[fresh] = len(names) + _clusters(places[unspelled[fresh]], places, words)
        words[unspelled] = found
    names += [None] * (int(words.max()) + 1 - len(names))
    return replace(known, words=words, names=tuple(names), places=places)


def _places(learner: "AttributeLearner", both: Lessons) -> Array:
    cca = learner.vocabulary_.cca
    if cca is None:
        if both.spoken.any():
            raise TeachingError(
                "this learner was taught by text alone; recordings need their spelling beside "
                "them, or teach anew with all lessons."
            )
        return np.zeros((len(both), 0))
    places = np.zeros((len(both), cca.y_weights_.shape[1]))
    places[both.spoken] = cca.transform_y(both.speech[both.spoken])
    return places


def _recognised(places: Array, words: Labels, asked: Labels) -> Labels:
    """Return the known word nearest to each recording, -1 where none is near."""
    taught = words >= 0
    numbers, dense = np.unique(words[taught], return_inverse=True)
    types = WordTypes.of(places[taught], dense)
    apart = np.linalg.norm(places[asked][:, None] - types.centres[None], axis=-1)
    # A word heard once has no radius of its own.
    radii = np.maximum(types.radii, np.median(types.radii))
    nearest = (apart / radii).argmin(axis=1)
    near = apart[np.arange(len(asked)), nearest] <= _STRANGE * radii[nearest]
    return np.asarray(np.where(near, numbers[nearest], -1), dtype=np.intp)


def _clusters(points: Array, places: Array, words: Labels) -> Labels:
    """Cluster recordings of new words as widely as known words are spread."""
    from scipy.cluster.hierarchy import fcluster, linkage

    if len(points) < 2:
        return np.zeros(len(points), dtype=np.intp)
    taught = words >= 0
    dense = np.unique(words[taught], return_inverse=True)[1]
    width = 2 * float(np.median(WordTypes.of(places[taught], dense).radii))
    return np.asarray(fcluster(linkage(points, "average"), width, "distance") - 1, dtype=np.intp)


def _joined(groups: Labels, meetings: Meetings) -> Labels:
    """Give every new word the attribute it fits best, or a new one; the most frequent first."""
    count = len(meetings.observed)
    found = np.concatenate([groups, np.full(count - len(groups), -1, dtype=np.intp)])
    gain = meetings.observed * np.log(_RATE) + meetings.expected * (1 - _RATE)
    new = np.arange(len(groups), count)
    for word in new[np.argsort(-np.diag(meetings.expected)[new], kind="stable")]:
        settled = np.flatnonzero(found >= 0)
        sums = np.bincount(found[settled], weights=gain[word, settled])
        best = int(sums.argmax())
        found[word] = best if sums[best] >= 0 else int(found.max()) + 1
    return found
