"""The jar: white plastic with a wide mouth, full of powder, its lid beside it unseen."""

from wordsight.worlds.painter import shade
from wordsight.worlds.sketch import Sketch, rounded
from wordsight.worlds.workbench.things.glass import ring
from wordsight.worlds.workbench.things.thing import FLATNESS, THINGS, ThingLook, WorkbenchThing

__all__ = ["JAR"]


def _paint(sketch: Sketch, thing: WorkbenchThing, look: ThingLook) -> None:
    half, top = thing.width / 2 - 0.003, thing.height
    plastic = (226, 226, 222)
    sketch.ellipse((0.0, 0.0), (2 * half, 2 * half * FLATNESS), shade(plastic, 0.8))
    sketch.polygon([(-half, 0.0), (half, 0.0), (half, top * 0.86), (-half, top * 0.86)], plastic)
    side = [(half * 0.4, 0.0), (half, 0.0), (half, top * 0.86), (half * 0.4, top * 0.86)]
    sketch.polygon(side, shade(plastic, 0.86))
    sketch.polygon(rounded(-half - 0.002, top * 0.84, half + 0.002, top, 0.003), look.colour)
    for share in (0.88, 0.94):
        sketch.stroke([(-half, top * share), (half, top * share)], 0.0016, shade(look.colour, 0.7))
    sketch.ellipse((0.0, top), (2 * half + 0.004, (2 * half) * FLATNESS), shade(look.colour, 1.15))
    sketch.ellipse((0.0, top - 0.001), (1.7 * half, 1.7 * half * FLATNESS), (250, 248, 240))
    sketch.stroke(ring((0.0, top), 1.75 * half), 0.0020, shade(look.colour, 0.7))
    paper = rounded(-half * 0.9, top * 0.18, half * 0.6, top * 0.66, 0.003)
    sketch.polygon(paper, (250, 244, 214))
    sketch.polygon(rounded(-half * 0.9, top * 0.52, half * 0.6, top * 0.66, 0.003), look.colour)
    for row in (0.28, 0.38):
        sketch.stroke([(-half * 0.7, top * row), (half * 0.4, top * row)], 0.0020, (120, 116, 104))


JAR = THINGS.add(
    "jar",
    WorkbenchThing(
        name="jar",
        phrase="jar",
        width=0.088,
        height=0.092,
        zone="far",
        grip=(0.0, 0.044),
        radius=0.042,
        mouth=(0.0, 0.092),
        full=(0.6, 1.0),
        colours=((196, 60, 52), (58, 140, 78), (228, 160, 40), (110, 70, 150)),
        paint=_paint,
    ),
)
