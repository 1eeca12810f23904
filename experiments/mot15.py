"""Following pedestrians: our tracker on the MOT15 benchmark's detections, scored by motmetrics.

Run with ``python -m experiments.mot15 --data DIR [--gt DIR] [--json]``. DIR holds the sequences as
``SEQ/det/det.txt``, somewhere below it. MOTA, IDF1 and MOTP are in percent, as SORT (Bewley et al.
2016) reports them on the same detections.

The tracker's settings are the same for all sequences. They were chosen in the middle of what works
on the two TUD sequences, whole, with detections left out and at a half to a quarter of the frame
rate, and by hiding stretches of well seen tracks in all eleven sequences and looking whether they
are found again; ``--sensitivity`` shows how little each of them matters.
"""

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.greedy_iou import track_greedily
from experiments.mot_files import Sequence, find_sequences
from experiments.mot_scores import score_tracks
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.perception.formats import read_boxes, write_boxes
from wordsight.perception.tracking import Coherence
from wordsight.perception.tracking.tracker import Tracker
from wordsight.perception.tracking.tracks import detections_from_tracks
from wordsight.records import Detections, Track

__all__ = ["main", "measure", "measure_sensitivity"]

SORT_PUBLISHED = {"TUD-Campus": {"mota": 62.7, "motp": 73.7}}
"""What SORT's authors report on the same detections, in percent."""

COLUMNS = (
    Column("sequence", "sequence", justify="left"),
    Column("tracker", "tracker", justify="left"),
    Column("mota", "MOTA %"),
    Column("idf1", "IDF1 %"),
    Column("motp", "MOTP %"),
    Column("id_switches", "switches"),
    Column("false_positives", "false"),
    Column("misses", "missed"),
    Column("tracks", "tracks"),
    Column("mean_seconds", "seconds each"),
    Column("boxes_per_frame", "boxes/frame"),
    Column("filled", "filled %"),
)


def measure(
    sequence: Sequence, tracker: Tracker | None = None, output: Path | None = None
) -> dict[str, Any]:
    """Track one sequence and score the tracks, and those of the greedy baseline.

    Args:
        sequence: Which.
        tracker: Our tracker, with its default settings if left out.
        output: A folder to write the tracks to, as ``SEQ.txt`` in MOT format.

    Returns:
        The scores (``None`` without ground truth) and some statistics; those of the baseline under
        ``baseline_iou``, and the published ones of SORT under ``sort_published``.
    """
    detections = read_boxes(sequence.detections, frame_rate=sequence.frame_rate)
    tracks = (tracker or Tracker()).track(detections, sequence.name)
    tracked = detections_from_tracks(tracks, detections.times, detections.frame_size)
    if output is not None:
        write_boxes(output / f"{sequence.name}.txt", tracked)
    result = {**_scores(sequence, tracked), **_statistics(tracks, detections)}
    result["baseline_iou"] = _scores(sequence, track_greedily(detections))
    if sequence.name in SORT_PUBLISHED:
        result["sort_published"] = SORT_PUBLISHED[sequence.name]
    return result


def measure_sensitivity(sequence: Sequence, change: float = 0.25) -> dict[str, list[float]]:
    """Return the MOTA with every setting of the tracker a quarter lower and a quarter higher."""
    detections = read_boxes(sequence.detections, frame_rate=sequence.frame_rate)
    found: dict[str, list[float]] = {}
    for name, tracker in _varied(change):
        tracks = tracker.track(detections, sequence.name)
        tracked = detections_from_tracks(tracks, detections.times, detections.frame_size)
        found.setdefault(name, []).append(_scores(sequence, tracked)["mota"])
    return found


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser(
        "experiments.mot15", __doc__ or "", "folder with SEQ/det/det.txt below it"
    )
    parser.add_argument(
        "--gt", type=Path, metavar="DIR", help="folder with SEQ/gt/gt.txt or SEQ/gt.txt below it"
    )
    parser.add_argument(
        "--all", action="store_true", help="also sequences without ground truth (mota is null)"
    )
    parser.add_argument(
        "--sensitivity", action="store_true", help="also vary every setting by a quarter"
    )
    parser.add_argument("--output", type=Path, metavar="DIR", help="write the tracks there")
    options = parser.parse_args(arguments)
    sequences = find_sequences(options.data, options.gt)
    chosen = [s for s in sequences if options.all or s.truth is not None]
    if not chosen:
        parser.error(
            f"found {len(sequences)} sequences with detections (SEQ/det/det.txt) below "
            f"{options.data}, none of them with ground truth; name its folder with --gt"
        )
    results = {}
    for sequence in chosen:
        say(f"{sequence.name} ...")
        results[sequence.name] = measure(sequence, output=options.output)
        if options.sensitivity and sequence.truth is not None:
            results[sequence.name]["sensitivity"] = measure_sensitivity(sequence)
    print_report(
        results,
        as_json=options.json,
        title="Tracking on MOT15 detections",
        columns=COLUMNS,
        rows=list(_rows(results)),
        notes=list(_notes(results)),
    )


def _scores(sequence: Sequence, tracked: Detections) -> dict[str, Any]:
    if sequence.truth is None:
        return {"mota": None, "idf1": None, "motp": None}
    return score_tracks(sequence.truth, tracked)


def _statistics(tracks: list[Track], detections: Detections) -> dict[str, Any]:
    boxes = sum(len(track) for track in tracks)
    seen = sum(int(track.observed.sum()) for track in tracks)
    return {
        "tracks": len(tracks),
        "mean_seconds": round(float(np.mean([t.end - t.start for t in tracks] or [0.0])), 2),
        "boxes_per_frame": round(boxes / max(len(detections), 1), 2),
        "detections_per_frame": round(float(detections.mask.sum()) / max(len(detections), 1), 2),
        "filled": round(100.0 * (boxes - seen) / max(boxes, 1), 1),
    }


def _varied(change: float) -> Iterator[tuple[str, Tracker]]:
    base = Tracker()
    for factor in (1.0 - change, 1.0 + change):
        for field in fields(Tracker):
            value = getattr(base, field.name)
            if isinstance(value, float) and value:
                changed: dict[str, Any] = {field.name: factor * value}
                yield field.name, replace(base, **changed)
        for field in fields(Coherence):
            value = factor * getattr(base.coherence, field.name)
            coherence = replace(base.coherence, **{field.name: value})
            yield f"coherence.{field.name}", replace(base, coherence=coherence)


def _rows(results: dict[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for name, result in results.items():
        yield {"sequence": name, "tracker": "Wordsight", **result}
        if result["mota"] is not None:
            yield {"tracker": "greedy overlap", **result["baseline_iou"]}
        if "sort_published" in result:
            yield {"tracker": "SORT, published", **result["sort_published"]}


def _notes(results: dict[str, dict[str, Any]]) -> Iterator[str]:
    for name, result in results.items():
        varied = result.get("sensitivity", {})
        if varied:
            yield f"\n{name}: MOTA with one setting 25 % lower | higher (else {result['mota']:.1f})"
            for setting, (lower, higher) in varied.items():
                yield f"  {setting:24s} {lower:6.1f} | {higher:.1f}"


if __name__ == "__main__":
    run_main(main)
