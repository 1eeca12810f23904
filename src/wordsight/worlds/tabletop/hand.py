"""The hand of the tabletop: its pose, its joints, and how it is painted around what it holds.

The origin of a hand is the point between the pads of thumb and fingers, where it holds things; the
arm comes from a shoulder outside the picture.
"""

from dataclasses import dataclass

import numpy as np

from wordsight.worlds.hands import FINGERS, FingerStyle, HandJoints, HandLook
from wordsight.worlds.painter import Floats, shade
from wordsight.worlds.sketch import Point, Sketch, turned

__all__ = [
    "TabletopPose",
    "arm_extent_of",
    "extent_of",
    "joints_of",
    "paint_arm",
    "paint_back",
    "paint_front",
]

_SHOULDER = (0.62, 0.98)  # metres beside and above the origin of the scene
_UPRIGHT = 0.42  # radians an arm leans when the hand is in the middle of the picture
_THICKNESS = 0.009  # metres from the skin of a pad to the middle of the finger tip

# Joints of a hand that holds something of no width, in metres: knuckle, two joints, tip. What is
# between the pads moves the outer joints apart.
_THUMB = ((-0.002, 0.112), (-0.026, 0.076), (-0.018, 0.034), (-0.001, -0.006))
_INDEX = ((0.030, 0.100), (0.024, 0.060), (0.016, 0.024), (0.001, -0.014))
_SPREAD = (0.25, 0.80, 1.0, 1.0)  # how much each joint follows the pads
_BEHIND = (0.0055, 0.0060)  # metres by which each finger is drawn further right and up

_STYLE = FingerStyle(
    finger=(0.0215, 0.0195, 0.0180, 0.0150),
    thumb=(0.0300, 0.0240, 0.0205, 0.0170),
    layers=((0.003, 0.72, 0.0), (0.0, 0.93, 0.0), (-0.006, 1.03, 0.0012)),
    nail=(0.014, 0.0095),
    nail_white=0.55,
)
_PALM = (0.052, 0.052, 0.052)  # metres across
_WRIST, _SLEEVE = 0.050, (0.078, 0.104)
_CUFF = 0.030  # metres
_BARE = 0.030  # metres of arm between wrist and cuff


@dataclass(frozen=True)
class TabletopPose:
    """What the hand is doing at one moment."""

    x: float  # metres; the point between the pads
    y: float  # metres above the table
    opening: float  # metres between the pads


def joints_of(pose: TabletopPose, look: HandLook) -> HandJoints:
    """Return the joints in metres.

    Returns:
        The fingers; ``palm`` ``(3, 2)``, the back of the hand from the knuckles to the wrist;
        ``arm`` ``(2, 2)``, the wrist and a point far up the arm.
    """
    side = -1.0 if look.left else 1.0
    half = pose.opening / 2 + _THICKNESS * look.size
    joints = {"thumb": _finger(_THUMB, -half, look.size)}
    for number, name in enumerate(FINGERS[1:]):
        short = 1.0 - 0.03 * abs(number - 1)
        joints[name] = _finger(_INDEX, half, look.size * short) + np.multiply(_BEHIND, number)
    shoulder = np.array((_SHOULDER[0] - side * pose.x, _SHOULDER[1] - pose.y))
    lean = np.arctan2(shoulder[0], shoulder[1]) * 0.75 + 0.25 * _UPRIGHT
    wrist = turned((0.008, 0.168), -0.55 * (lean - _UPRIGHT)) * look.size
    joints["palm"] = np.array(
        [np.array((0.012, 0.092)) * look.size, (wrist + np.array((0.016, 0.100))) / 2, wrist]
    )
    joints["arm"] = np.array([wrist, wrist + 0.75 * np.array((np.sin(lean), np.cos(lean)))])
    return {name: chain * (side, 1.0) + (pose.x, pose.y) for name, chain in joints.items()}


def _finger(chain: tuple[Point, ...], reach: float, size: float) -> Floats:
    points = np.array(chain) * size
    points[:, 0] += reach * np.array(_SPREAD)
    return points


