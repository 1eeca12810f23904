"""Ingest speed: adding a video to a library beside a bare loop that only decodes and detects.

Run with ``python -m benchmarks.ingest [--video FILE] [--json]``. Both go over the same file in one
process, turn by turn, and the fastest turn of each counts. The bare loop is PyAV's decoder and the
same detector on the same frames; adding also hashes the file, finds shots and scenes, measures
optical flow, and writes everything safely to disk.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np

from wordsight.library import Library
from wordsight.perception import load_detector
from wordsight.video import Frame, Sampler, VideoWriter

__all__ = ["bare_loop", "main", "make_video", "measure", "seconds_to_add"]

GOAL = 0.80
"""Least share of the bare loop's speed that adding shall reach."""

RATE = 10.0
"""Frames a second that the detector looks at, as :meth:`Library.add` does by default."""


def make_video(path: Path, *, seconds: float = 30.0, rate: float = 30.0) -> Path:
    """Film three coloured shapes that cross a textured room of 640 x 480 pixels, with two cuts."""
    random = np.random.default_rng(0)
    texture = cv2.GaussianBlur(random.normal(0, 1, (480, 1280)), (0, 0), 2)
    room = 130 + 120 * texture / np.abs(texture).max() + np.linspace(-30, 30, 480)[:, None]
    grounds = [np.stack([room * c for c in tone], -1) for tone in _TONES]
    grounds = [np.clip(ground, 0, 255).astype(np.uint8) for ground in grounds]
    frames = round(seconds * rate)
    with VideoWriter(path, (640, 480), rate) as writer:
        for n in range(frames):
            shot = 3 * n // frames
            image = np.ascontiguousarray(grounds[shot][:, shot * 200 : shot * 200 + 640])
            for thing, colour in enumerate(_COLOURS):
                phase = 2 * np.pi * (n / rate / (5 + 2 * thing) + thing / 3)
                x, y = 320 + 240 * np.sin(phase), 240 + 140 * np.cos(1.3 * phase)
                cv2.circle(image, (round(x), round(y)), 24 + 12 * thing, colour, -1, cv2.LINE_AA)
            noise = random.integers(0, 6, image.shape, dtype=np.uint8)
            writer.write(cv2.add(image, noise))
    return path


_TONES = ((1.0, 0.95, 0.85), (0.7, 0.9, 1.0), (0.9, 0.7, 0.6))
_COLOURS = ((200, 40, 40), (40, 160, 60), (50, 60, 190))


def bare_loop(video: Path) -> int:
    """Decode all frames and let the detector look at ten a second; return how many were decoded."""
    decoded = 0

    def frames() -> Iterator[Frame]:
        nonlocal decoded
        sampler = Sampler(RATE)
        with av.open(str(video)) as container:
            stream = container.streams.video[0]
            stream.thread_type = "AUTO"
            for picture in container.decode(stream):
                seconds = float(picture.time or 0.0)
                if sampler.takes(seconds):
                    yield Frame(picture, seconds, decoded, (picture.width, picture.height))
                decoded += 1

    for _ in load_detector("regions").detect(frames()):
        pass
    return decoded


def seconds_to_add(video: Path) -> float:
    """Add the video to a new library, in this process; return how long that took."""
    with tempfile.TemporaryDirectory() as folder, Library.create(Path(folder) / "l") as library:
        began = time.perf_counter()
        report = library.add(video, rate=RATE, workers=1)
        elapsed = time.perf_counter() - began
        if not report.ok:
            raise SystemExit(report.failed[0].message)
        return elapsed


def measure(video: Path, repeats: int = 3) -> dict[str, Any]:
    """Time both, turn by turn, and compare the fastest turns.

    Args:
        video: The file.
        repeats: Turns of each.

    Returns:
        Frames a second of both, their ratio and the goal.
    """
    bare, adding, frames = [], [], 0
    for _ in range(repeats):
        began = time.perf_counter()
        frames = bare_loop(video)
        bare.append(time.perf_counter() - began)
        adding.append(seconds_to_add(video))
    return {
        "video": video.name,
        "frames": frames,
        "bare_frames_per_second": round(frames / min(bare), 1),
        "ingest_frames_per_second": round(frames / min(adding), 1),
        "ratio": round(min(bare) / min(adding), 3),
        "goal": GOAL,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--video", type=Path, help="a video file; one is made if left out")
    parser.add_argument("--repeats", type=int, default=3, help="turns of each (default 3)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        video = options.video or make_video(Path(folder) / "made.mp4")
        result = measure(video, options.repeats)
    if options.json:
        print(json.dumps(result))
        return
    print(f"{result['video']}: {result['frames']} frames")
    print(f"  decode and detect  {result['bare_frames_per_second']:8.1f} frames/s")
    print(f"  add to a library   {result['ingest_frames_per_second']:8.1f} frames/s")
    print(f"  share              {result['ratio']:8.3f}  (goal {result['goal']})")


if __name__ == "__main__":
    main()
