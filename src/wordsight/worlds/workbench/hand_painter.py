"""Painting a hand at the workbench: sleeve, fingers behind a thing, palm and thumb before it."""

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.painter import Colour, mix, shade
from wordsight.worlds.sketch import Sketch, Sprite
from wordsight.worlds.workbench.hands import FINGERS, HandLook, HandPose, joints_of

__all__ = ["HandSprites", "extent_of"]

Joints = dict[str, NDArray[np.float64]]

_FINGER = (0.0200, 0.0180, 0.0166, 0.0138)  # metres across, from the knuckle to the tip
_THUMB = (0.0270, 0.0225, 0.0200, 0.0160)
_WRIST, _SLEEVE = 0.052, (0.078, 0.116)
_BARE = 0.020  # metres of wrist before the sleeve


_LENGTHS = (0.12, 0.24, 0.36, 0.50, 0.66, 0.85)  # metres of arm that are painted
_LONGEST = _LENGTHS[-1]
_STAGES = 12  # of a closing hand; more would hardly show


class HandSprites:
    """The hands of one person, painted once for every shape they take.

    Args:
        look: What they look like.
        scale: Pixels per metre.
        light: Where the light comes from, as in :class:`Sketch`.
    """

    def __init__(self, look: HandLook, scale: float, light: float) -> None:
        self._look = look
        self._scale = scale
        self._light = light
        self._kept: dict[tuple[object, ...], Sprite] = {}

    def behind(self, pose: HandPose, side: float) -> Sprite:
        """Return the fingers that go behind what is held; the origin is the grip."""
        return self._sprite(pose, side, "behind")

    def before(self, pose: HandPose, side: float) -> Sprite:
        """Return the palm, the thumb, and fingers that are not behind something."""
        wraps = pose.hold == "wrap" and pose.touching is not None
        return self._sprite(pose, side, "palm" if wraps else "all")

    def arm(self, reach: float) -> Sprite:
        """Return an arm of at least ``reach`` metres that hangs from the wrist, its origin."""
        length = next((length for length in _LENGTHS if length >= reach), _LONGEST)
        key = ("arm", length)
        if key not in self._kept:
            box = ((-_SLEEVE[1] / 2 - 0.004, -length - 0.06), (_SLEEVE[1] / 2 + 0.004, 0.03))
            self._kept[key] = Sprite.painted(
                lambda sketch: _paint_arm(sketch, length, self._look),
                box,
                self._scale,
                light=self._light,
            )
        return self._kept[key]

    def _sprite(self, pose: HandPose, side: float, part: str) -> Sprite:
        stage = round(pose.closing * _STAGES)
        key = (part, side, pose.hold, pose.radius, stage)
        if key not in self._kept:
            shape = HandPose(0.0, 0.0, 0.0, stage / _STAGES, pose.hold, pose.radius)
            joints = joints_of(shape, side)
            box = extent_of(joints) + np.array(((-0.004,), (0.004,)))
            self._kept[key] = Sprite.painted(
                lambda sketch: self._paint(sketch, joints, part),
                box,
                self._scale,
                light=self._light,
            )
        return self._kept[key]

    def _paint(self, sketch: Sketch, joints: Joints, part: str) -> None:
        if part != "palm":
            _paint_fingers(sketch, joints, self._look, 0.94 if part == "behind" else 1.0)
        if part != "behind":
            _paint_palm(sketch, joints, self._look)


def extent_of(joints: Joints) -> NDArray[np.float64]:
    """Return ``(2, 2)`` lower left and upper right corner in metres, from finger tips to wrist."""
    chains = np.concatenate([joints[name] for name in FINGERS])
    radii = np.concatenate([_THUMB, *[_FINGER] * 4])[:, None] / 2
    wrist = joints["arm"][:1]
    low = np.concatenate([chains - radii, wrist - _WRIST / 2]).min(axis=0)
    high = np.concatenate([chains + radii, wrist + _WRIST / 2]).max(axis=0)
    return np.array([low, high])


