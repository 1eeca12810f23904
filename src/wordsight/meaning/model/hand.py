"""Meanings written by hand, as a baseline and as a starting point.

A TOML file describes every word by its states; the one in the package holds the words of the street
corpus.
"""

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError
from wordsight.language import Lexicon, PartOfSpeech, default_lexicon
from wordsight.meaning.features import (
    LABEL,
    CategoryBins,
    FeatureSet,
    FeatureVocabulary,
    Slot,
    get_feature,
    get_feature_set,
)
from wordsight.meaning.model.calibration import Belief
from wordsight.meaning.model.lexicon import LearnedLexicon, ViewSettings
from wordsight.meaning.model.word import WordModel, uniform_word

__all__ = ["hand_lexicon"]

Array = NDArray[np.float64]

_KEY = re.compile(r"([\w-]+)\((\d(?:,\d)*)\)")
_SURE = 0.95  # probability that a noun refers to the label it is tied to


def hand_lexicon(
    labels: Iterable[str],
    *,
    nouns: Mapping[str, str] | None = None,
    path: str | os.PathLike[str] | None = None,
    lexicon: Lexicon | None = None,
    view_settings: ViewSettings | None = None,
    forced_end: bool = True,
) -> LearnedLexicon:
    """Return a lexicon whose meanings were written by hand.

    Args:
        labels: The labels of the detector.
        nouns: The label that each noun refers to; that of the same name if not given.
        path: The file of meanings; the street corpus if not given.
        lexicon: The grammar; that of the street corpus if not given.
        view_settings: How frames and objects of clips are selected.
        forced_end: Whether the last state must be reached when the clip ends.

    Raises:
        FormatError: If the file cannot be read.
    """
    known = default_lexicon() if lexicon is None else lexicon
    where, text = _text(path)
    try:
        values = tomllib.loads(text)
        features = get_feature_set(values["features"])
        vocabulary = _vocabulary(labels, features)
        words = _nouns(known, vocabulary, features, nouns)
        for entry, row in values["words"].items():
            blank = uniform_word(known[entry], features, vocabulary, forced_end=forced_end)
            words[entry] = _word(blank, row, values)
        belief = _belief(words, values)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise FormatError(
            f"{where} cannot be read as hand-written meanings: {error}. Compare it with the file "
            "of the street corpus that comes with Wordsight."
        ) from error
    background = {name: np.full(len(bins), 1 / len(bins)) for name, bins in vocabulary.bins.items()}
    return LearnedLexicon(
        known,
        words,
        features,
        vocabulary,
        background,
        view_settings or ViewSettings(),
        belief=belief,
        add_log_states=belief is None,
        # A belief makes scores log probabilities; without one they are ratios to the background.
        threshold=0.0 if belief is None else float(np.log(0.5)),
        notes={"source": "written by hand", "file": Path(where).name},
    )


def _text(path: str | os.PathLike[str] | None) -> tuple[str, str]:
    if path is None:
        name = "street.toml"
        return name, resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    try:
        return str(path), Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} cannot be read: {error}.") from error


def _vocabulary(labels: Iterable[str], features: FeatureSet) -> FeatureVocabulary:
    nothing = np.zeros(0)
    bins = {LABEL: CategoryBins(tuple(sorted(set(labels)))).learn(nothing)}
    # Without training clips no bins can be learned; only features with fixed bins can be used.
    bins |= {name: get_feature(name).scheme.learn(nothing) for name in features.names()}
    return FeatureVocabulary(bins)


def _nouns(
    lexicon: Lexicon,
    vocabulary: FeatureVocabulary,
    features: FeatureSet,
    nouns: Mapping[str, str] | None,
) -> dict[str, WordModel]:
    words = {}
    for entry in lexicon.of_part(PartOfSpeech.NOUN):
        label = (nouns or {}).get(entry.name, entry.name)
        if label not in vocabulary.labels:
            continue
        shares = np.full(len(vocabulary.labels), (1 - _SURE) / max(1, len(vocabulary.labels) - 1))
        shares[vocabulary.labels.index(label)] = _SURE
        blank = uniform_word(entry, features, vocabulary)
        words[entry.name] = replace(blank, emissions=(shares[None] / shares.sum(),))
    return words


def _belief(words: Mapping[str, WordModel], values: dict[str, Any]) -> Belief | None:
    """Return the slopes and offsets in the file, of words or of their parts of speech."""
    if "truth" not in values:
        return None
    rows = {
        entry: values["truth"][str(word.part)] | values["words"].get(entry, {})
        for entry, word in words.items()
    }
    slopes: dict[str, tuple[float, ...]] = {
        entry: (float(row["slope"]),) for entry, row in rows.items()
    }
    return Belief(slopes, {entry: float(row["offset"]) for entry, row in rows.items()})


def _word(blank: WordModel, row: dict[str, Any], values: dict[str, Any]) -> WordModel:
    states, floor = row["states"], float(values.get("floor", 0.0))
    if len(states) != blank.num_states:
        raise ValueError(f"{blank.entry} needs {blank.num_states} states, got {len(states)}")
    tables = [table.copy() for table in blank.emissions]
    for number, state in enumerate(states):
        for key, shape in state.items():
            place = blank.slots.index(_slot(key, blank))
            shares = _shares(key, shape, values["shapes"], tables[place].shape[1]) + floor
            tables[place][number] = shares / shares.sum()
    advance = np.array(row.get("advance", ()), dtype=np.float64)
    transition = np.diag(np.append(1 - advance, 1.0)) + np.diag(advance, 1)
    if transition.shape != blank.transition.shape or (advance < 0).any() or (advance > 1).any():
        raise ValueError(f"{blank.entry} needs {blank.num_states - 1} probabilities in 'advance'")
    return replace(blank, transition=transition, emissions=tuple(tables))


def _slot(key: str, word: WordModel) -> Slot:
    match = _KEY.fullmatch(key)
    if match is None:
        raise ValueError(f"{key!r} should look like 'feature(1)' or 'feature(1,2)'")
    slot = Slot(match[1], tuple(int(number) - 1 for number in match[2].split(",")))
    if slot not in word.slots:
        known = sorted({s.feature for s in word.slots})
        raise ValueError(f"{word.entry} does not use {key}; it uses {', '.join(known)}")
    return slot


def _shares(key: str, shape: Any, shapes: dict[str, Any], bins: int) -> Array:
    if isinstance(shape, str):
        shape = shapes[key.partition("(")[0]][shape]
    shares = np.array(shape, dtype=np.float64)
    if shares.shape != (bins,) or (shares < 0).any() or not shares.any():
        raise ValueError(f"{key} needs {bins} shares of 0 or more, got {shape}")
    return shares
