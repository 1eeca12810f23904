"""States and events in files: JSON, CSV, EAF and plots written, JSON and CSV read as labels."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError
from wordsight.files import atomic_path, write_text
from wordsight.language.eaf import eaf_document
from wordsight.states.errors import StateError
from wordsight.states.events.find import StateEvent
from wordsight.states.rules.facts import FactInterval, StateSequence, parse_fact

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "draw_timeline",
    "read_intervals",
    "sequence_from_intervals",
    "write_events",
    "write_states",
]

_COLUMNS = ("video", "start", "end", "fact")
# Dark enough on white and distinguishable for the colour-blind (after Okabe and Ito).
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5d5d5d")
_INK, _FAINT = "#222222", "#dddddd"
_ROW_INCHES = 0.26
_BAR = 0.62  # of the height of a row


def write_states(
    path: str | PathLike[str], sequences: Sequence[StateSequence], *, overwrite: bool = False
) -> None:
    """Write the intervals of facts; the suffix decides the format: ``.json``, ``.csv``, ``.eaf``.

    Raises:
        FormatError: If the suffix is another one, or there are several videos for EAF.
        FileExistsError: If the file exists and ``overwrite`` is false.
    """
    rows = [interval for sequence in sequences for interval in sequence.intervals()]
    texts = [(row.video_id, row.start, row.end, str(row.fact)) for row in rows]
    if Path(path).suffix.lower() == ".json":
        videos = [
            {
                "video": sequence.video_id,
                "end": sequence.end,
                "intervals": [
                    {"start": row.start, "end": row.end, "fact": str(row.fact)}
                    for row in sequence.intervals()
                ],
                "sequence": [sorted(map(str, state)) for state in sequence.states()],
            }
            for sequence in sequences
        ]
        write_text(path, _json({"videos": videos}), overwrite=overwrite)
    else:
        _write_rows(path, texts, _COLUMNS, [s.video_id for s in sequences], overwrite)


def write_events(
    path: str | PathLike[str], events: Sequence[StateEvent], *, overwrite: bool = False
) -> None:
    """Write events; the suffix decides the format: ``.json``, ``.csv`` or ``.eaf``."""
    if Path(path).suffix.lower() == ".json":
        rows = [
            {
                "video": event.video_id,
                "start": event.start,
                "end": event.end,
                "event": event.name,
                "arguments": list(event.arguments),
            }
            for event in events
        ]
        write_text(path, _json({"events": rows}), overwrite=overwrite)
    else:
        texts = [(event.video_id, event.start, event.end, str(event)) for event in events]
        names = list(dict.fromkeys(event.video_id for event in events))
        _write_rows(path, texts, ("video", "start", "end", "event"), names, overwrite)


def read_intervals(path: str | PathLike[str]) -> dict[str, list[FactInterval]]:
    """Read intervals of facts from JSON, or from CSV with the columns video, start, end, fact.

    A video without facts is a row of the CSV with only its name.

    Returns:
        Per video its intervals, in the order of the file.

    Raises:
        FormatError: If the file cannot be read; the message names the line.
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: expected UTF-8 text, but byte {error.start} is not.") from None
    rows = _json_rows(text, file) if file.suffix.lower() == ".json" else _csv_rows(text, file)
    videos: dict[str, list[FactInterval]] = {}
    for where, row in rows:
        if row.get("fact") is None:
            videos.setdefault(str(row["video"]), [])
            continue
        interval = _interval(row, where)
        videos.setdefault(interval.video_id, []).append(interval)
    if not videos:
        raise FormatError(f"{path} has no labels; expected rows of {', '.join(_COLUMNS)}.")
    return videos


def sequence_from_intervals(
    video_id: str, times: NDArray[np.float64], intervals: Iterable[FactInterval]
) -> StateSequence:
    """Return the states at times ``(T,)`` from intervals of facts.

    Raises:
        StateError: If an interval lies entirely outside the times.
    """
    rows = list(intervals)
    facts = tuple(sorted({row.fact for row in rows}))
    values = np.zeros((len(times), len(facts)), dtype=np.bool_)
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    for row in rows:
        # Half a step of tolerance, because times in files are rounded.
        slack = min(step, row.end - row.start) / 2
        inside = (times >= row.start - slack) & (times < row.end - slack)
        if not inside.any() and not (len(times) and times[0] <= row.start <= times[-1] + step):
            raise StateError(
                f"{video_id}: {row.fact} is labelled from {row.start:g} to {row.end:g} s, but the "
                f"video runs from {times[0] if len(times) else 0:g} to "
                f"{times[-1] if len(times) else 0:g} s."
            )
        values[inside, facts.index(row.fact)] = True
    return StateSequence(video_id, times, facts, values)


