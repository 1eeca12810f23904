"""Features that other models supply: names of things, and facts about them.

A learner of attributes or a model of weighted rules hands over an :class:`AnnotatedClip`. Every
set of words of which one fits a thing is one feature, named after its words, so that a lexicon
learned with such features states itself what it needs.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.language import PartOfSpeech
from wordsight.meaning.errors import MeaningError
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
    "with_facts",
    "with_names",
]


NAME_PREFIX = "told:"
"""How the names of such features begin."""
_SEPARATOR = "|"


@dataclass(frozen=True, eq=False, repr=False)
class AnnotatedClip(Clip):
    """A clip whose things have been named, or of whose things facts are known.

    Attributes:
        groups: Sets of words; of each set one word fits a thing.
        named: ``(groups, T, J)`` which word of each set fits each detection; -1 where none does,
            or nobody looked.
        facts: Per predicate ``(T, J)`` or, if it is of two things, ``(T, J, J)`` whether it holds
            of each detection: 1 or 0, -1 where that is not known.
    """

    groups: tuple[tuple[str, ...], ...] = ()
    named: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 0, 0), dtype=np.int64))
    facts: dict[str, NDArray[np.int8]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = (len(self.groups), *self.mask.shape)
        if self.named.shape != shape and self.groups:
            raise MeaningError(f"names of things must have shape {shape}, got {self.named.shape}.")
        frames, most = self.mask.shape
        for name, known in self.facts.items():
            if known.shape not in ((frames, most), (frames, most, most)):
                raise MeaningError(
                    f"facts must have shape {(frames, most)} or {(frames, most, most)}, got "
                    f"{known.shape} for {name}."
                )

    def part(self, start: float, end: float) -> "AnnotatedClip":
        """Return what was seen from ``start`` to ``end`` seconds, with its names and facts."""
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
    """Return what the feature of a set of words is called."""
    if any(_SEPARATOR in word or not word for word in words) or len(set(words)) < len(words):
        raise MeaningError(f"words must differ and hold no {_SEPARATOR!r}, got {list(words)}.")
    return NAME_PREFIX + _SEPARATOR.join(words)


def feature_words(name: str) -> tuple[str, ...]:
    """Undo :func:`name_feature`."""
    return tuple(name.removeprefix(NAME_PREFIX).split(_SEPARATOR))


def with_names(features: FeatureSet, groups: Sequence[Sequence[str]]) -> FeatureSet:
    """Return features under which adjectives look at words that somebody else has, too."""
    names = tuple(name_feature(words) for words in groups)
    adjective = features.parts[PartOfSpeech.ADJECTIVE]
    wider = replace(adjective, single=(*adjective.single, *names))
    parts = {**features.parts, PartOfSpeech.ADJECTIVE: wider}
    return FeatureSet(" ".join([features.name, *names]), parts)


def measure_names(name: str, view: ClipView) -> NDArray[np.float64]:
    """Return ``(T, J)`` which of the words fits each thing; NaN where none is known to."""
    words, clip = feature_words(name), view.clip
    if not isinstance(clip, AnnotatedClip) or words not in clip.groups:
        return np.full(view.present.shape, np.nan)
    named = clip.named[clip.groups.index(words)]
    found = named[view.frames[:, None], view.places]
    return np.where((view.places >= 0) & (found >= 0), found, np.nan)


# Facts that somebody else knows of things: features that say whether they hold, frame by frame.
#
# Whoever infers states, such as a model of weighted rules, hands over a :class:`AnnotatedClip` with
# its facts. A feature is called by what it asks, ``fact:attached(1,2)`` whether the first thing is
# attached to the second and ``fact:attached(_,1)`` whether anything is attached to it, so that a
# lexicon that was learned with such features says itself what it needs.


FACT_PREFIX = "fact:"
"""How the names of such features begin."""

Array = NDArray[np.float64]

_FORM = re.compile(rf"{FACT_PREFIX}(?P<predicate>[^()|,]+)\((?P<asked>1|1,2|2,1|1,_|_,1)\)")
_OF_ONE = {1: ("1",), 2: ("1,_", "_,1")}
_OF_TWO = {1: (), 2: ("1,2", "2,1")}


def fact_features(predicates: Mapping[str, int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the features of one thing and those of two that ask for facts.

    Args:
        predicates: Per predicate how many arguments it has, one or two.
    """
    for name, arity in predicates.items():
        if arity not in _OF_ONE or _FORM.fullmatch(f"{FACT_PREFIX}{name}(1)") is None:
            raise MeaningError(
                f"{name} has {arity} arguments; words look at facts of one thing or of two."
            )
    single = (
        f"{FACT_PREFIX}{n}({asked})" for n, arity in predicates.items() for asked in _OF_ONE[arity]
    )
    pairs = (
        f"{FACT_PREFIX}{n}({asked})" for n, arity in predicates.items() for asked in _OF_TWO[arity]
    )
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
    own = tuple(f"{FACT_PREFIX}{name}(1)" for name, arity in predicates.items() if arity == 1)
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
    return 2 if _parsed_fact(name)[1] in _OF_TWO[2] else 1


def measure_fact(name: str, view: ClipView) -> Array:
    """Return ``(T, J)`` or ``(T, J, J)`` whether a fact holds: 1 or 0, NaN where it is unknown."""
    predicate, asked = _parsed_fact(name)
    clip, two = view.clip, asked in _OF_TWO[2]
    shape = (*view.present.shape, *(view.present.shape[1:] if two else ()))
    known = clip.facts.get(predicate) if isinstance(clip, AnnotatedClip) else None
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


def _parsed_fact(name: str) -> tuple[str, str]:
    found = _FORM.fullmatch(name)
    if found is None:
        raise MeaningError(f"{name!r} asks for no fact; expected, for example, fact:on(1,2).")
    return found["predicate"], found["asked"]
