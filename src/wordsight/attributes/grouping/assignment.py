"""From lessons to words, and from words to attributes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.grouping.attribute_count import (
    CountScore,
    choose_count,
    choose_num_components,
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
from wordsight.attributes.grouping.linear_mixture import LinearMixture
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

_SPEECH_DIRECTIONS = 40  # more than there are; meaningless ones get no weight
_SPEECH_AXES = 50
_ROUNDS = 3


@dataclass(frozen=True, eq=False)
class LessonVocabulary:
    """The words of lessons.

    Attributes:
        words: ``(N,)`` the word of each lesson, from 0.
        names: The spelling of each word, or ``None`` if it was only recorded.
        cca: Canonical directions of pictures and recordings; ``None`` without recordings.
        places: ``(N, d)`` recordings along the directions; zeros without a recording.
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
        cca: Canonical directions of pictures and words.
        partition: The partition of the words, of the method "exclusivity".
        mixture: The fitted mixture, of the method "mixture".
        counts: The scores of each number of attributes, if it was not given.
    """

    lessons: Labels
    words: Labels
    cca: CCA
    partition: Partition | None = None
    mixture: LinearMixture | None = None
    counts: tuple[CountScore, ...] = ()


def find_vocabulary(lessons: Lessons, x: Array, settings: AttributeSettings) -> LessonVocabulary:
    """Find which lessons teach the same word: by spelling, or else by sound."""
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
        recorded = _recorded_words(x[unspelled], lessons.speech[unspelled], settings)
        words[unspelled] = recorded + len(texts)
    count = int(words.max()) + 1
    return LessonVocabulary(words, (*texts, *[None] * (count - len(texts))), cca, places)


def group_by_exclusivity(
    vocabulary: LessonVocabulary, x: Array, settings: AttributeSettings
) -> AttributeAssignment:
    """Group words that never co-occur on similar pictures into attributes."""
    words = vocabulary.words
    cca = word_directions(words, x, settings)
    cooccurrences = word_cooccurrences(words, x, settings)
    linked = link_synonyms(cooccurrences)
    if settings.num_attributes is not None and linked.max() + 1 < settings.num_attributes:
        linked = np.arange(len(linked))
    merged, number = cooccurrences.merged(linked), settings.num_attributes
    scores: list[CountScore] = []
    if number is None:
        scores = score_counts(
            x,
            linked[words],
            merged,
            lambda some_words, pictures: word_cooccurrences(some_words, pictures, settings),
            random_state=settings.random_state,
        )
        # Anything that was spelled is a word, not a stray cluster.
        spelled = [place for place, name in enumerate(vocabulary.names) if name is not None]
        number = choose_count(without_strays(scores, merged, np.unique(linked[spelled])))
    partition = partition_words(merged, number)
    groups = partition.groups[linked]
    return AttributeAssignment(groups[words], groups, cca, partition, counts=tuple(scores))


def group_by_mixture(
    vocabulary: LessonVocabulary, speech: Array, x: Array, settings: AttributeSettings
) -> AttributeAssignment:
    """Group lessons by a mixture of linear maps from pictures to words."""
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
        ridge=settings.map_ridge,
        noise=settings.noise,
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
    words: Labels, x: Array, settings: AttributeSettings, *, num_separated: int | None = None
) -> Cooccurrences:
    """Count which words co-occur on pictures that are similar in what separates words.

    Args:
        words: ``(N,)`` words, from 0.
        x: ``(N, D)`` their pictures.
        settings: The number of neighbours and the seed.
        num_separated: Use only the directions that separate the first words, so many of them; all
            by default.
    """

    def project(known: Array, known_words: Labels, new: Array) -> tuple[Array, Array]:
        own = known_words < (num_separated or len(x))
        one_hot = _one_hot(known_words[own])
        cca = CCA(_SPEECH_DIRECTIONS, ridge=settings.ridge).fit(known[own], one_hot)
        # Directions along which words differ little get little weight.
        weight = cca.correlations_**2
        return cca.transform_x(known) * weight, cca.transform_x(new) * weight

    return count_cooccurrences(
        x, words, project, neighbours=settings.neighbours, random_state=settings.random_state
    )


def _recorded_words(x: Array, speech: Array, settings: AttributeSettings) -> Labels:
    """Cluster recordings finely, then merge clusters of one word by their pictures."""
    if len(x) < 2:
        return np.zeros(len(x), dtype=np.intp)
    cca = CCA(_SPEECH_DIRECTIONS, ridge=settings.ridge).fit(x, speech)
    # Directions that correlate little with pictures say little about the word.
    points = cca.transform_y(speech) * cca.correlations_
    types = find_word_types(points, settings.num_words)
    if settings.num_words is not None or types.count < 3:
        return types.labels
    axes = PictureSpace.fit([speech], _SPEECH_AXES).transform([speech])
    labels = refine_words(axes, x, types.labels, random_state=settings.random_state)
    for _ in range(_ROUNDS):
        before = labels
        labels = merge_same_words(word_cooccurrences(labels, x, settings), points, labels)
        labels = refine_words(axes, x, labels, random_state=settings.random_state)
        if np.array_equal(labels, before):
            break
    return labels


def _cca(settings: AttributeSettings) -> CCA:
    return CCA(settings.directions, ridge=settings.ridge, random_state=settings.random_state)


def _one_hot(words: Labels) -> Array:
    return np.asarray(words[:, None] == np.arange(words.max() + 1), dtype=np.float64)
