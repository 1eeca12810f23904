"""Plot of an alignment: lines from top to bottom, time from left to right, posterior as ink.

The best alignment is drawn over the posterior as bars.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.records import Alignment, Instructions
from wordsight.errors import WordsightError
from wordsight.files import atomic_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_timeline"]

_WIDTH = 11.0  # inches
_ROW = 0.21  # inches per line of text
_MOST_ROWS = 60  # more lines share the height of these and have no labels
_LONGEST = 52  # characters of a line's label
_BARS = "#0072B2"  # a blue that differs from the grey also for the colour-blind
_PALE = "#9aa7b2"
_PIN = "#D55E00"


def draw_timeline(
    path: str | os.PathLike[str],
    alignment: Alignment,
    instructions: Instructions,
    *,
    overwrite: bool = False,
) -> None:
    """Draw an alignment into a PNG, SVG or PDF file.

    Args:
        path: The file; its suffix decides the format.
        alignment: The alignment.
        instructions: The text that was aligned.
        overwrite: Whether an existing file may be replaced.

    Raises:
        WordsightError: If the file exists, or its suffix is another one.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    target = Path(path)
    if target.suffix.lower() not in {".png", ".svg", ".pdf"}:
        raise WordsightError(f"a timeline is a .png, .svg or .pdf file, got {target.name!r}.")
    count = len(instructions.lines)
    height = 1.5 + _ROW * min(count, _MOST_ROWS)
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    _draw_posterior(axes, alignment)
    _draw_spans(axes, alignment)
    _label(axes, alignment, instructions)
    try:
        with atomic_path(target, overwrite=overwrite) as temporary:
            figure.savefig(temporary, dpi=120, metadata=_without_date(target))
    except FileExistsError as error:
        raise WordsightError(
            f"{target} exists already; choose another name, or --force."
        ) from error


def _draw_posterior(axes: "Axes", alignment: Alignment) -> None:
    edges, columns = _cells(alignment)
    rows = np.arange(alignment.posterior.shape[1] + 1) - 0.5
    values = np.zeros((len(rows) - 1, len(edges) - 1))
    values[:, columns] = alignment.posterior.T
    mesh = axes.pcolormesh(edges, rows, values, cmap="Greys", vmin=0, vmax=1, rasterized=True)
    bar = axes.figure.colorbar(mesh, ax=axes, fraction=0.02, pad=0.01)
    bar.set_label("probability", fontsize=8)
    bar.ax.tick_params(labelsize=7)


def _cells(alignment: Alignment) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return increasing edges of columns in time, and the column of each chunk.

    Gaps between chunks are columns of their own.
    """
    edges: list[float] = []
    columns = []
    for start, end in alignment.times.tolist():
        start = max(start, edges[-1]) if edges else start
        if not edges or start > edges[-1] + 1e-9:
            edges.append(start)
        columns.append(len(edges) - 1)
        edges.append(max(end, start + 1e-6))
    return np.array(edges if edges else [0.0, 1.0]), np.array(columns, dtype=np.int64)


def _draw_spans(axes: "Axes", alignment: Alignment) -> None:
    for span in alignment.spans:
        if span.happened:
            axes.plot(
                [span.start, span.end],
                [span.line, span.line],
                color=_BARS,
                linewidth=3.5,
                solid_capstyle="butt",
                alpha=0.35 + 0.65 * min(max(span.confidence, 0.0), 1.0),
            )
        else:
            axes.plot([span.start], [span.line], marker="x", color=_PIN, markersize=6)


def _label(axes: "Axes", alignment: Alignment, instructions: Instructions) -> None:
    lines = instructions.lines
    missing = {span.line for span in alignment.spans if not span.happened}
    if len(lines) <= _MOST_ROWS:
        names = [f"{number}  {_short(line.text)}" for number, line in enumerate(lines, start=1)]
        axes.set_yticks(range(len(lines)), names, fontsize=7.5)
        for number, tick in enumerate(axes.get_yticklabels()):
            tick.set_color(_PALE if number in missing else "black")
    steps = [line.step for line in lines]
    for number in range(1, len(steps)):
        if steps[number] != steps[number - 1]:
            axes.axhline(number - 0.5, color=_PALE, linewidth=0.5)
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.xaxis.set_major_formatter(lambda seconds, _: f"{int(seconds // 60)}:{seconds % 60:02.0f}")
    axes.tick_params(axis="x", labelsize=8)
    axes.set_xlabel("time  (blue: where each line was found;  orange x: it did not happen)", size=8)
    axes.set_title(f"{instructions.name} in {alignment.video_id}", fontsize=10, loc="left")


def _short(text: str) -> str:
    words = " ".join(text.split()).replace("$", r"\$")
    return words if len(words) <= _LONGEST else words[: _LONGEST - 2].rstrip() + " …"


def _without_date(target: Path) -> dict[str, None]:
    # The same alignment gives the same bytes.
    return {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(
        target.suffix.lower(), {}
    )
