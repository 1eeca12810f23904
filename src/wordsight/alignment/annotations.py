"""Steps with their times, in the layouts in which collections of videos are published.

Read are CrossTask (``tasks_primary.txt`` beside ``annotations/TASK_VIDEO.csv``), COIN and YouCook2
(one JSON file), Breakfast (``first-last label`` in frames), 50 Salads and Breakfast (one label per
frame, or ``start end label``), 50 Salads as first published (``VIDEO-activityAnnotation.txt`` with
the clock of the camera, and ``timestamps-VIDEO.txt``) and EgoProceL (``start,end,number name``).
The layout is recognised.
"""

import csv
import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from wordsight.errors import FormatError, RecordError
from wordsight.language.captions import Caption
from wordsight.language.captions.decoding import read_text

__all__ = ["BACKGROUND_LABELS", "read_steps"]

BACKGROUND_LABELS = ("sil", "background", "action_start", "action_end", "null")
"""Labels that mean that no step is under way, compared in lower case."""

Steps = dict[str, list[Caption]]

_FRAME_RATES = {"frames": 30.0, "stretches": 15.0}  # of 50 Salads and of Breakfast
_STRETCH = re.compile(r"(\d+)-(\d+)\s+(\S.*)")
_TIMED = re.compile(r"(\d+(?:\.\d+)?)\s+(\d+(?:\.\d+)?)\s+(\S.*)")
_ACTIVITIES = "-activityAnnotation.txt"  # of 50 Salads, by the clock of the camera
_PHASE = re.compile(r"(.+)_(?:prep|core|post)")  # of an activity; what has none spans several


def read_steps(path: Path, frame_rate: float | None = None) -> Steps:
    """Read the steps of all videos of a collection.

    Args:
        path: A file, or a folder of files with one video each.
        frame_rate: Frames per second where times are frames; by default 15 for ``first-last``,
            30 for a label per frame.

    Returns:
        By video its steps in order of time; what is background is left out. Videos of the same
        name in several folders have the names of the folders before it, joined by ``_``.

    Raises:
        FormatError: If nothing is in a known layout, or a line is not as expected.
    """
    if path.is_file() and path.suffix.lower() == ".json":
        return _database(path)
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    tasks = _tasks(path if path.is_dir() else path.parent)
    found: list[tuple[Path, Steps]] = []
    for file in files:
        if file.suffix.lower() == ".csv" and _is_table(file, tasks):
            found.append((file, _table(file, tasks)))
        elif file.name.endswith(_ACTIVITIES):
            video = file.name.removesuffix(_ACTIVITIES)
            found.append((file, {f"rgb-{video}": _activities(file, video, path, frame_rate)}))
        elif file.suffix.lower() in (".txt", ".labels") and not _is_list(file):
            found.append((file, {file.stem.removesuffix(".avi"): _text(file, frame_rate)}))
    steps = _with_own_names(path, found)
    if not steps:
        raise FormatError(
            f"{path} holds no steps in a known layout; expected a JSON file as of COIN or "
            "YouCook2, or a folder of .csv or .txt files as of CrossTask, EgoProceL, Breakfast or "
            "50 Salads."
        )
    return steps


def _with_own_names(folder: Path, found: list[tuple[Path, Steps]]) -> Steps:
    """Return the steps by video; videos of one name in several folders have the folders' names.

    Breakfast has ``P03/cam01/P03_coffee`` and ``P03/webcam01/P03_coffee``, which its features call
    ``P03_cam01_P03_coffee`` and ``P03_webcam01_P03_coffee``.
    """
    times = Counter(name for _, steps in found for name in steps)
    named: Steps = {}
    for file, steps in found:
        for name, captions in steps.items():
            above = file.parent.relative_to(folder).parts if times[name] > 1 else ()
            whole = "_".join([*above, name])
            if whole in named:
                raise FormatError(f"{file}: the steps of {whole} are in another file already.")
            named[whole] = captions
    return named


