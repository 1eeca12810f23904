"""Features that users declare, computed from others by the recipe of the vocabulary."""

import numpy as np
from numpy.typing import NDArray

from wordsight.states.features import Motion, ranks, shifted
from wordsight.states.vocabulary import Recipe, Vocabulary

__all__ = ["derived_features"]

Array = NDArray[np.float64]


def derived_features(
    vocabulary: Vocabulary, features: dict[str, Array], motion: Motion
) -> dict[str, Array]:
    """Return the declared features of a vocabulary; later ones may build on earlier ones.

    Args:
        vocabulary: What is declared.
        features: Those built in, ``(T, n)`` or ``(T, n, n)``.
        motion: Times and kinds of the objects.
    """
    found: dict[str, Array] = {}
    sizes = motion.whole[..., 2:] - motion.whole[..., :2]
    further = {"width": sizes[..., 0], "height": sizes[..., 1]}
    for feature in vocabulary.features:
        if feature.recipe is None and feature.name in further:
            found[feature.name] = further[feature.name]
        elif feature.recipe is not None:
            source = {**features, **found}[feature.recipe.source]
            found[feature.name] = _computed(feature.recipe, source, motion)
    return found


def _computed(recipe: Recipe, source: Array, motion: Motion) -> Array:
    span = motion.frames(recipe.seconds)
    if recipe.operation == "mean":
        return _running_mean(source, span)
    if recipe.operation == "change":
        return source - shifted(source, -span)
    if recipe.operation == "coming change":
        return shifted(source, span) - source
    if recipe.operation == "rank":
        return ranks(source, motion.kinds)
    empty = np.inf if recipe.operation == "least" else -np.inf
    filled = np.where(np.isnan(source), empty, source)
    best = filled.min(axis=2) if recipe.operation == "least" else filled.max(axis=2)
    return np.where(np.isinf(best), np.nan, best)


def _running_mean(source: Array, span: int) -> Array:
    """Return means over a window of ``span`` frames around each, missing values left out."""
    known = ~np.isnan(source)
    rows = np.arange(len(source))
    low = np.clip(rows - span // 2, 0, len(source))
    high = np.clip(rows - span // 2 + span, 0, len(source))
    sums, counts = (
        np.concatenate([np.zeros((1, *source.shape[1:])), np.cumsum(values, axis=0)])
        for values in (np.where(known, source, 0.0), known.astype(np.float64))
    )
    total, count = sums[high] - sums[low], counts[high] - counts[low]
    return np.where(known, total / np.maximum(count, 1.0), np.nan)
