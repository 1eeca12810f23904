"""Shot finding beside PySceneDetect: what is found on real and rendered videos, and how fast.

Run as ``python -m benchmarks.shots [--data DIR] [--json]``. The rendered films have known cuts and
fades; a boundary found within the frames that count as right is a hit, each at most once.
"""

import argparse
import contextlib
import io
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import scenedetect

from benchmarks.shot_films import FILMS, render
from wordsight.video import VideoReader, detect_shots

__all__ = ["f1_of", "main", "measure"]

Finder = Callable[[Path], list[int]]
Interval = tuple[int, int]

_MIN_LENGTH = "0.3s"
_VIDEO_SUFFIXES = {".mp4", ".avi", ".mkv", ".mov", ".webm"}


def ours(path: Path) -> list[int]:
    """Start frames by Wordsight, the first shot left out."""
    return [shot.start_frame for shot in detect_shots(path)[1:]]


def peer(*detectors: str) -> Finder:
    """Make a finder of PySceneDetect's detectors, run together, with our shortest shot."""

    def find(path: Path) -> list[int]:
        manager = scenedetect.SceneManager()
        for name in detectors:
            manager.add_detector(getattr(scenedetect, name)(min_scene_len=_MIN_LENGTH))
        # OpenCV's decoder complains on standard error about damage; that is not the matter here.
        with contextlib.redirect_stderr(io.StringIO()):
            manager.detect_scenes(scenedetect.open_video(str(path)))
        scenes = manager.get_scene_list(start_in_scene=True)
        return [start.frame_num for start, _ in scenes[1:]]

    return find


FINDERS: dict[str, Finder] = {
    "wordsight": ours,
    "Content": peer("ContentDetector"),
    "Adaptive": peer("AdaptiveDetector"),
    "Threshold": peer("ThresholdDetector"),
    "Content+Threshold": peer("ContentDetector", "ThresholdDetector"),
    "Adaptive+Threshold": peer("AdaptiveDetector", "ThresholdDetector"),
}


def f1_of(found: Sequence[int], truth: Sequence[Interval]) -> tuple[int, int, int]:
    """Count hits, false alarms and misses; every boundary can be hit once."""
    left = list(truth)
    hits = 0
    for start in found:
        match = next((span for span in left if span[0] <= start <= span[1]), None)
        if match is not None:
            left.remove(match)
            hits += 1
    return hits, len(found) - hits, len(left)


def score(counts: Sequence[tuple[int, int, int]]) -> float:
    """F1 over several films: 1 if there was nothing to find and nothing was found."""
    hits, false, missed = (sum(column) for column in zip(*counts, strict=True))
    return 2 * hits / (2 * hits + false + missed) if hits + false + missed else 1.0


def measure(data: Path | None, seeds: int, names: Sequence[str]) -> dict[str, Any]:
    """Run every finder over the real and the rendered videos."""
    spent = dict.fromkeys(FINDERS, 0.0)
    frames = 0
    counts: dict[str, dict[str, list[tuple[int, int, int]]]] = {
        finder: {name: [] for name in names} for finder in FINDERS
    }
    real: dict[str, dict[str, list[int]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            for seed in range(seeds):
                path, truth = render(name, Path(folder), seed)
                frames += VideoReader(path).info.num_frames
                for finder, found in _run(path, spent).items():
                    counts[finder][name].append(f1_of(found, truth))
                path.unlink()
    for path in _videos(data):
        frames += VideoReader(path).info.num_frames
        real[path.name] = {finder: [0, *found] for finder, found in _run(path, spent).items()}
    return {
        "frames": frames,
        "frames_per_second": {finder: round(frames / spent[finder], 1) for finder in FINDERS},
        "f1": {
            finder: {
                **{name: round(score(films[name]), 4) for name in names},
                "all": round(score([c for name in names for c in films[name]]), 4),
            }
            for finder, films in counts.items()
        },
        "false_alarms": {
            finder: sum(c[1] for name in names for c in films[name])
            for finder, films in counts.items()
        },
        "start_frames": real,
    }


def _run(path: Path, spent: dict[str, float]) -> dict[str, list[int]]:
    found = {}
    for finder, find in FINDERS.items():
        start = time.perf_counter()
        found[finder] = find(path)
        spent[finder] += time.perf_counter() - start
    return found


def _videos(data: Path | None) -> list[Path]:
    if data is None:
        return []
    folder = data / "videos" if (data / "videos").is_dir() else data
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in _VIDEO_SUFFIXES)


def _table(result: dict[str, Any]) -> str:
    films = list(next(iter(result["f1"].values())))
    lines = [f"{'F1':20s}" + "".join(f"{name:>13s}" for name in films) + f"{'frames/s':>11s}"]
    for finder, values in result["f1"].items():
        speed = result["frames_per_second"][finder]
        lines.append(
            f"{finder:20s}" + "".join(f"{values[name]:13.3f}" for name in films) + f"{speed:11.0f}"
        )
    for video, found in result["start_frames"].items():
        lines += ["", video, *(f"  {finder:20s}{starts}" for finder, starts in found.items())]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shots", description=__doc__)
    parser.add_argument(
        "--data", type=Path, help="folder of real videos, or one with videos/ in it"
    )
    parser.add_argument("--seeds", type=int, default=2, help="rendered films of each kind (2)")
    parser.add_argument("--films", nargs="+", choices=FILMS, default=list(FILMS))
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    if options.data is not None and not options.data.is_dir():
        parser.error(f"there is no folder {options.data}")
    result = measure(options.data, options.seeds, options.films)
    print(json.dumps(result) if options.json else _table(result))


if __name__ == "__main__":
    main()
