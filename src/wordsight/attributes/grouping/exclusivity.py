r"""Words of the same attribute never co-occur on similar pictures.

An object has one colour and one shape. Words of different attributes ("red", "cup") co-occur on
similar pictures as often as chance predicts; words of the same one ("red", "blue") never do; and
two clusters of one word co-occur far more often than that.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.discriminant import distinct_rows, picture_folds
from wordsight.errors import TeachingError

__all__ = [
    "COUNT_WEIGHT",
    "Cooccurrences",
    "Partition",
    "count_cooccurrences",
    "grouping_gains",
    "partition_words",
]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

_RATES = (0.03, 0.1, 0.25, 0.5)  # co-occurrences within an attribute, relative to chance
_ROUNDS = 8
_STARTS = 10  # random ones, in addition to agglomeration
_FOLDS = 5
_SLIP = 0.05  # how often two words of one attribute are said of one picture, relative to chance
_MOST_SLIPS = -12.0  # nats

COUNT_WEIGHT = 0.5
"""Weight of a co-occurrence: neighbours of one picture often resemble each other."""


@dataclass(frozen=True, eq=False)
class Cooccurrences:
    """Co-occurrence counts of words on similar pictures.

    Attributes:
        observed: ``(W, W)`` observed counts.
        expected: ``(W, W)`` counts expected by chance, given the frequencies of the words.
        together: ``(W, W)`` number of pictures of which both words were said; none by default.
        alike: ``(W, W)`` whether two words were said to name one attribute; none by default.
    """

    observed: Array
    expected: Array
    together: Array | None = None
    alike: NDArray[np.bool_] | None = None

    @property
    def lift(self) -> Array:
        """``(W, W)`` observed over expected: about 1 across attributes, about 0 within one."""
        return np.asarray(self.observed / np.maximum(self.expected, 1e-12))

    def merged(self, labels: Labels) -> "Cooccurrences":
        """Return the counts of merged words; ``labels`` gives each its new number."""
        join = (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float64)
        together = None if self.together is None else join.T @ self.together @ join
        alike = None if self.alike is None else join.T @ self.alike @ join > 0
        counts = join.T @ self.observed @ join, join.T @ self.expected @ join
        return Cooccurrences(*counts, together, alike)

    def with_alike(self, pairs: Sequence[tuple[int, int]]) -> "Cooccurrences":
        """Return the counts with pairs of words that name one attribute."""
        alike = np.zeros(self.observed.shape, dtype=bool)
        for first, second in pairs:
            alike[first, second] = alike[second, first] = True
        return replace(self, alike=alike)


@dataclass(frozen=True, eq=False)
class Partition:
    """Words divided into attributes.

    Attributes:
        groups: ``(W,)`` the attribute of each word, from 0.
        rate: Co-occurrences within attributes relative to chance.
        log_likelihood: Of the counts, relative to every word being its own attribute.
        description_length: Negative log likelihood plus the cost of the words' attributes, in nats.
    """

    groups: Labels
    rate: float
    log_likelihood: float
    description_length: float

    @property
    def count(self) -> int:
        """The number of attributes."""
        return int(self.groups.max(initial=-1)) + 1


def count_cooccurrences(
    x: Array,
    words: Labels,
    project: Callable[[Array, Labels, Array], tuple[Array, Array]],
    *,
    neighbours: int = 6,
    random_state: int = 0,
) -> Cooccurrences:
    """Count which words co-occur on similar pictures.

    Similarity is learned from words. Learned from all lessons, it would separate pictures by their
    own words, and words of different attributes would seem never to co-occur. So the neighbours of
    held-out pictures are searched in a space that was learned from the others.

    Args:
        x: ``(N, D)`` the pictures of all lessons.
        words: ``(N,)`` the word of each.
        project: Learns a space from pictures and their words, and returns those pictures and
            others in it.
        neighbours: The number of nearest pictures that count as similar.
        random_state: Seed of the folds.
    """
    from scipy.spatial import cKDTree

    count = int(words.max(initial=-1)) + 1
    observed, expected = np.zeros((count, count)), np.zeros((count, count))
    together = _said_together(x, words)
    folds = picture_folds(x, _FOLDS, random_state)
    if folds is None:
        return Cooccurrences(observed, expected, together)
    for fold in range(_FOLDS):
        inside, outside = folds != fold, folds == fold
        places, queries = project(x[inside], words[inside], x[outside])
        near = min(neighbours, len(places))
        frequency = np.bincount(words[inside], minlength=count) / inside.sum()
        chance = near * np.outer(np.bincount(words[outside], minlength=count), frequency)
        expected += chance
        if not places.shape[1]:  # of a single word: nothing sets pictures apart
            observed += chance
            continue
        _, nearest = cKDTree(places).query(queries, k=[*range(1, near + 1)])
        pairs = (np.repeat(words[outside], near), words[inside][nearest].ravel())
        np.add.at(observed, pairs, 1.0)
    return Cooccurrences((observed + observed.T) / 2, (expected + expected.T) / 2, together)


def _said_together(x: Array, words: Labels) -> Array:
    """Return ``(W, W)`` the number of pictures of which two words were said."""
    picture = distinct_rows(x)
    said = np.zeros((int(picture.max(initial=-1)) + 1, int(words.max(initial=-1)) + 1))
    said[picture, words] = 1.0
    together = said.T @ said
    np.fill_diagonal(together, 0.0)
    return np.asarray(together)


def partition_words(
    cooccurrences: Cooccurrences, num_groups: int | None = None, *, most: int = 8
) -> Partition:
    r"""Divide words into attributes.

    Counts of two words are modelled as Poisson, with mean E across attributes and rE within one; r
    is small, but larger if neighbours are not quite similar, so it is averaged over a range.
    Grouping words a, b then gains :math:`\ln\sum_r p(r)r^{O}e^{E(1-r)}`; the partition with the
    largest sum of gains is searched by agglomeration and from random starts, each followed by
    moving single words.

    Args:
        cooccurrences: Of all words.
        num_groups: The number of attributes; by default that of the smallest description length.
        most: The largest number tried.

    Raises:
        TeachingError: If there are fewer words than attributes.
    """
    count = len(cooccurrences.observed)
    if num_groups is None:
        tried = [_partition(cooccurrences, number) for number in range(1, min(most, count) + 1)]
        return min(tried, key=lambda one: one.description_length)
    if not 1 <= num_groups <= count:
        known = "is only 1 different word" if count == 1 else f"are only {count} different words"
        raise TeachingError(
            f"{num_groups} attributes were requested, but there {known}; every attribute needs a "
            "word."
        )
    return _partition(cooccurrences, num_groups)


def _partition(cooccurrences: Cooccurrences, num_groups: int) -> Partition:
    gain = grouping_gains(cooccurrences)
    count, random = len(gain), np.random.default_rng(0)
    # Agglomeration alone gets stuck if two words of an attribute happen to co-occur.
    starts = [_agglomerated(gain, num_groups)]
    if 1 < num_groups < count:
        starts += [random.permutation(count) % num_groups for _ in range(_STARTS)]
    groups = max((_moved(gain, start) for start in starts), key=lambda end: _total(gain, end))
    same = (groups[:, None] == groups[None]) & ~np.eye(count, dtype=bool)
    observed, expected = cooccurrences.observed[same].sum(), cooccurrences.expected[same].sum()
    rate = observed / max(float(expected), 1e-12)
    likelihood = _total(gain, groups)
    groups = np.unique(groups, return_inverse=True)[1].astype(np.intp)
    cost = len(groups) * np.log(num_groups)
    return Partition(groups, float(rate), likelihood, float(cost - likelihood))


def _total(gain: Array, groups: Labels) -> float:
    return float(gain[groups[:, None] == groups[None]].sum() / 2)


def grouping_gains(cooccurrences: Cooccurrences) -> Array:
    """Return ``(W, W)`` nats gained by grouping two words."""
    o, e = COUNT_WEIGHT * cooccurrences.observed, COUNT_WEIGHT * cooccurrences.expected
    gains = np.stack([o * np.log(rate) + e * (1 - rate) for rate in _RATES])
    top = gains.max(axis=0)
    gain = top + np.log(np.exp(gains - top).mean(axis=0))
    if cooccurrences.together is not None:
        # The paper's own rule: two words of one picture name different attributes. A slip of the
        # tongue may say otherwise, and often the same one.
        gain = gain + np.maximum(np.log(_SLIP) * cooccurrences.together, _MOST_SLIPS)
    if cooccurrences.alike is not None:
        gain = gain - _MOST_SLIPS * cooccurrences.alike
    np.fill_diagonal(gain, 0.0)
    return np.asarray(gain)


def _agglomerated(gain: Array, num_groups: int) -> Labels:
    """Merge the two groups with the largest gain until ``num_groups`` are left."""
    groups = np.arange(len(gain))
    between = gain.copy()
    np.fill_diagonal(between, -np.inf)
    for _ in range(len(gain) - num_groups):
        first, second = np.unravel_index(between.argmax(), between.shape)
        between[first] += between[second]
        between[:, first] = between[first]
        between[first, first] = -np.inf
        between[second] = between[:, second] = -np.inf
        groups[groups == second] = first
    return groups


def _moved(gain: Array, groups: Labels) -> Labels:
    """Move single words to the group of the largest gain until none improves; no group empties."""
    groups = groups.copy()
    count = len(groups)
    for _ in range(_ROUNDS * count):
        sizes = np.bincount(groups, minlength=count)
        sums = gain @ (groups[:, None] == np.arange(count))
        better = sums - sums[np.arange(count), groups][:, None]
        better[:, sizes == 0] = better[sizes[groups] == 1] = -np.inf
        word, group = np.unravel_index(better.argmax(), better.shape)
        if better[word, group] <= 1e-9:
            break
        groups[word] = group
    return groups
