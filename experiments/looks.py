"""Nouns that learn what they look like: words from films through ``regions`` alone.

Run with ``python -m experiments.looks [--films 60] [--test 30] [--seed 0] [--folder DIR]
[--quick] [--json]``.
Renders films of the street in three places and others in a fourth, the harbour, finds regions in
them, which have no classes, learns words as ``wordsight learn`` does from the first and judges
sentences in the fourth place, as ``experiments.acl2013`` does: 12 of nouns and verbs (NV) and 12
with more words (ALL).

Rows: ``blind`` is the best that can be had without looking; ``codebook`` labels tracks of regions
by clusters of their looks, as was done before nouns learned looks; ``looks`` is what ``wordsight
learn`` does; ``names`` has the true noun of every track of a thing, and shows how far better nouns
could go with these tracks. ``nouns`` says how the tracks of the fourth place are named: the share
of the tracks of things that get their noun, the share of named tracks that are named right, and the
mean F1 of the nouns.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.report import Column, print_report, report_parser, run_main, say
from experiments.street_corpus import StreetClip, labelled, see_street
from experiments.street_folds import Fold, judge
from experiments.street_objects import OTHER, shown_by
from experiments.street_sentences import choose_test_sentences
from experiments.street_twins import sum_up_twins
from wordsight.language import default_lexicon
from wordsight.meaning import ON_FILM, LearnedLexicon, TrainingSettings, WordLearner
from wordsight.perception.tracking.tracks import track_regions
from wordsight.worlds import street

__all__ = ["main", "measure", "score_names", "truly_named"]

PLACE = "harbour"
"""Where words are judged; no film of it is learned from."""

MODELS = ("codebook", "looks", "names")
_CODEBOOK = 24  # clusters of looks
_MIN_VISIBLE = 0.25  # of a film; words leave out tracks that are seen less


def measure(
    films: int, test: int, seed: int, folder: Path, *, settings: TrainingSettings | None = None
) -> dict[str, Any]:
    """Run the experiment.

    Args:
        films: How many films to learn from.
        test: How many films to judge.
        seed: Of films and learning.
        folder: Where videos and libraries are kept.
        settings: How to learn; as ``wordsight learn`` if left out.

    Returns:
        F1 per set of sentences, and how tracks are named, as plain values.
    """
    chosen = settings or replace(ON_FILM, restarts=2, random_state=seed)
    train = see_street(list(street(films, seed)), "regions", folder / "learned")
    judged = list(street(test, seed, places=(PLACE,)))
    tests = see_street(judged, "regions", folder / PLACE)
    every = [item.film for item in (*train, *tests)]
    sentences = choose_test_sentences(every, [item.place for item in (*train, *tests)], PLACE)
    tracked = [[_tracked(item) for item in items] for items in (train, tests)]
    inputs = {
        "codebook": labelled(*tracked, _CODEBOOK, seed),
        "looks": (train, tests),
        "names": tuple([truly_named(item) for item in items] for items in tracked),
    }
    fold, results = Fold(), {}
    for model, (learned_from, judged_on) in inputs.items():
        learner = WordLearner(replace(chosen, looks=model == "looks")).fit(
            [item.clip for item in learned_from],
            [list(item.film.sentences) for item in learned_from],
            lexicon=default_lexicon(),
        )
        judge(fold, model, learner.held_out_, learned_from, judged_on, sentences, with_twins=True)
        say(f"{model}: " + ", ".join(f"{k} {row[model]:.3f}" for k, row in fold.f1.items()))
        if model == "looks":
            results["nouns"] = score_names(learner.lexicon_, tracked[1])
    for name, row in fold.f1.items():
        results[name] = {key: round(value, 4) for key, value in row.items()}
    twins = {model: sum_up_twins(fold.twins[model]) for model in MODELS}
    results["verb_swap"] = {model: twins[model]["verb"]["preferred"] for model in MODELS}
    return results


def score_names(lexicon: LearnedLexicon, items: Sequence[StreetClip]) -> dict[str, float]:
    """Compare the nouns that tracks get with what they show."""
    pairs: list[tuple[str, str]] = []
    for item in items:
        named = lexicon.named(item.clip).detections
        for place, kind in _kinds(item):
            if place.any(axis=1).mean() >= _MIN_VISIBLE:
                kept = place & named.mask
                noun = named.label_names[int(named.labels[kept][0])] if kept.any() else OTHER
                pairs.append((noun, kind))
    found, true = (np.array(row) for row in zip(*pairs, strict=True))
    things, right = true != OTHER, found == true
    nouns = sorted(set(true[things].tolist()))
    scores = [
        2 * (right & (true == n)).sum() / ((true == n).sum() + (found == n).sum()) for n in nouns
    ]
    return {
        "recall": round(float(right[things].mean()), 4),
        "precision": round(float(right[found != OTHER].sum() / max(1, (found != OTHER).sum())), 4),
        "macro_f1": round(float(np.mean(scores)), 4),
    }


def _tracked(item: StreetClip) -> StreetClip:
    clip = item.clip
    seen = track_regions(clip.detections, clip.video_id)
    return replace(item, clip=replace(clip, detections=seen))


def _kinds(item: StreetClip) -> list[tuple[NDArray[np.bool_], str]]:
    """Return per track where its boxes are, and what most of them show."""
    seen, rows = item.clip.detections, []
    shown = shown_by(seen, item.film)
    assert seen.ids is not None
    for number in np.unique(seen.ids[seen.mask]).tolist():
        place = seen.mask & (seen.ids == number)
        kinds, counts = np.unique(shown[place], return_counts=True)
        rows.append((place, str(kinds[counts.argmax()])))
    return rows


def truly_named(item: StreetClip) -> StreetClip:
    """Return a clip whose tracks have the nouns of what they show; others are left out."""
    seen, rows = item.clip.detections, _kinds(item)
    names = tuple(sorted({kind for _, kind in rows} - {OTHER})) or (OTHER,)
    labels, kept = np.zeros_like(seen.labels), np.zeros_like(seen.mask)
    for place, kind in rows:
        if kind in names:
            labels[place], kept[place] = names.index(kind), True
    named = replace(seen, labels=labels, label_names=names, mask=kept, appearance=None)
    return replace(item, clip=replace(item.clip, detections=named))


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.looks", __doc__ or "")
    parser.add_argument("--films", type=int, default=60, help="how many films to learn from")
    parser.add_argument("--test", type=int, default=30, help="how many films to judge")
    parser.add_argument("--seed", type=int, default=0, help="of films and learning")
    parser.add_argument(
        "--quick", action="store_true", help="leave out training against false sentences"
    )
    parser.add_argument("--folder", type=Path, help="keeps films and libraries for the next run")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as spare:
        settings = replace(
            ON_FILM,
            restarts=1 if options.quick else 2,
            discriminative=None if options.quick else "gradient",
            random_state=options.seed,
        )
        folder = options.folder or Path(spare)
        results = measure(options.films, options.test, options.seed, folder, settings=settings)
    keys = ("chance", "blind", *MODELS)
    columns = [Column("set", "F1", justify="left"), *(Column(key, key, ".3f") for key in keys)]
    rows = [{"set": name} | results[name] for name in ("NV", "ALL")]
    notes = [f"tracks in the {PLACE}: {results['nouns']}"]
    title = f"Words through regions alone, judged in the {PLACE}"
    print_report(
        results, as_json=options.json, title=title, columns=columns, rows=rows, notes=notes
    )


if __name__ == "__main__":
    run_main(main)
