"""The body of a person: from what it does (walk, bend, reach) to where its joints are.

Lengths are shares of the body height, after common tables of human proportions.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["JOINTS", "Pose", "joints_of", "middle_of"]

JOINTS = (
    *("head", "neck", "chest", "pelvis"),
    *("near_shoulder", "near_elbow", "near_hand", "far_shoulder", "far_elbow", "far_hand"),
    *("near_hip", "near_knee", "near_ankle", "near_toe"),
    *("far_hip", "far_knee", "far_ankle", "far_toe"),
)
"""Names of the joints in the order of the arrays."""

_INDEX = {name: index for index, name in enumerate(JOINTS)}

_HIP, _ANKLE, _FOOT = 0.515, 0.042, 0.115
_SPINE, _SHOULDERS, _HEAD = 0.300, 0.275, 0.105
_THIGH = _SHIN = 0.242
_UPPER_ARM, _FOREARM = 0.172, 0.165
_DEEPEST_LEAN = 1.05  # radians the back leans at the bottom of a bend


@dataclass(frozen=True)
class Pose:
    """What a person is doing at one moment.

    Attributes:
        x: Where the person stands, metres.
        facing: 1 looks right, -1 left, between them while turning.
        crouch: 0 upright, 1 bent down to the ground.
        phase: Cycles of the gait done, one for two steps.
        stride: Metres of a whole cycle, both steps; 0 while standing.
        speed: Metres per second, without sign.
        reach: Where the near hand wants to be, metres.
        reaching: 0 the arms hang or swing, 1 the hand is at ``reach``.
        both_hands: Whether the far hand goes there, too.
    """

    x: float
    facing: float
    crouch: float = 0.0
    phase: float = 0.0
    stride: float = 0.0
    speed: float = 0.0
    reach: tuple[float, float] = (0.0, 0.0)
    reaching: float = 0.0
    both_hands: bool = False


def joints_of(pose: Pose, height: float) -> NDArray[np.float64]:
    """Return ``(18, 2)`` metres, in the order of :data:`JOINTS`."""
    where: dict[str, tuple[float, float]] = {}
    lean = pose.crouch * _DEEPEST_LEAN + 0.05 * min(pose.speed, 2.5)
    bob = 0.012 * height * math.cos(4 * math.pi * pose.phase) * min(pose.stride, 1.0)
    pelvis = (
        pose.x - pose.facing * pose.crouch * 0.055 * height,
        height * (_HIP - 0.125 * pose.crouch) + bob,
    )
    neck = _along(pelvis, lean * pose.facing, _SPINE * height)
    where["pelvis"], where["neck"] = pelvis, neck
    where["chest"] = _along(pelvis, lean * pose.facing, 0.72 * _SPINE * height)
    where["head"] = _along(neck, 0.55 * lean * pose.facing, _HEAD * height)
    for side, offset in (("near", 0.0), ("far", 0.5)):
        _add_leg(where, side, offset, pose, height)
        _add_arm(where, side, offset, pose, height, lean)
    return np.array([where[name] for name in JOINTS])


def middle_of(joints: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the middle of the body, half-way between head and pelvis, from ``(..., 18, 2)``."""
    return (joints[..., _INDEX["head"], :] + joints[..., _INDEX["pelvis"], :]) / 2


def _add_leg(
    where: dict[str, tuple[float, float]], side: str, offset: float, pose: Pose, height: float
) -> None:
    # A foot stands still on the ground for half a cycle, then swings forward.
    share = (pose.phase + offset) % 1.0
    quarter = pose.stride / 4
    if share < 0.5:
        ahead, lift = quarter * (1 - 4 * share), 0.0
    else:
        swing = 2 * share - 1
        ahead = quarter * (2 * swing * swing * (3 - 2 * swing) - 1)
        lift = 0.16 * pose.stride * math.sin(math.pi * swing)
    stance = (0.045 if side == "near" else -0.045) * height * max(1 - 2 * pose.stride, 0.0)
    ankle = (
        pose.x + (ahead + stance) * pose.facing,
        _ANKLE * height + lift,
    )
    hip = where["pelvis"]
    where[f"{side}_hip"] = hip
    knee, ankle = _bend(hip, ankle, _THIGH * height, _SHIN * height, _turn(pose.facing))
    where[f"{side}_knee"], where[f"{side}_ankle"] = knee, ankle
    droop = 0.35 * lift / height
    where[f"{side}_toe"] = (
        ankle[0] + pose.facing * _FOOT * height,
        max(ankle[1] - (_ANKLE - 0.010 + droop) * height, 0.012 * height),
    )


def _add_arm(
    where: dict[str, tuple[float, float]],
    side: str,
    offset: float,
    pose: Pose,
    height: float,
    lean: float,
) -> None:
    shoulder = _along(where["pelvis"], lean * pose.facing, _SHOULDERS * height)
    # Arms swing against the legs; fast walkers bend them.
    swing = -0.45 * min(pose.stride, 1.2) * math.cos(2 * math.pi * (pose.phase + offset))
    hang = pose.facing * (swing + 0.06 + 0.12 * pose.crouch)
    elbow = _along(shoulder, math.pi - hang, _UPPER_ARM * height)
    bent = hang + pose.facing * (0.15 + 0.42 * min(pose.speed, 2.4))
    hand = _along(elbow, math.pi - bent, _FOREARM * height)
    takes_part = pose.reaching if side == "near" or pose.both_hands else 0.0
    if takes_part > 0:
        goal = (pose.reach[0] + (0.03 * pose.facing if side == "far" else 0.0), pose.reach[1])
        hand = (
            hand[0] + (goal[0] - hand[0]) * takes_part,
            hand[1] + (goal[1] - hand[1]) * takes_part,
        )
    elbow, hand = _bend(shoulder, hand, _UPPER_ARM * height, _FOREARM * height, -_turn(pose.facing))
    where[f"{side}_shoulder"], where[f"{side}_elbow"] = shoulder, elbow
    where[f"{side}_hand"] = hand


def _turn(facing: float) -> float:
    return 1.0 if facing >= 0 else -1.0


def _along(start: tuple[float, float], angle: float, length: float) -> tuple[float, float]:
    """Go ``length`` from ``start``; angle 0 is up and turns to the right."""
    return start[0] + length * math.sin(angle), start[1] + length * math.cos(angle)


def _bend(
    root: tuple[float, float],
    tip: tuple[float, float],
    upper: float,
    lower: float,
    side: float,
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Find the knee or elbow between two ends; a tip out of reach comes as near as it can.

    Args:
        root: Hip or shoulder.
        tip: Ankle or hand.
        upper: Length of the first bone.
        lower: Length of the second.
        side: 1 bends towards the right of the way down, -1 towards its left.
    """
    dx, dy = tip[0] - root[0], tip[1] - root[1]
    distance = max(math.hypot(dx, dy), 1e-6)
    ux, uy = dx / distance, dy / distance
    reach = min(max(distance, abs(upper - lower) + 1e-6), (upper + lower) * 0.999)
    along = (upper * upper - lower * lower + reach * reach) / (2 * reach)
    out = math.sqrt(max(upper * upper - along * along, 0.0)) * side
    joint = (root[0] + ux * along - uy * out, root[1] + uy * along + ux * out)
    return joint, (root[0] + ux * reach, root[1] + uy * reach)
