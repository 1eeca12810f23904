"""Text on pictures: measured, wrapped, and drawn smoothly at any size.

OpenCV's built-in letters know ASCII only, and look ragged when small. They are drawn here several
times too large and scaled down, and other characters are replaced by the nearest ASCII ones.
"""

import unicodedata
import zlib
from collections.abc import Iterator
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = [
    "DARK",
    "LIGHT",
    "PALETTE",
    "Colour",
    "blend",
    "colour_of",
    "draw_text",
    "drawable",
    "line_height",
    "shortened",
    "text_colour_on",
    "text_width",
    "wrapped",
]


# Colours that people with any colour vision can tell apart, the same for the same thing always.

Colour = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""

DARK: Colour = (22, 24, 29)
"""Nearly black: text on light colours, bands behind light text."""

LIGHT: Colour = (250, 250, 248)
"""Nearly white: text on dark colours."""

PALETTE: tuple[Colour, ...] = (
    (86, 180, 233),  # sky blue
    (230, 159, 0),  # orange
    (0, 158, 115),  # bluish green
    (204, 121, 167),  # reddish purple
    (240, 228, 66),  # yellow
    (213, 94, 0),  # vermilion
    (0, 114, 178),  # blue
    (221, 221, 221),  # light grey
)
"""The seven colours Okabe and Ito (2008) chose for every kind of colour vision, and grey."""


def colour_of(key: int | str) -> Colour:
    """Return the colour of a thing: numbers take turns, names always get the same one.

    Examples:
        >>> colour_of(0) == colour_of(8) == PALETTE[0]
        True
    """
    number = key if isinstance(key, int) else zlib.crc32(key.encode("utf-8", "replace"))
    return PALETTE[number % len(PALETTE)]


def text_colour_on(background: Colour) -> Colour:
    """Return whichever of `DARK` and `LIGHT` contrasts more with ``background``."""
    there = _luminance(background)
    return max((DARK, LIGHT), key=lambda text: _contrast(_luminance(text), there))


def _contrast(one: float, other: float) -> float:
    # The contrast ratio of the Web Content Accessibility Guidelines, 1 to 21.
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def _luminance(colour: Colour) -> float:
    # Relative luminance of sRGB, after undoing its gamma.
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (channel / 255 for channel in colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


_FONT = cv2.FONT_HERSHEY_SIMPLEX
_CAPITAL = 21.0  # height of a capital letter at scale 1, in pixels
_SPACE = 11.0  # between words at scale 1; the font's own 16 tear lines of small text apart
_BELOW = 0.42  # how far letters such as g reach below the line, as a share of a capital's height
_STROKE = 0.135  # width of a stroke as a share of a capital's height
_LEADING = 1.95  # distance between lines as a share of a capital's height
_OVERSAMPLING = 4
_SPARSE = 0.25  # with fewer pixels to paint than this share, picking them out is quicker

# Letters and signs that Unicode does not take apart by itself.
_NEAREST = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("•·", "*"),
        **{"ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O"},
        **{"ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th"},
        **{
            "ı": "i",
            "×": "x",
            "÷": "/",
            "→": "->",
            "←": "<-",
            "°": "deg",
            "\u2044": "/",
            "€": "EUR",
            "£": "GBP",
        },
    }
)


def drawable(text: str) -> str:
    """Return ASCII that reads like ``text``: accents go, unknown characters become ``?``.

    Line breaks stay.

    Examples:
        >>> drawable("Łódź – “Größe” 日本")
        'Lodz - "Grosse" ??'
    """
    decomposed = unicodedata.normalize("NFKD", text.translate(_NEAREST)).translate(_NEAREST)
    return "".join(map(_nearest, decomposed))


def _nearest(letter: str) -> str:
    if " " <= letter <= "~" or letter == "\n":
        return letter
    if letter.isspace():
        return " "
    # Accents, joiners, direction marks and control characters have no width of their own.
    return "" if unicodedata.category(letter) in {"Mn", "Me", "Cf", "Cc"} else "?"


def line_height(size: float) -> int:
    """Return the distance between lines of text whose capitals are ``size`` pixels high."""
    return round(size * _LEADING)


def text_width(text: str, size: float) -> int:
    """Return the width in pixels of one line of drawable text with capitals of ``size`` pixels."""
    return int(np.ceil(_advance(text) * size / _CAPITAL))


def _advance(text: str) -> float:
    """Return the width of a line at scale 1, with word spaces of our own."""
    words = text.split(" ")
    letters = sum(cv2.getTextSize(word, _FONT, 1.0, 1)[0][0] for word in words if word)
    return letters + _SPACE * (len(words) - 1)


