"""The hands at the workbench: their poses, their joints, and sprites of every shape they take."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wordsight.worlds.painter import Floats, shade
from wordsight.worlds.performance import FINGERS, FingerStyle, HandJoints, HandLook
from wordsight.worlds.sketch import Sketch, Sprite

__all__ = ["BenchPose", "HandSprites", "extent_of", "joints_of"]

# Joints of a right hand in metres around its grip, as seen: knuckle, two joints, tip.
_OPEN = np.array(
    [
        [(0.018, -0.050), (-0.008, -0.028), (-0.024, -0.006), (-0.032, 0.012)],
        [(0.018, 0.000), (0.010, 0.032), (0.006, 0.056), (0.004, 0.074)],
        [(0.036, 0.005), (0.034, 0.041), (0.032, 0.067), (0.031, 0.087)],
        [(0.053, 0.000), (0.056, 0.033), (0.057, 0.057), (0.058, 0.075)],
        [(0.068, -0.010), (0.076, 0.015), (0.080, 0.033), (0.083, 0.047)],
    ]
)
_PINCH = np.array(
    [
        [(0.014, -0.046), (-0.006, -0.032), (-0.009, -0.015), (-0.003, -0.001)],
        [(0.030, 0.020), (0.024, 0.046), (0.010, 0.034), (0.002, 0.006)],
        [(0.044, 0.014), (0.040, 0.042), (0.022, 0.030), (0.011, 0.002)],
        [(0.055, 0.002), (0.057, 0.027), (0.041, 0.015), (0.031, -0.008)],
        [(0.064, -0.012), (0.068, 0.009), (0.056, -0.001), (0.047, -0.018)],
    ]
)
_OPEN_WRIST, _PINCH_WRIST = np.array((0.050, -0.094)), np.array((0.054, -0.096))
_ELBOW = np.array((0.215, -0.44))  # where the arm comes from, as seen

_STYLE = FingerStyle(
    finger=(0.0200, 0.0180, 0.0166, 0.0138),
    thumb=(0.0270, 0.0225, 0.0200, 0.0160),
    layers=((0.003, 0.70, 0.0), (0.0, 0.95, 0.0), (-0.007, 1.06, 0.0014)),
    nail=(0.011, 0.0078),
    nail_white=0.5,
)
_WRIST, _SLEEVE = 0.052, (0.078, 0.116)  # metres across
_BARE = 0.020  # metres of wrist before the sleeve
_LENGTHS = (0.12, 0.24, 0.36, 0.50, 0.66, 0.85)  # metres of arm that are painted
_LONGEST = _LENGTHS[-1]
_STAGES = 12  # of a closing hand; more would hardly show


@dataclass(frozen=True)
class BenchPose:
    """What a hand is doing at one moment."""

    x: float  # metres right, as seen; the point it grips
    y: float  # metres up, as seen
    depth: float  # metres from the near edge of the bench; decides what is in front
    closing: float = 0.0  # 0 open, 1 closed on something
    hold: str = "pinch"  # or wrap
    radius: float = 0.02  # metres from the grip to the palm that wraps something
    touching: str | None = None  # name of the thing it touches
    holding: bool = False  # whether it moves that thing


def joints_of(pose: BenchPose, side: float) -> HandJoints:
    """Return the joints in metres as seen.

    Args:
        pose: What the hand is doing.
        side: 1 for the right hand, -1 for the left.

    Returns:
        The fingers; ``palm`` ``(1, 2)``, the wrist; ``arm`` ``(2, 2)``, the wrist and a point far
        up the arm.
    """
    closed, wrist = (_PINCH, _PINCH_WRIST) if pose.hold == "pinch" else _wrap(pose.radius)
    share = pose.closing
    chains = _OPEN * (1 - share) + closed * share
    wrist = _OPEN_WRIST * (1 - share) + wrist * share
    joints = dict(zip(FINGERS, chains, strict=True))
    elbow = _ELBOW - (side * pose.x * 0.75, pose.y)
    along = (elbow - wrist) / np.hypot(*(elbow - wrist))
    joints["palm"] = wrist[None]
    joints["arm"] = np.array([wrist, wrist + along * _LONGEST])
    return {name: chain * (side, 1.0) + (pose.x, pose.y) for name, chain in joints.items()}


def _wrap(radius: float) -> tuple[Floats, Floats]:
    """Return the joints of a hand whose fingers go behind something round."""
    r = radius
    chains = [
        [(r + 0.006, -0.044), (r * 0.62, -0.034), (r * 0.10, -0.023), (-r * 0.45 - 0.004, -0.014)]
    ]
    for x, y in ((0.016, 0.030), (0.021, 0.014), (0.021, -0.002), (0.016, -0.017)):
        chains.append(
            [(r + x, y), (r * 0.55, y + 0.010), (-r * 0.35, y + 0.008), (-r - 0.008, y + 0.002)]
        )
    return np.array(chains), np.array((r + 0.058, -0.082))


def extent_of(joints: HandJoints) -> Floats:
    """Return ``(2, 2)`` lower left and upper right corner in metres, from finger tips to wrist."""
    return _STYLE.extent_of(joints, (_WRIST,))


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

    def behind(self, pose: BenchPose, side: float) -> Sprite:
        """Return the fingers that go behind what is held; the origin is the grip."""
        return self._hand(pose, side, "behind")

    def before(self, pose: BenchPose, side: float) -> Sprite:
        """Return the palm, the thumb, and fingers that are not behind something."""
        wraps = pose.hold == "wrap" and pose.touching is not None
        return self._hand(pose, side, "palm" if wraps else "all")

    def arm(self, reach: float) -> Sprite:
        """Return an arm of at least ``reach`` metres that hangs from the wrist, its origin."""
        length = next((length for length in _LENGTHS if length >= reach), _LONGEST)
        half = _SLEEVE[1] / 2 + 0.004
        box = np.array(((-half, -length - 0.06), (half, 0.03)))
        return self._sprite(
            ("arm", length), box, lambda sketch: _paint_arm(sketch, length, self._look)
        )

    def _hand(self, pose: BenchPose, side: float, part: str) -> Sprite:
        stage = round(pose.closing * _STAGES)
        key = (part, side, pose.hold, pose.radius, stage)
        if key in self._kept:
            return self._kept[key]
        shape = BenchPose(0.0, 0.0, 0.0, stage / _STAGES, pose.hold, pose.radius)
        joints = joints_of(shape, side)
        box = extent_of(joints) + np.array(((-0.004,), (0.004,)))

        def paint(sketch: Sketch) -> None:
            if part != "palm":
                _paint_fingers(sketch, joints, self._look, 0.94 if part == "behind" else 1.0)
            if part != "behind":
                _paint_palm(sketch, joints, self._look)

        return self._sprite(key, box, paint)

    def _sprite(
        self, key: tuple[object, ...], box: Floats, paint: Callable[[Sketch], None]
    ) -> Sprite:
        if key not in self._kept:
            self._kept[key] = Sprite.painted(paint, box, self._scale, light=self._light)
        return self._kept[key]


def _paint_arm(sketch: Sketch, length: float, look: HandLook) -> None:
    """Draw the wrist at the origin and a sleeve that comes from below."""
    cuff, hem = -_BARE, -_BARE - 0.020
    sketch.tube([(0.0, 0.0), (0.0, cuff - 0.03)], [_WRIST, _WRIST * 1.04], look.skin)
    if look.gloves:  # the rolled edge of the glove
        sketch.stroke([(-0.029, cuff - 0.012), (0.029, cuff - 0.012)], 0.006, shade(look.skin, 0.8))
    wide = np.interp(length, (0.0, _LONGEST), _SLEEVE)
    sketch.tube([(0.0, hem - 0.03), (0.0, -length)], [_SLEEVE[0], wide], look.sleeve)
    sketch.rectangle(-0.040, hem, 0.040, hem - 0.03, shade(look.sleeve, 0.94))
    sketch.stroke([(-0.040, hem), (0.040, hem)], 0.005, shade(look.sleeve, 0.78))
    for y, way in ((-0.14, 1.0), (-0.24, -1.0), (-0.40, 1.0)):  # creases of the cloth
        if length > -y + 0.05:
            ends = [(-0.036 * way, y), (0.012 * way, y - 0.022)]
            sketch.stroke(ends, 0.0040, shade(look.sleeve, 0.84))


def _paint_fingers(sketch: Sketch, joints: HandJoints, look: HandLook, bright: float) -> None:
    """Draw all fingers but the thumb, from the little one to the index finger."""
    for number, name in enumerate(reversed(FINGERS[1:])):
        colour = shade(look.skin, bright * (0.93 + 0.02 * number))
        _STYLE.paint_finger(sketch, joints[name], colour)
        if not look.gloves:
            _STYLE.paint_nail(sketch, joints[name], colour)


def _paint_palm(sketch: Sketch, joints: HandJoints, look: HandLook) -> None:
    """Draw the back of the hand and the thumb."""
    wrist, thumb = joints["arm"][0], joints["thumb"]
    scale = sketch.scale
    widths = [0.023 * scale, 0.046 * scale]
    for grow, factor in ((0.003 * scale, 0.74), (0.0, 1.0)):
        for name in FINGERS[1:]:
            ends = sketch.view.pixels([joints[name][0], wrist])
            sketch.limb_pixels(ends, [width + grow for width in widths], shade(look.skin, factor))
    for name in FINGERS[1:4]:  # tendons and knuckles
        knuckle = joints[name][0]
        tendon = [knuckle * 0.8 + wrist * 0.2, knuckle * 0.45 + wrist * 0.55]
        sketch.stroke(tendon, 0.0024, shade(look.skin, 0.90))
        sketch.ellipse(knuckle, (0.013, 0.009), shade(look.skin, 1.10))
    sketch.limb([wrist, thumb[0]], [0.040, 0.030], shade(look.skin, 0.98))
    _STYLE.paint_finger(sketch, thumb, look.skin, thumb=True)
    if not look.gloves:
        _STYLE.paint_nail(sketch, thumb, look.skin)
