"""The number of attributes, by cross-validated likelihood; the description length for comparison.

Both methods of grouping are covered: words divided into attributes, and a mixture of linear maps.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.discriminant import Discriminant, calibrated_discriminant, picture_folds
from wordsight.attributes.grouping.exclusivity import Cooccurrences, partition_words
from wordsight.attributes.grouping.linear_mixture import LinearMixture

__all__ = [
    "CountScore",
    "choose_count",
    "choose_num_components",
    "score_components",
    "score_counts",
    "without_strays",
]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

_FOLDS = 5
_MIXTURE_FOLDS = 4
_ONE_WORD = 0.6  # share of co-occurrences with one word, for recordings that are part of it
_LEAST_PROBABILITY = 1e-4  # of a word that does not occur in the other lessons


@dataclass(frozen=True)
class CountScore:
    """The score of a number of attributes.

    Attributes:
        num_attributes: The number.
        held_out: Mean log likelihood, in nats, of held-out lessons; NaN if there are too few
            pictures for folds.
        standard_error: Of its difference to the best number (or, for a mixture, to the number
            before), across lessons.
        description_length: Negative log likelihood and the cost of the parameters, in nats.
        aic: Akaike's criterion of the words given the pictures; the smallest is best.
        bic: The Bayesian (Schwarz's) criterion of the same.
    """

    num_attributes: int
    held_out: float
    standard_error: float
    description_length: float
    aic: float = np.nan
    bic: float = np.nan

    @classmethod
    def with_criteria(
        cls,
        num_attributes: int,
        held_out: float,
        standard_error: float,
        description_length: float | None,
        *,
        likelihood: float,
        num_parameters: float,
        num_lessons: int,
    ) -> "CountScore":
        """Create a score whose criteria follow from the log likelihood of all lessons."""
        bic = num_parameters * np.log(num_lessons) - 2 * likelihood
        length = bic / 2 if description_length is None else description_length
        aic = 2 * num_parameters - 2 * likelihood
        scores = (held_out, standard_error, length, aic, bic)
        return cls(num_attributes, *(float(one) for one in scores))

    def to_json(self) -> dict[str, Any]:
        """Return the score as JSON values; null for NaN."""
        return {key: None if value != value else value for key, value in asdict(self).items()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "CountScore":
        """Create a score from the result of :meth:`to_json`."""
        known: dict[str, Any] = {k: np.nan if v is None else v for k, v in values.items()}
        return cls(**known)


def score_counts(
    x: Array,
    words: Labels,
    cooccurrences: Cooccurrences,
    count: Callable[[Labels, Array], Cooccurrences],
    *,
    most: int = 8,
    random_state: int = 0,
) -> list[CountScore]:
    r"""Score every number of attributes from 1 to ``most``.

    A picture has one word in each attribute, and one attribute is spoken of:
    :math:`p(w|x)=\sum_k p(k)\,p(w|x,k)`. Words are divided into k attributes, and discriminants
    learned, on the other folds; the words of the held-out lessons are predicted. With too few
    attributes, words of two compete for pictures that both fit; with too many, a picture is given
    words that do not fit.

    Args:
        x: ``(N, D)`` pictures.
        words: ``(N,)`` words, from 0 without gaps.
        cooccurrences: Of the words in all lessons.
        count: Counts co-occurrences in some of the lessons.
        most: The largest number tried.
        random_state: Seed of the folds.
    """
    numbers = range(1, min(most, int(words.max()) + 1) + 1)
    lengths = [partition_words(cooccurrences, n).description_length for n in numbers]
    held = _held_out(x, words, count, numbers, random_state)
    if held is None:
        held = np.full((len(numbers), len(x)), np.nan)
    loss = held[held.mean(axis=1).argmax()] - held
    errors = loss.std(axis=1) / np.sqrt(len(x))
    known: dict[tuple[int, ...], Discriminant] = {}
    scores = []
    for row, number in enumerate(numbers):
        groups = partition_words(cooccurrences, number).groups
        chances = _word_chances(x, words, groups, x, known, random_state)
        said = np.maximum(chances[np.arange(len(x)), words], _LEAST_PROBABILITY)
        # A discriminant of W words is a logit that is linear in the picture.
        width = (len(groups) - number) * (x.shape[1] + 1) + number - 1
        scores.append(
            CountScore.with_criteria(
                number,
                float(held[row].mean()),
                float(errors[row]),
                lengths[row],
                likelihood=float(np.log(said).sum()),
                num_parameters=width,
                num_lessons=len(x),
            )
        )
    return scores


def choose_count(scores: Sequence[CountScore]) -> int:
    """Return the smallest number whose held-out likelihood is within a standard error of the best.

    Without held-out likelihoods, the one with the smallest description length.
    """
    if np.isnan(scores[0].held_out):
        return min(scores, key=lambda one: one.description_length).num_attributes
    best = max(one.held_out for one in scores)
    return next(one.num_attributes for one in scores if best - one.held_out <= one.standard_error)


def without_strays(
    scores: Sequence[CountScore], cooccurrences: Cooccurrences, spelled: Labels
) -> Sequence[CountScore]:
    """Omit numbers for which words that were only recorded are strays, in their own attribute.

    A few recordings that were separated from their word co-occur with it as with all others, and
    would form an attribute of a single word; or of several, each of which is said of things that
    one word of another attribute names, as no word of an attribute is.

    Args:
        scores: Of all numbers.
        cooccurrences: Of the words.
        spelled: Words with a spelling.

    Returns:
        The remaining scores; all if only that of 1 would remain.
    """

    def has_stray(number: int) -> bool:
        groups = partition_words(cooccurrences, number).groups
        strays = np.setdiff1d(np.arange(len(groups)), spelled)
        return any(
            own.size == 1 or _named_elsewhere(own, groups, cooccurrences)
            for own in (np.flatnonzero(groups == k) for k in range(number))
            if np.isin(own, strays).all()
        )

    kept = [one for one in scores if one.num_attributes == 1 or not has_stray(one.num_attributes)]
    return kept if len(kept) > 1 else scores


def _named_elsewhere(words: Labels, groups: Labels, cooccurrences: Cooccurrences) -> bool:
    """Tell whether each word of a group co-occurs mostly with one word of another group."""
    for other in np.setdiff1d(groups, groups[words]).tolist():
        members = np.flatnonzero(groups == other)
        met = cooccurrences.lift[np.ix_(words, members)]
        if len(members) > 2 and (met.max(axis=1) > _ONE_WORD * met.sum(axis=1)).all():
            return True
    return False


def _held_out(
    x: Array,
    words: Labels,
    count: Callable[[Labels, Array], Cooccurrences],
    numbers: range,
    random_state: int,
) -> Array | None:
    """Return ``(numbers, N)`` the cross-validated log probability of every lesson's word."""
    folds = picture_folds(x, _FOLDS, random_state)
    if folds is None:
        return None
    held = np.full((len(numbers), len(x)), np.log(_LEAST_PROBABILITY))
    for fold in range(_FOLDS):
        inside, outside = folds != fold, folds == fold
        present, taught = np.unique(words[inside], return_inverse=True)
        cooccurrences = count(taught.astype(np.intp), x[inside])
        known: dict[tuple[int, ...], Discriminant] = {}
        for row, number in zip(held, numbers, strict=True):
            if number > len(present):
                row[outside] = held[number - 2, outside]
                continue
            groups = partition_words(cooccurrences, number).groups
            chances = _word_chances(x[inside], taught, groups, x[outside], known, random_state)
            place = np.searchsorted(present, words[outside]).clip(max=len(present) - 1)
            true = np.where(
                present[place] == words[outside], chances[np.arange(len(place)), place], 0
            )
            row[outside] = np.log(np.maximum(true, _LEAST_PROBABILITY))
    return held


def _word_chances(
    x: Array,
    words: Labels,
    groups: Labels,
    new: Array,
    known: dict[tuple[int, ...], Discriminant],
    random_state: int,
) -> Array:
    """Return ``(M, W)`` the probability of each word for new pictures."""
    chances = np.zeros((len(new), len(groups)))
    for group in range(int(groups.max()) + 1):
        members = tuple(np.flatnonzero(groups == group).tolist())
        own = np.isin(words, members)
        if members not in known:  # different numbers share most of their attributes
            known[members] = calibrated_discriminant(x[own], words[own], random_state=random_state)
        model = known[members]
        chances[:, model.classes_] = own.mean() * np.exp(model.log_posterior(new))
    return chances


def score_components(
    mixture: LinearMixture, x: Array, y: Array, *, most: int = 5
) -> list[CountScore]:
    """Fit every number of linear maps from 1 to ``most`` and score it.

    Args:
        mixture: The settings; its number of components is ignored.
        x: ``(N, dx)`` pictures.
        y: ``(N, dy)`` words.
        most: The largest number tried.
    """
    folds = np.random.default_rng(mixture.random_state).permutation(len(x)) % _MIXTURE_FOLDS
    scores: list[CountScore] = []
    before = np.zeros(len(x))
    for number in range(1, min(most, len(x) // 2) + 1):
        model = replace(mixture, num_components=number)
        held = np.zeros(len(x))
        for fold in range(_MIXTURE_FOLDS):
            inside, outside = folds != fold, folds == fold
            maps = model.fit(x[inside], y[inside]).maps_
            held[outside] = maps.log_likelihoods(x[outside], y[outside])
        width = number * (y.shape[1] * (x.shape[1] + 1) + y.shape[1] * (y.shape[1] + 1) / 2)
        scores.append(
            CountScore.with_criteria(
                number,
                float(held.mean()),
                float((held - before).std() / np.sqrt(len(x))),
                None,
                likelihood=model.fit(x, y).score(x, y) * len(x),
                num_parameters=width + number - 1,
                num_lessons=len(x),
            )
        )
        before = held
    return scores


def choose_num_components(mixture: LinearMixture, x: Array, y: Array, *, most: int = 5) -> int:
    """Return the number after which held-out likelihood gains less than two standard errors."""
    scores = score_components(mixture, x, y, most=most)
    chosen = scores[0]
    for score in scores[1:]:
        if score.held_out - chosen.held_out < 2 * score.standard_error:
            break
        chosen = score
    return chosen.num_attributes
