"""Distinct regions of a single image, whether or not they ever move.

There are two cues. Edges divide the image into flat zones: large zones are ground (wall, floor,
road, table), what remains between them, without thin lines, are whole objects, and small zones are
objects or parts of one colour. Blobs of a colour that is rare around them are objects even in front
of bricks, tiles or leaves. No single threshold of edge strength or rarity fits all images, so
several are tried, and each candidate is scored by its contrast with the ring around it.
"""

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.perception.detectors.suppression import areas, intersections, suppress
from wordsight.perception.regions.blob import (
    Blob,
    Mask,
    Picture,
    above,
    blobs_of,
    boxes_of,
    components,
    cut_out,
    gradient,
    weigh,
)

__all__ = ["contrast", "parts_of", "rarity", "static_regions"]


# Rarity of a pixel's colour: bricks with mortar, tiles, grass and hedges have colours that are
# common around them; the orange of a cone in front of them is rare, whatever the texture. Rarity is
# measured in bits: 3 bits mean that one pixel in eight around has a similar colour.

_CELL = 16  # side in pixels of the cells in which colours are counted
_WINDOW = 0.6  # size of the neighbourhood as a share of width and height
_ALIKE = 7.0  # CIELAB distance of similar colours
_LIGHT_STEPS, _COLOUR_STEPS = 11, 26  # lightness in steps of 24, a and b in steps of 10
_LEAST = 1e-4  # least share of a colour


