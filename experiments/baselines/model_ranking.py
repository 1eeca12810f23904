"""Ranking pictures by models instead of samples: three baselines for query by picture."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from wordsight.errors import RetrievalError
from wordsight.inference.mixtures.gaussian import Mixtures
from wordsight.retrieval.visual.packing import Array, PackedMixtures
from wordsight.retrieval.visual.scoring import log_likelihoods, smoothed_gains

__all__ = ["ala_scores", "document_generation", "kl_scores"]

_BLOCK = 4096  # documents whose factors are in memory in double precision


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
    for first in range(0, len(packed), _BLOCK):
        block = packed[first : first + _BLOCK]
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


def kl_scores(query: Mixtures, packed: PackedMixtures) -> Array:
    r"""Rank documents by the divergence of the query's model from theirs.

    The variational approximation (Hershey and Olsen, 2007), without the part that is the same for
    all documents: $\sum_a\pi_a\log\sum_b\omega_be^{-KL(f_a\|g_b)}$.

    Args:
        query: One mixture, on the scale of the documents.
        packed: ``D`` documents.

    Returns:
        ``(D,)`` scores, higher for smaller divergences.
    """
    weights, means, variances = query.weights[0], query.means[0], query.variances[0]
    moments = np.concatenate([means, means**2 + variances], axis=1)
    entropies = -0.5 * np.log(2.0 * np.pi * np.e * variances).sum(axis=1)
    scores = np.empty(len(packed))
    for first in range(0, len(packed), _BLOCK):
        block = packed[first : first + _BLOCK]
        # The expected log of weight times density, from which the query's own entropy is taken.
        logs = block.factors.astype(np.float64) @ moments.T + block.constants[:, :, None]
        near = np.logaddexp.reduce(logs - entropies, axis=1)
        scores[first : first + len(block)] = near @ weights
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
