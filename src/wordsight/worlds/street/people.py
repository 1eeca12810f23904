"""The body of a person: from what it does (walk, bend, reach) to where its joints are.

Lengths are shares of the body height, after common tables of human proportions.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.painter import Colour

__all__ = ["JOINTS", "PersonLook", "Pose", "cast_look", "joints_of", "middle_of"]


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


# MERGED FROM wordsight.worlds.street.people:
# What people look like: height, build, skin, hair and clothes, chosen at random.


_SKINS: tuple[Colour, ...] = (
    (244, 206, 176),
    (228, 182, 148),
    (198, 148, 112),
    (152, 104, 74),
    (112, 74, 52),
)
_HAIRS: tuple[Colour, ...] = (
    (38, 28, 24),
    (84, 54, 34),
    (150, 104, 56),
    (206, 168, 98),
    (150, 150, 152),
    (128, 52, 26),
)
_TOPS: tuple[Colour, ...] = (
    (192, 58, 62),
    (58, 98, 172),
    (70, 140, 86),
    (226, 186, 72),
    (124, 84, 152),
    (226, 226, 220),
    (72, 148, 162),
    (206, 122, 62),
    (60, 62, 76),
    (214, 132, 156),
)
_BOTTOMS: tuple[Colour, ...] = (
    (48, 62, 100),
    (38, 40, 48),
    (106, 92, 74),
    (74, 86, 66),
    (120, 122, 128),
)
_SHOES: tuple[Colour, ...] = ((32, 32, 36), (92, 60, 40), (222, 222, 222), (150, 40, 44))


@dataclass(frozen=True)
class PersonLook:
    """How one person looks.

    Attributes:
        height: Metres.
        build: Breadth of trunk and limbs; 1 is medium.
        skin: Colour of face and hands.
        hair: Colour of the hair.
        hair_style: ``short``, ``long``, ``bun`` or ``cap``.
        top: Colour of shirt or jacket.
        long_sleeves: Whether the sleeves reach the wrists.
        jacket: Whether it is an open jacket over a shirt.
        bottom: Colour of the trousers.
        shorts: Whether the shins are bare.
        shoes: Colour of the shoes.
    """

    height: float
    build: float
    skin: Colour
    hair: Colour
    hair_style: str
    top: Colour
    long_sleeves: bool
    jacket: bool
    bottom: Colour
    shorts: bool
    shoes: Colour


def cast_look(rng: np.random.Generator) -> PersonLook:
    """Choose the looks of a person at random."""

    def one_of(colours: tuple[Colour, ...]) -> Colour:
        return colours[int(rng.integers(len(colours)))]

    return PersonLook(
        height=round(float(rng.uniform(1.60, 1.84)), 3),
        build=round(float(rng.uniform(0.88, 1.14)), 3),
        skin=one_of(_SKINS),
        hair=one_of(_HAIRS),
        hair_style=str(rng.choice(["short", "short", "long", "bun", "cap"])),
        top=one_of(_TOPS),
        long_sleeves=bool(rng.random() < 0.6),
        jacket=bool(rng.random() < 0.4),
        bottom=one_of(_BOTTOMS),
        shorts=bool(rng.random() < 0.2),
        shoes=one_of(_SHOES),
    )
