"""The bench: how places on it become pixels, and where everything belongs.

A place is x (metres to the right of the middle), depth (metres away from the near edge) and height
(metres above the bench). The camera looks down on it at an angle.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.worlds.sketch import View
from wordsight.worlds.workbench.things import THINGS

__all__ = ["FAR_EDGE", "SIZE", "VIEW", "WORK_SPOTS", "Place", "lay_out", "seen"]

Place = tuple[float, float, float]

SIZE = (640, 480)
"""Width and height of the pictures in pixels."""

VIEW = View(800.0, 320.0, 470.0)
"""How metres of the picture become pixels."""

FAR_EDGE = 0.70
"""Depth of the far edge of the bench."""

_FORESHORTENING = 0.6  # metres of the picture per metre of depth
_FAR_ROW, _SIDE_ROW = 0.56, 0.37
_MARGIN = 0.385  # metres from the middle within which things stand
_TOOL_ROW = 0.17

WORK_SPOTS: tuple[Place, ...] = ((-0.055, 0.25, 0.0), (0.075, 0.25, 0.0), (0.010, 0.13, 0.0))
"""Where vessels stand while they are worked with."""


def seen(place: ArrayLike) -> NDArray[np.float64]:
    """Return where ``(..., 3)`` places are seen: ``(..., 2)`` metres of the picture, y upwards."""
    x, depth, height = np.moveaxis(np.asarray(place, dtype=np.float64), -1, 0)
    return np.stack([x, depth * _FORESHORTENING + height], axis=-1)


def lay_out(names: Sequence[str], dominant: float, rng: np.random.Generator) -> dict[str, Place]:
    """Give every thing its home.

    Args:
        names: The things.
        dominant: 1 if the person prefers the right hand, -1 for the left; tools lie there.
        rng: Where the chance comes from.
    """
    groups = {zone: [n for n in names if THINGS[n].zone == zone] for zone in ("far", "side")}
    near = [name for name in names if THINGS[name].zone == "near"]
    homes = _far_row([str(name) for name in rng.permutation(groups["far"])], rng)
    sides = rng.permutation([-0.262, 0.262])
    for name, x in zip(groups["side"], sides, strict=False):
        homes[name] = (float(x), _SIDE_ROW + float(rng.uniform(-0.01, 0.01)), 0.0)
    homes |= _tools([n for n in near if THINGS[n].width < 0.06], dominant, rng)
    homes |= _flats([n for n in near if THINGS[n].width >= 0.06], -dominant, rng)
    for name in names:
        if THINGS[name].zone == "rack":
            x, depth, _ = homes["rack"]
            # Behind the front of the rack, in the hole that is left free.
            homes[name] = (x - 0.0184, depth + 0.004, 0.012)
    return homes


def _far_row(names: Sequence[str], rng: np.random.Generator) -> dict[str, Place]:
    widths = [THINGS[name].width for name in names]
    gap = (2 * _MARGIN - sum(widths)) / max(len(names), 1)
    homes: dict[str, Place] = {}
    x = -_MARGIN
    for name, width in zip(names, widths, strict=True):
        middle = x + width / 2 + gap * float(rng.uniform(0.3, 0.7))
        homes[name] = (middle, _FAR_ROW + float(rng.uniform(-0.02, 0.02)), 0.0)
        x += width + gap
    return homes


def _tools(names: Sequence[str], side: float, rng: np.random.Generator) -> dict[str, Place]:
    order = [str(name) for name in rng.permutation(list(names))]
    columns = (0.225, 0.285, 0.345)
    return {
        name: (side * x + float(rng.uniform(-0.006, 0.006)), _TOOL_ROW, 0.0)
        for name, x in zip(order, columns, strict=False)
    }


def _flats(names: Sequence[str], side: float, rng: np.random.Generator) -> dict[str, Place]:
    spots = [(0.325, 0.05), (0.330, 0.20), (0.205, 0.03), (0.210, 0.17)]
    order = [str(name) for name in rng.permutation(list(names))]
    return {
        name: (side * x, depth + float(rng.uniform(-0.01, 0.01)), 0.0)
        for name, (x, depth) in zip(order, spots, strict=False)
    }
