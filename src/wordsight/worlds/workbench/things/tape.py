"""The tape: a roll seen half from the side, with a loose end."""

from wordsight.worlds.painter import mix, shade
from wordsight.worlds.sketch import Sketch
from wordsight.worlds.workbench.things.thing import FLATNESS, THINGS, ThingLook, WorkbenchThing

__all__ = ["TAPE"]


def _paint(sketch: Sketch, thing: WorkbenchThing, look: ThingLook) -> None:
    width, tall, colour = thing.width - 0.004, 0.024, look.colour
    flat = 1.35 * FLATNESS
    sketch.ellipse((0.0, 0.004), (width, width * flat), shade(colour, 0.66))
    half = width / 2
    sketch.polygon(
        [(-half, 0.004), (half, 0.004), (half, tall), (-half, tall)], shade(colour, 0.72)
    )
    sketch.ellipse((0.0, tall), (width, width * flat), colour)
    sketch.ellipse((0.0, tall), (width * 0.84, width * 0.84 * flat), mix(colour, (255,) * 3, 0.25))
    sketch.ellipse((0.0, tall), (width * 0.62, width * 0.62 * flat), (176, 140, 96))
    sketch.ellipse((0.0, tall - 0.002), (width * 0.52, width * 0.52 * flat), (70, 62, 56))
    end = [
        (half - 0.003, 0.006),
        (half + 0.012, 0.002),
        (half + 0.012, 0.016),
        (half - 0.003, tall),
    ]
    sketch.polygon(end, mix(colour, (255, 255, 255), 0.3))


TAPE = THINGS.add(
    "tape",
    WorkbenchThing(
        name="tape",
        phrase="tape",
        width=0.076,
        height=0.034,
        zone="near",
        grip=(0.030, 0.020),
        hold="pinch",
        tip=(0.036, 0.010),
        colours=((214, 198, 120), (90, 160, 200), (222, 110, 60), (232, 232, 226)),
        paint=_paint,
    ),
)
