"""Data sets that programs read: COCO of videos, FiftyOne, and Hugging Face."""

import importlib.util
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from wordsight.errors import FormatError
from wordsight.files import VIDEO_SUFFIXES
from wordsight.library.exchange.annotations import (
    AnnotatedVideo,
    ReadSentence,
    ReadVideo,
    parse_json,
    write_boxes_csv,
)
from wordsight.perception.formats import BoxTable, read_table
from wordsight.perception.formats.coco import CocoVideo, read_coco_videos, write_coco_videos
from wordsight.perception.formats.table import NO_ID, BoxCollector
from wordsight.perception.formats.text import read_text

__all__ = [
    "read_coco_files",
    "read_fiftyone",
    "read_hugging_face",
    "write_coco_file",
    "write_fiftyone",
    "write_hugging_face",
]

# COCO: one file of all videos; each has its sentences in its entry.


def write_coco_file(folder: Path, videos: Iterable[AnnotatedVideo]) -> None:
    """Write ``annotations.json``."""
    listed = []
    for number, video in enumerate(videos, start=1):
        entry = {
            "id": number,
            "name": video.entry.name,
            "wordsight_id": video.entry.id,
            "width": video.entry.width,
            "height": video.entry.height,
            "length": len(video.times),
            "fps": video.entry.frame_rate,
            "sentences": [_said(one) for one in video.sentences],
        }
        listed.append(CocoVideo(video.boxes, entry))
    with (folder / "annotations.json").open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(write_coco_videos(listed))


def _said(one: Any) -> dict[str, Any]:
    return {"text": one.text, "start": one.start, "end": one.end, "source": one.source}


def read_coco_files(files: Sequence[Path]) -> Iterator[ReadVideo]:
    """Read files of COCO with videos."""
    for path in files:
        for video in read_coco_videos(read_text(path), path):
            entry = video.entry
            names = (str(entry.get("wordsight_id", "")), str(entry.get("name", "")), path.stem)
            said = entry.get("sentences")
            sentences = None if said is None else tuple(_read_said(said, path.name))
            yield ReadVideo(names, video.boxes, sentences)


def _read_said(said: Any, where: str) -> Iterator[ReadSentence]:
    for one in said if isinstance(said, list) else ():
        if not isinstance(one, Mapping):
            raise FormatError(f"{where}: a sentence must be an object, got {one!r:.40}.")
        yield ReadSentence.checked(
            where, one.get("text"), one.get("start"), one.get("end"), None, one.get("source")
        )


# FiftyOne: the layout of FiftyOneVideoLabelsDataset. Boxes are shares of the picture, frames count
# from 1, and sentences are temporal detections.

_DETECTIONS, _SENTENCES = "detections", "sentences"
_KIND = "eta.core.data."


def write_fiftyone(folder: Path, videos: Iterable[AnnotatedVideo]) -> None:
    """Write ``manifest.json``, and per video ``labels/ID.json``; films stay where they are."""
    (folder / "labels").mkdir()
    index = []
    for video in videos:
        labels = {"frames": _frames(video), "events": {"events": list(_events(video))}}
        name = f"labels/{video.entry.id}.json"
        (folder / name).write_text(json.dumps(labels, ensure_ascii=False), encoding="utf-8")
        index.append({"data": video.entry.path, "labels": name})
    manifest = {
        "type": "eta.core.datasets.LabeledVideoDataset",
        "description": "boxes and sentences of a library of Wordsight",
        "index": index,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, ensure_ascii=False, indent=1))


def _frames(video: AnnotatedVideo) -> dict[str, Any]:
    boxes = video.boxes
    assert boxes.covered is not None and boxes.frame_size is not None
    frames: dict[int, list[Any]] = {frame: [] for frame in boxes.covered.tolist()}
    shares = boxes.boxes / np.tile(np.array(boxes.frame_size, dtype=np.float64), 2)
    columns = (boxes.frames, shares, boxes.scores, boxes.labels, boxes.ids)
    for frame, box, score, label, identity in zip(*(c.tolist() for c in columns), strict=True):
        frames[frame].append(
            {
                "type": "eta.core.objects.DetectedObject",
                "name": _DETECTIONS,
                "label": boxes.label_names[label],
                "confidence": score,
                "bounding_box": {
                    "top_left": {"x": box[0], "y": box[1]},
                    "bottom_right": {"x": box[2], "y": box[3]},
                },
                "attrs": {"attrs": []},
                **({} if identity == NO_ID else {"index": identity}),
            }
        )
    return {
        str(frame + 1): {"frame_number": frame + 1, "objects": {"objects": objects}}
        for frame, objects in frames.items()
    }


def _events(video: AnnotatedVideo) -> Iterator[dict[str, Any]]:
    for one in video.sentences:
        first, last = video.frames_of(one.start, one.end)
        attributes: list[dict[str, Any]] = [
            {"type": f"{_KIND}CategoricalAttribute", "name": "source", "value": one.source}
        ]
        if one.start is not None:
            attributes += [
                {"type": f"{_KIND}NumericAttribute", "name": name, "value": value}
                for name, value in (("start", one.start), ("end", one.end))
            ]
        yield {
            "type": "eta.core.events.VideoEvent",
            "name": _SENTENCES,
            "label": one.text,
            "support": {"ranges": f"{first + 1}-{last + 1}"},
            "attrs": {"attrs": attributes},
        }


