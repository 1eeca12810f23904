r"""A mixture of linear maps by variational Bayes: how many maps, and what each looks at, is found.

A map has weights :math:`w_{dj}\sim N(0,\alpha_d^{-1})` with a relevance :math:`\alpha_d` for every
direction of pictures, noise of precision :math:`\beta`, and mixing weights a sparse prior:
directions that do not help a map and maps that are not needed get no weight (MacKay, 1994;
Attias, 2000).
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from wordsight.attributes.grouping.linear_mixture import LinearMaps, LinearMixture, random_start

__all__ = ["fit_variational"]

Array = NDArray[np.float64]

_SPARSE = 1e-2  # concentration of the mixing weights: components without pairs vanish
_BROAD = 1e-3  # shape and rate of the priors of precisions
_HOTTEST = 30.0
_FEWEST = 2.0  # pairs of a component that is kept


def fit_variational(
    x: Array, y: Array, *, most: int = 8, iterations: int = 150, random_state: int = 0
) -> LinearMixture:
    """Fit a mixture of linear maps whose number of components is found.

    It is cooled over the first two thirds of the steps, as :class:`LinearMixture` is.

    Args:
        x: ``(N, dx)`` pictures.
        y: ``(N, dy)`` words.
        most: Components at the start.
        iterations: Steps.
        random_state: Seed of the start.

    Returns:
        A fitted mixture of the components that are left.
    """
    design = np.hstack([x, np.ones((len(x), 1))])
    start = random_start(len(x), most, np.random.default_rng(random_state))
    shares, relevance = start, np.ones((most, design.shape[1]))
    precision = np.full(most, 1 / max(float(y.var()), 1e-9))
    for step in range(iterations):
        heat = max(_HOTTEST ** (1 - 1.5 * step / iterations), 1.0)
        counts = shares.sum(axis=0)
        fits = [_fitted(design, y, shares[:, k], relevance[k], precision[k]) for k in range(most)]
        maps, relevance = np.array([fit[0] for fit in fits]), np.array([fit[1] for fit in fits])
        errors = np.array([fit[2] for fit in fits]).T
        shape = _BROAD + y.shape[1] * counts / 2
        rate = _BROAD + (shares * errors).sum(axis=0) / 2
        precision = shape / rate
        weights = digamma(_SPARSE + counts) - digamma(most * _SPARSE + len(x))
        log = weights + y.shape[1] / 2 * (digamma(shape) - np.log(rate)) - precision * errors / 2
        log /= heat
        shares = np.exp(log - log.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
    kept = np.flatnonzero(shares.sum(axis=0) >= _FEWEST)
    mixture = LinearMixture(len(kept), iterations=iterations, random_state=random_state)
    own = shares[:, kept] + 1e-12
    mixture.responsibilities_ = own / own.sum(axis=1, keepdims=True)
    mixture.start_responsibilities_ = start
    noise = np.eye(y.shape[1]) / precision[kept, None, None]
    mixture.maps_ = LinearMaps(mixture.responsibilities_.mean(axis=0), maps[kept], noise)
    return mixture


def _fitted(
    design: Array, y: Array, shares: Array, relevance: Array, precision: float
) -> tuple[Array, Array, Array]:
    """Return one map, the relevance of its directions and the expected squared errors."""
    weighted = design * shares[:, None]
    scatter = precision * (weighted.T @ design) + np.diag(relevance)
    covariance = np.linalg.inv(scatter)
    table = precision * covariance @ (weighted.T @ y)
    width = y.shape[1]
    squares = (table**2).sum(axis=1) + width * np.diag(covariance)
    relevance = (_BROAD + width / 2) / (_BROAD + squares / 2)
    relevance[-1] = _BROAD  # of the constant
    spread = ((design @ covariance) * design).sum(axis=1)
    errors = ((y - design @ table) ** 2).sum(axis=1) + width * spread
    return table, relevance, errors
