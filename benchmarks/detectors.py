"""How fast detectors are: frames a second of each, and of a whole video with ``objects``.

Run ``python -m benchmarks.detectors [--video FILE] [--json]`` after ``wordsight detectors get``.
Pictures of 640 x 480 are cut from the video, or made up. ``per_core`` counts processor time, so
that other programs do not matter: frames that one quiet core looks at in a second. OpenCV's dnn
runs the same network on the same pictures beside onnxruntime. With ``--video`` the whole pass that
``wordsight add`` makes is measured too, at ten frames a second of the video.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.errors import WordsightError
from wordsight.library.ingest.scan import scan
from wordsight.perception import available_detectors, load_detector
from wordsight.perception.networks import installed_network
from wordsight.video import Frame, VideoReader
from wordsight.workflows.detect import default_detector

_SIZE = (640, 480)
_FRAMES = 20
_RATE = 10.0
COLUMNS = (
    Column("what", "what", justify="left"),
    Column("per_core", "frames/s of a core"),
    Column("frames_per_second", "frames/s now"),
)


def main() -> None:
    """Measure and print."""
    parser = report_parser("benchmarks.detectors", __doc__ or "")
    parser.add_argument("--video", type=Path, metavar="FILE", help="a video to take frames from")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    frames = _pictures(options.video)
    single = [one for one in available_detectors() if one not in ("boxes", "onnx", "rendered")]
    rows = {}
    for name in dict.fromkeys([*single, default_detector()]):
        try:
            detector = load_detector(name)
        except WordsightError as error:
            say(f"{name} is left out: {error}")
            continue
        list(detector.detect(frames[:1]))
        rows[name] = _timed(lambda one=detector: len(list(one.detect(frames))))
    network = installed_network("objects")
    if network is not None:
        rows["objects, by OpenCV's dnn"] = _timed(_opencv(network, frames))
    if options.video is not None and network is not None:
        rows["the whole pass of add, objects"] = _timed(lambda: _added(options.video))
    table = [{"what": name, **row} for name, row in rows.items()]
    print_report(rows, as_json=options.json, columns=COLUMNS, rows=table)


def _timed(work: Callable[[], int]) -> dict[str, float]:
    """Return frames per second by processor time and by the clock; ``work`` returns its frames."""
    spent, begun = time.process_time(), time.perf_counter()
    frames = work()
    return {
        "per_core": frames / (time.process_time() - spent),
        "frames_per_second": frames / (time.perf_counter() - begun),
    }


def _added(video: Path) -> int:
    with VideoReader(video) as reader:
        return len(scan(reader, load_detector("objects"), rate=_RATE, video_id="video").detections)


def _opencv(network: Path, frames: Sequence[Frame]) -> Callable[[], int]:
    model = cv2.dnn.readNetFromONNX(str(network))

    def run() -> int:
        for frame in frames:
            model.setInput(cv2.dnn.blobFromImage(frame.image, 1 / 255, (416, 416)))
            model.forward()
        return len(frames)

    return run


def _pictures(video: Path | None) -> list[Frame]:
    if video is None:
        chance = np.random.default_rng(0)
        noise = chance.integers(0, 255, (_SIZE[1], _SIZE[0], 3), np.uint8)
        images: list[Any] = [np.roll(noise, 4 * t, axis=1) for t in range(_FRAMES)]
    else:
        with VideoReader(video) as reader:
            taken = zip(reader.frames(rate=_RATE), range(_FRAMES), strict=False)
            images = [frame.scaled(*_SIZE) for frame, _ in taken]
    return [Frame.from_array(image, t / _RATE) for t, image in enumerate(images)]


if __name__ == "__main__":
    run_main(main)
