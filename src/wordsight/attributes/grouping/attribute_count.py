"""How many attributes there are: by the likelihood of lessons left out, with MDL beside."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.grouping.exclusivity import Cooccurrences, partition_words, picture_folds
from wordsight.attributes.recall.discriminant import Discriminant, calibrated_discriminant

__all__ = ["CountScore", "choose_count", "score_counts", "without_strays"]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

_FOLDS = 5
_LEAST_PROBABILITY = 1e-4  # of a word that the other lessons never taught


@dataclass(frozen=True)
class CountScore:
    """How well a number of attributes explains lessons.

    Attributes:
        num_attributes: The number.
        held_out: Mean log probability, in nats, of the words of lessons that were left out, given
            their pictures; NaN where there are too few pictures to leave some out.
        standard_error: Of what it lacks to the best number, across lessons.
        description_length: Nats to tell which words meet, and the attribute of each word.
    """

    num_attributes: int
    held_out: float
    standard_error: float
    description_length: float

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can hold of it: null for what is not known."""
        return {key: None if value != value else value for key, value in asdict(self).items()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "CountScore":
        """Undo :meth:`to_json`."""
        known: dict[str, Any] = {k: np.nan if v is None else v for k, v in values.items()}
        return cls(**known)


def score_counts(
    x: Array,
    words: Labels,
    meetings: Cooccurrences,
    meet: Callable[[Labels, Array], Cooccurrences],
    *,
    most: int = 8,
    random_state: int = 0,
) -> list[CountScore]:
    r"""Score every number of attributes from 1 to ``most``.

    A picture has one word in each attribute, and one attribute is spoken of:
    :math:`p(w|x)=\sum_k p(k)\,p(w|x,k)`. Words are divided into k attributes, and discriminants
    learned, on some of the lessons; what the others say is predicted, in turn. With too few
    attributes, words of two compete for pictures that both fit; with too many, a picture is given
    words that do not fit at all.

    Args:
        x: ``(N, D)`` pictures.
        words: ``(N,)`` words, from 0 on without gaps.
        meetings: Of the words in all lessons.
        meet: Counts meetings in any of the lessons.
        most: The largest number tried.
        random_state: Seed of the folds.
    """
    numbers = range(1, min(most, int(words.max()) + 1) + 1)
    lengths = [partition_words(meetings, n).description_length for n in numbers]
    held = _held_out(x, words, meet, numbers, random_state)
    if held is None:
        return [
            CountScore(n, np.nan, np.nan, length)
            for n, length in zip(numbers, lengths, strict=True)
        ]
    lost = held[held.mean(axis=1).argmax()] - held
    errors = lost.std(axis=1) / np.sqrt(len(x))
    rows = zip(numbers, held.mean(axis=1), errors, lengths, strict=True)
    return [CountScore(n, float(mean), float(error), length) for n, mean, error, length in rows]


def choose_count(scores: Sequence[CountScore]) -> int:
    """Return the smallest number whose held-out likelihood is within a standard error of the best.

    Where nothing could be left out, that of the smallest description length.
    """
    if np.isnan(scores[0].held_out):
        return min(scores, key=lambda one: one.description_length).num_attributes
    best = max(one.held_out for one in scores)
    return next(one.num_attributes for one in scores if best - one.held_out <= one.standard_error)


def without_strays(
    scores: Sequence[CountScore], meetings: Cooccurrences, sure: Labels
) -> Sequence[CountScore]:
    """Leave out numbers under which a word that was only heard is an attribute by itself.

    A handful of recordings that fell apart from their word meets it as it meets all others, and
    would found an attribute in which there is nothing to choose.

    Args:
        scores: Of all numbers.
        meetings: Of the words.
        sure: Words that are known to be words.

    Returns:
        The numbers that are left; all where only 1 would be.
    """

    def has_stray(number: int) -> bool:
        groups = partition_words(meetings, number).groups
        alone = np.flatnonzero(np.bincount(groups)[groups] == 1)
        return bool(np.setdiff1d(alone, sure).size)

    kept = [one for one in scores if one.num_attributes == 1 or not has_stray(one.num_attributes)]
    return kept if len(kept) > 1 else scores


def _held_out(
    x: Array,
    words: Labels,
    meet: Callable[[Labels, Array], Cooccurrences],
    numbers: range,
    random_state: int,
) -> Array | None:
    """Return ``(numbers, N)`` the log probability of every lesson's word without that lesson."""
    folds = picture_folds(x, _FOLDS, random_state)
    if folds is None:
        return None
    held = np.full((len(numbers), len(x)), np.log(_LEAST_PROBABILITY))
    for fold in range(_FOLDS):
        inside, outside = folds != fold, folds == fold
        heard, taught = np.unique(words[inside], return_inverse=True)
        meetings = meet(taught.astype(np.intp), x[inside])
        known: dict[tuple[int, ...], Discriminant] = {}
        for row, number in zip(held, numbers, strict=True):
            if number > len(heard):
                row[outside] = held[number - 2, outside]
                continue
            groups = partition_words(meetings, number).groups
            chances = _word_chances(x[inside], taught, groups, x[outside], known, random_state)
            place = np.searchsorted(heard, words[outside]).clip(max=len(heard) - 1)
            right = np.where(
                heard[place] == words[outside], chances[np.arange(len(place)), place], 0
            )
            row[outside] = np.log(np.maximum(right, _LEAST_PROBABILITY))
    return held


def _word_chances(
    x: Array,
    words: Labels,
    groups: Labels,
    asked: Array,
    known: dict[tuple[int, ...], Discriminant],
    random_state: int,
) -> Array:
    """Return ``(M, W)`` how likely each word is said of the pictures that are asked for."""
    chances = np.zeros((len(asked), len(groups)))
    for group in range(int(groups.max()) + 1):
        members = tuple(np.flatnonzero(groups == group).tolist())
        own = np.isin(words, members)
        if members not in known:  # numbers of attributes share most of theirs
            known[members] = calibrated_discriminant(x[own], words[own], random_state=random_state)
        model = known[members]
        chances[:, model.classes_] = own.mean() * np.exp(model.log_posterior(asked))
    return chances
