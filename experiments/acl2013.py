"""Is this sentence true of this clip? The protocol of Yu & Siskind (ACL 2013) on the street world.

Run with ``python -m experiments.acl2013 [--draws 13] [--seed 20] [--folder DIR] [--json]``; runs of
single draws or rows with ``--json`` are put together by ``--pool FILE ...``. Each
draw renders 61 films, looks at them with the detector of the rendered worlds, which never saw these
places, learns words in two places and judges 12 sentences of nouns and verbs (NV) and 12 with
adverbs and prepositions (ALL) in the third, for each of three places; every sentence is true of a
film there. A sentence counts as true where its score reaches the threshold that gives the best F1
on the training clips, each judged by the words as they would be without it. Films in which some
word is neither clearly true nor clearly false are drawn anew by the world itself, which the paper
could not do. The detector's classes come as numbers, so that nouns are learned.

Rows: ``chance`` says true half of the time; ``blind`` is the best that can be had without looking.
``as_published`` is the paper's method: Eqs. 4 to 10, Table 2's features in clustered bins, all
frames that were looked at, the two surest boxes of a class, tracks and words in one lattice, no
prior, the threshold found on the clips learned from. ``learned`` is maximum likelihood with
calibration, ``discriminative`` the default model, both reading tracks that were linked before;
``joint`` is the default model with chains of tracklets that are chosen together with the words;
``senses``, only where asked for, is the default model with two senses for verbs that have them.
``hand_as_published`` has the meanings the authors wrote, judged as published; ``hand`` our own
hand-written ones with slopes set by hand; ``hand_fitted`` the same words, judged by a belief that
is fitted to the training sentences as that of learned words is. All three are shown what the labels
of the detector stand for. The paper's own figures stand beside; they are about other films.

``twins``: per kind how often what is true of a test clip is preferred to a twin that is false, and
how often it is judged true and its twin false, without role priors; see
:mod:`experiments.street_twins`. ``interval`` is the 95 % interval of the mean over draws.

``--wrong`` gives a share of the training clips the sentences of other ones, which training must
tolerate; thresholds are then found on such clips, too.

``--words further`` measures adjectives, intransitive verbs and directions instead, on other things
said of the same films: see :class:`experiments.street_sentences.FurtherFilm`. ``--words homonym``
says "handled" for "picked up" and for "put down".

``--features`` has words look at another set of features, as ``wordsight learn`` does.

``--see`` says what is looked at: ``rendered`` (what a detector finds that was trained on other
films, as the authors' detectors were, linked over time; the learner sees class numbers),
``objects`` (regions linked over time and named by a discriminant taught with boxes in the training
places), ``tracks`` (the same with unsupervised looks instead of classes),
``regions`` (single regions with looks, linked by the words themselves; slow), or ``truth`` (true
boxes; shows what better detection would give, renders nothing).
"""

import tempfile
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from scipy.stats import t as student

from experiments.report import (
    Column,
    print_report,
    read_results,
    report_parser,
    run_main,
    say,
)
from experiments.street_corpus import SIGHTS, StreetClip, detector_recall, see_street
from experiments.street_folds import MODELS, Fold, measure_fold
from experiments.street_plot import save_curves
from experiments.street_sentences import (
    FURTHER_LEXICON,
    FURTHER_SENTENCES,
    HOMONYM_LEXICON,
    FurtherFilm,
    HomonymFilm,
    choose_test_sentences,
    homonym_sentences,
)
from experiments.street_twins import pool_twins, sum_up_twins
from wordsight.errors import WordsightError
from wordsight.evaluation import roc_curve
from wordsight.language import parse
from wordsight.meaning import ON_FILM, TrainingSettings
from wordsight.records import Sentence
from wordsight.worlds import street
from wordsight.worlds.street import StreetFilm

__all__ = ["PUBLISHED", "main", "measure", "pool"]

PUBLISHED = {
    "NV": {"chance": 0.155, "blind": 0.265, "learned": 0.545, "hand": 0.748},
    "ALL": {"chance": 0.099, "blind": 0.198, "learned": 0.639, "hand": 0.786},
}
"""F1 in Table 3 of the paper."""

_PUBLISHED_ROW = {"as_published": "learned", "hand_as_published": "hand", "learned": "", "hand": ""}

_NO_SETS = ("twins", "draws", "detector", "senses")

LOOKS = 24
"""How many looks of regions are told apart."""


