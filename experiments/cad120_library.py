"""CAD-120 as files that ``wordsight add`` takes, so that commands alone reach the experiment.

Run with ``python -m experiments.cad120_library --data DIR FOLDER [--subject NAME ...]
[--setting tracks|detections]``. Writes for every video of the named subjects its boxes
(``VIDEO.boxes.csv``, with identities) and a small film that shows them, since the data have no
pixels; ``metadata.jsonl``, the sentence of each segment with its times; and ``candidates.jsonl``,
the sentences among which the experiment chooses. Then::

    python -m experiments.cad120_library --data DIR train --subject Subject3 Subject4
    python -m experiments.cad120_library --data DIR test --subject Subject1
    wordsight add train -L train-library
    wordsight add test -L test-library
    wordsight learn -L train-library -w words
    wordsight evaluate words -L test-library -w words --candidates test/candidates.jsonl
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.cad120 import SETTINGS
from experiments.data.cad120 import FRAME_RATE, FRAME_SIZE, Segment, load_seen, load_segments
from experiments.report import report_parser, run_main, say
from wordsight.perception.formats import write_boxes
from wordsight.records import Detections
from wordsight.video import VideoWriter

__all__ = ["main", "write_library"]

_SCALE = 0.25  # of the films and their boxes: nothing is measured in their pixels


def write_library(
    data: Path, folder: Path, *, subjects: tuple[str, ...] = (), setting: str = "tracks"
) -> int:
    """Write films, boxes, sentences and candidates.

    Args:
        data: Folder of the data.
        folder: Where to write.
        subjects: Whose videos; all if empty.
        setting: ``tracks`` or ``detections``.

    Returns:
        Number of videos.
    """
    segments = load_segments(data, setting)
    segments = [one for one in segments if not subjects or one.subject in subjects]
    folder.mkdir(parents=True, exist_ok=True)
    seen, _ = load_seen(data, setting)
    videos = sorted({one.clip.video_id for one in segments})
    for video in videos:
        small = _scaled(seen[video])
        write_boxes(folder / f"{video}.boxes.csv", small, frame_rate=FRAME_RATE, overwrite=True)
        _write_film(small, folder / f"{video}.mp4")
    _write_lines(folder / "metadata.jsonl", [_pair(one) for one in segments])
    _write_lines(
        folder / "candidates.jsonl",
        [_place(one) | {"candidates": list(one.candidates)} for one in segments],
    )
    return len(videos)


def _place(segment: Segment) -> dict[str, Any]:
    clip = segment.clip
    return {"video": f"{clip.video_id}.mp4", "start": clip.start, "end": clip.end}


def _pair(segment: Segment) -> dict[str, Any]:
    place = _place(segment)
    return {"file_name": place.pop("video")} | place | {"text": segment.sentence}


def _write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _scaled(seen: Detections) -> Detections:
    width, height = (int(side * _SCALE) for side in FRAME_SIZE)
    return Detections(
        times=seen.times,
        boxes=seen.boxes * _SCALE,
        scores=seen.scores,
        labels=seen.labels,
        mask=seen.mask,
        label_names=seen.label_names,
        frame_size=(width, height),
        ids=seen.ids,
    )


def _write_film(seen: Detections, path: Path) -> None:
    """Draw every box as a filled rectangle, the smaller ones over the larger."""
    assert seen.frame_size is not None
    with VideoWriter(path, seen.frame_size, FRAME_RATE, overwrite=True) as writer:
        for frame, mask, labels in zip(seen.boxes, seen.mask, seen.labels, strict=True):
            writer.write(_picture(frame[mask], labels[mask], seen.frame_size))


def _picture(
    boxes: NDArray[np.float64], labels: NDArray[np.int32], size: tuple[int, int]
) -> NDArray[np.uint8]:
    picture = np.full((size[1], size[0], 3), 32, dtype=np.uint8)
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    for place in np.argsort(-areas):
        x1, y1, x2, y2 = np.maximum(np.round(boxes[place]), 0).astype(int)
        shade = 60 + 37 * int(labels[place]) % 180
        picture[y1:y2, x1:x2] = (shade, 255 - shade, (2 * shade) % 256)
    return picture


def main(arguments: list[str] | None = None) -> None:
    """Write the files from the command line."""
    parser = report_parser(
        "experiments.cad120_library", __doc__ or "", "folder of the CAD-120 data"
    )
    parser.add_argument("folder", type=Path, help="where to write")
    parser.add_argument("--subject", nargs="+", default=[], help="whose videos; all if left out")
    parser.add_argument("--setting", choices=SETTINGS, default="tracks")
    options = parser.parse_args(arguments)
    subjects = tuple(options.subject)
    number = write_library(options.data, options.folder, subjects=subjects, setting=options.setting)
    say(f"{number} videos in {options.folder}")


if __name__ == "__main__":
    run_main(main)
