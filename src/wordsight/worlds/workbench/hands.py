"""The hands at the workbench: what they are doing, and where their joints are then."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.painter import Colour

__all__ = ["FINGERS", "HandLook", "HandPose", "joints_of"]

FINGERS = ("thumb", "index", "middle", "ring", "little")
"""The fingers, the thumb first."""

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
_ARM = 0.85  # metres of it that are drawn


@dataclass(frozen=True)
class HandLook:
    """What the hands of one person look like.

    Attributes:
        skin: Colour of the gloves, or of the skin if there are none.
        sleeve: Colour of the sleeves.
        gloves: Whether there are gloves.
    """

    skin: Colour
    sleeve: Colour
    gloves: bool


@dataclass(frozen=True)
class HandPose:
    """What a hand is doing at one moment.

    Attributes:
        x: Metres right, as seen; the point it grips.
        y: Metres up, as seen.
        depth: Metres from the near edge of the bench; tells what is in front.
        closing: 0 open, 1 closed on something.
        hold: ``wrap`` or ``pinch``.
        radius: Metres from the grip to the palm that wraps something.
        touching: Name of the thing it touches, or None.
        holding: Whether it moves that thing.
    """

    x: float
    y: float
    depth: float
    closing: float = 0.0
    hold: str = "pinch"
    radius: float = 0.02
    touching: str | None = None
    holding: bool = False


def joints_of(pose: HandPose, side: float) -> dict[str, NDArray[np.float64]]:
    """Return the joints in metres as seen.

    Args:
        pose: What the hand is doing.
        side: 1 for the right hand, -1 for the left.

    Returns:
        For each of :data:`FINGERS` ``(4, 2)`` knuckle to tip, and ``arm`` ``(2, 2)``, the wrist
        and a point far up the arm.
    """
    closed, wrist = (_PINCH, _PINCH_WRIST) if pose.hold == "pinch" else _wrap(pose.radius)
    share = pose.closing
    chains = _OPEN * (1 - share) + closed * share
    wrist = _OPEN_WRIST * (1 - share) + wrist * share
    joints = dict(zip(FINGERS, chains, strict=True))
    elbow = _ELBOW - (side * pose.x * 0.75, pose.y)
    along = (elbow - wrist) / np.hypot(*(elbow - wrist))
    joints["arm"] = np.array([wrist, wrist + along * _ARM])
    return {name: chain * (side, 1.0) + (pose.x, pose.y) for name, chain in joints.items()}


def _wrap(radius: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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
