"""A fitted aligner on disk: a folder of ``model.json``, ``arrays.npz`` and ``card.md``; no pickle.

The folder is written beside its place and renamed when complete; a loaded model gives the same
posteriors, bit for bit, as the saved one.
"""

import json
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from wordsight.alignment.encoding import Vocabulary
from wordsight.alignment.models.base import Model
from wordsight.alignment.models.catalogue import model_named
from wordsight.alignment.models.ensemble import Ensemble
from wordsight.errors import FormatError
from wordsight.files import TEMPORARY_MARK, sha256_of, write_text
from wordsight.records.npz import load_npz, save_npz

__all__ = ["load_aligner", "save_aligner"]

_KIND, _VERSION = "Aligner", 1
_WORDS_ON_CARD = 40


def save_aligner(model: Model, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a fitted model to a folder.

    Args:
        model: The model.
        path: The folder to make.
        overwrite: Whether an aligner that is there may be replaced; anything else never is.

    Raises:
        FileExistsError: If something is there that may not be replaced.
        AlignmentError: If the model is not fitted.
    """
    target = Path(path)
    dictionary = model.dictionary_  # refuses a model that is not fitted
    if target.exists() and not (overwrite and (target / "model.json").exists()):
        raise FileExistsError(
            f"{target} exists already; choose another name, remove it, or allow overwriting."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}{TEMPORARY_MARK}", dir=target.parent))
    try:
        save_npz(folder / "arrays.npz", _KIND, _VERSION, model.state(), {})
        values = _description(model) | {"arrays_sha256": sha256_of(folder / "arrays.npz")}
        write_text(folder / "model.json", json.dumps(values, indent=1, allow_nan=False) + "\n")
        write_text(folder / "card.md", _card(model, dictionary))
        folder.chmod(0o755)
        if target.exists():
            shutil.rmtree(target)
        folder.rename(target)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def load_aligner(path: str | Path, **given: Any) -> Model:
    """Read an aligner that :func:`save_aligner` wrote.

    Args:
        path: The folder.
        given: Settings that files cannot hold: ``features``, where the model has any.

    Raises:
        FormatError: If the folder is missing, damaged or from a newer version.
    """
    folder = Path(path)
    values = _read(folder / "model.json")
    arrays, _ = load_npz(folder / "arrays.npz", _KIND, _VERSION)
    if sha256_of(folder / "arrays.npz") != values.get("arrays_sha256"):
        raise FormatError(
            f"{folder}: arrays.npz and model.json do not belong together; restore the folder from "
            "a copy or learn again."
        )
    try:
        return _model(values, arrays, given)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{folder} is damaged ({error}); restore it or learn again.") from error


def _description(model: Model) -> dict[str, Any]:
    vocabulary = {name: list(words) for name, words in asdict(model.vocabulary_).items()}
    values = {"kind": _KIND, "version": _VERSION, "vocabulary": vocabulary} | _made_with(model)
    if isinstance(model, Ensemble):
        values["members"] = [_made_with(member) for member in model.members_]
    return values


def _made_with(model: Model) -> dict[str, Any]:
    settings = model.settings()
    features = settings.pop("features", ())
    names = [getattr(feature, "__name__", "feature") for feature in features]
    return {"model": type(model).__name__, "settings": settings, "features": names}


def _model(values: dict[str, Any], arrays: dict[str, Any], given: dict[str, Any]) -> Model:
    vocabulary = Vocabulary(**{k: tuple(v) for k, v in values["vocabulary"].items()})
    model = _unfitted(values, given)
    model.restore(vocabulary, arrays)
    if isinstance(model, Ensemble):
        model.members_ = [_unfitted(member, given) for member in values["members"]]
        for number, member in enumerate(model.members_):
            start = f"{number}."
            mine = {k.removeprefix(start): a for k, a in arrays.items() if k.startswith(start)}
            member.restore(vocabulary, mine)
    return model


def _unfitted(values: dict[str, Any], given: dict[str, Any]) -> Model:
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
                f"this model uses the features {', '.join(wanted)}, which files cannot hold; load "
                "it with features=(...) in this order."
            )
        settings["features"] = tuple(features)
    return model_named(values["model"])(**settings)


def _read(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FormatError(
            f"{path.parent} is not a saved aligner: it holds no model.json. Expected a folder that "
            "Wordsight wrote."
        ) from None
    except (OSError, ValueError) as error:
        raise FormatError(f"{path} cannot be read ({error}).") from error
    if not isinstance(values, dict) or values.get("kind") != _KIND:
        raise FormatError(f"{path} does not describe a saved aligner.")
    version = values.get("version")
    if not isinstance(version, int) or version > _VERSION:
        raise FormatError(
            f"{path.parent} was written by a newer Wordsight (version {version}, this one reads up "
            f"to {_VERSION}); update Wordsight to read it."
        )
    return values


def _card(model: Model, dictionary: dict[str, dict[str, float]]) -> str:
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
