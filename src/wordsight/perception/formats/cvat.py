"""CVAT for video XML 1.1: tracks of boxes at key frames, interpolated linearly.

A box with ``outside="1"`` means that the object is absent until the next box; a track ends with its
last box. Frame numbers are those of the video, also if a task has only every n-th frame
(``frame_filter``, ``step=n``). Scores are stored as an attribute of the boxes; a detection without
a track is a track of one box with the attribute ``tracked`` set to ``false``. A sentence, for which
CVAT has no place, is a track ``sentence`` as large as the picture, over its frames.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError
from wordsight.perception.formats.table import NO_ID, BoxCollector, BoxTable
from wordsight.perception.formats.text import XmlElement, parse_number, parse_whole, parse_xml

__all__ = [
    "CvatSentence",
    "CvatTask",
    "cvat_labels",
    "read_cvat",
    "read_cvat_task",
    "write_cvat",
]


_SIDES = ("xtl", "ytl", "xbr", "ybr")
_STEP = re.compile(r"step\s*=\s*(\d{1,7})")
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_SENTENCE = "sentence"


_SAID = ("text", "start", "end", "source")
# Name, whether it may change from frame to frame, how it is entered, and its default.
_Attributes = tuple[tuple[str, bool, str, str], ...]
_OF_BOXES: _Attributes = (("score", True, "text", "1"), ("tracked", False, "checkbox", "true"))
_OF_SENTENCES: _Attributes = tuple((name, False, "text", "") for name in _SAID)


def cvat_labels(names: Iterable[str], *, sentences: bool) -> list[dict[str, Any]]:
    """Return labels as CVAT takes them for a new task, in the *Raw* editor and by its API.

    Args:
        names: What boxes are called.
        sentences: Whether there are sentences, too.
    """
    known = [(name, _OF_BOXES) for name in names if not (sentences and name == _SENTENCE)]
    known += [(_SENTENCE, _OF_SENTENCES)] if sentences else []
    return [
        {
            "name": name,
            "attributes": [
                {
                    "name": one,
                    "mutable": mutable,
                    "input_type": kind,
                    "default_value": default,
                    "values": [default],
                }
                for one, mutable, kind, default in attributes
            ],
        }
        for name, attributes in known
    ]


def _declared(label: dict[str, Any]) -> str:
    """Return a label as the head of a file has it."""
    attributes = "".join(
        f"<attribute><name>{one['name']}</name><mutable>{one['mutable']}</mutable>"
        f"<input_type>{one['input_type']}</input_type>"
        f"<default_value>{one['default_value']}</default_value>"
        f"<values>{one['default_value']}</values></attribute>"
        for one in label["attributes"]
    )
    name = f"<name>{escape(label['name'])}</name>"
    return f"        <label>{name}<attributes>{attributes}</attributes></label>\n"


@dataclass(frozen=True)
class CvatSentence:
    """A sentence as a track: what it says, its frames, and the seconds it was written with.

    Attributes:
        text: What is said.
        first: Its first frame.
        last: Its last frame.
        start: Seconds, empty if it is said of the whole video.
        end: Seconds.
        source: Where it came from.
    """

    text: str
    first: int
    last: int
    start: str = ""
    end: str = ""
    source: str = ""


@dataclass(frozen=True, eq=False)
class CvatTask:
    """A video as a task of CVAT.

    Attributes:
        names: What the file calls the video: name of the task, name of the film.
        boxes: Its boxes; visible between the frames that were looked at. Those without a score
            have 1.
        unscored: Rows of those that have none.
        sentences: What is said of it.
        num_frames: Frames of the video; only for writing.
    """

    names: tuple[str, ...]
    boxes: BoxTable
    sentences: tuple[CvatSentence, ...] = ()
    num_frames: int = 0
    unscored: tuple[int, ...] = ()


def read_cvat(
    text: str,
    path: Path,
    *,
    label_names: Sequence[str] | None = None,
    first_frame: int | None = None,
) -> BoxTable:
    """Read the text of a CVAT file.

    Args:
        text: Content of the file.
        path: The file, for messages.
        label_names: The classes; by default those in the file, in its order.
        first_frame: Number of the first frame, 0 by default.
    """
    return read_cvat_task(text, path, label_names=label_names, first_frame=first_frame).boxes


def read_cvat_task(
    text: str,
    path: Path,
    *,
    label_names: Sequence[str] | None = None,
    first_frame: int | None = None,
) -> CvatTask:
    """Read boxes, sentences and names; arguments as in :func:`read_cvat`."""
    document = parse_xml(text, path.name)
    if document.tag != "annotations" or document.all("image"):
        raise FormatError(
            f"{path.name} is XML but not CVAT for video; expected <annotations> with <track>s. "
            "Export it from CVAT as 'CVAT for video 1.1'."
        )
    task = _task(document)
    said = [track for track in document.all("track") if _is_sentence(track)]
    names = [label.text.strip() for label in _named(task)]
    names = [name for name in names if name != _SENTENCE] if said else names
    collector = BoxCollector(
        path.name, names if label_names is None else label_names, closed=label_names is not None
    )
    first = first_frame or 0
    covered = _covered(task, first, collector)
    step = 1 if covered is None or len(covered) < 2 else int(covered[1] - covered[0])
    unscored: list[bool] = []
    for track in document.all("track"):
        if not _is_sentence(track):
            unscored += _take_track(track, collector, first, step)
    table = collector.table(frame_size=_size(task, collector), covered=covered)
    _check_covered(table, path.name)
    places = (task.find("name"), task.find("source"), document.find("meta", "source"))
    called = tuple(place.text.strip() for place in places if place is not None)
    return CvatTask(
        called,
        table,
        tuple(_sentence(track, collector, first) for track in said),
        unscored=tuple(np.flatnonzero(unscored).tolist()),
    )


def write_cvat(table: BoxTable, task: CvatTask | None = None) -> Iterator[str]:
    """Yield the parts of a CVAT file; every box is a key frame.

    With a task, things stay visible between the frames that were looked at, so that people can
    correct them; without, they are there on exactly the frames of the table.
    """
    assert table.covered is not None and table.frame_size is not None
    bad = [name for name in table.label_names if _UNWRITABLE.search(name)]
    if bad:
        raise FormatError(f"the label {bad[0]!r} has a character not allowed in XML; rename it.")
    start, stop, step = _range_of(table.covered)
    yield from _head(table, start, stop, step, task)
    frames = table.covered.tolist()
    gone = {frame: frame + step for frame in frames}
    if task is not None:
        gone |= dict(pairwise(frames))
    tracks = _tracks_of(table)
    for number, members in enumerate(tracks):
        alone = task is not None and table.ids[members[0]] == NO_ID
        frame = int(table.frames[members[0]])
        yield from _track(table, number, members, stop, {frame: frame + 1} if alone else gone)
    if task is not None:
        for number, said in enumerate(task.sentences, start=len(tracks)):
            yield from _sentence_track(number, said, task)
    yield "</annotations>\n"


def _sentence_track(number: int, said: CvatSentence, task: CvatTask) -> Iterator[str]:
    width, height = task.boxes.frame_size or (1, 1)
    values = "".join(
        f'<attribute name="{name}">{escape(_UNWRITABLE.sub("", getattr(said, name)))}</attribute>'
        for name in _SAID
    )
    place = f'xtl="0" ytl="0" xbr="{width}" ybr="{height}" z_order="-1"'
    yield f'  <track id="{number}" label="{_SENTENCE}" source="file">\n'
    keys = {said.first: 0, said.last: 0, said.last + 1: 1}
    keys.pop(task.num_frames, None)  # behind the last frame
    for frame, outside in keys.items():
        head = f'<box frame="{frame}" keyframe="1" outside="{outside}" occluded="0"'
        yield f"    {head} {place}>{values}</box>\n"
    yield "  </track>\n"


def _is_sentence(track: XmlElement) -> bool:
    return track.attributes.get("label") == _SENTENCE and any(
        "text" in _values(box) for box in track.all("box")
    )


def _values(element: XmlElement) -> dict[str | None, str]:
    return {a.attributes.get("name"): a.text for a in element.all("attribute")}


def _sentence(track: XmlElement, collector: BoxCollector, first: int) -> CvatSentence:
    boxes = sorted((_Box(box, collector, first) for box in track.all("box")), key=lambda b: b.frame)
    shown = [box.frame for box in boxes if not box.outside]
    if not shown:
        raise collector.error(f"line {track.line}", "the sentence has no frame; give it one.")
    ended = [box.frame - 1 for box in boxes if box.outside and box.frame > shown[-1]]
    said = {name: _values(track.all("box")[0]).get(name, "").strip() for name in _SAID}
    return CvatSentence(first=shown[0], last=ended[0] if ended else shown[-1], **said)


def _task(document: XmlElement) -> XmlElement:
    for place in ("task", "job", "project"):
        found = document.find("meta", place)
        if found is not None:
            return found
    return XmlElement("task", {}, 0)


def _named(task: XmlElement) -> list[XmlElement]:
    labels = task.find("labels")
    names = [label.find("name") for label in labels.all("label")] if labels else []
    return [name for name in names if name is not None]


def _whole_of(task: XmlElement, tag: str, collector: BoxCollector) -> int | None:
    element = task.find(tag)
    if element is None or not element.text.strip():
        return None
    try:
        return parse_whole(element.text)
    except ValueError as error:
        raise collector.error(f"line {element.line}", f"<{tag}>: {error}.") from None


def _covered(task: XmlElement, first: int, collector: BoxCollector) -> NDArray[np.int64] | None:
    """Return the frames of the task, if it states them."""
    start = _whole_of(task, "start_frame", collector) or 0
    stop, size = (_whole_of(task, tag, collector) for tag in ("stop_frame", "size"))
    filtered = task.find("frame_filter")
    match = _STEP.search(filtered.text) if filtered is not None else None
    step = max(int(match.group(1)), 1) if match else 1
    if stop is None and size is None:
        return None
    # The size counts the frames of the task; in older files stop_frame may lie beyond them.
    end = start + step * size if size is not None else (stop or 0) + 1
    collector.check_frame("<meta>", max(end - 1, 0))
    collector.check_frame("<meta>", start - first)
    return np.arange(start, end, step, dtype=np.int64) - first


def _size(task: XmlElement, collector: BoxCollector) -> tuple[int, int] | None:
    original = task.find("original_size")
    if original is None:
        return None
    width, height = (_whole_of(original, side, collector) for side in ("width", "height"))
    return (width, height) if width and height and min(width, height) > 0 else None


def _take_track(
    track: XmlElement, collector: BoxCollector, first: int, step: int
) -> Iterator[bool]:
    """Add the boxes of a track, and yield of each whether it has no score."""
    where = f"line {track.line}"
    label = track.attributes.get("label", "")
    if not label:
        raise collector.error(where, "a track needs a label.")
    try:
        identity = parse_whole(track.attributes.get("id", ""))
    except ValueError:
        raise collector.error(where, "a track needs a whole number as its id.") from None
    boxes = sorted((_Box(box, collector, first) for box in track.all("box")), key=lambda b: b.frame)
    for box, following in zip(boxes, [*boxes[1:], None], strict=True):
        if following is not None and following.frame == box.frame:
            raise collector.error(following.where, f"the track has frame {box.frame} twice.")
        if box.outside:
            continue
        known = identity if box.tracked else NO_ID
        for frame, corners in _line(box, following, step):
            collector.add(box.where, frame, corners, score=box.score, label=label, track_id=known)
            yield box.unscored


class _Box:
    """One box of a track as stored in the file."""

    def __init__(self, element: XmlElement, collector: BoxCollector, first: int) -> None:
        self.where = f"line {element.line}"
        try:
            self.frame = parse_whole(element.attributes["frame"]) - first
            self.outside = parse_whole(element.attributes.get("outside", "0")) != 0
            corners = [parse_number(element.attributes[side]) for side in _SIDES]
            extra = _values(element)
            self.unscored = not extra.get("score")
            self.score = parse_number(extra.get("score") or "1")
        except KeyError as error:
            raise collector.error(self.where, f"the box lacks {error}.") from None
        except ValueError as error:
            raise collector.error(self.where, f"{error}.") from None
        self.corners = np.array(corners)
        self.tracked = extra.get("tracked", "true").strip().lower() != "false"
        collector.check_frame(self.where, self.frame)


def _line(
    box: _Box, following: _Box | None, step: int
) -> Iterator[tuple[int, tuple[float, float, float, float]]]:
    """Yield the box and those interpolated between it and the next."""
    last = box.frame + 1 if following is None else following.frame
    for frame in range(box.frame, last, step):
        corners = box.corners
        if following is not None and frame > box.frame:
            share = (frame - box.frame) / (following.frame - box.frame)
            corners = box.corners + (following.corners - box.corners) * share
        x1, y1, x2, y2 = corners.tolist()
        yield frame, (x1, y1, x2, y2)


def _check_covered(table: BoxTable, name: str) -> None:
    if table.covered is None:
        return
    stray = np.setdiff1d(table.frames, table.covered)
    if len(stray):
        raise FormatError(
            f"{name} has a box in frame {int(stray[0])}, which is not among the frames of its task "
            f"({table.covered[:1]} to {table.covered[-1:]}); correct <size>, <start_frame> or "
            "<frame_filter>, or the box."
        )


def _range_of(covered: NDArray[np.int64]) -> tuple[int, int, int]:
    """Return the first and last frame, and the step if all frames keep it."""
    if len(covered) == 0:
        return 0, -1, 1
    steps = np.unique(np.diff(covered))
    return int(covered[0]), int(covered[-1]), int(steps[0]) if len(steps) == 1 else 1


def _head(
    table: BoxTable, start: int, stop: int, step: int, task: CvatTask | None
) -> Iterator[str]:
    width, height = table.frame_size or (1, 1)
    shown = (stop - start) // step + 1
    yield '<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n  <version>1.1</version>\n'
    yield "  <meta>\n    <task>\n"
    for tag, name in zip(("name", "source"), () if task is None else task.names, strict=False):
        yield f"      <{tag}>{escape(_UNWRITABLE.sub('', name))}</{tag}>\n"
    yield f"      <size>{shown}</size>\n      <mode>interpolation</mode>\n"
    yield f"      <start_frame>{start}</start_frame>\n"
    yield f"      <stop_frame>{max(stop, 0)}</stop_frame>\n"
    yield f"      <frame_filter>{f'step={step}' if step > 1 else ''}</frame_filter>\n"
    yield "      <labels>\n"
    said = task is not None and bool(task.sentences)
    yield from map(_declared, cvat_labels(table.label_names, sentences=said))
    yield "      </labels>\n      <original_size>\n"
    yield f"        <width>{width}</width>\n        <height>{height}</height>\n"
    yield "      </original_size>\n    </task>\n  </meta>\n"


def _tracks_of(table: BoxTable) -> list[list[int]]:
    """Group boxes by track, in order of their first box; boxes without a track stay alone.

    A track id that occurs twice in a frame gives a second track.
    """
    groups: dict[tuple[int, int, int], list[int]] = {}
    times_seen: Counter[tuple[int, int, int]] = Counter()
    columns = (table.ids, table.labels, table.frames)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for index, (identity, label, frame) in enumerate(rows):
        turn = index if identity == NO_ID else times_seen[identity, label, frame]
        times_seen[identity, label, frame] += 1
        groups.setdefault((identity, label, turn), []).append(index)
    return list(groups.values())


def _track(
    table: BoxTable, number: int, members: list[int], stop: int, gone: dict[int, int]
) -> Iterator[str]:
    identity, label = int(table.ids[members[0]]), table.label_names[table.labels[members[0]]]
    known = identity != NO_ID
    yield f'  <track id="{identity if known else number}" label={quoteattr(label)} '
    yield 'source="file">\n'
    frames = table.frames[members].tolist()
    for index, frame, after in zip(members, frames, [*frames[1:], None], strict=True):
        yield _box_text(table, index, frame, tracked=known, outside=False)
        behind = gone[frame]
        if behind <= stop and (after is None or after > behind):
            yield _box_text(table, index, behind, tracked=known, outside=True)
    yield "  </track>\n"


def _box_text(table: BoxTable, index: int, frame: int, *, tracked: bool, outside: bool) -> str:
    sides = zip(_SIDES, table.boxes[index].tolist(), strict=True)
    corners = " ".join(f'{name}="{value!r}"' for name, value in sides)
    return (
        f'    <box frame="{frame}" keyframe="1" outside="{int(outside)}" occluded="0" {corners} '
        f'z_order="0"><attribute name="score">{float(table.scores[index])!r}</attribute>'
        f'<attribute name="tracked">{str(tracked).lower()}</attribute></box>\n'
    )
