"""A taught learner on disk; of the recordings, the one that stands for each word is kept."""

import os
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from wordsight.attributes.attribute_count import CountScore
from wordsight.attributes.card import card
from wordsight.attributes.packing import (
    cca_arrays,
    cca_from,
    mixture_arrays,
    mixture_from,
    recall_arrays,
    recall_from,
    sound_arrays,
    sounds_from,
)
from wordsight.attributes.picture_features import (
    feature_from_json,
    feature_to_json,
    picture_features,
)
from wordsight.attributes.picture_space import PictureSpace
from wordsight.attributes.results import LearnedWord
from wordsight.attributes.settings import AttributeSettings
from wordsight.attributes.speech_features import SpeechFeatures
from wordsight.records.model_folder import ModelFolder

if TYPE_CHECKING:
    from wordsight.attributes.learner import AttributeLearner

__all__ = ["load_learner", "save_learner"]

Arrays = dict[str, NDArray[Any]]

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
    from wordsight.attributes.grouping import Attribution, Vocabulary
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
    learner.vocabulary_ = Vocabulary(arrays["lesson_words"], names, spoken, arrays["places"])
    learner.attribution_ = Attribution(
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
