"""The petri dish: a flat round dish of glass."""

from wordsight.worlds.painter import mix
from wordsight.worlds.sketch import Sketch
from wordsight.worlds.workbench.things.glass import paint_glass, paint_label, ring
from wordsight.worlds.workbench.things.thing import FLATNESS, THINGS, ThingLook, WorkbenchThing

__all__ = ["DISH"]


def _paint(sketch: Sketch, thing: WorkbenchThing, look: ThingLook) -> None:
    half, top = thing.width / 2 - 0.002, thing.height
    paint_glass(sketch, [(0.0, half), (top, half)], ThingLook(look.colour))
    inner = 2 * half - 0.008
    if look.level > 0:
        sketch.ellipse((0.0, top * 0.7), (inner, inner * FLATNESS), look.content)
        sketch.ellipse((-half * 0.25, top * 0.85), (inner * 0.5, inner * FLATNESS * 0.35),
                       mix(look.content, (255, 255, 255), 0.3))  # fmt: skip
    sketch.stroke(ring((0.0, top), 2 * half), 0.0030, (126, 146, 156))
    sketch.stroke(ring((0.0, top), inner), 0.0016, (250, 252, 252))
    if look.labelled:
        paint_label(sketch, (half * 0.3, top * 0.2), (0.034, 0.016))


DISH = THINGS.add(
    "dish",
    WorkbenchThing(
        name="dish",
        phrase="petri dish",
        width=0.108,
        height=0.018,
        zone="near",
        grip=(0.040, 0.012),
        radius=0.02,
        hold="pinch",
        mouth=(0.0, 0.012),
        vessel=True,
        paint=_paint,
    ),
)
