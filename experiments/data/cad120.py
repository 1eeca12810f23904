"""CAD-120: people handling objects, as clips of real detections or of annotated tracks.

Reads the folder described in the data's own README: ``meta.json``, ``tracks.npz``,
``rcnn_detections.csv.gz`` and ``clips.jsonl``. Frames count from 1 there, at 30 per second.
"""

import csv
import gzip
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.data.reading import existing, reading
from experiments.greedy_iou import track_greedily
from experiments.report import say
from wordsight.language import Entry, Lexicon, PartOfSpeech
from wordsight.perception import tracked_clip
from wordsight.perception.detectors.suppression import suppress
from wordsight.perception.networks.catalog import network_catalog
from wordsight.records import Clip, Detections, FrameDetections

__all__ = [
    "Segment",
    "has_detections",
    "load_seen",
    "load_segments",
    "load_tracking",
    "make_lexicon",
    "read_json",
    "read_lines",
    "subjects_of",
]

_DATA = "the CAD-120 data"
FRAME_RATE = 30.0
FRAME_SIZE = (640, 480)
_FOCAL_LENGTH = 560.0  # pixels; fits the annotated boxes best
_BODY = (0, 1, 2, 3, 4, 5, 6, 7, 9, 11, 12)  # joints from the head to the hips, and both hands
_HEAD, _HANDS = 0, (11, 12)
_OVERLAP = 0.6  # boxes of different classes that overlap more are one thing seen twice
_PATIENCE = 16 / FRAME_RATE  # seconds a detection may be missed and still be the same thing
_PERSON = 1  # the network's class of people
_SKIPPED = (12, 26, 29, 30, 45, 66, 68, 69, 71, 83, 91)  # numbers without a class
_LEAST_SEEN = 5  # detections of a thing; less is a false alarm

Array = NDArray[np.float64]

_VERBS = {
    "reached-for": ("reached for", 2),
    "moved": ("moved", 2),
    "placed": ("placed", 2),
    "opened": ("opened", 2),
    "closed": ("closed", 2),
    "drank-from": ("drank from", 2),
    "ate": ("ate", 1),
    "placed-in": ("placed _ in _", 3),
    "poured-into": ("poured _ into _", 3),
    "cleaned-with": ("cleaned _ with _", 3),
}


@dataclass(frozen=True)
class Segment:
    """One labelled segment.

    Attributes:
        clip: What was seen in it.
        subject: Who acts.
        sentence: The sentence that is true.
        candidates: All sentences the video's objects allow, the true one among them.
        objects: Names of the annotated objects.
        boxes: ``(T, n, 4)`` their annotated boxes in every frame of the segment.
        moved: ``(n,)`` whether the annotation says that something is done with the object.
    """

    clip: Clip
    subject: str
    sentence: str
    candidates: tuple[str, ...]
    objects: tuple[str, ...]
    boxes: Array
    moved: NDArray[np.bool_]


def make_lexicon(nouns: Iterable[str]) -> Lexicon:
    """Return how the sentences of the data are built, over the given names of objects."""
    names = sorted({"person", *nouns})
    entries = [Entry(name, PartOfSpeech.NOUN) for name in names]
    roles = ("agent", "patient", "goal")
    for name, (spelling, arity) in _VERBS.items():
        entries.append(Entry(name, PartOfSpeech.VERB, roles[:arity], (spelling,)))
    return Lexicon(tuple(entries))


def subjects_of(folder: Path) -> tuple[str, ...]:
    """Return the names of the subjects in a folder."""
    rows = read_lines(folder / "clips.jsonl")
    with reading(folder / "clips.jsonl", "the file of CAD-120 clips"):
        return tuple(sorted({row["subject"] for row in rows}))


