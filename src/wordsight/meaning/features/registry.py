"""`TrackFeature`: a function of a view of a clip, and the registry where users add their own."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import MeaningError
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
    """A quantity that is measured of one object, or of a pair of objects, in every frame.

    Attributes:
        name: Its name in lexicons.
        arity: 1 for a feature of one object, 2 for one of a pair.
        measure: Returns ``(T, J)`` values for one object, ``(T, J, J)`` for pairs (first argument,
            second argument); NaN where it cannot be measured.
        scheme: How its values are binned.
        unit: The unit of its values.
        about: A description in one line.
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
    """Register the decorated function as a feature; its docstring is the description.

    Example:
        >>> from wordsight.meaning.features import QuantileBins
        >>> @register_feature("example-area", 1, QuantileBins(5), "diagonals²")
        ... def example_area(view):
        ...     '''Share of the picture it covers.'''
        ...     return view.sides.prod(axis=-1)
        >>> get_feature("example-area").about
        'Share of the picture it covers.'
    """
    if arity not in (1, 2):
        raise MeaningError(f"{name}: a feature is of one object or of a pair, got arity {arity}.")

    def add(measure: Measure) -> Measure:
        lines = (measure.__doc__ or "").strip().splitlines()
        _FEATURES[name] = TrackFeature(
            name, arity, measure, scheme, unit, lines[0] if lines else ""
        )
        return measure

    return add


def get_feature(name: str) -> TrackFeature:
    """Return the feature of a name.

    Raises:
        MeaningError: If there is none.
    """
    if name in _FEATURES:
        return _FEATURES[name]
    if name.startswith(NAME_PREFIX):
        words = feature_words(name)
        about = f"Which of {', '.join(words)} fits it, as it was taught."
        return TrackFeature(name, 1, partial(measure_names, name), CategoryBins(words), "", about)
    if name.startswith(FACT_PREFIX):
        about = f"Whether {name.removeprefix(FACT_PREFIX)} holds, as states were inferred."
        scheme = FixedBins((0.5,), ("no", "yes"))
        return TrackFeature(name, fact_arity(name), partial(measure_fact, name), scheme, "", about)
    raise MeaningError(
        f"there is no feature {name!r}; known are {', '.join(sorted(_FEATURES))}. A feature of "
        "your own must be registered before the lexicon that uses it is loaded."
    )


def available_features() -> dict[str, TrackFeature]:
    """Return all registered features by name."""
    return dict(_FEATURES)
