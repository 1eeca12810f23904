"""The spoon: a steel laboratory spoon with a long handle."""

from wordsight.worlds.painter import shade
from wordsight.worlds.sketch import Sketch
from wordsight.worlds.workbench.things.thing import THINGS, ThingLook, WorkbenchThing

__all__ = ["SPOON"]


def _paint(sketch: Sketch, thing: WorkbenchThing, look: ThingLook) -> None:
    half, steel = thing.height / 2, look.colour
    sketch.stroke([(0.0, -half + 0.030), (0.0, half - 0.005)], 0.0088, shade(steel, 0.62))
    sketch.stroke([(-0.0012, -half + 0.030), (-0.0012, half - 0.005)], 0.0050, shade(steel, 1.15))
    sketch.ellipse((0.0, -half + 0.020), (0.028, 0.040), shade(steel, 0.62))
    sketch.ellipse((0.0, -half + 0.020), (0.023, 0.035), steel)
    sketch.ellipse((-0.002, -half + 0.018), (0.014, 0.024), shade(steel, 0.80))
    sketch.ellipse((-0.005, -half + 0.026), (0.005, 0.010), (250, 252, 252))
    if look.level > 0:
        sketch.ellipse((0.0, -half + 0.020), (0.018, 0.024), look.content)


SPOON = THINGS.add(
    "spoon",
    WorkbenchThing(
        name="spoon",
        phrase="spoon",
        width=0.030,
        height=0.166,
        zone="near",
        grip=(0.0, 0.050),
        hold="pinch",
        tip=(0.0, -0.072),
        rest=0.30,
        work=-0.60,
        colours=((186, 192, 198),),
        paint=_paint,
    ),
)
