"""Teaching more: lessons added later, with known words, new words or new attributes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from wordsight.attributes.errors import TeachingError
from wordsight.attributes.grouping.assignment import (
    AttributeAssignment,
    LessonVocabulary,
    word_cooccurrences,
    word_directions,
)
from wordsight.attributes.grouping.exclusivity import Cooccurrences
from wordsight.attributes.grouping.words import WordTypes, link_synonyms
from wordsight.attributes.lessons import Lessons, PictureSpace
from wordsight.attributes.recall.answers import DiscriminantRecall
from wordsight.attributes.recall.discriminant import (
    FAMILIAR_SHARE,
    calibrated_discriminant,
    choose_discriminant,
)
from wordsight.attributes.settings import AttributeSettings

if TYPE_CHECKING:
    from wordsight.attributes.learner import AttributeLearner

__all__ = ["add_lessons", "new_word_evidence"]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

_SPEECH_AXES = 50
_WIDTH = 1.6  # times the radius of a known word: recordings as far apart are two words
_FEWEST = 3  # recordings that make a new word, where another one has as many
_PART = 0.25  # of the largest cluster of new recordings: smaller ones may be a part of it
_NEW_LOOKS = 0.6  # share of a new word's pictures that none of its attribute's words fits
_ONE_WORD = 0.3  # of a Dirichlet prior: most pictures have the same word, whichever
_STRANGE = 0.5  # of what speaks against the worst attribute: a word may be as strange to its own
_RATE = 0.2  # meetings within an attribute beside those of chance, where nothing else is known


def add_lessons(learner: "AttributeLearner", lessons: Lessons) -> None:
    """Add lessons to a learner.

    Known words keep their attributes. A new word joins the attribute whose words it never meets
    on similar pictures and do not fit its own, or founds a new one if it meets words of all. The
    space of pictures stays as it is; discriminants are learned anew from all lessons.

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
    before = len(learner.attribution_.words)
    meetings = _meetings(vocabulary.words, x, learner.settings, before)
    looks = [
        new_word_evidence(learner, x[vocabulary.words == word])
        for word in range(before, len(vocabulary.names))
    ]
    groups = _joined(learner.attribution_.words, meetings, looks)
    assigned = np.concatenate([learner.attribution_.lessons, groups[vocabulary.words[old:]]])
    found = AttributeAssignment(assigned, groups, cca, counts=learner.counts_)
    learner._take(both, learner.space_, x, vocabulary, found)


def _stacked(before: Array, after: Array) -> Array:
    width = max(before.shape[1], after.shape[1])
    if before.shape[1] and after.shape[1] and before.shape[1] != after.shape[1]:
        raise TeachingError("new recordings are described by other features than the old ones.")

    def widened(rows: Array) -> Array:
        return rows if rows.shape[1] == width else np.full((len(rows), width), np.nan)

    return np.vstack([widened(before), widened(after)])


def _vocabulary(learner: "AttributeLearner", lessons: Lessons, both: Lessons) -> LessonVocabulary:
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
        words[unspelled] = _heard(both.speech, words, unspelled, len(names))
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


def _heard(speech: Array, words: Labels, asked: Labels, fresh: int) -> Labels:
    """Return the word of each recording that is asked for: a known one, or from ``fresh`` on.

    Recordings unlike all known words are clustered; then all are assigned anew, since some of a new
    word are near enough to a known one.
    """
    taught = np.flatnonzero((words >= 0) & np.isfinite(speech).all(axis=1))
    space = PictureSpace.fit([speech[taught]], _SPEECH_AXES)
    known, points = space.transform([speech[taught]]), space.transform([speech[asked]])
    everything = [slice(0, known.shape[1])]
    model = choose_discriminant(known, words[taught], everything)
    strange = np.flatnonzero(~model.known(points))
    found = model.classes_[model.log_posterior(points).argmax(axis=1)]
    if len(strange):
        root = np.linalg.cholesky(model.precision_)
        clusters = _clusters(points[strange] @ root, known @ root, words[taught])
        sizes = np.bincount(clusters)
        large = sizes >= max(min(_FEWEST, sizes.max()), _PART * sizes.max())
        new, numbers = strange[large[clusters]], (np.cumsum(large) - 1)[clusters[large[clusters]]]
        both = np.concatenate([words[taught], fresh + numbers])
        model = calibrated_discriminant(np.vstack([known, points[new]]), both)
        found = model.classes_[model.log_posterior(points).argmax(axis=1)]
        found[new] = fresh + numbers
        # A small cluster is a part of the new word it sounds like, or else a word of its own.
        for small in np.flatnonzero(~large & (sizes >= _FEWEST)):
            own = strange[clusters == small]
            if np.median(found[own]) < fresh:
                found[own] = max(int(found.max()), fresh) + 1
    return np.asarray(found, dtype=np.intp)


