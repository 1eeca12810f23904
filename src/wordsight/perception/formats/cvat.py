"""CVAT for video XML 1.1: tracks of boxes with key frames, in between straight lines.

A box with ``outside="1"`` says that the object is gone until the next box; a track ends with its
last box. Frame numbers are those of the video, also where a task shows only every n-th frame
(``frame_filter``, ``step=n``). Scores travel as an attribute of the boxes; a detection that belongs
to no track is a track of one box with the attribute ``tracked`` set to ``false``.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError
from wordsight.perception.formats.safe_xml import Element, parse_xml
from wordsight.perception.formats.table import NO_ID, BoxTable, Gatherer
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


def read_cvat(
    text: str,
    path: Path,
    *,
    label_names: Sequence[str] | None = None,
    first_frame: int | None = None,
) -> BoxTable:
    """Read the text of a CVAT file.

    Args:
        text: What the file holds.
        path: Where it lies, for messages.
        label_names: The classes, if not to be taken from the file in its order.
        first_frame: The number of the first frame, 0 by default.
    """
    document = parse_xml(text, path.name)
    if document.tag != "annotations" or document.all("image"):
        raise FormatError(
            f"{path.name} is XML but not CVAT for video; expected <annotations> with <track>s. "
            "Export it from CVAT as 'CVAT for video 1.1'."
        )
    task = _task(document)
    names = [label.text.strip() for label in _named(task)]
    gatherer = Gatherer(
        path.name, names if label_names is None else label_names, closed=label_names is not None
    )
    first = first_frame or 0
    covered = _covered(task, first, gatherer)
    step = 1 if covered is None or len(covered) < 2 else int(covered[1] - covered[0])
    for track in document.all("track"):
        _take_track(track, gatherer, first, step)
    table = gatherer.table(frame_size=_size(task, gatherer), covered=covered)
    _check_covered(table, path.name)
    return table


def write_cvat(table: BoxTable) -> Iterator[str]:
    """Yield the pieces of a CVAT file, every box a key frame."""
    assert table.covered is not None and table.frame_size is not None
    bad = [name for name in table.label_names if _UNWRITABLE.search(name)]
    if bad:
        raise FormatError(f"the label {bad[0]!r} has a character that XML cannot hold; rename it.")
    start, stop, step = _range_of(table.covered)
    yield from _head(table, start, stop, step)
    for number, members in enumerate(_tracks_of(table)):
        yield from _track(table, number, members, stop, step)
    yield "</annotations>\n"


def _task(document: Element) -> Element:
    for place in ("task", "job", "project"):
        found = document.find("meta", place)
        if found is not None:
            return found
    return Element("task", {}, 0)


def _named(task: Element) -> list[Element]:
    labels = task.find("labels")
    names = [label.find("name") for label in labels.all("label")] if labels else []
    return [name for name in names if name is not None]


def _whole_of(task: Element, tag: str, gatherer: Gatherer) -> int | None:
    element = task.find(tag)
    if element is None or not element.text.strip():
        return None
    try:
        return parse_whole(element.text)
    except ValueError as error:
        raise gatherer.error(f"line {element.line}", f"<{tag}>: {error}.") from None


def _covered(task: Element, first: int, gatherer: Gatherer) -> NDArray[np.int64] | None:
    """Return the frames the task shows, if it says so."""
    start = _whole_of(task, "start_frame", gatherer) or 0
    stop, size = (_whole_of(task, tag, gatherer) for tag in ("stop_frame", "size"))
    filtered = task.find("frame_filter")
    match = _STEP.search(filtered.text) if filtered is not None else None
    step = max(int(match.group(1)), 1) if match else 1
    if stop is None and size is None:
        return None
    # The size counts the frames shown; older files give a last frame that was never shown.
    end = start + step * size if size is not None else (stop or 0) + 1
    gatherer.check_frame("<meta>", max(end - 1, 0))
    gatherer.check_frame("<meta>", start - first)
    return np.arange(start, end, step, dtype=np.int64) - first


def _size(task: Element, gatherer: Gatherer) -> tuple[int, int] | None:
    original = task.find("original_size")
    if original is None:
        return None
    width, height = (_whole_of(original, side, gatherer) for side in ("width", "height"))
    return (width, height) if width and height and min(width, height) > 0 else None


def _take_track(track: Element, gatherer: Gatherer, first: int, step: int) -> None:
    where = f"line {track.line}"
    label = track.attributes.get("label", "")
    if not label:
        raise gatherer.error(where, "a track needs a label.")
    try:
        identity = parse_whole(track.attributes.get("id", ""))
    except ValueError:
        raise gatherer.error(where, "a track needs a whole number as its id.") from None
    boxes = sorted((_Box(box, gatherer, first) for box in track.all("box")), key=lambda b: b.frame)
    for box, following in zip(boxes, [*boxes[1:], None], strict=True):
        if following is not None and following.frame == box.frame:
            raise gatherer.error(following.where, f"the track has frame {box.frame} twice.")
        if box.outside:
            continue
        known = identity if box.tracked else NO_ID
        for frame, corners in _line(box, following, step):
            gatherer.add(box.where, frame, corners, score=box.score, label=label, identity=known)


class _Box:
    """One box of a track as the file has it."""

    def __init__(self, element: Element, gatherer: Gatherer, first: int) -> None:
        self.where = f"line {element.line}"
        try:
            self.frame = parse_whole(element.attributes["frame"]) - first
            self.outside = parse_whole(element.attributes.get("outside", "0")) != 0
            corners = [parse_number(element.attributes[side]) for side in _SIDES]
            extra = {a.attributes.get("name"): a.text for a in element.all("attribute")}
            self.score = parse_number(extra.get("score") or "1")
        except KeyError as error:
            raise gatherer.error(self.where, f"the box lacks {error}.") from None
        except ValueError as error:
            raise gatherer.error(self.where, f"{error}.") from None
        self.corners = np.array(corners)
        self.tracked = extra.get("tracked", "true").strip().lower() != "false"
        gatherer.check_frame(self.where, self.frame)


def _line(
    box: _Box, following: _Box | None, step: int
) -> Iterator[tuple[int, tuple[float, float, float, float]]]:
    """Yield the box and those between it and the next, on a straight line."""
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
    """Group the boxes of a track, in order of their first box; those of no track stay alone.

    An identity that is there twice in a frame makes a second track, since one cannot hold both.
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
