"""`PackedMixtures`: mixtures laid out so that scoring them is one matrix product.

The log of weight times density of a diagonal Gaussian is linear in the sample, its squares and 1.
The factors are stored in single precision and the constants in double. The constants belong to the
mixture whose means and variances the rounded factors imply, so that rounding happens only once.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import RetrievalError
from wordsight.inference.mixtures.gaussian import Mixtures

__all__ = ["NEVER", "PackedMixtures"]

Array = NDArray[np.float64]

NEVER = -1e30
"""Log weight of an unused component: finite, so that no product becomes NaN."""


@dataclass(frozen=True, eq=False)
class PackedMixtures:
    """Mixtures of diagonal Gaussians as the factors of a matrix product.

    Attributes:
        factors: ``(D, C, 2n)`` float32: of the sample, then of its squares; may be memory-mapped.
        constants: ``(D, C)`` float64: the additive constants, with the log weights.
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
    def pack(cls, mixtures: Mixtures) -> Self:
        """Pack mixtures."""
        linear = (mixtures.means / mixtures.variances).astype(np.float32)
        square = (-0.5 / mixtures.variances).astype(np.float32)
        with np.errstate(divide="ignore"):
            logs = np.maximum(np.log(mixtures.weights), NEVER)
        constants = logs - _log_partition(linear, square)
        return cls(np.concatenate([linear, square], axis=2), constants)

    def __len__(self) -> int:
        return len(self.factors)

    def __getitem__(self, which: slice | NDArray[np.int64]) -> Self:
        return type(self)(self.factors[which], self.constants[which])

    @property
    def num_components(self) -> int:
        """The number of components of each mixture."""
        return int(self.factors.shape[1])

    @property
    def num_dimensions(self) -> int:
        """The number of dimensions."""
        return int(self.factors.shape[2] // 2)

    def mixtures(self) -> Mixtures:
        """Return the mixtures that the factors imply."""
        means, variances = _implied(*np.split(self.factors, 2, axis=2))
        return Mixtures(np.exp(self.log_weights()), means, variances)

    def log_weights(self) -> Array:
        """Return ``(D, C)`` the log weights of the components."""
        logs: Array = self.constants + _log_partition(*np.split(self.factors, 2, axis=2))
        return logs

    def observing(self, dimensions: NDArray[np.bool_]) -> Self:
        """Return the marginal mixtures over some dimensions.

        With diagonal covariances, the other dimensions and their constants are left out.

        Args:
            dimensions: ``(n,)`` which to keep.
        """
        if dimensions.all():
            return self
        linear, square = np.split(self.factors, 2, axis=2)
        left_out = _log_partition(linear[:, :, ~dimensions], square[:, :, ~dimensions])
        factors = self.factors[:, :, np.tile(dimensions, 2)]
        return type(self)(factors, self.constants + left_out)


def _implied(linear: NDArray[np.float32], square: NDArray[np.float32]) -> tuple[Array, Array]:
    """Return the means and variances that factors imply."""
    variances: Array = -0.5 / square.astype(np.float64)
    return linear * variances, variances


def _log_partition(linear: NDArray[np.float32], square: NDArray[np.float32]) -> Array:
    """Return ``(D, C)`` the log normalisers of Gaussians given by factors."""
    means, variances = _implied(linear, square)
    shift: Array = np.log(2.0 * np.pi * variances) + means**2 / variances
    half: Array = 0.5 * shift.sum(axis=2)
    return half
