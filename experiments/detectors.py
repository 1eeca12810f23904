"""Detectors on pictures whose boxes are known: what they find, with how many boxes, how fast.

Run with ``python -m experiments.detectors --data DIR [--detector NAME] [--per-class K]
[--changes] [--json]``.
DIR holds pictures, in folders or not, and their boxes as ``annotations.json`` in COCO's layout; an
image may also be the ``frame`` number of a video. For a folder with the film
``bottle-detection.mp4`` and no annotations, boxes marked by eye in 15 of its frames are used. Each
picture is looked at by itself.

Names do not count: a box is right that covers an annotated thing, whatever the detector calls it,
and each box covers one thing only, the pairs with the largest overlap first. Things marked
``iscrowd`` or ``ignore`` are not looked for, and boxes on them are not wrong. ``recall50`` is the
share of the things of a category that are covered with an intersection over union of .5 or more;
``ap`` is COCO's average precision over overlaps from .5 to .95 with all categories as one.
``overlap`` is the mean over a category of the best intersection over union of any box. With
``--changes`` pictures are also turned, cut out and put into wider ones: ``changes`` is the recall
by category and change. ``pooled`` is what ``wordsight add`` uses if nothing is named. ``ms``
includes waiting for other programs on a busy machine.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.picture_changes import CHANGES
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.errors import WordsightError
from wordsight.perception import Detector, available_detectors, load_detector
from wordsight.perception.detectors.registry import DetectorError
from wordsight.perception.detectors.suppression import box_iou
from wordsight.video import Frame, VideoReader, read_image
from wordsight.workflows.detect import default_detector

__all__ = ["Picture", "average_precision", "main", "measure", "read_pictures"]

_MARKED = "film_frames.json"
_STEPS = np.arange(0.5, 0.96, 0.05)  # of overlap, as COCO has them
_POINTS = np.linspace(0, 1, 101)  # of recall, at which precision is averaged
_SAID = 50  # pictures from one word of progress to the next
_OTHER_WORLDS = ("rendered",)  # detectors that know no real things

COLUMNS = (
    Column("detector", "detector", justify="left"),
    Column("ap", "AP", ".3f"),
    Column("recall", "recall at .5", justify="left"),
    Column("overlaps", "overlap", justify="left"),
    Column("boxes_per_frame", "boxes/frame"),
    Column("ms", "ms/frame"),
)


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture with the boxes of what is in it.

    Attributes:
        path: Its file, or a video.
        boxes: ``(N, 4)`` corners x1, y1, x2, y2 in pixels.
        names: The category of each.
        number: Which frame of the video it is; ``None`` for a picture.
        ignored: ``(M, 4)`` where boxes are neither right nor wrong.
    """

    path: Path
    boxes: NDArray[np.float64]
    names: tuple[str, ...]
    number: int | None = None
    ignored: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 4)))

    def read(self) -> Frame:
        """Return the picture itself.

        Raises:
            WordsightError: If it cannot be read.
        """
        if self.number is None:
            return Frame.from_array(read_image(self.path), 0.0)
        with VideoReader(self.path) as video:
            if not 0 <= self.number < len(video.times):
                raise WordsightError(f"{self.path} has no frame {self.number}.")
            return video.frame_at(float(video.times[self.number]))


def read_pictures(folder: Path) -> list[Picture]:
    """Read the annotated pictures of a folder.

    Raises:
        WordsightError: If there are none, or the annotations are not in COCO's layout.
    """
    path = folder / "annotations.json"
    if path.is_file():
        text = path.read_text(encoding="utf-8")
    elif (folder / "bottle-detection.mp4").is_file():
        text = files("experiments.data").joinpath(_MARKED).read_text(encoding="utf-8")
    else:
        raise WordsightError(
            f"{folder} has no annotations.json; expected pictures with boxes in COCO's layout."
        )
    try:
        content = json.loads(text)
        names = {one["id"]: str(one["name"]) for one in content["categories"]}
        found: dict[Any, list[Mapping[str, Any]]] = {one["id"]: [] for one in content["images"]}
        for one in content["annotations"]:
            found[one["image_id"]].append(one)
        pictures = [_picture(folder, one, found[one["id"]], names) for one in content["images"]]
    except (KeyError, TypeError, ValueError) as error:
        raise WordsightError(
            f"{path} is not in COCO's layout ({error!r}); expected images, annotations and "
            "categories."
        ) from error
    if not any(picture.names for picture in pictures):
        raise WordsightError(f"{path} marks nothing in any picture.")
    return pictures


