"""A learned lexicon on disk: a folder of ``model.json``, ``arrays.npz`` and ``card.md``; no pickle.

The folder is written beside its place and renamed when complete, so that a crash leaves the old one
or the new one; a loaded lexicon scores bit for bit like the saved one.
"""

import json
import os
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from wordsight.errors import FormatError
from wordsight.files import TEMPORARY_MARK, sha256_of, write_text
from wordsight.language import Entry, Lexicon, PartOfSpeech
from wordsight.meaning.arrays import arrays_of_words, words_from_arrays
from wordsight.meaning.belief import Belief
from wordsight.meaning.calibration import Calibration
from wordsight.meaning.card import card
from wordsight.meaning.features import (
    LABEL,
    FeatureSet,
    PartFeatures,
    Slot,
    Vocabulary,
    feature,
)
from wordsight.meaning.lexicon import LearnedLexicon, Looking
from wordsight.meaning.reading import Sight
from wordsight.meaning.word import WordModel
from wordsight.records.npz import load_npz, save_npz

__all__ = ["load_lexicon", "save_lexicon"]

_KIND, _VERSION = "LearnedLexicon", 1


def save_lexicon(
    lexicon: LearnedLexicon, path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
    """Write a lexicon to a folder.

    Args:
        lexicon: The lexicon.
        path: The folder to make.
        overwrite: Whether a lexicon that is there may be replaced; anything else never is.

    Raises:
        FileExistsError: If something is there that may not be replaced.
    """
    target = Path(path)
    if target.exists() and not (overwrite and (target / "model.json").exists()):
        raise FileExistsError(
            f"{target} exists already; choose another name, remove it, or allow overwriting."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}{TEMPORARY_MARK}", dir=target.parent))
    try:
        arrays = arrays_of_words(lexicon.words, "word.")
        arrays |= {f"background.{name}": row for name, row in lexicon.background.items()}
        save_npz(folder / "arrays.npz", _KIND, _VERSION, arrays, {})
        model = _model(lexicon) | {"arrays_sha256": sha256_of(folder / "arrays.npz")}
        text = json.dumps(model, indent=1, ensure_ascii=False, allow_nan=False)
        write_text(folder / "model.json", text + "\n")
        write_text(folder / "card.md", card(lexicon))
        folder.chmod(0o755)
        _put_in_place(folder, target)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def load_lexicon(path: str | os.PathLike[str]) -> LearnedLexicon:
    """Read a lexicon that :func:`save_lexicon` wrote.

    Raises:
        FormatError: If the folder is missing, damaged or from a newer version.
    """
    folder = Path(path)
    model = _read_model(folder)
    arrays, _ = load_npz(folder / "arrays.npz", _KIND, _VERSION)
    if sha256_of(folder / "arrays.npz") != model.get("arrays_sha256"):
        raise FormatError(
            f"{folder}: arrays.npz and model.json do not belong together; restore the folder from "
            "a copy or learn again."
        )
    try:
        return _lexicon(model, arrays)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{folder} is damaged ({error}); restore it or learn again.") from error


def _put_in_place(folder: Path, target: Path) -> None:
    if target.exists():
        old = Path(tempfile.mkdtemp(prefix=f".{target.name}{TEMPORARY_MARK}", dir=target.parent))
        target.rename(old / "old")
        folder.rename(target)
        shutil.rmtree(old)
    else:
        folder.rename(target)


def _read_model(folder: Path) -> dict[str, Any]:
    path = folder / "model.json"
    try:
        model = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FormatError(
            f"{folder} is not a learned lexicon: it holds no model.json. Expected a folder that "
            "Wordsight wrote."
        ) from None
    except (OSError, ValueError) as error:
        raise FormatError(f"{path} cannot be read ({error}).") from error
    if not isinstance(model, dict) or model.get("kind") != _KIND:
        raise FormatError(f"{path} does not describe a learned lexicon.")
    version = model.get("version")
    if not isinstance(version, int) or version > _VERSION:
        raise FormatError(
            f"{folder} was written by a newer Wordsight (version {version}, this one reads up to "
            f"{_VERSION}); update Wordsight to read it."
        )
    return model


def _model(lexicon: LearnedLexicon) -> dict[str, Any]:
    threshold = lexicon.threshold if np.isfinite(lexicon.threshold) else None
    return {
        "kind": _KIND,
        "version": _VERSION,
        "lexicon": [
            {"name": e.name, "part": str(e.part), "roles": e.roles, "spellings": e.spellings}
            for e in lexicon.lexicon
        ],
        "words": [
            {
                "entry": word.entry,
                "part": str(word.part),
                "arity": word.arity,
                "slots": [[slot.feature, *slot.roles] for slot in word.slots],
                "states": word.num_states,
                "follows": word.follows,
            }
            for word in lexicon.words.values()
        ],
        "features": {
            "name": lexicon.features.name,
            "parts": {str(part): asdict(use) for part, use in lexicon.features.parts.items()},
        },
        "vocabulary": lexicon.vocabulary.to_json(),
        "looking": asdict(lexicon.looking),
        "calibration": lexicon.calibration.to_json(),
        "threshold": threshold,
        "belief": None if lexicon.belief is None else lexicon.belief.to_json(),
        "states_count": lexicon.states_count,
        "notes": lexicon.notes,
    }


def _lexicon(model: dict[str, Any], arrays: dict[str, Any]) -> LearnedLexicon:
    entries = tuple(
        Entry(e["name"], PartOfSpeech(e["part"]), tuple(e["roles"]), tuple(e["spellings"]))
        for e in model["lexicon"]
    )
    vocabulary = Vocabulary.from_json(model["vocabulary"])
    for name in vocabulary.bins:
        if name != LABEL:
            feature(name)  # says which feature is not registered here
    templates = {row["entry"]: _template(row, vocabulary) for row in model["words"]}
    looking = dict(model["looking"])
    sight = Sight(**looking.pop("sight"))
    threshold = model["threshold"]
    belief = model.get("belief")  # lexicons of earlier versions have none
    return LearnedLexicon(
        Lexicon(entries),
        words_from_arrays(templates, arrays, "word."),
        _features(model["features"]),
        vocabulary,
        {name: arrays[f"background.{name}"] for name in vocabulary.bins},
        Looking(**looking, sight=sight),
        Calibration.from_json(model["calibration"]),
        np.inf if threshold is None else float(threshold),
        None if belief is None else Belief.from_json(belief),
        bool(model["states_count"]),
        dict(model["notes"]),
    )


def _template(row: dict[str, Any], vocabulary: Vocabulary) -> WordModel:
    slots = tuple(Slot(name, tuple(roles)) for name, *roles in row["slots"])
    states = int(row["states"])
    return WordModel(
        row["entry"],
        PartOfSpeech(row["part"]),
        int(row["arity"]),
        slots,
        np.zeros(states),
        np.zeros((states, states)),
        np.zeros(states),
        tuple(np.zeros((states, len(vocabulary.bins[slot.feature]))) for slot in slots),
        bool(row.get("follows", False)),  # in lexicons of earlier versions no word does
    )


def _features(values: dict[str, Any]) -> FeatureSet:
    return FeatureSet(
        values["name"],
        {
            PartOfSpeech(part): PartFeatures(
                int(use["num_states"]),
                tuple(use["single"]),
                tuple(use["pairs"]),
                bool(use["first_only"]),
                bool(use.get("follows", False)),
            )
            for part, use in values["parts"].items()
        },
    )
