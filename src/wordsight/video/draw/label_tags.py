"""Label tags: small filled labels placed beside boxes, inside the frame, without overlap."""

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

__all__ = ["Rectangle", "draw_tag", "letter_size", "place_tag"]

Rectangle = tuple[int, int, int, int]
"""x1, y1, x2, y2 in whole pixels, end-exclusive."""

_MOST_OF_FRAME = 0.4  # share of the frame's height a tag may take
_SMALLEST_LETTERS = 7.5  # pixels; smaller capitals are hard to read


def letter_size(frame_size: tuple[int, int]) -> float:
    """Return a readable height of capitals for frames of that width and height."""
    diagonal = float(np.hypot(*frame_size))
    return max(_SMALLEST_LETTERS, diagonal / 105)


def draw_tag(
    canvas: NDArray[np.uint8],
    label: str,
    box: Rectangle,
    colour: Colour,
    taken: list[Rectangle],
) -> None:
    """Draw a label beside ``box`` onto ``canvas``, in place, and add its rectangle to ``taken``.

    Nothing is drawn on frames too small for readable text.

    Args:
        canvas: ``(H, W, 3)`` RGB.
        label: Any text; drawn on one line.
        box: The box that the label belongs to.
        colour: Fill colour of the tag.
        taken: Rectangles of the tags drawn before, which are avoided as far as possible.
    """
    frame = (canvas.shape[1], canvas.shape[0])
    size = letter_size(frame)
    inset, above = round(size * 0.6), round(size * 0.5)
    words = shortened(drawable(label).replace("\n", " "), size, frame[0] - 2 * inset)
    if 2 * above + size > _MOST_OF_FRAME * frame[1] or words == "..":
        return
    extent = (text_width(words, size) + 2 * inset, round(size) + 2 * above)
    tag = place_tag(box, extent, frame, taken)
    blend(canvas, _rounded(extent, max(1, round(size * 0.3))), colour, tag[0], tag[1])
    draw_text(canvas, words, tag[0] + inset, tag[3] - above, size, text_colour_on(colour))
    taken.append(tag)


def place_tag(
    box: Rectangle, extent: tuple[int, int], frame: tuple[int, int], taken: list[Rectangle]
) -> Rectangle:
    """Choose where a tag goes: above its box, else below, beside or inside it.

    Args:
        box: The box, which may extend beyond the frame.
        extent: Width and height of the tag.
        frame: Width and height of the frame; the tag lies inside it if it fits.
        taken: Rectangles to avoid.

    Returns:
        The first candidate, in the order above, that covers least of its box and of ``taken``.
    """
    places = [_inside(place, frame) for place in _candidates(box, extent)]

    def hidden(place: Rectangle) -> int:
        # Covering the box hides the object itself, covering another tag only a word.
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
        (x1, y1),  # inside: the box fills the frame
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
    # Per axis, the distance of each pixel centre from the rectangle shrunk by the radius.
    away = [
        np.maximum(np.abs(np.arange(side) - (side - 1) / 2) - (side / 2 - radius), 0)
        for side in extent
    ]
    distance = np.hypot(away[0][None, :], away[1][:, None])
    return np.asarray(np.clip(radius - distance + 0.5, 0, 1) * 255, dtype=np.uint8)
