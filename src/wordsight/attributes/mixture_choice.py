"""How many linear maps there are: by the likelihood of pairs left out, with MDL beside."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.linear_mixture import LinearMixture

__all__ = ["ComponentScore", "choose_num_components", "score_components"]

Array = NDArray[np.float64]

_FOLDS = 4


@dataclass(frozen=True)
class ComponentScore:
    """How well a number of components explains pairs.

    Attributes:
        num_components: The number.
        held_out: Mean log likelihood of pairs that were left out, over folds.
        standard_error: Of that mean's gain over the number before, across pairs.
        description_length: Negative log likelihood of all pairs and the cost of the parameters,
            in nats; the smallest is best by the principle of minimum description length.
    """

    num_components: int
    held_out: float
    standard_error: float
    description_length: float


def score_components(
    mixture: LinearMixture, x: Array, y: Array, *, most: int = 5
) -> list[ComponentScore]:
    """Fit every number of components from 1 to ``most`` and score it.

    Args:
        mixture: How to fit; its number of components is ignored.
        x: ``(N, dx)`` pictures.
        y: ``(N, dy)`` words.
        most: The largest number tried.
    """
    folds = np.random.default_rng(mixture.random_state).permutation(len(x)) % _FOLDS
    scores: list[ComponentScore] = []
    before = np.zeros(len(x))
    for number in range(1, min(most, len(x) // 2) + 1):
        held = np.zeros(len(x))
        for fold in range(_FOLDS):
            inside, outside = folds != fold, folds == fold
            fitted = _like(mixture, number).fit(x[inside], y[inside])
            held[outside] = _log_likelihoods(fitted, x[outside], y[outside])
        whole = _like(mixture, number).fit(x, y)
        gain = held - before
        width = number * (y.shape[1] * (x.shape[1] + 1) + y.shape[1] * (y.shape[1] + 1) / 2)
        length = -whole.score(x, y) * len(x) + 0.5 * (width + number - 1) * np.log(len(x))
        error = float(gain.std() / np.sqrt(len(x)))
        scores.append(ComponentScore(number, float(held.mean()), error, float(length)))
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
    return chosen.num_components


def _like(mixture: LinearMixture, number: int) -> LinearMixture:
    settings = {k: v for k, v in vars(mixture).items() if not k.endswith("_")}
    return LinearMixture(**settings | {"num_components": number})


def _log_likelihoods(mixture: LinearMixture, x: Array, y: Array) -> Array:
    joint = mixture.maps_.log_densities(x, y) + np.log(mixture.maps_.shares)
    top = joint.max(axis=1)
    return np.asarray(top + np.log(np.exp(joint - top[:, None]).sum(axis=1)))
