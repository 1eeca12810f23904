"""People of the street: their looks, their poses, the joints of a pose, and how they are painted.

Lengths of bones are shares of the body height, after common tables of human proportions.
"""

import math
from dataclasses import dataclass

import numpy as np

from wordsight.worlds.checks import Rng, pick
from wordsight.worlds.painter import Colour, Floats, palette, shade
from wordsight.worlds.sketch import Point, Sketch

__all__ = [
    "JOINTS",
    "PersonLook",
    "Pose",
    "cast_look",
    "extent_of",
    "joints_of",
    "middle_of",
    "paint_body",
    "paint_near_arm",
]

Joints = dict[str, Floats]

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


def cast_look(rng: Rng) -> PersonLook:
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


@dataclass
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


def joints_of(pose: Pose, height: float) -> Floats:
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


def middle_of(joints: Floats) -> Floats:
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


# Painting a person from its joints: limbs, clothes, face and hair.

_FAR = 0.74  # brightness of the limbs on the far side

# Half-widths in metres around joints for the box of a person; what is painted reaches so far.
_REACH = {"head": 0.125, "near_toe": 0.03, "far_toe": 0.03, "near_ankle": 0.05, "far_ankle": 0.05}
_REACH_ELSEWHERE = 0.055
_TRUNK = 0.125


def extent_of(joints: Floats, look: PersonLook) -> Floats:
    """Return ``(..., 4)`` left, bottom, right, top in metres of the person with these joints."""
    reach = np.array([_REACH.get(name, _REACH_ELSEWHERE) for name in JOINTS])
    for name in ("chest", "pelvis"):
        reach[JOINTS.index(name)] = _TRUNK * look.build
    low = (joints - reach[:, None]).min(axis=-2)
    high = (joints + reach[:, None]).max(axis=-2)
    low[..., 1] = np.maximum(low[..., 1], 0.0)
    return np.concatenate([low, high], axis=-1)


def paint_body(sketch: Sketch, joints: Floats, look: PersonLook, facing: float) -> None:
    """Draw everything but the near arm."""
    at = dict(zip(JOINTS, joints, strict=True))
    _paint_arm(sketch, at, look, "far", _FAR)
    _paint_leg(sketch, at, look, "far", facing, _FAR)
    _paint_leg(sketch, at, look, "near", facing, 1.0)
    _paint_trunk(sketch, at, look, facing)
    _paint_head(sketch, at, look, facing)


def paint_near_arm(sketch: Sketch, joints: Floats, look: PersonLook) -> None:
    """Draw the arm on the side of the camera, which lies over what it holds."""
    _paint_arm(sketch, dict(zip(JOINTS, joints, strict=True)), look, "near", 1.0)


def _paint_arm(sketch: Sketch, at: Joints, look: PersonLook, side: str, bright: float) -> None:
    shoulder, elbow, hand = (at[f"{side}_{part}"] for part in ("shoulder", "elbow", "hand"))
    skin, sleeve = shade(look.skin, bright), shade(look.top, bright * 0.94)
    wrist = elbow + (hand - elbow) * 0.86
    width = look.build
    sketch.ellipse(hand, (0.085, 0.085), skin)
    lit = side == "near"  # far limbs are in the shade of the body
    if look.long_sleeves or look.jacket:
        sketch.tube([elbow, wrist], [0.088 * width, 0.066 * width], sleeve, lit=lit)
    else:
        sketch.tube([elbow, wrist], [0.076 * width, 0.056 * width], skin, lit=lit)
    sketch.tube([shoulder, elbow], [0.112 * width, 0.092 * width], sleeve, lit=lit)


def _paint_leg(
    sketch: Sketch, at: Joints, look: PersonLook, side: str, facing: float, bright: float
) -> None:
    hip, knee, ankle, toe = (at[f"{side}_{part}"] for part in ("hip", "knee", "ankle", "toe"))
    cloth, width, lit = shade(look.bottom, bright), look.build, side == "near"
    if look.shorts:
        skin = shade(look.skin, bright)
        sketch.tube([knee, ankle], [0.086 * width, 0.062 * width], skin, lit=lit)
    shoe = shade(look.shoes, bright)
    heel = np.add(ankle, (-0.045 * facing, -0.045))
    back, front = (np.add(ankle, (ahead * facing, 0.02)) for ahead in (-0.05, 0.04))
    sketch.polygon([back, front, toe, heel], shoe)
    sketch.stroke([np.add(heel, (0.0, 0.005)), toe], 0.045, shoe)
    sketch.stroke(np.add([heel, toe], (0.0, -0.018)), 0.016, shade(shoe, 0.55))
    if not look.shorts:
        sketch.tube([knee, ankle], [0.110 * width, 0.082 * width], cloth, lit=lit)
    sketch.tube([hip, knee], [0.168 * width, 0.118 * width], cloth, lit=lit)


