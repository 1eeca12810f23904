"""Tools in which people correct annotations: CVAT, Label Studio and ELAN."""

import io
import json
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote
from xml.sax.saxutils import quoteattr

import numpy as np

from wordsight.errors import FormatError
from wordsight.files import read_limited
from wordsight.language.captions.subtitles import milliseconds
from wordsight.language.eaf import eaf_document
from wordsight.library.exchange.annotations import (
    NEW_ID,
    AnnotatedVideo,
    ReadSentence,
    ReadVideo,
    parse_json,
    write_boxes_csv,
)
from wordsight.perception.formats import read_table
from wordsight.perception.formats.cvat import (
    CvatSentence,
    CvatTask,
    cvat_labels,
    read_cvat_task,
    write_cvat,
)
from wordsight.perception.formats.table import NO_ID, BoxCollector
from wordsight.perception.formats.text import XmlElement, parse_xml, read_text

__all__ = [
    "read_cvat_files",
    "read_elan",
    "read_label_studio",
    "write_cvat_files",
    "write_elan",
    "write_label_studio",
]


# CVAT: one file per video, "CVAT for video 1.1", to be uploaded to a task with that video.


def write_cvat_files(folder: Path, videos: Iterable[AnnotatedVideo]) -> None:
    """Write ``ID.xml`` per video, and ``labels.json``, which CVAT needs to make the task."""
    labels: dict[str, None] = {}
    for video in videos:
        labels |= dict.fromkeys(video.boxes.label_names)
        said = tuple(
            CvatSentence(
                one.text,
                *video.frames_of(one.start, one.end),
                "" if one.start is None else repr(one.start),
                "" if one.end is None else repr(one.end),
                one.source,
            )
            for one in video.sentences
        )
        names = (video.entry.id, video.entry.name)
        task = CvatTask(names, video.boxes, said, len(video.times))
        with (folder / f"{video.entry.id}.xml").open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(write_cvat(video.boxes, task))
    known = json.dumps(cvat_labels(labels, sentences=True), ensure_ascii=False, indent=1)
    (folder / "labels.json").write_text(known, encoding="utf-8")


def read_cvat_files(files: Sequence[Path]) -> Iterator[ReadVideo]:
    """Read ``.xml`` files, and ``.zip`` files as CVAT writes them."""
    for path in files:
        for name, text in _xml_texts(path):
            task = read_cvat_task(text, Path(name))
            said = tuple(
                ReadSentence.checked(
                    name, one.text, one.start, one.end, (one.first, one.last), one.source
                )
                for one in task.sentences
            )
            # Scores are kept by tasks whose labels have that attribute only.
            scores = task.boxes.scores.copy()
            scores[list(task.unscored)] = np.nan
            yield ReadVideo((*task.names, path.stem), replace(task.boxes, scores=scores), said)


_MAX_UNPACKED = 1 << 30


def _xml_texts(path: Path) -> Iterator[tuple[str, str]]:
    if path.suffix.lower() != ".zip":
        yield path.name, read_text(path)
        return
    try:
        content = read_limited(path, _MAX_UNPACKED, "is too large to unpack ({size} bytes).")
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            inside = [one for one in packed.infolist() if one.filename.endswith(".xml")]
            if not inside or sum(one.file_size for one in inside) > _MAX_UNPACKED:
                raise FormatError(f"{path.name} holds no annotations.xml of a sensible size.")
            for one in inside:
                yield f"{path.name}/{one.filename}", packed.read(one).decode("utf-8-sig")
    except (zipfile.BadZipFile, UnicodeDecodeError, OSError) as error:
        raise FormatError(f"{path.name} cannot be unpacked: {error}.") from None


# Label Studio: tasks.json with predictions, and config.xml for the project. Boxes are shares of the
# picture in percent, frames count from 1, and a box is held until the next one of its sequence.

_BOXES, _TIMES, _TEXT = "box", "time", "text"
_SENTENCE_LABEL = "sentence"
_LOCAL = "/data/local-files/?d="


