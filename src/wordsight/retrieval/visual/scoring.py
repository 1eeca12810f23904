"""How likely samples are under many mixtures: matrix products in blocks that stay in the cache.

Two forms of the smoothed score rank alike: the sum of log[k p(v|doc) + (1-k) p(v)], and the sum of
log[1 + k p(v|doc) / ((1-k) p(v))], which differs from it by what no document changes. The second is
computed: the background becomes one more column of the product, and no exponent needs a search for
the largest one.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.visual.packing import NEVER, Array, PackedMixtures

__all__ = [
    "BLOCK_DOCUMENTS",
    "BLOCK_SAMPLES",
    "LARGEST_RATIO",
    "REFERENCE_SIZE",
    "CollectionBackground",
    "Precision",
    "log_densities",
    "log_likelihoods",
    "log_mean_density",
    "observed_dimensions",
    "reference_rows",
    "sampling_keys",
    "smoothed_gains",
]

Float = type[np.float64] | type[np.float32]


LARGEST_RATIO = 80.0
"""Natural log of the largest likelihood ratio that counts, so that nothing overflows."""

_RATIOS_AT_ONCE: dict[Any, int] = {np.float64: 8, np.float32: 1}
"""So many of the largest ratio still multiply to a finite number: one logarithm does for all."""

Precision = Literal["double", "single"]
_TYPES: dict[str, Float] = {
    "double": np.float64,
    "single": np.float32,
}

BLOCK_DOCUMENTS: dict[Any, int] = {np.float64: 16, np.float32: 64}
BLOCK_SAMPLES = 256
"""Documents and samples of a block: what was fastest; 8 components of them fit a cache."""


def observed_dimensions(samples: ArrayLike) -> tuple[Array, NDArray[np.bool_]]:
    """Split samples into the dimensions that are known and which those are.

    Args:
        samples: ``(N, n)``; a column of NaN is a dimension nothing is known of.

    Returns:
        ``(N, k)`` the known columns, and ``(n,)`` which they are.
    """
    values = np.asarray(samples, dtype=np.float64)
    if values.ndim != 2 or not len(values):
        raise RetrievalError(f"samples must have shape (N, n) with N > 0, got {values.shape}.")
    known: NDArray[np.bool_] = np.logical_not(np.isnan(values).all(axis=0))
    values = values[:, known]
    if not known.any() or not np.isfinite(values).all():
        raise RetrievalError(
            "samples must be finite, except for whole columns of NaN that mean 'unknown'."
        )
    return values, known


def smoothed_gains(
    packed: PackedMixtures,
    samples: ArrayLike,
    log_background: Array,
    kappa: float,
    precision: Precision = "double",
) -> Array:
    """Return how much better each document explains the samples than the background does.

    Args:
        packed: ``D`` mixtures.
        samples: ``(N, n)`` samples; a column of NaN is unknown.
        log_background: ``(N,)`` log density of the samples under the background.
        kappa: Weight of the document, between 0 and 1.
        precision: ``"single"`` takes half the time; means are right to about 1e-5.

    Returns:
        ``(D,)`` mean over the samples of log[1 + k p(v|doc) / ((1-k) p(v))], never below 0.
    """
    dtype = _TYPES[precision]
    values, known = observed_dimensions(samples)
    offset = np.log(kappa) - np.log1p(-kappa) - log_background
    columns = _columns(values, offset, dtype)
    gains = np.zeros(len(packed))
    blocks = _Exponents(packed.num_components, dtype)
    addends = np.ones(columns[0].shape[1], dtype)  # a product adds faster than a sum does
    for first, rows in _row_blocks(packed, known, dtype):
        count = rows.shape[1]
        flat = rows.reshape(-1, rows.shape[2])
        table, out, total, product = blocks.of(count, columns[0].shape[1])
        for number, column in enumerate(columns, start=1):
            np.matmul(flat, column, out=out)
            np.exp(out, out=out)
            np.dot(blocks.ones, table, out=total)  # one product adds the components and the 1
            product *= total
            if number % _RATIOS_AT_ONCE[dtype] == 0 or number == len(columns):
                np.log(product, out=product)
                gains[first : first + count] += product.reshape(count, -1) @ addends
                product[:] = 1.0
    return gains / len(values)


class _Exponents:
    """Memory for blocks of exponentials, one row per component and a last one that stays 1."""

    def __init__(self, components: int, dtype: Float) -> None:
        self.dtype = dtype
        self.ones = np.ones(components + 1, dtype)
        self._tables: dict[tuple[int, int], tuple[NDArray[Any], ...]] = {}

    def of(self, documents: int, samples: int) -> tuple[NDArray[Any], ...]:
        """Return a table, the ``(C * documents, samples)`` of it to fill, sums, and products."""
        size = documents * samples
        if (documents, samples) not in self._tables:
            table = np.ones((len(self.ones), size), self.dtype)
            sums, products = np.ones(size, self.dtype), np.ones(size, self.dtype)
            self._tables[documents, samples] = (
                table,
                table[:-1].reshape(-1, samples),
                sums,
                products,
            )
        return self._tables[documents, samples]


def log_likelihoods(packed: PackedMixtures, samples: ArrayLike) -> Array:
    """Return ``(D,)`` mean over ``(N, n)`` samples of log p(v|doc), without any background."""
    values, known = observed_dimensions(samples)
    scores = np.zeros(len(packed))
    for documents, _, logs in _log_density_blocks(packed, values, known):
        scores[documents] += logs.sum(axis=1)
    return scores / len(values)


def log_mean_density(packed: PackedMixtures, samples: ArrayLike) -> Array:
    """Return ``(N,)`` log of the mean density of each sample over all documents."""
    values, known = observed_dimensions(samples)
    total = np.full(len(values), -np.inf)
    for _, some, logs in _log_density_blocks(packed, values, known):
        total[some] = np.logaddexp(total[some], np.logaddexp.reduce(logs, axis=0))
    total -= np.log(max(len(packed), 1))
    return total


def log_densities(packed: PackedMixtures, samples: ArrayLike) -> Array:
    """Return ``(D, N)`` log p(v|doc) of every sample under every document."""
    values, known = observed_dimensions(samples)
    found = np.empty((len(packed), len(values)))
    for documents, some, logs in _log_density_blocks(packed, values, known):
        found[documents, some] = logs
    return found


def _log_density_blocks(
    packed: PackedMixtures, values: Array, known: NDArray[np.bool_]
) -> Iterator[tuple[slice, slice, Array]]:
    """Yield which documents, which samples, and their ``(documents, samples)`` log densities."""
    columns = _columns(values, np.zeros(len(values)), np.float64)
    for first, rows in _row_blocks(packed, known, np.float64):
        components, count, width = rows.shape
        for number, column in enumerate(columns):
            start = number * column.shape[1]
            there = min(column.shape[1], len(values) - start)
            logs = np.matmul(rows.reshape(-1, width), column[:, :there])
            logs = logs.reshape(components, count, there)
            top = logs.max(axis=0)
            logs -= top
            np.exp(logs, out=logs)
            found = np.log(logs.sum(axis=0)) + top
            yield slice(first, first + count), slice(start, start + there), found


def _columns(values: Array, offset: Array, dtype: Float) -> list[NDArray[Any]]:
    """Lay samples out as the columns of products: value, square, one, offset."""
    number = -(-len(values) // BLOCK_SAMPLES)
    width = -(-len(values) // number)
    table = np.zeros((2 * values.shape[1] + 2, number * width), dtype)
    table[:-2, : len(values)] = np.concatenate([values.T, values.T**2])
    table[-2] = 1.0
    # Columns beyond the samples fill up the last block; their exponentials vanish.
    table[-1] = NEVER
    table[-1, : len(values)] = offset
    return [np.ascontiguousarray(part) for part in np.split(table, number, axis=1)]


def _row_blocks(
    packed: PackedMixtures, known: NDArray[np.bool_], dtype: Float
) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield ``(C, documents, 2k + 2)`` blocks of factors, reusing the memory of the last one."""
    if packed.num_dimensions != len(known):
        raise RetrievalError(
            f"samples have {len(known)} dimensions, but the models {packed.num_dimensions}; "
            "describe the query with the features the index was built with."
        )
    width = 2 * int(known.sum()) + 2
    most = BLOCK_DOCUMENTS[dtype]
    buffer = np.empty((packed.num_components, most, width), dtype)
    for first in range(0, len(packed), most):
        some = packed[first : first + most].observing(known)
        if len(some) < buffer.shape[1]:
            buffer = np.empty((packed.num_components, len(some), width), dtype)
        buffer[:, :, :-2] = some.factors.transpose(1, 0, 2)
        buffer[:, :, -2] = some.constants.T
        buffer[:, :, -1] = 1.0
        yield first, buffer


