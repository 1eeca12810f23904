"""States of a hand and blocks by simple-transition models: Fern (IJCAI 2005) on the tabletop world.

Run with ``python -m experiments.ijcai2005 [--folder DIR] [--films 30] [--noise 0.3] [--seed 0]
[--see network] [--json]``. Renders the films of seven events at 30 frames/s, finds the things with
a network that was trained on other rendered films (or by taught colours), follows them, and learns
from two training sets (a third and a sixth of the films of each event); the rest is for testing. An
error is a film whose compressed sequence of states is not exactly right. DIR keeps films and
tracks, so that a second run only learns. The films that our model gets wrong are listed, each with
the facts whose changes are missing, too many or late.

Rows: ``ours`` are rules boosted from all films of the training set with a cross-fitted transition
cost, inferred by the published search with the bounds of the table; ``seven films`` is the
published recipe, clauses from seven films and then the perceptron on the others, iteration by
iteration; ``fgm`` reads the films greedily with all rules that no training frame breaks and with
few of them that do as well there, ``fgm_cleaning`` leaves out moments that contradict others;
``WalkMaxSAT`` infers the counting-transition model, with our rules, by a random walk; ``published``
learns as the paper does (eight features, soft clauses, weights not averaged), ``chained`` clauses
with facts in their bodies. ``walkmaxsat_fair``, ``rc2``, ``bp`` and ``gibbs`` infer from our rules
with opposite units set off first (:mod:`experiments.baselines.field`), ``by_length`` for short to
long films; ``calibration`` is that of the probabilities of facts. Events are
Leonard's seven, found in the states: a film counts as right if exactly its own event is told,
with all who take part. Frames per second are of processor time, from measured features to states.

Numbers of the paper are lost; the order of its methods is known and is what to compare.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.baselines.field import FieldFilm, field_results
from experiments.report import Column, print_report, report_parser, run_main, say
from experiments.tabletop_corpus import EYES, scenes
from experiments.tabletop_models import (
    Case,
    Score,
    at_bound,
    believed,
    cases,
    effort,
    fit_chained,
    fit_ours,
    fit_published,
    fit_walk,
    greedy_rows,
    judge,
    mistakes,
    per_fact,
    seven_rows,
)
from wordsight.errors import WordsightError
from wordsight.states import EXACT

__all__ = ["BOUNDS", "main", "measure"]

BOUNDS = (0, 10, 100)
"""Bounds of the search for a segment's state: greed alone, small, large."""

COLUMNS = (
    Column("model", "model", justify="left"),
    Column("training", "training films"),
    Column("bound", "bound"),
    Column("iteration", "iteration"),
    Column("error", "error %"),
    Column("events", "events right %"),
    Column("fps", "frames/s", ".0f"),
    Column("rules", "rules"),
    Column("transition_cost", "K"),
    Column("patience", "patience"),
    Column("cut_off", "searches cut off %"),
    Column("dearer", "films dearer for it %"),
)


