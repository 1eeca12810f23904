"""Which features each part of speech looks at, and how many states its words have.

The recommended set is what mattered on real detections; the paper's set is Table 2 of the paper;
the plain set is for meanings written by hand.
"""

from dataclasses import dataclass, replace
from itertools import combinations

from wordsight.language import Entry, PartOfSpeech
from wordsight.meaning.errors import MeaningError

__all__ = ["FEATURE_SETS", "LABEL", "FeatureSet", "PartFeatures", "Slot"]

LABEL = "label"
"""The feature of nouns: which detector fired."""


@dataclass(frozen=True)
class Slot:
    """One feature of a word, of one of its roles or of two.

    Attributes:
        feature: The feature's name.
        roles: Which of the word's arguments it is measured of.
    """

    feature: str
    roles: tuple[int, ...]


@dataclass(frozen=True)
class PartFeatures:
    """What the words of one part of speech look at.

    Attributes:
        num_states: How many states their words have; more than one go from left to right.
        single: Features of each argument, or of the first one only (``first_only``).
        pairs: Features of each two arguments.
        first_only: Whether features of one thing are taken of the first argument only.
        follows: Whether the words go through their states together with the verb.
    """

    num_states: int
    single: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    first_only: bool = False
    follows: bool = False

    def slots(self, arity: int) -> tuple[Slot, ...]:
        """Return the features of a word with so many arguments."""
        roles = range(1 if self.first_only else arity)
        singles = (Slot(name, (role,)) for role in roles for name in self.single)
        pairs = (Slot(name, two) for two in combinations(range(arity), 2) for name in self.pairs)
        return (*singles, *pairs)


@dataclass(frozen=True)
class FeatureSet:
    """Features for all parts of speech.

    Attributes:
        name: What it is called in settings and saved lexicons.
        parts: What each part of speech looks at.
    """

    name: str
    parts: dict[PartOfSpeech, PartFeatures]

    def slots(self, entry: Entry) -> tuple[Slot, ...]:
        """Return the features of a lexicon entry."""
        return self.parts[entry.part].slots(entry.arity)

    def num_states(self, entry: Entry) -> int:
        """Return how many states an entry has."""
        return self.parts[entry.part].num_states

    def with_phases(self, count: int | None) -> "FeatureSet":
        """Return the same set for words whose events go through so many states; None: as it is."""
        if count is None:
            return self
        return replace(
            self,
            parts={
                part: use if use.num_states == 1 else replace(use, num_states=count)
                for part, use in self.parts.items()
            },
        )

    def names(self) -> tuple[str, ...]:
        """Return all features but the label, each once."""
        found = (name for part in self.parts.values() for name in (*part.single, *part.pairs))
        return tuple(dict.fromkeys(name for name in found if name != LABEL))


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
FEATURE_SETS = {features.name: features for features in (RECOMMENDED, PAPER, PLAIN)}
"""The sets that can be asked for by name; add your own under another name."""


def get_feature_set(name: str | FeatureSet) -> FeatureSet:
    """Return the feature set of a name; one that is a set already as it is."""
    if isinstance(name, FeatureSet):
        return name
    if name not in FEATURE_SETS:
        raise MeaningError(
            f"there is no feature set {name!r}; known are {', '.join(sorted(FEATURE_SETS))}."
        )
    return FEATURE_SETS[name]
