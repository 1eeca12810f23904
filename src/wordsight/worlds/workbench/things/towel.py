"""The towel: a folded cloth with stripes."""

import numpy as np

from wordsight.worlds.painter import shade
from wordsight.worlds.sketch import Sketch
from wordsight.worlds.workbench.things.thing import THINGS, ThingLook, WorkbenchThing

__all__ = ["TOWEL"]


def _paint(sketch: Sketch, thing: WorkbenchThing, look: ThingLook) -> None:
    half, top, colour = thing.width / 2, thing.height, look.colour
    for y, bright in ((0.0, 0.78), (0.005, 0.90)):  # folded: two layers show at the edge
        sketch.polygon([(-half, y), (half, y), (half, y + 0.008), (-half, y + 0.008)],
                       shade(colour, bright))  # fmt: skip
    cloth = [(-half, 0.010), (half, 0.010), (half - 0.010, top), (-half + 0.010, top)]
    sketch.polygon(cloth, colour)
    stripe = (64, 110, 170) if sum(colour) > 520 else (244, 244, 240)
    for share in (0.16, 0.26, 0.78, 0.88):
        low, high = -half + thing.width * share, -half + 0.010 + (thing.width - 0.020) * share
        sketch.stroke([(low, 0.011), (high, top - 0.001)], 0.0042, stripe)
    for y in np.linspace(0.018, top - 0.006, 5):
        sketch.stroke([(-half * 0.8, y), (half * 0.8, y + 0.001)], 0.0012, shade(colour, 0.93))


TOWEL = THINGS.add(
    "towel",
    WorkbenchThing(
        name="towel",
        phrase="towel",
        width=0.118,
        height=0.062,
        zone="near",
        grip=(0.0, 0.032),
        hold="pinch",
        tip=(0.0, 0.030),
        colours=((240, 240, 234), (216, 226, 236), (236, 214, 206)),
        paint=_paint,
    ),
)