def write_label_studio(folder: Path, videos: Iterable[AnnotatedVideo]) -> None:
    """Write ``tasks.json`` and ``config.xml``."""
    labels: dict[str, None] = {}
    tasks = []
    for video in videos:
        labels |= dict.fromkeys(video.boxes.label_names)
        source = "" if video.file is None else _LOCAL + quote(str(video.file).lstrip("/"))
        data = {
            "video": source,
            "id": video.entry.id,
            "name": video.entry.name,
            "frameRate": video.entry.frame_rate,
        }
        result = [*_regions(video), *_said(video)]
        prediction = {"model_version": "wordsight", "result": result}
        tasks.append({"data": data, "predictions": [prediction]})
    (folder / "tasks.json").write_text(json.dumps(tasks, ensure_ascii=False), encoding="utf-8")
    (folder / "config.xml").write_text(_config(labels), encoding="utf-8")


def _config(labels: Collection[str]) -> str:
    names = "".join(f"<Label value={quoteattr(name)}/>" for name in labels or ("object",))
    return (
        # Its page counts frames by this rate, 24 unless it is given.
        '<View>\n  <Video name="video" value="$video" frameRate="$frameRate"/>\n'
        f'  <VideoRectangle name="{_BOXES}-place" toName="video"/>\n'
        f'  <Labels name="{_BOXES}" toName="video">{names}</Labels>\n'
        f'  <TimelineLabels name="{_TIMES}" toName="video"><Label value="{_SENTENCE_LABEL}"/>'
        "</TimelineLabels>\n"
        f'  <TextArea name="{_TEXT}" toName="video" perRegion="true" maxSubmissions="1" '
        'editable="true"/>\n</View>\n'
    )


def _regions(video: AnnotatedVideo) -> Iterator[dict[str, Any]]:
    boxes = video.boxes
    assert boxes.frame_size is not None
    percent = 100.0 / np.tile(np.array(boxes.frame_size, dtype=np.float64), 2)
    for number, rows in enumerate(video.tracks()):
        frames = boxes.frames[rows].tolist()
        places = boxes.boxes[rows] * percent
        known = int(boxes.ids[rows[0]])
        sequence = [
            {
                "frame": frame + 1,
                "time": float(video.times[frame]),
                # Whether it goes on to the next box of the sequence.
                "enabled": known != NO_ID and following == video.after.get(frame),
                "rotation": 0,
                "x": x1,
                "y": y1,
                "width": x2 - x1,
                "height": y2 - y1,
                "score": score,
            }
            for frame, following, (x1, y1, x2, y2), score in zip(
                frames,
                [*frames[1:], -1],
                places.tolist(),
                boxes.scores[rows].tolist(),
                strict=True,
            )
        ]
        yield {
            "id": f"thing-{number}",
            "type": "videorectangle",
            "from_name": f"{_BOXES}-place",
            "to_name": "video",
            "origin": "prediction",
            "score": float(boxes.scores[rows].mean()),
            "meta": {"track": None if known == NO_ID else known},
            "value": {
                "framesCount": len(video.times),
                "duration": video.entry.duration,
                "sequence": sequence,
                "labels": [boxes.label_names[int(boxes.labels[rows[0]])]],
            },
        }


def _said(video: AnnotatedVideo) -> Iterator[dict[str, Any]]:
    for number, one in enumerate(video.sentences):
        first, last = video.frames_of(one.start, one.end)
        ranges = [{"start": first + 1, "end": last + 1}]
        shared = {"id": f"sentence-{number}", "to_name": "video", "origin": "prediction"}
        yield {
            **shared,
            "type": "timelinelabels",
            "from_name": _TIMES,
            "meta": {"start": one.start, "end": one.end, "source": one.source},
            "value": {"ranges": ranges, "timelinelabels": [_SENTENCE_LABEL]},
        }
        yield {
            **shared,
            "type": "textarea",
            "from_name": _TEXT,
            "value": {"ranges": ranges, "text": [one.text]},
        }


