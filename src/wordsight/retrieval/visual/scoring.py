"""Likelihoods of samples under many mixtures, by matrix products in blocks that fit the cache.

Two forms of the smoothed score rank alike: the sum of log[k p(v|doc) + (1-k) p(v)], and the sum of
log[1 + k p(v|doc) / ((1-k) p(v))], which differs by a constant. The second is computed: the
background becomes one more column of the product, and no search for the largest exponent is needed.

The background p(v) is the mean density over the models of a reference collection: all documents,
or, if there are many, a sample of them. The sample is drawn by the hash of the documents' ids, so
that it does not depend on their order.

Large collections are searched in two stages: a few dozen evenly spaced samples of a picture rank
documents nearly as all of them do, and the best candidates are then scored in full.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.engine.processes import in_threads
from wordsight.errors import RetrievalError
from wordsight.retrieval.visual.packing import NEVER, Array, PackedMixtures

__all__ = [
    "BLOCK_DOCUMENTS",
    "BLOCK_SAMPLES",
    "LARGEST_RATIO",
    "REFERENCE_SIZE",
    "CollectionBackground",
    "Precision",
    "evenly_spread",
    "log_densities",
    "log_likelihoods",
    "log_mean_density",
    "mean_and_information",
    "observed_dimensions",
    "reference_rows",
    "rough_gains",
    "sampling_keys",
    "smoothed_gains",
]

LARGEST_RATIO = 80.0
"""Natural log of the largest likelihood ratio that counts, so that nothing overflows."""

Precision = Literal["double", "single"]
Float = type[np.float64] | type[np.float32]
_TYPES: dict[str, Float] = {"double": np.float64, "single": np.float32}

BLOCK_DOCUMENTS: dict[Any, int] = {np.float64: 16, np.float32: 64}
BLOCK_SAMPLES = 256
"""Documents and samples of a block: the fastest sizes measured; 8 components fit a cache."""

_ROUGH_DOCUMENTS = 512  # in a block: their factors, 8 components and 32 samples fit the cache

REFERENCE_SIZE = 500
"""Documents of the reference collection; the mean density hardly changes with more."""

_CACHED_BACKGROUNDS = 8


def observed_dimensions(samples: ArrayLike) -> tuple[Array, NDArray[np.bool_]]:
    """Split samples into their known dimensions and a mask of these.

    Args:
        samples: ``(N, n)``; a column of NaN is an unknown dimension.

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
    weights: Array | None = None,
) -> Array:
    """Return how much better each document explains the samples than the background does.

    Args:
        packed: ``D`` mixtures.
        samples: ``(N, n)`` samples; a column of NaN is unknown.
        log_background: ``(N,)`` log density of the samples under the background.
        kappa: Weight of the document, between 0 and 1.
        precision: ``"single"`` takes half the time; means are accurate to about 1e-5.
        weights: ``(N,)`` how much each sample counts, of mean 1; alike if None.

    Returns:
        ``(D,)`` mean over the samples of log[1 + k p(v|doc) / ((1-k) p(v))], never below 0.
    """
    dtype = _TYPES[precision]
    values, known = observed_dimensions(samples)
    offset = np.log(kappa) - np.log1p(-kappa) - log_background
    columns = _columns(values, offset, dtype)
    gains = np.zeros(len(packed))
    buffers = _Buffers(packed.num_components, dtype)
    addends = np.zeros((len(columns), columns[0].shape[1]), dtype)
    addends.reshape(-1)[: len(values)] = 1.0 if weights is None else weights
    for first, rows in _row_blocks(packed, known, dtype):
        count = rows.shape[1]
        flat = rows.reshape(-1, rows.shape[2])
        table, out, total = buffers.of(count, columns[0].shape[1])
        for column, counts in zip(columns, addends, strict=True):
            np.matmul(flat, column, out=out)
            np.exp(out, out=out)
            np.dot(buffers.ones, table, out=total)  # one product adds the components and the 1
            np.log(total, out=total)
            gains[first : first + count] += total.reshape(count, -1) @ counts
    return gains / len(values)