def read_fiftyone(files: Sequence[Path]) -> Iterator[ReadVideo]:
    """Read the data sets of ``manifest.json`` files."""
    for path in files:
        manifest = parse_json(path)
        if not isinstance(manifest, dict) or not isinstance(manifest.get("index"), list):
            raise FormatError(
                f"{path} is no manifest of FiftyOne; export a FiftyOneVideoLabelsDataset."
            )
        for entry in manifest["index"]:
            try:
                labels = (path.parent / entry["labels"]).resolve()
                film = str(entry["data"])
                outside = not labels.is_relative_to(path.parent.resolve())
            except (KeyError, TypeError) as error:
                raise FormatError(f"{path.name}: an entry lacks {error}.") from None
            if outside:
                raise FormatError(f"{path.name} names labels outside its folder: {labels.name}.")
            names = (labels.stem, film, Path(film).name, Path(film).stem)
            yield _labels(parse_json(labels), labels.name, names)


def _labels(content: Any, where: str, names: tuple[str, ...]) -> ReadVideo:
    collector, scored = BoxCollector(where), []
    said = []
    try:
        for frame in (content.get("frames") or {}).values():
            for thing in (frame.get("objects") or {}).get("objects") or ():
                corners = thing["bounding_box"]["top_left"], thing["bounding_box"]["bottom_right"]
                x1, y1, x2, y2 = (float(corner[side]) for corner in corners for side in "xy")
                identity = thing.get("index")
                collector.add(
                    where,
                    int(frame["frame_number"]) - 1,
                    (x1, y1, x2, y2),
                    score=float(thing.get("confidence") or 1.0),
                    label=str(thing["label"]),
                    track_id=NO_ID if identity is None else int(identity),
                )
                scored.append(thing.get("confidence") is not None)
        for event in (content.get("events") or {}).get("events") or ():
            found = [int(number) for number in re.findall(r"\d+", event["support"]["ranges"])]
            listed = (event.get("attrs") or {}).get("attrs") or ()
            extra = {one["name"]: one["value"] for one in listed}
            frames = (min(found) - 1, max(found) - 1)
            text, source = event["label"], extra.get("source")
            said.append(
                ReadSentence.checked(
                    where, text, extra.get("start"), extra.get("end"), frames, source
                )
            )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"{where} is not as FiftyOne writes labels: {error!r}.") from None
    table = collector.table(frame_size=(1, 1))
    scores = np.where(np.array(scored, dtype=np.bool_), table.scores, np.nan)
    return ReadVideo(names, replace(table, scores=scores), tuple(said))


# Hugging Face: VideoFolder with its metadata.jsonl, a row per sentence, the boxes as tables beside
# it, and the same as Parquet for those who read tables. `wordsight add` reads the folder, too.

_SENTENCE_COLUMNS = {
    "video_id": "string",
    "file_name": "string",
    "text": "string",
    "start": "float64",
    "end": "float64",
    "source": "string",
}
_BOX_COLUMNS = {
    "video_id": "string",
    "frame": "int64",
    "time": "float64",
    "id": "int64",
    "label": "string",
    "score": "float64",
    "x1": "float64",
    "y1": "float64",
    "x2": "float64",
    "y2": "float64",
}


