"""Why the published recipe names fewer blocks here than in the paper: every reading of it, crossed.

Run with ``python -m experiments.akaho1997 --grid [--seeds N] [--json]``. What the paper leaves open
or what may differ from its laboratory is varied, everything with everything. Each cell is measured
with the attributes that EM finds, with the true ones (``oracle``: what features, directions and
nearest neighbours allow), and with EM started at the true ones (``from_truth``: what the model
allows if its start is right).
"""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from experiments.akaho1997 import PAIRS, Material, describe, record
from experiments.number_blocks import render_blocks
from experiments.report import say
from wordsight.attributes import CCA, FAITHFUL, Autocorrelation, LinearMixture
from wordsight.attributes.picture_space import PictureSpace

__all__ = ["measure_grid"]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

PER_CATEGORY = 8
MATERIALS: dict[str, tuple[Any, ...]] = {
    "light": ("varying", "constant"),
    "resolutions": ("linear", "area"),
    "recordings": (34, 340),
}
DIRECTIONS: dict[str, tuple[Any, ...]] = {"ridge": ("none", "some"), "directions": (6, 10, 16)}
MIXTURES: dict[str, tuple[Any, ...]] = {
    "noise": ("isotropic", "diagonal", "full"),
    "start": ("axis, epsilon .001", "axis, epsilon 1", "random"),
}
PRINTED = {
    "light": "varying",
    "resolutions": "linear",
    "recordings": 340,
    "ridge": "none",
    "directions": 10,
    "noise": "isotropic",
    "start": "axis, epsilon .001",
}
"""The cell of FAITHFUL, on the blocks of the other rows."""
_RIDGES = {"none": (0.0, 0.0), "some": (0.1, 1.0)}
"""Of canonical correlation, as a share of a feature's variance; of the maps, in pairs."""
_ALL = 120  # directions: as many as the recordings have features
_OUTCOMES = ("em", "oracle", "from_truth")


def measure_grid(*, seeds: int = 2, per_category: int = PER_CATEGORY) -> dict[str, Any]:
    """Measure every cell over seeds, and what each factor changes on average."""
    materials: dict[tuple[str, str], Material] = {}
    sums: dict[tuple[Any, ...], Array] = {}
    above: dict[str, list[int]] = {ridge: [] for ridge in DIRECTIONS["ridge"]}
    sounds, words = record()
    for light in MATERIALS["light"]:
        say(f"rendering blocks in {light} light")
        blocks = render_blocks(per_category, constant_light=light == "constant")
        for resolutions in MATERIALS["resolutions"]:
            say(f"resolutions read as {resolutions}")
            feature = Autocorrelation(step=4 if resolutions == "linear" else 2)
            settings = replace(FAITHFUL, pictures=(feature,))
            materials[light, resolutions] = describe(blocks, sounds, words, settings)
    for (light, resolutions), material in materials.items():
        for recordings, seed in product(MATERIALS["recordings"], range(seeds)):
            for key, rates in _cells(_thinned(material, recordings), seed, above).items():
                cell = (light, resolutions, recordings, *key)
                sums[cell] = sums.get(cell, np.zeros(len(_OUTCOMES))) + rates / seeds
    above_half = {ridge: float(np.mean(counts)) for ridge, counts in above.items()}
    whole = {"above_half": above_half, "seeds": seeds, "pictures": 120 * per_category}
    return _summary(sums) | whole


def _summary(sums: dict[tuple[Any, ...], Array]) -> dict[str, Any]:
    """Return the printed cell, the best, what factors change on average and alone, and all."""
    factors = MATERIALS | DIRECTIONS | MIXTURES
    cells = [dict(zip(factors, key, strict=True)) | _outcomes(rates) for key, rates in sums.items()]
    effects = [
        {"factor": factor, "level": level}
        | _outcomes(np.mean([_rates(one) for one in cells if one[factor] == level], axis=0))
        for factor, levels in factors.items()
        for level in levels
    ]
    printed = next(one for one in cells if all(one[key] == PRINTED[key] for key in PRINTED))
    single = [
        {"factor": factor, "level": level} | {key: one[key] for key in _OUTCOMES}
        for factor, levels in factors.items()
        for level in levels
        if level != PRINTED[factor]
        for one in cells
        if all(one[key] == (level if key == factor else PRINTED[key]) for key in PRINTED)
    ]
    return {
        "printed": printed,
        "best": max(cells, key=lambda one: float(one["em"])),
        "effects": effects,
        "one_change": single,
        "cells": cells,
    }


