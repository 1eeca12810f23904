"""The beaker: a wide glass with a spout and marks."""

from wordsight.worlds.sketch import Sketch
from wordsight.worlds.workbench.things.glass import paint_glass, paint_label, paint_marks
from wordsight.worlds.workbench.things.thing import THINGS, ThingLook, WorkbenchThing

__all__ = ["BEAKER"]


def _paint(sketch: Sketch, thing: WorkbenchThing, look: ThingLook) -> None:
    half, top = thing.width / 2 - 0.004, thing.height
    profile = [(0.0, half - 0.002), (top * 0.9, half - 0.002), (top, half)]
    paint_glass(sketch, profile, look, filled_to=0.86)
    spout = [(half - 0.004, top + 0.004), (half + 0.010, top + 0.005), (half - 0.002, top - 0.008)]
    sketch.polygon(spout, (200, 216, 222))
    sketch.stroke(spout, 0.0022, (120, 142, 152))
    paint_marks(sketch, half * 0.72, [top * share for share in (0.2, 0.33, 0.46, 0.59, 0.72)],
                (250, 252, 252))  # fmt: skip
    if look.labelled:
        paint_label(sketch, (-0.008, top * 0.46), (0.040, 0.026))


BEAKER = THINGS.add(
    "beaker",
    WorkbenchThing(
        name="beaker",
        phrase="beaker",
        width=0.092,
        height=0.098,
        zone="far",
        grip=(0.0, 0.052),
        radius=0.044,
        mouth=(0.0, 0.098),
        vessel=True,
        paint=_paint,
    ),
)
