"""Memory for reading a long video: ``python -m benchmarks.memory [--minutes 60] [--json]``.

Makes a 640x480 video of that length, then reads it from end to end in a fresh process, looking at
every frame and finding shots, and reports the most memory that process held.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np

__all__ = ["GOAL_MEGABYTES", "main", "make_video", "measure"]

GOAL_MEGABYTES = 300
"""Most that reading an hour of 640x480 may hold."""

WIDTH, HEIGHT, RATE = 640, 480, 10
_SHOT_SECONDS = 20
_LOOP = 40  # pictures of a shot, shown over and over, because drawing takes longer than encoding

_READ = """
import sys
from pathlib import Path

from wordsight.video import ShotFinder, VideoReader

def peak():
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024

imported = peak()
frames = 0
with VideoReader(sys.argv[1]) as video:
    finder = ShotFinder()
    for frame in video.frames():
        finder.push(frame)
        frames += frame.image.shape[2] == 3
    shots = finder.finish()
print(frames, len(shots), imported, peak())
"""


def make_video(path: Path, minutes: float) -> int:
    """Encode a video of moving texture with a cut every so often; return the number of frames."""
    count = round(minutes * 60 * RATE)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=RATE, options={"preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        pictures: list[av.VideoFrame] = []
        for number in range(count):
            if number % (_SHOT_SECONDS * RATE) == 0:
                pictures = _pictures(seed=number)
            picture = pictures[number % _LOOP]
            picture.pts, picture.time_base = number, Fraction(1, RATE)
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))
    return count


def _pictures(seed: int) -> list[av.VideoFrame]:
    rng = np.random.default_rng(seed)
    coarse = rng.uniform(0, 255, (6, 4, 3)).astype(np.uint8)
    half = cv2.resize(coarse, (WIDTH // 2, HEIGHT), interpolation=cv2.INTER_CUBIC)
    world = np.hstack([half, half[:, ::-1]])  # without a seam when it goes round
    images = [np.roll(world, WIDTH // _LOOP * step, axis=1) for step in range(_LOOP)]
    return [
        av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24").reformat(
            format="yuv420p"
        )
        for image in images
    ]


def measure(minutes: float) -> dict[str, Any]:
    """Make a video, read it in a fresh process, and return what that took."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.mp4"
        made = time.perf_counter()
        count = make_video(path, minutes)
        start = time.perf_counter()
        # The high-water mark of the process itself: what getrusage tells includes its parent.
        done = subprocess.run(
            [sys.executable, "-c", _READ, path], check=True, capture_output=True, text=True
        )
        seconds = time.perf_counter() - start
        size = path.stat().st_size
    frames, shots, imported, peak = done.stdout.split()
    if int(frames) != count:
        raise RuntimeError(f"made {count} frames, but {frames} were read")
    return {
        "minutes": minutes,
        "frames": count,
        "file_megabytes": round(size / 2**20, 1),
        "shots": int(shots),
        "imported_megabytes": round(float(imported), 1),
        "peak_megabytes": round(float(peak), 1),
        "goal_megabytes": GOAL_MEGABYTES,
        "frames_per_second": round(count / seconds, 1),
        "making_seconds": round(start - made, 1),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60, help="length of the video (60)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    if not options.minutes > 0:
        parser.error(f"--minutes must be above 0, got {options.minutes}")
    report = measure(options.minutes)
    if options.json:
        print(json.dumps(report))
    else:
        for name, value in report.items():
            print(f"{name:20} {value}")


if __name__ == "__main__":
    main()
