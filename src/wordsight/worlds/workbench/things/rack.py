"""The rack: two wooden boards with holes on side walls; test tubes stand in it."""

import numpy as np

from wordsight.worlds.painter import shade
from wordsight.worlds.sketch import Sketch
from wordsight.worlds.workbench.things.thing import THINGS, ThingLook, WorkbenchThing

__all__ = ["RACK"]


def _paint(sketch: Sketch, thing: WorkbenchThing, look: ThingLook) -> None:
    half, top, colour = thing.width / 2, thing.height, look.colour
    dark, pale = shade(colour, 0.66), shade(colour, 1.16)
    depth = 0.016
    for x in np.linspace(-half * 0.70, half * 0.70, 4)[[0, 2, 3]]:  # tubes nobody uses
        _paint_spare(sketch, float(x), top)
    base = [(-half, 0.0), (half, 0.0), (half, 0.012), (-half, 0.012)]
    sketch.polygon([(-half, 0.012), (half, 0.012), (half - 0.006, 0.012 + depth),
                    (-half + 0.006, 0.012 + depth)], pale)  # fmt: skip
    sketch.polygon(base, colour)
    for side in (-1.0, 1.0):
        x = side * (half - 0.006)
        sketch.polygon(
            [(x - 0.006, 0.0), (x + 0.006, 0.0), (x + 0.006, top), (x - 0.006, top)], dark
        )
    sketch.polygon([(-half, top - 0.012), (half, top - 0.012), (half, top), (-half, top)], colour)
    sketch.stroke([(-half, top), (half, top)], 0.0025, pale)
    sketch.stroke([(-half, 0.0), (half, 0.0)], 0.0025, dark)


def _paint_spare(sketch: Sketch, x: float, top: float) -> None:
    glass, edge = (206, 220, 226), (140, 158, 166)
    sketch.polygon([(x - 0.010, 0.014), (x + 0.010, 0.014), (x + 0.010, top + 0.034),
                    (x - 0.010, top + 0.034)], glass)  # fmt: skip
    sketch.polygon([(x - 0.009, 0.014), (x + 0.009, 0.014), (x + 0.009, 0.036), (x - 0.009, 0.036)],
                   (232, 178, 92))  # fmt: skip
    sketch.ellipse((x, top + 0.034), (0.024, 0.008), edge)
    sketch.ellipse((x, top + 0.034), (0.019, 0.005), (236, 242, 244))
    sketch.stroke([(x - 0.010, 0.014), (x - 0.010, top + 0.034)], 0.0016, edge)
    sketch.stroke([(x + 0.010, 0.014), (x + 0.010, top + 0.034)], 0.0016, edge)


RACK = THINGS.add(
    "rack",
    WorkbenchThing(
        name="rack",
        phrase="rack",
        width=0.158,
        height=0.078,
        zone="far",
        grip=(0.070, 0.052),
        radius=0.016,
        hold="pinch",
        colours=((196, 146, 86), (92, 132, 176), (214, 214, 206)),
        paint=_paint,
    ),
)
