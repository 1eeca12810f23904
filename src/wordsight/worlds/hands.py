"""What the drawn hands of all worlds share: their look, the extent and painting of fingers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wordsight.worlds.painter import Colour, Floats, mix, shade
from wordsight.worlds.sketch import Sketch

__all__ = ["FINGERS", "FingerStyle", "HandJoints", "HandLook"]

FINGERS = ("thumb", "index", "middle", "ring", "little")
"""The fingers, the thumb first."""

HandJoints = dict[str, Floats]
"""For each of `FINGERS` ``(4, 2)`` metres from knuckle to tip, and chains of palm and arm."""


@dataclass(frozen=True)
class HandLook:
    """What the hands of one person look like."""

    skin: Colour  # of the gloves if there are any
    sleeve: Colour
    cuff: Colour = (238, 236, 230)
    left: bool = False  # whether the arm comes from the left
    size: float = 1.0  # 1 for an average adult
    gloves: bool = False


@dataclass(frozen=True)
class FingerStyle:
    """How the fingers of one world are drawn; widths in metres from the knuckle to the tip."""

    finger: tuple[float, ...]
    thumb: tuple[float, ...]
    layers: tuple[tuple[float, float, float], ...]  # extra width, brightness and shift to the light
    nail: tuple[float, float]  # length and width in metres
    nail_white: float  # share of white in its colour

    def paint_finger(
        self,
        sketch: Sketch,
        chain: Floats,
        colour: Colour,
        *,
        thumb: bool = False,
        size: float = 1.0,
    ) -> None:
        """Draw one finger: a darker rim keeps fingers apart, a lighter core makes them round."""
        widths = [width * size for width in (self.thumb if thumb else self.finger)]
        scale, pixels = sketch.scale, sketch.view.pixels(chain)
        for extra, factor, shift in self.layers:
            moved = pixels + np.array((np.sign(sketch.light) * shift, -shift)) * scale
            thick = [(width + extra) * scale for width in widths]
            sketch.limb_pixels(moved, thick, shade(colour, factor))

    def paint_nail(
        self, sketch: Sketch, chain: Floats, colour: Colour, *, size: float = 1.0
    ) -> None:
        """Draw the nail at the tip of a finger."""
        along = (chain[3] - chain[2]) / max(float(np.hypot(*(chain[3] - chain[2]))), 1e-9)
        degrees = float(np.degrees(np.arctan2(-along[1], along[0])))
        nail = mix(colour, (255, 236, 228), self.nail_white)
        axes = (self.nail[0] * size, self.nail[1] * size)
        sketch.ellipse(chain[3] + along * 0.001, axes, nail, degrees)

    def extent_of(
        self, joints: Mapping[str, Floats], palm: Sequence[float], size: float = 1.0
    ) -> Floats:
        """Return ``(2, 2)`` lower left and upper right corner in metres, from tips to palm.

        Args:
            joints: The fingers and the ``palm``, a chain of points.
            palm: Width of the palm at each of its points.
            size: Size of the hand.
        """
        chains: Iterable[str] = (*FINGERS, "palm")
        widths = [self.thumb, *[self.finger] * 4, palm]
        points = np.concatenate([joints[name] for name in chains])
        radii = np.concatenate(widths)[:, None] * size / 2
        return np.array([(points - radii).min(axis=0), (points + radii).max(axis=0)])
