"""MOT and CSV: formats with a line per box.

**MOT** counts frames and pixels from 1.

Detections and results have ten columns, ``frame, id, left, top, width, height, confidence`` and
three world coordinates, usually -1. Ground truth since 2016 has nine, ending with class and
visibility. A ``seqinfo.ini`` beside the file or one folder up has frame rate, length and size.

**CSV** has a header, for use in a spreadsheet. Columns: ``frame`` (counting from 0), ``time``
(seconds), ``id`` (empty if unknown), ``label``, ``score``, and the corners ``x1, y1, x2, y2`` in
pixels (0-based, end-exclusive). Only the frame and the corners are required; times are in every
line or in none. A line without a box is a frame without boxes; a file with times covers exactly the
frames it lists.
"""

import configparser
import csv
import io
import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

from wordsight.errors import FormatError
from wordsight.perception.formats.table import NO_ID, BoxCollector, BoxTable
from wordsight.perception.formats.text import (
    decimal_of,
    minus,
    parse_decimal,
    parse_number,
    parse_whole,
    plus,
    text_of,
)

__all__ = ["COLUMNS", "read_csv", "read_mot", "sequence_info", "write_csv", "write_mot"]

_ONE = Decimal(1)
_COLUMNS = "frame, id, left, top, width, height, confidence"

# The classes of the MOTChallenge ground truth since 2016, numbered from 1.
_CLASSES = (
    "pedestrian",
    "person on vehicle",
    "car",
    "bicycle",
    "motorbike",
    "non motorized vehicle",
    "static person",
    "distractor",
    "occluder",
    "occluder on the ground",
    "occluder full",
    "reflection",
    "crowd",
)


def read_mot(
    text: str,
    path: Path,
    *,
    label_names: Sequence[str] | None = None,
    first_frame: int | None = None,
) -> BoxTable:
    """Read the text of a MOT file.

    Args:
        text: Content of the file.
        path: The file, for messages and to find ``seqinfo.ini``.
        label_names: Names of the classes 1, 2, ...; of the only class, if the file has none.
        first_frame: Number of the first frame, 1 by default.
    """
    names = tuple(label_names) if label_names is not None else None
    collector = BoxCollector(path.name, names)
    first = 1 if first_frame is None else first_frame
    for where, fields in _lines(text, collector):
        try:
            frame, identity = parse_whole(fields[0]), parse_whole(fields[1])
            left, top = (minus(parse_decimal(field), _ONE) for field in fields[2:4])
            width, height = (parse_decimal(field) for field in fields[4:6])
            score = float(parse_decimal(fields[6]))
            label = _label(fields, names)
        except ValueError as error:
            raise collector.error(where, f"{error}; expected {_COLUMNS}.") from None
        if frame < first:
            raise collector.error(
                where, f"frames are counted from {first} in this format, got {frame}."
            )
        right, bottom = plus(left, width), plus(top, height)
        box = (float(left), float(top), float(right), float(bottom))
        collector.add(where, frame - first, box, score=score, label=label, track_id=identity)
    info = sequence_info(path)
    length = info.get("length")
    table = collector.table(
        frame_size=_size(info),
        frame_rate=info.get("rate"),
        covered=None if length is None else range(int(length)),
    )
    if length is not None and len(table.frames) and table.frames.max() >= length:
        raise FormatError(
            f"{path.name} has boxes in frame {int(table.frames.max()) + first}, but seqinfo.ini "
            f"states {int(length)} frames; correct one of them."
        )
    return table


def write_mot(table: BoxTable) -> Iterator[str]:
    """Yield the lines of a MOT file; nine columns if there are several classes, else ten."""
    many = len(table.label_names) > 1
    columns = (table.frames, table.ids, table.boxes, table.scores, table.labels)
    for frame, identity, box, score, label in zip(*(c.tolist() for c in columns), strict=True):
        left, top, right, bottom = (decimal_of(side) for side in box)
        numbers = (
            plus(left, _ONE),
            plus(top, _ONE),
            minus(right, left),
            minus(bottom, top),
            decimal_of(score),
        )
        rest = f"{label + 1},1" if many else "-1,-1,-1"
        yield f"{frame + 1},{identity},{','.join(map(text_of, numbers))},{rest}\n"


def sequence_info(path: Path) -> dict[str, float]:
    """Read ``seqinfo.ini`` of a sequence, if there is one.

    Args:
        path: The file of boxes; ``seqinfo.ini`` is in its folder or the one above.

    Returns:
        Some of ``rate``, ``length``, ``width`` and ``height``.
    """
    for folder in (path.parent, path.parent.parent):
        file = folder / "seqinfo.ini"
        if file.is_file():
            return _parse_info(file)
    return {}


def _parse_info(file: Path) -> dict[str, float]:
    names = {"frameRate": "rate", "seqLength": "length", "imWidth": "width", "imHeight": "height"}
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(file.read_text(encoding="utf-8-sig"))
        section = parser["Sequence"]
        info = {ours: float(section[theirs]) for theirs, ours in names.items() if theirs in section}
    except (configparser.Error, KeyError, ValueError) as error:
        raise FormatError(
            f"{file} is not a readable seqinfo.ini ({error}); correct or remove it."
        ) from error
    if not all(0 < value < 1e7 for value in info.values()):
        raise FormatError(f"{file} has a number out of range: {info}; correct or remove it.")
    return info