def extent_of(joints: HandJoints, look: HandLook) -> Floats:
    """Return ``(2, 2)`` lower left and upper right corner in metres, from finger tips to wrist."""
    return _STYLE.extent_of(joints, _PALM, look.size)


def arm_extent_of(joints: HandJoints, look: HandLook) -> Floats:
    """Return ``(2, 2)`` lower left and upper right corner in metres of the arm with its sleeve."""
    wide = _SLEEVE[1] * look.size / 2 + 0.01
    return np.array([joints["arm"].min(axis=0) - wide, joints["arm"].max(axis=0) + wide])


def paint_back(sketch: Sketch, joints: HandJoints, look: HandLook) -> None:
    """Draw the fingers on the far side, behind what is held."""
    for number, name in ((3, "little"), (2, "ring"), (1, "middle")):
        colour = shade(look.skin, 0.97 - 0.09 * number)
        # Little of them shows, so a rim and one tone are enough.
        pixels = sketch.view.pixels(joints[name])
        widths = [width * look.size * sketch.scale for width in _STYLE.finger]
        sketch.limb_pixels(pixels, [width + 2.0 for width in widths], shade(colour, 0.72))
        sketch.limb_pixels(pixels, widths, colour)


def paint_front(sketch: Sketch, joints: HandJoints, look: HandLook) -> None:
    """Draw the palm, the thumb and the index finger, before what is held."""
    thumb, index, palm = joints["thumb"], joints["index"], joints["palm"]
    size, skin, dark = look.size, look.skin, shade(look.skin, 0.76)
    knuckles, wrist = index[0] + (joints["little"][0] - index[0]) * 0.5, palm[2]
    _STYLE.paint_finger(sketch, index, skin, size=size)
    for joint in (1, 2):
        sketch.ellipse(index[joint], (0.010 * size, 0.004), shade(skin, 0.88))
    sketch.tube([knuckles, wrist], [0.050 * size, 0.052 * size], shade(skin, 0.96))
    sketch.tube([thumb[0], wrist], [0.046 * size, 0.046 * size], skin)
    middle = (knuckles + thumb[0]) / 2
    sketch.limb([middle, palm[1]], [0.052 * size, 0.050 * size], shade(skin, 1.02))
    _STYLE.paint_finger(sketch, thumb, skin, thumb=True, size=size)
    _STYLE.paint_nail(sketch, thumb, skin, size=size)
    # Folds of the skin where thumb and palm meet, and at the knuckle.
    web = middle + (thumb[1] - thumb[0]) * 0.30
    sketch.stroke([web, middle + (wrist - middle) * 0.25], 0.0025, dark)
    knuckle = index[0] + (index[1] - index[0]) * 0.25
    sketch.stroke(np.add(((-0.007, 0.003), (0.007, 0.001)), knuckle), 0.0022, dark)


def paint_arm(sketch: Sketch, joints: HandJoints, look: HandLook) -> None:
    """Draw the wrist, the cuff and the sleeve."""
    wrist, far = joints["arm"]
    along = (far - wrist) / np.hypot(*(far - wrist))
    cuff = wrist + along * _BARE * look.size
    sketch.tube([wrist, cuff], [_WRIST * look.size] * 2, shade(look.skin, 0.96))
    sleeve = [width * look.size for width in _SLEEVE]
    sketch.tube([cuff + along * 0.03, far], sleeve, look.sleeve)
    across = np.array((-along[1], along[0])) * sleeve[0] / 2
    for start in (0.12, 0.21):  # creases of the cloth
        fold = cuff + along * start
        crease = [fold - across * 0.9, fold + across * 0.2 + along * 0.02]
        sketch.stroke(crease, 0.004, shade(look.sleeve, 0.80))
    edge = [cuff + across * 1.04, cuff - across * 1.04]
    sketch.polygon([*edge, edge[1] + along * _CUFF, edge[0] + along * _CUFF], look.cuff)
    sketch.stroke(edge, 0.004, shade(look.cuff, 0.75))
