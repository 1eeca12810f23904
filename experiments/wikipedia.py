"""Pictures from texts and texts from pictures on the Wikipedia pairs (Rasiwasia et al., 2010).

Run with ``python -m experiments.wikipedia --data DIR [--json]``. DIR holds ``raw_features.mat`` and
the lists of training and test pairs, at any depth. A query is a test picture (or text), what is
ranked are all test texts (or pictures); relevant are those of the query's category. Methods learn
from training pairs without categories; their few settings are chosen on held-out training pairs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.baselines.paired import PairedModels
from experiments.data.reading import reading
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.attributes import CCA
from wordsight.errors import FormatError

__all__ = ["Pairs", "main", "measure", "read_wikipedia", "two_way_map"]

Array = NDArray[np.float64]
Scorer = Callable[["Pairs", "Pairs"], Array]

PICTURE_MASSES, TEXT_MASSES = (4.0, 7.0, 10.0, 15.0, 25.0), (2.0, 3.5, 5.0, 8.0)
SHARES = (0.5, 0.7, 0.85)
DIMENSIONS, RIDGES = (3, 5, 7, 9), (1e-4, 1e-2)
SHARED_RIDGES = (0.1, 1.0, 5.0)


@dataclass(frozen=True)
class Pairs:
    """Pictures with texts.

    Attributes:
        pictures: ``(N, 128)`` shares of visual words.
        texts: ``(N, 10)`` shares of topics.
        categories: ``(N,)``; used to tell which answers are right.
    """

    pictures: Array
    texts: Array
    categories: NDArray[np.int64]

    def __getitem__(self, which: NDArray[np.bool_]) -> "Pairs":
        return Pairs(self.pictures[which], self.texts[which], self.categories[which])


def read_wikipedia(folder: Path) -> tuple[Pairs, Pairs]:
    """Read training and test pairs.

    Raises:
        FormatError: If a file is missing or they do not fit together.
    """
    import scipy.io
    from scipy.io.matlab import MatReadError

    found = [path for path in sorted(folder.rglob("*.mat")) if path.is_file()]
    if not found:
        raise FormatError(f"{folder} holds no raw_features.mat; --data must name its folder.")
    with reading(found[0], "the file of Wikipedia features"):
        try:
            values = scipy.io.loadmat(found[0])
        except MatReadError as error:
            raise ValueError(str(error)) from error
        sides = [
            Pairs(
                np.asarray(values[f"I_{part}"], float),
                np.asarray(values[f"T_{part}"], float),
                _categories(folder, name),
            )
            for part, name in (("tr", "train"), ("te", "test"))
        ]
    for side in sides:
        if not len(side.pictures) == len(side.texts) == len(side.categories):
            raise FormatError(f"{folder}: pictures, texts and categories differ in number.")
    return sides[0], sides[1]


def _categories(folder: Path, name: str) -> NDArray[np.int64]:
    lists = sorted(folder.rglob(f"{name}*.list"))
    if not lists:
        raise FormatError(f"{folder} holds no list of {name} pairs, such as {name}set_*.list.")
    rows = [line.split() for line in lists[0].read_text(encoding="utf-8").splitlines()]
    return np.array([int(row[-1]) for row in rows if row], np.int64)


def two_way_map(scores: Array, categories: NDArray[np.int64]) -> dict[str, float]:
    """Return MAP of texts for pictures and of pictures for texts.

    Args:
        scores: ``(N, N)`` pictures in rows, texts in columns, pairs on the diagonal.
        categories: ``(N,)`` of the pairs.
    """
    return {
        "image_to_text": _mean_average_precision(scores, categories),
        "text_to_image": _mean_average_precision(scores.T, categories),
    }


def _mean_average_precision(scores: Array, categories: NDArray[np.int64]) -> float:
    order = np.argsort(-scores, axis=1, kind="stable")
    hits = categories[order] == categories[:, None]
    precision = np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)
    return round(float(((precision * hits).sum(axis=1) / hits.sum(axis=1)).mean()), 4)


def generative(settings: tuple[float, float, float]) -> Scorer:
    """Return the paired models with masses of pictures and texts and a share of both."""
    pictures, texts, share = settings

    def score(train: Pairs, test: Pairs) -> Array:
        model = PairedModels(pictures, texts, share, share).fit(train.pictures, train.texts)
        return model.scores(test.pictures, test.texts)

    return score


def plain_cca(settings: tuple[int, float]) -> Scorer:
    """Return canonical correlations with so many dimensions and a ridge, compared by angle."""
    dimensions, ridge = settings

    def score(train: Pairs, test: Pairs) -> Array:
        (mean_i, white_i), (mean_t, white_t) = (
            _whitening(side, ridge) for side in (train.pictures, train.texts)
        )
        left, right = (train.pictures - mean_i) @ white_i, (train.texts - mean_t) @ white_t
        u, _, v = np.linalg.svd(left.T @ right / len(left), full_matrices=False)
        seen = (test.pictures - mean_i) @ white_i @ u[:, :dimensions]
        said = (test.texts - mean_t) @ white_t @ v[:dimensions].T
        cosine: Array = _unit(seen) @ _unit(said).T
        return cosine

    return score


def our_cca(settings: tuple[int, float]) -> Scorer:
    """Return the CCA of the attributes room, on roots of shares, directions by correlation."""
    dimensions, ridge = settings

    def score(train: Pairs, test: Pairs) -> Array:
        # Roots even out how much frequent and rare visual words vary.
        cca = CCA(dimensions, ridge=(ridge, ridge))
        cca.fit(np.sqrt(train.pictures), np.sqrt(train.texts))
        seen, said = cca.transform(np.sqrt(test.pictures), np.sqrt(test.texts))
        cosine: Array = _unit(seen * cca.correlations_) @ _unit(said * cca.correlations_).T
        return cosine

    return score


def _whitening(side: Array, ridge: float) -> tuple[Array, Array]:
    mean = side.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(side - mean, rowvar=False))
    floor = ridge * float(values.max())
    return mean, vectors / np.sqrt(np.maximum(values, 0) + floor)


def _unit(rows: Array) -> Array:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def measure(data: Path, seed: int = 0) -> dict[str, Any]:
    """Choose settings on training pairs, then rank the test pairs."""
    train, test = read_wikipedia(data)
    held = np.random.default_rng(seed).permutation(len(train.categories)) % 3 == 0
    ways: dict[str, tuple[Callable[[Any], Scorer], Sequence[Any]]] = {
        "generative": (generative, list(product(PICTURE_MASSES, TEXT_MASSES, SHARES))),
        "cca": (our_cca, list(product(DIMENSIONS, SHARED_RIDGES))),
        "plain_cca": (plain_cca, list(product(DIMENSIONS, RIDGES))),
    }
    results: dict[str, Any] = {}
    for name, (way, grid) in ways.items():
        say(f"{name}: {len(grid)} settings")
        tried = [
            sum(two_way_map(way(s)(train[~held], train[held]), train[held].categories).values())
            for s in grid
        ]
        best = grid[int(np.argmax(tried))]
        found = two_way_map(way(best)(train, test), test.categories)
        results[name] = found | {"settings": list(best)}
    chance = np.random.default_rng(seed).random((len(test.categories),) * 2)
    results["random"] = two_way_map(chance, test.categories)
    return results | {"train_pairs": len(train.categories), "test_pairs": len(test.categories)}


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.wikipedia", __doc__ or "", "folder of the Wikipedia pairs")
    parser.add_argument("--seed", type=int, default=0, help="of the held-out training pairs")
    options = parser.parse_args(arguments)
    results = measure(options.data, options.seed)
    rows = [
        {"row": name} | value
        for name, value in results.items()
        if isinstance(value, dict) and "image_to_text" in value
    ]
    print_report(
        results,
        as_json=options.json,
        title=f"{results['train_pairs']} pairs learned, {results['test_pairs']} ranked, MAP",
        columns=[
            Column("row", "", justify="left"),
            Column("image_to_text", "image to text", ".3f"),
            Column("text_to_image", "text to image", ".3f"),
        ],
        rows=rows,
    )


if __name__ == "__main__":
    run_main(main)