def _database(path: Path) -> Steps:
    """Read COIN (``annotation`` with ``label``) or YouCook2 (``annotations``, ``sentence``)."""
    try:
        videos = json.loads(read_text(path))["database"]
        return {
            str(name): _in_order(
                path,
                (
                    (*part["segment"], part.get("label") or part["sentence"])
                    for part in about.get("annotation") or about.get("annotations") or ()
                ),
            )
            for name, about in videos.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(
            f"{path} is not as expected: an object 'database' with for each video 'annotation' or "
            f"'annotations', each with 'segment' and 'label' or 'sentence' ({error!r})."
        ) from error


def _tasks(folder: Path) -> Mapping[str, list[str]]:
    """Read CrossTask's lists of steps: number, name, address, count, steps, an empty line."""
    tasks: dict[str, list[str]] = {}
    for place in (folder, folder.parent):
        for file in sorted(place.glob("tasks_*.txt")):
            for block in re.split(r"\n\s*\n", read_text(file).strip()):
                lines = block.splitlines()
                if len(lines) >= 5:
                    tasks[lines[0].strip()] = [s.strip() for s in lines[4].split(",")]
        if tasks:
            break
    return tasks


def _is_list(file: Path) -> bool:
    """Return whether a text lists classes, tasks or videos instead of the steps of one video."""
    return file.name.startswith(("tasks_", "mapping", "readme", "README", "timestamps-"))


def _is_table(file: Path, tasks: Mapping[str, list[str]]) -> bool:
    """Return whether a table holds steps; CrossTask's release also lists videos in tables."""
    return not tasks or file.stem.partition("_")[0].isdecimal()


def _table(file: Path, tasks: Mapping[str, list[str]]) -> Steps:
    rows = [row for row in csv.reader(read_text(file).splitlines()) if row]
    task, _, video = file.stem.partition("_")
    if task in tasks:
        return {video: _in_order(file, (_numbered(file, row, tasks[task]) for row in rows))}
    return {file.stem: _in_order(file, ((*row[:2], ",".join(row[2:])) for row in rows))}


def _numbered(file: Path, row: list[str], names: list[str]) -> tuple[str, str, str]:
    number = row[0].strip()
    if len(row) < 3 or not number.isdecimal() or not 1 <= int(number) <= len(names):
        raise FormatError(
            f"{file}: expected step,start,end with a step of 1 to {len(names)}, got {row}."
        )
    return row[1], row[2], names[int(number) - 1]


def _text(file: Path, frame_rate: float | None) -> list[Caption]:
    lines = [line.strip() for line in read_text(file).splitlines() if line.strip()]
    if lines and all(_STRETCH.fullmatch(line) for line in lines):
        rate = frame_rate or _FRAME_RATES["stretches"]
        found = [match.groups() for line in lines if (match := _STRETCH.fullmatch(line))]
        return _in_order(file, (((int(a) - 1) / rate, int(b) / rate, c) for a, b, c in found))
    if lines and all(_TIMED.fullmatch(line) for line in lines):
        return _in_order(file, (m.groups() for line in lines if (m := _TIMED.fullmatch(line))))
    rate = frame_rate or _FRAME_RATES["frames"]
    starts = [n for n, line in enumerate(lines) if n == 0 or line != lines[n - 1]]
    ends = [*starts[1:], len(lines)]
    return _in_order(
        file, ((a / rate, b / rate, lines[a]) for a, b in zip(starts, ends, strict=True))
    )


def _activities(file: Path, video: str, folder: Path, frame_rate: float | None) -> list[Caption]:
    """Read 50 Salads' activities, whose phases follow each other, by the times of its frames."""
    name = f"timestamps-{video}.txt"
    places = (folder, folder.parent) if folder.is_dir() else (file.parent, file.parent.parent)
    found = next((clock for place in places for clock in sorted(place.rglob(name))), None)
    if found is None:
        raise FormatError(f"{file} counts by the clock of the camera, but there is no {name}.")
    rate = frame_rate or _FRAME_RATES["frames"]
    try:
        frames = [int(line.split()[0]) for line in read_text(found).splitlines() if line.strip()]
    except ValueError as error:
        raise FormatError(f"{found}: expected a time before each frame's name: {error}") from error
    lines = [line.strip() for line in read_text(file).splitlines() if line.strip()]
    rows = [match.groups() for line in lines if (match := _TIMED.fullmatch(line))]
    if len(rows) < len(lines):
        raise FormatError(f"{file}: expected 'start end activity' in every line.")
    phases = [(a, b, match[1]) for a, b, label in rows if (match := _PHASE.fullmatch(label))]
    steps: list[list[Any]] = []
    for start, end, label in sorted(((int(a), int(b), c) for a, b, c in phases or rows)):
        times = bisect_left(frames, start) / rate, bisect_left(frames, end) / rate
        if steps and phases and steps[-1][2] == label:
            steps[-1][1] = max(steps[-1][1], times[1])
        else:
            steps.append([*times, label])
    return _in_order(file, steps)


def _in_order(file: Path, rows: Iterable[Any]) -> list[Caption]:
    """Return steps in order of time without background."""
    steps = []
    for row in rows:
        try:
            start, end, label = row
            caption = Caption(float(start), float(end), re.sub(r"^\d+\.?\s+", "", str(label)))
        except (ValueError, TypeError, RecordError) as error:
            raise FormatError(
                f"{file}: expected a start, an end and a label, got {row}: {error}"
            ) from error
        if caption.text.lower() not in BACKGROUND_LABELS:
            steps.append(caption)
    return sorted(steps, key=lambda one: (one.start or 0.0, one.end or 0.0))
