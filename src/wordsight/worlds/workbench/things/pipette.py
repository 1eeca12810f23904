"""The pipette: a hand-held one with a plunger, a thick handle and a thin tip."""

from wordsight.worlds.painter import shade
from wordsight.worlds.sketch import Sketch, rounded
from wordsight.worlds.workbench.things.thing import THINGS, ThingLook, WorkbenchThing

__all__ = ["PIPETTE"]


def _paint(sketch: Sketch, thing: WorkbenchThing, look: ThingLook) -> None:
    half, colour = thing.height / 2, look.colour
    white = (240, 241, 238)
    sketch.stroke([(0.0, half - 0.030), (0.0, half - 0.010)], 0.007, (150, 154, 158))
    sketch.polygon(rounded(-0.012, half - 0.014, 0.012, half - 0.002, 0.004), colour)
    grip = [(-0.016, half - 0.028), (0.016, half - 0.028), (0.013, 0.012), (-0.013, 0.012)]
    sketch.polygon(grip, white)
    sketch.polygon([(0.004, half - 0.028), (0.016, half - 0.028), (0.013, 0.012), (0.004, 0.012)],
                   shade(white, 0.84))  # fmt: skip
    sketch.polygon([(0.013, half - 0.030), (0.027, half - 0.036), (0.025, half - 0.042),
                    (0.013, half - 0.040)], shade(white, 0.78))  # fmt: skip
    sketch.polygon(rounded(-0.014, 0.020, 0.014, 0.036, 0.003), colour)
    sketch.polygon(rounded(-0.007, 0.040, 0.006, 0.060, 0.002), (60, 66, 70))
    shaft = [(-0.010, 0.014), (0.010, 0.014), (0.006, -half + 0.046), (-0.006, -half + 0.046)]
    sketch.polygon(shaft, shade(white, 0.92))
    sketch.polygon([(0.001, 0.014), (0.010, 0.014), (0.006, -half + 0.046), (0.001, -half + 0.046)],
                   shade(white, 0.74))  # fmt: skip
    tip = [(-0.0065, -half + 0.050), (0.0065, -half + 0.050), (0.0012, -half), (-0.0012, -half)]
    sketch.polygon(tip, (244, 222, 140) if look.level <= 0 else look.content)
    sketch.stroke([(0.0, -half + 0.046), (0.0, -half + 0.002)], 0.0014, (196, 170, 90))


PIPETTE = THINGS.add(
    "pipette",
    WorkbenchThing(
        name="pipette",
        phrase="pipette",
        width=0.056,
        height=0.214,
        zone="near",
        grip=(0.0, 0.052),
        radius=0.014,
        tip=(0.0, -0.107),
        rest=-0.28,
        work=-0.42,
        colours=((42, 110, 196), (206, 70, 60), (56, 150, 100), (236, 160, 40)),
        paint=_paint,
    ),
)
