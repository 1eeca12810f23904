"""The stirrer: a magnetic stirrer with a white plate and a knob."""

import numpy as np

from wordsight.worlds.painter import shade
from wordsight.worlds.sketch import Sketch, rounded
from wordsight.worlds.workbench.things.thing import THINGS, ThingLook, WorkbenchThing

__all__ = ["STIRRER"]


def _paint(sketch: Sketch, thing: WorkbenchThing, look: ThingLook) -> None:
    half, colour = thing.width / 2, look.colour
    wall = 0.046  # height of the front
    sketch.polygon([(-half, 0.0), (half, 0.0), (half, wall), (-half, wall)], colour)
    sketch.polygon([(-half, wall), (half, wall), (half - 0.012, 0.084), (-half + 0.012, 0.084)],
                   shade(colour, 1.25))  # fmt: skip
    plate = [(-half + 0.012, wall + 0.004), (half - 0.012, wall + 0.004), (half - 0.022, 0.080),
             (-half + 0.022, 0.080)]  # fmt: skip
    sketch.polygon(plate, (240, 242, 240))
    sketch.stroke([*plate, plate[0]], 0.002, (190, 194, 194))
    for x, dial in ((-0.036, (236, 236, 232)), (0.036, (236, 236, 232))):
        sketch.ellipse((x, wall * 0.46), (0.030, 0.030), shade(colour, 0.5))
        sketch.ellipse((x, wall * 0.50), (0.024, 0.024), dial)
        sketch.stroke([(x, wall * 0.5), (x + 0.006, wall * 0.5 + 0.008)], 0.0028, (200, 50, 44))
    for x in np.linspace(-0.012, 0.012, 3):
        sketch.ellipse((float(x), wall * 0.46), (0.006, 0.006), (250, 196, 60))
    sketch.polygon(rounded(-half, 0.0, half, 0.005, 0.001), shade(colour, 0.6))


STIRRER = THINGS.add(
    "stirrer",
    WorkbenchThing(
        name="stirrer",
        phrase="stirrer",
        width=0.152,
        height=0.084,
        zone="side",
        grip=(0.036, 0.023),
        hold="pinch",
        tip=(0.036, 0.023),
        top=0.060,
        colours=((62, 84, 118), (92, 98, 104), (56, 104, 98)),
        paint=_paint,
    ),
)
