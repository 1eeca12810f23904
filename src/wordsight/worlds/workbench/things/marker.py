"""The marker: a felt pen with a coloured cap at its end."""

from wordsight.worlds.painter import shade
from wordsight.worlds.sketch import Sketch, rounded
from wordsight.worlds.workbench.things.thing import THINGS, ThingLook, WorkbenchThing

__all__ = ["MARKER"]


def _paint(sketch: Sketch, thing: WorkbenchThing, look: ThingLook) -> None:
    half, colour = thing.height / 2, look.colour
    sketch.polygon([(-0.0025, -half), (0.0025, -half), (0.006, -half + 0.014),
                    (-0.006, -half + 0.014)], shade(colour, 0.8))  # fmt: skip
    sketch.polygon(rounded(-0.009, -half + 0.012, 0.009, half - 0.034, 0.003), (240, 240, 238))
    sketch.polygon(rounded(0.003, -half + 0.012, 0.009, half - 0.034, 0.003), (206, 206, 204))
    sketch.polygon(rounded(-0.009, -0.006, 0.009, 0.008, 0.001), colour)
    sketch.polygon(rounded(-0.0105, half - 0.038, 0.0105, half - 0.001, 0.004), colour)
    sketch.stroke([(-0.005, half - 0.034), (-0.005, half - 0.006)], 0.003, shade(colour, 1.5))
    sketch.stroke([(0.011, half - 0.008), (0.011, half - 0.034)], 0.0030, shade(colour, 0.7))


MARKER = THINGS.add(
    "marker",
    WorkbenchThing(
        name="marker",
        phrase="marker",
        width=0.030,
        height=0.140,
        zone="near",
        grip=(0.0, -0.006),
        hold="pinch",
        tip=(0.0, -0.070),
        rest=-0.35,
        work=-0.75,
        colours=((30, 30, 34), (196, 34, 40), (28, 66, 170), (30, 122, 60)),
        paint=_paint,
    ),
)
