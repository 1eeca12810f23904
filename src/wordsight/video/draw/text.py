"""Text and colours on images: measuring, wrapping and drawing with DejaVu Sans."""

import importlib.util
import unicodedata
import zlib
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

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
    """Return the colour of a number or name; the same key always gets the same colour.

    Examples:
        >>> colour_of(0) == colour_of(8) == PALETTE[0]
        True
    """
    number = key if isinstance(key, int) else zlib.crc32(key.encode("utf-8", "replace"))
    return PALETTE[number % len(PALETTE)]


def text_colour_on(background: Colour) -> Colour:
    """Return whichever of `DARK` and `LIGHT` contrasts more with ``background``."""
    behind = _luminance(background) + 0.05

    def contrast(text: Colour) -> float:
        # The contrast ratio of the Web Content Accessibility Guidelines, 1 to 21.
        ratio = (_luminance(text) + 0.05) / behind
        return max(ratio, 1 / ratio)

    return max((DARK, LIGHT), key=contrast)


def _luminance(colour: Colour) -> float:
    """Return the relative luminance of an sRGB colour, 0 to 1."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (channel / 255 for channel in colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


_CAPITAL = 0.729  # height of a DejaVu capital as a share of the font size
_LEADING = 1.95  # distance between lines as a share of a capital's height
_SPARSE = 0.25  # with fewer pixels to paint than this share, picking them out is quicker


def drawable(text: str) -> str:
    r"""Return text with composed accents and plain spaces, without control characters.

    Line breaks stay.

    Examples:
        >>> drawable("Gro\u0308\u00dfe\t\u65e5\u672c\x07")
        'Größe 日本'
    """
    composed = unicodedata.normalize("NFC", text)
    return "".join(
        letter if letter == "\n" else " " if letter.isspace() else letter
        for letter in composed
        if letter.isspace() or unicodedata.category(letter) not in ("Cc", "Cs")
    )


@lru_cache(maxsize=64)
def _font(size: float) -> ImageFont.FreeTypeFont:
    # matplotlib brings the font; finding its folder this way spares importing it.
    found = importlib.util.find_spec("matplotlib")
    assert found is not None and found.origin is not None
    folder = Path(found.origin).parent / "mpl-data" / "fonts" / "ttf"
    return ImageFont.truetype(str(folder / "DejaVuSans.ttf"), size / _CAPITAL)


def line_height(size: float) -> int:
    """Return the distance between lines of text whose capitals are ``size`` pixels high."""
    return round(size * _LEADING)


def text_width(text: str, size: float) -> int:
    """Return the width in pixels of one line of text with capitals of ``size`` pixels."""
    return int(np.ceil(_font(round(size, 2)).getlength(text)))


def shortened(text: str, size: float, room: int) -> str:
    """Return as much of one line as fits into ``room`` pixels, ending in ".." if it is cut."""
    if text_width(text, size) <= room:
        return text
    keep = _fitting(text, size, room - text_width("..", size))
    return text[:keep].rstrip() + ".."


def wrapped(text: str, size: float, room: int) -> list[str]:
    """Break text into lines of at most ``room`` pixels, at spaces where there are any."""
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
    """Draw one line of text onto ``canvas``, in place.

    Args:
        canvas: ``(H, W, 3)`` RGB; parts of the text outside are clipped.
        text: Text without line breaks; see `drawable`. A character that the font lacks is drawn
            as an empty rectangle.
        left: Column where the text begins, in pixels.
        base: Row of the base line.
        size: Height of a capital letter in pixels.
        colour: Colour of the text.
    """
    mask, (x, y) = _text_mask(text, round(size, 2))
    blend(canvas, mask, colour, left + x, base + y)


@lru_cache(maxsize=512)  # labels repeat from frame to frame
def _text_mask(text: str, size: float) -> tuple[NDArray[np.uint8], tuple[int, int]]:
    """Return the coverage of a line of text, and its offset from the start of the base line."""
    font = _font(size)
    x1, y1, x2, y2 = (round(side) for side in font.getbbox(text, anchor="ls"))
    image = Image.new("L", (max(x2 - x1, 1), max(y2 - y1, 1)))
    ImageDraw.Draw(image).text((-x1, -y1), text, fill=255, font=font, anchor="ls")
    mask = np.array(image)
    mask.setflags(write=False)
    return mask, (x1, y1)


def blend(
    canvas: NDArray[np.uint8], mask: NDArray[np.uint8], colour: Colour, left: int, top: int
) -> None:
    """Blend ``colour`` into ``canvas`` in place, with ``mask`` as opacity.

    Args:
        canvas: ``(H, W, 3)`` RGB.
        mask: ``(h, w)`` opacity from 0 to 255; parts outside the canvas are clipped.
        colour: The colour to blend in.
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
    # 16 bits suffice; the shifts divide by 255 and round, much faster than division.
    total = (255 - part) * old + part * np.array(colour, np.uint16) + 128
    return np.asarray((total + (total >> 8)) >> 8, dtype=np.uint8)
