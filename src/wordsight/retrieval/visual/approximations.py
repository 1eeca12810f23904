"""Approximate scoring: asymptotic likelihood, document generation, and a first stage by samples.

A few dozen evenly spaced samples of a picture rank documents nearly as all of them do; the best
candidates are then scored in full. Comparing models instead of samples (the asymptotic
approximation) costs about as much and finds fewer of the right documents.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.inference.mixtures.gaussian import Mixtures
from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.visual.packing import Array, PackedMixtures
from wordsight.retrieval.visual.scoring import (
    log_likelihoods,
    observed_dimensions,
    smoothed_gains,
)

__all__ = ["ala_scores", "document_generation", "evenly_spread", "rough_gains"]

_ALA_DOCUMENTS = 4096  # documents whose factors are in memory in double precision
_ROUGH_DOCUMENTS = 512  # in a block: their factors, 8 components and 32 samples fit the cache


def ala_scores(query: Mixtures, packed: PackedMixtures) -> Array:
    r"""Approximate the likelihood of samples of a query's model under documents.

    The asymptotic likelihood approximation (Vasconcelos) assigns every component of the query to
    the nearest component of the document:

    $$\sum_c\pi^Q_c\Big[\log\pi_\beta+\log\mathcal N(\mu^Q_c;\mu_\beta,\Sigma_\beta)
    -\tfrac12\operatorname{tr}(\Sigma_\beta^{-1}\Sigma^Q_c)\Big]$$

    with $\beta$ the component whose mean is nearest in Mahalanobis distance. It needs $C^2$
    densities per document instead of one per sample and component, and is exact for well separated
    components.

    Args:
        query: One mixture, on the scale of the documents.
        packed: ``D`` documents.

    Returns:
        ``(D,)`` scores.
    """
    if len(query) != 1 or query.num_dimensions != packed.num_dimensions:
        raise RetrievalError(
            f"one query model over {packed.num_dimensions} dimensions is needed, got {len(query)} "
            f"over {query.num_dimensions}."
        )
    weights, means, variances = query.weights[0], query.means[0], query.variances[0]
    # The expected log density of a component is linear in the query component's first two moments,
    # as a sample's log density is in the sample and its squares.
    at_mean = np.concatenate([means, means**2], axis=1)
    on_average = np.concatenate([means, means**2 + variances], axis=1)
    scores = np.empty(len(packed))
    for first in range(0, len(packed), _ALA_DOCUMENTS):
        block = packed[first : first + _ALA_DOCUMENTS]
        factors = block.factors.astype(np.float64)
        linear, square = np.split(factors, 2, axis=2)
        # The negative half squared distance, up to a constant of the query's component.
        nearness = factors @ at_mean.T + (linear**2 / (4.0 * square)).sum(axis=2)[:, :, None]
        nearness[block.log_weights() < np.log(1e-12)] = -np.inf
        nearest = np.argmax(nearness, axis=1)
        expected = factors @ on_average.T + block.constants[:, :, None]
        chosen = np.take_along_axis(expected, nearest[:, None], axis=1)[:, 0]
        scores[first : first + len(block)] = chosen @ weights
    return scores


def document_generation(
    query: PackedMixtures,
    documents: Sequence[ArrayLike],
    backgrounds: Sequence[Array] | None,
    kappa: float,
) -> Array:
    """Rank documents by the likelihood of their samples under the query's model.

    Args:
        query: One mixture, fitted to the query.
        documents: Per document its samples ``(N, n)``, on the query's scale.
        backgrounds: Per document the log density ``(N,)`` of its samples in the collection, by
            which is divided: otherwise smooth documents that resemble everything win. ``None`` for
            the plain likelihood.
        kappa: Weight of the query's model.

    Returns:
        ``(D,)`` mean log ratio (or log likelihood) per sample.
    """
    if backgrounds is None:
        return np.array([log_likelihoods(query, each)[0] for each in documents])
    # log[(k p + (1-k) b) / b] is the gain over the background plus a constant.
    gains = [
        smoothed_gains(query, samples, background, kappa)[0]
        for samples, background in zip(documents, backgrounds, strict=True)
    ]
    scores: Array = np.array(gains) + np.log1p(-kappa)
    return scores


def evenly_spread(number: int, count: int) -> NDArray[np.int64]:
    """Return ``min(number, count)`` of ``number`` rows at even steps.

    Blocks of a picture come row by row, so that even steps cover all of it.
    """
    if number <= count:
        return np.arange(number)
    steps = (np.arange(count) + 0.5) * number / count
    return steps.astype(np.int64)


def rough_gains(
    packed: PackedMixtures, samples: Array, log_background: Array, kappa: float
) -> NDArray[np.float32]:
    """Return :func:`~wordsight.retrieval.visual.scoring.smoothed_gains` of few samples, roughly.

    Args:
        packed: ``D`` mixtures.
        samples: ``(N, n)``; a column of NaN is unknown.
        log_background: ``(N,)`` their log density under the background.
        kappa: Weight of the document.

    Returns:
        ``(D,)`` in single precision, that of the factors: without conversion, in half the time.
    """
    values, known = observed_dimensions(samples)
    columns = np.concatenate([values.T, values.T**2]).astype(np.float32)
    offset = (np.log(kappa) - np.log1p(-kappa) - log_background).astype(np.float32)
    gains = np.empty(len(packed), dtype=np.float32)
    for first in range(0, len(packed), _ROUGH_DOCUMENTS):
        block = packed[first : first + _ROUGH_DOCUMENTS].observing(known)
        rows = block.factors.reshape(-1, block.factors.shape[2])
        logs = (rows @ columns).reshape(*block.constants.shape, -1)
        logs += block.constants.astype(np.float32)[:, :, None]
        logs += offset
        # Single precision overflows beyond exp(88); so large a gain is beyond doubt anyway.
        np.minimum(logs, 80.0, out=logs)
        np.exp(logs, out=logs)
        total = logs.sum(axis=1)
        np.log1p(total, out=total)
        gains[first : first + len(block)] = total.mean(axis=1)
    return gains