def measure(
    clips: int,
    seeds: Sequence[int],
    folder: Path,
    *,
    sight: str = "rendered",
    models: Collection[str] = MODELS,
    settings: TrainingSettings | None = None,
    words: int = LOOKS,
    threads: int = 2,
    wrong: float = 0.0,
    other: str | None = None,
    plot: Path | None = None,
) -> dict[str, Any]:
    """Run the experiment.

    Args:
        clips: How many films; three or more, so that there are three places.
        seeds: Of films and learning, one for each draw.
        folder: Where the videos and the library of each draw are kept.
        sight: What is looked at.
        models: Which rows to measure.
        settings: How to learn; the defaults if left out.
        words: How many looks to tell apart.
        threads: How many threads may be used.
        wrong: Share of the training clips with sentences of another clip.
        other: ``further`` or ``homonym`` if other words are learned than those of the corpus.
        plot: Where to draw the ROC curves, if anywhere.

    Returns:
        F1 per set of sentences, twins and the detector's recall, as plain values.
    """
    draws: list[list[Fold]] = []
    seen: list[tuple[float, float]] = []
    for seed in seeds:
        chosen = replace(settings or ON_FILM, random_state=seed)
        films = list(street(clips, seed))
        items = see_street(films, sight, folder / f"draw-{seed}")
        if other is not None:
            # It answers what experiments ask of a film.
            said = [FurtherFilm(f, seed) if other == "further" else HomonymFilm(f) for f in films]
            items = [
                replace(item, film=cast(StreetFilm, film))
                for item, film in zip(items, said, strict=True)
            ]
        places = [item.place for item in items]
        draws.append([])
        for place in dict.fromkeys(places):
            training, testing = _split(items, place)
            if sight in ("rendered", "truth"):
                seen.append(detector_recall(testing))
            fold = measure_fold(
                training,
                testing,
                _asked(other, choose_test_sentences(films, places, place)),
                settings=chosen,
                words=0 if sight == "objects" else words,
                models=models,
                threads=threads,
                wrong=wrong,
                lexicon=_LEXICONS[other],
            )
            rows = ", ".join(f"{name} {_told(row)}" for name, row in fold.f1.items())
            split = f"; several senses: {', '.join(fold.senses) or 'none'}"
            say(f"draw {seed}, {place}: {rows}{split if 'senses' in models else ''}")
            draws[-1].append(fold)
    if plot is not None:
        save_curves([fold for folds in draws for fold in folds], plot)
    results = _summary(draws)
    results["draws"] = dict(zip(map(str, seeds), map(_f1_of, draws), strict=True))
    if "senses" in models:
        split = [fold.senses for folds in draws for fold in folds]
        verbs = sorted({verb for one in split for verb in one})
        results["senses"] = {verb: _mean([float(verb in one) for one in split]) for verb in verbs}
    if seen:
        results["detector"] = dict(
            zip(("recall", "precision"), map(_mean, zip(*seen, strict=True)), strict=True)
        )
    return results


