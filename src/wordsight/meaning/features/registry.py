"""`TrackFeature`: a function of a view of a clip, and the registry where users add their own."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.errors import MeaningError
from wordsight.meaning.features.annotations import (
    FACT_PREFIX,
    NAME_PREFIX,
    fact_arity,
    feature_words,
    measure_fact,
    measure_names,
)
from wordsight.meaning.features.bins import BinningScheme, CategoryBins, FixedBins
from wordsight.meaning.features.view import ClipView

__all__ = ["Measure", "TrackFeature", "available_features", "get_feature", "register_feature"]

Measure = Callable[[ClipView], NDArray[np.float64]]


@dataclass(frozen=True)
class TrackFeature:
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
    scheme: BinningScheme
    unit: str
    about: str


_FEATURES: dict[str, TrackFeature] = {}


def register_feature(
    name: str, arity: int, scheme: BinningScheme, unit: str
) -> Callable[[Measure], Measure]:
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
        _FEATURES[name] = TrackFeature(
            name, arity, measure, scheme, unit, about[0] if about else ""
        )
        return measure

    return add


def get_feature(name: str) -> TrackFeature:
    """Return the feature of a name.

    Raises:
        MeaningError: If there is none.
    """
    if name not in _FEATURES and name.startswith(NAME_PREFIX):
        return _name_feature(name)
    if name not in _FEATURES and name.startswith(FACT_PREFIX):
        return _fact_feature(name)
    if name not in _FEATURES:
        raise MeaningError(
            f"there is no feature {name!r}; known are {', '.join(sorted(_FEATURES))}. One that you "
            "registered yourself must be registered before the lexicon that uses it is loaded."
        )
    return _FEATURES[name]


def _name_feature(name: str) -> TrackFeature:
    about = f"Which of {', '.join(feature_words(name))} fits it, as it was taught."
    return TrackFeature(
        name, 1, partial(measure_names, name), CategoryBins(feature_words(name)), "", about
    )


def _fact_feature(name: str) -> TrackFeature:
    about = f"Whether {name.removeprefix(FACT_PREFIX)} holds, as states were inferred."
    scheme = FixedBins((0.5,), ("no", "yes"))
    return TrackFeature(name, fact_arity(name), partial(measure_fact, name), scheme, "", about)


def available_features() -> dict[str, TrackFeature]:
    """Return all features by name."""
    return dict(_FEATURES)
