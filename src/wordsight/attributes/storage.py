"""A learner on disk; of the recordings, its example and a few others of each word are kept."""

import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.discriminant import Discriminant
from wordsight.attributes.features.pictures import (
    feature_from_json,
    feature_to_json,
    picture_features,
)
from wordsight.attributes.features.sounds import Sound
from wordsight.attributes.features.speech import SpeechFeatures
from wordsight.attributes.grouping.attribute_count import CountScore
from wordsight.attributes.grouping.cca import CCA
from wordsight.attributes.grouping.linear_mixture import LinearMaps, LinearMixture
from wordsight.attributes.picture_space import KernelAxes, PictureSpace
from wordsight.attributes.recall.answers import (
    DiscriminantRecall,
    LearnedWord,
    NearestPicture,
    NearestSound,
    Recall,
)
from wordsight.attributes.report import model_card
from wordsight.attributes.settings import AttributeSettings
from wordsight.records.model_folder import ModelFolder

if TYPE_CHECKING:
    from wordsight.attributes.learner import AttributeLearner

__all__ = ["load_learner", "save_learner"]

Arrays = dict[str, NDArray[Any]]

_FOLDER = ModelFolder(
    "AttributeLearner", 1, "a folder of taught words", "restore it or teach again"
)
_MOST_RECORDINGS = 8  # of a word
_CCA = ("x_mean_", "x_weights_", "y_mean_", "y_weights_", "correlations_")
_KERNEL = ("landmarks", "width", "mean", "axes")
_MIXTURE = ("shares", "maps", "covariances")
_DISCRIMINANT = ("columns", "classes_", "means_", "precision_", "prior_")
_NEAREST: dict[type[Any], tuple[str, ...]] = {
    NearestPicture: ("mean", "weights", "places", "words", "lessons"),
    NearestSound: ("mean", "weights", "table", "places", "words", "lessons"),
}