def _paint_arm(sketch: Sketch, length: float, look: HandLook) -> None:
    """Draw the wrist at the origin and a sleeve that comes from below."""
    cuff, hem = -_BARE, -_BARE - 0.020
    sketch.tube([(0.0, 0.0), (0.0, cuff - 0.03)], [_WRIST, _WRIST * 1.04], look.skin)
    if look.gloves:  # the rolled edge of the glove
        sketch.stroke([(-0.029, cuff - 0.012), (0.029, cuff - 0.012)], 0.006, shade(look.skin, 0.8))
    wide = np.interp(length, (0.0, _LONGEST), _SLEEVE)
    sketch.tube([(0.0, hem - 0.03), (0.0, -length)], [_SLEEVE[0], wide], look.sleeve)
    edge = [(-0.040, hem), (0.040, hem), (0.040, hem - 0.03), (-0.040, hem - 0.03)]
    sketch.polygon(edge, shade(look.sleeve, 0.94))
    sketch.stroke(edge[:2], 0.005, shade(look.sleeve, 0.78))
    for y, way in ((-0.14, 1.0), (-0.24, -1.0), (-0.40, 1.0)):  # creases of the cloth
        if length > -y + 0.05:
            ends = [(-0.036 * way, y), (0.012 * way, y - 0.022)]
            sketch.stroke(ends, 0.0040, shade(look.sleeve, 0.84))


def _paint_fingers(sketch: Sketch, joints: Joints, look: HandLook, bright: float = 1.0) -> None:
    """Draw all fingers but the thumb, from the little one to the index finger."""
    for number, name in enumerate(reversed(FINGERS[1:])):
        colour = shade(look.skin, bright * (0.93 + 0.02 * number))
        _paint_chain(sketch, joints[name], _FINGER, colour)
        if not look.gloves:
            _paint_nail(sketch, joints[name], colour)


def _paint_palm(sketch: Sketch, joints: Joints, look: HandLook) -> None:
    """Draw the back of the hand and the thumb."""
    wrist, thumb = joints["arm"][0], joints["thumb"]
    scale = sketch.view.scale
    widths = [0.023 * scale, 0.046 * scale]
    for grow, factor in ((0.003 * scale, 0.74), (0.0, 1.0)):
        for name in FINGERS[1:]:
            ends = sketch.view.pixels([joints[name][0], wrist])
            sketch.layer.limb(ends, [width + grow for width in widths], shade(look.skin, factor))
    for name in FINGERS[1:4]:  # tendons and knuckles
        knuckle = joints[name][0]
        sketch.stroke([knuckle * 0.8 + wrist * 0.2, knuckle * 0.45 + wrist * 0.55], 0.0024,
                      shade(look.skin, 0.90))  # fmt: skip
        sketch.ellipse(knuckle, (0.013, 0.009), shade(look.skin, 1.10))
    base = sketch.view.pixels([wrist, thumb[0]])
    sketch.layer.limb(base, [0.040 * scale, 0.030 * scale], shade(look.skin, 0.98))
    _paint_chain(sketch, thumb, _THUMB, look.skin)
    if not look.gloves:
        _paint_nail(sketch, thumb, look.skin)


def _paint_chain(
    sketch: Sketch, chain: NDArray[np.float64], widths: tuple[float, ...], colour: Colour
) -> None:
    # A darker rim keeps fingers apart that overlap; a lighter core makes them round.
    scale, pixels = sketch.view.scale, sketch.view.pixels(chain)
    for extra, factor, shift in ((0.003, 0.70, 0.0), (0.0, 0.95, 0.0), (-0.007, 1.06, 0.0014)):
        moved = pixels + np.array((np.sign(sketch.light) * shift, -shift)) * scale
        sketch.layer.limb(moved, [(w + extra) * scale for w in widths], shade(colour, factor))


def _paint_nail(sketch: Sketch, chain: NDArray[np.float64], colour: Colour) -> None:
    along = (chain[3] - chain[2]) / max(float(np.hypot(*(chain[3] - chain[2]))), 1e-9)
    degrees = float(np.degrees(np.arctan2(-along[1], along[0])))
    sketch.ellipse(chain[3] + along * 0.001, (0.011, 0.0078), mix(colour, (255, 236, 228), 0.5),
                   degrees)  # fmt: skip