def _size(info: dict[str, float]) -> tuple[int, int] | None:
    return (int(info["width"]), int(info["height"])) if {"width", "height"} <= set(info) else None


def _lines(text: str, collector: BoxCollector) -> Iterator[tuple[str, list[str]]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        fields = line.split(",") if "," in line else line.split()
        if fields[-1].strip() == "":
            fields.pop()  # some programs end every line with a comma
        where = f"line {number}"
        if not 7 <= len(fields) <= 10:
            raise collector.error(
                where, f"expected 7 to 10 columns ({_COLUMNS}, ...), got {len(fields)}."
            )
        yield where, fields


def _label(fields: list[str], names: tuple[str, ...] | None) -> str:
    """Return the name of the class; with ten columns there is none."""
    number = parse_whole(fields[7]) if len(fields) in (8, 9) else -1
    if number < 1:
        return names[0] if names else "object"
    known = names or _CLASSES
    if number > len(known):
        raise ValueError(f"class {number} has no name, only {len(known)} are known")
    return known[number - 1]


COLUMNS = ("frame", "time", "id", "label", "score", "x1", "y1", "x2", "y2")
"""The columns in the order they are written."""

_NEEDED = {"frame", "x1", "y1", "x2", "y2"}


def read_csv(
    text: str,
    path: Path,
    *,
    label_names: Sequence[str] | None = None,
    first_frame: int | None = None,
) -> BoxTable:
    """Read the text of a CSV file.

    Args:
        text: Content of the file.
        path: The file, for messages.
        label_names: The classes; by default those in the file.
        first_frame: Number of the first frame, 0 by default.
    """
    collector = BoxCollector(path.name, label_names)
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    listed: dict[int, float | None] = {}
    try:
        header = _checked_header(reader.fieldnames, path.name)
        for row in reader:
            where = f"line {reader.line_num}"
            _check_width(row, where, collector)
            _take(row, where, collector, listed, first_frame or 0)
    except csv.Error as error:
        raise collector.error(
            f"line {reader.line_num}", f"{error}; check for an unclosed quotation mark."
        ) from None
    times = {frame: time for frame, time in sorted(listed.items()) if time is not None}
    if "time" not in header or (listed and not times):
        return collector.table()
    if len(times) < len(listed):
        frame = min(set(listed) - set(times))
        raise FormatError(
            f"{path.name}: frame {frame} has no time, but others do; give all of them or none."
        )
    return collector.table(covered=list(times), times=list(times.values()))


def write_csv(table: BoxTable) -> Iterator[str]:
    """Yield the lines of a CSV file, in order of frames; frames without boxes are kept."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    assert table.covered is not None and table.times is not None
    following = iter(_box_rows(table))
    pending = next(following, None)
    for frame, time in zip(table.covered.tolist(), table.times.tolist(), strict=True):
        if pending is None or pending[0] != frame:
            writer.writerow([frame, repr(time), "", "", "", "", "", "", ""])
        while pending is not None and pending[0] == frame:
            writer.writerow([frame, repr(time), *pending[1]])
            pending = next(following, None)
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue()


def _box_rows(table: BoxTable) -> Iterator[tuple[int, list[str | int]]]:
    columns = (table.frames, table.ids, table.labels, table.scores, table.boxes)
    for frame, identity, label, score, box in zip(*(c.tolist() for c in columns), strict=True):
        known = "" if identity == NO_ID else identity
        yield frame, [known, table.label_names[label], repr(score), *map(repr, box)]


def _checked_header(fields: Sequence[str] | None, name: str) -> set[str]:
    header = [field.strip().lower() for field in fields or ()]
    missing = sorted(_NEEDED - set(header))
    if missing or len(set(header)) < len(header):
        raise FormatError(
            f"{name}, line 1: expected a header with the columns {','.join(COLUMNS)}; "
            + (f"{', '.join(missing)} missing." if missing else "one is repeated.")
        )
    return set(header)


def _check_width(row: dict[str | None, str | None], where: str, collector: BoxCollector) -> None:
    if None in row or None in row.values():
        raise collector.error(where, "the number of columns differs from that of the header.")


def _take(
    row: dict[str, str],
    where: str,
    collector: BoxCollector,
    listed: dict[int, float | None],
    first_frame: int,
) -> None:
    cells = {name.strip().lower(): value.strip() for name, value in row.items()}
    try:
        frame = parse_whole(cells["frame"]) - first_frame
        time = parse_number(cells["time"]) if cells.get("time") else None
        corners = [cells[name] for name in ("x1", "y1", "x2", "y2")]
        x1, y1, x2, y2 = map(parse_number, corners) if any(corners) else (0.0,) * 4
        score = parse_number(cells.get("score") or "1")
        identity = parse_whole(cells.get("id") or str(NO_ID))
    except ValueError as error:
        raise collector.error(where, f"{error}; expected {','.join(COLUMNS)}.") from None
    collector.check_frame(where, frame)
    if time is not None and not math.isfinite(time):
        raise collector.error(where, f"the time must be finite, got {time}.")
    if listed.setdefault(frame, time) != time:
        raise collector.error(
            where, f"frame {frame} has the time {time} here and {listed[frame]} before."
        )
    if any(corners):
        label = cells.get("label") or "object"
        collector.add(where, frame, (x1, y1, x2, y2), score=score, label=label, track_id=identity)
