"""The hand of the tabletop: where it is, how far it is open, and where its joints are then.

The origin of a hand is the point between the pads of thumb and fingers, where it holds things; the
arm comes from a shoulder outside the picture.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.sketch import turned

__all__ = ["FINGERS", "BlockHandLook", "BlockHandPose", "joints_of"]

FINGERS = ("thumb", "index", "middle", "ring", "little")
"""In the order of drawing from front to back, the thumb first."""

_SHOULDER = (0.62, 0.98)  # metres beside and above the origin of the scene
_UPRIGHT = 0.42  # radians an arm leans when the hand is in the middle of the picture
_THICKNESS = 0.009  # metres from the skin of a pad to the middle of the finger tip

# Joints of a hand that holds something of no width, in metres: knuckle, two joints, tip. What is
# between the pads moves the outer joints apart.
_THUMB = ((-0.002, 0.112), (-0.026, 0.076), (-0.018, 0.034), (-0.001, -0.006))
_INDEX = ((0.030, 0.100), (0.024, 0.060), (0.016, 0.024), (0.001, -0.014))
_SPREAD = (0.25, 0.80, 1.0, 1.0)  # how much each joint follows the pads
_BEHIND = (0.0055, 0.0060)  # metres by which each finger is drawn further right and up


@dataclass(frozen=True)
class BlockHandPose:
    """What a hand is doing at one moment.

    Attributes:
        x: Metres; the point between the pads.
        y: Metres above the table.
        opening: Metres between the pads.
    """

    x: float
    y: float
    opening: float


@dataclass(frozen=True)
class BlockHandLook:
    """What a hand looks like.

    Attributes:
        skin: Its colour.
        sleeve: Colour of the sleeve.
        cuff: Colour of the cuff.
        left: Whether the arm comes from the left.
        size: 1 for an average adult.
    """

    skin: tuple[int, int, int]
    sleeve: tuple[int, int, int]
    cuff: tuple[int, int, int]
    left: bool
    size: float


def joints_of(pose: BlockHandPose, look: BlockHandLook) -> dict[str, NDArray[np.float64]]:
    """Return the joints in metres.

    Returns:
        For each of :data:`FINGERS` ``(4, 2)`` knuckle to tip; ``palm`` ``(3, 2)`` the back of the
        hand from the knuckles to the wrist; ``arm`` ``(2, 2)`` wrist and a point far up the arm.
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


def _finger(
    chain: tuple[tuple[float, float], ...], reach: float, size: float
) -> NDArray[np.float64]:
    points = np.array(chain) * size
    points[:, 0] += reach * np.array(_SPREAD)
    return points
