"""The test tube: a narrow glass with a round bottom; it stands in the rack."""

import numpy as np

from wordsight.worlds.sketch import Sketch
from wordsight.worlds.workbench.things.glass import paint_glass, paint_label
from wordsight.worlds.workbench.things.thing import THINGS, ThingLook, WorkbenchThing

__all__ = ["TUBE"]


def _paint(sketch: Sketch, thing: WorkbenchThing, look: ThingLook) -> None:
    half, top = 0.0115, thing.height
    bowl = [
        (0.006 + half * (1 - np.cos(a)), half * np.sin(a)) for a in np.linspace(0.4, np.pi / 2, 5)
    ]
    paint_glass(sketch, [*bowl, (top * 0.97, half), (top, half + 0.0025)], look, filled_to=0.8)
    if look.labelled:
        paint_label(sketch, (0.0, top * 0.62), (0.018, 0.024))


TUBE = THINGS.add(
    "tube",
    WorkbenchThing(
        name="tube",
        phrase="test tube",
        width=0.032,
        height=0.128,
        zone="rack",
        grip=(0.0, 0.088),
        radius=0.012,
        mouth=(0.0, 0.128),
        vessel=True,
        paint=_paint,
    ),
)
