"""Where EM starts: samples assigned to components at random, or to seeds far from one another."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.mixtures import Mixtures

__all__ = ["Start", "from_assignments", "reseeded", "start_mixture"]

Array = NDArray[np.float64]
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


def reseeded(samples: Array, mixture: Mixtures, floor: Array) -> Mixtures | None:
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
