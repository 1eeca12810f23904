"""Rendered pictures of coloured plastic number blocks, as the paper photographed: 10 x 4 x 3."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["COLOURS", "SHAPES", "SIZES", "WORDS", "Blocks", "render_blocks"]

COLOURS = ("red", "blue", "yellow", "green")
SHAPES = tuple(str(digit) for digit in range(10))
SIZES = ("small", "medium", "large")

WORDS = {
    "red": "あか",
    "blue": "あお",
    "yellow": "きいろ",
    "green": "みどり",
    "0": "ぜろ",
    "1": "いち",
    "2": "に",
    "3": "さん",
    "4": "よん",
    "5": "ご",
    "6": "ろく",
    "7": "なな",
    "8": "はち",
    "9": "きゅう",
    "small": "ちいさい",
    "medium": "ちゅうくらい",
    "large": "おおきい",
}
"""The paper's 17 Japanese words, as a reader of kana says them."""

_WIDTH, _HEIGHT = 320, 240
_PAINT = {
    "red": (200, 45, 45),
    "blue": (45, 80, 200),
    "yellow": (225, 200, 50),
    "green": (45, 150, 70),
}
_HEIGHTS = {"small": 60, "medium": 95, "large": 150}  # pixels of the figure


@dataclass(frozen=True)
class Blocks:
    """Pictures and the truth about them.

    Attributes:
        images: RGB ``(240, 320, 3)``.
        truth: ``(N, 3)`` colour, shape and size.
    """

    images: list[NDArray[np.uint8]]
    truth: NDArray[np.str_]


def render_blocks(
    per_category: int = 29, random_state: int = 0, *, constant_light: bool = False
) -> Blocks:
    """Render every colour, shape and size with small changes of place, direction and light.

    Args:
        per_category: Pictures of each combination.
        random_state: Seed.
        constant_light: Whether brightness, tint and its fall over the desk are always the same;
            places and directions are those of the pictures with light that changes.
    """
    random = np.random.default_rng(random_state)
    images, truth = [], []
    for colour in COLOURS:
        for shape in SHAPES:
            for size in SIZES:
                for _ in range(per_category):
                    images.append(_photo(colour, shape, size, random, constant_light))
                    truth.append((colour, shape, size))
    return Blocks(images, np.array(truth))


def _photo(
    colour: str, shape: str, size: str, random: np.random.Generator, constant_light: bool
) -> NDArray[np.uint8]:
    light = random.uniform(0.75, 1.15)
    tint = 1 + random.normal(0, 0.03, 3)
    ends = random.uniform(0.92, 1.0), random.uniform(0.92, 1.0)
    if constant_light:
        light, tint, ends = 1.0, np.ones(3), (1.0, 1.0)
    desk = np.array([168, 160, 148]) * light * tint
    fall = np.linspace(*ends, _WIDTH)
    image = np.tile(desk * fall[:, None], (_HEIGHT, 1, 1)).astype(np.float32)
    figure = _figure(shape, _HEIGHTS[size] * random.uniform(0.95, 1.05), random)
    shadow = np.roll(figure, (4, 5), axis=(0, 1))[..., None]
    image *= 1 - 0.35 * shadow
    paint = (np.array(_PAINT[colour]) * light * tint).astype(np.float32)
    # A bright upper left edge and a dark lower right one: the block is a few centimetres thick.
    relief = figure - np.roll(figure, (3, 3), axis=(0, 1))
    painted = paint + 45 * relief[..., None]
    image = image * (1 - figure[..., None]) + painted * figure[..., None]
    image += 4 * random.standard_normal(image.shape, dtype=np.float32)
    return np.clip(image, 0, 255).astype(np.uint8)


def _figure(shape: str, height: float, random: np.random.Generator) -> NDArray[np.float32]:
    """Return ``(240, 320)`` how much of each pixel the digit covers."""
    canvas = np.zeros((240, 240), dtype=np.uint8)
    font, scale, thickness = cv2.FONT_HERSHEY_DUPLEX, 7.0, 34
    (width, tall), _ = cv2.getTextSize(shape, font, scale, thickness)
    corner = ((240 - width) // 2, (240 + tall) // 2)
    cv2.putText(canvas, shape, corner, font, scale, 255, thickness, cv2.LINE_AA)
    rows = np.flatnonzero(canvas.any(axis=1))
    zoom = height / (rows[-1] - rows[0] + 1)
    turn = cv2.getRotationMatrix2D((120, 120), random.uniform(-8, 8), zoom)
    turn[:, 2] += np.array([_WIDTH / 2, _HEIGHT / 2]) - 120 + random.uniform(-14, 14, 2)
    moved = cv2.warpAffine(canvas, turn, (_WIDTH, _HEIGHT), flags=cv2.INTER_AREA)
    return np.asarray(moved, dtype=np.float32) / 255
