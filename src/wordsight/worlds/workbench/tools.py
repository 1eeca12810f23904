"""How the tools and devices of the workbench are painted.

Every painter takes the sketch, the width and the height of the thing in metres, and its look.
"""

import numpy as np

from wordsight.worlds.painter import mix, shade
from wordsight.worlds.sketch import Sketch, rounded
from wordsight.worlds.workbench.vessels import FLATNESS, ThingLook

__all__ = [
    "paint_marker",
    "paint_pipette",
    "paint_rack",
    "paint_scale",
    "paint_spoon",
    "paint_stirrer",
    "paint_tape",
    "paint_towel",
]


def paint_marker(sketch: Sketch, width: float, height: float, look: ThingLook) -> None:
    """Paint a felt pen with a coloured cap at its end."""
    half, colour = height / 2, look.colour
    nib, shoulder = -half, -half + 0.014
    tip = [(-0.0025, nib), (0.0025, nib), (0.006, shoulder), (-0.006, shoulder)]
    sketch.polygon(tip, shade(colour, 0.8))
    sketch.polygon(rounded(-0.009, -half + 0.012, 0.009, half - 0.034, 0.003), (240, 240, 238))
    sketch.polygon(rounded(0.003, -half + 0.012, 0.009, half - 0.034, 0.003), (206, 206, 204))
    sketch.polygon(rounded(-0.009, -0.006, 0.009, 0.008, 0.001), colour)
    sketch.polygon(rounded(-0.0105, half - 0.038, 0.0105, half - 0.001, 0.004), colour)
    sketch.stroke([(-0.005, half - 0.034), (-0.005, half - 0.006)], 0.003, shade(colour, 1.5))
    sketch.stroke([(0.011, half - 0.008), (0.011, half - 0.034)], 0.0030, shade(colour, 0.7))


def paint_pipette(sketch: Sketch, width: float, height: float, look: ThingLook) -> None:
    """Paint a hand-held pipette with a plunger, a thick handle and a thin tip."""
    half, colour = height / 2, look.colour
    white = (240, 241, 238)
    top, low = half - 0.028, -half + 0.046
    sketch.stroke([(0.0, half - 0.030), (0.0, half - 0.010)], 0.007, (150, 154, 158))
    sketch.polygon(rounded(-0.012, half - 0.014, 0.012, half - 0.002, 0.004), colour)
    sketch.polygon([(-0.016, top), (0.016, top), (0.013, 0.012), (-0.013, 0.012)], white)
    dark = [(0.004, top), (0.016, top), (0.013, 0.012), (0.004, 0.012)]
    sketch.polygon(dark, shade(white, 0.84))
    hook = [(0.013, half - 0.030), (0.027, half - 0.036), (0.025, half - 0.042)]
    sketch.polygon([*hook, (0.013, half - 0.040)], shade(white, 0.78))
    sketch.polygon(rounded(-0.014, 0.020, 0.014, 0.036, 0.003), colour)
    sketch.polygon(rounded(-0.007, 0.040, 0.006, 0.060, 0.002), (60, 66, 70))
    shaft = [(-0.010, 0.014), (0.010, 0.014), (0.006, low), (-0.006, low)]
    sketch.polygon(shaft, shade(white, 0.92))
    dark = [(0.001, 0.014), (0.010, 0.014), (0.006, low), (0.001, low)]
    sketch.polygon(dark, shade(white, 0.74))
    tip = [(-0.0065, -half + 0.050), (0.0065, -half + 0.050), (0.0012, -half), (-0.0012, -half)]
    sketch.polygon(tip, (244, 222, 140) if look.level <= 0 else look.content)
    sketch.stroke([(0.0, low), (0.0, -half + 0.002)], 0.0014, (196, 170, 90))


def paint_rack(sketch: Sketch, width: float, height: float, look: ThingLook) -> None:
    """Paint two wooden boards with holes on side walls, with test tubes that are not used."""
    half, top, colour = width / 2, height, look.colour
    dark, pale = shade(colour, 0.66), shade(colour, 1.16)
    depth = 0.016
    for x in np.linspace(-half * 0.70, half * 0.70, 4)[[0, 2, 3]]:
        _paint_spare_tube(sketch, float(x), top)
    board = [(-half, 0.012), (half, 0.012), (half - 0.006, 0.012 + depth)]
    sketch.polygon([*board, (-half + 0.006, 0.012 + depth)], pale)
    sketch.rectangle(-half, 0.0, half, 0.012, colour)
    for side in (-1.0, 1.0):
        x = side * (half - 0.006)
        sketch.rectangle(x - 0.006, 0.0, x + 0.006, top, dark)
    sketch.rectangle(-half, top - 0.012, half, top, colour)
    sketch.stroke([(-half, top), (half, top)], 0.0025, pale)
    sketch.stroke([(-half, 0.0), (half, 0.0)], 0.0025, dark)


def _paint_spare_tube(sketch: Sketch, x: float, top: float) -> None:
    glass, edge = (206, 220, 226), (140, 158, 166)
    sketch.rectangle(x - 0.010, 0.014, x + 0.010, top + 0.034, glass)
    sketch.rectangle(x - 0.009, 0.014, x + 0.009, 0.036, (232, 178, 92))
    sketch.ellipse((x, top + 0.034), (0.024, 0.008), edge)
    sketch.ellipse((x, top + 0.034), (0.019, 0.005), (236, 242, 244))
    for side in (x - 0.010, x + 0.010):
        sketch.stroke([(side, 0.014), (side, top + 0.034)], 0.0016, edge)


