"""Visual retrieval beside scikit-learn and beside what the processor can do, and how it grows.

Run with ``python -m benchmarks.retrieval [--json] [--quick] [--shots N ...]``. Times of scoring and
fitting are processor time on one core, turn by turn in one run, and the fastest turn counts:

- ``scoring``: 1,000 samples of 14 dimensions under 10,000 documents of 8 diagonal Gaussians, over
  the background, in single and in double precision, beside scikit-learn's ``score_samples`` per
  document, and beside the same matrix products and exponentials alone, in blocks of the same size
  (``bound_share``); ``search`` is single precision for all and double for those that may be best;
- ``fitting``: 8 components to 1,320 samples by 20 EM steps, beside scikit-learn from one start;
- ``growth``: an index on disk of made-up shots with eight words each, opened by another process:
  time to open, and the time, by the clock and of all processors, of queries by 1,000 samples in two
  stages and in full and by two words, with the share of the ten best that two stages find and the
  memory held before the first search in full. Shots are made of 3,000 common looks, so that many
  resemble one another.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.lattice import fastest
from wordsight.inference.mixtures.gaussian import Mixtures, fit_mixtures, start_mixture
from wordsight.retrieval import Document, Index, JointQuery, JointSearch, PartData, VisualSettings
from wordsight.retrieval.documents import DocumentSource, document_columns
from wordsight.retrieval.index.segments import Manifest, SegmentEntry, write_segment
from wordsight.retrieval.text import TEXT, Analyser, TextPart
from wordsight.retrieval.visual import (
    FeatureScale,
    PackedMixtures,
    log_mean_density,
    smoothed_gains,
)
from wordsight.retrieval.visual.codes import FEWEST_CODED, code_mixtures
from wordsight.retrieval.visual.scoring import BLOCK_DOCUMENTS, BLOCK_SAMPLES

__all__ = ["main", "measure_fitting", "measure_scoring"]

Array = NDArray[np.float64]

DIMENSIONS, COMPONENTS, SAMPLES = 14, 8, 1000
KAPPA = 0.9
PRECISIONS = {"single": np.float32, "double": np.float64}
GOALS = {"scoring": 30.0, "bound_share": 0.8, "fitting": 10.0}
_LOOKS = 3000
_VOCABULARY = 50_000


def made_up(count: int, random: np.random.Generator) -> Mixtures:
    """Make mixtures whose components are common looks, each a little different every time."""
    looks = np.random.default_rng(0).normal(size=(_LOOKS, DIMENSIONS))
    chosen = random.integers(_LOOKS, size=(count, COMPONENTS))
    means = looks[chosen] + 0.2 * random.standard_normal((count, COMPONENTS, DIMENSIONS))
    variances = random.uniform(0.2, 0.6, means.shape)
    return Mixtures(random.dirichlet(np.ones(COMPONENTS), count), means, variances)


def measure_scoring(documents: int, turns: int) -> dict[str, float]:
    """Time scoring beside scikit-learn, on some of the documents, and beside the bound."""
    random = np.random.default_rng(1)
    packed = PackedMixtures.pack(made_up(documents, random))
    samples = made_up(1, random).draw(0, SAMPLES, random)[0]
    background = log_mean_density(packed[:500], samples)
    few = min(documents, 200)
    theirs = _scikit_scorer(packed.mixtures()[:few], samples, background)
    ours = smoothed_gains(packed, samples, background, KAPPA)
    np.testing.assert_allclose(theirs(), ours[:few], rtol=1e-6)
    seconds = {"scikit_learn": np.inf}
    works: dict[str, Callable[[], Any]] = {"scikit_learn": theirs}
    for name in PRECISIONS:
        works[name] = lambda name=name: smoothed_gains(packed, samples, background, KAPPA, name)
        works[f"{name}_bound"] = _bound(documents, PRECISIONS[name])
    for _ in range(turns):
        for name, work in works.items():
            seconds[name] = min(seconds.get(name, np.inf), fastest(work, 1))
    seconds["scikit_learn"] *= documents / few
    report = {f"{name}_s": value for name, value in seconds.items()}
    for name in PRECISIONS:
        report[f"{name}_ratio"] = seconds["scikit_learn"] / seconds[name]
        report[f"{name}_bound_share"] = seconds[f"{name}_bound"] / seconds[name]
    return report


def _scikit_scorer(mixtures: Mixtures, samples: Array, background: Array) -> Callable[[], Array]:
    from sklearn.mixture import GaussianMixture

    models = []
    for weights, means, variances in zip(
        mixtures.weights, mixtures.means, mixtures.variances, strict=True
    ):
        model = GaussianMixture(COMPONENTS, covariance_type="diag")
        model.weights_, model.means_, model.covariances_ = weights, means, variances
        model.precisions_cholesky_ = 1.0 / np.sqrt(variances)
        models.append(model)
    odds = KAPPA / (1.0 - KAPPA)

    def scored() -> Array:
        logs = np.array([model.score_samples(samples) for model in models])
        gains: Array = np.log1p(odds * np.exp(logs - background)).mean(axis=1)
        return gains

    return scored


def _bound(documents: int, dtype: Any) -> Callable[[], None]:
    """Return the matrix products and exponentials of scoring, and nothing else."""
    random = np.random.default_rng(0)
    rows = BLOCK_DOCUMENTS[dtype]
    number = -(-SAMPLES // BLOCK_SAMPLES)
    width = -(-SAMPLES // number)
    left = (random.random((COMPONENTS * rows, 2 * DIMENSIONS + 2)) - 0.5).astype(dtype)
    right = [random.random((2 * DIMENSIONS + 2, width)).astype(dtype) for _ in range(number)]
    out = np.empty((COMPONENTS * rows, width), dtype)

    def run() -> None:
        for _ in range(0, documents, rows):
            for columns in right:
                np.matmul(left, columns, out=out)
                np.exp(out, out=out)

    return run


def measure_fitting(images: int, turns: int) -> dict[str, float]:
    """Time 20 EM steps beside scikit-learn from the same starts."""
    from sklearn.mixture import GaussianMixture

    random = np.random.default_rng(2)
    mixtures = made_up(images, random)
    bags = [mixtures.draw(d, 1320, random)[0] for d in range(images)]
    floor = np.full(DIMENSIONS, 1e-6)
    starts = [start_mixture(bag, COMPONENTS, floor, np.random.default_rng(0)) for bag in bags]
    together = Mixtures(
        np.concatenate([start.weights for start in starts]),
        np.concatenate([start.means for start in starts]),
        np.concatenate([start.variances for start in starts]),
    )

    def ours() -> Array:
        # The last look of 21 scores the parameters of the 20th step.
        fits = fit_mixtures(bags, together, floor, max_iterations=21, tolerance=-np.inf)
        return fits.log_likelihoods

    def theirs() -> Array:
        scores = []
        for bag, start in zip(bags, starts, strict=True):
            model = GaussianMixture(
                COMPONENTS,
                covariance_type="diag",
                tol=0,
                max_iter=20,
                weights_init=start.weights[0],
                means_init=start.means[0],
                precisions_init=1.0 / start.variances[0],
                init_params="random_from_data",
                random_state=0,
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that it has not converged
                scores.append(model.fit(bag).score(bag))
        return np.array(scores)

    np.testing.assert_allclose(ours(), theirs(), atol=1e-3)
    best = [np.inf, np.inf]
    for _ in range(turns):
        best = [min(best[0], fastest(theirs, 1)), min(best[1], fastest(ours, 2))]
    return {
        "scikit_learn_ms": 1000 * best[0] / images,
        "ours_ms": 1000 * best[1] / images,
        "ratio": best[0] / best[1],
    }


def make_index(folder: Path, shots: int, *, words: int = 0) -> None:
    """Write an index of made-up shots, in segments of at most 100,000.

    Args:
        folder: Where.
        shots: How many.
        words: Said in each shot, some far more often than others; no text part if 0.
    """
    analyser = Analyser(language=None, stop_words=None)
    scale = FeatureScale(np.zeros(DIMENSIONS), np.ones(DIMENSIONS))
    entries = []
    for first in range(0, shots, 100_000):
        count = min(100_000, shots - first)
        random = np.random.default_rng([3, first])
        packed = PackedMixtures.pack(made_up(count, random))
        documents = [
            Document(f"v{n // 20}:{n}", f"v{n // 20}") for n in range(first, first + count)
        ]
        name = f"segment-{first:08d}"
        visual = {
            "factors": packed.factors,
            "constants": packed.constants,
            "lots": random.integers(2**63, size=count, dtype=np.uint64),
        }
        if count >= FEWEST_CODED:  # as a merged segment of an index has them
            visual |= code_mixtures(packed)
        parts = {
            "documents": PartData(document_columns(documents), {"videos": []}),
            "visual": PartData(visual, {}),
        }
        if words:
            said = np.minimum(random.zipf(1.3, (count, words)), _VOCABULARY).tolist()
            sources = [
                DocumentSource(document, (" ".join(f"word{n}" for n in row),))
                for document, row in zip(documents, said, strict=True)
            ]
            parts[TEXT] = TextPart(analyser).build(sources)
        write_segment(folder, name, parts)
        entries.append(SegmentEntry(name, count))
    settings: dict[str, Any] = {"visual": VisualSettings(scale=scale).to_json()}
    if words:
        settings[TEXT] = analyser.to_json()
    Manifest(1, settings, tuple(entries)).write(folder)


def ask_index(folder: Path, queries: int, exact: int) -> dict[str, float]:
    """Open an index and time queries; run in a process of its own, for its memory's sake."""

    def opening() -> Index:
        index = Index(folder)
        _ = index.documents[0], index.visual
        return index

    (opened, _), index = _timed(opening)
    random = np.random.default_rng(4)
    times: dict[str, list[tuple[float, float]]] = {"two_stage": [], "text": [], "exact": []}
    asked, answers, found = [], [], []
    for number in range(queries):
        model = index.visual.model(int(random.integers(len(index))))
        asked.append(model.draw(0, SAMPLES, random)[0])
        if number == 0:
            index.visual.search(asked[0], 10, exact=False)  # the background is gathered once
        seconds, hits = _timed(lambda: index.visual.search(asked[-1], exact=False))
        times["two_stage"].append(seconds)
        answers.append({hit.position for hit in hits})
    if TEXT in index.manifest.settings:
        search = JointSearch(index)
        said = np.minimum(random.zipf(1.3, (queries + 1, 2)), _VOCABULARY).tolist()
        for number, row in enumerate(said):
            query = search.text.query(" ".join(f"word{n}" for n in row))
            seconds, _ = _timed(lambda q=query: search.search(JointQuery(q)))
            if number:  # the first one learns the smoothing
                times["text"].append(seconds)
    memory = _peak_memory()
    for samples, hits in list(zip(asked, answers, strict=True))[:exact]:
        seconds, best = _timed(lambda s=samples: index.visual.search(s))
        times["exact"].append(seconds)
        found.append(len({hit.position for hit in best} & hits) / len(best))
    return {
        "open_ms": 1000 * opened,
        **{
            f"{name}_p{share}_{unit}": float(np.percentile(np.array(values)[:, column], share))
            for name, values in times.items()
            if values
            for column, unit in enumerate(("s", "processor_s"))
            for share in (50, 95)
        },
        "recall_at_10": float(np.mean(found)),
        "memory_mb": memory,
        "disk_mb": sum(file.stat().st_size for file in folder.rglob("*")) / 2**20,
    }