def read_json(path: Path) -> dict[str, Any]:
    """Read a file of JSON with an entry for each video."""
    with reading(existing(path, _DATA), "a JSON object"):
        return dict(json.loads(path.read_text(encoding="utf-8")))


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read a file with a JSON object in each line."""
    with reading(existing(path, _DATA), "a JSON object in each line"):
        lines = path.read_text(encoding="utf-8").splitlines()
        return [dict(json.loads(line)) for line in lines if line.strip()]


def load_segments(folder: Path, setting: str, people: Sequence[Path] = ()) -> list[Segment]:
    """Read all segments of a folder.

    Args:
        folder: Where the data lies.
        setting: ``detections`` for what a Faster R-CNN saw (segments of videos without it are left
            out), ``tracks`` for annotated boxes with the object's name as label.
        people: Folders of ``boxes.npz`` with the people another network saw, which then take the
            place of those among the detections.
    """
    meta, rows = _read(folder)
    seen, annotated = load_seen(folder, setting, people)
    with reading(folder / "clips.jsonl", "the clips of meta.json"):
        return [
            _segment(row, meta[row["video"]], annotated[row["video"]], seen[row["video"]])
            for row in rows
            if row["video"] in seen
        ]


def load_seen(
    folder: Path,
    setting: str,
    people: Sequence[Path] = (),
    *,
    named: bool = False,
    videos: Collection[str] | None = None,
) -> tuple[dict[str, Detections], dict[str, Array]]:
    """Return per video what is seen in it, and the annotated boxes ``(T, n, 4)`` of its objects.

    Args:
        folder: Where the data lies.
        setting: As :func:`load_segments` has it.
        people: The same.
        named: Whether detections have the names of the network's classes instead of numbers.
        videos: Which videos; those of ``clips.jsonl`` if left out.
    """
    meta = read_json(folder / "meta.json")
    if videos is None:
        videos = {row["video"] for row in _read(folder)[1]}
    path = existing(folder / "tracks.npz", _DATA)
    with reading(path, "the file of CAD-120 tracks"), np.load(path) as arrays:
        known = {v for v in videos if v in meta and f"{v}_obj" in arrays}
        annotated = {v: arrays[f"{v}_obj"].astype(np.float64) for v in known}
        skeletons = {
            v: arrays[f"{v}_skel"].astype(np.float64) for v in known if f"{v}_skel" in arrays
        }
    if setting == "tracks":
        with reading(path, "the tracks of meta.json"):
            seen = {
                video: _tracks(annotated[video], skeleton, meta[video]["objects"])
                for video, skeleton in skeletons.items()
            }
        if len(seen) < len(videos):
            say(f"{folder}: {len(videos) - len(seen)} videos have no tracks or no skeleton")
        return seen, annotated
    found = _read_detections(folder / "rcnn_detections.csv.gz")
    found = {video: frames for video, frames in found.items() if video in known}
    if not people:
        return {video: _linked(frames, named) for video, frames in found.items()}, annotated
    return {video: _followed(boxes) for video, boxes in with_people(found, people)}, annotated


def _read(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return what is known of each video, and the segments of which something is said."""
    meta, rows = read_json(folder / "meta.json"), read_lines(folder / "clips.jsonl")
    with reading(folder / "clips.jsonl", "the file of CAD-120 clips"):
        return meta, [row for row in rows if row["sentences"]]


def load_tracking(folder: Path, step: int = 3) -> Iterator[tuple[Detections, Array]]:
    """Yield per video the detections of every ``step``-th frame and the objects' true boxes.

    Detections have no identities; boxes are ``(T, n, 4)``, all zero where not annotated.
    """
    meta = read_json(folder / "meta.json")
    found = _read_detections(folder / "rcnn_detections.csv.gz")
    with np.load(existing(folder / "tracks.npz", _DATA)) as arrays:
        for video, frames in found.items():
            if video in meta and f"{video}_obj" in arrays:
                annotated = arrays[f"{video}_obj"].astype(np.float64)
                count = min(len(annotated), max(frames))
                rows = np.arange(0, count, step)
                classes = sorted({int(row[0]) for each in frames.values() for row in each})
                seen = Detections.from_frames(
                    _frames(frames, rows + 1, classes, suppressed=False),
                    label_names=[f"class-{number}" for number in classes],
                    frame_size=FRAME_SIZE,
                )
                yield seen, annotated[rows, : len(meta[video]["objects"])]


def has_detections(folder: Path) -> bool:
    """Tell whether a folder has what a detector saw; it is the one file that may be missing."""
    return (folder / "rcnn_detections.csv.gz").exists()