def measure(detector: Detector, pictures: Sequence[Picture]) -> dict[str, Any]:
    """Run a detector on each picture and compare.

    Returns:
        ``ap``, ``recall50`` and ``overlap`` by category, ``boxes_per_frame``, and ``ms`` of each.
    """
    list(detector.detect([pictures[0].read()]))  # opens the network
    boxes, scores, seconds = [], [], 0.0
    for count, picture in enumerate(pictures, start=1):
        frame = picture.read()
        begun = time.perf_counter()
        (found,) = detector.detect([frame])
        seconds += time.perf_counter() - begun
        if count % _SAID == 0:
            say(f"{detector.name}: {count} of {len(pictures)} pictures")
        boxes.append(np.reshape(found.boxes, (-1, 4)))
        scores.append(found.scores)
    hits: dict[str, list[bool]] = {}
    overlaps: dict[str, list[float]] = {}
    for picture, seen in zip(pictures, boxes, strict=True):
        best = box_iou(picture.boxes, seen).max(axis=1, initial=0.0)
        for name, hit, overlap in zip(
            picture.names, _covered(picture.boxes, seen), best, strict=True
        ):
            hits.setdefault(name, []).append(bool(hit))
            overlaps.setdefault(name, []).append(float(overlap))
    truth, ignored = [one.boxes for one in pictures], [one.ignored for one in pictures]
    precision = [average_precision(truth, boxes, scores, step, ignored) for step in _STEPS]
    return {
        "ap": float(np.mean(precision)),
        "recall50": {name: float(np.mean(hit)) for name, hit in sorted(hits.items())},
        "overlap": {name: float(np.mean(best)) for name, best in sorted(overlaps.items())},
        "boxes_per_frame": sum(map(len, boxes)) / len(pictures),
        "ms": 1000 * seconds / len(pictures),
    }


def measure_changes(detector: Detector, pictures: Sequence[Picture]) -> dict[str, dict[str, float]]:
    """Return the recall by category of changed pictures, by the change."""
    rows = {}
    for change, make in CHANGES.items():
        hits: dict[str, list[bool]] = {}
        for picture in pictures:
            for image, boxes, things in make(picture.read().image, picture.boxes):
                (found,) = detector.detect([Frame.from_array(image, 0.0)])
                covered = _covered(boxes, np.reshape(found.boxes, (-1, 4)))
                for thing, hit in zip(things, covered, strict=True):
                    hits.setdefault(picture.names[thing], []).append(bool(hit))
        rows[change] = {name: float(np.mean(hit)) for name, hit in sorted(hits.items())}
        say(f"{detector.name}, {change}: {_listed(rows[change])}")
    return rows


def average_precision(
    truth: Sequence[NDArray[np.float64]],
    boxes: Sequence[NDArray[np.float64]],
    scores: Sequence[NDArray[np.float64]],
    overlap: float,
    ignored: Sequence[NDArray[np.float64]] | None = None,
) -> float:
    """Return the mean over 101 recalls of the best precision there or beyond, as COCO has it.

    Args:
        truth: ``(N, 4)`` true boxes of each picture.
        boxes: ``(M, 4)`` found boxes of each.
        scores: ``(M,)`` how sure they are; sure ones choose their true box first.
        overlap: Least intersection over union of a hit.
        ignored: Per picture ``(K, 4)`` where a box that is no hit does not count: with that share
            of it or more.
    """
    right, sure = [], []
    nowhere = [np.zeros((0, 4))] * len(truth)
    for true, seen, score, beside in zip(truth, boxes, scores, ignored or nowhere, strict=True):
        passed = _share_within(seen, beside).max(axis=1, initial=0.0) >= overlap
        shared, free = box_iou(seen, true), np.ones(len(true), bool)
        for row in np.argsort(-score, kind="stable"):
            open_to = np.where(free, shared[row], 0.0)
            best = int(open_to.argmax()) if len(true) else 0
            hit = len(true) > 0 and open_to[best] >= overlap
            if hit:
                free[best] = False
            elif passed[row]:
                continue
            right.append(hit)
            sure.append(float(score[row]))
    total = sum(map(len, truth))
    if not total or not right:
        return 0.0
    hits = np.cumsum(np.array(right)[np.argsort(-np.array(sure), kind="stable")])
    precision = hits / np.arange(1, len(hits) + 1)
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    at = np.searchsorted(hits / total, _POINTS - 1e-9)
    return float(np.append(precision, 0.0)[np.minimum(at, len(precision))].mean())


