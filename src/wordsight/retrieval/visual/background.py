"""The background: how likely a sample is in the collection at large.

It is the mean density over the models of a reference collection: all documents, or, where there are
many, a sample of them. The sample is drawn by the hash of the documents' ids, so that it depends on
which documents there are and not on the order or the company in which they came.
"""

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.retrieval.visual.packing import Array, PackedMixtures
from wordsight.retrieval.visual.scoring import LARGEST_RATIO, log_mean_density

__all__ = ["REFERENCE_SIZE", "Background", "lot_of", "reference_rows"]

REFERENCE_SIZE = 500
"""Documents that stand for the collection: enough that the mean density hardly moves with more."""

_REMEMBERED = 8


def lot_of(document_ids: Iterable[str]) -> NDArray[np.uint64]:
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


class Background:
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