def _segment(
    row: dict[str, Any], video: dict[str, Any], annotated: Array, seen: Detections
) -> Segment:
    first, last = row["start_frame"], row["end_frame"]
    start, end = (first - 1) / FRAME_RATE, last / FRAME_RATE
    objects = tuple(video["objects"])
    states = next((s[3] for s in video["segments"] if s[0] == first), ["?"] * len(objects))
    sentence, *others = row["sentences"]
    # One of several true sentences is asked for: the others are no rivals then.
    rivals = [text for text in row["candidates"] if text not in others]
    return Segment(
        Clip.cut(row["video"], seen, start, end),
        row["subject"],
        sentence,
        tuple(rivals if sentence in rivals else [*rivals, sentence]),
        objects,
        annotated[first - 1 : last, : len(objects)],
        np.array([state != "stationary" for state in states], dtype=bool),
    )


def _tracks(annotated: Array, skeleton: Array, objects: Sequence[str]) -> Detections:
    """Return annotated boxes, and boxes of the person, the head and the hands, as tracks."""
    count = min(len(annotated), len(skeleton))
    points = _projected(skeleton[:count])
    body = points[:, _BODY]
    person = np.concatenate([body.min(axis=1) - 10, body.max(axis=1) + 10], axis=1)
    columns = [_filled(annotated[:count, n]) for n in range(annotated.shape[1])]
    columns += [person, _around(points[:, _HEAD], 20)]
    columns += [_around(points[:, joint], 15) for joint in _HANDS]
    names = [*objects, *["other"] * (annotated.shape[1] - len(objects))]
    names += ["person", "head", "hand", "hand"]
    boxes = np.stack(columns, axis=1)
    labels = sorted(set(names))
    numbers = np.arange(len(names))
    return Detections(
        times=np.arange(count) / FRAME_RATE,
        boxes=boxes,
        scores=np.ones(boxes.shape[:2]),
        labels=np.broadcast_to([labels.index(name) for name in names], boxes.shape[:2]),
        mask=boxes[..., 2] > boxes[..., 0],
        label_names=tuple(labels),
        frame_size=FRAME_SIZE,
        ids=np.broadcast_to(numbers, boxes.shape[:2]),
    )


def _projected(skeleton: Array) -> Array:
    """Project joints x, y, z in millimetres onto the picture."""
    depth = np.maximum(skeleton[..., 2], 1.0)
    across = FRAME_SIZE[0] / 2 + _FOCAL_LENGTH * skeleton[..., 0] / depth
    down = FRAME_SIZE[1] / 2 - _FOCAL_LENGTH * skeleton[..., 1] / depth
    return np.stack([across, down], axis=-1)


def _filled(boxes: Array) -> Array:
    """Fill in boxes that are all zero between annotated ones; outside they stay zero."""
    known = np.flatnonzero(boxes[:, 2] > boxes[:, 0])
    filled = boxes.copy()
    if len(known):
        inside = np.arange(known[0], known[-1] + 1)
        for side in range(4):
            filled[inside, side] = np.interp(inside, known, boxes[known, side])
    return filled


def _around(points: Array, reach: float) -> Array:
    return np.concatenate([points - reach, points + reach], axis=1)


def _read_detections(path: Path) -> dict[str, dict[int, list[list[float]]]]:
    """Return per video and frame the rows class, score, x1, y1, x2, y2."""
    found: dict[str, dict[int, list[list[float]]]] = {}
    table = "a table of video, frame, coco91_class, score, x1, y1, x2 and y2"
    with (
        reading(existing(path, _DATA), table),
        gzip.open(path, "rt", encoding="utf-8", newline="") as file,
    ):
        for row in csv.DictReader(file):
            values = [float(row[name]) for name in ("coco91_class", "score")]
            values += [float(row[name]) for name in ("x1", "y1", "x2", "y2")]
            frames = found.setdefault(row["video"], {})
            frames.setdefault(int(row["frame"]), []).append(values)
    return found


def _linked(frames: dict[int, list[list[float]]], named: bool = False) -> Detections:
    """Give detections identities: one thing per place whatever its class, followed by overlap."""
    classes = sorted({int(row[0]) for rows in frames.values() for row in rows})
    seen = Detections.from_frames(
        _frames(frames, range(1, max(frames) + 1), classes),
        label_names=[_class_name(number) if named else f"class-{number}" for number in classes],
        frame_size=FRAME_SIZE,
    )
    tracked = track_greedily(seen, least_overlap=0.3, patience=_PATIENCE)
    return _without_rare(tracked)


