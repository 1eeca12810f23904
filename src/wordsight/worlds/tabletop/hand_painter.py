"""Painting the hand of the tabletop: fingers behind and before what it holds, palm and sleeve."""

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.painter import Colour, mix, shade
from wordsight.worlds.sketch import Sketch
from wordsight.worlds.tabletop.hand import BlockHandLook

__all__ = ["arm_extent_of", "extent_of", "paint_arm", "paint_back", "paint_front"]

Joints = dict[str, NDArray[np.float64]]

_FINGER = (0.0215, 0.0195, 0.0180, 0.0150)  # metres across, from the knuckle to the tip
_THUMB = (0.0300, 0.0240, 0.0205, 0.0170)
_PALM = (0.052, 0.052, 0.052)
_WRIST, _SLEEVE = 0.050, (0.078, 0.104)
_CUFF = 0.030  # metres
_BARE = 0.030  # metres of arm between wrist and cuff


def extent_of(joints: Joints, look: BlockHandLook) -> NDArray[np.float64]:
    """Return ``(2, 2)`` lower left and upper right corner in metres, from finger tips to wrist."""
    widths = {"thumb": _THUMB, "palm": _PALM}
    low, high = [], []
    for name, chain in joints.items():
        if name == "arm":
            continue
        radius = np.array(widths.get(name, _FINGER))[:, None] * look.size / 2
        low.append((chain - radius).min(axis=0))
        high.append((chain + radius).max(axis=0))
    return np.array([np.min(low, axis=0), np.max(high, axis=0)])


def arm_extent_of(joints: Joints, look: BlockHandLook) -> NDArray[np.float64]:
    """Return ``(2, 2)`` lower left and upper right corner in metres of the arm with its sleeve."""
    wide = _SLEEVE[1] * look.size / 2 + 0.01
    return np.array([joints["arm"].min(axis=0) - wide, joints["arm"].max(axis=0) + wide])


def paint_back(sketch: Sketch, joints: Joints, look: BlockHandLook) -> None:
    """Draw the fingers on the far side, behind what is held."""
    for number, name in ((3, "little"), (2, "ring"), (1, "middle")):
        colour = shade(look.skin, 0.97 - 0.09 * number)
        # Little of them shows, so a rim and one tone are enough.
        pixels = sketch.view.pixels(joints[name])
        widths = [width * look.size * sketch.view.scale for width in _FINGER]
        sketch.layer.limb(pixels, [width + 2.0 for width in widths], shade(colour, 0.72))
        sketch.layer.limb(pixels, widths, colour)


def paint_front(sketch: Sketch, joints: Joints, look: BlockHandLook) -> None:
    """Draw the palm, the thumb and the index finger, before what is held."""
    thumb, index, palm = joints["thumb"], joints["index"], joints["palm"]
    size, dark = look.size, shade(look.skin, 0.76)
    knuckles, wrist = index[0] + (joints["little"][0] - index[0]) * 0.5, palm[2]
    _paint_finger(sketch, index, look, look.skin)
    sketch.tube([knuckles, wrist], [0.050 * size, 0.052 * size], shade(look.skin, 0.96))
    sketch.tube([thumb[0], wrist], [0.046 * size, 0.046 * size], look.skin)
    middle = (knuckles + thumb[0]) / 2
    sketch.layer.limb(
        sketch.view.pixels([middle, palm[1]]),
        [0.052 * size * sketch.view.scale, 0.050 * size * sketch.view.scale],
        shade(look.skin, 1.02),
    )
    _paint_chain(sketch, thumb, [width * size for width in _THUMB], look.skin)
    _paint_nail(sketch, thumb, look)
    # Folds of the skin where thumb and palm meet, and at the knuckle.
    web = middle + (thumb[1] - thumb[0]) * 0.30
    sketch.stroke([web, middle + (wrist - middle) * 0.25], 0.0025, dark)
    knuckle = index[0] + (index[1] - index[0]) * 0.25
    sketch.stroke(np.add(((-0.007, 0.003), (0.007, 0.001)), knuckle), 0.0022, dark)


def paint_arm(sketch: Sketch, joints: Joints, look: BlockHandLook) -> None:
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
        sketch.stroke([fold - across * 0.9, fold + across * 0.2 + along * 0.02], 0.004,
                      shade(look.sleeve, 0.80))  # fmt: skip
    edge = [cuff + across * 1.04, cuff - across * 1.04]
    sketch.polygon([*edge, edge[1] + along * _CUFF, edge[0] + along * _CUFF], look.cuff)
    sketch.stroke(edge, 0.004, shade(look.cuff, 0.75))


def _paint_finger(
    sketch: Sketch, chain: NDArray[np.float64], look: BlockHandLook, colour: Colour
) -> None:
    _paint_chain(sketch, chain, [width * look.size for width in _FINGER], colour)
    for joint in (1, 2):
        sketch.ellipse(chain[joint], (0.010 * look.size, 0.004), shade(colour, 0.88))


def _paint_chain(
    sketch: Sketch, chain: NDArray[np.float64], widths: list[float], colour: Colour
) -> None:
    # A darker rim keeps fingers apart that overlap; one outline at a time, so that no joint shows.
    scale, pixels = sketch.view.scale, sketch.view.pixels(chain)
    for extra, factor, shift in ((0.003, 0.72, 0.0), (0.0, 0.93, 0.0), (-0.006, 1.03, 0.0012)):
        moved = pixels + np.array((np.sign(sketch.light) * shift, -shift)) * scale
        sketch.layer.limb(moved, [(w + extra) * scale for w in widths], shade(colour, factor))


def _paint_nail(sketch: Sketch, chain: NDArray[np.float64], look: BlockHandLook) -> None:
    along = (chain[3] - chain[2]) / np.hypot(*(chain[3] - chain[2]))
    degrees = float(np.degrees(np.arctan2(-along[1], along[0])))
    nail = mix(look.skin, (255, 236, 228), 0.55)
    sketch.ellipse(chain[3] + along * 0.001, (0.014 * look.size, 0.0095 * look.size), nail, degrees)
