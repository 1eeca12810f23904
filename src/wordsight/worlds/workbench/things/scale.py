"""The scale: a flat device with a round steel pan, a display and buttons."""

from wordsight.worlds.painter import shade
from wordsight.worlds.sketch import Sketch, rounded
from wordsight.worlds.workbench.things.thing import FLATNESS, THINGS, ThingLook, WorkbenchThing

__all__ = ["SCALE"]


def _paint(sketch: Sketch, thing: WorkbenchThing, look: ThingLook) -> None:
    half, colour = thing.width / 2, look.colour
    back = 0.062  # where the far edge of its top is seen
    front = [(-half, 0.0), (half, 0.0), (half, 0.024), (-half, 0.024)]
    sketch.polygon([(-half, 0.022), (half, 0.022), (half - 0.014, back), (-half + 0.014, back)],
                   shade(colour, 1.08))  # fmt: skip
    sketch.polygon(front, shade(colour, 0.84))
    sketch.stroke([(-half, 0.024), (half, 0.024)], 0.002, shade(colour, 1.2))
    sketch.polygon(rounded(-0.040, 0.004, 0.022, 0.020, 0.002), (40, 52, 44))
    for x in (-0.028, -0.016, -0.004, 0.008):  # the digits of the display
        sketch.stroke([(x, 0.008), (x, 0.016)], 0.0028, (140, 236, 150))
        sketch.stroke([(x + 0.005, 0.008), (x + 0.005, 0.016)], 0.0018, (140, 236, 150))
    for x, button in ((0.040, (206, 62, 54)), (0.058, (70, 120, 190))):
        sketch.ellipse((x, 0.012), (0.012, 0.010), button)
    sketch.ellipse((0.0, 0.046), (0.118, 0.118 * FLATNESS * 0.82), shade(colour, 0.62))
    sketch.ellipse((0.0, 0.050), (0.118, 0.118 * FLATNESS * 0.82), (176, 182, 188))
    sketch.ellipse((-0.008, 0.051), (0.096, 0.096 * FLATNESS * 0.70), (206, 212, 216))


SCALE = THINGS.add(
    "scale",
    WorkbenchThing(
        name="scale",
        phrase="scale",
        width=0.164,
        height=0.062,
        zone="side",
        grip=(0.040, 0.012),
        hold="pinch",
        tip=(0.040, 0.012),
        top=0.044,
        colours=((224, 226, 228), (84, 92, 102), (232, 228, 214)),
        paint=_paint,
    ),
)
