"""People of the street: their random looks, their poses, and the joints of a pose.

Lengths of bones are shares of the body height, after common tables of human proportions.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.film import pick
from wordsight.worlds.painter import Colour, palette
from wordsight.worlds.sketch import Point

__all__ = ["JOINTS", "PersonLook", "Pose", "cast_look", "joints_of", "middle_of"]

JOINTS = (
    *("head", "neck", "chest", "pelvis"),
    *("near_shoulder", "near_elbow", "near_hand", "far_shoulder", "far_elbow", "far_hand"),
    *("near_hip", "near_knee", "near_ankle", "near_toe"),
    *("far_hip", "far_knee", "far_ankle", "far_toe"),
)
"""Names of the joints in the order of the arrays."""

_HIP, _ANKLE, _FOOT = 0.515, 0.042, 0.115
_SPINE, _SHOULDERS, _HEAD = 0.300, 0.275, 0.105
_THIGH = _SHIN = 0.242
_UPPER_ARM, _FOREARM = 0.172, 0.165
_DEEPEST_LEAN = 1.05  # radians the back leans at the bottom of a bend

_SKINS = palette("f4ceb0 e4b694 c69470 98684a 704a34")
_HAIRS = palette("261c18 543622 966838 cea862 969698 80341a")
_TOPS = palette("c03a3e 3a62ac 468c56 e2ba48 7c5498 e2e2dc 4894a2 ce7a3e 3c3e4c d6849c")
_BOTTOMS = palette("303e64 262830 6a5c4a 4a5642 787a80")
_SHOES = palette("202024 5c3c28 dedede 96282c")


@dataclass(frozen=True)
class PersonLook:
    """How one person looks."""

    height: float  # metres
    build: float  # breadth of trunk and limbs; 1 is medium
    skin: Colour
    hair: Colour
    hair_style: str  # short, long, bun or cap
    top: Colour  # shirt or jacket
    long_sleeves: bool
    jacket: bool  # an open jacket over a shirt
    bottom: Colour  # trousers
    shorts: bool
    shoes: Colour


def cast_look(rng: np.random.Generator) -> PersonLook:
    """Draw the look of a person."""
    return PersonLook(
        height=round(float(rng.uniform(1.60, 1.84)), 3),
        build=round(float(rng.uniform(0.88, 1.14)), 3),
        skin=pick(_SKINS, rng),
        hair=pick(_HAIRS, rng),
        hair_style=str(rng.choice(["short", "short", "long", "bun", "cap"])),
        top=pick(_TOPS, rng),
        long_sleeves=bool(rng.random() < 0.6),
        jacket=bool(rng.random() < 0.4),
        bottom=pick(_BOTTOMS, rng),
        shorts=bool(rng.random() < 0.2),
        shoes=pick(_SHOES, rng),
    )


@dataclass(frozen=True)
class Pose:
    """What a person is doing at one moment."""

    x: float  # position in metres
    facing: float  # 1 looks right, -1 left, between them while turning
    crouch: float = 0.0  # 0 upright, 1 bent down to the ground
    phase: float = 0.0  # cycles of the gait done, one for two steps
    stride: float = 0.0  # metres of a whole cycle, both steps; 0 while standing
    speed: float = 0.0  # metres per second, without sign
    reach: Point = (0.0, 0.0)  # goal of the near hand
    reaching: float = 0.0  # 0 the arms hang or swing, 1 the hand is at ``reach``
    both_hands: bool = False  # whether the far hand goes there, too


def joints_of(pose: Pose, height: float) -> NDArray[np.float64]:
    """Return ``(18, 2)`` metres, in the order of :data:`JOINTS`."""
    joints: dict[str, Point] = {}
    lean = pose.crouch * _DEEPEST_LEAN + 0.05 * min(pose.speed, 2.5)
    bob = 0.012 * height * math.cos(4 * math.pi * pose.phase) * min(pose.stride, 1.0)
    pelvis = (
        pose.x - pose.facing * pose.crouch * 0.055 * height,
        height * (_HIP - 0.125 * pose.crouch) + bob,
    )
    neck = _along(pelvis, lean * pose.facing, _SPINE * height)
    joints["pelvis"], joints["neck"] = pelvis, neck
    joints["chest"] = _along(pelvis, lean * pose.facing, 0.72 * _SPINE * height)
    joints["head"] = _along(neck, 0.55 * lean * pose.facing, _HEAD * height)
    for side, offset in (("near", 0.0), ("far", 0.5)):
        _add_leg(joints, side, offset, pose, height)
        _add_arm(joints, side, offset, pose, height, lean)
    return np.array([joints[name] for name in JOINTS])


def middle_of(joints: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the middle of the body, half-way between head and pelvis, from ``(..., 18, 2)``."""
    return (joints[..., JOINTS.index("head"), :] + joints[..., JOINTS.index("pelvis"), :]) / 2


def _add_leg(joints: dict[str, Point], side: str, offset: float, pose: Pose, height: float) -> None:
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
    ankle = (pose.x + (ahead + stance) * pose.facing, _ANKLE * height + lift)
    hip, turn = joints["pelvis"], 1.0 if pose.facing >= 0 else -1.0
    knee, ankle = _bend(hip, ankle, _THIGH * height, _SHIN * height, turn)
    joints[f"{side}_hip"], joints[f"{side}_knee"], joints[f"{side}_ankle"] = hip, knee, ankle
    droop = 0.35 * lift / height
    joints[f"{side}_toe"] = (
        ankle[0] + pose.facing * _FOOT * height,
        max(ankle[1] - (_ANKLE - 0.010 + droop) * height, 0.012 * height),
    )


def _add_arm(
    joints: dict[str, Point], side: str, offset: float, pose: Pose, height: float, lean: float
) -> None:
    shoulder = _along(joints["pelvis"], lean * pose.facing, _SHOULDERS * height)
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
    turn = -1.0 if pose.facing >= 0 else 1.0
    elbow, hand = _bend(shoulder, hand, _UPPER_ARM * height, _FOREARM * height, turn)
    arm = {"shoulder": shoulder, "elbow": elbow, "hand": hand}
    joints.update({f"{side}_{name}": point for name, point in arm.items()})


def _along(start: Point, angle: float, length: float) -> Point:
    """Go ``length`` from ``start``; angle 0 is up and turns to the right."""
    return start[0] + length * math.sin(angle), start[1] + length * math.cos(angle)


def _bend(root: Point, tip: Point, upper: float, lower: float, side: float) -> tuple[Point, Point]:
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
