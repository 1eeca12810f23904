"""The cylinder: a tall narrow measuring glass on a foot, with many marks."""

import numpy as np

from wordsight.worlds.painter import shade
from wordsight.worlds.sketch import Sketch
from wordsight.worlds.workbench.things.glass import paint_glass, paint_label, paint_marks
from wordsight.worlds.workbench.things.thing import FLATNESS, THINGS, ThingLook, WorkbenchThing

__all__ = ["CYLINDER"]


def _paint(sketch: Sketch, thing: WorkbenchThing, look: ThingLook) -> None:
    half, top = 0.018, thing.height
    profile = [(0.012, half), (top * 0.97, half), (top, half + 0.003)]
    paint_glass(sketch, profile, look, filled_to=0.85)
    paint_marks(sketch, half * 0.85, np.linspace(0.03, top * 0.86, 13).tolist(), (70, 90, 104))
    wide = thing.width
    for y, colour in ((0.004, shade(look.colour, 0.75)), (0.010, look.colour)):
        sketch.ellipse((0.0, y), (wide, wide * FLATNESS), colour)
    sketch.ellipse((0.0, 0.013), (2 * half + 0.008, (2 * half + 0.008) * FLATNESS),
                   shade(look.colour, 1.2))  # fmt: skip
    if look.labelled:
        paint_label(sketch, (0.0, top * 0.5), (0.028, 0.026))


CYLINDER = THINGS.add(
    "cylinder",
    WorkbenchThing(
        name="cylinder",
        phrase="cylinder",
        width=0.066,
        height=0.186,
        zone="far",
        grip=(0.0, 0.092),
        radius=0.020,
        mouth=(0.0, 0.186),
        vessel=True,
        colours=((64, 120, 190), (222, 226, 228)),
        paint=_paint,
    ),
)
