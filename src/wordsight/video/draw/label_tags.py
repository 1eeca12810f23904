"""Label chips: small filled tags beside boxes, inside the frame and out of one another's way."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from wordsight.video.draw.text import (
    Colour,
    blend,
    draw_text,
    drawable,
    shortened,
    text_colour_on,
    text_width,
)

__all__ = ["Rectangle", "draw_chip", "letter_size", "place_chip"]

Rectangle = tuple[int, int, int, int]
"""x1, y1, x2, y2 in whole pixels, end-exclusive."""

_MOST_OF_FRAME = 0.4  # share of the frame's height a chip may take
_SMALLEST_LETTERS = 7.5  # pixels; below that, strokes of letters run together


def letter_size(frame_size: tuple[int, int]) -> float:
    """Return the height of capitals that reads well on frames of that width and height."""
    diagonal = float(np.hypot(*frame_size))
    return max(_SMALLEST_LETTERS, diagonal / 105)


def draw_chip(
    canvas: NDArray[np.uint8],
    label: str,
    box: Rectangle,
    colour: Colour,
    taken: list[Rectangle],
) -> None:
    """Draw a label beside ``box`` onto ``canvas``, in place, and add its place to ``taken``.

    Nothing is drawn on frames too small for readable text.

    Args:
        canvas: ``(H, W, 3)`` RGB.
        label: Any text; one line.
        box: What the label belongs to, with the width of its outline.
        colour: Fill of the chip.
        taken: Places of chips drawn before, which are avoided as far as possible.
    """
    frame = (canvas.shape[1], canvas.shape[0])
    size = letter_size(frame)
    inset, above = round(size * 0.6), round(size * 0.5)
    words = shortened(drawable(label).replace("\n", " "), size, frame[0] - 2 * inset)
    if 2 * above + size > _MOST_OF_FRAME * frame[1] or words == "..":
        return
    extent = (text_width(words, size) + 2 * inset, round(size) + 2 * above)
    chip = place_chip(box, extent, frame, taken)
    blend(canvas, _rounded(extent, max(1, round(size * 0.3))), colour, chip[0], chip[1])
    draw_text(canvas, words, chip[0] + inset, chip[3] - above, size, text_colour_on(colour))
    taken.append(chip)


def place_chip(
    box: Rectangle, extent: tuple[int, int], frame: tuple[int, int], taken: list[Rectangle]
) -> Rectangle:
    """Choose where a chip goes: above its box, else below, beside or, if need be, inside it.

    Args:
        box: The box, which may reach beyond the frame.
        extent: Width and height of the chip.
        frame: Width and height of the frame; the chip lies inside it if it fits at all.
        taken: Places to avoid.

    Returns:
        The place that hides least of its own box and of the places taken; the first such in the
        order above.
    """
    places = [_inside(place, frame) for place in _candidates(box, extent)]

    def hidden(place: Rectangle) -> int:
        # A chip over its own box hides what it names; one over another chip hides only a word.
        return 4 * _overlap(place, box) + sum(_overlap(place, other) for other in taken)

    return min(places, key=hidden)


def _candidates(box: Rectangle, extent: tuple[int, int]) -> Iterator[Rectangle]:
    x1, y1, x2, y2 = box
    width, height = extent
    corners = [
        (x1, y1 - height),  # above, from the left edge
        (x2 - width, y1 - height),  # above, up to the right edge
        (x1, y2),  # below
        (x2 - width, y2),
        (x2, y1),  # to the right
        (x1 - width, y1),  # to the left
        (x2, y2 - height),
        (x1 - width, y2 - height),
        (x1, y1),  # inside, for boxes that fill the frame
        (x1, y2 - height),
    ]
    for left, top in corners:
        yield left, top, left + width, top + height


def _inside(place: Rectangle, frame: tuple[int, int]) -> Rectangle:
    x1, y1, x2, y2 = place
    dx = max(0, -x1) - max(0, x2 - frame[0])
    dy = max(0, -y1) - max(0, y2 - frame[1])
    return x1 + dx, y1 + dy, x2 + dx, y2 + dy


def _overlap(one: Rectangle, other: Rectangle) -> int:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(width, 0) * max(height, 0)


def _rounded(extent: tuple[int, int], radius: int) -> NDArray[np.uint8]:
    # How far each pixel centre lies outside the rectangle shrunk by the radius, per axis.
    away = [
        np.maximum(np.abs(np.arange(side) - (side - 1) / 2) - (side / 2 - radius), 0)
        for side in extent
    ]
    distance = np.hypot(away[0][None, :], away[1][:, None])
    return np.asarray(np.clip(radius - distance + 0.5, 0, 1) * 255, dtype=np.uint8)