def measure(
    folder: Path,
    films: int,
    noise: float,
    seed: int,
    *,
    sets: Sequence[str] = ("a", "b"),
    seven: bool = True,
    walk: bool = True,
    see: str = EYES[0],
) -> dict[str, Any]:
    """Run the experiment.

    Args:
        folder: Where films and tracks are kept.
        films: Films per event, at least 3.
        noise: How spoiled the pictures are.
        seed: Seed of the world and of learning.
        sets: Which training sets, ``a`` the larger, ``b`` the smaller.
        seven: Whether to run the published recipe too.
        walk: Whether to run WalkMaxSAT too.
        see: How things are found, one of :data:`EYES`.

    Returns:
        The best error of each method over the training sets, in percent, and all rows.
    """
    if films < 3:
        raise WordsightError(f"two training sets and a test set need 3 films or more, got {films}.")
    every = cases(scenes(folder, films, noise=noise, random_state=seed, see=see))
    rows: list[dict[str, Any]] = []
    for name in sets:
        training = _training_sets(every, films)[name]
        used = max(films // 3, 1) + max(films // 6, 1)
        tested = [case for case in every if case.number >= used]
        say(f"training set {name}: {len(training)} films; {len(tested)} for testing")
        for row in _rows(training, tested, seed, seven, walk):
            rows.append({"set": name, "training": len(training), **row})
            say(f"  {rows[-1]}")
    return {
        **_summary(rows),
        **_field(_training_sets(every, films)[sets[0]], tested, seed),
        "films": len(every),
        "noise": noise,
        "rows": rows,
    }


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.ijcai2005", __doc__ or "")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="keeps films for the next run")
    parser.add_argument("--films", type=int, default=30, help="films of each event (30)")
    parser.add_argument("--noise", type=float, default=0.3, help="low 0.3, medium 0.6 (0.3)")
    parser.add_argument("--seed", type=int, default=0, help="of world and learning (0)")
    parser.add_argument("--sets", nargs="+", default=["a", "b"], choices=["a", "b"])
    parser.add_argument("--quick", action="store_true", help="leave out seven films, WalkMaxSAT")
    parser.add_argument("--see", default=EYES[0], choices=EYES, help="how things are found")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as spare:
        results = measure(
            options.folder or Path(spare),
            options.films,
            options.noise,
            options.seed,
            sets=options.sets,
            seven=not options.quick,
            walk=not options.quick,
            see=options.see,
        )
    print_report(
        results,
        as_json=options.json,
        title=f"Tabletop, {results['films']} films, noise {options.noise:g}",
        columns=COLUMNS,
        rows=results["rows"],
    )


def _training_sets(every: Sequence[Case], films: int) -> dict[str, list[Case]]:
    large, small = max(films // 3, 1), max(films // 6, 1)
    return {
        "a": [case for case in every if case.number < large],
        "b": [case for case in every if large <= case.number < large + small],
    }


def _rows(
    training: Sequence[Case], tested: Sequence[Case], seed: int, seven: bool, walk: bool
) -> Iterator[dict[str, Any]]:
    model = fit_ours(training, seed)
    judge(model.predict, tested[:1])  # compiles
    rules = len(model.rules_)
    exact = at_bound(model, EXACT)
    exact(tested[0].seen)
    chosen = {"rules": rules, "transition_cost": round(model.transition_cost_, 3)}
    yield {"model": "ours", **_score(judge(exact, tested)), **chosen}
    for line in mistakes(exact, tested):
        say(f"  wrong: {line}")
    by_facts = _score(judge(per_fact(model), tested))
    yield {"model": "ours, K for each fact that changes", **by_facts, "rules": rules}
    for bound in BOUNDS:
        infer = at_bound(model, bound)
        infer(tested[0].seen)
        cut, dearer = effort(model, bound, tested)
        yield {
            "model": "ours",
            "bound": bound,
            **_score(judge(infer, tested)),
            "rules": rules,
            "cut_off": round(cut, 1),
            "dearer": round(dearer, 1),
        }
    for name, fit in (("published", fit_published), ("chained", fit_chained)):
        other = fit(training, seed)
        yield {
            "model": name,
            **_score(judge(other.predict, tested)),
            "rules": len(other.rules_),
            "transition_cost": round(other.transition_cost_, 3),
        }
    for name, count, patience, score in greedy_rows(training, tested):
        yield {"model": name, **_score(score), "rules": count, "patience": patience}
    if walk:
        walker = fit_walk(model, training, seed)
        yield {"model": "walkmaxsat", **_score(judge(walker.predict, tested)), "rules": rules}
    if seven:
        for bound, iteration, right, transition, score in seven_rows(
            training, tested, BOUNDS, seed
        ):
            yield {
                "model": "seven films",
                "bound": bound,
                "iteration": iteration,
                **_score(score),
                "training_right": round(right, 3),
                "transition_cost": round(transition, 3),
            }


def _field(training: Sequence[Case], tested: Sequence[Case], seed: int) -> dict[str, Any]:
    """Return the other ways to infer from our rules, and how calibrated these are."""
    model = fit_ours(training, seed)
    found = field_results([FieldFilm(case.seen, case.truth, model) for case in tested])
    measured = believed(model, tested)
    say(f"  field: {found}; calibration error {measured.error:.4f}")
    return {**found, "calibration": asdict(measured)}


def _score(score: Score) -> dict[str, float]:
    return {name: round(value, 2) for name, value in asdict(score).items()}


def _summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the best error of each method over training sets (and iterations), and our speed."""

    def best(**wanted: Any) -> float | None:
        errors = [r["error"] for r in rows if all(r.get(k) == v for k, v in wanted.items())]
        return min(errors, default=None)

    ours = [r for r in rows if r["model"] == "ours"]
    return {
        "stm": {str(bound): best(model="ours", bound=bound) for bound in BOUNDS},
        "stm_exact": best(model="ours", bound=None),
        "stm_seven": {str(bound): best(model="seven films", bound=bound) for bound in BOUNDS},
        "fgm": best(model="fgm"),
        "fgm_cleaning": best(model="fgm_cleaning"),
        "walkmaxsat": best(model="walkmaxsat"),
        "published": best(model="published"),
        "chained": best(model="chained"),
        "fps": max((r["fps"] for r in ours if r.get("bound") is None), default=None),
        "events": max((r["events"] for r in rows if r["model"] == "ours"), default=None),
    }


if __name__ == "__main__":
    run_main(main)
