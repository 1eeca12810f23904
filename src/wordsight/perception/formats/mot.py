"""MOT text: one box per line, frames and pixels counted from 1.

Detections and results have ten columns, ``frame, id, left, top, width, height, confidence`` and
three world coordinates, usually -1. Ground truth since 2016 has nine, ending with class and
visibility. A ``seqinfo.ini`` beside the file or one folder up has frame rate, length and size.
"""

import configparser
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

from wordsight.errors import FormatError
from wordsight.perception.formats.table import BoxCollector, BoxTable
from wordsight.perception.formats.text import (
    decimal_of,
    minus,
    parse_decimal,
    parse_whole,
    plus,
    text_of,
)

__all__ = ["read_mot", "sequence_info", "write_mot"]

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