def _share_within(boxes: NDArray[np.float64], parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``(N, K)`` the share of each box that lies in each part of the picture."""
    low = np.maximum(boxes[:, None, :2], parts[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], parts[None, :, 2:])
    sizes = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    return np.asarray(
        np.prod(np.maximum(high - low, 0.0), axis=2) / np.maximum(sizes, 1e-9)[:, None]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every detector that is installed, and the default combination."""
    parser = report_parser(
        "experiments.detectors", __doc__ or "", "pictures with an annotations.json"
    )
    parser.add_argument(
        "--detector",
        action="append",
        metavar="NAME",
        help="measure this one only, such as objects,hands; may be repeated",
    )
    parser.add_argument(
        "--per-class", type=int, metavar="K", help="keep the K surest boxes of each class"
    )
    parser.add_argument(
        "--changes", action="store_true", help="also turn pictures, cut out, and put into wider"
    )
    options = parser.parse_args(arguments)
    pictures = read_pictures(options.data)
    result = {}
    for title, name in _chosen(options.detector).items():
        say(f"{title} looks at {len(pictures)} pictures")
        try:
            detector = load_detector(name, per_class=options.per_class)
            result[title] = measure(detector, pictures)
        except DetectorError as error:
            if options.detector:
                raise
            say(f"{title} is left out: {error}")
            continue
        if options.changes:
            result[title]["changes"] = measure_changes(detector, pictures)
    rows = [
        {
            "detector": name,
            **row,
            "recall": _listed(row["recall50"]),
            "overlaps": _listed(row["overlap"]),
        }
        for name, row in result.items()
    ]
    print_report(result, as_json=options.json, columns=COLUMNS, rows=rows)


def _chosen(named: Sequence[str] | None) -> dict[str, str]:
    if named:
        return {name: name for name in named}
    single = [one for one in available_detectors() if one not in ("boxes", "onnx", *_OTHER_WORLDS)]
    return {**{one: one for one in single}, "pooled": default_detector()}


def _covered(truth: NDArray[np.float64], seen: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which true boxes have a found box of their own, largest overlaps first."""
    covered, used = np.zeros(len(truth), bool), np.zeros(len(seen), bool)
    shared = box_iou(truth, seen)
    for place in np.argsort(-shared, axis=None, kind="stable"):
        row, column = np.unravel_index(place, shared.shape)
        if shared[row, column] < _STEPS[0]:
            break
        if not covered[row] and not used[column]:
            covered[row] = used[column] = True
    return covered


def _picture(
    folder: Path,
    image: Mapping[str, Any],
    marked: Sequence[Mapping[str, Any]],
    names: Mapping[Any, str],
) -> Picture:
    sides = np.array([one["bbox"] for one in marked], np.float64).reshape(-1, 4)
    corners = np.concatenate([sides[:, :2], sides[:, :2] + sides[:, 2:]], axis=1)
    passed = np.array([bool(one.get("iscrowd") or one.get("ignore")) for one in marked], bool)
    named = [names[one["category_id"]] for one in marked]
    wanted = ~passed & (sides[:, 2:] > 0).all(axis=1)  # no box covers what has no extent
    return Picture(
        _file_of(folder, str(image["file_name"])),
        corners[wanted],
        tuple(name for name, kept in zip(named, wanted, strict=True) if kept),
        int(image["frame"]) if "frame" in image else None,
        corners[passed],
    )


def _file_of(folder: Path, name: str) -> Path:
    path = folder / name
    if path.is_file():
        return path
    # Some files of annotations leave out the folders, or name those they lay in elsewhere.
    found = sorted(folder.rglob(Path(name).name))
    if len(found) > 1:
        raise WordsightError(
            f"{folder} has no {name}, and several files of that name: {found[0]}, {found[1]}."
        )
    return found[0] if found else path


def _listed(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {share:.2f}" for name, share in shares.items())


if __name__ == "__main__":
    run_main(main)
