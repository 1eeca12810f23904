"""Batched EM and scoring of Gaussian mixtures on a device.

Devices compute in float32, on samples moved to their own mean so that little is lost. Every batch
is checked: the likelihood of a few of its mixtures is computed again in float64, and a batch whose
check fails is fitted on the processor. For scores the mixtures stay on the device between queries;
the log of weight times density is linear in the sample, its squares and 1, so all of it is one
matrix product, right to about 1e-5 in a mean over samples.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.inference.gpu.device import DeviceWarning, find_device
from wordsight.inference.gpu.lattice_batch import for_each
from wordsight.inference.mixtures.gaussian import (
    MixtureError,
    MixtureFits,
    Mixtures,
    check_samples,
    fit_mixtures,
)
from wordsight.inference.numba_support import numba_available

__all__ = ["DeviceMixtures", "fit_mixtures_on", "mixtures_on"]


Array = NDArray[np.float64]

Tensor = Any  # torch.Tensor; torch itself is imported only where something is run

_BYTES_PER_BATCH = 1 << 30

_CHECKED = 4  # mixtures of a batch whose likelihood is computed again in float64

_TOLERANCE = 1e-3
"""Largest difference of a log likelihood per sample that float32 may make, beside float64."""

_NEVER = -1e30  # log weight of a component that has no samples

_LEAST_MASS = 1e-30  # samples a component must explain to be moved


def fit_mixtures_on(
    samples: Sequence[ArrayLike],
    starts: Mixtures,
    floor: ArrayLike,
    device: str,
    *,
    max_iterations: int = 50,
    tolerance: float = 1e-3,
    double: bool = False,
) -> MixtureFits:
    """Fit each mixture to its own samples by EM, on a device.

    Args:
        samples: ``D`` arrays ``(N_d, n)``, each with at least one sample.
        starts: Where to start.
        floor: ``(n,)`` or one number: least variance.
        device: ``cuda``, ``cuda:1`` or ``torch-cpu``; see :func:`find_device`.
        max_iterations: At most so many looks at the samples.
        tolerance: Stop a mixture when its log likelihood per sample rises by less.
        double: Whether to compute in float64.

    Returns:
        What :func:`wordsight.inference.fit_mixtures` gives. Where the device is not there, the
        processor does the work after a :class:`DeviceWarning`.
    """
    place = find_device(device)
    options = {"max_iterations": max_iterations, "tolerance": tolerance}
    if place is None:
        return _on_processor(samples, starts, floor, options)
    bags = [check_samples(each, starts.num_dimensions) for each in samples]
    if len(bags) != len(starts) or max_iterations < 1:
        raise MixtureError(
            f"one start per array of samples and max_iterations of 1 or more are needed, got "
            f"{len(starts)} starts, {len(bags)} arrays and {max_iterations}."
        )
    least = np.broadcast_to(np.asarray(floor, dtype=np.float64), (starts.num_dimensions,))
    found = _Found(starts)
    for numbers in _batches(bags, starts):
        some, first = [bags[d] for d in numbers], starts[numbers]
        fits = _fit_batch(some, first, least, max_iterations, tolerance, place, double=double)
        if not _holds(some, fits):
            warnings.warn(
                "float32 on the device does not hold the likelihood of mixtures as narrow as "
                "these; the processor fits this batch instead.",
                DeviceWarning,
                stacklevel=2,
            )
            fits = _on_processor(some, first, least, options)
        found.put(numbers, fits)
    return found.fits()


class _Found:
    """The results of all batches, in the order of the mixtures."""

    def __init__(self, starts: Mixtures) -> None:
        self.arrays = [each.copy() for each in (starts.weights, starts.means, starts.variances)]
        self.scores = np.empty(len(starts))
        self.histories: list[Array] = [np.empty(0)] * len(starts)

    def put(self, numbers: NDArray[np.int64], fits: MixtureFits) -> None:
        mixtures = fits.mixtures
        parts = (mixtures.weights, mixtures.means, mixtures.variances)
        for whole, part in zip(self.arrays, parts, strict=True):
            whole[numbers] = part
        self.scores[numbers] = fits.log_likelihoods
        for number, history in zip(numbers, fits.histories, strict=True):
            self.histories[number] = history

    def fits(self) -> MixtureFits:
        return MixtureFits(Mixtures(*self.arrays), self.scores, tuple(self.histories))


@dataclass
class _Batch:
    """Mixtures that still take steps.

    Attributes:
        features: ``(D, N, 2n + 1)`` samples, squares and ones; zero where a bag has ended.
        counts: ``(D,)`` samples of each.
        weights, means, variances: ``(D, C)``, ``(D, C, n)``, ``(D, C, n)``.
        numbers: Which mixtures of the batch these are.
    """

    features: Tensor
    counts: Tensor
    weights: Tensor
    means: Tensor
    variances: Tensor
    numbers: NDArray[np.int64]

    def looked_at(self) -> tuple[Tensor, Tensor]:
        """Return ``(D,)`` log likelihoods per sample, and ``(D, C, 2n + 1)`` expected sums."""
        logs = self.features @ self._terms().mT
        scores = logs.logsumexp(dim=-1, keepdim=True)
        shares = (logs - scores).exp()
        total = (scores[..., 0] * self.features[..., -1]).double().sum(-1) / self.counts
        return total, shares.mT @ self.features

    def moved(self, sums: Tensor, floor: Tensor) -> None:
        """Set the parameters from expected sums."""
        dimensions = self.means.shape[2]
        mass = sums[..., -1:]
        used = mass > _LEAST_MASS
        safe = mass.where(used, mass.new_ones(()))
        means = (sums[..., :dimensions] / safe).where(used, self.means)
        squares = sums[..., dimensions:-1] / safe
        variances = (squares - means**2).maximum(floor)
        self.variances = variances.where(used, self.variances)
        self.means = means
        share = mass[..., 0] / self.counts[:, None].to(mass)
        self.weights = share.where(used[..., 0], share.new_zeros(()))

    def only(self, kept: NDArray[np.bool_]) -> "_Batch":
        """Return the batch without those that are done."""
        import torch

        chosen = torch.as_tensor(np.flatnonzero(kept), device=self.features.device)
        names = ("features", "counts", "weights", "means", "variances")
        arrays = {name: getattr(self, name).index_select(0, chosen) for name in names}
        return _Batch(**arrays, numbers=self.numbers[kept])

    def _terms(self) -> Tensor:
        """Return ``(D, C, 2n + 1)`` factors of the samples, of their squares, and of 1."""
        import torch

        linear = self.means / self.variances
        spread = (2.0 * np.pi * self.variances).log() + self.means * linear
        logs = self.weights.log().clamp(min=_NEVER)
        constant = logs - 0.5 * spread.sum(-1)
        return torch.cat([linear, -0.5 / self.variances, constant[..., None]], dim=-1)


def _fit_batch(
    bags: Sequence[Array],
    starts: Mixtures,
    floor: Array,
    max_iterations: int,
    tolerance: float,
    device: Any,
    *,
    double: bool,
) -> MixtureFits:
    import torch

    dtype = torch.float64 if double else torch.float32
    centres = np.stack([np.ones(len(bag)) @ bag / len(bag) for bag in bags])
    batch = _laid_out(bags, starts, centres, floor, device, dtype)
    least = torch.as_tensor(floor.copy(), dtype=dtype, device=device)
    found = [np.empty_like(each) for each in (starts.weights, starts.means, starts.variances)]
    history = np.full((len(bags), max_iterations), np.nan)
    for iteration in range(max_iterations):
        scores, sums = batch.looked_at()
        history[batch.numbers, iteration] = scores.cpu().numpy()
        rise = history[batch.numbers, iteration] - history[batch.numbers, iteration - 1]
        going = np.full(len(batch.numbers), iteration + 1 < max_iterations)
        going &= (rise >= tolerance) | (iteration == 0)
        if not going.all():
            _keep(batch, ~going, found)
            if not going.any():
                break
            chosen = torch.as_tensor(np.flatnonzero(going), device=device)
            batch, sums = batch.only(going), sums.index_select(0, chosen)
        batch.moved(sums, least)
    found[1] += centres[:, None]
    histories = tuple(row[~np.isnan(row)] for row in history)
    scores_found = np.array([row[-1] for row in histories])
    return MixtureFits(Mixtures(*found), scores_found, histories)


def _laid_out(
    bags: Sequence[Array], starts: Mixtures, centres: Array, floor: Array, device: Any, dtype: Any
) -> _Batch:
    import torch

    counts = np.array([len(bag) for bag in bags])
    dimensions = starts.num_dimensions
    plain = np.float64 if dtype == torch.float64 else np.float32
    values = np.empty((len(bags), counts.max(), dimensions + 1), plain)

    def lay(n: int) -> None:
        np.subtract(bags[n], centres[n], out=values[n, : counts[n], :-1], casting="same_kind")
        values[n, : counts[n], -1] = 1.0
        values[n, counts[n] :] = 0.0

    for_each(lay, len(bags))
    moved = torch.from_numpy(values).to(device)
    # Squares are made where they are needed: half as much to copy.
    features = torch.cat([moved[..., :-1], moved[..., :-1] ** 2, moved[..., -1:]], dim=-1)

    def tensor(array: Array) -> Tensor:
        return torch.as_tensor(array, dtype=dtype, device=device)

    return _Batch(
        features,
        torch.as_tensor(counts, dtype=torch.float64, device=device),
        tensor(starts.weights),
        tensor(starts.means - centres[:, None]),
        tensor(np.maximum(starts.variances, floor)),
        np.arange(len(bags)),
    )


def _keep(batch: _Batch, done: NDArray[np.bool_], found: list[Array]) -> None:
    for whole, part in zip(found, (batch.weights, batch.means, batch.variances), strict=True):
        whole[batch.numbers[done]] = part.double().cpu().numpy()[done]


def _batches(bags: Sequence[Array], starts: Mixtures) -> list[NDArray[np.int64]]:
    """Group mixtures, those with as many samples together, into batches that fit the memory."""
    counts = np.array([len(bag) for bag in bags])
    order = np.argsort(counts, kind="stable")
    width = 2 * starts.num_dimensions + 1 + 3 * starts.num_components
    batches, first = [], 0
    while first < len(order):
        # Bags are ascending: how many fit is settled by the largest among them.
        sizes = (1 + np.arange(len(order) - first)) * counts[order[first:]] * width * 4
        last = first + max(1, int(np.searchsorted(sizes, _BYTES_PER_BATCH)))
        batches.append(np.asarray(order[first:last], dtype=np.int64))
        first = last
    return batches


def _holds(bags: Sequence[Array], fits: MixtureFits) -> bool:
    """Tell whether float64 gives the likelihoods the device did, on some of the mixtures."""
    chosen = np.unique(np.linspace(0, len(bags) - 1, _CHECKED).astype(int))
    for d in chosen:
        sure = fits.mixtures[int(d)].log_densities(bags[d]).mean()
        if not abs(sure - fits.log_likelihoods[d]) <= _TOLERANCE * max(1.0, abs(sure)):
            return False
    return True


def _on_processor(
    samples: Sequence[ArrayLike], starts: Mixtures, floor: ArrayLike, options: dict[str, Any]
) -> MixtureFits:
    backend: Any = "compiled" if numba_available() else "reference"
    return fit_mixtures(samples, starts, floor, backend=backend, **options)


_BYTES_AT_ONCE = 32 << 20
"""Logs of a block: they stay in a large device's cache until they are summed."""

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

    def gains(
        self,
        samples: ArrayLike,
        log_background: ArrayLike,
        kappa: float,
        weights: ArrayLike | None = None,
    ) -> Array:
        """Return how much better each mixture explains the samples than the background does.

        Args:
            samples: ``(N, n)``; a column of NaN is a dimension nothing is known of.
            log_background: ``(N,)`` log density of the samples under the background.
            kappa: Weight of the mixture, between 0 and 1.
            weights: ``(N,)`` how much each sample counts, of mean 1; alike if None.

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
        counts = np.ones_like(offset) if weights is None else np.asarray(weights, np.float64)
        shares = torch.as_tensor(counts / len(values), dtype=torch.float64, device=self.device)
        firsts = range(0, len(self), most)
        parts = [_block_gains(rows[d : d + most], columns, shares) for d in firsts]
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


def _block_gains(rows: Tensor, columns: Tensor, shares: Tensor) -> Tensor:
    """Return ``(D,)`` gains of some mixtures: a product, exponentials, sums, logarithms."""
    count, components, width = rows.shape
    logs = (rows.reshape(-1, width) @ columns).clamp_(max=_LARGEST).exp_()
    ratios = logs.reshape(count, components, -1).sum(dim=1)
    return ratios.log1p_().double() @ shares
