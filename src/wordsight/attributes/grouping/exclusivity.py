r"""Which words name the same attribute: those that are never said of pictures that look alike.

A thing has one colour and one shape. Words for different attributes ("red", "cup") meet on similar
pictures as often as chance has it; words for the same one ("red", "blue") never do; and one word
in two clusters meets itself far more often than that.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.errors import TeachingError

__all__ = [
    "COUNT_WEIGHT",
    "Cooccurrences",
    "Partition",
    "count_cooccurrences",
    "partition_words",
    "picture_folds",
]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

_RATES = (0.03, 0.1, 0.25, 0.5)  # meetings within an attribute, beside those of chance
_ROUNDS = 8
_STARTS = 10  # random ones, beside merging
_FOLDS = 5

COUNT_WEIGHT = 0.5
"""Weight of a meeting: neighbours of one picture often resemble each other."""


@dataclass(frozen=True, eq=False)
class Cooccurrences:
    """How often words were said of similar pictures.

    Attributes:
        observed: ``(W, W)`` times a word and another were said of neighbouring pictures.
        expected: ``(W, W)`` times chance would bring, given how often each was said.
    """

    observed: Array
    expected: Array

    @property
    def lift(self) -> Array:
        """``(W, W)`` observed over expected: about 1 across attributes, about 0 within one."""
        return np.asarray(self.observed / np.maximum(self.expected, 1e-12))

    def merged(self, labels: Labels) -> "Cooccurrences":
        """Return the meetings of words put together: ``labels`` gives each its new number."""
        join = (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float64)
        return Cooccurrences(join.T @ self.observed @ join, join.T @ self.expected @ join)


@dataclass(frozen=True, eq=False)
class Partition:
    """Words divided into attributes.

    Attributes:
        groups: ``(W,)`` the attribute of each word, from 0 on.
        rate: Meetings within an attribute, as a share of what chance would bring.
        log_likelihood: Of the meetings, beyond that of every word being its own attribute.
        description_length: Negative log likelihood and the nats that tell words' attributes.
    """

    groups: Labels
    rate: float
    log_likelihood: float
    description_length: float

    @property
    def count(self) -> int:
        """How many attributes there are."""
        return int(self.groups.max(initial=-1)) + 1


def count_cooccurrences(
    x: Array,
    words: Labels,
    project: Callable[[Array, Labels, Array], tuple[Array, Array]],
    *,
    neighbours: int = 6,
    random_state: int = 0,
) -> Cooccurrences:
    """Count which words meet on similar pictures.

    What counts as similar is learned from words. Learned from all lessons it would set pictures
    apart by the very words that were said of them, and words of different attributes would seem
    never to meet. So the neighbours of some pictures are looked up in a space that was learned
    from the words of others, in turn.

    Args:
        x: ``(N, D)`` the pictures of all lessons.
        words: ``(N,)`` the word said of each.
        project: Learns a space from some pictures and their words, and returns those pictures and
            others in it.
        neighbours: How many nearest pictures count as similar.
        random_state: Seed of the folds.
    """
    from scipy.spatial import cKDTree

    count = int(words.max(initial=-1)) + 1
    observed, expected = np.zeros((count, count)), np.zeros((count, count))
    folds = picture_folds(x, _FOLDS, random_state)
    if folds is None:
        return Cooccurrences(observed, expected)
    for fold in range(_FOLDS):
        inside, outside = folds != fold, folds == fold
        places, asked = project(x[inside], words[inside], x[outside])
        near = min(neighbours, len(places))
        _, found = cKDTree(places).query(asked, k=[*range(1, near + 1)])
        np.add.at(observed, (np.repeat(words[outside], near), words[inside][found].ravel()), 1.0)
        said = np.bincount(words[inside], minlength=count) / inside.sum()
        expected += near * np.outer(np.bincount(words[outside], minlength=count), said)
    return Cooccurrences((observed + observed.T) / 2, (expected + expected.T) / 2)


def picture_folds(x: Array, count: int, random_state: int) -> Labels | None:
    """Return the fold of each row, equal rows in one fold; ``None`` if too few rows differ."""
    _, picture = np.unique(x.round(9), axis=0, return_inverse=True)
    different = int(picture.max(initial=-1)) + 1
    if different < 2 * count:
        return None
    shuffled = np.random.default_rng(random_state).permutation(different)
    return np.asarray(shuffled[picture.ravel()] % count)


def partition_words(
    meetings: Cooccurrences, num_groups: int | None = None, *, most: int = 8
) -> Partition:
    r"""Divide words into attributes.

    Meetings of two words are taken as Poisson, with mean E across attributes and rE within one;
    r is small, but larger where neighbours are not quite alike, so it is averaged over a range.
    Putting words a, b together then gains :math:`\ln\sum_r p(r)r^{O}e^{E(1-r)}`; the division
    with the largest sum of gains is sought by merging words, by starting anywhere, and by moving
    single words from there.

    Args:
        meetings: Of all words.
        num_groups: How many attributes there are; if not known, the number with the smallest
            description length is taken.
        most: The largest number tried.

    Raises:
        TeachingError: If more attributes than words are asked for.
    """
    count = len(meetings.observed)
    if num_groups is None:
        tried = [_divided(meetings, number) for number in range(1, min(most, count) + 1)]
        return min(tried, key=lambda one: one.description_length)
    if not 1 <= num_groups <= count:
        raise TeachingError(
            f"{num_groups} attributes were asked for, but only {count} different words were "
            "heard; every attribute needs a word."
        )
    return _divided(meetings, num_groups)


def _divided(meetings: Cooccurrences, num_groups: int) -> Partition:
    gain = _gains(meetings)
    count, random = len(gain), np.random.default_rng(0)
    # Merging alone gets stuck where one word of an attribute happens to keep away from another's.
    starts = [_merged(gain, num_groups)]
    if 1 < num_groups < count:
        starts += [random.permutation(count) % num_groups for _ in range(_STARTS)]
    groups = max((_moved(gain, start) for start in starts), key=lambda end: _within(gain, end))
    same = (groups[:, None] == groups[None]) & ~np.eye(count, dtype=bool)
    rate = meetings.observed[same].sum() / max(float(meetings.expected[same].sum()), 1e-12)
    likelihood = _within(gain, groups)
    groups = np.unique(groups, return_inverse=True)[1].astype(np.intp)
    told = len(groups) * np.log(num_groups)
    return Partition(groups, float(rate), likelihood, float(told - likelihood))


def _within(gain: Array, groups: Labels) -> float:
    return float(gain[groups[:, None] == groups[None]].sum() / 2)


def _gains(meetings: Cooccurrences) -> Array:
    """Return ``(W, W)`` nats gained by putting two words into one attribute."""
    o, e = COUNT_WEIGHT * meetings.observed, COUNT_WEIGHT * meetings.expected
    gains = np.stack([o * np.log(rate) + e * (1 - rate) for rate in _RATES])
    top = gains.max(axis=0)
    gain = top + np.log(np.exp(gains - top).mean(axis=0))
    np.fill_diagonal(gain, 0.0)
    return np.asarray(gain)


def _merged(gain: Array, num_groups: int) -> Labels:
    """Merge the two groups that gain most, until enough are merged."""
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
    """Move single words to where they gain most, until none does; no group is left empty."""
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
