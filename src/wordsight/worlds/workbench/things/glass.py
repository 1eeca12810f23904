"""How glass vessels are painted: see-through walls, what is in them, rims and highlights."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.painter import Colour, mix, shade
from wordsight.worlds.sketch import Sketch
from wordsight.worlds.workbench.things.thing import FLATNESS, ThingLook

__all__ = ["paint_glass", "paint_label", "paint_marks", "ring"]

Profile = Sequence[tuple[float, float]]
"""Heights and half widths of a round body from its foot to its rim, in metres."""

_GLASS: Colour = (222, 234, 238)
_EDGE: Colour = (120, 142, 152)
_CLEAR = 0.58  # how much of what is behind an empty glass it hides


def ring(centre: Sequence[float], width: float, *, steps: int = 25) -> NDArray[np.float64]:
    """Return ``(N, 2)`` points of a level circle as it is seen."""
    angles = np.linspace(0.0, 2 * np.pi, steps)
    x = centre[0] + width / 2 * np.cos(angles)
    return np.stack([x, centre[1] + width / 2 * FLATNESS * np.sin(angles)], axis=1)


def paint_glass(
    sketch: Sketch,
    profile: Profile,
    look: ThingLook,
    *,
    filled_to: float = 1.0,
    open_top: bool = True,
) -> None:
    """Draw a round glass body.

    Args:
        sketch: Where to.
        profile: Its outline.
        look: How full it is and with what.
        filled_to: Height of a full vessel's surface as a share of its own.
        open_top: Whether one sees into it from above.
    """
    body = np.array(profile)
    _solid(sketch, body, _GLASS)
    foot, rim = body[0], body[-1]
    if open_top:
        sketch.ellipse((0.0, rim[0]), (2 * rim[1], 2 * rim[1] * FLATNESS), shade(_GLASS, 0.90))
    # What has been drawn so far lets the background through; what follows does not.
    faded = sketch.layer.pixels * np.float32(_CLEAR)
    sketch.layer.pixels[...] = np.round(faded).astype(np.uint8)
    if look.level > 0:
        surface = foot[0] + (rim[0] - foot[0]) * filled_to * min(look.level, 1.0)
        _paint_content(sketch, body, surface, look.content)
    _paint_edges(sketch, body, open_top)


def _solid(sketch: Sketch, body: NDArray[np.float64], colour: Colour) -> None:
    foot = body[0]
    sketch.ellipse((0.0, foot[0]), (2 * foot[1], 2 * foot[1] * FLATNESS), colour)
    left = np.stack([-body[:, 1], body[:, 0]], axis=1)
    right = np.stack([body[:, 1], body[:, 0]], axis=1)
    sketch.polygon(np.concatenate([left, right[::-1]]), colour)


def _paint_content(
    sketch: Sketch, body: NDArray[np.float64], surface: float, colour: Colour
) -> None:
    inner = body.copy()
    inner[:, 1] = np.maximum(inner[:, 1] - 0.0022, 0.001)
    below = inner[inner[:, 0] < surface]
    half = float(np.interp(surface, inner[:, 0], inner[:, 1]))
    _solid(sketch, np.concatenate([below, [(surface, half)]]), colour)
    sketch.ellipse((0.0, surface), (2 * half, 2 * half * FLATNESS), mix(colour, (255,) * 3, 0.35))


def _paint_edges(sketch: Sketch, body: NDArray[np.float64], open_top: bool) -> None:
    for side in (-1.0, 1.0):
        sketch.stroke(np.stack([side * body[:, 1], body[:, 0]], axis=1), 0.0022, _EDGE)
    foot, rim = body[0], body[-1]
    front = ring((0.0, foot[0]), 2 * foot[1])[12:]
    sketch.stroke(front, 0.0024, _EDGE)
    if open_top:
        sketch.stroke(ring((0.0, rim[0]), 2 * rim[1]), 0.0030, shade(_EDGE, 1.15))
    # A long highlight on the side of the light.
    low, high = foot[0] + (rim[0] - foot[0]) * np.array((0.12, 0.80))
    heights = np.linspace(low, high, 6)
    across = -0.62 * np.interp(heights, body[:, 0], body[:, 1])
    sketch.stroke(np.stack([across, heights], axis=1), 0.0042, (250, 253, 255))


def paint_marks(sketch: Sketch, x: float, heights: Sequence[float], colour: Colour) -> None:
    """Draw the marks that tell the volume, every second one longer."""
    for number, y in enumerate(heights):
        length = 0.014 if number % 2 == 0 else 0.008
        sketch.stroke([(x, y), (x - length, y)], 0.0018, colour)


def paint_label(sketch: Sketch, centre: tuple[float, float], size: tuple[float, float]) -> None:
    """Stick a label with handwriting on a thing."""
    (x, y), (width, height) = centre, size
    left, right, low, high = x - width / 2, x + width / 2, y - height / 2, y + height / 2
    sketch.polygon([(left, low), (right, low), (right, high), (left, high)], (252, 250, 240))
    for share in (0.34, 0.70):
        row = low + height * share
        points = np.linspace(left + 0.005, right - 0.005, 12)
        wave = row + 0.0025 * np.sin(np.arange(12) * 2.4)
        sketch.stroke(np.stack([points, wave], axis=1), 0.0018, (40, 44, 90))