def read_label_studio(files: Sequence[Path]) -> Iterator[ReadVideo]:
    """Read exported tasks: the newest annotation of each, else its prediction."""
    for path in files:
        tasks = parse_json(path)
        for number, task in enumerate(tasks if isinstance(tasks, list) else [tasks]):
            where = f"{path.name}, task {number}"
            if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
                raise FormatError(f"{where}: expected a task with data; export it as JSON.")
            yield _task(task, where)


def _task(task: Mapping[str, Any], where: str) -> ReadVideo:
    data = task["data"]
    film = unquote(str(data.get("video", "")).removeprefix(_LOCAL))
    names = (str(data.get("id", "")), str(data.get("name", "")), f"/{film}", Path(film).name)
    given = [a for a in task.get("annotations") or () if not a.get("was_cancelled")]
    given = given or list(task.get("predictions") or ())
    if not given:
        return ReadVideo(names, None, None)
    newest = max(given, key=lambda one: str(one.get("updated_at") or one.get("created_at") or ""))
    collector = BoxCollector(where)
    unknown: list[bool] = []
    said: dict[str, dict[str, Any]] = {}
    try:
        for item in newest["result"]:
            if item.get("type") == "videorectangle":
                unknown += _take_region(item, where, collector, len(unknown))
            elif item.get("type") in ("timelinelabels", "textarea"):
                said.setdefault(str(item["id"]), {})[item["type"]] = item
        sentences = tuple(_sentence(parts, where) for parts in said.values() if len(parts) == 2)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise FormatError(f"{where} is not as Label Studio writes it: {error!r}.") from None
    # Percents are made pixels when the size of the picture is known: that of the library's video.
    table = replace(collector.table(frame_size=(100, 100)), covered=None)
    table = replace(table, scores=np.where(unknown, np.nan, table.scores))
    return ReadVideo(names, table, sentences)


def _take_region(
    item: Mapping[str, Any], where: str, collector: BoxCollector, taken: int
) -> list[bool]:
    """Add the boxes of a region, interpolated as the tool shows them; say which have no score."""
    value, known = item["value"], (item.get("meta") or {}).get("track", NEW_ID + taken)
    label = (value.get("labels") or ["object"])[0]
    keys = sorted(value["sequence"], key=lambda one: one["frame"])
    unknown = []
    for key, following in zip(keys, [*keys[1:], None], strict=True):
        sides = np.array([float(key[name]) for name in ("x", "y", "width", "height")])
        last = key["frame"] + 1
        if following is not None and key.get("enabled", True):
            last = following["frame"]
        for frame in range(int(key["frame"]), int(last)):
            here = sides
            if following is not None and frame > key["frame"]:
                share = (frame - key["frame"]) / (following["frame"] - key["frame"])
                there = [float(following[name]) for name in ("x", "y", "width", "height")]
                here = sides + (np.array(there) - sides) * share
            x, y, width, height = here.tolist()
            collector.add(
                where,
                frame - 1,
                (x, y, x + width, y + height),
                score=float(key.get("score", 1.0)),
                label=str(label),
                track_id=NO_ID if known is None else int(known),
            )
            unknown.append("score" not in key)
    return unknown


def _sentence(parts: Mapping[str, Mapping[str, Any]], where: str) -> ReadSentence:
    line, text = parts["timelinelabels"], parts["textarea"]["value"]["text"]
    ranges, meta = line["value"]["ranges"][0], line.get("meta") or {}
    frames = int(ranges["start"]) - 1, int(ranges["end"]) - 1
    words = text if isinstance(text, str) else " ".join(text)
    return ReadSentence.checked(
        where, words, meta.get("start"), meta.get("end"), frames, meta.get("source")
    )


# ELAN: a document of tiers per video. It has no boxes, so that they lie beside it as a table; what
# was followed is shown as a tier per label.

_SAID_TIER, _WHOLE_TIER = "sentences", "sentences of the whole video"