def _paint_trunk(sketch: Sketch, at: Joints, look: PersonLook, facing: float) -> None:
    pelvis, chest, neck = at["pelvis"], at["chest"], at["neck"]
    width = look.build
    sketch.tube([neck, at["head"]], [0.10, 0.10], shade(look.skin, 0.88))
    waist = pelvis + (chest - pelvis) * 0.35
    shoulders = pelvis + (neck - pelvis) * 0.90
    sketch.tube([pelvis, waist], [0.215 * width, 0.20 * width], look.bottom)
    spine = [pelvis + (waist - pelvis) * 0.35, waist, chest, shoulders]
    sketch.tube(spine, [0.225 * width, 0.215 * width, 0.255 * width, 0.155 * width], look.top)
    up = (neck - pelvis) / max(float(np.hypot(*(neck - pelvis))), 1e-9)
    front = np.array([up[1], -up[0]]) * facing
    if look.jacket:
        # A strip of the shirt shows where the jacket is open.
        inner = (236, 234, 226) if sum(look.top) < 480 else (70, 78, 96)
        edge = [point + front * 0.085 * width for point in spine[:3]]
        sketch.stroke([*edge, shoulders + front * 0.05], 0.045, inner)
        seam = [point + front * 0.052 * width for point in spine[:3]]
        sketch.stroke([*seam, shoulders + front * 0.03], 0.012, shade(look.top, 0.6))
    collar = [shoulders - front * 0.045 + up * 0.03, shoulders + front * 0.055 + up * 0.02]
    sketch.stroke(collar, 0.030, shade(look.top, 0.72))
    hem, half = spine[0] - up * 0.085, front * 0.070 * width
    sketch.stroke([hem - half, hem + half], 0.020, shade(look.top, 0.62))


def _paint_head(sketch: Sketch, at: Joints, look: PersonLook, facing: float) -> None:
    head, neck = at["head"], at["neck"]
    tilt = math.atan2(head[0] - neck[0], head[1] - neck[1])
    (x, y), cosine, sine = head.tolist(), math.cos(tilt), math.sin(tilt)

    def spot(ahead: float, up: float) -> Floats:
        """Return a point of the head: metres towards the face and towards the crown."""
        ahead *= facing
        return np.array((x + cosine * ahead + sine * up, y - sine * ahead + cosine * up))

    degrees = math.degrees(tilt)
    dark = shade(look.hair, 0.8)
    if look.hair_style == "long":
        locks = [spot(-0.045, 0.04), spot(-0.075, -0.06), spot(-0.07, -0.15)]
        sketch.tube(locks, [0.13, 0.11, 0.07], dark)
    if look.hair_style == "bun":
        sketch.ellipse(spot(-0.105, 0.07), (0.085, 0.085), dark)
    sketch.ellipse(spot(-0.022, 0.028), (0.195, 0.205), look.hair, degrees)
    sketch.ellipse(spot(0.018, -0.012), (0.158, 0.215), look.skin, degrees)
    sketch.polygon([spot(0.085, 0.015), spot(0.118, -0.028), spot(0.085, -0.035)], look.skin)
    sketch.ellipse(spot(-0.030, -0.015), (0.034, 0.052), shade(look.skin, 0.82), degrees)
    sketch.ellipse(spot(0.062, 0.018), (0.020, 0.028), (28, 24, 24), degrees)
    sketch.stroke([spot(0.045, 0.045), spot(0.080, 0.043)], 0.012, dark)
    sketch.stroke([spot(0.052, -0.066), spot(0.086, -0.064)], 0.013, shade(look.skin, 0.6))
    if look.hair_style == "cap":
        cap = shade(look.shoes if sum(look.shoes) > 200 else look.top, 0.9)
        sketch.ellipse(spot(-0.008, 0.062), (0.205, 0.135), cap, degrees)
        sketch.stroke([spot(0.05, 0.045), spot(0.165, 0.030)], 0.026, shade(cap, 0.75))
    else:
        fringe = [spot(-0.11, 0.02), spot(-0.08, 0.105), spot(0.0, 0.130), spot(0.075, 0.098)]
        brow = [spot(0.088, 0.055), spot(-0.02, 0.062), spot(-0.06, 0.0)]
        sketch.polygon([*fringe, *brow], look.hair)
