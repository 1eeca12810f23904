"""Which noun goes with which thing, read in both directions from a finished alignment.

A noun's best thing may be one that every noun shares, a thing's best noun one said only once. What
a noun explains and what a thing explains err differently, so a link must be likely both ways.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.encoding import Encoded

__all__ = ["two_way_links"]

Array = NDArray[np.float64]
_Sides = list[tuple[Array, Array]]

_NULL = 0.1  # probability that something has no partner, the middle of the range of models
_SMOOTHING = 0.3  # pseudo-counts of each noun or thing, likewise
_ITERATIONS = 30
_UNSEEN = 0.1  # pseudo-counts in the background


def two_way_links(pairs: Sequence[Encoded], posteriors: Sequence[Array]) -> Array:
    """Return ``(X, V)`` how strongly each noun and each thing are linked, 0 to 1.

    The geometric mean of the probability of the thing given the noun and of the noun given the
    thing, each by IBM model 1 with a word for what has no partner.

    Args:
        pairs: Texts with videos.
        posteriors: ``(T, N)`` of each, how likely chunks belong to lines.
    """
    lines, chunks = [], []
    for pair, posterior in zip(pairs, posteriors, strict=True):
        words, tokens = pair.things.words, pair.things.tokens
        lines.append((words, posterior.T @ tokens))
        chunks.append((tokens, posterior @ words))
    things = _explained(lines)
    nouns = _explained(chunks)
    return np.asarray(np.sqrt(things * nouns.T))


def _explained(sides: _Sides) -> Array:
    """Return ``(A, B)`` probability of each target given each source, by EM.

    Args:
        sides: Of each video ``(M, A)`` which sources are present in a row, and ``(M, B)`` how
            often each target goes with that row.
    """
    sources, targets = sides[0][0].shape[1], sides[0][1].shape[1]
    background = np.sum([found.sum(axis=0) for _, found in sides], axis=0) + _UNSEEN
    background = background / max(background.sum(), _UNSEEN)
    mixes = [(here / np.maximum(here.sum(axis=1, keepdims=True), 1.0), n) for here, n in sides]
    table = np.full((sources, targets), 1.0 / max(targets, 1))
    for _ in range(_ITERATIONS):
        counts = np.full_like(table, _SMOOTHING / max(targets, 1))
        for mix, found in mixes:
            rates = (1.0 - _NULL) * (mix @ table) + _NULL * background
            counts += (1.0 - _NULL) * table * (mix.T @ (found / rates))
        table = counts / counts.sum(axis=1, keepdims=True)
    return table