def write_elan(folder: Path, videos: Iterable[AnnotatedVideo]) -> None:
    """Write ``ID.eaf`` and ``ID.boxes.csv`` per video."""
    for video in videos:
        tiers: dict[str, list[tuple[int, int, str]]] = {_SAID_TIER: [], _WHOLE_TIER: []}
        whole = _stretch(video, 0, len(video.times) - 1)
        for one in video.sentences:
            if one.start is None or one.end is None:
                tiers[_WHOLE_TIER].append((*whole, one.text))
            else:
                times = milliseconds(one.start), milliseconds(one.end)
                tiers[_SAID_TIER].append((*times, one.text))
        for rows in video.tracks():
            identity = int(video.boxes.ids[rows[0]])
            if identity != NO_ID:
                name = video.boxes.label_names[int(video.boxes.labels[rows[0]])]
                frames = video.boxes.frames[rows]
                stretch = _stretch(video, int(frames[0]), int(frames[-1]))
                tiers.setdefault(f"things: {name}", []).append((*stretch, f"{name} {identity}"))
        text = eaf_document(
            tiers, video=video.entry.path, properties={"wordsight-video": video.entry.id}
        )
        (folder / f"{video.entry.id}.eaf").write_text(text, encoding="utf-8", newline="\n")
        write_boxes_csv(folder / f"{video.entry.id}.boxes.csv", video.boxes)


def _stretch(video: AnnotatedVideo, first: int, last: int) -> tuple[int, int]:
    if not len(video.times):
        return 0, 1
    step = float(np.median(np.diff(video.times))) if len(video.times) > 1 else 1.0
    end = float(video.times[last]) + step
    return milliseconds(max(0.0, float(video.times[first]))), milliseconds(max(0.0, end))


def read_elan(files: Sequence[Path]) -> Iterator[ReadVideo]:
    """Read ``.eaf`` files, and the boxes beside them where there are any."""
    for path in files:
        document = parse_xml(read_text(path), path.name)
        if document.tag != "ANNOTATION_DOCUMENT":
            raise FormatError(f"{path.name} is XML but not a document of ELAN.")
        order = document.find("TIME_ORDER")
        slots = {
            slot.attributes.get("TIME_SLOT_ID", ""): slot.attributes.get("TIME_VALUE")
            for slot in (order.all("TIME_SLOT") if order else ())
        }
        tiers = {tier.attributes.get("TIER_ID", ""): tier for tier in document.all("TIER")}
        said = [
            sentence
            for name, timed in ((_WHOLE_TIER, False), (_SAID_TIER, True))
            if name in tiers
            for sentence in _annotations(tiers[name], slots, path.name, timed=timed)
        ]
        boxes = path.with_suffix(".boxes.csv")
        known = {_SAID_TIER, _WHOLE_TIER} & tiers.keys()
        yield ReadVideo(
            (*_media(document), path.stem),
            read_table(boxes) if boxes.is_file() else None,
            tuple(said) if known else None,
        )


def _media(document: XmlElement) -> list[str]:
    header = document.find("HEADER")
    if header is None:
        return []
    own = [p.text for p in header.all("PROPERTY") if p.attributes.get("NAME") == "wordsight-video"]
    links = [unquote(m.attributes.get("MEDIA_URL", "")) for m in header.all("MEDIA_DESCRIPTOR")]
    paths = [link.removeprefix("file://") for link in links]
    return [*own, *paths, *(Path(path).name for path in paths)]


def _annotations(
    tier: XmlElement, slots: Mapping[str, str | None], name: str, *, timed: bool
) -> Iterator[ReadSentence]:
    for place in tier.all("ANNOTATION"):
        one = place.find("ALIGNABLE_ANNOTATION")
        value = place.find("ALIGNABLE_ANNOTATION", "ANNOTATION_VALUE")
        if one is None or value is None or not value.text.strip():
            continue
        ends = [slots.get(one.attributes.get(f"TIME_SLOT_REF{k}", "")) for k in (1, 2)]
        where = f"{name}, line {one.line}"
        if not timed:
            yield ReadSentence.checked(where, value.text)
            continue
        if not all(end is not None and end.isdecimal() for end in ends):
            raise FormatError(f"{where}: an annotation needs two times; align it in ELAN.")
        start, end = (int(str(end)) / 1000 for end in ends)
        yield ReadSentence.checked(where, value.text, start, end)