def _peak_memory() -> float:
    """Return the most memory this process has held, in megabytes.

    Pages of mapped files count as long as the system keeps them in. (``getrusage`` would count
    what the parent process held.)
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _timed(work: Callable[[], Any]) -> tuple[tuple[float, float], Any]:
    """Return the time by the clock and of all processors, and the result."""
    start, spent = time.perf_counter(), time.process_time()
    result = work()
    return (time.perf_counter() - start, time.process_time() - spent), result


def measure_growth(sizes: list[int], queries: int) -> dict[str, dict[str, float]]:
    """Make an index of each size and ask it in a fresh process."""
    results = {}
    for shots in sizes:
        with tempfile.TemporaryDirectory() as folder:
            start = time.process_time()
            make_index(Path(folder), shots, words=8)
            made = time.process_time() - start
            exact = max(2, min(queries, 200_000 // shots))
            results[str(shots)] = {"write_s": made, **ask_in_process(Path(folder), queries, exact)}
    return results


def ask_in_process(folder: Path, queries: int, exact: int) -> dict[str, float]:
    """Do what :func:`ask_index` does in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.retrieval", "--ask", str(folder)]
    command += ["--queries", str(queries), str(exact)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    answers: dict[str, float] = json.loads(told)
    return answers


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="smaller, for a first impression")
    parser.add_argument(
        "--shots", type=int, nargs="*", default=[10**4, 10**5], help="sizes of made-up indexes"
    )
    parser.add_argument("--ask", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--queries", type=int, nargs=2, default=(20, 5), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ask:
        print(json.dumps(ask_index(options.ask, *options.queries)))
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        report: dict[str, Any] = {
            "scoring": measure_scoring(
                1000 if options.quick else 10_000, 2 if options.quick else 5
            ),
            "fitting": measure_fitting(5 if options.quick else 20, 2 if options.quick else 5),
        }
    report["growth"] = measure_growth([1000] if options.quick else options.shots, 20)
    report["goals"] = GOALS
    if options.json:
        print(json.dumps(report, indent=2))
        return
    for name in ("scoring", "fitting"):
        print(f"{name}: " + ", ".join(f"{k} {v:.3g}" for k, v in report[name].items()))
    for shots, row in report["growth"].items():
        print(f"{int(shots):>9,} shots: " + ", ".join(f"{k} {v:.3g}" for k, v in row.items()))


if __name__ == "__main__":
    main()
