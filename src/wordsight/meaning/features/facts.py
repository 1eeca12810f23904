"""Facts that somebody else knows of things: features that say whether they hold, frame by frame.

Whoever infers states, such as a model of weighted rules, hands over a :class:`NamedClip` with its
facts. A feature is called by what it asks, ``fact:attached(1,2)`` whether the first thing is
attached to the second and ``fact:attached(_,1)`` whether anything is attached to it, so that a
lexicon that was learned with such features says itself what it needs.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wordsight.language import PartOfSpeech
from wordsight.meaning.errors import MeaningError
from wordsight.meaning.features.sets import FeatureSet
from wordsight.meaning.features.told import NamedClip
from wordsight.meaning.features.view import ClipView

__all__ = ["FACT", "fact_arity", "fact_features", "measure_fact", "with_facts"]

FACT = "fact:"
"""How the names of such features begin."""

Array = NDArray[np.float64]

_FORM = re.compile(rf"{FACT}(?P<predicate>[^()|,]+)\((?P<asked>1|1,2|2,1|1,_|_,1)\)")
_OF_ONE = {1: ("1",), 2: ("1,_", "_,1")}
_OF_TWO = {1: (), 2: ("1,2", "2,1")}


def fact_features(predicates: Mapping[str, int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the features of one thing and those of two that ask for facts.

    Args:
        predicates: Per predicate how many arguments it has, one or two.
    """
    for name, arity in predicates.items():
        if arity not in _OF_ONE or _FORM.fullmatch(f"{FACT}{name}(1)") is None:
            raise MeaningError(
                f"{name} has {arity} arguments; words look at facts of one thing or of two."
            )
    single = (f"{FACT}{n}({asked})" for n, arity in predicates.items() for asked in _OF_ONE[arity])
    pairs = (f"{FACT}{n}({asked})" for n, arity in predicates.items() for asked in _OF_TWO[arity])
    return tuple(single), tuple(pairs)


def with_facts(features: FeatureSet, predicates: Mapping[str, int]) -> FeatureSet:
    """Return features under which words look at facts, too.

    Verbs look at all of them, adjectives at those of one thing ("open") and prepositions that say
    where a thing is at those of two ("on").

    Args:
        features: What words look at besides.
        predicates: Per predicate how many arguments it has, one or two.
    """
    single, pairs = fact_features(predicates)
    own = tuple(f"{FACT}{name}(1)" for name, arity in predicates.items() if arity == 1)
    more = {
        PartOfSpeech.VERB: (single, pairs),
        PartOfSpeech.ADJECTIVE: (own, ()),
        PartOfSpeech.SPATIAL_PREPOSITION: ((), pairs),
    }
    parts = dict(features.parts)
    for part, (of_one, of_two) in more.items():
        known = parts[part]
        parts[part] = replace(known, single=(*known.single, *of_one), pairs=(*known.pairs, *of_two))
    return FeatureSet(" ".join([features.name, *single, *pairs]), parts)


def fact_arity(name: str) -> int:
    """Return of how many things a feature is.

    Raises:
        MeaningError: If the name asks for no fact.
    """
    return 2 if _asked(name)[1] in _OF_TWO[2] else 1


def measure_fact(name: str, view: ClipView) -> Array:
    """Return ``(T, J)`` or ``(T, J, J)`` whether a fact holds: 1 or 0, NaN where it is unknown."""
    predicate, asked = _asked(name)
    clip, two = view.clip, asked in _OF_TWO[2]
    shape = (*view.present.shape, *(view.present.shape[1:] if two else ()))
    known = clip.facts.get(predicate) if isinstance(clip, NamedClip) else None
    if known is None or known.ndim != (2 if asked == "1" else 3):
        return np.full(shape, np.nan)
    if asked in _OF_ONE[2]:
        known = known.max(axis=2 if asked == "1,_" else 1, initial=-1)
    elif asked == "2,1":
        known = known.swapaxes(1, 2)
    frames, places = view.frames[:, None], view.places
    if two:
        values = known[frames[:, :, None], places[:, :, None], places[:, None]]
        seen = (places[:, :, None] >= 0) & (places[:, None] >= 0)
    else:
        values, seen = known[frames, places], places >= 0
    return np.where(seen & (values >= 0), values, np.nan).astype(np.float64)


def _asked(name: str) -> tuple[str, str]:
    found = _FORM.fullmatch(name)
    if found is None:
        raise MeaningError(f"{name!r} asks for no fact; expected, for example, fact:on(1,2).")
    return found["predicate"], found["asked"]