class _Buffers:
    """Memory for blocks of exponentials, one row per component and a last one that stays 1."""

    def __init__(self, components: int, dtype: Float) -> None:
        self.dtype = dtype
        self.ones = np.ones(components + 1, dtype)
        self._tables: dict[tuple[int, int], tuple[NDArray[Any], ...]] = {}

    def of(self, documents: int, samples: int) -> tuple[NDArray[Any], ...]:
        """Return a table, its ``(C * documents, samples)`` part to fill, and sums."""
        size = documents * samples
        if (documents, samples) not in self._tables:
            table = np.ones((len(self.ones), size), self.dtype)
            to_fill = table[:-1].reshape(-1, samples)
            self._tables[documents, samples] = (table, to_fill, np.ones(size, self.dtype))
        return self._tables[documents, samples]


def log_likelihoods(packed: PackedMixtures, samples: ArrayLike) -> Array:
    """Return ``(D,)`` mean over ``(N, n)`` samples of log p(v|doc), without a background."""
    values, known = observed_dimensions(samples)
    scores = np.zeros(len(packed))
    for documents, _, logs in _log_density_blocks(packed, values, known):
        scores[documents] += logs.sum(axis=1)
    return scores / len(values)


def log_mean_density(packed: PackedMixtures, samples: ArrayLike) -> Array:
    """Return ``(N,)`` log of the mean density of each sample over all documents."""
    values, known = observed_dimensions(samples)
    total = np.full(len(values), -np.inf)
    for _, block, logs in _log_density_blocks(packed, values, known):
        total[block] = np.logaddexp(total[block], np.logaddexp.reduce(logs, axis=0))
    total -= np.log(max(len(packed), 1))
    return total


def log_densities(packed: PackedMixtures, samples: ArrayLike) -> Array:
    """Return ``(D, N)`` log p(v|doc) of every sample under every document."""
    values, known = observed_dimensions(samples)
    densities = np.empty((len(packed), len(values)))
    for documents, block, logs in _log_density_blocks(packed, values, known):
        densities[documents, block] = logs
    return densities


def _log_density_blocks(
    packed: PackedMixtures, values: Array, known: NDArray[np.bool_]
) -> Iterator[tuple[slice, slice, Array]]:
    """Yield documents, samples, and their ``(documents, samples)`` log densities."""
    columns = _columns(values, np.zeros(len(values)), np.float64)
    for first, rows in _row_blocks(packed, known, np.float64):
        components, count, width = rows.shape
        for number, column in enumerate(columns):
            start = number * column.shape[1]
            size = min(column.shape[1], len(values) - start)
            logs = np.matmul(rows.reshape(-1, width), column[:, :size])
            logs = logs.reshape(components, count, size)
            top = logs.max(axis=0)
            logs -= top
            np.exp(logs, out=logs)
            total = np.log(logs.sum(axis=0)) + top
            yield slice(first, first + count), slice(start, start + size), total


