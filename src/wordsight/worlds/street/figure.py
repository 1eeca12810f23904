"""Painting a person from its joints: limbs, clothes, face and hair."""

import math

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.painter import shade
from wordsight.worlds.sketch import Sketch
from wordsight.worlds.street.people import JOINTS, PersonLook

__all__ = ["extent_of", "paint_body", "paint_near_arm"]

Joints = dict[str, NDArray[np.float64]]

_FAR = 0.74  # brightness of the limbs on the far side

# Half-widths in metres around joints for the box of a person; what is painted reaches so far.
_REACH = {"head": 0.125, "near_toe": 0.03, "far_toe": 0.03, "near_ankle": 0.05, "far_ankle": 0.05}
_REACH_ELSEWHERE = 0.055
_TRUNK = 0.125


def extent_of(joints: NDArray[np.float64], look: PersonLook) -> NDArray[np.float64]:
    """Return ``(..., 4)`` left, bottom, right, top in metres of the person with these joints."""
    reach = np.array([_REACH.get(name, _REACH_ELSEWHERE) for name in JOINTS])
    for name in ("chest", "pelvis"):
        reach[JOINTS.index(name)] = _TRUNK * look.build
    low = (joints - reach[:, None]).min(axis=-2)
    high = (joints + reach[:, None]).max(axis=-2)
    low[..., 1] = np.maximum(low[..., 1], 0.0)
    return np.concatenate([low, high], axis=-1)


def paint_body(
    sketch: Sketch, joints: NDArray[np.float64], look: PersonLook, facing: float
) -> None:
    """Draw everything but the near arm."""
    at = dict(zip(JOINTS, joints, strict=True))
    _paint_arm(sketch, at, look, "far", _FAR)
    _paint_leg(sketch, at, look, "far", facing, _FAR)
    _paint_leg(sketch, at, look, "near", facing, 1.0)
    _paint_trunk(sketch, at, look, facing)
    _paint_head(sketch, at, look, facing)


def paint_near_arm(sketch: Sketch, joints: NDArray[np.float64], look: PersonLook) -> None:
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

    def spot(ahead: float, up: float) -> NDArray[np.float64]:
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
