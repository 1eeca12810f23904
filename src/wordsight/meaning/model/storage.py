"""Saving and loading learned lexicons; a loaded lexicon gives identical scores."""

import os
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from wordsight.errors import MeaningError
from wordsight.language import Entry, Lexicon, LexiconError, PartOfSpeech
from wordsight.meaning.checks import require_integer, require_number, require_one_of, require_texts
from wordsight.meaning.features import (
    LABEL,
    FeatureSet,
    FeatureVocabulary,
    PartFeatures,
    Slot,
    get_feature,
)
from wordsight.meaning.model.calibration import Belief, Calibration
from wordsight.meaning.model.lexicon import LearnedLexicon, ViewSettings
from wordsight.meaning.model.noun_looks import NounLooks
from wordsight.meaning.model.word import WordModel, words_from_arrays, words_to_arrays
from wordsight.meaning.model.wording import lexicon_card
from wordsight.meaning.scoring.scorer import TrackPrior
from wordsight.records.model_folder import ModelFolder

__all__ = ["SAVED_NAMES", "load_lexicon", "save_lexicon"]

# 2: words have several kinds of evidence, and may use names and facts of objects.
# 3: there may be looks of nouns. 4: words may have several senses. Without them files stay readable
# by earlier versions.
_FOLDER = ModelFolder("LearnedLexicon", 4, "a learned lexicon", "restore it or learn again")

_MOST_STATES = 1000
"""More states mean a damaged number; such tables would not fit the memory."""

SAVED_NAMES = {
    "ViewSettings": "Looking",
    "TrackPrior": "Sight",
    "WordSmoothing": "Smoothing",
    "view_settings": "looking",
    "track_prior": "sight",
    "participants": "tracked",
    "max_objects": "most",
    "min_visible": "least_seen",
    "jitter": "trembling",
    "role_priors": "habits",
    "belief": "believed",
    "max_candidates": "most_candidates",
}
"""Names of settings whose names in saved files differ: files keep those of their first layout."""

_SAVED_PARTICIPANTS: dict[Any, Any] = {"tracks": True, "boxes": False}


def save_lexicon(
    lexicon: LearnedLexicon, path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
    """Write a lexicon to a folder.

    Args:
        lexicon: The lexicon.
        path: The folder to create.
        overwrite: Whether an existing lexicon may be replaced; anything else never is.

    Raises:
        FileExistsError: If the path exists and may not be replaced.
    """
    arrays = words_to_arrays(lexicon.words, "word.")
    arrays |= {f"background.{name}": row for name, row in lexicon.background.items()}
    if lexicon.noun_looks is not None:
        arrays |= {f"looks.{name}": row for name, row in lexicon.noun_looks.to_arrays().items()}
    several = any(word.senses > 1 for word in lexicon.words.values())
    needed = 4 if several else 2 if lexicon.noun_looks is None else 3
    replace(_FOLDER, version=needed).write(
        path,
        _model(lexicon),
        arrays=arrays,
        texts={"card.md": lexicon_card(lexicon)},
        overwrite=overwrite,
    )


def load_lexicon(path: str | os.PathLike[str]) -> LearnedLexicon:
    """Read a lexicon that :func:`save_lexicon` wrote.

    Raises:
        FormatError: If the folder is missing, damaged or from a newer version.
    """
    model, arrays = _FOLDER.read(path)
    with _FOLDER.restoring(path):
        return _lexicon(model, arrays)


def _model(lexicon: LearnedLexicon) -> dict[str, Any]:
    threshold = lexicon.threshold if np.isfinite(lexicon.threshold) else None
    kind = lexicon.view_settings.participants
    kind = _SAVED_PARTICIPANTS.get(kind, kind)
    return {
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
                **({"senses": word.senses} if word.senses > 1 else {}),
            }
            for word in lexicon.words.values()
        ],
        "features": {
            "name": lexicon.features.name,
            "parts": {str(part): asdict(use) for part, use in lexicon.features.parts.items()},
        },
        "vocabulary": lexicon.vocabulary.to_json(),
        "looking": {
            SAVED_NAMES.get(name, name): value
            for name, value in (asdict(lexicon.view_settings) | {"participants": kind}).items()
            if name != "parts" or value is not None
        },
        "calibration": lexicon.calibration.to_json(),
        "threshold": threshold,
        "belief": None if lexicon.belief is None else lexicon.belief.to_json(),
        "states_count": lexicon.add_log_states,
        "notes": lexicon.notes,
    } | _looks_model(lexicon.noun_looks)


def _looks_model(looks: NounLooks | None) -> dict[str, Any]:
    if looks is None:
        return {}
    return {"noun_looks": {"nouns": looks.nouns, "boldness": looks.boldness}}


