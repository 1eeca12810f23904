"""EM of many mixtures on a device: all mixtures of a batch take their steps together.

Devices compute in float32, on samples moved to their own mean so that little is lost. Every batch
is checked: the likelihood of a few of its mixtures is computed again in float64, and a batch whose
check fails is fitted on the processor.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.inference.gpu.device import DeviceWarning, find_device
from wordsight.inference.gpu.lattice_batch import for_each
from wordsight.inference.mixtures.gaussian import MixtureError, MixtureFits, Mixtures, fit_mixtures
from wordsight.inference.numba_support import numba_available

__all__ = ["fit_mixtures_on"]

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
    bags = [_checked(each, starts.num_dimensions) for each in samples]
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


def _checked(samples: ArrayLike, dimensions: int) -> Array:
    array = np.ascontiguousarray(samples, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != dimensions or not len(array):
        raise MixtureError(f"samples must have shape (N, {dimensions}), N > 0; got {array.shape}.")
    if not np.isfinite(array).all():
        raise MixtureError("samples must be finite numbers; leave out those that are not.")
    return array