def paint_scale(sketch: Sketch, width: float, height: float, look: ThingLook) -> None:
    """Paint a flat device with a round steel pan, a display and buttons."""
    half, colour = width / 2, look.colour
    back = 0.062  # where the far edge of its top is seen
    cover = [(-half, 0.022), (half, 0.022), (half - 0.014, back), (-half + 0.014, back)]
    sketch.polygon(cover, shade(colour, 1.08))
    sketch.rectangle(-half, 0.0, half, 0.024, shade(colour, 0.84))
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


def paint_spoon(sketch: Sketch, width: float, height: float, look: ThingLook) -> None:
    """Paint a steel laboratory spoon with a long handle."""
    half, steel = height / 2, look.colour
    sketch.stroke([(0.0, -half + 0.030), (0.0, half - 0.005)], 0.0088, shade(steel, 0.62))
    sketch.stroke([(-0.0012, -half + 0.030), (-0.0012, half - 0.005)], 0.0050, shade(steel, 1.15))
    sketch.ellipse((0.0, -half + 0.020), (0.028, 0.040), shade(steel, 0.62))
    sketch.ellipse((0.0, -half + 0.020), (0.023, 0.035), steel)
    sketch.ellipse((-0.002, -half + 0.018), (0.014, 0.024), shade(steel, 0.80))
    sketch.ellipse((-0.005, -half + 0.026), (0.005, 0.010), (250, 252, 252))
    if look.level > 0:
        sketch.ellipse((0.0, -half + 0.020), (0.018, 0.024), look.content)


def paint_stirrer(sketch: Sketch, width: float, height: float, look: ThingLook) -> None:
    """Paint a magnetic stirrer with a white plate and two knobs."""
    half, colour = width / 2, look.colour
    wall = 0.046  # height of the front
    sketch.rectangle(-half, 0.0, half, wall, colour)
    cover = [(-half, wall), (half, wall), (half - 0.012, 0.084), (-half + 0.012, 0.084)]
    sketch.polygon(cover, shade(colour, 1.25))
    near, far = half - 0.012, half - 0.022
    plate = [(-near, wall + 0.004), (near, wall + 0.004), (far, 0.080), (-far, 0.080)]
    sketch.polygon(plate, (240, 242, 240))
    sketch.stroke([*plate, plate[0]], 0.002, (190, 194, 194))
    for x in (-0.036, 0.036):
        sketch.ellipse((x, wall * 0.46), (0.030, 0.030), shade(colour, 0.5))
        sketch.ellipse((x, wall * 0.50), (0.024, 0.024), (236, 236, 232))
        sketch.stroke([(x, wall * 0.5), (x + 0.006, wall * 0.5 + 0.008)], 0.0028, (200, 50, 44))
    for x in np.linspace(-0.012, 0.012, 3):
        sketch.ellipse((float(x), wall * 0.46), (0.006, 0.006), (250, 196, 60))
    sketch.polygon(rounded(-half, 0.0, half, 0.005, 0.001), shade(colour, 0.6))


def paint_tape(sketch: Sketch, width: float, height: float, look: ThingLook) -> None:
    """Paint a roll of tape seen half from the side, with a loose end."""
    wide, tall, colour = width - 0.004, 0.024, look.colour
    flat, half = 1.35 * FLATNESS, wide / 2
    sketch.ellipse((0.0, 0.004), (wide, wide * flat), shade(colour, 0.66))
    sketch.rectangle(-half, 0.004, half, tall, shade(colour, 0.72))
    sketch.ellipse((0.0, tall), (wide, wide * flat), colour)
    sketch.ellipse((0.0, tall), (wide * 0.84, wide * 0.84 * flat), mix(colour, (255,) * 3, 0.25))
    sketch.ellipse((0.0, tall), (wide * 0.62, wide * 0.62 * flat), (176, 140, 96))
    sketch.ellipse((0.0, tall - 0.002), (wide * 0.52, wide * 0.52 * flat), (70, 62, 56))
    end = [(half - 0.003, 0.006), (half + 0.012, 0.002), (half + 0.012, 0.016)]
    sketch.polygon([*end, (half - 0.003, tall)], mix(colour, (255, 255, 255), 0.3))


def paint_towel(sketch: Sketch, width: float, height: float, look: ThingLook) -> None:
    """Paint a folded cloth with stripes."""
    half, top, colour = width / 2, height, look.colour
    for y, bright in ((0.0, 0.78), (0.005, 0.90)):  # folded: two layers show at the edge
        sketch.rectangle(-half, y, half, y + 0.008, shade(colour, bright))
    cloth = [(-half, 0.010), (half, 0.010), (half - 0.010, top), (-half + 0.010, top)]
    sketch.polygon(cloth, colour)
    stripe = (64, 110, 170) if sum(colour) > 520 else (244, 244, 240)
    for share in (0.16, 0.26, 0.78, 0.88):
        low, high = -half + width * share, -half + 0.010 + (width - 0.020) * share
        sketch.stroke([(low, 0.011), (high, top - 0.001)], 0.0042, stripe)
    for y in np.linspace(0.018, top - 0.006, 5):
        sketch.stroke([(-half * 0.8, y), (half * 0.8, y + 0.001)], 0.0012, shade(colour, 0.93))
