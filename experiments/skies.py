"""When does a background help? Pictures with a common sky and a telling ground.

Run with ``python -m experiments.skies [--json] [--seeds N ...]``. It is the example of Westerveld,
de Vries and de Jong: if the pictures of a collection have a sky, what they show is on the ground.
Pictures are drawn with a ground of one of ten kinds and, some of them, a sky of any shade; those of
the query's kind are right. The phase diagram has three axes: how common the sky is, the smallest
variance of the models, and the weight kappa of a document against the background. ``learned`` is
what an index chooses from its own pictures (``wordsight search --image``), ``plain`` the likelihood
without a background, ``held_out`` the kappa under which pictures that were left out are likeliest;
``standing`` adds two likelihoods, each beside what other pictures ask (``baselines/standing.py``),
which no index does.
Numbers are MAP, means over seeds. Seeds below 100 were looked at in development.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.baselines.standing import Standing
from experiments.images import ranking_scores
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.retrieval.visual import (
    BlockDct,
    FeatureScale,
    PackedMixtures,
    ShotMixtures,
    VisualSmoothing,
    learn_smoothing,
    log_densities,
)
from wordsight.retrieval.visual.scoring import LARGEST_RATIO, evenly_spread, mean_and_information

__all__ = ["landscapes", "main", "measure"]

COMMON = (0.0, 0.25, 0.5, 0.75, 1.0)
FLOORS = (0.05, 0.2, 0.6)
KAPPAS = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
SEEDS = (100, 101, 102)
_KINDS, _EACH = 10, 10
_HEIGHT, _WIDTH = 96, 128
_SAMPLES = 100  # of a picture that asks

Array = NDArray[np.float64]


def landscapes(
    common: float, seed: int, *, sky: float = 0.6, kinds: int = _KINDS, each: int = _EACH
) -> tuple[list[NDArray[np.uint8]], NDArray[np.int64]]:
    """Draw pictures with a ground of some kind, and return them with their kinds.

    Args:
        common: Share of the pictures that have a sky.
        seed: Seed.
        sky: Share of the picture that it takes.
        kinds: Number of kinds.
        each: Pictures of each.
    """
    random = np.random.default_rng(seed)
    grounds = random.uniform(40, 200, (kinds, 3))
    images = []
    for kind in np.repeat(np.arange(kinds), each):
        top = round(_HEIGHT * sky) if random.random() < common else 0
        image = np.empty((_HEIGHT, _WIDTH, 3))
        shades = np.array([[90, 140, 225], [180, 205, 240]]) + random.normal(0, 30, (2, 3))
        down = np.linspace(0, 1, max(top, 1))[:, None, None]
        image[:top] = (shades[0] * (1 - down) + shades[1] * down)[:top]
        ground = grounds[kind] + random.normal(0, 5, 3)
        image[top:] = ground + random.normal(0, 14, (_HEIGHT - top, _WIDTH, 1))
        noisy = image + random.normal(0, 2, image.shape)
        images.append(np.clip(noisy, 0, 255).astype(np.uint8))
    return images, np.repeat(np.arange(kinds), each)


def measure(
    seeds: Sequence[int] = SEEDS,
    common: Sequence[float] = COMMON,
    floors: Sequence[float] = FLOORS,
) -> list[dict[str, Any]]:
    """Return a row per floor and share of skies, with the MAP of every smoothing."""
    rows = []
    for floor, share in product(floors, common):
        say(f"floor {floor}, {share:.0%} with a sky")
        scores = [_scores(*landscapes(share, seed), floor) for seed in seeds]
        names = scores[0].keys()
        means = {name: round(float(np.mean([one[name] for one in scores])), 4) for name in names}
        best = max(means[f"kappa_{kappa:g}"] for kappa in KAPPAS)
        rows.append({"floor": floor, "common": share, **means, "best_kappa": best})
    return rows


def _scores(
    images: list[NDArray[np.uint8]], labels: NDArray[np.int64], floor: float
) -> dict[str, float]:
    features = BlockDct()
    bags = [features.samples(image).values for image in images]
    scale = FeatureScale.measure(bags, features.resolution)
    model = ShotMixtures(floor=floor).fit(bags, scale=scale)
    packed = PackedMixtures.pack(model.mixtures_)
    least = -0.5 * packed.num_dimensions * np.log(2.0 * np.pi * floor) - LARGEST_RATIO
    asked = []
    few = [scale.standardise(bag[evenly_spread(len(bag), _SAMPLES)]) for bag in bags]
    for query, values in enumerate(few):
        logs = log_densities(packed, values)
        asked.append((logs, *mean_and_information(np.delete(logs, query, axis=0), least)))
    smoothings = {f"kappa_{kappa:g}": VisualSmoothing(kappa) for kappa in KAPPAS}
    smoothings["learned"] = learn_smoothing(packed, floor)
    tables = {name: _table(asked, smoothing) for name, smoothing in smoothings.items()}
    tables["held_out"] = max(
        (tables[f"kappa_{kappa:g}"] for kappa in KAPPAS), key=_held_out_likelihood
    )
    standing = Standing(packed, few, floor)
    tables["standing"] = np.array([standing.scores(query) for query in range(len(few))])
    tables["plain"] = np.array([logs.mean(axis=1) for logs, *_ in asked])
    everyone = np.arange(len(labels))
    return {
        name: ranking_scores(lambda query, table=table: table[query], labels, everyone)["map"]
        for name, table in tables.items()
    }


def _table(asked: list[tuple[Array, Array, Array]], smoothing: VisualSmoothing) -> Array:
    """Return ``(D, D)`` the gain of every picture (a column) for every one that asks."""
    rows = []
    for logs, background, information in asked:
        kappa, weights = smoothing.kappa, smoothing.weights(information)
        gains = np.logaddexp(np.log1p(-kappa), np.log(kappa) + logs - background)
        rows.append((gains if weights is None else gains * weights).mean(axis=1))
    return np.array(rows)


def _held_out_likelihood(table: Array) -> float:
    """Return how likely pictures are under the best other one, over the background."""
    others = table.copy()
    np.fill_diagonal(others, -np.inf)
    return float(others.max(axis=1).mean())


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.skies", __doc__ or "", None)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS), metavar="N")
    options = parser.parse_args(arguments)
    rows = measure(options.seeds)
    names = ["plain", *(f"kappa_{kappa:g}" for kappa in KAPPAS), "best_kappa", "held_out"]
    print_report(
        {"rows": rows, "seeds": options.seeds},
        as_json=options.json,
        title="A common sky and a telling ground: MAP",
        columns=[
            Column("floor", "floor", ".2f"),
            Column("common", "with a sky", ".2f"),
            *(
                Column(name, name.replace("_", " "), ".3f")
                for name in [*names, "learned", "standing"]
            ),
        ],
        rows=rows,
    )


if __name__ == "__main__":
    run_main(main)
