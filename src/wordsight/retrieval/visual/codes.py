"""Mixtures as codes: the first look at very many documents, without reading their models.

The log density of a diagonal Gaussian is a sum over dimensions. Components are therefore coded two
or three dimensions at a time (product quantisation): their means and variances by the nearest of
256. A query needs its densities under 256 codes for each group of dimensions only, and a component
of a document is then a sum of five numbers that are looked up. A sample is given to the likeliest
component of a document, and counts if that is likelier than the background.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.retrieval.visual.packing import Array, PackedMixtures

__all__ = ["FEWEST_CODED", "code_gains", "code_mixtures"]

FEWEST_CODED = 20_000
"""Documents of a segment below which codes would not save time."""

_CODES = 256
_TRAINING = 8_000  # components the codes are learned from
_ROUNDS = 8
_BLOCK = 20_000
_GROUPS = 5  # of dimensions that are coded together
_NAT = np.float32(64.0)  # what a nat is in 16-bit sums
_LARGEST = 80.0  # nats that a group of dimensions can count: five of them and a weight fit

Codes = NDArray[np.uint8]


def code_mixtures(packed: PackedMixtures, random_state: int = 0) -> dict[str, NDArray[Any]]:
    """Code the components of documents.

    Args:
        packed: ``D`` mixtures over ``n`` dimensions.
        random_state: Seed of the components that the codes are learned from.

    Returns:
        ``codes (D, C, G)``, a byte per component and group of dimensions; ``code_weights (D, C)``,
        log weights; ``codebook (n, 256, 2)``, mean and log variance of every code by dimension.
    """
    random = np.random.default_rng(random_state)
    count, components, dimensions = len(packed), packed.num_components, packed.num_dimensions
    groups = _groups(dimensions)
    some = packed[np.sort(random.permutation(count)[: -(-_TRAINING // components)])].mixtures()
    points = np.stack([some.means, np.log(some.variances)], axis=-1).reshape(-1, dimensions, 2)
    book = np.zeros((dimensions, _CODES, 2))
    for group in groups:
        centres = _centres(points[:, group].reshape(len(points), -1), random)
        book[group] = centres.reshape(len(centres), len(group), 2).transpose(1, 0, 2)
    codes = np.empty((count, components, len(groups)), np.uint8)
    weights = np.empty((count, components), np.float32)
    for first in range(0, count, _BLOCK):
        block = packed[first : first + _BLOCK]
        mixtures = block.mixtures()
        here = np.stack([mixtures.means, np.log(mixtures.variances)], axis=-1)
        for number, group in enumerate(groups):
            values = here[:, :, group].reshape(-1, 2 * len(group))
            centres = book[group].transpose(1, 0, 2).reshape(_CODES, -1)
            codes[first : first + len(block), :, number] = _nearest(values, centres).reshape(
                len(block), components
            )
        weights[first : first + len(block)] = np.maximum(block.log_weights(), -50.0)
    return {"codes": codes, "code_weights": weights, "codebook": book}


def code_gains(
    codes: Codes,
    log_weights: NDArray[np.float32],
    book: Array,
    values: Array,
    offset: Array,
    shares: Array,
) -> NDArray[np.float32]:
    """Return roughly how much better each document explains samples than the background.

    Args:
        codes: ``(D, C, G)``.
        log_weights: ``(D, C)``.
        book: ``(n, 256, 2)``.
        values: ``(N, n)`` standardised samples; a column of NaN is unknown.
        offset: ``(N,)`` what is added to a log density: the log odds of the document, less the log
            density of the background.
        shares: ``(N,)`` how much each sample counts.
    """
    from wordsight.retrieval.kernels import SAMPLES_AT_ONCE, sum_codes

    gains = np.zeros(len(codes), np.float32)
    for first in range(0, len(values), SAMPLES_AT_ONCE):
        some = slice(first, first + SAMPLES_AT_ONCE)
        counts = np.zeros(SAMPLES_AT_ONCE, np.float32)
        counts[: len(shares[some])] = shares[some] / _NAT
        sum_codes(
            codes, log_weights, _NAT, _tables(book, values[some], offset[some]), counts, gains
        )
    return gains


def _tables(book: Array, values: Array, offset: Array) -> NDArray[np.int16]:
    """Return ``(5, 256, 64)`` log densities of samples under all codes, in 64ths of a nat.

    Whatever is beyond 80 nats is cut off, so that sums fit into 16 bits; places beyond the samples
    are below any background.
    """
    from wordsight.retrieval.kernels import SAMPLES_AT_ONCE

    known = np.logical_not(np.isnan(values).all(axis=0)).tolist()
    variances = np.exp(book[:, :, 1])
    tables = np.full((_GROUPS, _CODES, SAMPLES_AT_ONCE), -_LARGEST)
    tables[:, :, : len(values)] = offset / _GROUPS
    for number, group in enumerate(_groups(len(book))):
        for dimension in group:
            if known[dimension]:
                away = book[dimension, :, 0, None] - values[:, dimension]
                spread = variances[dimension][:, None]
                tables[number, :, : len(values)] -= 0.5 * (
                    np.log(2.0 * np.pi * spread) + away**2 / spread
                )
    rounded: NDArray[np.int16] = np.rint(_NAT * np.clip(tables, -_LARGEST, _LARGEST)).astype(
        np.int16
    )
    return rounded


def _groups(dimensions: int) -> list[list[int]]:
    """Return dimensions that are coded together."""
    return [part.tolist() for part in np.array_split(np.arange(dimensions), _GROUPS)]


def _centres(points: Array, random: np.random.Generator) -> Array:
    """Return 256 centres of points by k-means; repeated where there are fewer points."""
    centres = points[random.integers(len(points), size=_CODES)]
    for _ in range(_ROUNDS):
        owner = _nearest(points, centres)
        counts = np.bincount(owner, minlength=_CODES)
        sums = np.stack(
            [np.bincount(owner, column, minlength=_CODES) for column in points.T], axis=1
        )
        used = counts > 0
        centres[used] = sums[used] / counts[used, None]
    return np.asarray(centres)


def _nearest(points: Array, centres: Array) -> Codes:
    """Return the number of the nearest centre of each point."""
    owners = np.empty(len(points), np.uint8)
    half = 0.5 * (centres**2).sum(axis=1).astype(np.float32)
    columns = centres.T.astype(np.float32)
    for first in range(0, len(points), _BLOCK):
        products = points[first : first + _BLOCK].astype(np.float32) @ columns
        products -= half
        owners[first : first + _BLOCK] = products.argmax(axis=1)
    return owners
