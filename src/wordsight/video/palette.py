"""Colours that people with any colour vision can tell apart, the same for the same thing always."""

import zlib

__all__ = ["DARK", "LIGHT", "PALETTE", "Colour", "colour_of", "text_colour_on"]

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