def save_learner(
    learner: "AttributeLearner", path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
    """Write a learner to a folder.

    Args:
        learner: A fitted learner.
        path: The folder to create.
        overwrite: Whether an existing learner may be replaced; other files never are.

    Raises:
        FileExistsError: If something exists that may not be replaced.
    """
    card = {"card.md": model_card(learner)}
    _FOLDER.write(path, _model(learner), arrays=_arrays(learner), texts=card, overwrite=overwrite)


def load_learner(path: str | os.PathLike[str]) -> "AttributeLearner":
    """Read a learner that :func:`save_learner` wrote.

    Raises:
        FormatError: If the folder is missing, damaged or from a newer version.
    """
    model, arrays = _FOLDER.read(path)
    with _FOLDER.restoring(path):
        return _learner(model, arrays)


def _model(learner: "AttributeLearner") -> dict[str, Any]:
    settings = asdict(learner.settings)
    features = picture_features(learner.settings.pictures)
    settings["pictures"] = [feature_to_json(feature) for feature in features]
    partition = learner.attribution_.partition
    return {
        "settings": settings,
        "words": [asdict(word) for word in learner.words_],
        "texts": list(learner.texts_),
        "num_kinds": len(learner.space_.maps),
        "sources": list(learner.sources_),
        "num_attributes": learner.num_attributes_,
        "likes": list(learner.likes_),
        "recalls": [type(recall).__name__ for recall in learner.recalls_],
        "has_speech_directions": learner.vocabulary_.cca is not None,
        "has_mixture": learner.attribution_.mixture is not None,
        "covers": {str(word): below for word, below in learner.attribution_.covers.items()},
        "rate": None if partition is None else partition.rate,
        "counts": [score.to_json() for score in learner.counts_],
    }


def _arrays(learner: "AttributeLearner") -> Arrays:
    vocabulary, attribution, space = (learner.vocabulary_, learner.attribution_, learner.space_)
    arrays: Arrays = {
        "x": learner.x_,
        "speech": learner.speech_,
        "lesson_words": vocabulary.words,
        "places": vocabulary.places,
        "lesson_attributes": attribution.lessons,
        "word_attributes": attribution.words,
    }
    for number, (mean, axes) in enumerate(zip(space.means, space.maps, strict=True)):
        arrays[f"space.{number}.mean"] = mean
        arrays[f"space.{number}.map"] = axes
    for number, kernel in enumerate(space.kernels):
        arrays |= _named_arrays(kernel, _KERNEL, f"kernel.{number}.")
    for number, kind in enumerate(learner.kinds_):
        arrays[f"kinds.{number}"] = kind.astype(np.float32)
    arrays |= _named_arrays(attribution.cca, _CCA, "directions.")
    if vocabulary.cca is not None:
        arrays |= _named_arrays(vocabulary.cca, _CCA, "speech_directions.")
    if attribution.mixture is not None:
        arrays |= _named_arrays(attribution.mixture.maps_, _MIXTURE, "mixture.")
    for number, recall in enumerate(learner.recalls_):
        arrays |= _recall_arrays(recall, f"recall.{number}.")
    return arrays | _sound_arrays({one: learner.sounds_[one] for one in _kept(learner)})


def _learner(model: dict[str, Any], arrays: Arrays) -> "AttributeLearner":
    from wordsight.attributes.grouping.assignment import AttributeAssignment, LessonVocabulary
    from wordsight.attributes.learner import AttributeLearner

    learner = AttributeLearner(_settings(model["settings"]))
    numbers = range(int(model["num_kinds"]))
    learner.space_ = PictureSpace(
        tuple(arrays[f"space.{n}.mean"] for n in numbers),
        tuple(arrays[f"space.{n}.map"] for n in numbers),
        tuple(_kernel(arrays, f"kernel.{n}.") for n in numbers if f"kernel.{n}.axes" in arrays),
    )
    learner.sources_ = tuple(model.get("sources", ()))
    # Files of early learners keep no descriptions of their pictures.
    kept = [arrays[f"kinds.{n}"] for n in numbers if f"kinds.{n}" in arrays]
    learner.kinds_ = tuple(kind.astype(np.float64) for kind in kept)
    learner.x_, learner.speech_ = arrays["x"], arrays["speech"]
    learner.texts_ = tuple(model["texts"])
    learner.likes_ = tuple(model.get("likes", [None] * len(learner.texts_)))
    learner.sounds_ = _sounds(arrays, len(learner.texts_))
    learner.words_ = tuple(
        LearnedWord(**{key: _hashable(value) for key, value in word.items()})
        for word in model["words"]
    )
    learner.num_attributes_ = int(model["num_attributes"])
    names = tuple(word.name if word.spelled else None for word in learner.words_)
    spoken = _cca(arrays, "speech_directions.") if model["has_speech_directions"] else None
    called = tuple(word.name for word in learner.words_)
    learner.vocabulary_ = LessonVocabulary(
        arrays["lesson_words"], names, spoken, arrays["places"], called=called
    )
    learner.attribution_ = AttributeAssignment(
        arrays["lesson_attributes"],
        arrays["word_attributes"],
        _cca(arrays, "directions."),
        mixture=_mixture(arrays) if model["has_mixture"] else None,
        counts=tuple(CountScore.from_json(score) for score in model.get("counts", [])),
        covers={int(word): tuple(below) for word, below in model.get("covers", {}).items()},
    )
    learner.recalls_ = [
        _recall(kind, arrays, f"recall.{number}.") for number, kind in enumerate(model["recalls"])
    ]
    return learner


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _settings(values: dict[str, Any]) -> AttributeSettings:
    given = dict(values)
    given["pictures"] = tuple(feature_from_json(feature) for feature in given["pictures"])
    given["ridge"] = tuple(given["ridge"])
    if isinstance(given["speech"], dict):
        given["speech"] = SpeechFeatures(**given["speech"])
    return replace(AttributeSettings(), **given)


def _named_arrays(owner: object, names: tuple[str, ...], prefix: str) -> Arrays:
    """Return attributes of an object under names that start with ``prefix``."""
    return {prefix + name: np.asarray(getattr(owner, name)) for name in names}


def _kernel(arrays: Arrays, prefix: str) -> KernelAxes:
    landmarks, width, mean, axes = (arrays[prefix + name] for name in _KERNEL)
    return KernelAxes(landmarks, float(width), mean, axes)


def _cca(arrays: Arrays, prefix: str) -> CCA:
    cca = CCA(1)
    for name in _CCA:
        setattr(cca, name, arrays[prefix + name])
    return cca


def _mixture(arrays: Arrays) -> LinearMixture:
    maps = LinearMaps(*(arrays[f"mixture.{name}"] for name in _MIXTURE))
    mixture = LinearMixture(len(maps.shares))
    mixture.maps_ = maps
    return mixture


def _recall_arrays(recall: Recall, prefix: str) -> Arrays:
    if not isinstance(recall, DiscriminantRecall):
        return _named_arrays(recall, _NEAREST[type(recall)], prefix)
    model = recall.model
    numbers = np.array([model.shrinkage, model.temperature, *model.limits])
    return _named_arrays(model, _DISCRIMINANT, prefix) | {prefix + "numbers": numbers}


def _recall(kind: str, arrays: Arrays, prefix: str) -> Recall:
    """Return the recall of a class name and its arrays."""
    if kind == DiscriminantRecall.__name__:
        model = Discriminant(arrays[prefix + "columns"])
        for name in _DISCRIMINANT:
            setattr(model, name, arrays[prefix + name])
        numbers = arrays[prefix + "numbers"]
        model.shrinkage, model.temperature, limit, *more = (float(value) for value in numbers)
        # Early learners have only the first limit.
        model.limits = limit, more[0] if more else np.inf
        return DiscriminantRecall(model)
    nearest: type[NearestPicture] = (
        NearestPicture if kind == NearestPicture.__name__ else NearestSound
    )
    return nearest(**{name: arrays[prefix + name] for name in _NEAREST[nearest]})


def _kept(learner: "AttributeLearner") -> list[int]:
    """Return lessons whose recordings are kept: per word its example, and those unlike it.

    So a word that is split by hand, or gets another example as more is taught, can be played.
    """
    places, words = learner.vocabulary_.places, learner.vocabulary_.words
    played = np.array([sound is not None for sound in learner.sounds_])
    kept: list[int] = []
    for number, word in enumerate(learner.words_):
        own = np.flatnonzero((words == number) & played)
        chosen = [word.example] if played[word.example] else []
        away = np.full(len(own), np.inf)
        while chosen and len(chosen) < min(_MOST_RECORDINGS, len(own)):
            away = np.minimum(away, np.linalg.norm(places[own] - places[chosen[-1]], axis=1))
            away[np.isin(own, chosen)] = -1.0
            chosen.append(int(own[away.argmax()]))
        kept += chosen
    return kept


def _sound_arrays(sounds: Mapping[int, Sound | None]) -> Arrays:
    """Return recordings end to end, with the lesson, rate and length of each."""
    kept = [(lesson, sound) for lesson, sound in sorted(sounds.items()) if sound is not None]
    samples = [sound.samples for _, sound in kept]
    return {
        "sounds.samples": np.concatenate([np.zeros(0, dtype=np.float32), *samples]),
        "sounds.lessons": np.array([lesson for lesson, _ in kept], dtype=np.int64),
        "sounds.rates": np.array([sound.rate for _, sound in kept], dtype=np.int64),
        "sounds.lengths": np.array([len(row) for row in samples], dtype=np.int64),
    }


def _sounds(arrays: Arrays, count: int) -> tuple[Sound | None, ...]:
    """Return the recordings of ``count`` lessons, where there are any."""
    lessons: list[Sound | None] = [None] * count
    ends = np.cumsum(arrays["sounds.lengths"])
    starts = ends - arrays["sounds.lengths"]
    rows = zip(arrays["sounds.lessons"], starts, ends, arrays["sounds.rates"], strict=True)
    for lesson, start, end, rate in rows:
        lessons[int(lesson)] = Sound(arrays["sounds.samples"][start:end], int(rate))
    return tuple(lessons)
