"""States and events written to files: JSON, CSV, EAF and plots."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wordsight.errors import FormatError
from wordsight.files import atomic_path, write_text
from wordsight.language.eaf import eaf_document
from wordsight.states.events.find import StateEvent
from wordsight.states.rules.facts import FactInterval, StateSequence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from wordsight.states.beliefs import StateBeliefs

__all__ = [
    "draw_timeline",
    "write_events",
    "write_labels",
    "write_states",
]

_COLUMNS = ("video", "start", "end", "fact")
# Dark enough on white and distinguishable for the colour-blind (after Okabe and Ito).
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5d5d5d")
_INK, _FAINT = "#222222", "#dddddd"
_ROW_INCHES = 0.26
_BAR = 0.62  # of the height of a row


def write_states(
    path: str | PathLike[str],
    sequences: Sequence[StateSequence],
    *,
    overwrite: bool = False,
    beliefs: Sequence["StateBeliefs"] = (),
) -> None:
    """Write the intervals of facts; the suffix decides the format: ``.json``, ``.csv``, ``.eaf``.

    JSON also has the probability of each interval, and of each fact over time, if there are
    beliefs, one for each sequence.

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
                    {"start": row.start, "end": row.end, "fact": str(row.fact)} | _believed(row)
                    for row in (known.rows() if known is not None else sequence.intervals())
                ],
                "sequence": [sorted(map(str, state)) for state in sequence.states()],
            }
            | ({} if known is None else {"probabilities": _over_time(known)})
            for sequence, known in zip_longest(sequences, beliefs)
        ]
        write_text(path, _json({"videos": videos}), overwrite=overwrite)
    else:
        _write_rows(path, texts, _COLUMNS, [s.video_id for s in sequences], overwrite)


def _believed(row: FactInterval) -> dict[str, Any]:
    from wordsight.states.beliefs import FactBelief

    if not isinstance(row, FactBelief):
        return {}
    return {"probability": row.probability, "answer": row.answer}


def _over_time(known: "StateBeliefs") -> dict[str, list[tuple[float, float]]]:
    """Return times and probabilities of each fact that ever is not improbable."""
    ever = np.flatnonzero((known.probabilities >= 0.01).any(axis=0)).tolist()
    return {str(fact): known.moments(fact) for fact in (known.sequence.facts[k] for k in ever)}


def write_events(
    path: str | PathLike[str],
    events: Sequence[StateEvent],
    *,
    overwrite: bool = False,
    probabilities: Sequence[float] = (),
) -> None:
    """Write events; the suffix decides the format: ``.json``, ``.csv`` or ``.eaf``.

    JSON also has their probabilities, if these are given.
    """
    if Path(path).suffix.lower() == ".json":
        rows = [
            {
                "video": event.video_id,
                "start": event.start,
                "end": event.end,
                "event": event.name,
                "arguments": list(event.arguments),
            }
            | ({} if share is None else {"probability": share})
            for event, share in zip_longest(events, probabilities)
        ]
        write_text(path, _json({"events": rows}), overwrite=overwrite)
    else:
        texts = [(event.video_id, event.start, event.end, str(event)) for event in events]
        names = list(dict.fromkeys(event.video_id for event in events))
        _write_rows(path, texts, ("video", "start", "end", "event"), names, overwrite)


def write_labels(
    path: str | PathLike[str],
    intervals: Mapping[str, Sequence[FactInterval]],
    *,
    overwrite: bool = False,
) -> None:
    """Write labels by video as a table that `states learn` reads: ``.csv`` or ``.json``."""
    if Path(path).suffix.lower() == ".json":
        videos = [
            {
                "video": video,
                "intervals": [
                    {"start": row.start, "end": row.end, "fact": str(row.fact)} for row in rows
                ],
            }
            for video, rows in intervals.items()
        ]
        write_text(path, _json({"videos": videos}), overwrite=overwrite)
        return
    every = [row for rows in intervals.values() for row in rows]
    texts = [(row.video_id, row.start, row.end, str(row.fact)) for row in every]
    _write_rows(path, texts, _COLUMNS, list(intervals), overwrite)


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
