"""Plot of states over time: one bar per fact, events above them."""

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from wordsight.files import atomic_path
from wordsight.states.events.find import StateEvent
from wordsight.states.rules.facts import StateSequence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_timeline"]

# Dark enough on white and distinguishable for the colour-blind (after Okabe and Ito).
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5d5d5d")
_INK, _FAINT = "#222222", "#dddddd"
_ROW_INCHES = 0.26
_BAR = 0.62  # of the height of a row


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
