"""Words that somebody else has for things: features whose bins are the words themselves.

Whoever names things, such as a learner of attributes, hands over a :class:`NamedClip`. Every set of
words of which one fits a thing is one feature, called by its words, so that a lexicon that was
learned with such features says itself what it needs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.language import PartOfSpeech
from wordsight.meaning.errors import MeaningError
from wordsight.meaning.features.sets import FeatureSet
from wordsight.meaning.features.view import ClipView
from wordsight.records import Clip

__all__ = ["TOLD", "NamedClip", "measure_told", "told_feature", "told_words", "with_told"]

TOLD = "told:"
"""How the names of such features begin."""
_BETWEEN = "|"


@dataclass(frozen=True, eq=False, repr=False)
class NamedClip(Clip):
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

    def part(self, start: float, end: float) -> "NamedClip":
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


def told_feature(words: Sequence[str]) -> str:
    """Return what the feature of a set of words is called."""
    if any(_BETWEEN in word or not word for word in words) or len(set(words)) < len(words):
        raise MeaningError(f"words must differ and hold no {_BETWEEN!r}, got {list(words)}.")
    return TOLD + _BETWEEN.join(words)


def told_words(name: str) -> tuple[str, ...]:
    """Undo :func:`told_feature`."""
    return tuple(name.removeprefix(TOLD).split(_BETWEEN))


def with_told(features: FeatureSet, groups: Sequence[Sequence[str]]) -> FeatureSet:
    """Return features under which adjectives look at words that somebody else has, too."""
    names = tuple(told_feature(words) for words in groups)
    adjective = features.parts[PartOfSpeech.ADJECTIVE]
    wider = replace(adjective, single=(*adjective.single, *names))
    parts = {**features.parts, PartOfSpeech.ADJECTIVE: wider}
    return FeatureSet(" ".join([features.name, *names]), parts)


def measure_told(name: str, view: ClipView) -> NDArray[np.float64]:
    """Return ``(T, J)`` which of the words fits each thing; NaN where none is known to."""
    words, clip = told_words(name), view.clip
    if not isinstance(clip, NamedClip) or words not in clip.groups:
        return np.full(view.present.shape, np.nan)
    named = clip.named[clip.groups.index(words)]
    found = named[view.frames[:, None], view.places]
    return np.where((view.places >= 0) & (found >= 0), found, np.nan)