def _clusters(points: Array, known: Array, words: Labels) -> Labels:
    """Cluster recordings of new words as widely as known words are spread."""
    from scipy.cluster.hierarchy import fcluster, linkage

    if len(points) < 2:
        return np.zeros(len(points), dtype=np.intp)
    dense = np.unique(words, return_inverse=True)[1]
    width = _WIDTH * float(np.median(WordTypes.of(known, dense).radii))
    return np.asarray(fcluster(linkage(points, "average"), width, "distance") - 1, dtype=np.intp)


def _meetings(words: Labels, x: Array, settings: AttributeSettings, before: int) -> Cooccurrences:
    """Count which words meet: new ones with known ones in what tells the known ones apart.

    What is peculiar to a new word would set its pictures apart from all others, so that it seemed
    to meet nobody.
    """
    found = word_cooccurrences(words, x, settings)
    known = word_cooccurrences(words, x, settings, told_apart=before)
    apart = np.arange(len(found.observed)) < before
    mixed = apart[:, None] != apart
    return Cooccurrences(
        np.where(mixed, known.observed, found.observed),
        np.where(mixed, known.expected, found.expected),
    )


def new_word_evidence(learner: "AttributeLearner", x: Array) -> Array:
    """Return how much likelier (in nats) a new word names each attribute than another one.

    What a word of the same attribute is said of has no other word there: of yellow things no known
    colour, or always the one that is next to it. In other attributes they have words like any
    other thing, and not always the same.

    Args:
        learner: What was taught before.
        x: ``(N, D)`` the pictures of the new word.

    Returns:
        ``(A,)``; 0 where nothing is known of what an attribute's pictures look like.
    """
    found = np.zeros(learner.num_attributes_)
    for attribute, recall in enumerate(learner.recalls_):
        if isinstance(recall, DiscriminantRecall) and len(recall.model.classes_) > 1:
            answers = recall.answer(x)
            place = answers.probabilities.argmax(axis=1)[answers.known]
            counts = np.bincount(place, minlength=len(answers.classes))
            strange = len(x) - len(place)
            found[attribute] = (
                strange * np.log(_NEW_LOOKS / (1 - FAMILIAR_SHARE))
                + len(place) * np.log((1 - _NEW_LOOKS) / FAMILIAR_SHARE)
                + _always_the_same(counts, recall.model.prior_)
            )
    return found


def _always_the_same(counts: Labels, usual: Array) -> float:
    """Return how much likelier one word for most pictures explains counts than the usual shares."""
    spread = np.full(len(counts), _ONE_WORD)
    one = gammaln(spread.sum()) - gammaln(spread.sum() + counts.sum())
    one += float((gammaln(spread + counts) - gammaln(spread)).sum())
    return float(one - counts @ np.log(usual))


def _joined(groups: Labels, meetings: Cooccurrences, looks: Sequence[Array]) -> Labels:
    """Give every new word the attribute it fits best, or a new one; the most frequent first."""
    count = len(meetings.observed)
    found = np.concatenate([groups, np.full(count - len(groups), -1, dtype=np.intp)])
    gain = meetings.observed * np.log(_RATE) + meetings.expected * (1 - _RATE)
    new = np.arange(len(groups), count)
    linked = link_synonyms(meetings)
    for word in new[np.argsort(-np.diag(meetings.expected)[new], kind="stable")]:
        same = new[(linked[new] == linked[word]) & (found[new] >= 0)]
        if len(same):  # another name of the same things, or more recordings of one word
            found[word] = found[same[0]]
            continue
        settled = np.flatnonzero(found >= 0)
        sums = np.bincount(found[settled], weights=gain[word, settled])
        sums[: len(looks[word - len(groups)])] += looks[word - len(groups)]
        # A word of a known attribute is strange to it too, for that has not learned to tell it
        # apart; but by far not as much as it is to the others.
        best = int(sums.argmax())
        fits = sums[best] >= min(_STRANGE * sums.min(), 0.0)
        found[word] = best if fits else int(found.max()) + 1
    return found
