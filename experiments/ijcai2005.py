"""States of a hand and blocks by simple-transition models: Fern (IJCAI 2005) on the tabletop world.

Run with ``python -m experiments.ijcai2005 [--folder DIR] [--films 30] [--noise 0.3] [--seed 0]
[--see network] [--methods NAME …] [--workers N] [--json]``. Renders the films of seven events at 30
frames/s, finds the things with a network that was trained on other rendered films (or by taught
colours), follows them, and learns from two training sets (a third and a sixth of the films of each
event); the rest is for testing. An error is a film whose compressed sequence of states is not
exactly right. DIR keeps films and tracks, so that a second run only learns. The films that our
model gets wrong are listed, each with the facts whose changes are missing, too many or late.

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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.report import Column, print_report, report_parser, run_main
from experiments.tabletop_corpus import EYES, look_at_films
from experiments.tabletop_rows import BOUNDS, METHODS, Job, run_job
from wordsight.engine import Processes
from wordsight.errors import WordsightError
from wordsight.worlds.tabletop import EVENTS

__all__ = ["main", "measure"]

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
    methods: Sequence[str] = METHODS,
    see: str = EYES[0],
    workers: int = 1,
) -> dict[str, Any]:
    """Run the experiment.

    Args:
        folder: Where films and tracks are kept.
        films: Films per event, at least 3.
        noise: How spoiled the pictures are.
        seed: Seed of the world and of learning.
        sets: Which training sets, ``a`` the larger, ``b`` the smaller.
        methods: Which of :data:`METHODS` to run; ``field`` on the first training set only.
        see: How things are found, one of :data:`EYES`.
        workers: How many processes to use.

    Returns:
        The best error of each method over the training sets, in percent, and all rows.
    """
    if films < 3:
        raise WordsightError(f"two training sets and a test set need 3 films or more, got {films}.")
    look_at_films(folder, films, noise=noise, random_state=seed, see=see, workers=workers)
    jobs = [
        Job(folder, films, noise, seed, see, name, method)
        for method in methods
        for name in (sets[:1] if method == "field" else sets)
    ]
    rows: list[dict[str, Any]] = []
    field: dict[str, Any] = {}
    for outcome in Processes(workers).map(run_job, jobs, ordered=True):
        if outcome.result is None:
            raise WordsightError(f"{outcome.item.method}: {outcome.error}")
        if outcome.item.method == "field":
            field = outcome.result[0]
        else:
            rows += outcome.result
    return {
        **_summary(rows),
        **field,
        "films": films * len(EVENTS),
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
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS, metavar="NAME")
    parser.add_argument("--workers", type=int, default=2, help="processes to use (2)")
    parser.add_argument("--see", default=EYES[0], choices=EYES, help="how things are found")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as spare:
        results = measure(
            options.folder or Path(spare),
            options.films,
            options.noise,
            options.seed,
            sets=options.sets,
            methods=options.methods,
            see=options.see,
            workers=options.workers,
        )
    print_report(
        results,
        as_json=options.json,
        title=f"Tabletop, {results['films']} films, noise {options.noise:g}",
        columns=COLUMNS,
        rows=results["rows"],
    )


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
