"""How well and how fast the ``regions`` detector finds things whose boxes are known.

Run ``python -m benchmarks.regions [--data DIR] [--json]``. The plays of :mod:`benchmarks.props` are
filmed as H.264, read back and searched; found means an intersection over union of one half. With
``--data`` the real videos there are timed as well.
"""

import argparse
import json
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from benchmarks.props import PLAYS
from benchmarks.stage import Play, Truth, film
from wordsight.perception.detectors.regions import Regions
from wordsight.perception.detectors.suppression import box_iou
from wordsight.records import FrameDetections
from wordsight.video import VideoReader

_FOUND = 0.5  # intersection over union
REAL_VIDEOS = ("cv__video__768x576.avi", "bikes.mp4", "testvideo.mp4")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with real videos (in videos/)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    cv2.setNumThreads(1)  # figures are per core
    report: dict[str, Any] = {"plays": {}, "videos": {}}
    with tempfile.TemporaryDirectory() as folder:
        for play in PLAYS:
            path = Path(folder) / f"{play.name}.mp4"
            report["plays"][play.name] = {**judge(play, path), **speed(path)}
    report["all"] = _summary(report["plays"])
    if options.data:
        for name in REAL_VIDEOS:
            report["videos"][name] = speed(options.data / "videos" / name)
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        _print_table(report)


def judge(play: Play, path: Path) -> dict[str, Any]:
    """Film a play, detect, and count what was found."""
    truths = film(play, path)
    with VideoReader(path) as video:
        found = list(Regions().detect(video.frames()))
    counts: Counter[str] = Counter()
    for truth, seen in zip(truths, found, strict=True):
        counts.update(_count(truth, seen))  # unlike +=, keeps what was never found
    return {"counts": dict(counts), **_shares(counts)}


def speed(path: Path) -> dict[str, float]:
    """Time decoding alone and decoding with detection, best of three, in frames per second."""
    seconds: dict[str, float] = {}
    for _ in range(3):
        with VideoReader(path) as video:
            start = time.process_time()
            frames = sum(1 for _ in video.frames())
            decoded = time.process_time()
            boxes = sum(len(seen.boxes) for seen in Regions().detect(video.frames()))
            detected = time.process_time()
        for name, spent in (("decode", decoded - start), ("both", detected - decoded)):
            seconds[name] = min(seconds.get(name, np.inf), spent)
    return {
        "decode_fps": round(frames / seconds["decode"], 1),
        "detect_fps": round(frames / max(seconds["both"] - seconds["decode"], 1e-9), 1),
        "boxes_per_frame": round(boxes / frames, 2),
    }


def _count(truth: Truth, seen: FrameDetections) -> Counter[str]:
    overlap = box_iou(truth.boxes, seen.boxes)
    best = overlap.max(axis=1, initial=0)
    right = overlap.max(axis=0, initial=0) >= _FOUND
    counts = Counter(boxes=len(seen.boxes), true_boxes=int(right.sum()))
    for thing in range(len(truth.kinds)):
        state = "moving" if truth.moving[thing] else "resting"
        state = state if truth.ever_moves[thing] else "still"
        for group in (state, truth.kinds[thing], "things"):
            counts[group] += 1
            counts[f"{group} found"] += int(best[thing] >= _FOUND)
            counts[f"{group} overlap"] += best[thing] if best[thing] >= _FOUND else 0
    return counts


def _shares(counts: Counter[str]) -> dict[str, float]:
    groups = [name for name in counts if f"{name} found" in counts]
    shares = {f"recall {g}": round(counts[f"{g} found"] / counts[g], 3) for g in sorted(groups)}
    for group in ("moving", "resting", "still", "things"):
        if counts[f"{group} found"]:
            mean = counts[f"{group} overlap"] / counts[f"{group} found"]
            shares[f"overlap {group}"] = round(float(mean), 3)
    return {**shares, "precision": round(counts["true_boxes"] / max(1, counts["boxes"]), 3)}


def _summary(plays: dict[str, Any]) -> dict[str, float]:
    total: Counter[str] = Counter()
    for play in plays.values():
        total.update(play["counts"])
    return _shares(total)


def _print_table(report: dict[str, Any]) -> None:
    recalls = ("recall moving", "recall resting", "recall still")
    overlaps = ("overlap moving", "overlap resting", "overlap still")
    columns = (*recalls, *overlaps, "precision", "boxes_per_frame", "detect_fps")
    print(f"{'':24}" + "".join(f"{name:>16}" for name in columns))
    rows = {**report["plays"], "all plays": report["all"], **report["videos"]}
    for name, row in rows.items():
        print(f"{name:24}" + "".join(f"{row.get(column, ''):>16}" for column in columns))


if __name__ == "__main__":
    main()