def _thinned(material: Material, recordings: int) -> Material:
    """Keep so many recordings, evenly over words and voices."""
    step = len(material.words) // recordings
    return replace(material, speech=material.speech[::step], words=material.words[::step])


def _cells(
    material: Material, seed: int, above: dict[str, list[int]]
) -> dict[tuple[Any, ...], Array]:
    """Return the outcomes of every reading on one draw, and count correlated directions."""
    lessons, words, attributes, tests = material.draw(seed, PAIRS)
    space = PictureSpace.fit(lessons.kinds, None)
    x, new = (
        space.transform(lessons.kinds),
        space.transform([kind[tests] for kind in material.kinds]),
    )
    truth, rates = material.truth[tests], {}
    count = truth.shape[1]
    true_start = (attributes[:, None] == np.arange(count)).astype(np.float64)
    for ridge in DIRECTIONS["ridge"]:
        cca_ridge, map_ridge = _RIDGES[ridge]
        cca = CCA(_ALL, ridge=(cca_ridge, cca_ridge)).fit(x, lessons.speech)
        above[ridge].append(int((cca.correlations_ > 0.5).sum()))
        places, y, queries = (*cca.transform(x, lessons.speech), cca.transform_x(new))
        for kept, noise in product(DIRECTIONS["directions"], MIXTURES["noise"]):
            known, said, asked = places[:, :kept], y[:, :kept], queries[:, :kept]
            em = LinearMixture(
                count,
                iterations=FAITHFUL.iterations,
                noise=noise,
                ridge=map_ridge,
                printed_step=FAITHFUL.printed_step,
                random_state=seed,
            )
            fitted = [em.fit(known, said, true_start)]
            for start in MIXTURES["start"]:
                epsilon = 1.0 if start.endswith("epsilon 1") else 1e-3
                changed = replace(em, start=start.split(",")[0], epsilon=epsilon)
                fitted.append(changed.fit(known, said))
            found = [attributes, *(one.responsibilities_.argmax(axis=1) for one in fitted)]
            oracle, from_truth, *ends = (
                _rate(_named(known, one, words, asked, count), one, attributes, truth)
                for one in found
            )
            for start, end in zip(MIXTURES["start"], ends, strict=True):
                rates[ridge, kept, noise, start] = np.array([end, oracle, from_truth])
    return rates


def _named(
    known: Array, found: Labels, words: NDArray[np.str_], asked: Array, count: int
) -> NDArray[np.str_]:
    """Return ``(count, M)`` the word of the nearest lesson of every attribute."""
    from scipy.spatial import cKDTree

    named = np.full((count, len(asked)), "", dtype=words.dtype)
    for k in range(count):
        own = np.flatnonzero(found == k)
        if len(own):
            named[k] = words[own[cKDTree(known[own]).query(asked)[1]]]
    return named


def _rate(
    named: NDArray[np.str_], found: Labels, attributes: Labels, truth: NDArray[np.str_]
) -> float:
    """Return the share of attributes named rightly, attributes matched by the training pairs."""
    count = len(named)
    table = np.zeros((count, count))
    np.add.at(table, (found, attributes), 1)
    rows, columns = linear_sum_assignment(-table)
    pairs = zip(rows, columns, strict=True)
    return float(np.mean([(named[k] == truth[:, a]).mean() for k, a in pairs]))


def _outcomes(rates: Array) -> dict[str, float]:
    return {key: round(float(value), 3) for key, value in zip(_OUTCOMES, rates, strict=True)}


def _rates(cell: dict[str, Any]) -> list[float]:
    return [cell[key] for key in _OUTCOMES]