def _class_name(number: int) -> str:
    """Return the name of a class of COCO by its number among 91, of which eleven are not used."""
    names = network_catalog()["objects"].classes
    place = number - 1 - sum(skipped < number for skipped in _SKIPPED)
    return names[place] if number not in _SKIPPED and place < len(names) else f"class-{number}"


def with_people(
    found: dict[str, dict[int, list[list[float]]]], folders: Sequence[Path]
) -> Iterator[tuple[str, Detections]]:
    """Yield per video its things, and the person, hands and head seen on every third frame."""
    known = set()
    for folder in folders:
        path = existing(folder / "boxes.npz", "people's boxes")
        with reading(path, "the file of people's boxes"), np.load(path) as arrays:
            for video in [name for name in found if name in arrays and name not in known]:
                known.add(video)
                yield video, _pooled(found[video], arrays[video].astype(np.float64))


def _pooled(frames: dict[int, list[list[float]]], people: Array) -> Detections:
    """Pool things of all frames and people where they were looked for, without identities."""
    things = sorted({int(row[0]) for rows in frames.values() for row in rows} - {_PERSON})
    names = [f"class-{number}" for number in things] + ["person", "hand", "head"]
    parts = np.array([names.index(name) for name in ("person", "hand", "hand", "head")])
    rows = []
    for number in range(1, max(max(frames) + 1, len(people))):
        seen = np.array(frames.get(number, []), dtype=np.float64).reshape(-1, 6)
        seen = seen[(seen[:, 4] > seen[:, 2]) & (seen[:, 5] > seen[:, 3]) & (seen[:, 0] != _PERSON)]
        body = people[number, :, :4] if number < len(people) else np.full((4, 4), np.nan)
        there = (body[:, 2] > body[:, 0]) & (body[:, 3] > body[:, 1])  # not where NaN
        labels = [things.index(int(kind)) for kind in seen[:, 0]]
        rows.append(
            FrameDetections(
                (number - 1) / FRAME_RATE,
                np.concatenate([seen[:, 2:], body[there]]),
                np.concatenate([seen[:, 1], np.ones(int(there.sum()))]),
                np.array([*labels, *parts[there]], dtype=np.int32),
            )
        )
    return Detections.from_frames(rows, label_names=names, frame_size=FRAME_SIZE)


def _followed(seen: Detections) -> Detections:
    """Follow things through a video as `wordsight learn` does."""
    whole = Clip("", 0.0, float(seen.times[-1]) + 1.0, seen)
    return tracked_clip(whole, for_words=True).detections


def _frames(
    frames: dict[int, list[list[float]]],
    numbers: Iterable[int],
    classes: list[int],
    suppressed: bool = True,
) -> Iterator[FrameDetections]:
    for number in numbers:
        rows = np.array(frames.get(int(number), []), dtype=np.float64).reshape(-1, 6)
        rows = rows[(rows[:, 4] > rows[:, 2]) & (rows[:, 5] > rows[:, 3])]
        if suppressed:
            rows = rows[suppress(rows[:, 2:], rows[:, 1], _OVERLAP)]
        labels = np.array([classes.index(int(kind)) for kind in rows[:, 0]], dtype=np.int32)
        time = (number - 1) / FRAME_RATE
        yield FrameDetections(time, rows[:, 2:], rows[:, 1], labels)


def _without_rare(tracked: Detections) -> Detections:
    assert tracked.ids is not None  # the tracker has just given them
    known, counts = np.unique(tracked.ids[tracked.mask], return_counts=True)
    lasting = np.isin(tracked.ids, known[counts >= _LEAST_SEEN])
    kept = []
    for index in range(len(tracked)):
        frame = tracked.frame(index)
        here = lasting[index][tracked.mask[index]]
        assert frame.ids is not None
        kept.append(
            FrameDetections(
                frame.time,
                frame.boxes[here],
                frame.scores[here],
                frame.labels[here],
                ids=frame.ids[here],
            )
        )
    return Detections.from_frames(
        kept, label_names=tracked.label_names, frame_size=tracked.frame_size
    )
