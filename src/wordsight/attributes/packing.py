"""The parts of a taught learner as named arrays, and back."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.cca import CCA
from wordsight.attributes.discriminant import Discriminant
from wordsight.attributes.linear_mixture import LinearMaps, LinearMixture
from wordsight.attributes.recall import DiscriminantRecall, NearestPicture, NearestSound, Recall
from wordsight.attributes.sounds import Sound

__all__ = [
    "cca_arrays",
    "cca_from",
    "mixture_arrays",
    "mixture_from",
    "recall_arrays",
    "recall_from",
    "sound_arrays",
    "sounds_from",
]

Arrays = dict[str, NDArray[Any]]

_CCA = ("x_mean_", "x_weights_", "y_mean_", "y_weights_", "correlations_")
_DISCRIMINANT = ("columns", "classes_", "means_", "precision_", "prior_")
_NEAREST = ("mean", "weights", "places", "words", "lessons")


def cca_arrays(cca: CCA, prefix: str) -> Arrays:
    """Return the learned arrays of a CCA under names that start with ``prefix``."""
    return {prefix + name: getattr(cca, name) for name in _CCA}


def cca_from(arrays: Arrays, prefix: str) -> CCA:
    """Return the CCA that :func:`cca_arrays` packed."""
    cca = CCA(1)
    for name in _CCA:
        setattr(cca, name, arrays[prefix + name])
    return cca


def mixture_arrays(mixture: LinearMixture, prefix: str) -> Arrays:
    """Return the parameters of a mixture."""
    return {prefix + name: value for name, value in vars(mixture.maps_).items()}


def mixture_from(arrays: Arrays, prefix: str) -> LinearMixture:
    """Return the mixture that :func:`mixture_arrays` packed."""
    shares = arrays[prefix + "shares"]
    mixture = LinearMixture(len(shares))
    mixture.maps_ = LinearMaps(shares, arrays[prefix + "maps"], arrays[prefix + "covariances"])
    return mixture


def recall_arrays(recall: Recall, prefix: str) -> Arrays:
    """Return what answers for one attribute."""
    if isinstance(recall, DiscriminantRecall):
        model = recall.model
        numbers = np.array([model.shrinkage, model.temperature, *model.limits])
        packed = {name: np.asarray(getattr(model, name)) for name in _DISCRIMINANT}
        return {prefix + name: value for name, value in packed.items()} | {
            prefix + "numbers": numbers
        }
    return {prefix + name: value for name, value in vars(recall).items()}


def recall_from(kind: str, arrays: Arrays, prefix: str) -> Recall:
    """Return the recall that :func:`recall_arrays` packed; ``kind`` is the name of its class."""
    if kind == "DiscriminantRecall":
        model = Discriminant(arrays[prefix + "columns"])
        for name in _DISCRIMINANT:
            setattr(model, name, arrays[prefix + name])
        numbers = arrays[prefix + "numbers"]
        model.shrinkage, model.temperature, limit, *more = (float(value) for value in numbers)
        # Learners of before know how far words lie apart, not how pictures vary otherwise.
        model.limits = limit, more[0] if more else np.inf
        return DiscriminantRecall(model)
    values = {name: arrays[prefix + name] for name in _NEAREST}
    if kind == "NearestPicture":
        return NearestPicture(**values)
    return NearestSound(**values, table=arrays[prefix + "table"])


def sound_arrays(sounds: Mapping[int, Sound | None], prefix: str) -> Arrays:
    """Return recordings end to end, with the lesson, rate and length of each."""
    kept = [(lesson, sound) for lesson, sound in sorted(sounds.items()) if sound is not None]
    samples = [sound.samples for _, sound in kept]
    return {
        prefix + "samples": np.concatenate([np.zeros(0, dtype=np.float32), *samples]),
        prefix + "lessons": np.array([lesson for lesson, _ in kept], dtype=np.int64),
        prefix + "rates": np.array([sound.rate for _, sound in kept], dtype=np.int64),
        prefix + "lengths": np.array([len(row) for row in samples], dtype=np.int64),
    }


def sounds_from(arrays: Arrays, prefix: str, count: int) -> tuple[Sound | None, ...]:
    """Return ``count`` places, filled where a recording was packed."""
    places: list[Sound | None] = [None] * count
    ends = np.cumsum(arrays[prefix + "lengths"])
    for lesson, rate, end, length in zip(
        arrays[prefix + "lessons"],
        arrays[prefix + "rates"],
        ends,
        arrays[prefix + "lengths"],
        strict=True,
    ):
        places[int(lesson)] = Sound(arrays[prefix + "samples"][end - length : end], int(rate))
    return tuple(places)
