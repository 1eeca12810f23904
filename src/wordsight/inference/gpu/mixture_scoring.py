"""Scores of samples under many mixtures on a device, where the mixtures stay between queries.

The log of weight times density is linear in the sample, its squares and 1, so all of it is one
matrix product; float32, right to about 1e-5 in a mean over samples.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.inference.gpu.device import find_device
from wordsight.inference.mixtures.gaussian import MixtureError

__all__ = ["DeviceMixtures", "mixtures_on"]

Array = NDArray[np.float64]
Tensor = Any  # torch.Tensor; torch itself is imported only where something is run

_BYTES_AT_ONCE = 32 << 20
"""Logs of a block: they stay in a large device's cache until they are summed."""

_NEVER = -1e30  # log weight of a component that is not used
_LARGEST = 80.0
"""Natural log of the largest ratio that counts, so that nothing overflows float32."""


def mixtures_on(
    factors: NDArray[np.float32], constants: Array, device: str, *, double: bool = False
) -> "DeviceMixtures | None":
    """Bring mixtures to a device, or return ``None`` after a warning where it is not there.

    Args:
        factors: ``(D, C, 2n)`` of the sample, then of its squares.
        constants: ``(D, C)`` what is added, log weights included.
        device: ``cuda``, ``cuda:1`` or ``torch-cpu``; see :func:`find_device`.
        double: Whether to compute in float64.
    """
    place = find_device(device)
    return None if place is None else DeviceMixtures(factors, constants, place, double=double)


class DeviceMixtures:
    """Mixtures of diagonal Gaussians on a device, ready to be asked many times.

    Args:
        factors: ``(D, C, 2n)``.
        constants: ``(D, C)``.
        device: A ``torch.device``.
        double: Whether to compute in float64.
    """

    def __init__(
        self, factors: NDArray[np.float32], constants: Array, device: Any, *, double: bool = False
    ) -> None:
        import torch

        if factors.ndim != 3 or constants.shape != factors.shape[:2]:
            raise MixtureError(
                f"mixtures need factors (D, C, 2n) and constants (D, C), got {factors.shape} and "
                f"{constants.shape}."
            )
        self.device = device
        self.dtype = torch.float64 if double else torch.float32
        self.factors = torch.tensor(factors, dtype=self.dtype, device=device)
        self._all_rows: Tensor | None = None
        self.constants = torch.tensor(constants, device=device)

    def __len__(self) -> int:
        return len(self.factors)

    def gains(self, samples: ArrayLike, log_background: ArrayLike, kappa: float) -> Array:
        """Return how much better each mixture explains the samples than the background does.

        Args:
            samples: ``(N, n)``; a column of NaN is a dimension nothing is known of.
            log_background: ``(N,)`` log density of the samples under the background.
            kappa: Weight of the mixture, between 0 and 1.

        Returns:
            ``(D,)`` mean over the samples of log[1 + k p(v|mixture) / ((1-k) p(v))].
        """
        import torch

        values = np.asarray(samples, dtype=np.float64)
        dimensions = self.factors.shape[2] // 2
        known: NDArray[np.bool_] = np.logical_not(np.isnan(values).all(axis=0)).reshape(-1)
        if values.ndim != 2 or len(known) != dimensions or not known.any():
            raise MixtureError(
                f"samples must have shape (N, {dimensions}) with some dimension known, got "
                f"{values.shape}."
            )
        values = values[:, known]
        offset = np.log(kappa) - np.log1p(-kappa) - np.asarray(log_background, dtype=np.float64)
        ones = np.ones_like(offset)
        columns = self._tensor(np.concatenate([values.T, values.T**2, [ones, offset]]))
        rows = self._rows(known)
        most = max(1, _BYTES_AT_ONCE // (rows.element_size() * len(values) * rows.shape[1]))
        parts = [_block_gains(rows[d : d + most], columns) for d in range(0, len(self), most)]
        found: Array = torch.cat(parts).cpu().numpy() if parts else np.zeros(0)
        return found

    def _rows(self, known: NDArray[np.bool_]) -> Tensor:
        """Return ``(D, C, 2k + 2)``: factors of the known dimensions, the constant, and 1."""
        import torch

        if known.all() and self._all_rows is not None:
            return self._all_rows
        factors, constants = self._observing(known)
        constants = constants.clamp(min=_NEVER).to(self.dtype)[..., None]
        rows = torch.cat([factors, constants, torch.ones_like(constants)], dim=-1)
        if known.all():
            self._all_rows = rows
        return rows

    def _observing(self, known: NDArray[np.bool_]) -> tuple[Tensor, Tensor]:
        """Return factors and constants of the known dimensions alone."""
        import torch

        if known.all():
            return self.factors, self.constants
        linear, square = self.factors.double().chunk(2, dim=2)
        hidden = torch.as_tensor(~known, device=self.device)
        variances = -0.5 / square[..., hidden]
        means = linear[..., hidden] * variances
        shift = (2.0 * np.pi * variances).log() + means**2 / variances
        kept = torch.as_tensor(np.tile(known, 2), device=self.device)
        return self.factors[..., kept].contiguous(), self.constants + 0.5 * shift.sum(-1)

    def _tensor(self, array: Array) -> Tensor:
        import torch

        return torch.as_tensor(array, dtype=self.dtype, device=self.device)


def _block_gains(rows: Tensor, columns: Tensor) -> Tensor:
    """Return ``(D,)`` gains of some mixtures: a product, exponentials, sums, logarithms."""
    count, components, width = rows.shape
    logs = (rows.reshape(-1, width) @ columns).clamp_(max=_LARGEST).exp_()
    ratios = logs.reshape(count, components, -1).sum(dim=1)
    return ratios.log1p_().double().mean(dim=-1)