# The background: how likely a sample is in the collection at large.
#
# It is the mean density over the models of a reference collection: all documents, or, where there
# are many, a sample of them, drawn by the hash of their ids, so that it depends on which documents
# there are and not on the order in which they came.


REFERENCE_SIZE = 500
"""Documents that stand for the collection: enough that the mean density hardly moves with more."""

_REMEMBERED = 8


def sampling_keys(document_ids: Iterable[str]) -> NDArray[np.uint64]:
    """Return ``(D,)`` the lot each document draws: 64 bits of the hash of its id."""
    digests = [
        hashlib.blake2b(each.encode("utf-8", "replace"), digest_size=8).digest()
        for each in document_ids
    ]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def reference_rows(lots: NDArray[np.uint64], size: int = REFERENCE_SIZE) -> NDArray[np.int64]:
    """Return the documents with the ``size`` smallest lots, rising; all if there are fewer."""
    if len(lots) <= size:
        return np.arange(len(lots))
    return np.sort(np.argpartition(lots, size)[:size])


class CollectionBackground:
    """The mean density over a reference collection.

    Args:
        reference: Its mixtures.
        floor: The least variance the mixtures may have, on their scale.
    """

    def __init__(self, reference: PackedMixtures, floor: float) -> None:
        self.reference = reference
        self.floor = floor
        self._found: dict[bytes, Array] = {}  # of the last few bags of samples, by their hash

    def log_density(self, samples: ArrayLike) -> Array:
        """Return ``(N,)`` log density of ``(N, n)`` samples; a column of NaN is unknown.

        It is never so small that one sample alone could count for more than the largest ratio: a
        sample unlike anything in the reference says little about which document it came from.
        """
        values = np.asarray(samples, dtype=np.float64)
        told = values.tobytes() + str(values.shape).encode()
        key = hashlib.blake2b(told, digest_size=16).digest()
        # One search asks for the same samples several times, and every shard of an index does.
        found = self._found.get(key)
        if found is None:
            found = self._log_density(values)
            found.flags.writeable = False
            while len(self._found) >= _REMEMBERED:
                self._found.pop(next(iter(self._found)), None)
            self._found[key] = found
        return found

    def _log_density(self, values: Array) -> Array:
        dimensions = int((~np.isnan(values).all(axis=0)).sum())
        peak = -0.5 * dimensions * np.log(2.0 * np.pi * self.floor)
        found: Array = np.maximum(log_mean_density(self.reference, values), peak - LARGEST_RATIO)
        return found
