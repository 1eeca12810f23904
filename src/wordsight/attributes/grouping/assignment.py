"""From lessons to words, and from words to attributes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

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
from wordsight.attributes.grouping.linear_mixture import LinearMixture, fit_variational
from wordsight.attributes.grouping.relations import find_covers, find_senses
from wordsight.attributes.grouping.words import (
    find_word_types,
    link_synonyms,
    merge_same_words,
    refine_words,
)
from wordsight.attributes.lessons import Lessons
from wordsight.attributes.picture_space import PictureSpace
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
_MOST_MAPS = 8  # of the variational mixture, before it drops those it does not need
_LEAST_SHARE = 0.2  # of a spelled word's recordings, in a cluster that is that word


@dataclass(frozen=True, eq=False)
class LessonVocabulary:
    """The words of lessons.

    Attributes:
        words: ``(N,)`` the word of each lesson, from 0.
        names: The spelling of each word, or ``None`` if it was only recorded.
        cca: Canonical directions of pictures and recordings; ``None`` without recordings.
        places: ``(N, d)`` recordings along the directions; zeros without a recording.
        alike: Pairs of words of which was said that they name one attribute.
        called: The name of each word, also of those only recorded; numbers if empty.
    """

    words: Labels
    names: tuple[str | None, ...]
    cca: CCA | None
    places: Array
    alike: tuple[tuple[int, int], ...] = ()
    called: tuple[str, ...] = ()


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
        covers: Words over words: the words that each covers, of the same attribute.
    """

    lessons: Labels
    words: Labels
    cca: CCA
    partition: Partition | None = None
    mixture: LinearMixture | None = None
    counts: tuple[CountScore, ...] = ()
    covers: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    def taught(self, words: Labels, attribute: int) -> Labels:
        """Return the lessons of an attribute, but for those of words over other words."""
        own = (self.lessons == attribute) & ~np.isin(words, list(self.covers))
        return np.flatnonzero(own)


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
        clusters = _recorded_words(x[spoken], lessons.speech[spoken], settings)
        words[spoken] = _spelled_words(clusters, words[spoken], places[spoken], len(texts))
    count = int(words.max()) + 1
    likes = zip(words.tolist(), lessons.likes, strict=True)
    alike = {(word, number[like]) for word, like in likes if like in number}
    names = (*texts, *[None] * (count - len(texts)))
    return LessonVocabulary(words, names, cca, places, tuple(sorted(alike)))


def _spelled_words(clusters: Labels, words: Labels, points: Array, num_texts: int) -> Labels:
    """Return the word of each recording: its spelling, or that of recordings it is like.

    Args:
        clusters: ``(N,)`` recordings that are alike.
        words: ``(N,)`` their spelled words, -1 without a spelling.
        points: ``(N, d)`` the recordings.
        num_texts: The number of spelled words; clusters without one are words from there on.
    """
    found, sizes = words.copy(), np.bincount(words[words >= 0], minlength=num_texts)
    new = num_texts
    for cluster in clusters[np.sort(np.unique(clusters, return_index=True)[1])]:
        own = np.flatnonzero(clusters == cluster)
        unspelled, spelled = own[words[own] < 0], own[words[own] >= 0]
        shares = np.bincount(words[spelled], minlength=num_texts) / np.maximum(sizes, 1)
        # A stray recording of a word does not make the others that word.
        spelled = spelled[shares[words[spelled]] >= _LEAST_SHARE]
        if len(spelled) and len(unspelled):
            away = np.linalg.norm(points[unspelled][:, None] - points[spelled], axis=-1)
            found[unspelled] = words[spelled[away.argmin(axis=1)]]
        elif len(unspelled):
            found[unspelled], new = new, new + 1
    return found


