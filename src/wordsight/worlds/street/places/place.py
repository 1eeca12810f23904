"""`Place`: where a film of the street is shot: backdrop, light, height of the camera, clutter.

Each place has a file of its own beside this one; see the guide to worlds for how to add one.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.camera import Effects
from wordsight.worlds.checks import Registry
from wordsight.worlds.painter import Colour, Layer, gradient, roughen, shade
from wordsight.worlds.sketch import View

__all__ = ["PLACES", "SIZE", "Backdrop", "Place", "foliage"]

SIZE = (640, 480)
"""Width and height of the pictures in pixels."""

PLACES: Registry["Place"] = Registry("place")
"""All places by name."""


class Backdrop:
    """The still background of a film while it is being painted.

    Args:
        effects: Strengths; ``texture`` says how uneven surfaces are.
        rng: Where the chance comes from.

    Attributes:
        image: ``(480, 640, 3)`` the picture so far.
    """

    def __init__(self, effects: Effects, rng: np.random.Generator) -> None:
        self.image: NDArray[np.uint8] = np.zeros((SIZE[1], SIZE[0], 3), dtype=np.uint8)
        self.rng = rng
        self.texture = effects.texture

    def fill(
        self,
        top: int,
        bottom: int,
        above: Sequence[float],
        below: Sequence[float],
        *,
        rough: float = 1.0,
        cell: float = 24.0,
    ) -> None:
        """Paint rows ``top`` to ``bottom`` in a changing colour with an uneven surface."""
        part = self.image[top:bottom]
        part[...] = gradient((SIZE[0], bottom - top), above, below)
        roughen(part, rough * self.texture, self.rng, cell=cell)

    @contextmanager
    def shapes(self, top: int = 0, bottom: int = SIZE[1]) -> Iterator[Layer]:
        """Give a sheet over these rows to draw on; it is laid over the picture at the end."""
        layer = Layer((0, top, SIZE[0], bottom))
        yield layer
        layer.onto(self.image)


@dataclass(frozen=True)
class Place:
    """A place to shoot at.

    Attributes:
        name: Its name in the registry.
        scale: Pixels per metre: how far away the camera stands.
        ground: Row of the line things stand on: how high the camera is and where it looks.
        light: Direction and hardness of the light: -1 hard from the left, 1 hard from the right.
        tint: Brightness of red, green and blue of everything that moves here.
        shadow: Darkness of shadows, 0 to 1.
        paint: Paints the background.
        paint_occluder: Paints what stands between camera and scene: ``(layer, x, size, rng)`` with
            the column it stands at and a size from 0 to 1.
    """

    name: str
    scale: float
    ground: float
    light: float
    tint: tuple[float, float, float]
    shadow: float
    paint: Callable[[Backdrop], None]
    paint_occluder: Callable[[Layer, float, float, np.random.Generator], None]

    @property
    def view(self) -> View:
        """How metres become pixels here; x = 0 is the middle of the picture."""
        return View(self.scale, SIZE[0] / 2, self.ground)

    @property
    def half_width(self) -> float:
        """Metres from the middle to the edge of the picture."""
        return SIZE[0] / 2 / self.scale


def foliage(
    layer: Layer,
    centre: tuple[float, float],
    size: tuple[float, float],
    colour: Colour,
    rng: np.random.Generator,
    *,
    leaves: int = 60,
) -> None:
    """Draw the crown of a tree or a bush as many blots of slightly different green."""
    x, y = centre
    layer.ellipse((x, y), (size[0] * 0.8, size[1] * 0.8), shade(colour, 0.75))
    angles = rng.uniform(0.0, 2 * np.pi, leaves)
    radii = np.sqrt(rng.uniform(0.0, 1.0, leaves)) * 0.46
    grain = rng.uniform(0.10, 0.26, leaves)
    # From the bottom up, growing lighter, as if lit from above.
    for k in np.argsort(-np.sin(angles) * radii)[::-1]:
        up = -np.sin(angles[k]) * radii[k]
        blot = size[0] * grain[k]
        bright = 0.92 - 0.5 * up + rng.uniform(-0.10, 0.10)
        where = (x + size[0] * radii[k] * np.cos(angles[k]), y + size[1] * up)
        layer.ellipse(where, (blot, blot * 0.8), shade(colour, bright))