def pool(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Put runs of several draws, or of several rows of one draw, together.

    Args:
        parts: What :func:`measure` returned; a row of a draw that is in two of them counts once.

    Returns:
        The same for all draws together. Means and intervals are over draws that have all rows;
        twins are weighted by their pairs.
    """
    draws: dict[str, dict[str, dict[str, float]]] = {}
    for part in parts:
        for seed, sets in part["draws"].items():
            for name, row in sets.items():
                draws.setdefault(seed, {}).setdefault(name, {}).update(row)
    results = _over_draws(list(draws.values()))
    for name in list(results):
        own = [part[name] for part in parts]
        results[name]["base_rate"] = _mean([one["base_rate"] for one in own])
        results[name]["roc_area"] = {
            model: _mean([one["roc_area"][model] for one in own if model in one["roc_area"]])
            for model in dict.fromkeys(model for one in own for model in one["roc_area"])
        }
    models = dict.fromkeys(model for part in parts for model in part["twins"])
    results["twins"] = {
        model: pool_twins([part["twins"][model] for part in parts if model in part["twins"]])
        for model in models
    }
    results["draws"] = dict(sorted(draws.items()))
    seen = [part["detector"] for part in parts if "detector" in part]
    if seen:
        results["detector"] = {key: _mean([one[key] for one in seen]) for key in seen[0]}
    return results


_LEXICONS = {None: None, "further": FURTHER_LEXICON, "homonym": HOMONYM_LEXICON}


def _asked(other: str | None, sentences: dict[str, list[Sentence]]) -> dict[str, list[Sentence]]:
    """Return the test sentences, given those of the corpus."""
    if other == "further":
        return {
            name: [parse(text, FURTHER_LEXICON) for text in row]
            for name, row in FURTHER_SENTENCES.items()
        }
    return sentences if other is None else homonym_sentences(sentences)


def _split(items: list[StreetClip], place: str) -> tuple[list[StreetClip], list[StreetClip]]:
    training = [item for item in items if item.place != place]
    testing = [item for item in items if item.place == place]
    if not training:
        raise WordsightError("three places are needed to leave one out; ask for 3 clips or more.")
    return training, testing


def _f1_of(folds: Sequence[Fold]) -> dict[str, dict[str, float]]:
    """Return F1 per set of sentences and row, means over the folds of a draw."""
    return {
        name: {key: _mean([fold.f1[name][key] for fold in folds]) for key in row}
        for name, row in folds[0].f1.items()
    }


def _summary(draws: Sequence[Sequence[Fold]]) -> dict[str, Any]:
    folds = [fold for draw in draws for fold in draw]
    results = _over_draws(list(map(_f1_of, draws)))
    for name in list(results):
        results[name]["base_rate"] = _mean([float(fold.truth[name].mean()) for fold in folds])
        measured = [model for model in MODELS if model in folds[0].scores[name]]
        results[name]["roc_area"] = {model: _area(folds, name, model) for model in measured}
    results["twins"] = {
        model: sum_up_twins([one for fold in folds for one in fold.twins[model]])
        for model in folds[0].twins
    }
    return results


def _over_draws(rows: Sequence[dict[str, dict[str, float]]]) -> dict[str, Any]:
    """Return the means and intervals over draws of every row that all of them have."""
    results: dict[str, Any] = {}
    for name in rows[0]:
        shared = [key for key in rows[0][name] if all(key in row[name] for row in rows)]
        values = {key: [row[name][key] for row in rows] for key in shared}
        results[name] = {key: _mean(own) for key, own in values.items()}
        results[name]["interval"] = {key: _interval(own) for key, own in values.items()}
        if name in PUBLISHED:
            results[name]["published"] = PUBLISHED[name]
    return results


def _interval(values: Sequence[float]) -> list[float] | None:
    """Return the 95 % interval of the mean of draws; None of a single one."""
    if len(values) < 2:
        return None
    half = float(student.ppf(0.975, len(values) - 1) * np.std(values, ddof=1))
    half /= len(values) ** 0.5
    return [round(float(np.mean(values)) - half, 4), round(float(np.mean(values)) + half, 4)]


def _area(folds: Sequence[Fold], name: str, model: str) -> float:
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
    rows, sets = [], [name for name in results if name not in _NO_SETS]
    for key in ("chance", "blind", *MODELS):
        row: dict[str, Any] = {"row": key.replace("_", " ")}
        for name in sets:
            published = PUBLISHED.get(name, {})
            if key in results[name]:
                span = results[name]["interval"][key]
                told = "" if span is None else f" [{span[0]:.3f}, {span[1]:.3f}]"
                row |= {name: f"{results[name][key]:.3f}{told}"}
                row |= {f"{name} published": published.get(_PUBLISHED_ROW.get(key, key))}
        rows.append(row)
    columns = [Column("row", "F1", justify="left")]
    for name in sets:
        columns += [Column(name, name), Column(f"{name} published", "in the paper", ".3f")]
    notes = [
        *(
            f"two senses: {verb} in {x:.2f} of folds"
            for verb, x in results.get("senses", {}).items()
        ),
        f"draws: {', '.join(results['draws'])}; three places as folds, films that are not clear "
        "about some word drawn anew",
        "base rates " + ", ".join(f"{name} {results[name]['base_rate']:.3f}" for name in sets),
    ]
    if "detector" in results:
        found = results["detector"]
        notes.append(
            f"detector in the test places: recall {found['recall']:.3f}, precision "
            f"{found['precision']:.3f}"
        )
    for model, kinds in results["twins"].items():
        for kind, own in kinds.items():
            notes.append(
                f"twins, {model}, {kind.replace('_', ' ')}: preferred {own['preferred']:.3f} "
                f"(blind {own['blind']:.3f}, chance .5), strictly {own['strict']:.3f} "
                f"(blind {own['blind_strict']:.3f}, chance .25), {own['pairs']} pairs"
            )
    title = "Street: is this sentence true?"
    print_report(results, as_json=as_json, title=title, columns=columns, rows=rows, notes=notes)


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.acl2013", __doc__ or "")
    parser.add_argument("--clips", type=int, default=61, help="how many films")
    parser.add_argument("--seed", type=int, default=20, help="of the first draw")
    parser.add_argument("--draws", type=int, default=13, help="how many draws")
    parser.add_argument("--folder", type=Path, help="keeps films and library for the next run")
    parser.add_argument("--see", choices=SIGHTS, default="rendered", help="what is looked at")
    parser.add_argument("--rows", nargs="+", choices=MODELS, metavar="ROW", help="some rows only")
    parser.add_argument(
        "--looks", type=int, default=LOOKS, help="looks to tell apart, where there are no classes"
    )
    sets = ("recommended", "accelerating", "plain")
    parser.add_argument("--features", choices=sets, default="recommended", help="words look at")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--words", choices=("corpus", "further", "homonym"), default="corpus", help="are learned"
    )
    parser.add_argument(
        "--wrong", type=float, default=0.0, help="share of training clips with wrong sentences"
    )
    parser.add_argument(
        "--pool", type=Path, nargs="+", metavar="FILE", help="put these JSON results together"
    )
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the ROC curves")
    options = parser.parse_args(arguments)
    if options.pool:
        _print(pool([read_results(path) for path in options.pool]), options.json)
        return
    with tempfile.TemporaryDirectory() as spare:
        results = measure(
            options.clips,
            range(options.seed, options.seed + options.draws),
            options.folder or Path(spare),
            sight=options.see,
            models=options.rows or [row for row in MODELS if row != "senses"],
            settings=replace(ON_FILM, features=options.features),
            words=options.looks,
            threads=options.threads,
            wrong=options.wrong,
            other=None if options.words == "corpus" else options.words,
            plot=options.plot,
        )
    _print(results, options.json)


if __name__ == "__main__":
    run_main(main)
