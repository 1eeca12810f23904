"""Mixtures of Gaussians with diagonal covariances, many at once: arrays in, arrays out.

``D`` mixtures of ``C`` components over ``n`` dimensions are three arrays. EM fits each to its own
samples; a floor under the variances keeps components from collapsing onto equal samples and leaves
EM exact, since under the floor the expected likelihood only falls.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.errors import WordsightError

__all__ = [
    "MixtureError",
    "MixtureFits",
    "Mixtures",
    "Start",
    "check_samples",
    "fit_mixtures",
    "from_assignments",
    "reseed_mixture",
    "start_mixture",
]


Array = NDArray[np.float64]
Backend = Literal["compiled", "reference"]


class MixtureError(WordsightError, ValueError):
    """Parameters or samples that cannot form mixtures."""


@dataclass(frozen=True, eq=False)
class Mixtures:
    """Many mixtures of diagonal Gaussians.

    Attributes:
        weights: ``(D, C)`` share of each component; 0 for one that is not used.
        means: ``(D, C, n)``.
        variances: ``(D, C, n)``, all above 0.
    """

    weights: Array
    means: Array
    variances: Array

    def __post_init__(self) -> None:
        for name in ("weights", "means", "variances"):
            array = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
            object.__setattr__(self, name, array)
        shape = self.means.shape
        if self.means.ndim != 3 or self.variances.shape != shape or self.weights.shape != shape[:2]:
            raise MixtureError(
                "mixtures need weights (D, C), means (D, C, n) and variances (D, C, n), got "
                f"{self.weights.shape}, {shape} and {self.variances.shape}."
            )
        if not (np.all(self.variances > 0) and np.all(np.isfinite(self.means))):
            raise MixtureError("mixtures need finite means and variances above 0.")

    def __len__(self) -> int:
        return len(self.weights)

    def __getitem__(self, which: int | slice | NDArray[Any]) -> Self:
        chosen = np.arange(len(self))[which].reshape(-1)
        return type(self)(self.weights[chosen], self.means[chosen], self.variances[chosen])

    @property
    def num_components(self) -> int:
        """How many components each mixture has room for."""
        return int(self.weights.shape[1])

    @property
    def num_dimensions(self) -> int:
        """Over how many dimensions they are."""
        return int(self.means.shape[2])

    def component_log_densities(self, samples: ArrayLike) -> Array:
        """Return ``(D, N, C)`` logs of weight times density of ``(N, n)`` samples; plain, slow."""
        values = np.asarray(samples, dtype=np.float64)
        spread = np.log(2 * np.pi * self.variances).sum(axis=2)
        away = values[None, :, None, :] - self.means[:, None]
        distance = (away**2 / self.variances[:, None]).sum(axis=3)
        with np.errstate(divide="ignore"):
            weights = np.log(self.weights)
        logs: Array = weights[:, None] - 0.5 * (spread[:, None] + distance)
        return logs

    def log_densities(self, samples: ArrayLike) -> Array:
        """Return ``(D, N)`` log densities of ``(N, n)`` samples under each mixture; plain, slow."""
        logs: Array = np.logaddexp.reduce(self.component_log_densities(samples), axis=2)
        return logs

    def draw(
        self, which: int, count: int, random: np.random.Generator
    ) -> tuple[Array, NDArray[np.int64]]:
        """Draw samples from one mixture.

        Returns:
            ``(count, n)`` samples, and ``(count,)`` the component each came from.
        """
        weights = self.weights[which] / self.weights[which].sum()
        component = random.choice(self.num_components, size=count, p=weights)
        noise = random.standard_normal((count, self.num_dimensions))
        spread = np.sqrt(self.variances[which, component])
        return self.means[which, component] + spread * noise, component


@dataclass(frozen=True)
class MixtureFits:
    """What EM found.

    Attributes:
        mixtures: The mixtures.
        log_likelihoods: ``(D,)`` log likelihood per sample of each under its own samples.
        histories: Per mixture the log likelihood per sample, one value per iteration; never falls.
    """

    mixtures: Mixtures
    log_likelihoods: Array
    histories: tuple[Array, ...]


def fit_mixtures(
    samples: Sequence[ArrayLike],
    starts: Mixtures,
    floor: ArrayLike,
    *,
    max_iterations: int = 50,
    tolerance: float = 1e-3,
    backend: Backend = "compiled",
) -> MixtureFits:
    """Fit each mixture to its own samples by EM.

    Args:
        samples: ``D`` arrays ``(N_d, n)``, each with at least one sample.
        starts: Where to start.
        floor: ``(n,)`` or one number: least variance.
        max_iterations: At most so many looks at the samples.
        tolerance: Stop a mixture when its log likelihood per sample rises by less; 0 to go on
            until it does not rise at all.
        backend: The compiled kernel, or plain numpy to compare with.

    Returns:
        The mixtures and how their likelihoods rose.
    """
    arrays = [check_samples(each, starts.num_dimensions) for each in samples]
    if len(arrays) != len(starts) or max_iterations < 1:
        raise MixtureError(
            f"one start per array of samples and max_iterations of 1 or more are needed, got "
            f"{len(starts)} starts, {len(arrays)} arrays and {max_iterations}."
        )
    least = np.broadcast_to(np.asarray(floor, dtype=np.float64), (starts.num_dimensions,)).copy()
    weights, means = starts.weights.copy(), starts.means.copy()
    variances = np.maximum(starts.variances, least)
    fit = _compiled if backend == "compiled" else _reference
    histories = fit(arrays, (weights, means, variances), least, max_iterations, tolerance)
    scores = np.array([history[-1] for history in histories])
    return MixtureFits(Mixtures(weights, means, variances), scores, tuple(histories))


def check_samples(samples: ArrayLike, dimensions: int) -> Array:
    """Return samples ``(N, dimensions)`` as an array.

    Raises:
        MixtureError: If the shape differs, there are none, or a number is not finite.
    """
    array = np.ascontiguousarray(samples, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != dimensions or not len(array):
        raise MixtureError(f"samples must have shape (N, {dimensions}), N > 0; got {array.shape}.")
    if not np.isfinite(array).all():
        raise MixtureError("samples must be finite numbers; leave out those that are not.")
    return array


Parameters = tuple[Array, Array, Array]


def _compiled(
    arrays: Sequence[Array],
    parameters: Parameters,
    floor: Array,
    max_iterations: int,
    tolerance: float,
) -> list[Array]:
    from wordsight.inference.mixtures.kernel import block_sizes, fill_blocks, fit_blocks

    histories = []
    for samples, weights, means, variances in zip(arrays, *parameters, strict=True):
        number, width = block_sizes(len(samples))
        blocks = np.zeros((number, 2 * samples.shape[1] + 1, width))
        fill_blocks(samples, blocks)
        history = np.empty(max_iterations)
        length = fit_blocks(
            blocks, len(samples), weights, means, variances, floor, tolerance, history
        )
        histories.append(history[:length].copy())
    return histories


def _reference(
    arrays: Sequence[Array],
    parameters: Parameters,
    floor: Array,
    max_iterations: int,
    tolerance: float,
) -> list[Array]:
    histories = []
    for samples, weights, means, variances in zip(arrays, *parameters, strict=True):
        history: list[float] = []
        while len(history) < max_iterations:
            one = Mixtures(weights[None], means[None], variances[None])
            logs = one.component_log_densities(samples)[0]
            scores = np.logaddexp.reduce(logs, axis=1)
            history.append(float(scores.mean()))
            done = len(history) > 1 and history[-1] - history[-2] < tolerance
            if done or len(history) == max_iterations:
                break
            shares = np.exp(logs - scores[:, None])
            mass = shares.sum(axis=0)
            used = mass > 1e-200
            weights[:] = np.where(used, mass / len(samples), 0.0)
            means[used] = (shares.T @ samples)[used] / mass[used, None]
            squares = (shares.T @ samples**2)[used] / mass[used, None]
            variances[used] = np.maximum(squares - means[used] ** 2, floor)
        histories.append(np.array(history))
    return histories


# Where EM starts: samples assigned to components at random, or to seeds far from one another.

Start = Literal["seeds", "random"]

_LOOKED_AT = 512  # samples among which seeds are chosen; more change nothing but the time


def start_mixture(
    samples: Array,
    num_components: int,
    floor: Array,
    random: np.random.Generator,
    start: Start = "seeds",
) -> Mixtures:
    """Return one mixture to start EM from.

    Args:
        samples: ``(N, n)``, all dimensions of about one scale.
        num_components: How many components.
        floor: ``(n,)`` least variance.
        random: Where chance comes from.
        start: ``"random"`` assigns every sample to a random component; ``"seeds"`` chooses seeds
            one by one, each with probability proportional to its squared distance from those
            before, and assigns samples to the nearest.
    """
    if start == "random":
        owner = random.integers(num_components, size=len(samples))
    else:
        seeds = _seeds(samples, num_components, random)
        owner = np.argmin(_distances(samples, seeds), axis=1)
    return from_assignments(samples, owner, num_components, floor)


def from_assignments(
    samples: Array, owner: NDArray[np.int64], num_components: int, floor: Array
) -> Mixtures:
    """Return the mixture whose components are the mean and variance of the samples they own.

    A component that owns nothing starts as wide as all samples together, with the weight of one.
    """
    chosen = np.zeros((num_components, len(samples)))
    chosen[owner, np.arange(len(samples))] = 1.0
    mass = chosen.sum(axis=1)
    empty = mass == 0
    divisor = np.maximum(mass, 1.0)[:, None]
    means = chosen @ samples / divisor
    variances = chosen @ samples**2 / divisor - means**2
    means[empty], variances[empty] = samples.mean(axis=0), samples.var(axis=0)
    weights = np.maximum(mass, 1.0)
    return Mixtures(
        (weights / weights.sum())[None], means[None], np.maximum(variances, floor)[None]
    )


def reseed_mixture(samples: Array, mixture: Mixtures, floor: Array) -> Mixtures | None:
    """Give components that explain less than one sample a new start where it is needed most.

    Args:
        samples: ``(N, n)`` what the mixture was fitted to.
        mixture: One mixture.
        floor: ``(n,)`` least variance.

    Returns:
        The mixture with such components moved onto the samples explained worst; ``None`` if there
        is no such component.
    """
    weights = mixture.weights[0]
    idle = np.flatnonzero(weights < 1.0 / len(samples))
    if not len(idle) or len(samples) <= mixture.num_components:
        return None
    worst = np.argsort(mixture.log_densities(samples)[0], kind="stable")[: len(idle)]
    means, variances = mixture.means[0].copy(), mixture.variances[0].copy()
    means[idle[: len(worst)]] = samples[worst]
    variances[idle] = np.maximum(samples.var(axis=0) / mixture.num_components, floor)
    fresh = np.maximum(weights, 1.0 / len(samples))
    return Mixtures((fresh / fresh.sum())[None], means[None], variances[None])


def _seeds(samples: Array, count: int, random: np.random.Generator) -> Array:
    if len(samples) > _LOOKED_AT:
        samples = samples[random.choice(len(samples), _LOOKED_AT, replace=False)]
    seeds = [samples[random.integers(len(samples))]]
    nearest = ((samples - seeds[0]) ** 2).sum(axis=1)
    while len(seeds) < count:
        upto = np.cumsum(nearest)  # all zero where all samples are the same
        at = int(np.searchsorted(upto, random.random() * upto[-1]))
        seeds.append(samples[min(at, len(samples) - 1)])
        np.minimum(nearest, ((samples - seeds[-1]) ** 2).sum(axis=1), out=nearest)
    return np.array(seeds)


def _distances(samples: Array, seeds: Array) -> Array:
    # Without the samples' own squares, which are the same for every seed.
    distances: Array = (seeds**2).sum(axis=1) - 2.0 * samples @ seeds.T
    return distances
