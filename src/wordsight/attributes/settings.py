"""How attributes are learned: everything that can be chosen, with what worked on real photos."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from wordsight.attributes.features.pictures import PictureFeature
from wordsight.attributes.features.speech import SpeechFeatures

__all__ = ["ANNEALED", "FAITHFUL", "RECOMMENDED", "AttributeSettings"]


@dataclass(frozen=True)
class AttributeSettings:
    """Everything about learning but the data.

    Attributes:
        pictures: Picture features: "recommended", "figures" (things before a plain background,
            with their size), "paper" or your own.
        speech: Speech features: "recommended", "paper" or your own.
        num_axes: Main axes kept of each kind of picture feature; ``None`` keeps all columns.
        num_attributes: How many attributes there are; ``None`` finds out.
        num_words: How many different words recordings hold; ``None`` finds out.
        several: Whether texts are cut at spaces and recordings at pauses into several words.
        directions: Canonical directions: a number, "permutation" or "held-out".
        ridge: Of canonical correlation, for pictures and for speech.
        method: "exclusivity" divides words into attributes by which never meet; "mixture" divides
            pairs by a mixture of linear maps, as in the paper.
        neighbours: Similar pictures on which words may meet.
        iterations: Steps of EM.
        annealed: Whether EM starts hot, where attributes are hard to tell apart, and cools.
        restarts: How often EM starts anew; the likeliest end is kept.
        printed_step: Whether the E-step leaves out the mixing weights, as it is printed.
        recall: "discriminant" (shrunken linear discriminants), "nearest" (the word of the nearest
            picture) or "nearest-sound" (the recording nearest to what the linear map expects).
        random_state: Seed of everything random.
    """

    pictures: str | Sequence[PictureFeature] = "recommended"
    speech: str | SpeechFeatures = "recommended"
    num_axes: int | None = 30
    num_attributes: int | None = None
    num_words: int | None = None
    several: bool = True
    directions: int | Literal["permutation", "held-out"] = "permutation"
    ridge: tuple[float, float] = (0.1, 0.5)
    method: Literal["exclusivity", "mixture"] = "exclusivity"
    neighbours: int = 6
    iterations: int = 60
    annealed: bool = True
    restarts: int = 1
    printed_step: bool = False
    recall: Literal["discriminant", "nearest", "nearest-sound"] = "discriminant"
    random_state: int = 0


RECOMMENDED = AttributeSettings()
"""Word types and exclusivity, good features, discriminants."""

ANNEALED = AttributeSettings(method="mixture")
"""The paper's mixture on good features, cooled slowly."""

FAITHFUL = AttributeSettings(
    pictures="paper",
    speech="paper",
    num_axes=None,
    directions=10,
    ridge=(0.1, 0.1),
    method="mixture",
    iterations=30,
    annealed=False,
    printed_step=True,
    recall="nearest",
)
"""The method as published (with the square restored in its Eq. 4), to compare with."""
