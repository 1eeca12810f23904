"""Visualising models: their components as ellipses, random pictures, and evidence maps."""

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.mixtures.gaussian import Mixtures
from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.visual.features import Array, FeatureScale, VisualFeatures

__all__ = ["draw_components", "draw_evidence", "draw_random_picture"]

Image = NDArray[np.uint8]

_PAPER = (247, 247, 245)
_INK = (52, 56, 64)
_ELLIPSE_SIGMAS = 2.0  # standard deviations of an ellipse
_SAMPLES_PER_BLOCK = 6  # enough that hardly a gap remains
_DARKENING = 0.75  # of pixels without evidence


def draw_random_picture(
    mixture: Mixtures,
    scale: FeatureScale,
    features: VisualFeatures,
    *,
    size: tuple[int, int] = (352, 264),
    random_state: int = 0,
) -> Image:
    """Draw samples from a model and paint each at its place.

    Args:
        mixture: One mixture, on the scale.
        scale: The scale of the collection.
        features: The features of the samples.
        size: Width and height in pixels.
        random_state: Seed.

    Returns:
        ``(H, W, 3)`` RGB.
    """
    width, height = size
    random = np.random.default_rng(random_state)
    side = features.render(scale.center[None]).shape[1]
    count = _SAMPLES_PER_BLOCK * (width // side + 1) * (height // side + 1)
    values = scale.restore(mixture.draw(0, count, random)[0])
    blocks = features.render(values)
    picture = np.full((height, width, 3), _PAPER, dtype=np.uint8)
    across, down = features.places[:2]
    left = np.rint(values[:, across] * width - side / 2).astype(int)
    top = np.rint(values[:, down] * height - side / 2).astype(int)
    for x, y, block in zip(left, top, blocks, strict=True):
        _paste(picture, block, int(x), int(y))
    return picture


def draw_components(
    mixture: Mixtures,
    scale: FeatureScale,
    features: VisualFeatures,
    *,
    size: tuple[int, int] = (352, 264),
) -> Image:
    """Draw each component of a model at its place.

    An ellipse covers two standard deviations and is filled with the component's mean colour and
    texture; bars at the right edge show the weights.

    Args:
        mixture: One mixture, on the scale.
        scale: The scale of the collection.
        features: The features of the samples.
        size: Width and height of the picture plane in pixels.

    Returns:
        ``(H, W + margin, 3)`` RGB.
    """
    import cv2

    width, height = size
    margin = width // 6
    picture = np.full((height, width + margin, 3), _PAPER, dtype=np.uint8)
    means = scale.restore(mixture.means[0])
    tiles = features.render(means)
    across, down = features.places[:2]
    spread = np.sqrt(mixture.variances[0]) * scale.spread
    weights = mixture.weights[0]
    # The widest first, so that small ones stay visible.
    for c in np.argsort(-spread[:, across] * spread[:, down], kind="stable").tolist():
        if weights[c] <= 0:
            continue
        center = (round(means[c, across] * width), round(means[c, down] * height))
        axes = (
            max(3, round(_ELLIPSE_SIGMAS * spread[c, across] * width)),
            max(3, round(_ELLIPSE_SIGMAS * spread[c, down] * height)),
        )
        mask = np.zeros((height, width), dtype=np.uint8)
        cv2.ellipse(mask, center, axes, 0, 0, 360, 255, -1)
        filling = np.tile(tiles[c], (height // 8 + 1, width // 8 + 1, 1))[:height, :width]
        plane = picture[:, :width]
        plane[mask > 0] = filling[mask > 0]
        cv2.ellipse(plane, center, axes, 0, 0, 360, _INK, 1, cv2.LINE_AA)
    _draw_weights(picture[:, width:], weights, tiles)
    return picture


def draw_evidence(image: Image, boxes: Array, evidence: Array) -> Image:
    """Darken the blocks of a query picture that are no evidence for a document.

    Args:
        image: The query ``(H, W, 3)`` RGB.
        boxes: ``(N, 4)`` boxes of its samples.
        evidence: ``(N,)`` evidence of each, 0 or more.
    """
    if len(boxes) != len(evidence):
        raise RetrievalError(f"each of {len(boxes)} boxes needs evidence, got {len(evidence)}.")
    height, width = image.shape[:2]
    total, counts = np.zeros((height, width)), np.zeros((height, width))
    for (x1, y1, x2, y2), value in zip(np.rint(boxes).astype(int), evidence, strict=True):
        total[y1:y2, x1:x2] += value
        counts[y1:y2, x1:x2] += 1
    share = total / np.maximum(counts, 1)
    share /= max(float(np.quantile(share, 0.98)), 1e-9)
    light = 1.0 - _DARKENING * (1.0 - np.clip(share, 0.0, 1.0))
    lit: Image = np.rint(image * light[:, :, None]).astype(np.uint8)
    return lit


def _draw_weights(strip: Image, weights: Array, tiles: Image) -> None:
    """Draw a bar per component in its mean colour, as high as its weight."""
    import cv2

    height, width = strip.shape[:2]
    step = (width - 8) / len(weights)
    tallest = max(float(weights.max()), 1e-9)
    for c, weight in enumerate(weights.tolist()):
        left, right = round(6 + c * step), round(6 + (c + 1) * step) - 1
        top = height - 6 - round((height - 12) * weight / tallest * 0.5)
        colour = tuple(int(v) for v in tiles[c].reshape(-1, 3).mean(axis=0))
        cv2.rectangle(strip, (left, top), (right, height - 6), colour, -1)
        cv2.rectangle(strip, (left, top), (right, height - 6), _INK, 1)


def _paste(picture: Image, block: Image, left: int, top: int) -> None:
    height, width = picture.shape[:2]
    side = len(block)
    x1, y1, x2, y2 = max(left, 0), max(top, 0), min(left + side, width), min(top + side, height)
    if x1 < x2 and y1 < y2:
        picture[y1:y2, x1:x2] = block[y1 - top : y2 - top, x1 - left : x2 - left]