def group_by_exclusivity(
    vocabulary: LessonVocabulary,
    x: Array,
    settings: AttributeSettings,
    parts: Sequence[Labels],
) -> AttributeAssignment:
    """Group words that never co-occur on similar pictures into attributes.

    Words over words ("warm") are found first and join the attribute of those they cover; words of
    two attributes ("orange") have their lessons divided at the end.

    Args:
        vocabulary: The words of lessons.
        x: ``(N, D)`` their pictures.
        settings: The settings.
        parts: The kinds of features, as columns of ``x``.
    """
    words = vocabulary.words
    cca = word_directions(words, x, settings)
    cooccurrences = word_cooccurrences(words, x, settings).with_alike(vocabulary.alike)
    # Anything that was spelled is a word, not a stray cluster.
    spelled = np.array([n for n, name in enumerate(vocabulary.names) if name is not None], np.intp)
    related = spelled if settings.relations else spelled[:0]
    covers = find_covers(cooccurrences, related)
    while True:
        groups, counts, found = _grouped(words, x, cooccurrences, list(covers), spelled, settings)
        # A word is over words of one attribute; otherwise it is a word like others.
        kept = {word: _of_one_attribute(below, groups) for word, below in covers.items()}
        if all(len(below) > 1 for below in kept.values()):
            break
        covers = {word: covers[word] for word, below in kept.items() if len(below) > 1}
    for word, below in kept.items():
        groups[word] = groups[below[0]]
    plain = np.setdiff1d(related, list(kept))
    lessons = find_senses(
        x, words, groups, cooccurrences, plain, parts, random_state=settings.random_state
    )
    return AttributeAssignment(lessons, groups, cca, found, counts=counts, covers=kept)


def _of_one_attribute(words: tuple[int, ...], groups: Labels) -> tuple[int, ...]:
    """Return those of some words that belong to the attribute of most of them."""
    most = np.bincount(groups[list(words)]).argmax()
    return tuple(word for word in words if groups[word] == most)


def _grouped(
    words: Labels,
    x: Array,
    cooccurrences: Cooccurrences,
    omitted: list[int],
    spelled: Labels,
    settings: AttributeSettings,
) -> tuple[Labels, tuple[CountScore, ...], Partition]:
    """Return the attribute of each word, -1 for omitted ones; scores of numbers; the partition."""
    base = np.setdiff1d(np.arange(len(cooccurrences.observed)), omitted)
    groups = np.full(len(cooccurrences.observed), -1, dtype=np.intp)
    if omitted:
        # Words over words blur what tells the words under them apart.
        own = np.isin(words, base)
        x, words = x[own], np.searchsorted(base, words[own]).astype(np.intp)
        spelled = np.searchsorted(base, np.intersect1d(spelled, base)).astype(np.intp)
        alike = cooccurrences.alike
        cooccurrences = word_cooccurrences(words, x, settings)
        if alike is not None:
            cooccurrences = replace(cooccurrences, alike=alike[np.ix_(base, base)])
    linked, number = link_synonyms(cooccurrences), settings.num_attributes
    if number is not None and linked.max() + 1 < number:
        linked = np.arange(len(linked))
    merged = cooccurrences.merged(linked)
    scores: list[CountScore] = []
    if number is None:
        scores = score_counts(
            x,
            linked[words],
            merged,
            lambda some_words, pictures: word_cooccurrences(some_words, pictures, settings),
            random_state=settings.random_state,
        )
        number = choose_count(without_strays(scores, merged, np.unique(linked[spelled])))
    partition = partition_words(merged, number)
    groups[base] = partition.groups[linked]
    return groups, tuple(scores), partition


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
    if settings.method == "variational":
        mixture = fit_variational(
            places,
            y,
            most=settings.num_attributes or _MOST_MAPS,
            random_state=settings.random_state,
        )
    else:
        mixture = _plain_mixture(places, y, settings)
    lessons = mixture.responsibilities_.argmax(axis=1)
    votes = _one_hot(vocabulary.words).T @ mixture.responsibilities_
    return AttributeAssignment(lessons, votes.argmax(axis=1), cca, mixture=mixture)


def _plain_mixture(x: Array, y: Array, settings: AttributeSettings) -> LinearMixture:
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
    mixture.num_components = settings.num_attributes or choose_num_components(mixture, x, y)
    return mixture.fit(x, y)


def word_directions(words: Labels, x: Array, settings: AttributeSettings) -> CCA:
    """Return the directions along which pictures of different words differ."""
    return _cca(settings).fit(x, _one_hot(words))


def word_cooccurrences(words: Labels, x: Array, settings: AttributeSettings) -> Cooccurrences:
    """Count which words co-occur on pictures that are similar in what separates words."""

    def project(known: Array, known_words: Labels, new: Array) -> tuple[Array, Array]:
        cca = CCA(_SPEECH_DIRECTIONS, ridge=settings.ridge).fit(known, _one_hot(known_words))
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
