"""Ranking by models instead of samples: the asymptotic likelihood, and document generation."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from wordsight.inference.mixtures.gaussian import Mixtures
from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.visual.packing import Array, PackedMixtures
from wordsight.retrieval.visual.scoring import log_likelihoods, smoothed_gains

__all__ = ["ala_scores", "document_generation"]

_AT_ONCE = 4096  # documents whose factors are in memory in double precision together


def ala_scores(query: Mixtures, packed: PackedMixtures) -> Array:
    r"""Approximate how likely documents find what a query's model would generate.

    The asymptotic likelihood approximation (Vasconcelos) gives every component of the query to the
    one nearest component of the document:

    $$\sum_c\pi^Q_c\Big[\log\pi_\beta+\log\mathcal N(\mu^Q_c;\mu_\beta,\Sigma_\beta)
    -\tfrac12\operatorname{tr}(\Sigma_\beta^{-1}\Sigma^Q_c)\Big]$$

    with $\beta$ the component whose mean is nearest in Mahalanobis distance. $C^2$ densities per
    document instead of one per sample and component: exact for well separated components.

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
    # What a component would score on average is linear in its first two moments, as a sample's
    # density is in the sample and its squares.
    at_mean = np.concatenate([means, means**2], axis=1)
    on_average = np.concatenate([means, means**2 + variances], axis=1)
    scores = np.empty(len(packed))
    for first in range(0, len(packed), _AT_ONCE):
        some = packed[first : first + _AT_ONCE]
        factors = some.factors.astype(np.float64)
        linear, square = np.split(factors, 2, axis=2)
        # The squared distance, less what only the query's component decides, halved, negated.
        nearness = factors @ at_mean.T + (linear**2 / (4.0 * square)).sum(axis=2)[:, :, None]
        nearness[some.log_weights() < np.log(1e-12)] = -np.inf
        nearest = np.argmax(nearness, axis=1)
        expected = factors @ on_average.T + some.constants[:, :, None]
        chosen = np.take_along_axis(expected, nearest[:, None], axis=1)[:, 0]
        scores[first : first + len(some)] = chosen @ weights
    return scores


def document_generation(
    query: PackedMixtures,
    documents: Sequence[ArrayLike],
    backgrounds: Sequence[Array] | None,
    kappa: float,
) -> Array:
    """Rank documents by how likely the query's model generates their samples.

    Args:
        query: One mixture, fitted to the query.
        documents: Per document its samples ``(N, n)``, on the query's scale.
        backgrounds: Per document the log density ``(N,)`` of its samples in the collection: what is
            divided by, without which smooth documents that look like everything win; ``None`` for
            the plain likelihood.
        kappa: Weight of the query's model.

    Returns:
        ``(D,)`` mean log ratio (or log likelihood) per sample.
    """
    if backgrounds is None:
        return np.array([log_likelihoods(query, each)[0] for each in documents])
    # log[(k p + (1-k) b) / b] is the gain over the background and a constant.
    gains = [
        smoothed_gains(query, samples, background, kappa)[0]
        for samples, background in zip(documents, backgrounds, strict=True)
    ]
    scores: Array = np.array(gains) + np.log1p(-kappa)
    return scores
