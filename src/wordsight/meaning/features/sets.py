"""Feature sets: which features the words of each part of speech use, and how many states they have.

``recommended`` is what mattered on real detections, ``paper`` Table 2 of Yu & Siskind (2013), and
``plain`` is for meanings written by hand.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import combinations

from wordsight.errors import MeaningError
from wordsight.language import Entry, PartOfSpeech

__all__ = [
    "FEATURE_SETS",
    "LABEL",
    "FeatureSet",
    "PartFeatures",
    "Slot",
    "get_feature_set",
]

LABEL = "label"
"""The feature of nouns: the detected class."""


@dataclass(frozen=True)
class Slot:
    """One feature of a word, of one of its arguments or of two.

    Attributes:
        feature: The feature's name.
        roles: Indices of the word's arguments it is measured of.
    """

    feature: str
    roles: tuple[int, ...]


@dataclass(frozen=True)
class PartFeatures:
    """The features of the words of one part of speech.

    Attributes:
        num_states: Number of states of their words.
        single: Features of each argument, or of the first one only (``first_only``).
        pairs: Features of each pair of arguments.
        first_only: Whether features of one object are measured of the first argument only.
        follows: Whether the words share their states with the verb of the sentence.
        weights: Features and powers of their ratios, where not 1.
    """

    num_states: int
    single: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    first_only: bool = False
    follows: bool = False
    weights: tuple[tuple[str, float], ...] = ()

    def weight(self, feature: str) -> float:
        """Return the power of the ratios of a feature."""
        return dict(self.weights).get(feature, 1.0)

    def slots(self, arity: int) -> tuple[Slot, ...]:
        """Return the features of a word with ``arity`` arguments."""
        roles = range(1 if self.first_only else arity)
        singles = (Slot(name, (role,)) for role in roles for name in self.single)
        pairs = (Slot(name, two) for two in combinations(range(arity), 2) for name in self.pairs)
        return (*singles, *pairs)


@dataclass(frozen=True)
class FeatureSet:
    """Features for all parts of speech.

    Attributes:
        name: Its name in settings and saved lexicons.
        parts: The features of each part of speech.
    """

    name: str
    parts: dict[PartOfSpeech, PartFeatures]

    def slots(self, entry: Entry) -> tuple[Slot, ...]:
        """Return the features of a lexicon entry."""
        return self.parts[entry.part].slots(entry.arity)

    def num_states(self, entry: Entry) -> int:
        """Return the number of states of a lexicon entry."""
        return self.parts[entry.part].num_states

    def with_phases(self, count: int | None) -> "FeatureSet":
        """Return the set with ``count`` states for words that have several; unchanged if None."""
        if count is None:
            return self
        return replace(
            self,
            parts={
                part: use if use.num_states == 1 else replace(use, num_states=count)
                for part, use in self.parts.items()
            },
        )

    def with_weights(self, weights: tuple[tuple[str, float], ...]) -> "FeatureSet":
        """Return the set with powers of the ratios of some features."""
        parts = {part: replace(use, weights=weights) for part, use in self.parts.items()}
        return replace(self, parts=parts)

    def with_noun_weight(self, names: Collection[str], weight: float) -> "FeatureSet":
        """Return the set with another power of the ratios of some features of nouns."""
        nouns = self.parts[PartOfSpeech.NOUN]
        kept = tuple(row for row in nouns.weights if row[0] not in names)
        own = replace(nouns, weights=(*kept, *((name, weight) for name in names)))
        return replace(self, parts={**self.parts, PartOfSpeech.NOUN: own})

    def names(self) -> tuple[str, ...]:
        """Return the names of all features but the label, each once."""
        names = (name for part in self.parts.values() for name in (*part.single, *part.pairs))
        return tuple(dict.fromkeys(name for name in names if name != LABEL))


_NOUN = PartFeatures(1, (LABEL,))
_ADJECTIVE = PartFeatures(1, ("tone", "aspect", "area"))

RECOMMENDED = FeatureSet(
    "recommended",
    {
        PartOfSpeech.NOUN: _NOUN,
        PartOfSpeech.ADJECTIVE: _ADJECTIVE,
        PartOfSpeech.VERB: PartFeatures(
            3,
            (
                "speed",
                "vertical-velocity",
                "growth",
                "widening",
                "hand-distance",
                "hand-to-head",
                "hand-speed",
            ),
            (
                "distance",
                "gap",
                "distance-rate",
                "together",
                "share-inside",
                "horizontal-offset",
                "vertical-offset",
                "size-ratio",
                "head-distance",
            ),
        ),
        PartOfSpeech.ADVERB: PartFeatures(3, ("speed", "upper-speed"), follows=True),
        PartOfSpeech.DIRECTION: PartFeatures(
            3, ("horizontal-velocity", "vertical-velocity"), follows=True
        ),
        PartOfSpeech.SPATIAL_PREPOSITION: PartFeatures(
            1, (), ("horizontal-offset", "vertical-offset", "gap")
        ),
        PartOfSpeech.MOTION_PREPOSITION: PartFeatures(
            3, ("speed",), ("distance", "distance-rate"), first_only=True, follows=True
        ),
    },
)
PAPER = FeatureSet(
    "paper",
    {
        PartOfSpeech.NOUN: _NOUN,
        PartOfSpeech.ADJECTIVE: _ADJECTIVE,
        PartOfSpeech.VERB: PartFeatures(
            3, ("paper-speed", "paper-direction"), ("paper-distance", "paper-size-ratio")
        ),
        PartOfSpeech.ADVERB: PartFeatures(3, ("paper-speed",)),
        PartOfSpeech.DIRECTION: PartFeatures(3, ("paper-speed", "paper-direction")),
        PartOfSpeech.SPATIAL_PREPOSITION: PartFeatures(1, (), ("paper-x-position",)),
        PartOfSpeech.MOTION_PREPOSITION: PartFeatures(
            3, ("paper-speed",), ("paper-distance",), first_only=True
        ),
    },
)
PLAIN = FeatureSet(
    "plain",
    {
        PartOfSpeech.NOUN: _NOUN,
        PartOfSpeech.ADJECTIVE: _ADJECTIVE,
        PartOfSpeech.VERB: PartFeatures(3, ("stride", "rise"), ("nearness", "lift", "closing")),
        PartOfSpeech.ADVERB: PartFeatures(3, ("pace",), follows=True),
        PartOfSpeech.DIRECTION: PartFeatures(3, ("stride", "rise"), follows=True),
        PartOfSpeech.SPATIAL_PREPOSITION: PartFeatures(1, (), ("side",)),
        PartOfSpeech.MOTION_PREPOSITION: PartFeatures(
            3, ("stride",), ("closing",), first_only=True, follows=True
        ),
    },
)
ACCELERATING = FeatureSet(
    "accelerating",
    {
        part: replace(use, single=(*use.single, "acceleration"))
        if part in (PartOfSpeech.VERB, PartOfSpeech.ADVERB, PartOfSpeech.DIRECTION)
        else use
        for part, use in RECOMMENDED.parts.items()
    },
)
"""The recommended features, and how things speed up and slow down, which the paper names as the
next to try."""
FEATURE_SETS = {features.name: features for features in (RECOMMENDED, PAPER, PLAIN, ACCELERATING)}
"""The feature sets by name; add your own under another name."""


def get_feature_set(name: str | FeatureSet) -> FeatureSet:
    """Return the feature set of a name; a feature set is returned unchanged."""
    if isinstance(name, FeatureSet):
        return name
    if name not in FEATURE_SETS:
        raise MeaningError(
            f"there is no feature set {name!r}; known are {', '.join(sorted(FEATURE_SETS))}."
        )
    return FEATURE_SETS[name]
