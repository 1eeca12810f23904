"""The funnel: a plastic cone with a stem."""

from wordsight.worlds.painter import mix, shade
from wordsight.worlds.sketch import Sketch
from wordsight.worlds.workbench.things.thing import FLATNESS, THINGS, ThingLook, WorkbenchThing

__all__ = ["FUNNEL"]


def _paint(sketch: Sketch, thing: WorkbenchThing, look: ThingLook) -> None:
    middle, colour = thing.height / 2, look.colour
    half, rim, throat = thing.width / 2 - 0.002, middle - 0.016, -middle + 0.048
    stem = [(-0.0075, throat), (0.0075, throat), (0.0055, -middle), (-0.0055, -middle + 0.008)]
    sketch.polygon(stem, shade(colour, 0.86))
    sketch.polygon([(-half, rim), (half, rim), (0.0075, throat), (-0.0075, throat)], colour)
    sketch.polygon([(half * 0.35, rim), (half, rim), (0.0075, throat), (0.002, throat)],
                   shade(colour, 0.80))  # fmt: skip
    sketch.stroke([(-half * 0.66, rim - 0.012), (-0.006, throat + 0.006)], 0.005,
                  mix(colour, (255, 255, 255), 0.5))  # fmt: skip
    sketch.ellipse((0.0, rim), (2 * half, 2 * half * FLATNESS), shade(colour, 1.12))
    sketch.ellipse((0.0, rim - 0.001), (2 * half - 0.010, (2 * half - 0.010) * FLATNESS),
                   shade(colour, 0.66))  # fmt: skip
    sketch.ellipse((0.0, rim - 0.006), (0.020, 0.020 * FLATNESS), shade(colour, 0.35))


FUNNEL = THINGS.add(
    "funnel",
    WorkbenchThing(
        name="funnel",
        phrase="funnel",
        width=0.096,
        height=0.114,
        zone="near",
        grip=(0.0, 0.016),
        radius=0.026,
        mouth=(0.0, 0.040),
        tip=(0.0, -0.057),
        rest=0.9,
        work=0.0,
        colours=((238, 240, 238), (232, 120, 60), (90, 170, 210)),
        paint=_paint,
    ),
)
