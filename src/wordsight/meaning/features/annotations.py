"""Features that other models supply: names of objects, and facts about them.

A learner of attributes or a model of weighted rules supplies an :class:`AnnotatedClip`. A feature
is named after what it asks, so that a saved lexicon states which annotations it needs:
``told:red|green`` for which of two words fits an object, ``fact:attached(1,2)`` for whether the
first object is attached to the second, ``fact:attached(_,1)`` for whether anything is attached to
the object.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import MeaningError
from wordsight.language import PartOfSpeech
from wordsight.meaning.features.sets import FeatureSet
from wordsight.meaning.features.view import ClipView
from wordsight.records import Clip

__all__ = [
    "FACT_PREFIX",
    "NAME_PREFIX",
    "AnnotatedClip",
    "fact_arity",
    "fact_features",
    "feature_words",
    "measure_fact",
    "measure_names",
    "name_feature",
    "taught_meaning",
    "with_facts",
    "with_names",
]

NAME_PREFIX = "told:"
"""Prefix of features whose bins are words that fit an object."""

FACT_PREFIX = "fact:"
"""Prefix of features that ask whether a fact holds."""

_SEPARATOR = "|"
_RIGHT = 0.9  # how often a thing is given the word that fits it, before anything is learned
_FACT = re.compile(rf"{FACT_PREFIX}(?P<predicate>[^()|,]+)\((?P<arguments>1|1,2|2,1|1,_|_,1)\)")
# Arguments of features of one object and of two, by the arity of the predicate.
_OF_ONE = {1: ("1",), 2: ("1,_", "_,1")}
_OF_TWO = {1: (), 2: ("1,2", "2,1")}


@dataclass(frozen=True, eq=False, repr=False)
class AnnotatedClip(Clip):
    """A clip with names of its objects, or facts about them.

    Attributes:
        groups: Sets of words; of each set at most one word fits an object.
        named: ``(groups, T, J)`` index of the word of each set that fits each detection; -1 where
            none does or it is unknown.
        facts: Per predicate ``(T, J)`` or, if it has two arguments, ``(T, J, J)`` whether it holds
            of each detection: 1 or 0, -1 where unknown.
    """

    groups: tuple[tuple[str, ...], ...] = ()
    named: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 0, 0), dtype=np.int64))
    facts: dict[str, NDArray[np.int8]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = (len(self.groups), *self.mask.shape)
        if self.named.shape != shape and self.groups:
            raise MeaningError(f"names of objects must have shape {shape}, got {self.named.shape}.")
        frames, most = self.mask.shape
        for name, known in self.facts.items():
            if known.shape not in ((frames, most), (frames, most, most)):
                raise MeaningError(
                    f"facts must have shape {(frames, most)} or {(frames, most, most)}, got "
                    f"{known.shape} for {name}."
                )

    def part(self, start: float, end: float) -> "AnnotatedClip":
        """Return the part from ``start`` to ``end`` seconds, with its names and facts."""
        rows = (self.times >= start) & (self.times < end)
        return replace(
            self,
            start=start,
            end=end,
            detections=self.detections.between(start, end),
            named=self.named[:, rows] if self.groups else self.named,
            facts={name: known[rows] for name, known in self.facts.items()},
        )


def name_feature(words: Sequence[str]) -> str:
    """Return the name of the feature of a set of words."""
    if any(_SEPARATOR in word or not word for word in words) or len(set(words)) < len(words):
        raise MeaningError(f"words must differ and hold no {_SEPARATOR!r}, got {list(words)}.")
    return NAME_PREFIX + _SEPARATOR.join(words)


def feature_words(name: str) -> tuple[str, ...]:
    """Undo :func:`name_feature`."""
    return tuple(name.removeprefix(NAME_PREFIX).split(_SEPARATOR))


def with_names(
    features: FeatureSet, groups: Sequence[Sequence[str]], nouns: Collection[str] = ()
) -> FeatureSet:
    """Return a feature set whose words also use names of objects.

    Args:
        features: The feature set.
        groups: Sets of words, all of which adjectives use.
        nouns: Which words are nouns; nouns use the sets that have one.
    """
    names = tuple(name_feature(words) for words in groups)
    of_nouns = tuple(
        name for name, words in zip(names, groups, strict=True) if not set(nouns).isdisjoint(words)
    )
    more = {PartOfSpeech.ADJECTIVE: (names, ()), PartOfSpeech.NOUN: (of_nouns, ())}
    return _extended(features, more, names)


def taught_meaning(feature: str, word: str) -> NDArray[np.float64] | None:
    """Return how often a thing that a taught word fits is given each word of a feature.

    ``None`` where the feature does not ask for names, or not for this one.
    """
    known = feature_words(feature) if feature.startswith(NAME_PREFIX) else ()
    if word not in known:
        return None
    own = np.eye(len(known))[known.index(word)]
    return np.asarray(_RIGHT * own + (1 - _RIGHT) / len(known))


def measure_names(name: str, view: ClipView) -> NDArray[np.float64]:
    """Return ``(T, J)`` the index of the word that fits each object; NaN where unknown."""
    words, clip = feature_words(name), view.clip
    if not isinstance(clip, AnnotatedClip) or words not in clip.groups:
        return np.full(view.present.shape, np.nan)
    named = clip.named[clip.groups.index(words)][view.frames[:, None], view.indices]
    return np.where((view.indices >= 0) & (named >= 0), named, np.nan)


def fact_features(predicates: Mapping[str, int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the features of one object and of two that ask for facts.

    Args:
        predicates: Per predicate its number of arguments, one or two.
    """
    for name, arity in predicates.items():
        if arity not in _OF_ONE or _FACT.fullmatch(f"{FACT_PREFIX}{name}(1)") is None:
            raise MeaningError(
                f"{name} has {arity} arguments; words use facts of one object or of two."
            )
    single, pairs = (
        tuple(
            f"{FACT_PREFIX}{name}({arguments})"
            for name, arity in predicates.items()
            for arguments in forms[arity]
        )
        for forms in (_OF_ONE, _OF_TWO)
    )
    return single, pairs


