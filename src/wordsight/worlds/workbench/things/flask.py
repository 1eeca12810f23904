"""The flask: a glass cone with a narrow neck."""

from wordsight.worlds.sketch import Sketch
from wordsight.worlds.workbench.things.glass import paint_glass, paint_label, paint_marks
from wordsight.worlds.workbench.things.thing import THINGS, ThingLook, WorkbenchThing

__all__ = ["FLASK"]


def _paint(sketch: Sketch, thing: WorkbenchThing, look: ThingLook) -> None:
    half, top = thing.width / 2 - 0.002, thing.height
    neck = 0.016
    profile = [(0.0, half - 0.003), (0.010, half), (top * 0.70, neck), (top * 0.97, neck)]
    paint_glass(sketch, [*profile, (top, neck + 0.004)], look, filled_to=0.62)
    paint_marks(sketch, half * 0.45, [top * share for share in (0.18, 0.28, 0.38)], (250, 252, 252))
    if look.labelled:
        paint_label(sketch, (-0.006, top * 0.26), (0.040, 0.026))


FLASK = THINGS.add(
    "flask",
    WorkbenchThing(
        name="flask",
        phrase="flask",
        width=0.104,
        height=0.142,
        zone="far",
        grip=(0.0, 0.096),
        radius=0.020,
        mouth=(0.0, 0.142),
        vessel=True,
        paint=_paint,
    ),
)
