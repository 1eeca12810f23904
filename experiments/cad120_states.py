"""Who holds what, when: states of CAD-120 from real tracks, leaving one subject out.

Run with ``python -m experiments.cad120_states --data DIR [--test DIR2] [--json]``. DIR holds
``meta.json``, ``tracks.npz`` and ``states.jsonl``. With ``--test`` everything is learned from DIR
and judged on DIR2; otherwise one subject after the other is left out.

Rows: ``rules`` are boosted Horn rules with the transition cost K cross-fitted on the training
subjects, ``few_rules`` at most 60 of them, ``perceptron`` all of them after the averaged perceptron
with a margin, ``causal`` measures nothing ahead of time, ``online`` moreover says each moment's
state at that moment, ``fern`` is the published recipe and ``fern_scaled`` the same with averaged
weights and larger steps of K, ``gradient_boosting`` a classifier per frame with the same dynamic
program, and ``speed`` calls held what moves; ``chained`` are clauses with facts in their bodies;
``sentences`` are rules as ours for facts that no label gives, learned from what is said
(``clips.jsonl``). In percent of videos wrong, ``published``, ``chained`` and, by other ways to
infer from our rules with opposite units set off first, ``walkmaxsat_fair``, ``rc2``, ``bp`` and
``gibbs``, of 30 videos, ``by_length`` from short to long. ``calibration`` is that of the
probabilities of facts in videos left out. Sequence accuracy: the share of videos whose compressed
sequence of states is exactly right. Fact accuracy: the share of right facts over all frames and
facts. Nothing is chosen on the videos judged. ``fps`` are frames a second of processor time from
measured features to states, grounding of all rules included.
"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from experiments.baselines.field import FieldFilm, field_results
from experiments.cad120_state_folds import METHODS, Job, Judged, Tally, measure_fold
from experiments.data.cad120_states import load_videos
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.engine import Processes
from wordsight.errors import WordsightError
from wordsight.states import calibration
from wordsight.states.beliefs import BeliefCalibration, draw_reliability

__all__ = ["main", "measure"]

ROWS = ("rules", "few_rules", "perceptron", "causal", "online", "gradient_boosting", "fern")
ROWS += ("fern_scaled", "chained", "sentences", "speed")


def measure(data: Path, test: Path | None, workers: int) -> dict[str, Any]:
    """Run the experiment.

    Args:
        data: Folder of the data, or of the training data if ``test`` is given.
        test: Folder of the test data, or None to leave out one subject after the other.
        workers: How many processes to use.
    """
    subjects: list[str | None] = [None]
    if test is None:
        subjects = sorted({video.subject for video in load_videos(data)})
    jobs = [Job(data, test, subject, method) for method in METHODS for subject in subjects]
    videos: dict[str, list[Judged]] = {row: [] for row in ROWS}
    speeds, tallies = [], []
    for outcome in Processes(workers).map(measure_fold, jobs):
        if outcome.result is None:
            raise WordsightError(f"{outcome.item.method}: {outcome.error}")
        for row, more in outcome.result.videos.items():
            videos[row] += more
            share = sum(video.right for video in more) / len(more)
            say(f"{row}, {outcome.item.subject or 'held out'}: {share:.3f}")
        if outcome.result.model is not None:
            speeds.append(outcome.result.fps)
            tallies.append((outcome.item, outcome.result))
    rows = {row: _summed(found) for row, found in videos.items() if found}
    best, base = rows["rules"], rows["speed"]
    return {
        "sequence_accuracy": best["sequence_accuracy"],
        "fact_accuracy": best["fact_accuracy"],
        "baseline_sequence": base["sequence_accuracy"],
        "baseline_fact": base["fact_accuracy"],
        "fps": round(sum(speeds) / len(speeds)),
        "videos": len(videos["rules"]),
        "rules": max(len(one.model.rules_) for _, one in tallies),
        "published": _error(rows["fern"]),
        "chained": _error(rows["chained"]),
        **_field(tallies),
        "calibration": asdict(
            calibration(
                np.concatenate([one.said for _, one in tallies]),
                np.concatenate([one.true for _, one in tallies]),
            )
        ),
        "rows": rows,
    }


def _error(row: dict[str, Any]) -> float:
    """Return the percent of videos whose sequence is not exactly right."""
    return round(100 * (1 - row["sequence_accuracy"]), 2)


def _field(tallies: Sequence[tuple[Job, Tally]]) -> dict[str, Any]:
    """Infer the videos of every fold by other ways, from the rules learned on the others."""
    films = [
        FieldFilm(video.observations, video.states, tally.model)
        for job, tally in tallies
        for video in load_videos(job.data if job.test is None else job.test)
        if job.subject in (None, video.subject)
    ]
    return field_results(films)


def _summed(videos: list[Judged]) -> dict[str, Any]:
    subjects = sorted({video.subject for video in videos})
    per_subject = {}
    for subject in subjects:
        rights = [video.right for video in videos if video.subject == subject]
        per_subject[subject] = round(sum(rights) / len(rights), 4)
    return {
        "sequence_accuracy": round(sum(v.right for v in videos) / len(videos), 4),
        "fact_accuracy": round(
            sum(v.right_facts for v in videos) / sum(v.facts for v in videos), 4
        ),
        "per_subject": per_subject,
    }


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.cad120_states", __doc__ or "", "folder of the data")
    parser.add_argument("--test", type=Path, metavar="DIR2", help="folder of held-out data")
    parser.add_argument("--diagram", type=Path, metavar="PNG", help="draw how calibrated it is")
    parser.add_argument("--workers", type=int, default=2, help="processes to use")
    options = parser.parse_args(arguments)
    results = measure(options.data, options.test, options.workers)
    if options.diagram is not None:
        measured = BeliefCalibration(**results["calibration"])
        draw_reliability(options.diagram, measured, heading="CAD-120, left out", overwrite=True)
    subjects = list(results["rows"]["rules"]["per_subject"])
    print_report(
        results,
        as_json=options.json,
        title="CAD-120, states: share of videos whose sequence is exactly right, and of facts",
        columns=[
            Column("row", "", justify="left"),
            Column("sequence_accuracy", "sequences", ".3f"),
            Column("fact_accuracy", "facts", ".4f"),
            *(Column(subject, subject, ".3f") for subject in subjects),
        ],
        rows=[
            {"row": row.replace("_", " ")} | values | values["per_subject"]
            for row, values in results["rows"].items()
        ],
        notes=[f"{results['videos']} videos; {results['fps']:,} frames a second (rules)"],
    )


if __name__ == "__main__":
    run_main(main)
