"""Words learned from real detections: forced choice on CAD-120, leaving one subject out.

Run with ``python -m experiments.cad120 --data DIR [--people DIR3] [--test DIR2]``. DIR holds
``meta.json``, ``tracks.npz``, ``rcnn_detections.csv.gz`` and ``clips.jsonl``. Each clip comes with
all sentences its objects allow, one of them true; the model picks one. With ``--test`` it trains on
all of DIR and tests on all of DIR2; otherwise it leaves out one subject after the other.

Two settings: ``detections`` knows only what a Faster R-CNN saw, boxes and class numbers, and with
``--people`` the person, hands and head that DensePose saw on every third frame, all of it followed
as ``wordsight learn`` follows boxes from a file (``boxes.npz`` in DIR3); ``tracks``
takes annotated boxes with the object's name as label, and the person, head and hands from the
projected skeleton. Everything is chosen on training clips: restarts by the conditional likelihood
of their true sentences, epochs and the rest by fixed defaults.

Rows: ``accuracy`` is the default model (discriminative) on the tracks as they are, ``joint`` the
same on chains of tracklets that are carried on where they are not detected, ``without_habits`` is
``accuracy`` without what is usually said of which things, ``calibrated`` before discriminative
training, ``ml`` by raw likelihood ratio, ``faithful`` the method as published (Eqs. 9-10, features
of Table 2), ``blind`` knows how often each sentence is true, ``blind_duration`` also how long the
clip lasts. Clips begin and end with their events, which the model knows too.
Grounding: the share of clips with a patient whose track, found with the true sentence, overlaps the
annotated one with a mean intersection over union of at least 0.5, beside the share of those in
which the detections of any one track do, gaps not filled. ``twins``: how often the true sentence is
preferred to a candidate that differs in one word, and is judged true and the other false, without
what is usually said; people are always the agents here, so that roles cannot be exchanged.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.cad120_scores import Job, Tally, measure_fold
from experiments.data.cad120 import has_detections, subjects_of
from experiments.report import Column, print_report, report_parser, run_main, say
from experiments.street_twins import sum_up_twins
from wordsight.engine import Processes
from wordsight.errors import WordsightError

__all__ = ["main", "measure"]

SETTINGS = ("detections", "tracks")
ROWS = (
    "accuracy",
    "joint",
    "without_habits",
    "calibrated",
    "ml",
    "faithful",
    "blind_duration",
    "blind",
    "chance",
)


def measure(
    data: Path,
    test: Path | None,
    settings: tuple[str, ...],
    workers: int,
    people: Sequence[Path] = (),
) -> dict[str, Any]:
    """Run the experiment.

    Args:
        data: Folder of the data, or of the training data if ``test`` is given.
        test: Folder of the test data, or None to leave out one subject after the other.
        settings: Which of ``detections`` and ``tracks``; where both are asked for and a folder has
            no detections, only the other is measured.
        workers: How many processes to use.
        people: Folders of what a network saw of people, which joins the detections.

    Returns:
        The results per setting.
    """
    folders = [data] if test is None else [data, test]
    if len(settings) > 1 and not all(map(has_detections, folders)):
        say("detections are left out: rcnn_detections.csv.gz is missing")
        settings = tuple(setting for setting in settings if setting != "detections")
    subjects: tuple[str | None, ...] = (None,) if test is not None else subjects_of(data)
    jobs = [
        Job(data, test, each, subject, tuple(people)) for each in settings for subject in subjects
    ]
    found: dict[str, list[Tally]] = {setting: [] for setting in settings}
    for outcome in Processes(workers).map(measure_fold, jobs):
        if outcome.result is None:
            raise WordsightError(f"{outcome.item.setting}: {outcome.error}")
        tally = outcome.result
        share = tally.right["accuracy"] / max(1, tally.clips)
        say(f"{outcome.item.setting}, {outcome.item.subject or 'held out'}: {share:.3f}")
        found[outcome.item.setting].append(tally)
    return {setting: _summed(tallies) for setting, tallies in found.items()}


def _summed(tallies: list[Tally]) -> dict[str, Any]:
    clips = sum(tally.clips for tally in tallies)

    def share(values: list[float], of: float) -> float:
        return round(sum(values) / of, 4) if of else 0.0

    result: dict[str, Any] = {row: share([t.right[row] for t in tallies], clips) for row in ROWS}
    result["clips"] = clips
    for row in tallies[0].verbs:
        verbs = [t.verbs[row] for t in tallies]
        name = "" if row == "accuracy" else f"{row}_"
        result[f"{name}verb_accuracy"] = share(verbs, clips)
        result[f"{name}noun_given_verb"] = share([t.right[row] for t in tallies], sum(verbs))
    asked, right, possible = (sum(t.grounded[k] for t in tallies) for k in range(3))
    result["grounding_iou50"] = share([right], asked)
    result["joint_grounding_iou50"] = share([t.joint_grounded[1] for t in tallies], asked)
    result["grounding_possible"] = share([possible], asked)
    result["twins"] = sum_up_twins([twin for tally in tallies for twin in tally.twins])
    return result


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.cad120", __doc__ or "", "folder of the CAD-120 data")
    parser.add_argument("--test", type=Path, metavar="DIR2", help="folder of held-out data")
    parser.add_argument(
        "--people",
        type=Path,
        metavar="DIR3",
        action="append",
        default=[],
        help="folder of people's boxes; may be repeated, for those of DIR2",
    )
    parser.add_argument("--setting", choices=(*SETTINGS, "both"), default="both")
    parser.add_argument("--workers", type=int, default=2, help="processes to use")
    options = parser.parse_args(arguments)
    settings = SETTINGS if options.setting == "both" else (options.setting,)
    results = measure(options.data, options.test, settings, options.workers, options.people)
    settings = tuple(results)
    columns = [Column("row", "", justify="left")]
    columns += [Column(setting, setting, ".3f") for setting in settings]
    names = [name for name in results[settings[0]] if name not in (*ROWS, "twins")]
    notes = [
        f"twins, {setting}, {kind}: preferred {own['preferred']:.3f} (blind {own['blind']:.3f}), "
        f"strictly {own['strict']:.3f} (blind {own['blind_strict']:.3f}), {own['pairs']} pairs"
        for setting in settings
        for kind, own in results[setting]["twins"].items()
    ]
    rows = [
        {"row": name.replace("_", " ")} | {s: results[s][name] for s in settings}
        for name in (*ROWS, *names)
    ]
    print_report(
        results,
        as_json=options.json,
        title="CAD-120, forced choice among all sentences the objects allow",
        columns=columns,
        rows=rows,
        notes=notes,
    )


if __name__ == "__main__":
    run_main(main)