def rarity(lab: Picture) -> NDArray[np.float32]:
    """Return the ``(H, W)`` rarity in bits of the colours of an ``(H, W, 3)`` CIELAB image."""
    bins, colours = _binned(lab)
    height, width = lab.shape[:2]
    rows, columns = -(-height // _CELL), -(-width // _CELL)
    cell = (np.arange(height) // _CELL)[:, None] * columns + np.arange(width) // _CELL
    places = bins * (rows * columns) + cell
    counts = np.bincount(places.ravel(), minlength=len(colours) * rows * columns)
    around = _summed_around(counts.reshape(len(colours), rows, columns))
    around /= around.sum(axis=0)
    apart = ((colours[:, None] - colours[None]) ** 2).sum(axis=2)
    kernel = np.exp(-apart / (2 * _ALIKE**2)).astype(np.float32)
    # OpenCV multiplies in this thread; numpy would use all cores for a matrix this small.
    alike = cv2.gemm(kernel, around.reshape(len(colours), -1), 1.0, kernel, 0.0)
    bits = -np.log2(np.maximum(alike, _LEAST)).ravel()
    return np.asarray(cv2.blur(bits[places], (3, 3)), np.float32)


def _binned(lab: Picture) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return the ``(H, W)`` index of each pixel's colour, and the ``(K, 3)`` colours in use."""
    lightness = lab[..., 0] // 24
    code = lightness.astype(np.int32) * _COLOUR_STEPS + lab[..., 1] // 10
    code *= _COLOUR_STEPS
    code += lab[..., 2] // 10
    used = np.flatnonzero(np.bincount(code.ravel(), minlength=_LIGHT_STEPS * _COLOUR_STEPS**2))
    number = np.zeros(_LIGHT_STEPS * _COLOUR_STEPS**2, np.int32)
    number[used] = np.arange(len(used), dtype=np.int32)
    light, rest = np.divmod(used, _COLOUR_STEPS**2)
    a, b = np.divmod(rest, _COLOUR_STEPS)
    # A step of lightness weighs half, as in all colour distances here.
    return number[code], np.stack([light * 12.0, a * 10.0, b * 10.0], axis=1).astype(np.float32)


def _summed_around(counts: NDArray[np.int64]) -> NDArray[np.float32]:
    """Sum ``(K, rows, columns)`` counts over the window around each cell."""
    _, rows, columns = counts.shape
    total = np.zeros((counts.shape[0], rows + 1, columns + 1), np.float32)
    total[:, 1:, 1:] = counts.cumsum(axis=1).cumsum(axis=2)
    top, bottom = _reach(rows)
    left, right = _reach(columns)
    lower, upper = total[:, bottom], total[:, top]
    summed: NDArray[np.float32] = (
        lower[:, :, right] - lower[:, :, left] - upper[:, :, right] + upper[:, :, left]
    )
    return summed


def _reach(cells: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    half = int(cells * _WINDOW) // 2
    centre = np.arange(cells)
    return np.maximum(centre - half, 0), np.minimum(centre + half + 1, cells)


_EDGE_STRENGTHS = (8, 14, 24)  # colour distance from one pixel to the next
_RARITIES = (2.5, 3.2, 4.0, 5.0, 6.0)  # bits
_RARE = 6.0  # bits; rarer colours count no more
_GROUND_SHARE = 0.04  # larger zones that touch the edge of the image are ground
_LARGEST_SHARE = 0.3  # larger regions are background
_LEAST_SHARE = 0.0007  # 54 pixels of 320 x 240
_USUAL_SHARE = 0.008  # smaller objects get lower scores
_LARGE_SHARE = 0.08  # larger boxes get lower scores
_EDGE_WEIGHT = 0.6  # background extends beyond the edge of the image, most objects do not
_LEAST_SIDE = 5
_ZONE_WEIGHT = 0.8  # background has edges as well; rare colours are the better cue
_PART_WEIGHT = 0.6  # a zone inside a whole object is rarely named by a noun
_MOST_CANDIDATES = 40  # of each kind, the largest first
_SAME = 0.8  # candidates with a larger overlap are duplicates
_NOISE = 6.0  # differences from shading and compression
_CLEAR = 25.0  # a clear difference
_MOST_TRIM = 2  # pixels by which an edge is blurred
_BLOCK = np.ones((3, 3), np.uint8)
_SPECK = np.ones((2, 2), np.uint8)


def static_regions(lab: Picture, limit: int) -> list[Blob]:
    """Find up to ``limit`` distinct regions of an ``(H, W, 3)`` CIELAB image, best first."""
    bits = rarity(lab)
    wholes, zones = _between_edges(lab)
    weighed = (
        (1.0, _unlike(_rare_patches(bits))),
        (_ZONE_WEIGHT, _unlike(wholes)),
        (_ZONE_WEIGHT * _PART_WEIGHT, _unlike(zones)),
    )
    judged = [
        blob.scored(weight * _distinctness(blob, lab, bits))
        for weight, blobs in weighed
        for blob in blobs
    ]
    return [_tight(blob, lab) for blob in _best(_wholes_first(judged), limit)]


def parts_of(blob: Blob, lab: Picture, limit: int) -> list[Blob]:
    """Find up to ``limit`` regions of one colour inside a blob, such as what a person carries."""
    margin = 2
    y1, x1 = max(0, blob.y1 - margin), max(0, blob.x1 - margin)
    window = lab[y1 : blob.y2 + margin, x1 : blob.x2 + margin]
    steps = gradient(np.asarray(cv2.medianBlur(window, 3), np.uint8))
    top, left = blob.y1 - y1, blob.x1 - x1
    own = np.zeros_like(steps)
    own[top : top + blob.height, left : left + blob.width] = blob.mask
    least = max(int(0.06 * blob.area), int(_LEAST_SHARE * lab.shape[0] * lab.shape[1]))
    parts = [
        _grown(part, (y1, x1), lab.shape[:2])
        for strength in _EDGE_STRENGTHS[1:]
        for part in blobs_of(_flat(steps, strength) & own, least, least_side=_LEAST_SIDE)
        if part.area < 0.7 * blob.area
    ]
    return [part.scored(_PART_WEIGHT * contrast(part, lab)) for part in _unlike(parts)[:limit]]


def contrast(blob: Blob, lab: Picture) -> float:
    """Return the contrast of a blob with the ring around it, 0 to 1."""
    apart, inside, ring = _against_ring(blob, lab)
    if cv2.countNonZero(ring) < 10:  # it fills the image
        return 0.0
    own, spread = cv2.mean(apart, inside)[0], cv2.mean(apart, ring)[0]
    return float(own / (own + spread + _NOISE) * min(1.0, own / _CLEAR))


def _against_ring(blob: Blob, lab: Picture) -> tuple[Picture, Mask, Mask]:
    """Return colour distances from the ring around a blob, and masks of the blob and the ring.

    All three cover the blob's box with a margin.
    """
    pad = max(4, min(blob.width, blob.height) // 4)
    height, width = lab.shape[:2]
    y1, x1 = max(0, blob.y1 - pad), max(0, blob.x1 - pad)
    y2, x2 = min(height, blob.y2 + pad), min(width, blob.x2 + pad)
    inside = np.zeros((y2 - y1, x2 - x1), np.uint8)
    inside[blob.y1 - y1 : blob.y2 - y1, blob.x1 - x1 : blob.x2 - x1] = blob.mask
    near = cv2.dilate(inside, _BLOCK, iterations=2)
    ring = np.asarray(cv2.dilate(inside, _BLOCK, iterations=pad) - near, np.uint8)
    window = lab[y1:y2, x1:x2]
    around: Any = cv2.mean(window, ring)  # OpenCV broadcasts a single colour
    return weigh(np.asarray(cv2.absdiff(window, around), np.uint8)), inside, ring


def _tight(blob: Blob, lab: Picture) -> Blob:
    """Remove the outermost rows and columns that have the colour of the ring."""
    apart, inside, _ = _against_ring(blob, lab)
    clear = above(apart, 0.5 * cv2.mean(apart, inside)[0]) & inside
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    core_rows, core_columns = np.flatnonzero(clear.any(axis=1)), np.flatnonzero(clear.any(axis=0))
    if not len(core_rows):
        return blob
    top, bottom = core_rows[0] - rows[0], rows[-1] - core_rows[-1]
    left, right = core_columns[0] - columns[0], columns[-1] - core_columns[-1]
    top, bottom, left, right = (min(int(side), _MOST_TRIM) for side in (top, bottom, left, right))
    piece = blob.piece(left, top, blob.width - right, blob.height - bottom)
    return piece if piece.area else blob


def _distinctness(blob: Blob, lab: Picture, bits: NDArray[np.float32]) -> float:
    rare = min(1.0, cv2.mean(blob.crop(bits), blob.mask)[0] / _RARE)
    return contrast(blob, lab) * rare * _likelihood(blob, bits.shape)


def _likelihood(blob: Blob, shape: tuple[int, ...]) -> float:
    """Return a weight for the size and position of a blob: is it detail, object or background?"""
    height, width = shape
    share = blob.width * blob.height / (height * width)
    size = min(1.0, np.sqrt(blob.area / (_USUAL_SHARE * height * width)), _LARGE_SHARE / share)
    reaches = blob.x1 <= 1 or blob.y1 <= 1 or blob.x2 >= width - 1 or blob.y2 >= height - 1
    return float(size * (_EDGE_WEIGHT if reaches else 1.0))


def _flat(steps: Picture, strength: int) -> Mask:
    return np.asarray(cv2.bitwise_not(above(steps, strength)), np.uint8)


def _rare_patches(bits: NDArray[np.float32]) -> list[Blob]:
    found: list[Blob] = []
    for level in _RARITIES:
        mask = (bits > level).view(np.uint8) * np.uint8(255)
        mask = np.asarray(cv2.morphologyEx(mask, cv2.MORPH_OPEN, _SPECK), np.uint8)
        found += _things_in(mask)
    return found


def _between_edges(lab: Picture) -> tuple[list[Blob], list[Blob]]:
    """Return whole objects between the zones of ground, and small zones."""
    steps = gradient(np.asarray(cv2.medianBlur(lab, 5), np.uint8))
    wholes: list[Blob] = []
    parts: list[Blob] = []
    for strength in _EDGE_STRENGTHS:
        ground, zones = _ground_and_zones(_flat(steps, strength))
        # Dilation restores what the edge took from the ground; opening removes the lines between
        # two zones of ground.
        figure = cv2.bitwise_not(cv2.dilate(ground, _BLOCK))
        wholes += _things_in(np.asarray(cv2.morphologyEx(figure, cv2.MORPH_OPEN, _BLOCK), np.uint8))
        parts += zones
    return wholes, parts


def _ground_and_zones(flat: Mask) -> tuple[Mask, list[Blob]]:
    total = flat.size
    labels, stats = components(flat)
    x, y, width, height, sizes = stats.T
    touches = (x == 0) | (y == 0) | (x + width == flat.shape[1]) | (y + height == flat.shape[0])
    ground = (sizes > _LARGEST_SHARE * total) | touches & (sizes > _GROUND_SHARE * total)
    fits = ~ground & (sizes > _LEAST_SHARE * total) & (np.minimum(width, height) >= _LEAST_SIDE)
    fits &= sizes > 0.3 * width * height
    ground[0] = fits[0] = False
    zones = [
        _grown(cut_out(labels, stats[index], index), (0, 0), flat.shape)
        for index in np.flatnonzero(fits).tolist()
    ]
    return np.where(ground, 255, 0).astype(np.uint8)[labels], zones


def _things_in(mask: Mask) -> list[Blob]:
    height, width = mask.shape
    return [
        blob
        for blob in blobs_of(mask, int(_LEAST_SHARE * mask.size), least_side=_LEAST_SIDE)
        if blob.area < _LARGEST_SHARE * mask.size
        and blob.width < 0.8 * width
        and blob.height < 0.95 * height
        and blob.area > 0.15 * blob.width * blob.height
    ]


def _grown(blob: Blob, offset: tuple[int, int], shape: tuple[int, ...]) -> Blob:
    # An edge is three pixels wide and the zone begins beside it: restore one pixel.
    y, x = offset
    y1, x1 = max(0, blob.y1 + y - 1), max(0, blob.x1 + x - 1)
    y2, x2 = min(shape[0], blob.y2 + y + 1), min(shape[1], blob.x2 + x + 1)
    mask = np.zeros((y2 - y1, x2 - x1), np.uint8)
    top, left = blob.y1 + y - y1, blob.x1 + x - x1
    mask[top : top + blob.height, left : left + blob.width] = blob.mask
    grown = np.asarray(cv2.dilate(mask, _BLOCK), np.uint8)
    return Blob(x1, y1, x2, y2, grown, int(cv2.countNonZero(grown)))


def _unlike(blobs: list[Blob]) -> list[Blob]:
    """Keep the largest of near-duplicate candidates, up to a limit."""
    sizes = np.array([blob.area for blob in blobs], np.float64)
    kept = suppress(boxes_of(blobs), sizes, _SAME, limit=_MOST_CANDIDATES)
    return [blobs[index] for index in kept.tolist()]


def _wholes_first(blobs: list[Blob]) -> list[Blob]:
    """Lower the score of candidates inside a larger one that is not much worse."""
    boxes, scores = boxes_of(blobs), np.array([blob.score for blob in blobs])
    sizes = areas(boxes)
    inside = (intersections(boxes, boxes) > 0.85 * sizes[:, None]) & (
        sizes[None, :] > 1.3 * sizes[:, None]
    )
    within = np.where(inside, scores[None, :], 0).max(axis=1, initial=0)
    return [
        blob.scored(_PART_WEIGHT * blob.score) if whole > 0.5 * blob.score else blob
        for blob, whole in zip(blobs, within.tolist(), strict=True)
    ]


def _best(blobs: list[Blob], limit: int) -> list[Blob]:
    scores = np.array([blob.score for blob in blobs])
    kept = suppress(boxes_of(blobs), scores, 0.5, limit=limit)
    return [blobs[index] for index in kept.tolist()]
