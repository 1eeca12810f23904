"""A taught learner on disk; of the recordings, the one that stands for each word is kept."""

import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

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
from wordsight.attributes.lessons import PictureSpace
from wordsight.attributes.recall.answers import (
    DiscriminantRecall,
    LearnedWord,
    NearestPicture,
    NearestSound,
    Recall,
)
from wordsight.attributes.recall.discriminant import Discriminant
from wordsight.attributes.report import card
from wordsight.attributes.settings import AttributeSettings
from wordsight.records.model_folder import ModelFolder

if TYPE_CHECKING:
    from wordsight.attributes.learner import AttributeLearner

__all__ = [
    "cca_arrays",
    "cca_from",
    "load_learner",
    "mixture_arrays",
    "mixture_from",
    "recall_arrays",
    "recall_from",
    "save_learner",
    "sound_arrays",
    "sounds_from",
]

Arrays = dict[str, NDArray[Any]]


# The parts of a taught learner as named arrays, and back.


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


_FOLDER = ModelFolder(
    "AttributeLearner", 1, "a folder of taught words", "restore it or teach again"
)


def save_learner(
    learner: "AttributeLearner", path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
    """Write a learner to a folder.

    Args:
        learner: A learner that was taught.
        path: The folder to make.
        overwrite: Whether a learner that is there may be replaced; anything else never is.

    Raises:
        FileExistsError: If something is there that may not be replaced.
    """
    _FOLDER.write(
        path,
        _model(learner),
        arrays=_arrays(learner),
        texts={"card.md": card(learner)},
        overwrite=overwrite,
    )


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
        "num_attributes": learner.num_attributes_,
        "recalls": [type(recall).__name__ for recall in learner.recalls_],
        "has_speech_directions": learner.vocabulary_.cca is not None,
        "has_mixture": learner.attribution_.mixture is not None,
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
    arrays |= cca_arrays(attribution.cca, "directions.")
    if vocabulary.cca is not None:
        arrays |= cca_arrays(vocabulary.cca, "speech_directions.")
    if attribution.mixture is not None:
        arrays |= mixture_arrays(attribution.mixture, "mixture.")
    for number, recall in enumerate(learner.recalls_):
        arrays |= recall_arrays(recall, f"recall.{number}.")
    examples = {word.example: learner.sounds_[word.example] for word in learner.words_}
    return arrays | sound_arrays(examples, "sounds.")


def _learner(model: dict[str, Any], arrays: Arrays) -> "AttributeLearner":
    from wordsight.attributes.grouping.assignment import AttributeAssignment, LessonVocabulary
    from wordsight.attributes.learner import AttributeLearner

    learner = AttributeLearner(_settings(model["settings"]))
    numbers = range(int(model["num_kinds"]))
    learner.space_ = PictureSpace(
        tuple(arrays[f"space.{n}.mean"] for n in numbers),
        tuple(arrays[f"space.{n}.map"] for n in numbers),
    )
    learner.x_, learner.speech_ = arrays["x"], arrays["speech"]
    learner.texts_ = tuple(model["texts"])
    learner.sounds_ = sounds_from(arrays, "sounds.", len(learner.texts_))
    learner.words_ = tuple(LearnedWord(**word) for word in model["words"])
    learner.num_attributes_ = int(model["num_attributes"])
    names = tuple(word.name if word.spelled else None for word in learner.words_)
    spoken = cca_from(arrays, "speech_directions.") if model["has_speech_directions"] else None
    learner.vocabulary_ = LessonVocabulary(arrays["lesson_words"], names, spoken, arrays["places"])
    learner.attribution_ = AttributeAssignment(
        arrays["lesson_attributes"],
        arrays["word_attributes"],
        cca_from(arrays, "directions."),
        mixture=mixture_from(arrays, "mixture.") if model["has_mixture"] else None,
        counts=tuple(CountScore.from_json(score) for score in model.get("counts", [])),
    )
    learner.recalls_ = [
        recall_from(kind, arrays, f"recall.{number}.")
        for number, kind in enumerate(model["recalls"])
    ]
    return learner


def _settings(values: dict[str, Any]) -> AttributeSettings:
    given = dict(values)
    given["pictures"] = tuple(feature_from_json(feature) for feature in given["pictures"])
    given["ridge"] = tuple(given["ridge"])
    if isinstance(given["speech"], dict):
        given["speech"] = SpeechFeatures(**given["speech"])
    return replace(AttributeSettings(), **given)
