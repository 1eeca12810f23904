"""The workbench: its objects, how they are held and painted, and the bench they stand on.

Every painter takes the sketch, the width and the height of the thing in metres, and its look. The
guide to worlds shows how to add one. A place on the bench is x (metres to the right of the middle),
depth (metres away from the near edge) and height (metres above the bench); the camera looks down on
it at an angle.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from wordsight.worlds.camera import Effects
from wordsight.worlds.checks import Registry, Rng
from wordsight.worlds.painter import (
    Colour,
    Floats,
    Image,
    Layer,
    gradient,
    mix,
    palette,
    roughen,
    shade,
)
from wordsight.worlds.sketch import SIZE, Point, Sketch, Sprite, View, rounded
from wordsight.worlds.workbench import vessels
from wordsight.worlds.workbench.vessels import FLATNESS, ThingLook

__all__ = [
    "SCENERIES",
    "THINGS",
    "VIEW",
    "WORK_SPOTS",
    "BenchPlace",
    "Scenery",
    "WorkbenchThing",
    "lay_out",
    "paint_marker",
    "paint_occluder",
    "paint_pipette",
    "paint_rack",
    "paint_scale",
    "paint_scenery",
    "paint_spoon",
    "paint_stirrer",
    "paint_tape",
    "paint_towel",
    "seen",
]

BenchPlace = tuple[float, float, float]

VIEW = View(800.0, 320.0, 470.0)
"""How metres of the picture become pixels."""

_FORESHORTENING = 0.6  # metres of the picture per metre of depth
_FAR_ROW, _SIDE_ROW, _TOOL_ROW = 0.56, 0.37, 0.17  # depths
_MARGIN = 0.385  # metres from the middle within which things stand
_TOOL_COLUMNS = (0.225, 0.285, 0.345)
_FLAT_SPOTS = ((0.325, 0.05), (0.330, 0.20), (0.205, 0.03), (0.210, 0.17))

WORK_SPOTS: tuple[BenchPlace, ...] = ((-0.055, 0.25, 0.0), (0.075, 0.25, 0.0), (0.010, 0.13, 0.0))
"""Where vessels stand while they are worked with."""


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


@dataclass(frozen=True)
class WorkbenchThing:
    """A kind of object.

    What stands has its origin at the middle of its foot; what lies is drawn upright, with its
    working end down and its origin in the middle, and turned by ``rest``.
    """

    name: str
    paint: Callable[[Sketch, float, float, ThingLook], None]  # with its width and height
    width: float  # metres across
    height: float  # metres from top to bottom, as drawn upright
    zone: str  # where it belongs: far, side (large devices), near (tools) or rack
    grip: Point  # where hands take it
    hold: str = "wrap"  # thumb before it, fingers behind; or pinch: finger tips on it
    radius: float = 0.02  # metres from the grip to the skin that wraps it
    mouth: Point = (0.0, 0.0)  # where things go in and come out
    tip: Point = (0.0, 0.0)  # the end one works with
    rest: float = 0.0  # radians by which it is turned when it is not held
    work: float = 0.0  # radians by which it is turned when it is used
    top: float = 0.0  # metres above its foot on which other things can stand; 0 for none
    vessel: bool = False  # whether it holds liquids or powders; shown by its level
    full: tuple[float, float] = (0.0, 0.0)  # level in the beginning, least and most
    colours: tuple[Colour, ...] = palette("c8ccd0")
    noun: str = ""  # what texts call it, if not by its name

    @property
    def phrase(self) -> str:
        """What texts call it."""
        return self.noun or self.name

    @property
    def lies(self) -> bool:
        """Whether its origin is its middle, because it lies on the bench."""
        return self.rest != 0.0

    @property
    def box(self) -> Floats:
        """``(2, 2)`` lower left and upper right corner of what is drawn, in metres, with room."""
        low = -self.height / 2 if self.lies else -self.width * FLATNESS / 2
        high = self.height / 2 if self.lies else self.height + self.width * FLATNESS / 2
        half = self.width / 2 + 0.012
        return np.array([(-half, low - 0.012), (half, high + 0.012)])

    def sprite(self, look: ThingLook, scale: float, light: float) -> Sprite:
        """Paint it for pictures of ``scale`` pixels per metre."""

        def paint(sketch: Sketch) -> None:
            self.paint(sketch, self.width, self.height, look)

        return Sprite.painted(paint, self.box, scale, light=light)


# fmt: off
_ALL = (
    WorkbenchThing("beaker", vessels.paint_beaker, 0.092, 0.098, "far", (0.0, 0.052),
                   radius=0.044, mouth=(0.0, 0.098), vessel=True),
    WorkbenchThing("bottle", vessels.paint_bottle, 0.080, 0.172, "far", (0.0, 0.088),
                   radius=0.038, mouth=(0.0, 0.172), vessel=True, full=(0.7, 1.0),
                   colours=palette("985e2c a8ced8 7e4c26")),
    WorkbenchThing("cylinder", vessels.paint_cylinder, 0.066, 0.186, "far", (0.0, 0.092),
                   radius=0.020, mouth=(0.0, 0.186), vessel=True,
                   colours=palette("4078be dee2e4")),
    WorkbenchThing("dish", vessels.paint_dish, 0.108, 0.018, "near", (0.040, 0.012), "pinch",
                   mouth=(0.0, 0.012), vessel=True, noun="petri dish"),
    WorkbenchThing("flask", vessels.paint_flask, 0.104, 0.142, "far", (0.0, 0.096),
                   radius=0.020, mouth=(0.0, 0.142), vessel=True),
    WorkbenchThing("funnel", vessels.paint_funnel, 0.096, 0.114, "near", (0.0, 0.016),
                   radius=0.026, mouth=(0.0, 0.040), tip=(0.0, -0.057), rest=0.9,
                   colours=palette("eef0ee e8783c 5aaad2")),
    WorkbenchThing("jar", vessels.paint_jar, 0.088, 0.092, "far", (0.0, 0.044),
                   radius=0.042, mouth=(0.0, 0.092), full=(0.6, 1.0),
                   colours=palette("c43c34 3a8c4e e4a028 6e4696")),
    WorkbenchThing("marker", paint_marker, 0.030, 0.140, "near", (0.0, -0.006), "pinch",
                   tip=(0.0, -0.070), rest=-0.35, work=-0.75,
                   colours=palette("1e1e22 c42228 1c42aa 1e7a3c")),
    WorkbenchThing("pipette", paint_pipette, 0.056, 0.214, "near", (0.0, 0.052),
                   radius=0.014, tip=(0.0, -0.107), rest=-0.28, work=-0.42,
                   colours=palette("2a6ec4 ce463c 389664 eca028")),
    WorkbenchThing("rack", paint_rack, 0.158, 0.078, "far", (0.070, 0.052), "pinch", 0.016,
                   colours=palette("c49256 5c84b0 d6d6ce")),
    WorkbenchThing("scale", paint_scale, 0.164, 0.062, "side", (0.040, 0.012), "pinch",
                   tip=(0.040, 0.012), top=0.044, colours=palette("e0e2e4 545c66 e8e4d6")),
    WorkbenchThing("spoon", paint_spoon, 0.030, 0.166, "near", (0.0, 0.050), "pinch",
                   tip=(0.0, -0.072), rest=0.30, work=-0.60, colours=palette("bac0c6")),
    WorkbenchThing("stirrer", paint_stirrer, 0.152, 0.084, "side", (0.036, 0.023), "pinch",
                   tip=(0.036, 0.023), top=0.060, colours=palette("3e5476 5c6268 386862")),
    WorkbenchThing("tape", paint_tape, 0.076, 0.034, "near", (0.030, 0.020), "pinch",
                   tip=(0.036, 0.010), colours=palette("d6c678 5aa0c8 de6e3c e8e8e2")),
    WorkbenchThing("towel", paint_towel, 0.118, 0.062, "near", (0.0, 0.032), "pinch",
                   tip=(0.0, 0.030), colours=palette("f0f0ea d8e2ec ecd6ce")),
    WorkbenchThing("tube", vessels.paint_tube, 0.032, 0.128, "rack", (0.0, 0.088),
                   radius=0.012, mouth=(0.0, 0.128), vessel=True, noun="test tube"),
)

THINGS = Registry("object", {thing.name: thing for thing in _ALL})
"""All objects by name."""






def seen(place: ArrayLike) -> Floats:
    """Return where ``(..., 3)`` places are seen: ``(..., 2)`` metres of the picture, y upwards."""
    x, depth, height = np.moveaxis(np.asarray(place, dtype=np.float64), -1, 0)
    return np.stack([x, depth * _FORESHORTENING + height], axis=-1)


_EDGE = int(VIEW.pixels(seen((0.0, 0.70, 0.0)))[1])  # row of the far edge of the bench


def lay_out(names: Sequence[str], dominant: float, rng: Rng) -> dict[str, BenchPlace]:
    """Draw the home of every thing; tools lie at the dominant hand, 1 right or -1 left."""
    zones: dict[str, list[str]] = {zone: [] for zone in ("far", "side", "near", "rack")}
    for name in names:
        zones[THINGS[name].zone].append(name)
    homes = _far_row([str(name) for name in rng.permutation(zones["far"])], rng)
    sides = rng.permutation([-0.262, 0.262])
    for name, x in zip(zones["side"], sides, strict=False):
        homes[name] = (float(x), _SIDE_ROW + float(rng.uniform(-0.01, 0.01)), 0.0)
    tools = [name for name in zones["near"] if THINGS[name].width < 0.06]
    for name, x in zip(rng.permutation(tools), _TOOL_COLUMNS, strict=False):
        homes[str(name)] = (dominant * x + float(rng.uniform(-0.006, 0.006)), _TOOL_ROW, 0.0)
    flats = [name for name in zones["near"] if THINGS[name].width >= 0.06]
    for name, (x, depth) in zip(rng.permutation(flats), _FLAT_SPOTS, strict=False):
        homes[str(name)] = (-dominant * x, depth + float(rng.uniform(-0.01, 0.01)), 0.0)
    for name in zones["rack"]:
        x, depth, _ = homes["rack"]
        # Behind the front of the rack, in the hole that is left free.
        homes[name] = (x - 0.0184, depth + 0.004, 0.012)
    return homes


def _far_row(names: Sequence[str], rng: Rng) -> dict[str, BenchPlace]:
    widths = [THINGS[name].width for name in names]
    gap = (2 * _MARGIN - sum(widths)) / max(len(names), 1)
    homes: dict[str, BenchPlace] = {}
    x = -_MARGIN
    for name, width in zip(names, widths, strict=True):
        middle = x + width / 2 + gap * float(rng.uniform(0.3, 0.7))
        homes[name] = (middle, _FAR_ROW + float(rng.uniform(-0.02, 0.02)), 0.0)
        x += width + gap
    return homes


@dataclass(frozen=True)
class Scenery:
    """A bench before a wall."""

    bench: Colour
    wall: Colour
    tiles: bool  # whether the wall is tiled; otherwise it has sockets and a rail
    light: float  # where the light comes from: -1 left, 1 right


SCENERIES = (
    Scenery((198, 202, 200), (150, 164, 168), True, -0.6),
    Scenery((104, 110, 116), (206, 204, 194), False, 0.5),
    Scenery((190, 166, 132), (172, 186, 178), True, 0.4),
    Scenery((164, 184, 178), (196, 200, 204), False, -0.5),
)
"""The benches there are; a new one is one entry."""


def paint_scenery(scenery: Scenery, effects: Effects, rng: Rng) -> Image:
    """Return the ``(480, 640, 3)`` background."""
    image = np.zeros((SIZE[1], SIZE[0], 3), dtype=np.uint8)
    wall, bench = scenery.wall, shade(scenery.bench, rng.uniform(0.95, 1.05))
    image[:_EDGE] = gradient((SIZE[0], _EDGE), shade(wall, 1.03), shade(wall, 0.92))
    layer = Layer((0, 0, SIZE[0], _EDGE + 8))
    (_paint_tiles if scenery.tiles else _paint_sockets)(layer, wall, rng)
    layer.rectangle(0, _EDGE - 6, 640, _EDGE, shade(wall, 0.72))
    layer.onto(image)
    top = image[_EDGE:]
    top[...] = gradient((SIZE[0], len(top)), shade(bench, 0.92), shade(bench, 1.06))
    roughen(top, 0.12 * effects.texture, rng, cell=60)
    roughen(top, 0.10 * effects.texture, rng, cell=5, octaves=2)
    across = np.linspace(-1.0, 1.0, SIZE[0])[None, :, None]
    lit = image * (1.0 + 0.08 * scenery.light * effects.shading * across)
    return np.asarray(np.clip(lit, 0, 255), dtype=np.uint8)


def _paint_tiles(layer: Layer, wall: Colour, rng: Rng) -> None:
    joint = shade(wall, 1.12)
    start = float(rng.uniform(0, 50))
    for y in range(_EDGE - 6, -40, -44):
        layer.stroke([(0, y), (SIZE[0], y)], 2, joint)
    for x in np.arange(start - 60, SIZE[0] + 10, 60):
        layer.stroke([(float(x), 0), (float(x), _EDGE)], 2, joint)


def _paint_sockets(layer: Layer, wall: Colour, rng: Rng) -> None:
    layer.rectangle(0, 20, 640, 30, shade(wall, 0.82))
    x = float(rng.uniform(20, 120))
    while x < 600:
        plate = [(x, 48), (x + 44, 48), (x + 44, 80), (x, 80)]
        layer.polygon(plate, (236, 236, 232))
        layer.stroke([*plate, plate[0]], 1.5, (170, 172, 172))
        for hole in (13, 31):
            layer.ellipse((x + hole, 64), (9, 9), (198, 198, 194))
            layer.ellipse((x + hole, 64), (3, 3), (70, 70, 70))
        x += float(rng.uniform(110, 220))


def paint_occluder(layer: Layer, left: bool, size: float) -> None:
    """Paint the arm of a lamp that reaches into the picture, near the camera."""
    steel = (86, 90, 96)
    side, inward = (0.0, 1.0) if left else (float(SIZE[0]), -1.0)
    bend = (side + inward * (60 + 50 * size), 150 + 40 * size)
    head = (side + inward * (30 + 60 * size), 250 + 90 * size)
    layer.stroke([(side - inward * 30, 40), bend], 14 + 8 * size, shade(steel, 0.7))
    layer.stroke([bend, head], 12 + 8 * size, steel)
    layer.ellipse(bend, (26 + 10 * size, 26 + 10 * size), shade(steel, 0.6))
    layer.ellipse(head, (58 + 36 * size, 44 + 24 * size), shade(steel, 0.5))
    layer.ellipse(head, (44 + 30 * size, 30 + 18 * size), (232, 226, 196))
