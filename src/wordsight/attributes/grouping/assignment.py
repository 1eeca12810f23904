"""From lessons to words and attributes: the steps between features and recall."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.grouping.attribute_count import (
    CountScore,
    choose_count,
    score_counts,
    without_strays,
)
from wordsight.attributes.grouping.cca import CCA
from wordsight.attributes.grouping.exclusivity import (
    Cooccurrences,
    Partition,
    count_cooccurrences,
    partition_words,
)
from wordsight.attributes.grouping.linear_mixture import LinearMixture, choose_num_components
from wordsight.attributes.grouping.words import (
    find_word_types,
    link_synonyms,
    merge_same_words,
    refine_words,
)
from wordsight.attributes.lessons import Lessons, PictureSpace
from wordsight.attributes.settings import AttributeSettings

__all__ = [
    "AttributeAssignment",
    "LessonVocabulary",
    "find_vocabulary",
    "group_by_exclusivity",
    "group_by_mixture",
    "word_cooccurrences",
    "word_directions",
]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

_SPEECH_DIRECTIONS = 40  # more than there are; those that mean nothing weigh nothing
_SPEECH_AXES = 50
_ROUNDS = 3


@dataclass(frozen=True, eq=False)
class LessonVocabulary:
    """The words of some lessons.

    Attributes:
        words: ``(N,)`` the word of each lesson, from 0 on.
        names: Per word its spelling, or ``None`` where it was only heard.
        cca: Directions between pictures and recordings; ``None`` where there are no recordings.
        places: ``(N, d)`` recordings along those; zeros where there is none.
    """

    words: Labels
    names: tuple[str | None, ...]
    cca: CCA | None
    places: Array


@dataclass(frozen=True, eq=False)
class AttributeAssignment:
    """Lessons divided into attributes.

    Attributes:
        lessons: ``(N,)`` the attribute of each lesson.
        words: ``(W,)`` the attribute of each word.
        cca: Directions between pictures and words in which it was decided.
        partition: How the words were divided, where that was by exclusivity.
        mixture: The fitted mixture, where it was by that.
        counts: How well each number of attributes explains the lessons, where it was not given.
    """

    lessons: Labels
    words: Labels
    cca: CCA
    partition: Partition | None = None
    mixture: LinearMixture | None = None
    counts: tuple[CountScore, ...] = ()


def find_vocabulary(lessons: Lessons, x: Array, settings: AttributeSettings) -> LessonVocabulary:
    """Find out which lessons teach the same word: by spelling, or else by sound."""
    texts = sorted({text for text in lessons.texts if text is not None})
    number = {text: place for place, text in enumerate(texts)}
    words = np.array([number.get(text or "", -1) for text in lessons.texts], dtype=np.intp)
    spoken, unspelled = lessons.spoken, words < 0
    cca, places = None, np.zeros((len(lessons), 0))
    if spoken.sum() > 1:
        cca = _cca(settings).fit(x[spoken], lessons.speech[spoken])
        places = np.zeros((len(lessons), cca.y_weights_.shape[1]))
        places[spoken] = cca.transform_y(lessons.speech[spoken])
    if unspelled.any():
        heard = _heard_words(x[unspelled], lessons.speech[unspelled], settings)
        words[unspelled] = heard + len(texts)
    count = int(words.max()) + 1
    return LessonVocabulary(words, (*texts, *[None] * (count - len(texts))), cca, places)


def group_by_exclusivity(
    vocabulary: LessonVocabulary, x: Array, settings: AttributeSettings
) -> AttributeAssignment:
    """Divide words into attributes by which never meet on similar pictures."""
    words = vocabulary.words
    cca = word_directions(words, x, settings)
    meetings = word_cooccurrences(words, x, settings)
    linked = link_synonyms(meetings)
    if settings.num_attributes is not None and linked.max() + 1 < settings.num_attributes:
        linked = np.arange(len(linked))
    merged, number = meetings.merged(linked), settings.num_attributes
    scores: list[CountScore] = []
    if number is None:
        scores = score_counts(
            x,
            linked[words],
            merged,
            lambda said, pictures: word_cooccurrences(said, pictures, settings),
            random_state=settings.random_state,
        )
        # What any recording was spelled as is a word, not strays of one.
        spelled = [place for place, name in enumerate(vocabulary.names) if name is not None]
        number = choose_count(without_strays(scores, merged, np.unique(linked[spelled])))
    partition = partition_words(merged, number)
    groups = partition.groups[linked]
    return AttributeAssignment(groups[words], groups, cca, partition, counts=tuple(scores))


def group_by_mixture(
    vocabulary: LessonVocabulary, speech: Array, x: Array, settings: AttributeSettings
) -> AttributeAssignment:
    """Divide lessons into attributes by a mixture of linear maps from pictures to words."""
    if vocabulary.cca is not None and np.isfinite(speech).all():
        cca, y = vocabulary.cca, vocabulary.places
    else:
        cca = word_directions(vocabulary.words, x, settings)
        y = cca.transform_y(_one_hot(vocabulary.words))
    places = cca.transform_x(x)
    mixture = LinearMixture(
        1,
        iterations=settings.iterations,
        annealed=settings.annealed,
        restarts=settings.restarts,
        printed_step=settings.printed_step,
        random_state=settings.random_state,
    )
    mixture.num_components = settings.num_attributes or choose_num_components(mixture, places, y)
    mixture.fit(places, y)
    lessons = mixture.responsibilities_.argmax(axis=1)
    votes = _one_hot(vocabulary.words).T @ mixture.responsibilities_
    return AttributeAssignment(lessons, votes.argmax(axis=1), cca, mixture=mixture)


def word_directions(words: Labels, x: Array, settings: AttributeSettings) -> CCA:
    """Return the directions along which pictures of different words differ."""
    return _cca(settings).fit(x, _one_hot(words))


def word_cooccurrences(
    words: Labels, x: Array, settings: AttributeSettings, *, told_apart: int | None = None
) -> Cooccurrences:
    """Count which words meet on pictures that are similar in what tells words apart.

    Args:
        words: ``(N,)`` words, from 0 on.
        x: ``(N, D)`` the pictures they were said of.
        settings: How many neighbours, and which seed.
        told_apart: Only what tells the first so many words apart counts; all if left out.
    """

    def project(known: Array, said: Labels, asked: Array) -> tuple[Array, Array]:
        own = said < (told_apart or len(x))
        cca = CCA(_SPEECH_DIRECTIONS, ridge=settings.ridge).fit(known[own], _one_hot(said[own]))
        # Directions along which words differ little count little.
        weight = cca.correlations_**2
        return cca.transform_x(known) * weight, cca.transform_x(asked) * weight

    return count_cooccurrences(
        x, words, project, neighbours=settings.neighbours, random_state=settings.random_state
    )


def _heard_words(x: Array, speech: Array, settings: AttributeSettings) -> Labels:
    """Cluster recordings finely, then let pictures say which clusters are one word."""
    if len(x) < 2:
        return np.zeros(len(x), dtype=np.intp)
    cca = CCA(_SPEECH_DIRECTIONS, ridge=settings.ridge).fit(x, speech)
    # Directions that pictures share little with say little about the word.
    points = cca.transform_y(speech) * cca.correlations_
    types = find_word_types(points, settings.num_words)
    if settings.num_words is not None or types.count < 3:
        return types.labels
    axes = PictureSpace.fit([speech], _SPEECH_AXES).transform([speech])
    labels = types.labels
    labels = refine_words(axes, x, labels, random_state=settings.random_state)
    for _ in range(_ROUNDS):
        before = labels
        meetings = word_cooccurrences(labels, x, settings)
        labels = merge_same_words(meetings, points, labels)
        labels = refine_words(axes, x, labels, random_state=settings.random_state)
        if np.array_equal(labels, before):
            break
    return labels


def _cca(settings: AttributeSettings) -> CCA:
    return CCA(settings.directions, ridge=settings.ridge, random_state=settings.random_state)


def _one_hot(words: Labels) -> Array:
    return np.asarray(words[:, None] == np.arange(words.max() + 1), dtype=np.float64)