def _columns(values: Array, offset: Array, dtype: Float) -> list[NDArray[Any]]:
    """Arrange samples as columns of the products: value, square, one, offset."""
    number = -(-len(values) // BLOCK_SAMPLES)
    width = -(-len(values) // number)
    table = np.zeros((2 * values.shape[1] + 2, number * width), dtype)
    table[:-2, : len(values)] = np.concatenate([values.T, values.T**2])
    table[-2] = 1.0
    # Columns beyond the samples pad the last block; their exponentials vanish.
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
        block = packed[first : first + most].observing(known)
        if len(block) < buffer.shape[1]:
            buffer = np.empty((packed.num_components, len(block), width), dtype)
        buffer[:, :, :-2] = block.factors.transpose(1, 0, 2)
        buffer[:, :, -2] = block.constants.T
        buffer[:, :, -1] = 1.0
        yield first, buffer


def evenly_spread(number: int, count: int) -> NDArray[np.int64]:
    """Return ``min(number, count)`` of ``number`` rows at even steps.

    Blocks of a picture come row by row, so that even steps cover all of it.
    """
    if number <= count:
        return np.arange(number)
    steps = (np.arange(count) + 0.5) * number / count
    return steps.astype(np.int64)


def rough_gains(
    packed: PackedMixtures,
    samples: Array,
    log_background: Array,
    kappa: float,
    weights: Array | None = None,
) -> NDArray[np.float32]:
    """Return :func:`smoothed_gains` of few samples, roughly.

    Args:
        packed: ``D`` mixtures.
        samples: ``(N, n)``; a column of NaN is unknown.
        log_background: ``(N,)`` their log density under the background.
        kappa: Weight of the document.
        weights: ``(N,)`` how much each sample counts; alike if None.

    Returns:
        ``(D,)`` in single precision, that of the factors: without conversion, in half the time.
    """
    values, known = observed_dimensions(samples)
    columns = np.concatenate([values.T, values.T**2]).astype(np.float32)
    offset = (np.log(kappa) - np.log1p(-kappa) - log_background).astype(np.float32)
    shares = (np.ones(len(values)) if weights is None else weights).astype(np.float32) / len(values)
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
        gains[first : first + len(block)] = total @ shares
    return gains


def sampling_keys(document_ids: Iterable[str]) -> NDArray[np.uint64]:
    """Return ``(D,)`` 64 bits of the hash of each document's id."""
    digests = [
        hashlib.blake2b(each.encode("utf-8", "replace"), digest_size=8).digest()
        for each in document_ids
    ]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def reference_rows(keys: NDArray[np.uint64], size: int = REFERENCE_SIZE) -> NDArray[np.int64]:
    """Return the documents with the ``size`` smallest keys, ascending; all if there are fewer."""
    if len(keys) <= size:
        return np.arange(len(keys))
    return np.sort(np.argpartition(keys, size)[:size])


class CollectionBackground:
    """The mean density over a reference collection.

    Args:
        reference: Its mixtures.
        floor: The smallest variance of the mixtures, on their scale.
    """

    def __init__(self, reference: PackedMixtures, floor: float) -> None:
        self.reference = reference
        self.floor = floor
        # Of the last few bags of samples, by their hash: one search asks for the same samples
        # several times, and so does every shard of an index.
        self._cache: dict[bytes, tuple[Array, Array]] = {}

    def log_density(self, samples: ArrayLike) -> Array:
        """Return ``(N,)`` log density of ``(N, n)`` samples; a column of NaN is unknown.

        It is bounded below, so that one sample cannot contribute more than the largest ratio: a
        sample unlike the whole reference says little about which document it came from.
        """
        return self._look(samples)[0]

    def information(self, samples: ArrayLike) -> Array:
        """Return ``(N,)`` what each sample tells of the document it comes from, in nats.

        It is the divergence of the posterior over the documents of the reference from the uniform
        distribution: 0 where all explain the sample alike, as they do a sky that all of them have.
        """
        return self._look(samples)[1]

    def _look(self, samples: ArrayLike) -> tuple[Array, Array]:
        values = np.asarray(samples, dtype=np.float64)
        content = values.tobytes() + str(values.shape).encode()
        key = hashlib.blake2b(content, digest_size=16).digest()
        known = self._cache.get(key)
        if known is None:
            known = self._densities(values)
            for each in known:
                each.flags.writeable = False
            while len(self._cache) >= _CACHED_BACKGROUNDS:
                self._cache.pop(next(iter(self._cache)), None)
            self._cache[key] = known
        return known

    def _densities(self, values: Array) -> tuple[Array, Array]:
        dimensions = int((~np.isnan(values).all(axis=0)).sum())
        peak = -0.5 * dimensions * np.log(2.0 * np.pi * self.floor)
        # The blocks that samples are scored in anyway, so that results do not depend on threads.
        width = -(-len(values) // -(-len(values) // BLOCK_SAMPLES))
        looks = in_threads(
            lambda part: mean_and_information(
                log_densities(self.reference, part), peak - LARGEST_RATIO
            ),
            [values[first : first + width] for first in range(0, len(values), width)],
        )
        densities, told = (np.concatenate(each) for each in zip(*looks, strict=True))
        return densities, told


def mean_and_information(logs: Array, least: float) -> tuple[Array, Array]:
    """Return ``(N,)`` log mean densities, at least ``least``, and what samples tell, in nats.

    Args:
        logs: ``(D, N)`` log density of each sample under each document.
        least: Lower bound.
    """
    top = logs.max(axis=0)
    below = logs - top
    posterior = np.exp(below)
    sums = posterior.sum(axis=0)
    posterior *= below
    # The sum of p log p, with p = exp(below) / sums.
    told = posterior.sum(axis=0) / sums - np.log(sums) + np.log(len(logs))
    density: Array = np.maximum(top + np.log(sums / len(logs)), least)
    return density, np.maximum(told, 0.0)
