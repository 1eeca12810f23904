"""How fast worlds are rendered and encoded, and how well a detector finds what is in them.

Run ``python -m benchmarks.worlds [--clips N] [--world NAME] [--detector NAME] [--json]``. All
runs on one core. Found means an intersection over union of one half with a truth box; with
``--detector none`` only speed is measured.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.perception import load_detector
from wordsight.perception.detectors.suppression import box_iou
from wordsight.video import VideoReader
from wordsight.worlds import RenderedFilm, street, tabletop, workbench

World = Callable[..., Iterator[RenderedFilm[Any]]]


def _tabletop(clips: int, **options: Any) -> Iterator[RenderedFilm[Any]]:
    """Make about so many films: the same number of each of the seven events."""
    return tabletop(max(clips // 7, 1), **options)


def _workbench(clips: int, **options: Any) -> Iterator[RenderedFilm[Any]]:
    """Make fewer films, because they are long: each of three steps instead of 10 to 25."""
    return workbench(max(clips // 6, 1), steps=3, videos_per_protocol=1, **options)


WORLDS: dict[str, World] = {"street": street, "tabletop": _tabletop, "workbench": _workbench}
NOISES = (0.0, 0.3, 0.6, 1.0)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clips", type=int, default=12, help="films of each world and noise level")
    parser.add_argument("--world", choices=list(WORLDS), help="only this one")
    parser.add_argument("--detector", default="regions", help="what to judge, or none")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    _stay_on_one_core()
    report: dict[str, Any] = {}
    for name, world in WORLDS.items():
        if options.world not in (None, name):
            continue
        report[name] = {}
        for noise in NOISES:
            films = list(world(clips=options.clips, random_state=1, noise=noise))
            report[name][str(noise)] = measure(films, options.detector)
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        _print_table(report)


def measure(films: list[RenderedFilm[Any]], detector: str) -> dict[str, float]:
    """Render and encode films, then look for their things in the files."""
    frames = sum(film.num_frames for film in films)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{film.name}.mp4" for film in films]
        spent = [_best_time(film, path) for film, path in zip(films, paths, strict=True)]
        wall, processor = (sum(column) for column in zip(*spent, strict=True))
        figures = {
            "clips": len(films),
            "frames": frames,
            "frames_per_second": round(frames / wall, 1),
            # What the core did for us, without what it did for other programs meanwhile.
            "frames_per_core_second": round(frames / processor, 1),
            "bytes_per_frame": round(sum(path.stat().st_size for path in paths) / frames),
        }
        if detector != "none":
            figures |= _judge(detector, zip(films, paths, strict=True))
    return figures


def _best_time(film: RenderedFilm[Any], path: Path) -> tuple[float, float]:
    """Render and encode a film three times; return the least seconds by clock and by processor."""
    times = []
    for _ in range(3):
        wall, processor = time.perf_counter(), time.process_time()
        film.write(path, overwrite=True)
        times.append((time.perf_counter() - wall, time.process_time() - processor))
    return min(wall for wall, _ in times), min(processor for _, processor in times)


def _judge(detector: str, shot: Iterable[tuple[RenderedFilm[Any], Path]]) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for film, path in shot:
        with VideoReader(path) as video:
            found = load_detector(detector).detect(video.frames())
            for index, seen in enumerate(found):
                counts += _compare(film.truth.boxes, index, seen.boxes)
    kinds = [name for name in counts if f"{name} found" in counts]
    shares = {f"recall_{kind}": counts[f"{kind} found"] / counts[kind] for kind in sorted(kinds)}
    shares["precision"] = counts["right"] / max(counts["boxes"], 1)
    return {name: round(share, 3) for name, share in shares.items()}


def _compare(truth: Any, index: int, boxes: NDArray[np.float64]) -> Counter[str]:
    there = {name: track[index] for name, track in truth.items() if not np.isnan(track[index, 0])}
    counts = Counter(boxes=len(boxes))
    if not there:
        return counts
    overlap = np.zeros((len(there), len(boxes)))
    if len(boxes):
        overlap = box_iou(np.array(list(there.values())), boxes) >= 0.5
    counts["right"] += int(overlap.any(axis=0).sum())
    for name, hits in zip(there, overlap, strict=True):
        group = "moving" if _moves(truth[name], index) else "resting"
        for kind in ("all", group, name.rsplit("-", 1)[0]):
            counts[kind] += 1
            counts[f"{kind} found"] += int(hits.any())
    return counts


def _moves(track: NDArray[np.float64], index: int) -> bool:
    """Whether a box moves by more than two pixels within five frames."""
    near = track[max(index - 2, 0) : index + 3]
    return bool(np.max(np.nanmax(near, axis=0) - np.nanmin(near, axis=0)) > 2.0)


def _stay_on_one_core() -> None:
    cv2.setNumThreads(1)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _print_table(report: dict[str, Any]) -> None:
    columns = ("frames_per_second", "frames_per_core_second", "bytes_per_frame")
    shares = ("recall_all", "recall_moving", "recall_resting", "precision")
    names = [*columns, *shares]
    print(f"{'world, noise':16}" + "".join(f"{name:>24}" for name in names))
    for world, levels in report.items():
        for noise, row in levels.items():
            cells = "".join(f"{row.get(name, ''):>24}" for name in names)
            print(f"{world + ', ' + noise:16}{cells}")


if __name__ == "__main__":
    sys.exit(main())
