"""How a text's own counts are mixed with what is known of the texts around it.

Every smoothing here scores a text by the sum over query terms of ``log(1 + something)`` where the
term occurs, the form in which only matching terms count (6.23); what is left out does not depend on
the text and is returned by :meth:`Smoothing.background`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wordsight.retrieval.errors import RetrievalError

__all__ = [
    "Dirichlet",
    "Interpolation",
    "JelinekMercer",
    "Smoothing",
    "TwoStage",
    "smoothing_from_json",
]

Array = NDArray[np.float64]
_LEAST_SHARE = 1e-12  # of the background: without any, a missing word would rule a text out


class Smoothing(Protocol):
    """What a language model asks of its smoothing."""

    @property
    def num_levels(self) -> int:
        """How many levels of texts, from shots upwards, have a share of their own."""

    def evidence(self, counts: Sequence[Array], lengths: Sequence[Array], background: Any) -> Array:
        """Return ``log(P(term | text) / P(term | an unrelated text))`` for n occurrences.

        Args:
            counts: For each level ``(n,)`` how often the term occurs there.
            lengths: For each level ``(n,)`` how many words there are.
            background: The term's share of the collection; a number or ``(n,)``.
        """

    def length_cost(self, lengths: Array) -> Array | None:
        """Return ``(N,)`` what each query term costs a text for its length alone, or ``None``."""

    def background(self, probabilities: Array) -> Array:
        """Return the log-probability of terms in a text without them, the length cost apart."""

    def to_json(self) -> dict[str, Any]:
        """Return its name and settings as JSON can hold them."""


@dataclass(frozen=True)
class Interpolation:
    r"""Shot, scene, ... and collection mixed: :math:`\sum_l \lambda_l P(t|l) + \lambda_C P(t)`.

    The collection takes what the levels leave (6.24).

    Attributes:
        weights: Share of each level, from the text itself upwards; together less than 1.
    """

    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", tuple(float(w) for w in self.weights))
        if not self.weights or min(self.weights) < 0 or self.rest < _LEAST_SHARE:
            raise RetrievalError(
                "each level needs a share of 0 or more, and together they must leave something "
                f"for the collection; got {self.weights}."
            )

    @property
    def rest(self) -> float:
        """The share of the collection."""
        return 1.0 - sum(self.weights)

    @property
    def num_levels(self) -> int:
        """How many levels have a share."""
        return len(self.weights)

    def evidence(self, counts: Sequence[Array], lengths: Sequence[Array], background: Any) -> Array:
        """As :meth:`Smoothing.evidence`."""
        share = sum(
            weight * count / np.maximum(length, 1.0)
            for weight, count, length in zip(self.weights, counts, lengths, strict=True)
        )
        ratio: Array = np.log1p(share / (self.rest * background))
        return ratio

    def length_cost(self, lengths: Array) -> Array | None:
        """Nothing: shares do not depend on how long a text is."""
        return None

    def background(self, probabilities: Array) -> Array:
        """As :meth:`Smoothing.background`."""
        return np.log(self.rest * probabilities)

    def to_json(self) -> dict[str, Any]:
        """As :meth:`Smoothing.to_json`."""
        return {"name": "interpolation", "weights": list(self.weights)}


class JelinekMercer(Interpolation):
    """Interpolation of a text with the collection (6.20).

    Args:
        weight: Share of the text's own counts, above 0 and below 1.
    """

    def __init__(self, weight: float = 0.3):
        super().__init__((weight,))


@dataclass(frozen=True)
class Dirichlet:
    """A text's counts added to ``mass`` words drawn from the collection.

    Short texts lean on the collection more than long ones do.

    Attributes:
        mass: How many words the collection counts for, above 0.
    """

    mass: float = 300.0

    def __post_init__(self) -> None:
        if not self.mass > 0 or not np.isfinite(self.mass):
            raise RetrievalError(f"the mass must be above 0, got {self.mass}.")

    @property
    def num_levels(self) -> int:
        """Only the texts themselves."""
        return 1

    def evidence(self, counts: Sequence[Array], lengths: Sequence[Array], background: Any) -> Array:
        """As :meth:`Smoothing.evidence`."""
        ratio: Array = np.log1p(counts[0] / (self.mass * background))
        return ratio

    def length_cost(self, lengths: Array) -> Array | None:
        """As :meth:`Smoothing.length_cost`."""
        cost: Array = np.log(self.mass / (lengths + self.mass))
        return cost

    def background(self, probabilities: Array) -> Array:
        """As :meth:`Smoothing.background`."""
        return np.log(probabilities)

    def to_json(self) -> dict[str, Any]:
        """As :meth:`Smoothing.to_json`."""
        return {"name": "dirichlet", "mass": self.mass}


@dataclass(frozen=True)
class TwoStage:
    r"""Dirichlet smoothing of a text, then the collection's share of what people ask.

    .. math:: P(t|d) = (1-\lambda)\frac{n(t,d) + \mu P(t)}{|d| + \mu} + \lambda P(t)

    The first stage makes up for words a short text left out, the second for words that any query
    may hold. Without the second it is :class:`Dirichlet`, with a small mass nearly
    :class:`JelinekMercer`.

    Attributes:
        mass: How many words the collection counts for in a text, above 0.
        share: Share of the collection in what is asked, from 0 to below 1.
    """

    mass: float = 100.0
    share: float = 0.7

    def __post_init__(self) -> None:
        if not self.mass > 0 or not np.isfinite(self.mass):
            raise RetrievalError(f"the mass must be above 0, got {self.mass}.")
        if not 0 <= self.share < 1:
            raise RetrievalError(f"the share must be from 0 to below 1, got {self.share}.")

    @property
    def num_levels(self) -> int:
        """Only the texts themselves."""
        return 1

    def evidence(self, counts: Sequence[Array], lengths: Sequence[Array], background: Any) -> Array:
        """As :meth:`Smoothing.evidence`."""
        drawn = self.mass + self.share * lengths[0]
        ratio: Array = np.log1p((1 - self.share) * counts[0] / (drawn * background))
        return ratio

    def length_cost(self, lengths: Array) -> Array | None:
        """As :meth:`Smoothing.length_cost`."""
        cost: Array = np.log((self.mass + self.share * lengths) / (lengths + self.mass))
        return cost

    def background(self, probabilities: Array) -> Array:
        """As :meth:`Smoothing.background`."""
        return np.log(probabilities)

    def to_json(self) -> dict[str, Any]:
        """As :meth:`Smoothing.to_json`."""
        return {"name": "two-stage", "mass": self.mass, "share": self.share}


def smoothing_from_json(values: dict[str, Any]) -> Smoothing:
    """Make the smoothing that its ``to_json`` described."""
    if values["name"] == "interpolation":
        return Interpolation(tuple(values["weights"]))
    if values["name"] == "dirichlet":
        return Dirichlet(float(values["mass"]))
    if values["name"] == "two-stage":
        return TwoStage(float(values["mass"]), float(values["share"]))
    raise RetrievalError(f"there is no smoothing {values['name']!r}.")
