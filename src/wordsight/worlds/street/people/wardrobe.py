"""What people look like: height, build, skin, hair and clothes, chosen at random."""

from dataclasses import dataclass

import numpy as np

from wordsight.worlds.painter import Colour

__all__ = ["Look", "cast_look"]

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
class Look:
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


def cast_look(rng: np.random.Generator) -> Look:
    """Choose the looks of a person at random."""

    def one_of(colours: tuple[Colour, ...]) -> Colour:
        return colours[int(rng.integers(len(colours)))]

    return Look(
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
