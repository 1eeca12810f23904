"""Records as HTML for notebooks: frames with boxes, tables and timelines."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape

import numpy as np

from wordsight.records.detections import Detections

__all__ = ["frames_html", "table_html", "timeline_html"]

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#5254A3")
_HEIGHT = 130  # pixels of a frame
_BARS = 400  # pixels of a timeline
_LETTER = 6.5  # pixels of a letter beside it


def frames_html(
    heading: str, seen: Detections, rows: Sequence[int], pictures: Sequence[bytes] = ()
) -> str:
    """Return frames with their boxes in one line; on blank canvases where there are no pictures.

    Args:
        heading: What they are of.
        seen: The detections.
        rows: Which of its frames are shown.
        pictures: A JPEG for each of them.
    """
    width, height = seen.frame_size
    shown = []
    for place, row in enumerate(rows):
        inside = [f'<rect width="{width}" height="{height}" fill="#303030"/>']
        if place < len(pictures):
            data = b64encode(pictures[place]).decode()
            inside = [
                f'<image width="{width}" height="{height}" href="data:image/jpeg;base64,{data}"/>'
            ]
        inside += [_box(seen, row, int(column)) for column in np.flatnonzero(seen.mask[row])]
        inside.append(
            f'<text x="4" y="{height - 6}" fill="#fff" stroke="#000" stroke-width="{height / 200}" '
            f'paint-order="stroke" font-size="{height / 11:.0f}">{seen.times[row]:.2f} s</text>'
        )
        shown.append(
            f'<svg viewBox="0 0 {width} {height}" height="{_HEIGHT}" style="margin:2px">'
            f"{''.join(inside)}</svg>"
        )
    return f"<div><div>{escape(heading)}</div>{''.join(shown)}</div>"


def _box(seen: Detections, row: int, column: int) -> str:
    x1, y1, x2, y2 = seen.boxes[row, column].tolist()
    label = int(seen.labels[row, column])
    known = seen.ids is not None and seen.ids[row, column] >= 0
    number = int(seen.ids[row, column]) if seen.ids is not None and known else label
    colour, line = _COLOURS[number % len(_COLOURS)], seen.frame_size[1] / 100
    name = escape(seen.label_names[label])
    return (
        f'<rect x="{x1:.1f}" y="{y1:.1f}" width="{x2 - x1:.1f}" height="{y2 - y1:.1f}" '
        f'fill="none" stroke="{colour}" stroke-width="{line:.1f}"/>'
        f'<text x="{x1:.1f}" y="{y1 - line:.1f}" fill="{colour}" '
        f'font-size="{9 * line:.0f}">{name}</text>'
    )


def table_html(heads: Sequence[str], rows: Sequence[Sequence[object]], heading: str = "") -> str:
    """Return a table; cells are escaped."""
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows
    )
    title = f"<div>{escape(heading)}</div>" if heading else ""
    return f"<div>{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def timeline_html(
    heading: str, spans: Sequence[tuple[str, Sequence[tuple[float, float, float]]]], end: float
) -> str:
    """Return a row of bars for each text, from left to right in time.

    Args:
        heading: What it is of.
        spans: Per row its text, and start, end and strength (0 to 1) of each bar.
        end: When it ends, in seconds.
    """
    step, scale = 18, _BARS / max(end, 1e-9)
    parts = []
    for row, (text, bars) in enumerate(spans):
        top = row * step
        for start, until, strength in bars:
            wide = max((until - start) * scale, 1.0)
            parts.append(
                f'<rect x="{start * scale:.1f}" y="{top + 2}" width="{wide:.1f}" '
                f'height="{step - 4}" fill="{_COLOURS[0]}" opacity="{0.25 + 0.75 * strength:.2f}"/>'
            )
        parts.append(
            f'<text x="{_BARS + 6}" y="{top + 13}" font-size="12" fill="currentColor">'
            f"{escape(text)}</text>"
        )
    below = len(spans) * step + 14
    parts += [
        f'<text x="{share * _BARS:.0f}" y="{below - 2}" font-size="11" fill="currentColor" '
        f'text-anchor="{anchor}">{share * end:.1f} s</text>'
        for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end"))
    ]
    width = _BARS + 12 + round(_LETTER * max((len(text) for text, _ in spans), default=0))
    # With a box of its own it shrinks where a page is narrower, instead of being cut off.
    size = f'viewBox="0 0 {width} {below}" width="{width}" style="max-width:100%;height:auto"'
    return f"<div><div>{escape(heading)}</div><svg {size}>{''.join(parts)}</svg></div>"
