"""Is this sentence true of this clip? The protocol of Yu & Siskind (ACL 2013) on the street world.

Run with ``python -m experiments.acl2013 [--clips 61] [--seed 0] [--folder DIR] [--json]``. Renders
the films, looks at them with the detector of the rendered worlds, learns words in two places and
judges 12 sentences of nouns and verbs (NV) and 12 with adverbs and prepositions (ALL) in the third,
for each of three places. A sentence counts as true where its score reaches the threshold that gives
the best F1 on the training clips, each judged by the words as they would be without it.

Rows: ``chance`` says true half of the time; ``blind`` is the best that can be had without looking;
``learned`` is maximum likelihood with calibration, ``discriminative`` the default model; ``hand``
has meanings written by hand, and is told what the labels of the detector show. The published row
stands beside; it is about other films, so compare ratios. ``role_swap`` and ``verb_swap``: how
often what is said of a test clip beats the same sentence with roles exchanged, or with another
verb, where that is false.

``--see`` says what is looked at: ``rendered`` (what a detector finds that was trained on other
films, as the authors' detectors were, linked over time; the learner sees class numbers),
``objects`` (regions linked over time and named by a discriminant taught with boxes in the training
places), ``tracks`` (the same with unsupervised looks instead of classes),
``regions`` (single regions with looks, linked by the words themselves; slow), or ``truth`` (true
boxes; shows what better detection would give, renders nothing).
"""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.report import Column, print_report, report_parser, say
from experiments.street_corpus import SIGHTS, StreetClip, see_street
from experiments.street_folds import MODELS, Fold, measure_fold
from experiments.street_plot import save_curves
from experiments.street_sentences import choose_test_sentences
from wordsight.errors import WordsightError
from wordsight.evaluation import roc_curve
from wordsight.meaning import ON_FILM, TrainingSettings
from wordsight.worlds import street

__all__ = ["PUBLISHED", "main", "measure"]

PUBLISHED = {
    "NV": {"chance": 0.155, "blind": 0.265, "learned": 0.545, "hand": 0.748},
    "ALL": {"chance": 0.099, "blind": 0.198, "learned": 0.639, "hand": 0.786},
}
"""F1 in Table 3 of the paper."""

LOOKS = 24
"""How many looks of regions are told apart."""


def measure(
    clips: int,
    seed: int,
    folder: Path,
    *,
    sight: str = "rendered",
    settings: TrainingSettings | None = None,
    words: int = LOOKS,
    threads: int = 2,
    plot: Path | None = None,
) -> dict[str, Any]:
    """Run the experiment.

    Args:
        clips: How many films; three or more, so that there are three places.
        seed: Of films and learning.
        folder: Where videos and library are kept.
        sight: What is looked at.
        settings: How to learn; the defaults if left out.
        words: How many looks to tell apart.
        threads: How many threads may be used.
        plot: Where to draw the ROC curves, if anywhere.

    Returns:
        F1 per set of sentences and the shares of twins beaten, as plain values.
    """
    chosen = settings or replace(ON_FILM, random_state=seed)
    films = list(street(clips, seed))
    items = see_street(films, sight, folder)
    places = [item.place for item in items]
    sentences = choose_test_sentences(films, places)
    folds = []
    for place in dict.fromkeys(places):
        training, testing = _split(items, place)
        fold = measure_fold(
            training,
            testing,
            sentences,
            settings=chosen,
            words=0 if sight == "objects" else words,
            threads=threads,
        )
        say(f"{place}: " + ", ".join(f"{name} {_told(row)}" for name, row in fold.f1.items()))
        folds.append(fold)
    if plot is not None:
        save_curves(folds, plot)
    return _summary(folds)


def _split(items: list[StreetClip], place: str) -> tuple[list[StreetClip], list[StreetClip]]:
    training = [item for item in items if item.place != place]
    testing = [item for item in items if item.place == place]
    if not training:
        raise WordsightError("three places are needed to leave one out; ask for 3 clips or more.")
    return training, testing


def _summary(folds: list[Fold]) -> dict[str, Any]:
    results: dict[str, Any] = {}
    for name in folds[0].f1:
        rows = [fold.f1[name] for fold in folds]
        results[name] = {key: _mean([row[key] for row in rows]) for key in rows[0]}
        results[name]["base_rate"] = _mean([float(fold.truth[name].mean()) for fold in folds])
        results[name]["roc_area"] = {model: _area(folds, name, model) for model in MODELS}
        results[name]["published"] = PUBLISHED[name]
    for kind in ("role", "verb"):
        shares = {
            model: _mean([won for fold in folds for won in getattr(fold.swaps[model], kind)])
            for model in MODELS
        }
        results[f"{kind}_swap"] = shares["discriminative"]
        results[f"{kind}_swap_by_model"] = shares
    return results


def _area(folds: list[Fold], name: str, model: str) -> float:
    """Return the area under the curve of all test pairs, each fold on its own scale."""
    areas = [
        roc_curve(fold.scores[name][model], fold.truth[name]).area
        for fold in folds
        if fold.truth[name].any() and not fold.truth[name].all()
    ]
    return _mean(areas)


def _mean(values: list[Any]) -> float:
    return round(float(np.mean(values)), 4) if values else 0.0


def _told(row: dict[str, float]) -> str:
    return " ".join(f"{key} {value:.3f}" for key, value in row.items())


def _print(results: dict[str, Any], as_json: bool) -> None:
    keys = ("chance", "blind", *MODELS)
    columns = [Column("set", "F1", justify="left"), *(Column(key, key, ".3f") for key in keys)]
    rows = []
    for name, published in PUBLISHED.items():
        rows.append({"set": name} | {key: results[name][key] for key in keys})
        rows.append({"set": f"{name}, published"} | published)
    notes = [
        f"base rates {results['NV']['base_rate']:.3f} and {results['ALL']['base_rate']:.3f}",
        f"true sentence beats role-swapped twin: {results['role_swap']:.3f}, "
        f"verb-swapped twin: {results['verb_swap']:.3f}",
    ]
    title = "Street, three places as folds"
    print_report(results, as_json=as_json, title=title, columns=columns, rows=rows, notes=notes)


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.acl2013", __doc__ or "")
    parser.add_argument("--clips", type=int, default=61, help="how many films")
    parser.add_argument("--seed", type=int, default=0, help="of films and learning")
    parser.add_argument("--folder", type=Path, help="keeps films and library for the next run")
    parser.add_argument("--see", choices=SIGHTS, default="rendered", help="what is looked at")
    parser.add_argument(
        "--looks", type=int, default=LOOKS, help="looks to tell apart, where there are no classes"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the ROC curves")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as spare:
        results = measure(
            options.clips,
            options.seed,
            options.folder or Path(spare),
            sight=options.see,
            words=options.looks,
            threads=options.threads,
            plot=options.plot,
        )
    _print(results, options.json)


if __name__ == "__main__":
    try:
        main()
    except WordsightError as error:
        sys.exit(str(error))