def write_hugging_face(folder: Path, videos: Iterable[AnnotatedVideo]) -> None:
    """Write films, ``metadata.jsonl``, ``boxes/`` and, where pyarrow is, ``parquet/``."""
    (folder / "boxes").mkdir()
    rows: list[dict[str, Any]] = []
    tables: dict[str, BoxTable] = {}
    for video in videos:
        film = _linked(video, folder)
        write_boxes_csv(folder / "boxes" / f"{video.entry.id}.csv", video.boxes)
        shared = {"video_id": video.entry.id, "boxes": f"boxes/{video.entry.id}.csv"}
        if film is not None:
            shared = {"file_name": film, **shared}
        rows += [{**shared, **_said(one)} for one in video.sentences]
        if not video.sentences:
            rows.append({**shared, "text": None, "start": None, "end": None, "source": None})
        tables[video.entry.id] = video.boxes
    with (folder / "metadata.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if importlib.util.find_spec("pyarrow") is not None:
        _write_parquet(folder / "parquet", rows, tables)


def _linked(video: AnnotatedVideo, folder: Path) -> str | None:
    """Put a film into the folder, without copying it where that is possible."""
    if video.file is None:
        return None
    suffix = video.file.suffix.lower()
    target = folder / f"{video.entry.id}{suffix if suffix in VIDEO_SUFFIXES else '.mp4'}"
    try:
        os.link(video.file.resolve(), target)
    except OSError:  # another disk
        shutil.copyfile(video.file, target)
    return target.name


def _write_parquet(
    folder: Path, rows: Sequence[Mapping[str, Any]], tables: Mapping[str, BoxTable]
) -> None:
    import pyarrow
    from pyarrow import parquet

    folder.mkdir()
    schema = pyarrow.schema(list(_SENTENCE_COLUMNS.items()))
    columns = {name: [row.get(name) for row in rows] for name in _SENTENCE_COLUMNS}
    parquet.write_table(pyarrow.table(columns, schema=schema), folder / "sentences.parquet")
    schema = pyarrow.schema(list(_BOX_COLUMNS.items()))
    with parquet.ParquetWriter(folder / "boxes.parquet", schema) as writer:
        for video_id, boxes in tables.items():
            writer.write_table(pyarrow.table(_box_columns(video_id, boxes), schema=schema))


def _box_columns(video_id: str, boxes: BoxTable) -> dict[str, Any]:
    """Return a row per box, and one without a box per frame that has none."""
    assert boxes.covered is not None and boxes.times is not None
    empty = np.setdiff1d(boxes.covered, boxes.frames)
    frames = np.concatenate([boxes.frames, empty])
    order = np.argsort(frames, kind="stable")
    names = np.array([*boxes.label_names, ""], dtype=object)
    missing = [None] * len(empty)

    def column(values: list[Any]) -> list[Any]:
        listed = [*values, *missing]
        return [listed[row] for row in order.tolist()]

    times = boxes.times[np.searchsorted(boxes.covered, frames[order])]
    ids = [None if one == NO_ID else one for one in boxes.ids.tolist()]
    corners = zip(("x1", "y1", "x2", "y2"), boxes.boxes.T.tolist(), strict=True)
    sides = {name: column(values) for name, values in corners}
    return {
        "video_id": [video_id] * len(frames),
        "frame": frames[order],
        "time": times,
        "id": column(ids),
        "label": column(names[boxes.labels].tolist()),
        "score": column(boxes.scores.tolist()),
        **sides,
    }


def read_hugging_face(files: Sequence[Path]) -> Iterator[ReadVideo]:
    """Read ``metadata.jsonl`` files, and folders of Parquet by their ``sentences.parquet``."""
    for path in files:
        is_parquet = path.suffix == ".parquet"
        rows = list(_parquet_rows(path) if is_parquet else _json_rows(path))
        boxes = _parquet_boxes(path.with_name("boxes.parquet")) if is_parquet else {}
        grouped: dict[str, list[Mapping[str, Any]]] = {}
        for row in rows:
            key = row.get("video_id") or row.get("file_name")
            if not isinstance(key, str):
                raise FormatError(f"{path.name}: a row names no video; give it a file_name.")
            grouped.setdefault(key, []).append(row)
        for key, own in grouped.items():
            said = tuple(_read_said([r for r in own if r.get("text") is not None], path.name))
            named = own[0].get("boxes")
            table = boxes.get(key)
            if isinstance(named, str):
                table = read_table(path.parent / named)
            yield ReadVideo((key, str(own[0].get("file_name") or "")), table, said)


def _json_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError as error:
                raise FormatError(f"{path.name}, line {number}: not JSON ({error}).") from None
            if not isinstance(row, dict):
                raise FormatError(f"{path.name}, line {number}: expected an object {{...}}.")
            yield row


def _parquet_table(path: Path) -> Any:
    if importlib.util.find_spec("pyarrow") is None:
        raise FormatError(f"{path.name} needs pyarrow: pip install 'wordsight[parquet]'.")
    import pyarrow
    from pyarrow import parquet

    try:
        return parquet.read_table(path)
    except (OSError, pyarrow.ArrowException) as error:
        raise FormatError(f"{path.name} cannot be read as Parquet: {error}.") from None


def _parquet_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    rows: list[Mapping[str, Any]] = _parquet_table(path).to_pylist()
    yield from rows


def _parquet_boxes(path: Path) -> dict[str, BoxTable]:
    if not path.is_file():
        return {}
    collectors: dict[str, BoxCollector] = {}
    covered: dict[str, dict[int, float]] = {}
    for row in _parquet_table(path).to_pylist():
        try:
            key, frame = str(row["video_id"]), int(row["frame"])
            covered.setdefault(key, {})[frame] = float(row["time"])
            collector = collectors.setdefault(key, BoxCollector(path.name))
            if row["x1"] is None:
                continue
            corners = (row["x1"], row["y1"], row["x2"], row["y2"])
            identity = NO_ID if row["id"] is None else int(row["id"])
            score = 1.0 if row["score"] is None else float(row["score"])
            label = str(row["label"])
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"{path.name}: a row is not usable: {error!r}.") from None
        collector.add(path.name, frame, corners, score=score, label=label, track_id=identity)
    tables = {}
    for key, collector in collectors.items():
        frames = sorted(covered[key])
        times = [covered[key][frame] for frame in frames]
        tables[key] = collector.table(covered=frames, times=times)
    return tables
