"""Reading and writing files of boxes: MOT text, COCO JSON, CVAT XML and CSV.

:func:`read_boxes` recognises the format by the content, :func:`write_boxes` by the suffix. Reading
a written file gives exactly the same numbers.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from wordsight.errors import FormatError
from wordsight.files import atomic_path
from wordsight.perception.formats.coco import read_coco, write_coco
from wordsight.perception.formats.cvat import read_cvat, write_cvat
from wordsight.perception.formats.lines import read_csv, read_mot, write_csv, write_mot
from wordsight.perception.formats.table import MAX_FRAMES, BoxTable
from wordsight.perception.formats.text import read_text
from wordsight.records import Detections

__all__ = [
    "FORMATS",
    "MAX_FRAMES",
    "BoxTable",
    "convert_boxes",
    "read_boxes",
    "read_table",
    "write_boxes",
]

FORMATS = {"mot": ".txt", "coco": ".json", "cvat": ".xml", "csv": ".csv"}
"""Suffix of each format."""

_READERS: dict[str, Callable[..., BoxTable]] = {
    "mot": read_mot,
    "coco": read_coco,
    "cvat": read_cvat,
    "csv": read_csv,
}
_WRITERS: dict[str, Callable[[BoxTable], Iterator[str]]] = {
    "mot": write_mot,
    "coco": write_coco,
    "cvat": write_cvat,
    "csv": write_csv,
}


def read_boxes(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    times: ArrayLike | None = None,
    frame_rate: float | None = None,
    frame_size: tuple[int, int] | None = None,
    label_names: Sequence[str] | None = None,
    first_frame: int | None = None,
    video: int | str | None = None,
) -> Detections:
    """Read a file of boxes and assign times to its frames.

    Args:
        path: The file.
        format: ``mot``, ``coco``, ``cvat`` or ``csv``; recognised by the content if None.
        times: ``(T,)`` presentation times of all frames of the video, ``VideoReader(...).times``;
            required for a variable frame rate.
        frame_rate: Frames per second, if there are no times.
        frame_size: Width and height of the video; by default those in the file, else the smallest
            that contains all boxes.
        label_names: The classes and their order; by default those in the file.
        first_frame: Number of the first frame in the file; 1 for MOT, 0 for the others.
        video: Id or name of the video in a COCO file with several.

    Returns:
        The detections. Frames without boxes are kept: all frames that the file covers, or all of
        the video if the file does not state which.

    Raises:
        FormatError: If the file is missing, damaged or of another format.
    """
    table = read_table(
        path, format=format, label_names=label_names, first_frame=first_frame, video=video
    )
    return table.to_detections(
        Path(path).name, times=times, frame_rate=frame_rate, frame_size=frame_size
    )


def read_table(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    label_names: Sequence[str] | None = None,
    first_frame: int | None = None,
    video: int | str | None = None,
) -> BoxTable:
    """Read a file of boxes by frame number, without times; arguments as in :func:`read_boxes`."""
    path = Path(path)
    text = read_text(path)
    kind = _by_content(text, path) if format is None else _checked(format)
    options: dict[str, Any] = {"label_names": label_names, "first_frame": first_frame}
    if kind == "coco":
        options["video"] = video
    return _READERS[kind](text, path, **options)


def write_boxes(
    path: str | PathLike[str],
    detections: Detections,
    *,
    format: str | None = None,
    times: ArrayLike | None = None,
    frame_rate: float | None = None,
    overwrite: bool = False,
) -> None:
    """Write detections to a file, atomically.

    Boxes, scores, labels and track ids are stored; flow and appearance are not, nor are label names
    in MOT files, which have class numbers only.

    Args:
        path: The file.
        detections: The detections.
        format: ``mot``, ``coco``, ``cvat`` or ``csv``; recognised by the suffix if None.
        times: ``(T,)`` presentation times of all frames of the video, to number the frames.
        frame_rate: Frames per second, to number the frames. Without either, frames are numbered
            in order.
        overwrite: Whether an existing file may be replaced.

    Raises:
        FormatError: If the format is unknown or cannot hold the detections.
        FileExistsError: If the file exists and ``overwrite`` is false.
    """
    table = BoxTable.from_detections(detections, times=times, frame_rate=frame_rate)
    _write(Path(path), table, format, overwrite)


def convert_boxes(
    source: str | PathLike[str],
    target: str | PathLike[str],
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    frame_rate: float = 30.0,
    overwrite: bool = False,
) -> Detections:
    """Convert a file of boxes into another format, with the same frame numbers.

    Args:
        source: The file to read.
        target: The file to write.
        source_format: As in :func:`read_boxes`.
        target_format: As in :func:`write_boxes`.
        frame_rate: Frames per second of a file that has neither times nor a frame rate.
        overwrite: Whether an existing target may be replaced.

    Returns:
        The detections.

    Raises:
        FormatError: If the source cannot be read or the target format cannot represent it.
        FileExistsError: If the target exists and ``overwrite`` is false.
    """
    table = read_table(source, format=source_format)
    has_times = table.times is not None or table.frame_rate is not None
    rate = None if has_times else frame_rate
    detections = table.to_detections(Path(source).name, frame_rate=rate)
    in_order = BoxTable.from_detections(detections)
    numbers = in_order.covered if table.covered is None else table.covered
    assert numbers is not None
    same_frames = replace(
        in_order,
        frames=numbers[in_order.frames],
        covered=numbers,
        frame_rate=table.frame_rate or rate,
    )
    _write(Path(target), same_frames, target_format, overwrite)
    return detections


def _write(path: Path, table: BoxTable, format: str | None, overwrite: bool) -> None:
    kind = _by_suffix(path) if format is None else _checked(format)
    with (
        atomic_path(path, overwrite=overwrite) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as file,
    ):
        file.writelines(_WRITERS[kind](table))


def _checked(name: str) -> str:
    if name.lower() not in FORMATS:
        raise FormatError(f"there is no format {name!r}; expected one of {', '.join(FORMATS)}.")
    return name.lower()


def _by_suffix(path: Path) -> str:
    for name, suffix in FORMATS.items():
        if path.suffix.lower() == suffix:
            return name
    raise FormatError(
        f"{path.name} has none of the suffixes {', '.join(FORMATS.values())}; name the format."
    )


def _by_content(text: str, path: Path) -> str:
    """Recognise the format by the first characters; by the suffix if the file is empty."""
    start = text.lstrip()[:2000]
    if not start:
        return _by_suffix(path)
    if start[0] in "{[":
        return "coco"
    if start[0] == "<":
        return "cvat"
    first_line = start.partition("\n")[0]
    if "frame" in first_line.lower() or "x1" in first_line.lower():
        return "csv"
    if first_line[0] in "0123456789-+.":
        return "mot"
    raise FormatError(
        f"{path.name} is not a file of boxes: expected MOT text, COCO JSON, CVAT XML or CSV with a "
        f"header, but it starts with {first_line[:40]!r}."
    )
