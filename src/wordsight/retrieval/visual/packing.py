"""`PackedMixtures`: mixtures laid out so that scoring them is one matrix product.

The log of weight times density of a diagonal Gaussian is linear in the sample, its squares and 1.
The factors are kept in single precision and the constants in double; what they stand for is exactly
a mixture (the one whose means and variances the rounded factors imply), so nothing is lost twice.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.mixtures.gaussian import Mixtures
from wordsight.retrieval.errors import RetrievalError

__all__ = ["NEVER", "PackedMixtures"]

Array = NDArray[np.float64]

NEVER = -1e30
"""Log weight of a component that is not used: finite, so that no product becomes NaN."""


@dataclass(frozen=True, eq=False)
class PackedMixtures:
    """Many mixtures of diagonal Gaussians as the factors of a matrix product.

    Attributes:
        factors: ``(D, C, 2n)`` float32: of the sample, then of its squares; may lie on disk.
        constants: ``(D, C)`` float64: what is added, log weights included.
    """

    factors: NDArray[np.float32]
    constants: Array

    def __post_init__(self) -> None:
        if self.factors.ndim != 3 or self.constants.shape != self.factors.shape[:2]:
            raise RetrievalError(
                "packed mixtures need factors (D, C, 2n) and constants (D, C), got "
                f"{self.factors.shape} and {self.constants.shape}."
            )

    @classmethod
    def of(cls, mixtures: Mixtures) -> Self:
        """Pack mixtures."""
        linear = (mixtures.means / mixtures.variances).astype(np.float32)
        square = (-0.5 / mixtures.variances).astype(np.float32)
        means, variances = _implied(linear, square)
        with np.errstate(divide="ignore"):
            constants = np.maximum(np.log(mixtures.weights), NEVER)
        constants = constants - 0.5 * _shift(means, variances).sum(axis=2)
        return cls(np.concatenate([linear, square], axis=2), constants)

    def __len__(self) -> int:
        return len(self.factors)

    def __getitem__(self, which: slice | NDArray[np.int64]) -> Self:
        return type(self)(self.factors[which], self.constants[which])

    @property
    def num_components(self) -> int:
        """How many components each mixture has room for."""
        return int(self.factors.shape[1])

    @property
    def num_dimensions(self) -> int:
        """Over how many dimensions they are."""
        return int(self.factors.shape[2] // 2)

    def mixtures(self) -> Mixtures:
        """Return the mixtures the factors stand for."""
        linear, square = np.split(self.factors, 2, axis=2)
        means, variances = _implied(linear, square)
        logs = self.constants + 0.5 * _shift(means, variances).sum(axis=2)
        return Mixtures(np.exp(logs), means, variances)

    def log_weights(self) -> Array:
        """Return ``(D, C)`` the logs of the components' weights."""
        means, variances = _implied(*np.split(self.factors, 2, axis=2))
        logs: Array = self.constants + 0.5 * _shift(means, variances).sum(axis=2)
        return logs

    def observing(self, dimensions: NDArray[np.bool_]) -> Self:
        """Return the mixtures over some dimensions only, the others integrated out.

        With diagonal covariances that is leaving them out, and their share of the constants.

        Args:
            dimensions: ``(n,)`` which to keep.
        """
        if dimensions.all():
            return self
        linear, square = np.split(self.factors, 2, axis=2)
        means, variances = _implied(linear[:, :, ~dimensions], square[:, :, ~dimensions])
        constants = self.constants + 0.5 * _shift(means, variances).sum(axis=2)
        return type(self)(self.factors[:, :, np.tile(dimensions, 2)], constants)


def _implied(linear: NDArray[np.float32], square: NDArray[np.float32]) -> tuple[Array, Array]:
    variances: Array = -0.5 / square.astype(np.float64)
    return linear * variances, variances


def _shift(means: Array, variances: Array) -> Array:
    shift: Array = np.log(2.0 * np.pi * variances) + means**2 / variances
    return shift
