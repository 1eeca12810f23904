"""Protocols timed against rendered silent films of a laboratory bench, with human mistakes.

Run with ``python -m experiments.workbench [--films 4] [--rates 0 0.15 0.3] [--work DIR] [--json]``.
At each rate every step may be skipped, repeated and swapped with its neighbour with that chance.
Films are rendered, encoded, and looked at through our own perception; all films, of all rates, are
learned together without labels. Films and detections are kept in DIR and used again. The rule of
touch was made on films of seed 0 and the ``mistakes`` settings on seed 1; others are fresh.

Sources of observations: ``touches`` are the truth, ``boxes`` true boxes under the same rule as
detections, ``rendered`` a detector trained on other films of this world (as published work had for
its own), ``regions`` our detector without any model. Models: ``default`` is the ensemble,
``mistakes`` the semi-Markov model set to expect skipped, repeated and swapped steps. ``uniform``
splits the chunks of the best honest source (``rendered``) evenly, ``uniform_clock`` the whole time.

Measures: ``accuracy``, the share of the moments at which a step is under way that get the right
step, mean over films; ``boundary_seconds``, the median distance between true and found beginnings
of steps; ``skipped_f1``, F1 of "this step did not happen" over all films, with its precision and
recall. As in ``wordsight align``, each film is judged by models of the other films first, and steps
that do not seem to happen are left out of its text.

``--lines N`` measures something else: in N groups of six films, steps are deleted from the texts
and others inserted, and lines that do not happen are found from touches that are true or spoiled
to some degree. The judge was fitted on films made alike of seeds 1006 to 1033; others are fresh.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.alignment_scores import found_absent
from experiments.report import Column, print_report, report_parser, run_main, say
from experiments.wetlab import edited_text
from experiments.workbench_films import SOURCES, Take, make_takes, observed_through, spoiled
from experiments.workbench_scores import (
    clock_split,
    even_split,
    score_alignment,
    score_steps,
    summed,
)
from wordsight.alignment import (
    Belonging,
    Instructions,
    Observed,
    PoorEvidenceError,
    align_together,
    judge_belonging,
)
from wordsight.alignment.belonging import BelongingJudge
from wordsight.alignment.models import AlignmentModel, Ensemble
from wordsight.alignment.tasks import mistake_tolerant_model

__all__ = ["main", "measure", "measure_lines"]

Pair = tuple[Instructions, Observed]

_LINE_RATES = (0.0, 0.0, 0.1)  # of mistakes, by group
_NOISE = {
    "none": (0.0, 0.0, 0.0),
    "little": (0.1, 0.05, 0.03),
    "some": (0.15, 0.1, 0.05),
    "much": (0.25, 0.15, 0.1),
}
"""Shares of things never seen, of touches missed and of touches of another thing."""

_LINE_MEASURES = ("precision", "recall", "false_alarms", "cannot_tell")
_MEASURES = (
    *("accuracy", "boundary_seconds", "boundary_within_2s"),
    *("skipped_f1", "skipped_precision", "skipped_recall"),
)


def measure(
    films: int,
    rates: Sequence[float],
    folder: Path,
    *,
    steps: int = 8,
    random_state: int = 2,
    sources: Sequence[str] = SOURCES,
) -> dict[str, Any]:
    """Align films in every way.

    Args:
        films: How many per rate.
        rates: Chances of each mistake.
        folder: Where films and detections are kept.
        steps: Steps of each protocol.
        random_state: Seed of the films.
        sources: Which sources of observations.

    Returns:
        By rate, by row the measures.
    """
    takes = {r: make_takes(films, r, steps=steps, random_state=random_state) for r in rates}
    results: dict[str, Any] = {f"{rate:g}": {} for rate in rates}
    for source in sources:
        seen = {
            rate: observed_through(source, takes[rate], folder, f"{random_state}-{steps}-{rate:g}")
            for rate in rates
        }
        if source in ("rendered", sources[0]):
            for rate in rates:
                results[f"{rate:g}"] |= _baselines(takes[rate], seen[rate])
        models = {"default": Ensemble(), "mistakes": mistake_tolerant_model()}
        pairs = {
            r: [(t.instructions, _without_moves(o)) for t, o in zip(takes[r], seen[r], strict=True)]
            for r in rates
        }
        verdicts = iter(judge_belonging([pair for group in pairs.values() for pair in group]))
        belonging = {rate: [next(verdicts) for _ in pairs[rate]] for rate in rates}
        for name, model in models.items():
            model.fit([pair for group in pairs.values() for pair in group])
            for rate in rates:
                doubting = name == "mistakes"
                found = _scored(takes[rate], pairs[rate], belonging[rate], model, doubting)
                results[f"{rate:g}"][f"{source}_{name}"] = found
                say(f"{source}, {name}, rate {rate:g}: {found}")
    return results


def measure_lines(groups: int, *, random_state: int = 1100) -> dict[str, Any]:
    """Find lines that do not happen in texts with steps deleted and inserted.

    Each group is six films, two of each of three protocols of 8 to 15 steps; each film is judged
    by the five others.

    Args:
        groups: How many groups of films, at each level of noise in turn.
        random_state: Seed of the first group; the next ones follow.

    Returns:
        By level of noise precision, recall and false alarms, as in ``experiments.wetlab``.
    """
    happens: dict[str, list[NDArray[np.float64]]] = {}
    true: dict[str, list[NDArray[np.bool_]]] = {}
    for seed in range(random_state, random_state + groups):
        level = list(_NOISE)[seed % len(_NOISE)]
        random = np.random.default_rng(seed)
        rate = _LINE_RATES[seed % len(_LINE_RATES)]
        takes = make_takes(6, rate, steps=int(random.integers(8, 16)), random_state=seed)
        seen = spoiled(observed_through("touches", takes), *_NOISE[level], random)
        texts = [take.instructions for take in takes]
        edits = [edited_text(t.instructions, np.unique(t.steps), texts, random) for t in takes]
        for number, (text, kinds) in enumerate(edits):
            rest = [(edits[n][0], seen[n]) for n in range(len(seen)) if n != number]
            found = BelongingJudge(rest).judge(text, seen[number]).happens
            happens.setdefault(level, []).append(found)
            true.setdefault(level, []).append(kinds != 0)
        say(f"films of seed {seed}, {level}")
    return {
        level: found_absent(np.concatenate(happens[level]), np.concatenate(true[level]))
        for level in happens
    }


def _scored(
    takes: Sequence[Take],
    pairs: Sequence[Pair],
    belonging: Sequence[Belonging],
    model: AlignmentModel,
    doubting: bool,
) -> dict[str, Any]:
    timings, refused = [], 0
    for take, pair, verdict in zip(takes, pairs, belonging, strict=True):
        try:
            aligned = align_together(
                pair[0],
                [pair[1]],
                aligner=model,
                fit=False,
                mistakes=doubting,
                belonging={pair[1].video_id: verdict},
            )
            timings.append(score_alignment(take, pair[1], aligned.alignments[0]))
        except PoorEvidenceError:
            # What a refusing model would say if it had to: its best guess still counts.
            best = model.predict(*pair)
            timings.append(score_steps(take, pair[1], take.instructions.steps[best]))
            refused += 1
    return summed(timings) | {"refused": refused}


def _without_moves(observed: Observed) -> Observed:
    """Leave out how things move: on this bench it tells little and costs a few points."""
    chunks = tuple(replace(chunk, verbs=frozenset()) for chunk in observed.chunks)
    return replace(observed, chunks=chunks)


def _baselines(takes: list[Take], observed: list[Observed]) -> dict[str, Any]:
    pairs = list(zip(takes, observed, strict=True))
    return {
        "uniform": summed([score_steps(t, o, even_split(t, o)) for t, o in pairs]),
        "uniform_clock": summed([score_steps(t, o, clock_split(t, o)) for t, o in pairs]),
    }


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.workbench", __doc__ or "")
    parser.add_argument("--films", type=int, default=4, help="films per rate")
    parser.add_argument("--rates", type=float, nargs="+", default=[0.0, 0.15, 0.3])
    parser.add_argument("--steps", type=int, default=8, help="steps of each protocol")
    parser.add_argument("--seed", type=int, default=2, help="seed of the films")
    parser.add_argument("--sources", nargs="+", choices=SOURCES, default=list(SOURCES))
    parser.add_argument("--lines", type=int, metavar="N", help="groups of films; lines instead")
    parser.add_argument("--work", type=Path, metavar="DIR", help="where films are kept")
    options = parser.parse_args(arguments)
    if options.lines:
        lines = measure_lines(options.lines)
        print_report(
            lines,
            as_json=options.json,
            title="Workbench: lines that do not happen",
            columns=[Column("noise", "noise", justify="left")]
            + [Column(n, n.replace("_", " "), ".3f") for n in _LINE_MEASURES],
            rows=[{"noise": level} | row for level, row in lines.items()],
        )
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.work or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        results = measure(
            options.films,
            options.rates,
            folder,
            steps=options.steps,
            random_state=options.seed,
            sources=options.sources,
        )
    columns = [Column("rate", "mistakes", justify="left"), Column("row", "", justify="left")]
    columns += [Column(name, name.replace("_", " "), ".3f") for name in _MEASURES]
    rows = [
        {"rate": rate, "row": row} | values
        for rate, found in results.items()
        for row, values in found.items()
    ]
    print_report(
        results,
        as_json=options.json,
        title="Workbench: protocols timed against rendered films",
        columns=columns,
        rows=rows,
    )


if __name__ == "__main__":
    run_main(main)
