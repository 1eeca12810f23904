"""CSV: one box per line under a header, for use in a spreadsheet.

Columns: ``frame`` (counting from 0), ``time`` (seconds), ``id`` (empty if unknown), ``label``,
``score``, and the corners ``x1, y1, x2, y2`` in pixels (0-based, end-exclusive). Only the frame and
the corners are required. A line without a box is a frame without boxes; a file with times covers
exactly the frames it lists.
"""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from wordsight.errors import FormatError
from wordsight.perception.formats.table import NO_ID, BoxCollector, BoxTable
from wordsight.perception.formats.text import parse_number, parse_whole

__all__ = ["COLUMNS", "read_csv", "write_csv"]

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
    listed: dict[int, float] = {}
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
    if "time" not in header:
        return collector.table()
    frames = sorted(listed)
    return collector.table(covered=frames, times=[listed[frame] for frame in frames])


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
    listed: dict[int, float],
    first_frame: int,
) -> None:
    cells = {name.strip().lower(): value.strip() for name, value in row.items()}
    try:
        frame = parse_whole(cells["frame"]) - first_frame
        time = parse_number(cells.get("time", "0"))
        corners = [cells[name] for name in ("x1", "y1", "x2", "y2")]
        x1, y1, x2, y2 = map(parse_number, corners) if any(corners) else (0.0,) * 4
        score = parse_number(cells.get("score") or "1")
        identity = parse_whole(cells.get("id") or str(NO_ID))
    except ValueError as error:
        raise collector.error(where, f"{error}; expected {','.join(COLUMNS)}.") from None
    collector.check_frame(where, frame)
    if not math.isfinite(time):
        raise collector.error(where, f"the time must be finite, got {time}.")
    if listed.setdefault(frame, time) != time:
        raise collector.error(
            where, f"frame {frame} has the time {time} here and {listed[frame]} before."
        )
    if any(corners):
        label = cells.get("label") or "object"
        collector.add(where, frame, (x1, y1, x2, y2), score=score, label=label, track_id=identity)
