"""`Feature`: one small function of a view of a clip, and the registry where users add their own."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.errors import MeaningError
from wordsight.meaning.features.bins import Categories, Fixed, Scheme
from wordsight.meaning.features.facts import FACT, fact_arity, measure_fact
from wordsight.meaning.features.told import TOLD, measure_told, told_words
from wordsight.meaning.features.view import ClipView

__all__ = ["Feature", "Measure", "available_features", "feature", "register"]

Measure = Callable[[ClipView], NDArray[np.float64]]


@dataclass(frozen=True)
class Feature:
    """Something that can be measured of one thing, or of a pair of things, in every frame.

    Attributes:
        name: What lexicons call it.
        arity: 1 for a feature of one thing, 2 for one of a pair.
        measure: Gives ``(T, J)`` values for one thing, ``(T, J, J)`` for pairs (first argument,
            second argument); NaN where it cannot be measured.
        scheme: How its values are cut into bins.
        unit: What the values count, for people.
        about: One line for people.
    """

    name: str
    arity: int
    measure: Measure
    scheme: Scheme
    unit: str
    about: str


_FEATURES: dict[str, Feature] = {}


def register(name: str, arity: int, scheme: Scheme, unit: str) -> Callable[[Measure], Measure]:
    """Add a feature under a name; the decorated function's docstring says what it is.

    Examples:
        >>> from wordsight.meaning.features import Plain
        >>> @register("example-area", 1, Plain(5), "diagonals²")
        ... def example_area(view):
        ...     '''How much of the picture it covers.'''
        ...     return view.sides.prod(axis=-1)
        >>> feature("example-area").about
        'How much of the picture it covers.'
    """
    if arity not in (1, 2):
        raise MeaningError(f"{name}: a feature is of one thing or of a pair, got arity {arity}.")

    def add(measure: Measure) -> Measure:
        about = (measure.__doc__ or "").strip().splitlines()
        _FEATURES[name] = Feature(name, arity, measure, scheme, unit, about[0] if about else "")
        return measure

    return add


def feature(name: str) -> Feature:
    """Return the feature of a name.

    Raises:
        MeaningError: If there is none.
    """
    if name not in _FEATURES and name.startswith(TOLD):
        return _told(name)
    if name not in _FEATURES and name.startswith(FACT):
        return _fact(name)
    if name not in _FEATURES:
        raise MeaningError(
            f"there is no feature {name!r}; known are {', '.join(sorted(_FEATURES))}. One that you "
            "registered yourself must be registered before the lexicon that uses it is loaded."
        )
    return _FEATURES[name]


def _told(name: str) -> Feature:
    about = f"Which of {', '.join(told_words(name))} fits it, as it was taught."
    return Feature(name, 1, partial(measure_told, name), Categories(told_words(name)), "", about)


def _fact(name: str) -> Feature:
    about = f"Whether {name.removeprefix(FACT)} holds, as states were inferred."
    scheme = Fixed((0.5,), ("no", "yes"))
    return Feature(name, fact_arity(name), partial(measure_fact, name), scheme, "", about)


def available_features() -> dict[str, Feature]:
    """Return all features by name."""
    return dict(_FEATURES)
