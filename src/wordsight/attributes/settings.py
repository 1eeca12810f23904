"""Settings of attribute learning; the defaults worked best on real photos."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from wordsight.attributes.features.pictures import PictureFeature
from wordsight.attributes.features.speech import SpeechFeatures
from wordsight.attributes.grouping.linear_mixture import Noise

__all__ = ["ANNEALED", "FAITHFUL", "RECOMMENDED", "AttributeSettings"]


@dataclass(frozen=True)
class AttributeSettings:
    """All settings of attribute learning.

    Attributes:
        pictures: Picture features: "recommended", "figures" (only the object that stands out from
            the background), "paper" or your own.
        speech: Speech features: "recommended", "paper" or your own.
        num_axes: Principal axes kept of each kind of picture feature; ``None`` keeps all columns.
        maps: "linear", or "nonlinear": kernel axes of every source are added, and used by an
            attribute whose words cannot be told apart by linear ones.
        num_attributes: The number of attributes; ``None`` to estimate it.
        num_words: The number of distinct recorded words; ``None`` to estimate it.
        several: Whether texts are split at spaces and recordings at pauses into several words.
        directions: Canonical directions: a number, "permutation" or "held-out".
        ridge: Of canonical correlation, for pictures and for speech.
        method: "exclusivity" groups words that never co-occur into attributes; "mixture" groups
            pairs by a mixture of linear maps, as in the paper; "variational" by one that finds how
            many maps there are and which directions each looks at.
        relations: Whether to look for words over words ("warm" over red and yellow) and for words
            of two attributes ("orange"), of the method "exclusivity" and among spelled words.
        neighbours: Number of similar pictures in which words may co-occur.
        iterations: Steps of EM.
        annealed: Whether EM uses deterministic annealing.
        restarts: Number of starts of EM; the likeliest result is kept.
        noise: Noise of the linear maps: "full", "diagonal" or "isotropic".
        map_ridge: Pseudo-samples of the prior that linear maps are flat.
        printed_step: Whether the E-step omits the mixing weights, as printed in the paper.
        recall: "discriminant" (shrunken linear discriminants), "nearest" (the word of the nearest
            picture) or "nearest-sound" (the recording nearest to the prediction of the linear map).
        random_state: Seed.
    """

    pictures: str | Sequence[PictureFeature] = "recommended"
    speech: str | SpeechFeatures = "recommended"
    num_axes: int | None = 30
    maps: Literal["linear", "nonlinear"] = "linear"
    num_attributes: int | None = None
    num_words: int | None = None
    several: bool = True
    directions: int | Literal["permutation", "held-out"] = "permutation"
    ridge: tuple[float, float] = (0.1, 0.5)
    method: Literal["exclusivity", "mixture", "variational"] = "exclusivity"
    relations: bool = True
    neighbours: int = 6
    iterations: int = 60
    annealed: bool = True
    restarts: int = 1
    noise: Noise = "full"
    map_ridge: float = 1.0
    printed_step: bool = False
    recall: Literal["discriminant", "nearest", "nearest-sound"] = "discriminant"
    random_state: int = 0


RECOMMENDED = AttributeSettings()
"""Exclusivity, recommended features, discriminants."""

ANNEALED = AttributeSettings(method="mixture")
"""The paper's mixture on recommended features, annealed."""

FAITHFUL = AttributeSettings(
    pictures="paper",
    speech="paper",
    num_axes=None,
    directions=10,
    ridge=(0.0, 0.0),
    method="mixture",
    iterations=30,
    annealed=False,
    noise="isotropic",
    map_ridge=0.0,
    printed_step=True,
    recall="nearest",
)
"""The published method as it is printed, but for the missing square in its Eq. 4.

Nothing is regularised, and "gaussian noise" is read as isotropic.
"""
