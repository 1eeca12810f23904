"""How the vessels of the workbench are painted: glasses, bottle, dish, jar and funnel.

Every painter takes the sketch, the width and the height of the thing in metres, and its look.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wordsight.worlds.painter import Colour, Floats, mix, shade
from wordsight.worlds.sketch import Point, Sketch, rounded

__all__ = [
    "FLATNESS",
    "ThingLook",
    "paint_beaker",
    "paint_bottle",
    "paint_cylinder",
    "paint_dish",
    "paint_flask",
    "paint_funnel",
    "paint_jar",
    "paint_tube",
]

FLATNESS = 0.34
"""Height of a level circle in the picture as a share of its width: how steeply one looks down."""

Profile = Sequence[tuple[float, float]]
"""Heights and half widths of a round body from its foot to its rim, in metres."""

_GLASS: Colour = (222, 234, 238)
_EDGE: Colour = (120, 142, 152)
_SHINE: Colour = (250, 252, 252)
_WHITE: Colour = (255, 255, 255)
_CLEAR = 0.58  # how much of what is behind an empty glass it hides


@dataclass(frozen=True)
class ThingLook:
    """What one individual looks like at one moment."""

    colour: Colour
    level: float = 0.0  # how full it is, 0 to 1
    content: Colour = (168, 206, 224)
    labelled: bool = False


def _disc(sketch: Sketch, y: float, width: float, colour: Colour) -> None:
    """Draw a level circle as it is seen."""
    sketch.ellipse((0.0, y), (width, width * FLATNESS), colour)


def _ring(y: float, width: float) -> Floats:
    """Return ``(N, 2)`` points of the edge of a level circle as it is seen."""
    angles = np.linspace(0.0, 2 * np.pi, 25)
    half = width / 2
    return np.stack([half * np.cos(angles), y + half * FLATNESS * np.sin(angles)], axis=1)


def _paint_glass(
    sketch: Sketch, profile: Profile, look: ThingLook, *, filled_to: float = 1.0
) -> None:
    """Draw a round glass body; a full one has its surface at ``filled_to`` of its height."""
    body = np.array(profile)
    _paint_body(sketch, body, _GLASS)
    foot, rim = body[0], body[-1]
    _disc(sketch, rim[0], 2 * rim[1], shade(_GLASS, 0.90))
    # What has been drawn so far lets the background through; what follows does not.
    sketch.sheet[...] = np.round(sketch.sheet * np.float32(_CLEAR)).astype(np.uint8)
    if look.level > 0:
        surface = foot[0] + (rim[0] - foot[0]) * filled_to * min(look.level, 1.0)
        _paint_content(sketch, body, surface, look.content)
    for side in (-1.0, 1.0):
        sketch.stroke(np.stack([side * body[:, 1], body[:, 0]], axis=1), 0.0022, _EDGE)
    sketch.stroke(_ring(foot[0], 2 * foot[1])[12:], 0.0024, _EDGE)
    sketch.stroke(_ring(rim[0], 2 * rim[1]), 0.0030, shade(_EDGE, 1.15))
    # A long highlight on the side of the light.
    low, high = foot[0] + (rim[0] - foot[0]) * np.array((0.12, 0.80))
    heights = np.linspace(low, high, 6)
    across = -0.62 * np.interp(heights, body[:, 0], body[:, 1])
    sketch.stroke(np.stack([across, heights], axis=1), 0.0042, (250, 253, 255))


def _paint_body(sketch: Sketch, body: Floats, colour: Colour) -> None:
    _disc(sketch, body[0, 0], 2 * body[0, 1], colour)
    left = np.stack([-body[:, 1], body[:, 0]], axis=1)
    right = np.stack([body[:, 1], body[:, 0]], axis=1)
    sketch.polygon(np.concatenate([left, right[::-1]]), colour)


def _paint_content(sketch: Sketch, body: Floats, surface: float, colour: Colour) -> None:
    inner = body.copy()
    inner[:, 1] = np.maximum(inner[:, 1] - 0.0022, 0.001)
    below = inner[inner[:, 0] < surface]
    half = float(np.interp(surface, inner[:, 0], inner[:, 1]))
    _paint_body(sketch, np.concatenate([below, [(surface, half)]]), colour)
    _disc(sketch, surface, 2 * half, mix(colour, _WHITE, 0.35))


def _paint_marks(sketch: Sketch, x: float, heights: Sequence[float], colour: Colour) -> None:
    """Draw the marks of the volume, every second one longer."""
    for number, y in enumerate(heights):
        length = 0.014 if number % 2 == 0 else 0.008
        sketch.stroke([(x, y), (x - length, y)], 0.0018, colour)


def _paint_label(sketch: Sketch, look: ThingLook, centre: Point, size: Point) -> None:
    """Stick a label with handwriting on a thing that has been labelled."""
    if not look.labelled:
        return
    (x, y), (width, height) = centre, size
    left, right, low, high = x - width / 2, x + width / 2, y - height / 2, y + height / 2
    sketch.rectangle(left, low, right, high, (252, 250, 240))
    for share in (0.34, 0.70):
        row = low + height * share
        points = np.linspace(left + 0.005, right - 0.005, 12)
        wave = row + 0.0025 * np.sin(np.arange(12) * 2.4)
        sketch.stroke(np.stack([points, wave], axis=1), 0.0018, (40, 44, 90))


def paint_beaker(sketch: Sketch, width: float, height: float, look: ThingLook) -> None:
    """Paint a wide glass with a spout and marks."""
    half, top = width / 2 - 0.004, height
    profile = [(0.0, half - 0.002), (top * 0.9, half - 0.002), (top, half)]
    _paint_glass(sketch, profile, look, filled_to=0.86)
    spout = [(half - 0.004, top + 0.004), (half + 0.010, top + 0.005), (half - 0.002, top - 0.008)]
    sketch.polygon(spout, (200, 216, 222))
    sketch.stroke(spout, 0.0022, _EDGE)
    marks = [top * share for share in (0.2, 0.33, 0.46, 0.59, 0.72)]
    _paint_marks(sketch, half * 0.72, marks, _SHINE)
    _paint_label(sketch, look, (-0.008, top * 0.46), (0.040, 0.026))


def paint_bottle(sketch: Sketch, width: float, height: float, look: ThingLook) -> None:
    """Paint brown or clear glass with shoulders, a blue cap and a printed label."""
    half, top, colour = width / 2 - 0.002, height, look.colour
    _disc(sketch, 0.002, 2 * half, shade(colour, 0.8))
    sides = [(half, 0.0), (half, top * 0.62), (half * 0.84, top * 0.70), (0.017, top * 0.80)]
    outline = [*sides, (0.017, top * 0.88)]
    sketch.polygon([*outline, *[(-x, y) for x, y in reversed(outline)]], colour)
    dark = [(half * 0.45, 0.0), (half, 0.0), (half, top * 0.62), (half * 0.45, top * 0.66)]
    sketch.polygon(dark, shade(colour, 0.84))
    shine = [(-half * 0.72, 0.012), (-half * 0.72, top * 0.6)]
    sketch.stroke(shine, 0.006, mix(colour, _WHITE, 0.5))
    blue = (34, 108, 190)
    sketch.polygon(rounded(-0.022, top * 0.86, 0.022, top, 0.004), blue)
    _disc(sketch, top - 0.001, 0.044, shade(blue, 1.25))
    for x in np.linspace(-0.016, 0.016, 5):
        sketch.stroke([(x, top * 0.88), (x, top * 0.95)], 0.0018, shade(blue, 0.75))
    for low, paint in ((0.16, (246, 246, 240)), (0.43, (40, 96, 160))):
        paper = rounded(-half + 0.002, top * low, half - 0.002, top * 0.50, 0.002)
        sketch.polygon(paper, paint)
    for row in np.linspace(top * 0.22, top * 0.37, 3):
        sketch.stroke([(-half * 0.7, row), (half * 0.55, row)], 0.0022, (110, 116, 124))
    _paint_label(sketch, look, (0.0, top * 0.30), (0.044, 0.030))


def paint_cylinder(sketch: Sketch, width: float, height: float, look: ThingLook) -> None:
    """Paint a tall narrow measuring glass on a foot, with many marks."""
    half, top = 0.018, height
    profile = [(0.012, half), (top * 0.97, half), (top, half + 0.003)]
    _paint_glass(sketch, profile, look, filled_to=0.85)
    _paint_marks(sketch, half * 0.85, np.linspace(0.03, top * 0.86, 13).tolist(), (70, 90, 104))
    _disc(sketch, 0.004, width, shade(look.colour, 0.75))
    _disc(sketch, 0.010, width, look.colour)
    _disc(sketch, 0.013, 2 * half + 0.008, shade(look.colour, 1.2))
    _paint_label(sketch, look, (0.0, top * 0.5), (0.028, 0.026))


def paint_dish(sketch: Sketch, width: float, height: float, look: ThingLook) -> None:
    """Paint a flat round dish of glass."""
    half, top = width / 2 - 0.002, height
    _paint_glass(sketch, [(0.0, half), (top, half)], ThingLook(look.colour))
    inner = 2 * half - 0.008
    if look.level > 0:
        _disc(sketch, top * 0.7, inner, look.content)
        shine = (inner * 0.5, inner * FLATNESS * 0.35)
        sketch.ellipse((-half * 0.25, top * 0.85), shine, mix(look.content, _WHITE, 0.3))
    sketch.stroke(_ring(top, 2 * half), 0.0030, (126, 146, 156))
    sketch.stroke(_ring(top, inner), 0.0016, _SHINE)
    _paint_label(sketch, look, (half * 0.3, top * 0.2), (0.034, 0.016))


def paint_flask(sketch: Sketch, width: float, height: float, look: ThingLook) -> None:
    """Paint a glass cone with a narrow neck."""
    half, top, neck = width / 2 - 0.002, height, 0.016
    profile = [(0.0, half - 0.003), (0.010, half), (top * 0.70, neck), (top * 0.97, neck)]
    _paint_glass(sketch, [*profile, (top, neck + 0.004)], look, filled_to=0.62)
    _paint_marks(sketch, half * 0.45, [top * share for share in (0.18, 0.28, 0.38)], _SHINE)
    _paint_label(sketch, look, (-0.006, top * 0.26), (0.040, 0.026))


def paint_funnel(sketch: Sketch, width: float, height: float, look: ThingLook) -> None:
    """Paint a plastic cone with a stem."""
    middle, colour = height / 2, look.colour
    half, rim, throat = width / 2 - 0.002, middle - 0.016, -middle + 0.048
    stem = [(-0.0075, throat), (0.0075, throat), (0.0055, -middle), (-0.0055, -middle + 0.008)]
    sketch.polygon(stem, shade(colour, 0.86))
    sketch.polygon([(-half, rim), (half, rim), (0.0075, throat), (-0.0075, throat)], colour)
    dark = [(half * 0.35, rim), (half, rim), (0.0075, throat), (0.002, throat)]
    sketch.polygon(dark, shade(colour, 0.80))
    shine = [(-half * 0.66, rim - 0.012), (-0.006, throat + 0.006)]
    sketch.stroke(shine, 0.005, mix(colour, _WHITE, 0.5))
    _disc(sketch, rim, 2 * half, shade(colour, 1.12))
    _disc(sketch, rim - 0.001, 2 * half - 0.010, shade(colour, 0.66))
    _disc(sketch, rim - 0.006, 0.020, shade(colour, 0.35))


def paint_jar(sketch: Sketch, width: float, height: float, look: ThingLook) -> None:
    """Paint white plastic with a wide mouth, full of powder."""
    half, top, lid = width / 2 - 0.003, height, look.colour
    plastic = (226, 226, 222)
    _disc(sketch, 0.0, 2 * half, shade(plastic, 0.8))
    sketch.rectangle(-half, 0.0, half, top * 0.86, plastic)
    sketch.rectangle(half * 0.4, 0.0, half, top * 0.86, shade(plastic, 0.86))
    sketch.polygon(rounded(-half - 0.002, top * 0.84, half + 0.002, top, 0.003), lid)
    for share in (0.88, 0.94):
        sketch.stroke([(-half, top * share), (half, top * share)], 0.0016, shade(lid, 0.7))
    sketch.ellipse((0.0, top), (2 * half + 0.004, (2 * half) * FLATNESS), shade(lid, 1.15))
    _disc(sketch, top - 0.001, 1.7 * half, (250, 248, 240))
    sketch.stroke(_ring(top, 1.75 * half), 0.0020, shade(lid, 0.7))
    for low, paint in ((0.18, (250, 244, 214)), (0.52, lid)):
        sketch.polygon(rounded(-half * 0.9, top * low, half * 0.6, top * 0.66, 0.003), paint)
    for row in (0.28, 0.38):
        sketch.stroke([(-half * 0.7, top * row), (half * 0.4, top * row)], 0.0020, (120, 116, 104))


def paint_tube(sketch: Sketch, width: float, height: float, look: ThingLook) -> None:
    """Paint a narrow test tube with a round bottom."""
    half, top = 0.0115, height
    angles = np.linspace(0.4, np.pi / 2, 5)
    bowl = [(0.006 + half * (1 - np.cos(a)), half * np.sin(a)) for a in angles]
    _paint_glass(sketch, [*bowl, (top * 0.97, half), (top, half + 0.0025)], look, filled_to=0.8)
    _paint_label(sketch, look, (0.0, top * 0.62), (0.018, 0.024))
