"""The bottle: brown or clear glass with shoulders, a blue cap and a printed label."""

import numpy as np

from wordsight.worlds.painter import mix, shade
from wordsight.worlds.sketch import Sketch, rounded
from wordsight.worlds.workbench.things.glass import paint_label
from wordsight.worlds.workbench.things.thing import FLATNESS, THINGS, ThingLook, WorkbenchThing

__all__ = ["BOTTLE"]


def _paint(sketch: Sketch, thing: WorkbenchThing, look: ThingLook) -> None:
    half, top, colour = thing.width / 2 - 0.002, thing.height, look.colour
    sketch.ellipse((0.0, 0.002), (2 * half, 2 * half * FLATNESS), shade(colour, 0.8))
    sides = [(half, 0.0), (half, top * 0.62), (half * 0.84, top * 0.70), (0.017, top * 0.80)]
    outline = [*sides, (0.017, top * 0.88)]
    sketch.polygon([*outline, *[(-x, y) for x, y in reversed(outline)]], colour)
    sketch.polygon(
        [(half * 0.45, 0.0), (half, 0.0), (half, top * 0.62), (half * 0.45, top * 0.66)],
        shade(colour, 0.84),
    )
    sketch.stroke([(-half * 0.72, 0.012), (-half * 0.72, top * 0.6)], 0.006,
                  mix(colour, (255, 255, 255), 0.5))  # fmt: skip
    _paint_cap(sketch, top)
    paper = rounded(-half + 0.002, top * 0.16, half - 0.002, top * 0.50, 0.002)
    sketch.polygon(paper, (246, 246, 240))
    sketch.polygon(
        rounded(-half + 0.002, top * 0.43, half - 0.002, top * 0.50, 0.002), (40, 96, 160)
    )
    for row in np.linspace(top * 0.22, top * 0.37, 3):
        sketch.stroke([(-half * 0.7, row), (half * 0.55, row)], 0.0022, (110, 116, 124))
    if look.labelled:
        paint_label(sketch, (0.0, top * 0.30), (0.044, 0.030))


def _paint_cap(sketch: Sketch, top: float) -> None:
    blue = (34, 108, 190)
    sketch.polygon(rounded(-0.022, top * 0.86, 0.022, top, 0.004), blue)
    sketch.ellipse((0.0, top - 0.001), (0.044, 0.044 * FLATNESS), shade(blue, 1.25))
    for x in np.linspace(-0.016, 0.016, 5):
        sketch.stroke([(x, top * 0.88), (x, top * 0.95)], 0.0018, shade(blue, 0.75))


BOTTLE = THINGS.add(
    "bottle",
    WorkbenchThing(
        name="bottle",
        phrase="bottle",
        width=0.080,
        height=0.172,
        zone="far",
        grip=(0.0, 0.088),
        radius=0.038,
        mouth=(0.0, 0.172),
        vessel=True,
        full=(0.7, 1.0),
        colours=((152, 94, 44), (168, 206, 216), (126, 76, 38)),
        paint=_paint,
    ),
)
