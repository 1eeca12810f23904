"""Tracks that hold: our tracker beside SORT, ByteTrack and OC-SORT on the same detections.

Run with ``python -m experiments.tracking --data DIR [--only mot15 cad120 films] [--json]``. DIR
holds ``mot15`` with ``mot15_gt``, ``cad120`` and ``films``; what is absent is left out.

``mot15``: MOTA and IDF1 in percent, mean of the sequences with ground truth. ``cad120``: boxes of a
Faster R-CNN on every third frame, whose classes are often confused, beside annotated objects:
``tracks_per_thing`` is the number of tracks that lie on an object (overlap of at least a half, in
three frames or more), ``held`` the share of all frames in which the one longest on it is.
``films``: the number of tracks of three films, per detector, beside the numbers of things and of
visits that were counted by eye.

The baselines are written from their papers (`experiments.baselines.online_trackers`); each has a
row with its published settings and one, ``tuned``, with the thresholds (sure scores, patience, hits
before a report) that give the best mean MOTA on the same sequences. Settings of ours were chosen on
the TUD sequences and the rules against doubles on these films: all are development figures.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from experiments.baselines.online_trackers import BYTETRACK, OC_SORT, SORT, OnlineTracker
from experiments.data.cad120 import load_tracking
from experiments.data.film_things import FILM_THINGS
from experiments.mot_files import find_sequences
from experiments.mot_scores import score_tracks
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.perception import Tracker, detections_from_tracks, load_detector, observe
from wordsight.perception.detectors.suppression import box_iou
from wordsight.perception.formats import read_boxes
from wordsight.perception.networks import installed_network
from wordsight.records import Detections
from wordsight.video import VideoReader

__all__ = ["main", "measure"]

Follow = Callable[[Detections], Detections]
PARTS = ("mot15", "cad120", "films")
PUBLISHED = {"SORT": SORT, "ByteTrack": BYTETRACK, "OC-SORT": OC_SORT}
DETECTORS = ("objects", "hands", "regions")
_RATE = 10.0  # frames a second looked at in films, as `wordsight add` does
_SAME = 0.5  # overlap from which a track lies on an object
_LEAST_FRAMES = 3  # on an object


def measure(data: Path, parts: tuple[str, ...] = PARTS) -> dict[str, Any]:
    """Run all trackers on what there is of the data.

    Args:
        data: Folder of the data sets.
        parts: Which of them.

    Returns:
        Per tracker its figures, and under ``films_truth`` the counts of things and visits.
    """
    followers: dict[str, Follow] = {"Wordsight": _ours}
    followers |= {name: tracker.track for name, tracker in PUBLISHED.items()}
    if "mot15" in parts and (data / "mot15").exists():
        tuned = {f"{name}, tuned": _tuned(data / "mot15", one) for name, one in PUBLISHED.items()}
        followers |= {name: tracker.track for name, tracker in tuned.items()}
    results: dict[str, Any] = {name: {} for name in followers}
    sets: dict[str, Callable[[Path, Follow], dict[str, Any]]]
    sets = {"mot15": _mot15, "cad120": _cad120, "films": _films}
    for part in parts:
        if not (data / part).exists():
            say(f"{part} is left out: {data / part} is missing")
            continue
        for name, follow in followers.items():
            say(f"{part}: {name} ...")
            results[name][part] = sets[part](data / part, follow)
    if "films" in parts:
        results["films_truth"] = {name: vars(one) for name, one in FILM_THINGS.items()}
    return results


def _ours(detections: Detections) -> Detections:
    tracks = Tracker().track(detections)
    return detections_from_tracks(
        tracks, detections.times, detections.frame_size, label_names=detections.label_names
    )


@cache
def _sequences(folder: Path) -> list[tuple[Path, Detections]]:
    found = [one for one in find_sequences(folder) if one.truth is not None]
    return [
        (one.truth, read_boxes(one.detections, frame_rate=one.frame_rate))
        for one in found
        if one.truth is not None
    ]


def _mot15(folder: Path, follow: Follow) -> dict[str, Any]:
    scores = [score_tracks(truth, follow(seen)) for truth, seen in _sequences(folder)]
    means = {key: np.mean([one[key] for one in scores]) for key in ("mota", "idf1", "motp")}
    switches = sum(one["id_switches"] for one in scores)
    return {key: round(float(value), 2) for key, value in means.items()} | {"switches": switches}


def _tuned(folder: Path, tracker: OnlineTracker) -> OnlineTracker:
    """Choose the score of sure detections and the patience by the mean MOTA."""
    choices = [
        replace(tracker, confident=confident, patience=patience, min_hits=hits)
        for confident in (0.0, 0.7)
        for patience in (1, 30)
        for hits in (1, 3)
    ]
    return max(choices, key=lambda one: float(_mot15(folder, one.track)["mota"]))


def _cad120(folder: Path, follow: Follow) -> dict[str, Any]:
    tracks, held, things = [], [], 0
    for seen, annotated in _annotated(folder):
        found = follow(seen)
        for on in _frames_on(found, annotated):
            things += 1
            tracks.append(int((on >= _LEAST_FRAMES).sum()))
            held.append(float(on.max(initial=0)) / len(found))
    seen_things = [count for count in tracks if count]
    return {
        "tracks_per_thing": round(float(np.mean(seen_things)), 2) if seen_things else None,
        "held": round(float(np.mean(held)), 3),
        "things": things,
    }


@cache
def _annotated(folder: Path) -> list[tuple[Detections, np.ndarray]]:
    return list(load_tracking(folder))


def _frames_on(found: Detections, annotated: np.ndarray) -> Iterator[np.ndarray]:
    """Yield per annotated object the number of frames that each track lies on it."""
    assert found.ids is not None
    most = int(found.ids.max(initial=0)) + 1
    for column in range(annotated.shape[1]):
        counts = np.zeros(most, dtype=int)
        for row in range(min(len(found), len(annotated))):
            here = found.mask[row]
            overlap = box_iou(annotated[row, column][None], found.boxes[row][here])[0]
            if overlap.max(initial=0.0) >= _SAME:
                counts[found.ids[row][here][int(overlap.argmax())]] += 1
        yield counts


def _films(folder: Path, follow: Follow) -> dict[str, Any]:
    counts: dict[str, Any] = {}
    for detector, seen in _looked_at(folder).items():
        numbers = {name: _number_of_tracks(follow(one)) for name, one in seen.items()}
        counts[detector] = numbers | {"all": sum(numbers.values())}
    return counts


def _number_of_tracks(found: Detections) -> int:
    return 0 if found.ids is None else len(np.unique(found.ids[found.mask]))


@cache
def _looked_at(folder: Path) -> dict[str, dict[str, Detections]]:
    """Look at the films with every detector that is installed."""
    seen: dict[str, dict[str, Detections]] = {}
    for detector in DETECTORS:
        if detector != "regions" and installed_network(detector) is None:
            say(f"{detector} is left out: `wordsight detectors get {detector}` fetches it")
            continue
        seen[detector] = {}
        for name in FILM_THINGS:
            say(f"{detector} looks at {name} ...")
            with VideoReader(folder / name) as video:
                seen[detector][name] = observe(video, load_detector(detector), rate=_RATE)
    return seen


def _rows(results: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name, found in results.items():
        if name != "films_truth":
            row = {"tracker": name, **found.get("mot15", {}), **found.get("cad120", {})}
            films = found.get("films", {})
            yield row | {detector: counts["all"] for detector, counts in films.items()}


COLUMNS = (
    Column("tracker", "tracker", justify="left"),
    Column("mota", "MOTA %"),
    Column("idf1", "IDF1 %"),
    Column("switches", "switches", ".0f"),
    Column("tracks_per_thing", "tracks a thing", ".2f"),
    Column("held", "held", ".3f"),
    *(Column(detector, f"films, {detector}", ".0f") for detector in DETECTORS),
)


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.tracking", __doc__ or "", "folder of the data sets")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="which parts")
    options = parser.parse_args(arguments)
    results = measure(options.data, tuple(options.only))
    print_report(
        results,
        as_json=options.json,
        title="Trackers on the same detections",
        columns=COLUMNS,
        rows=list(_rows(results)),
    )


if __name__ == "__main__":
    run_main(main)
