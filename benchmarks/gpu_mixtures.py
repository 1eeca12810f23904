"""Mixtures on a device beside the processor: fits and scores a second, and how far they differ."""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.gpu_timing import seconds_of
from wordsight.inference.gpu import DeviceMixtures, fit_mixtures_on
from wordsight.inference.mixtures.gaussian import Mixtures, fit_mixtures, start_mixture
from wordsight.inference.numba_support import numba_available

__all__ = ["measure_mixtures"]

DIMENSIONS, COMPONENTS, SAMPLES, ITERATIONS = 14, 8, 1320, 20
QUERY, KAPPA = 1000, 0.9
_ON_PROCESSOR = 64  # mixtures the processor fits, and documents it scores, to compare with


def measure_mixtures(name: str, place: Any, *, quick: bool) -> dict[str, float | str]:
    """Measure fitting and scoring on one device.

    Args:
        name: Of the device, as ``--device`` takes it.
        place: The ``torch.device``.
        quick: Whether a few mixtures do.
    """
    count, documents = (96, 500) if quick else (4096, 100_000)
    return _fitting(name, place, count) | _scoring(place, documents)


def _fitting(name: str, place: Any, count: int) -> dict[str, float | str]:
    rng = np.random.default_rng(0)
    floor = np.full(DIMENSIONS, 0.2)
    few = [_bag(rng) for _ in range(_ON_PROCESSOR)]
    starts = [start_mixture(bag, COMPONENTS, floor, rng) for bag in few]
    bags = [few[n % len(few)] for n in range(count)]
    many = _stacked([starts[n % len(few)] for n in range(count)])
    options: dict[str, Any] = {"max_iterations": ITERATIONS, "tolerance": -np.inf}
    seconds = seconds_of(lambda: fit_mixtures_on(bags, many, floor, name, **options), place, 3)
    found = fit_mixtures_on(few, _stacked(starts), floor, name, **options)
    backend: Any = "compiled" if numba_available() else "reference"
    work = {"backend": backend, **options}
    fit_mixtures(few[:2], _stacked(starts[:2]), floor, **work)  # compiles
    begun = time.process_time()
    sure = fit_mixtures(few, _stacked(starts), floor, **work)
    cpu = time.process_time() - begun
    return {
        "mixture_fits_per_s": count / seconds,
        "mixture_fits_cpu_per_s": len(few) / cpu,
        "mixture_fits_cpu": "compiled, one core" if backend == "compiled" else "plain numpy",
        "mixture_fits_error": float(np.abs(found.log_likelihoods - sure.log_likelihoods).max()),
    }


def _scoring(place: Any, documents: int) -> dict[str, float | str]:
    rng = np.random.default_rng(1)
    shape = (documents, COMPONENTS, DIMENSIONS)
    mixtures = Mixtures(
        rng.dirichlet(np.ones(COMPONENTS), documents),
        rng.normal(size=shape),
        rng.uniform(0.2, 0.6, shape),
    )
    linear, square = mixtures.means / mixtures.variances, -0.5 / mixtures.variances
    spread = np.log(2 * np.pi * mixtures.variances) + mixtures.means * linear
    constants = np.log(mixtures.weights) - 0.5 * spread.sum(axis=2)
    factors = np.concatenate([linear, square], axis=2).astype(np.float32)
    query = rng.normal(size=(QUERY, DIMENSIONS))
    few = mixtures[:_ON_PROCESSOR]
    begun = time.process_time()
    logs = few.log_densities(query)
    plain = time.process_time() - begun
    background = np.logaddexp.reduce(logs, axis=0) - np.log(len(few))
    sure = np.logaddexp(0.0, np.log(KAPPA / (1 - KAPPA)) + logs - background).mean(axis=1)
    held = DeviceMixtures(factors, constants, place)
    seconds = seconds_of(lambda: held.gains(query, background, KAPPA), place, 5)
    gains = held.gains(query, background, KAPPA)[: len(few)]
    return {
        "mixture_scores_per_s": documents / seconds,
        "mixture_scores_cpu_per_s": len(few) / plain,
        "mixture_scores_error": float(np.abs(gains - sure).max()),
    } | _packed_scores(factors, constants, query, background)


def _packed_scores(
    factors: NDArray[np.float32],
    constants: NDArray[np.float64],
    query: NDArray[np.float64],
    background: NDArray[np.float64],
) -> dict[str, float | str]:
    """Time the processor's own blocks in single precision, where they can be imported."""
    try:
        from wordsight.retrieval.visual.packing import PackedMixtures
        from wordsight.retrieval.visual.scoring import smoothed_gains
    except ImportError:  # the room of retrieval needs OpenCV
        return {"mixture_scores_cpu": "plain numpy, float64"}
    packed = PackedMixtures(factors[:2000], constants[:2000])
    smoothed_gains(packed[:64], query, background, KAPPA, "single")
    begun = time.process_time()
    smoothed_gains(packed, query, background, KAPPA, "single")
    rate = len(packed) / (time.process_time() - begun)
    return {"mixture_scores_cpu_per_s": rate, "mixture_scores_cpu": "blocks, float32"}


def _bag(rng: np.random.Generator) -> NDArray[np.float64]:
    centres = rng.normal(size=(COMPONENTS, DIMENSIONS))
    return centres[rng.integers(COMPONENTS, size=SAMPLES)] + 0.5 * rng.normal(
        size=(SAMPLES, DIMENSIONS)
    )


def _stacked(parts: list[Mixtures]) -> Mixtures:
    return Mixtures(
        np.concatenate([part.weights for part in parts]),
        np.concatenate([part.means for part in parts]),
        np.concatenate([part.variances for part in parts]),
    )
