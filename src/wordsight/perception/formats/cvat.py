"""CVAT for video XML 1.1: tracks of boxes at key frames, interpolated linearly.

A box with ``outside="1"`` means that the object is absent until the next box; a track ends with its
last box. Frame numbers are those of the video, also if a task has only every n-th frame
(``frame_filter``, ``step=n``). Scores are stored as an attribute of the boxes; a detection without
a track is a track of one box with the attribute ``tracked`` set to ``false``.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError
from wordsight.perception.formats.table import NO_ID, BoxCollector, BoxTable
from wordsight.perception.formats.text import parse_number, parse_whole

__all__ = ["read_cvat", "write_cvat"]


_SIDES = ("xtl", "ytl", "xbr", "ybr")
_STEP = re.compile(r"step\s*=\s*(\d{1,7})")
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_ATTRIBUTES = "".join(
    f"<attribute><name>{name}</name><mutable>{mutable}</mutable><input_type>{kind}</input_type>"
    f"<default_value>{default}</default_value><values>{default}</values></attribute>"
    for name, mutable, kind, default in (
        ("score", "True", "text", "1"),
        ("tracked", "False", "checkbox", "true"),
    )
)


# XML with the line number of each element, for messages, which ElementTree does not keep. Document
# types and with them entities, which can expand without limit or read other files, are rejected;
# annotation tools never write them.

_MAX_DEPTH = 64


@dataclass(slots=True)
class _Element:
    """An XML element: name, attributes, first line, own text and children."""

    tag: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list["_Element"] = field(default_factory=list)

    def all(self, tag: str) -> "list[_Element]":
        return [child for child in self.children if child.tag == tag]

    def find(self, *tags: str) -> "_Element | None":
        """Return the first element at a path of names."""
        here: _Element | None = self
        for tag in tags:
            here = next(iter(here.all(tag)), None) if here else None
        return here


def _parse_xml(text: str, name: str) -> _Element:
    """Return the root element of a document; ``name`` is the file name for messages."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    top = _Element("", {}, 0)
    stack = [top]

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(stack) > _MAX_DEPTH:
            raise FormatError(f"{name}, line {parser.CurrentLineNumber}: nested too deeply.")
        element = _Element(tag, attributes, parser.CurrentLineNumber)
        stack[-1].children.append(element)
        stack.append(element)

    def end(_: str) -> None:
        stack.pop()

    def characters(data: str) -> None:
        stack[-1].text += data

    def reject(*_: object) -> None:
        raise FormatError(
            f"{name}, line {parser.CurrentLineNumber}: document types and entities are not "
            "allowed, since they can expand without limit; remove the <!DOCTYPE ...> part."
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = reject
    parser.EntityDeclHandler = reject
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise FormatError(
            f"{name}, line {error.lineno}: not XML ({expat.ErrorString(error.code)}); the file is "
            "damaged, truncated or of another format."
        ) from None
    return top.children[0]


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
    document = _parse_xml(text, path.name)
    if document.tag != "annotations" or document.all("image"):
        raise FormatError(
            f"{path.name} is XML but not CVAT for video; expected <annotations> with <track>s. "
            "Export it from CVAT as 'CVAT for video 1.1'."
        )
    task = _task(document)
    names = [label.text.strip() for label in _named(task)]
    collector = BoxCollector(
        path.name, names if label_names is None else label_names, closed=label_names is not None
    )
    first = first_frame or 0
    covered = _covered(task, first, collector)
    step = 1 if covered is None or len(covered) < 2 else int(covered[1] - covered[0])
    for track in document.all("track"):
        _take_track(track, collector, first, step)
    table = collector.table(frame_size=_size(task, collector), covered=covered)
    _check_covered(table, path.name)
    return table


def write_cvat(table: BoxTable) -> Iterator[str]:
    """Yield the parts of a CVAT file; every box is a key frame."""
    assert table.covered is not None and table.frame_size is not None
    bad = [name for name in table.label_names if _UNWRITABLE.search(name)]
    if bad:
        raise FormatError(f"the label {bad[0]!r} has a character not allowed in XML; rename it.")
    start, stop, step = _range_of(table.covered)
    yield from _head(table, start, stop, step)
    for number, members in enumerate(_tracks_of(table)):
        yield from _track(table, number, members, stop, step)
    yield "</annotations>\n"


def _task(document: _Element) -> _Element:
    for place in ("task", "job", "project"):
        found = document.find("meta", place)
        if found is not None:
            return found
    return _Element("task", {}, 0)


def _named(task: _Element) -> list[_Element]:
    labels = task.find("labels")
    names = [label.find("name") for label in labels.all("label")] if labels else []
    return [name for name in names if name is not None]


def _whole_of(task: _Element, tag: str, collector: BoxCollector) -> int | None:
    element = task.find(tag)
    if element is None or not element.text.strip():
        return None
    try:
        return parse_whole(element.text)
    except ValueError as error:
        raise collector.error(f"line {element.line}", f"<{tag}>: {error}.") from None


def _covered(task: _Element, first: int, collector: BoxCollector) -> NDArray[np.int64] | None:
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


def _size(task: _Element, collector: BoxCollector) -> tuple[int, int] | None:
    original = task.find("original_size")
    if original is None:
        return None
    width, height = (_whole_of(original, side, collector) for side in ("width", "height"))
    return (width, height) if width and height and min(width, height) > 0 else None


def _take_track(track: _Element, collector: BoxCollector, first: int, step: int) -> None:
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


class _Box:
    """One box of a track as stored in the file."""

    def __init__(self, element: _Element, collector: BoxCollector, first: int) -> None:
        self.where = f"line {element.line}"
        try:
            self.frame = parse_whole(element.attributes["frame"]) - first
            self.outside = parse_whole(element.attributes.get("outside", "0")) != 0
            corners = [parse_number(element.attributes[side]) for side in _SIDES]
            extra = {a.attributes.get("name"): a.text for a in element.all("attribute")}
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


def _head(table: BoxTable, start: int, stop: int, step: int) -> Iterator[str]:
    width, height = table.frame_size or (1, 1)
    shown = (stop - start) // step + 1
    yield '<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n  <version>1.1</version>\n'
    yield f"  <meta>\n    <task>\n      <size>{shown}</size>\n      <mode>interpolation</mode>\n"
    yield f"      <start_frame>{start}</start_frame>\n"
    yield f"      <stop_frame>{max(stop, 0)}</stop_frame>\n"
    yield f"      <frame_filter>{f'step={step}' if step > 1 else ''}</frame_filter>\n"
    yield "      <labels>\n"
    for name in table.label_names:
        yield f"        <label><name>{escape(name)}</name>"
        yield f"<attributes>{_ATTRIBUTES}</attributes></label>\n"
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


def _track(table: BoxTable, number: int, members: list[int], stop: int, step: int) -> Iterator[str]:
    identity, label = int(table.ids[members[0]]), table.label_names[table.labels[members[0]]]
    known = identity != NO_ID
    yield f'  <track id="{identity if known else number}" label={quoteattr(label)} '
    yield 'source="file">\n'
    frames = table.frames[members].tolist()
    for index, frame, after in zip(members, frames, [*frames[1:], None], strict=True):
        yield _box_text(table, index, frame, tracked=known, outside=False)
        gone = frame + step
        if gone <= stop and (after is None or after > gone):
            yield _box_text(table, index, gone, tracked=known, outside=True)
    yield "  </track>\n"


def _box_text(table: BoxTable, index: int, frame: int, *, tracked: bool, outside: bool) -> str:
    sides = zip(_SIDES, table.boxes[index].tolist(), strict=True)
    corners = " ".join(f'{name}="{value!r}"' for name, value in sides)
    return (
        f'    <box frame="{frame}" keyframe="1" outside="{int(outside)}" occluded="0" {corners} '
        f'z_order="0"><attribute name="score">{float(table.scores[index])!r}</attribute>'
        f'<attribute name="tracked">{str(tracked).lower()}</attribute></box>\n'
    )