def with_facts(features: FeatureSet, predicates: Mapping[str, int]) -> FeatureSet:
    """Return a feature set whose words also use facts.

    Verbs use all of them, adjectives those of one object ("open") and spatial prepositions those
    of two ("on").

    Args:
        features: The feature set.
        predicates: Per predicate its number of arguments, one or two.
    """
    single, pairs = fact_features(predicates)
    own = tuple(f"{FACT_PREFIX}{name}(1)" for name, arity in predicates.items() if arity == 1)
    more = {
        PartOfSpeech.VERB: (single, pairs),
        PartOfSpeech.ADJECTIVE: (own, ()),
        PartOfSpeech.SPATIAL_PREPOSITION: ((), pairs),
    }
    return _extended(features, more, (*single, *pairs))


def _extended(
    features: FeatureSet,
    more: Mapping[PartOfSpeech, tuple[tuple[str, ...], tuple[str, ...]]],
    names: tuple[str, ...],
) -> FeatureSet:
    parts = dict(features.parts)
    for part, (single, pairs) in more.items():
        known = parts[part]
        parts[part] = replace(known, single=(*known.single, *single), pairs=(*known.pairs, *pairs))
    return FeatureSet(" ".join([features.name, *names]), parts)


def fact_arity(name: str) -> int:
    """Return whether a feature is of one object or of two.

    Raises:
        MeaningError: If the name asks for no fact.
    """
    return 2 if _parsed_fact(name)[1] in _OF_TWO[2] else 1


def measure_fact(name: str, view: ClipView) -> NDArray[np.float64]:
    """Return ``(T, J)`` or ``(T, J, J)`` whether a fact holds: 1 or 0, NaN where unknown."""
    predicate, arguments = _parsed_fact(name)
    clip, two = view.clip, arguments in _OF_TWO[2]
    shape = (*view.present.shape, *(view.present.shape[1:] if two else ()))
    known = clip.facts.get(predicate) if isinstance(clip, AnnotatedClip) else None
    if known is None or known.ndim != (2 if arguments == "1" else 3):
        return np.full(shape, np.nan)
    if arguments in _OF_ONE[2]:
        known = known.max(axis=2 if arguments == "1,_" else 1, initial=-1)
    elif arguments == "2,1":
        known = known.swapaxes(1, 2)
    frames, indices = view.frames[:, None], view.indices
    if two:
        values = known[frames[:, :, None], indices[:, :, None], indices[:, None]]
        detected = (indices[:, :, None] >= 0) & (indices[:, None] >= 0)
    else:
        values, detected = known[frames, indices], indices >= 0
    return np.where(detected & (values >= 0), values, np.nan).astype(np.float64)


def _parsed_fact(name: str) -> tuple[str, str]:
    match = _FACT.fullmatch(name)
    if match is None:
        raise MeaningError(f"{name!r} asks for no fact; expected, for example, fact:on(1,2).")
    return match["predicate"], match["arguments"]