def _noun_looks(values: dict[str, Any] | None, arrays: dict[str, Any]) -> NounLooks | None:
    if values is None:
        return None
    own = {name.removeprefix("looks."): row for name, row in arrays.items()}
    nouns = require_texts("nouns", values["nouns"])
    return NounLooks.from_arrays(nouns, own, float(values["boldness"]))


def _lexicon(model: dict[str, Any], arrays: dict[str, Any]) -> LearnedLexicon:
    try:
        lexicon = Lexicon(tuple(_entry(row) for row in model["lexicon"]))
    except LexiconError as error:
        raise MeaningError(str(error)) from error
    vocabulary = FeatureVocabulary.from_json(model["vocabulary"])
    for name in vocabulary.bins:
        if name != LABEL:
            get_feature(name)  # raises if a feature is not registered
    templates = {row["entry"]: _template(row, lexicon, vocabulary) for row in model["words"]}
    names = {saved: name for name, saved in SAVED_NAMES.items()}
    view = {names.get(saved, saved): value for saved, value in model["looking"].items()}
    kinds = {saved: name for name, saved in _SAVED_PARTICIPANTS.items()}
    view["participants"] = kinds.get(view["participants"], view["participants"])
    prior = TrackPrior(**view.pop("track_prior"))
    parts = view.pop("parts", None)
    threshold = model["threshold"]
    belief = model.get("belief")  # missing in lexicons of earlier versions
    require_number("threshold", threshold, none=True)
    return LearnedLexicon(
        lexicon,
        words_from_arrays(templates, arrays, "word."),
        _feature_set(model["features"]),
        vocabulary,
        {name: arrays[f"background.{name}"] for name in vocabulary.bins},
        ViewSettings(**view, track_prior=prior, parts=parts and tuple(parts)),
        Calibration.from_json(model["calibration"]),
        np.inf if threshold is None else float(threshold),
        None if belief is None else Belief.from_json(belief),
        bool(model["states_count"]),
        dict(model["notes"]),
        _noun_looks(model.get("noun_looks"), arrays),
    )


def _entry(row: dict[str, Any]) -> Entry:
    roles, spellings = (
        require_texts("roles", row["roles"]),
        require_texts("spellings", row["spellings"]),
    )
    return Entry(row["name"], PartOfSpeech(row["part"]), roles, spellings)


def _template(row: dict[str, Any], lexicon: Lexicon, vocabulary: FeatureVocabulary) -> WordModel:
    if row["entry"] not in lexicon:
        raise MeaningError(f"there is a word {row['entry']!r} that the lexicon lacks.")
    entry, states = lexicon[row["entry"]], row["states"]
    if (row["part"], row["arity"]) != (str(entry.part), entry.arity):
        raise MeaningError(f"{entry.name!r} is another kind of word in the lexicon.")
    senses = row.get("senses", 1)
    require_integer("the number of states", states, least=1)
    require_integer("the number of senses", senses, least=1)
    if states > _MOST_STATES:
        raise MeaningError(f"{entry.name!r} has {states} states; no word has that many.")
    slots = tuple(_slot(values, entry, vocabulary) for values in row["slots"])
    sizes = [len(vocabulary.bins[slot.feature]) for slot in slots]
    return WordModel(
        entry.name,
        entry.part,
        entry.arity,
        slots,
        np.zeros(states),
        np.zeros((states, states)),
        np.zeros(states),
        tuple(np.zeros((states, size)) for size in sizes),
        bool(row.get("follows", False)),  # missing in lexicons of earlier versions
        senses,
    )


def _slot(values: list[Any], entry: Entry, vocabulary: FeatureVocabulary) -> Slot:
    name, *roles = values
    require_one_of("a feature", name, tuple(vocabulary.bins))
    for role in roles:
        require_one_of("a role", role, tuple(range(entry.arity)))
    if len(set(roles)) != len(roles) or len(roles) != (2 if name in vocabulary.pairs else 1):
        raise MeaningError(f"{name} of {entry.name!r} cannot be measured of {roles}.")
    return Slot(name, tuple(roles))


def _weights(use: dict[str, Any]) -> tuple[tuple[str, float], ...]:
    rows = use.get("weights", ())  # lexicons of earlier versions have none
    for name, weight in rows:
        require_number(f"the weight of {name}", weight, least=0.0)
    return tuple((str(name), float(weight)) for name, weight in rows)


def _feature_set(values: dict[str, Any]) -> FeatureSet:
    return FeatureSet(
        values["name"],
        {
            PartOfSpeech(part): PartFeatures(
                int(use["num_states"]),
                tuple(use["single"]),
                tuple(use["pairs"]),
                bool(use["first_only"]),
                bool(use.get("follows", False)),
                _weights(use),
            )
            for part, use in values["parts"].items()
        },
    )
