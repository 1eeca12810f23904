"""How words relate: words over words ("warm" over red and yellow), and words of two attributes.

Both are found from spelled words alone: a cluster of recordings in which two words are mixed looks
like either.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.discriminant import (
    Discriminant,
    calibrated_discriminant,
    choose_discriminant,
    picture_folds,
)
from wordsight.attributes.grouping.exclusivity import Cooccurrences, grouping_gains

__all__ = ["find_covers", "find_senses"]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

_EXCLUSIVE = 1.0  # nats from which two words are taken never to co-occur
_EVIDENCE = 3.0  # nats by which a word excludes what the word over it excludes
_APART = 0.4  # of how often a word meets itself: as often two words under one meet at most
_MET = -1.0  # nats below which two words are taken to co-occur
_LEAST_INSIDE = (
    0.12  # co-occurrences within the own attribute relative to chance: above, two senses
)
_MOST_OUTSIDE = 0.9  # the same with the words of the other attribute: below
_LEAST_SENSE = 0.1  # of a word's lessons that must name the other attribute
_FEWEST = 5  # the same, lessons
_FOLDS = 5
_ROUNDS = 4
_LEAST_PROBABILITY = 1e-4


def find_covers(cooccurrences: Cooccurrences, spelled: Labels) -> dict[int, tuple[int, ...]]:
    """Find words over words: which words each covers.

    "Warm" covers red and yellow: it is said of the same things, and whatever it is never said of
    (blue, green, cold), they are never said of either; and they exclude each other, so that neither
    is the same word. Words of another attribute ("seven") are said of blue things too.

    Args:
        cooccurrences: Of all words.
        spelled: Words that may cover others.
    """
    gain = grouping_gains(cooccurrences)
    excludes = gain > _EXCLUSIVE
    lift = cooccurrences.lift
    covers: dict[int, tuple[int, ...]] = {}
    for word in spelled.tolist():
        never = np.flatnonzero(excludes[word])
        below = [
            other
            for other in range(len(gain))
            if other != word
            and gain[word, other] < _MET
            and lift[word, other] > 1
            and gain[other, never].sum() > _EVIDENCE
            and (lift[other, never] < lift[word, other]).all()
        ]
        kept = _apart(below, lift)
        if len(kept) > 1 and len(never):
            covers[word] = tuple(kept)
    # A word may not be over one that is over it: the one that covers more stays.
    for word in sorted(covers, key=lambda one: len(covers[one])):
        if any(word in below and set(covers[word]) & {up} for up, below in covers.items()):
            del covers[word]
    plain = {word: tuple(b for b in below if b not in covers) for word, below in covers.items()}
    return {word: below for word, below in plain.items() if len(below) > 1}


def _apart(words: list[int], lift: Array) -> list[int]:
    """Return those of some words that are said of other things than the rest of them."""
    return [
        word
        for word in words
        if len(words) > 1
        and np.mean([lift[word, other] for other in words if other != word])
        < _APART * lift[word, word]
    ]


def find_senses(
    x: Array,
    words: Labels,
    groups: Labels,
    cooccurrences: Cooccurrences,
    spelled: Labels,
    parts: Sequence[Labels],
    *,
    random_state: int = 0,
) -> Labels:
    """Find words that name two attributes ("orange"), and which lessons mean which.

    Such a word excludes words of two attributes, of each only in part. Its lessons are divided by
    which attribute has no other word for the picture, then by discriminants that know both senses.
    Two senses are kept if they predict the words of lessons left out better, by more than two
    standard errors.

    Args:
        x: ``(N, D)`` pictures.
        words: ``(N,)`` words, from 0.
        groups: ``(W,)`` the attribute of each word.
        cooccurrences: Of the words.
        spelled: Words that may have two senses.
        parts: The kinds of features, as columns of ``x``.
        random_state: Seed of the folds.

    Returns:
        ``(N,)`` the attribute of each lesson.
    """
    lessons = groups[words]
    folds = picture_folds(x, _FOLDS, random_state)
    if folds is None or groups.max() < 1:
        return lessons
    candidates = [
        (word, other)
        for word in spelled.tolist()
        for other in _other_attributes(word, groups, cooccurrences)
    ]
    if not candidates:
        return lessons
    columns = [
        choose_discriminant(x[lessons == group], words[lessons == group], parts).columns
        for group in range(int(groups.max()) + 1)
    ]
    seen = [x[:, own] for own in columns]
    now = _likelihoods(seen, words, lessons, folds)
    while candidates:
        tried = [
            _divided(seen, words, lessons, word, int(groups[word]), other, folds)
            for word, other in candidates
        ]
        scores = [
            now - 1.0 if divided is None else _likelihoods(seen, words, divided, folds)
            for divided in tried
        ]
        # The best first: while it is not divided, others seem to have two meanings too.
        best = int(np.argmax([one.mean() for one in scores]))
        gain, divided = scores[best] - now, tried[best]
        if divided is None or gain.mean() <= 2 * gain.std() / np.sqrt(len(gain)):
            break
        lessons, now = divided, scores[best]
        del candidates[best]
    return lessons


def _other_attributes(word: int, groups: Labels, counts: Cooccurrences) -> list[int]:
    """Return the attributes whose words a word excludes in part, while meeting its own."""
    rates = {}
    for group in range(int(groups.max()) + 1):
        members = np.flatnonzero((groups == group) & (np.arange(len(groups)) != word))
        expected = float(counts.expected[word, members].sum())
        rates[group] = float(counts.observed[word, members].sum()) / max(expected, 1e-12)
    own = int(groups[word])
    if rates[own] < _LEAST_INSIDE:
        return []
    return [group for group, rate in rates.items() if group != own and rate < _MOST_OUTSIDE]


def _divided(
    seen: Sequence[Array],
    words: Labels,
    lessons: Labels,
    word: int,
    first: int,
    second: int,
    folds: Labels,
) -> Labels | None:
    """Divide the lessons of a word between two attributes; ``None`` if one gets hardly any."""
    own = np.flatnonzero(words == word)
    away = []
    for group in (first, second):
        x, known = seen[group], (lessons == group) & (words != word)
        model = Discriminant(np.arange(x.shape[1])).fit(x[known], words[known])
        typical = float(np.median(model.distances(x[known])[:, 0]))
        away.append(model.distances(x[own])[:, 0] / max(typical, 1e-12))
    divided = lessons.copy()
    divided[own] = np.where(away[0] >= away[1], first, second)
    for _ in range(_ROUNDS):
        before = divided.copy()
        fits = np.zeros((len(own), 2))
        for fold in range(_FOLDS):
            held = folds[own] == fold
            for column, group in enumerate((first, second)):
                x, known = seen[group], (before == group) & (folds != fold)
                if held.any() and (words[known] == word).any():
                    chances = _chances(x[known], words[known], x[own[held]])
                    fits[held, column] = chances[word] * known.mean()
        divided[own] = np.where(fits[:, 0] >= fits[:, 1], first, second)
        if np.array_equal(divided, before):
            break
    count = int((divided[own] == second).sum())
    fewest = max(_FEWEST, _LEAST_SENSE * len(own))
    return divided if min(count, len(own) - count) >= fewest else None


def _likelihoods(seen: Sequence[Array], words: Labels, lessons: Labels, folds: Labels) -> Array:
    """Return ``(N,)`` the cross-validated log probability of every lesson's word."""
    chances = np.zeros(len(words))
    for fold in range(_FOLDS):
        inside, outside = folds != fold, np.flatnonzero(folds == fold)
        for group, x in enumerate(seen):
            known = inside & (lessons == group)
            share = known.sum() / inside.sum()
            for word, chance in _chances(x[known], words[known], x[outside]).items():
                said = words[outside] == word
                chances[outside[said]] += share * chance[said]
    return np.asarray(np.log(np.maximum(chances, _LEAST_PROBABILITY)))


def _chances(x: Array, words: Labels, new: Array) -> Mapping[int, Array]:
    """Return per word its probability for new pictures, among the words of one attribute."""
    if not len(x):
        return {}
    model = calibrated_discriminant(x, words)
    columns = np.exp(model.log_posterior(new)).T
    return {int(word): column for word, column in zip(model.classes_, columns, strict=True)}