def _write_rows(
    path: str | PathLike[str],
    rows: Sequence[tuple[str, float, float, str]],
    columns: Sequence[str],
    videos: Sequence[str],
    overwrite: bool,
) -> None:
    kind = Path(path).suffix.lower()
    if kind == ".csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows((v, f"{s:.6g}", f"{e:.6g}", what) for v, s, e, what in rows)
        written = {row[0] for row in rows}
        writer.writerows((video, "", "", "") for video in videos if video not in written)
        write_text(path, text.getvalue(), overwrite=overwrite)
    elif kind == ".eaf":
        if len(videos) > 1:
            raise FormatError(
                f"an EAF file holds one video, got {len(videos)}; write one file for each."
            )
        tiers = {
            text: [(round(1000 * s), round(1000 * e), text) for _, s, e, row in rows if row == text]
            for text in sorted({row[3] for row in rows})
        }
        document = eaf_document(tiers, properties={"video": videos[0] if videos else ""})
        write_text(path, document, overwrite=overwrite)
    else:
        raise FormatError(f"{path}: the suffix must be .json, .csv or .eaf, got {kind or 'none'}.")


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _csv_rows(text: str, path: Path) -> list[tuple[str, dict[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text))
    missing = [name for name in _COLUMNS if name not in (reader.fieldnames or [])]
    if missing:
        raise FormatError(
            f"{path}: expected the columns {', '.join(_COLUMNS)}, but {missing[0]} is missing."
        )
    return [_csv_row(f"{path}, line {reader.line_num}", dict(row)) for row in reader]


def _csv_row(where: str, row: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a row with its fact joined again, which without quotes is split at its comma."""
    if None in (row[name] for name in _COLUMNS):
        raise FormatError(
            f"{where}: expected {', '.join(_COLUMNS)}, but the line is shorter; a video without "
            "facts is written with the last three columns empty: film,,,"
        )
    extra = row.pop(None, [])  # type: ignore[call-overload]  # cells beyond the named columns
    row["fact"] = ",".join([row["fact"], *extra])
    if not any(str(row[name]).strip() for name in _COLUMNS[1:]):
        row["fact"] = None
    return where, row


def _json_rows(text: str, path: Path) -> list[tuple[str, dict[str, Any]]]:
    try:
        videos = json.loads(text)["videos"]
        names = [str(video["video"]) for video in videos]
        rows = []
        for video in videos:
            where = f"{path}, video {video['video']}"
            rows.append((where, {"video": video["video"]}))
            rows += [(where, {"video": video["video"], **row}) for row in video["intervals"]]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise FormatError(
            f'{path}: expected {{"videos": [{{"video", "intervals": [{{"start", "end", "fact"}}]}}]'
            f"}}, found otherwise ({error})."
        ) from None
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise FormatError(
            f"{path} has {twice[0]} twice, and the two may contradict each other; keep one."
        )
    return rows


def _interval(row: Mapping[str, Any], where: str) -> FactInterval:
    try:
        start, end = float(row["start"]), float(row["end"])
        fact = parse_fact(str(row["fact"]))
    except (TypeError, ValueError, KeyError) as error:
        raise FormatError(f"{where}: {error}") from None
    if not (np.isfinite([start, end]).all() and start < end):
        raise FormatError(f"{where}: {fact} must start before it ends, got {start:g} to {end:g} s.")
    return FactInterval(str(row["video"]), start, end, fact)


def draw_timeline(
    path: str | PathLike[str],
    sequence: StateSequence,
    *,
    events: Sequence[StateEvent] = (),
    truth: StateSequence | None = None,
    heading: str = "",
    overwrite: bool = False,
) -> None:
    """Draw when each fact holds and when events happen into a PNG, SVG or PDF file.

    Args:
        path: The file; its suffix decides the format.
        sequence: The states; facts that never hold are omitted.
        events: Events, drawn above the facts.
        truth: Labels, drawn as a thin line under each bar.
        heading: The title; by default the name of the video.
        overwrite: Whether an existing file may be replaced.

    Raises:
        FileExistsError: If the file exists and ``overwrite`` is false.
    """
    from matplotlib.figure import Figure

    shown = [sequence, *([truth] if truth is not None else [])]
    facts = sorted({row.fact for one in shown for row in one.intervals()})
    rows = len(facts) + len(events)
    figure = Figure(figsize=(9.0, 1.1 + _ROW_INCHES * max(rows, 1)), layout="constrained")
    axes = figure.add_subplot()
    names = sorted({fact.predicate for fact in facts})
    colour = {name: _COLOURS[k % len(_COLOURS)] for k, name in enumerate(names)}
    for place, event in enumerate(events):
        _draw_event(axes, place, event)
    for place, fact in enumerate(facts, start=len(events)):
        bars = [(r.start, r.end - r.start) for r in sequence.intervals() if r.fact == fact]
        axes.broken_barh(bars, (place - _BAR / 2, _BAR), color=colour[fact.predicate])
        if truth is not None:
            for row in truth.intervals():
                if row.fact == fact:
                    axes.plot([row.start, row.end], [place + 0.42] * 2, color=_INK, lw=1.4)
    _finish(axes, sequence, [str(event) for event in events], [str(fact) for fact in facts])
    title = heading or sequence.video_id
    axes.set_title(f"{title}{'   (thin lines: truth)' if truth is not None else ''}", loc="left")
    with atomic_path(path, overwrite=overwrite) as temporary:
        figure.savefig(temporary, dpi=130)


def _draw_event(axes: "Axes", place: int, event: StateEvent) -> None:
    """Draw a bracket from the first change to the last, long enough to be seen."""
    axes.axvspan(event.start, event.end, color=_FAINT, zorder=0)
    axes.plot([event.start, event.end], [place, place], color=_INK, lw=2.5, zorder=3)
    axes.plot([event.start, event.end], [place, place], color=_INK, lw=0, marker="|", ms=9)


def _finish(
    axes: "Axes", sequence: StateSequence, events: Sequence[str], facts: Sequence[str]
) -> None:
    rows = [*events, *facts]
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    start = float(sequence.times[0]) if len(sequence) else 0.0
    axes.set_xlim(start, max(sequence.end or 0.0, start + 1e-3))
    axes.set_xlabel("seconds")
    axes.tick_params(axis="y", length=0)
    if events:
        axes.axhline(len(events) - 0.5, color=_FAINT, lw=1)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    for label in axes.get_yticklabels()[: len(events)]:
        label.set_fontweight("bold")
