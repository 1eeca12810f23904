"""Saving and loading of fitted aligners; a loaded one gives bit-equal posteriors."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from wordsight.alignment.models import model_by_name
from wordsight.alignment.models.base import AlignmentModel
from wordsight.alignment.models.encoding import AlignmentVocabulary
from wordsight.alignment.models.ensemble import Ensemble
from wordsight.errors import FormatError
from wordsight.records.model_folder import ModelFolder

__all__ = ["load_aligner", "save_aligner"]

_FOLDER = ModelFolder("Aligner", 1, "a saved aligner", "restore it or learn again")
_WORDS_ON_CARD = 40


def save_aligner(model: AlignmentModel, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a fitted model to a folder.

    Args:
        model: The model.
        path: The folder to create.
        overwrite: Whether an existing aligner may be replaced; other folders are never replaced.

    Raises:
        FileExistsError: If the folder exists and may not be replaced.
        AlignmentError: If the model is not fitted.
    """
    dictionary = model.dictionary_  # raises if the model is not fitted
    _FOLDER.write(
        path,
        _description(model),
        arrays=model.state(),
        texts={"card.md": _card(model, dictionary)},
        overwrite=overwrite,
    )


def load_aligner(path: str | Path, **given: Any) -> AlignmentModel:
    """Read an aligner that :func:`save_aligner` wrote.

    Args:
        path: The folder.
        given: Settings that cannot be saved: ``features``, if the model has any.

    Raises:
        FormatError: If the folder is missing, damaged or from a newer version.
    """
    values, arrays = _FOLDER.read(path)
    with _FOLDER.restoring(path):
        return _model(values, arrays, given)


def _description(model: AlignmentModel) -> dict[str, Any]:
    vocabulary = {name: list(words) for name, words in asdict(model.vocabulary_).items()}
    values = {"vocabulary": vocabulary} | _parameters(model)
    if isinstance(model, Ensemble):
        values["members"] = [_parameters(member) for member in model.members_]
    return values


def _parameters(model: AlignmentModel) -> dict[str, Any]:
    settings = model.settings()
    features = settings.pop("features", ())
    names = [getattr(feature, "__name__", "feature") for feature in features]
    return {"model": type(model).__name__, "settings": settings, "features": names}


def _model(values: dict[str, Any], arrays: dict[str, Any], given: dict[str, Any]) -> AlignmentModel:
    vocabulary = AlignmentVocabulary(**{k: tuple(v) for k, v in values["vocabulary"].items()})
    model = _unfitted(values, given)
    model.restore(vocabulary, arrays)
    if isinstance(model, Ensemble):
        model.members_ = [_unfitted(member, given) for member in values["members"]]
        for number, member in enumerate(model.members_):
            prefix = f"{number}."
            own = {k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)}
            member.restore(vocabulary, own)
    return model


def _unfitted(values: dict[str, Any], given: dict[str, Any]) -> AlignmentModel:
    settings = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in values["settings"].items()
    }
    wanted = values["features"]
    if wanted:
        features = given.get("features", ())
        names = [getattr(feature, "__name__", "feature") for feature in features]
        if names != wanted:
            raise FormatError(
                f"this model uses the features {', '.join(wanted)}, which are not saved with it; "
                "load it with features=(...) in this order."
            )
        settings["features"] = tuple(features)
    return model_by_name(values["model"])(**settings)


def _card(model: AlignmentModel, dictionary: dict[str, dict[str, float]]) -> str:
    known = model.vocabulary_
    rows = [
        f"| {noun} | "
        + ", ".join(f"{thing} {p:.2f}" for thing, p in list(named.items())[:3])
        + " |"
        for noun, named in list(dictionary.items())[:_WORDS_ON_CARD]
    ]
    return "\n".join(
        [
            f"# Aligner: {type(model).__name__}",
            "",
            "Times the lines of a text against what is touched in a silent video. Learned without "
            f"labels; knows {len(known.nouns)} nouns and {len(known.things)} things.",
            "",
            "| noun | names |",
            "|---|---|",
            *rows,
            "",
        ]
    )