def shortened(text: str, size: float, room: int) -> str:
    """Return as much of one line as fits into ``room`` pixels, ending in dots if it was cut."""
    if text_width(text, size) <= room:
        return text
    keep = _fitting(text, size, room - text_width("..", size))
    return text[:keep].rstrip() + ".."


def wrapped(text: str, size: float, room: int) -> list[str]:
    """Break drawable text into lines of at most ``room`` pixels, at spaces where there are any."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split():
            joined = f"{line} {word}" if line else word
            if text_width(joined, size) <= room:
                line = joined
                continue
            if line:
                lines.append(line)
            while text_width(word, size) > room and len(word) > 1:
                keep = max(1, _fitting(word, size, room))
                lines.append(word[:keep])
                word = word[keep:]
            line = word
        if line:
            lines.append(line)
    return lines


def _fitting(text: str, size: float, room: int) -> int:
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if text_width(text[:middle], size) <= room:
            low = middle
        else:
            high = middle - 1
    return low


def draw_text(
    canvas: NDArray[np.uint8], text: str, left: int, base: int, size: float, colour: Colour
) -> None:
    """Draw one line of drawable text onto ``canvas``, in place.

    Args:
        canvas: ``(H, W, 3)`` RGB; what falls outside is left out.
        text: ASCII without line breaks; see `drawable`.
        left: Where the text begins, in pixels.
        base: The row its letters stand on.
        size: Height of a capital letter in pixels.
        colour: Colour of the strokes.
    """
    mask = _text_mask(text, round(size, 2))
    margin = _margin(size)
    blend(canvas, mask, colour, left - margin, base - margin - int(np.ceil(size * 1.15)))


def blend(
    canvas: NDArray[np.uint8], mask: NDArray[np.uint8], colour: Colour, left: int, top: int
) -> None:
    """Mix ``colour`` into ``canvas`` in place, as much as ``mask`` says.

    Args:
        canvas: ``(H, W, 3)`` RGB.
        mask: ``(h, w)`` 0 for nothing to 255 for all of the colour; parts outside are left out.
        colour: What to mix in.
        left: Column of the canvas where the mask begins; may be negative.
        top: Row of the canvas where the mask begins; may be negative.
    """
    y1, x1 = max(top, 0), max(left, 0)
    y2, x2 = min(top + mask.shape[0], canvas.shape[0]), min(left + mask.shape[1], canvas.shape[1])
    if y1 >= y2 or x1 >= x2:
        return
    share = mask[y1 - top : y2 - top, x1 - left : x2 - left]
    region = canvas[y1:y2, x1:x2]
    touched = share > 0
    if touched.mean() < _SPARSE:
        region[touched] = _mixed(region[touched], share[touched], colour)
    else:
        region[:] = _mixed(region, share, colour)


def _mixed(old: NDArray[np.uint8], share: NDArray[np.uint8], colour: Colour) -> NDArray[np.uint8]:
    part = share[..., None].astype(np.uint16)
    # 16 bits suffice, and shifting is division by 255 to the nearest number, only much faster.
    total = (255 - part) * old + part * np.array(colour, np.uint16) + 128
    return np.asarray((total + (total >> 8)) >> 8, dtype=np.uint8)


def _margin(size: float) -> int:
    return int(np.ceil(size * _STROKE)) + 1  # strokes reach beyond the letter's skeleton


def _words(text: str) -> Iterator[tuple[str, float]]:
    """Yield each word of a line and where it begins at scale 1."""
    start = 0.0
    for word in text.split(" "):
        yield word, start
        start += _advance(word) + _SPACE


@lru_cache(maxsize=512)  # the same labels come on every frame
def _text_mask(text: str, size: float) -> NDArray[np.uint8]:
    margin = _margin(size)
    above, below = int(np.ceil(size * 1.15)), int(np.ceil(size * _BELOW))
    width = text_width(text, size) + 2 * margin
    height = above + below + 2 * margin
    large = np.zeros((height * _OVERSAMPLING, width * _OVERSAMPLING), np.uint8)
    scale, stroke = size * _OVERSAMPLING / _CAPITAL, size * _OVERSAMPLING * _STROKE
    for word, start in _words(text):
        left = margin * _OVERSAMPLING + round(start * scale)
        base = (margin + above) * _OVERSAMPLING
        thickness = max(1, round(stroke))
        cv2.putText(large, word, (left, base), _FONT, scale, 255, thickness, cv2.LINE_AA)
    small = cv2.resize(large, (width, height), interpolation=cv2.INTER_AREA)
    mask = np.asarray(small, dtype=np.uint8)
    mask.setflags(write=False)
    return mask
