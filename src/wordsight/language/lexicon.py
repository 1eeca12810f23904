"""`Lexicon`: words with their part of speech, roles and spellings.

It defines how words combine, not what they mean; meanings are learned from video.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from wordsight.errors import LexiconError, nearest
from wordsight.language.tokens import split_words

__all__ = ["SLOT", "Entry", "Lexicon", "PartOfSpeech", "Pattern"]

SLOT = "_"
"""Position of a noun phrase in a spelling, as in ``picked _ up``."""

Pattern = tuple[str | None, ...]
"""A spelling as words; ``None`` is a slot for a noun phrase."""


class PartOfSpeech(StrEnum):
    """How an entry combines with others."""

    NOUN = "noun"
    ADJECTIVE = "adjective"
    VERB = "verb"
    ADVERB = "adverb"
    DIRECTION = "direction"
    SPATIAL_PREPOSITION = "spatial-preposition"
    MOTION_PREPOSITION = "motion-preposition"

    @property
    def default_roles(self) -> tuple[str, ...]:
        """The roles of an entry of this part of speech when a lexicon file names none."""
        return _DEFAULT_ROLES[self]

    @property
    def takes_slots(self) -> bool:
        """Whether noun phrases may follow the word: verbs and prepositions."""
        return self in _WITH_SLOTS


_DEFAULT_ROLES = {
    PartOfSpeech.NOUN: ("any",),
    PartOfSpeech.ADJECTIVE: ("any",),
    PartOfSpeech.VERB: ("agent", "patient"),
    PartOfSpeech.ADVERB: ("agent",),
    PartOfSpeech.DIRECTION: ("agent",),
    PartOfSpeech.SPATIAL_PREPOSITION: ("any", "referent"),
    PartOfSpeech.MOTION_PREPOSITION: ("agent", "goal"),
}
_WITH_SLOTS = (
    PartOfSpeech.VERB,
    PartOfSpeech.SPATIAL_PREPOSITION,
    PartOfSpeech.MOTION_PREPOSITION,
)


@dataclass(frozen=True)
class Entry:
    """One word of the lexicon.

    Attributes:
        name: Its name in meanings, such as ``picked-up``.
        part: Its part of speech.
        roles: One name per argument; alternatives are joined by ``/``. The first argument of a
            verb is the subject, that of a preposition what is located or moves.
        spellings: Its spellings, the preferred one first. ``_`` marks the positions of the noun
            phrases after the first one; without it, they follow in order. If empty, the name with
            hyphens read as spaces.

    Examples:
        >>> Entry("placed-in", PartOfSpeech.VERB, ("agent", "patient", "goal"),
        ...       ("placed _ in _",)).patterns
        (('placed', None, 'in', None),)
    """

    name: str
    part: PartOfSpeech
    roles: tuple[str, ...] = ()
    spellings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "part", PartOfSpeech(self.part))
        object.__setattr__(self, "roles", tuple(self.roles) or self.part.default_roles)
        object.__setattr__(self, "spellings", tuple(self.spellings) or (self.name,))
        if not self.name or self.name != self.name.strip().lower() or " " in self.name:
            raise LexiconError(
                f"an entry's name is lower-case words joined by hyphens, got {self.name!r}."
            )
        self._check_arity()
        for spelling in self.spellings:
            self._check_spelling(spelling)

    @property
    def arity(self) -> int:
        """Number of arguments."""
        return len(self.roles)

    @cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """Its spellings as words and slots."""
        return tuple(_pattern(spelling, self.arity) for spelling in self.spellings)

    def _check_arity(self) -> None:
        low = 2 if self.part.takes_slots and self.part is not PartOfSpeech.VERB else 1
        high = None if self.part.takes_slots else 1
        if self.arity < low or (high is not None and self.arity > high):
            wanted = f"{low} or more roles" if high is None else "exactly one role"
            raise LexiconError(
                f"{self.name}: a {self.part} has {wanted}, got {self.arity}: "
                f"({', '.join(self.roles)})."
            )

    def _check_spelling(self, spelling: str) -> None:
        pattern = _pattern(spelling, self.arity)
        if not pattern or pattern[0] is None:
            raise LexiconError(f"{self.name}: a spelling begins with a word, got {spelling!r}.")
        if pattern.count(None) != self.arity - 1:
            raise LexiconError(
                f"{self.name}: {spelling!r} marks {pattern.count(None)} places for noun phrases "
                f"with '{SLOT}', but its roles ({', '.join(self.roles)}) need {self.arity - 1} "
                "after the first; leave the marks out or mark every one."
            )


def _pattern(spelling: str, arity: int) -> Pattern:
    parts: list[str | None] = []
    for place, piece in enumerate(spelling.split(SLOT)):
        parts += ([None] if place else []) + list(split_words(piece))
    return tuple(parts if SLOT in spelling else parts + [None] * (arity - 1))


@dataclass(frozen=True)
class Lexicon:
    """A set of entries, for parsers and learners.

    Attributes:
        entries: The entries in the order they were given; names are unique, and no two entries
            of one part of speech are spelled alike.
    """

    entries: tuple[Entry, ...] = ()
    _by_name: dict[str, Entry] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", tuple(self.entries))
        by_name: dict[str, Entry] = {}
        spelled: dict[tuple[PartOfSpeech, Pattern], str] = {}
        for entry in self.entries:
            if entry.name in by_name:
                raise LexiconError(f"the entry {entry.name!r} occurs twice; give it another name.")
            by_name[entry.name] = entry
            for pattern in entry.patterns:
                other = spelled.setdefault((entry.part, pattern), entry.name)
                if other != entry.name:
                    raise LexiconError(
                        f"the entries {other!r} and {entry.name!r} are both a {entry.part} spelled "
                        f"{readable(pattern)!r}; remove one or change a spelling."
                    )
        object.__setattr__(self, "_by_name", by_name)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # Parser caches look a lexicon up for every sentence.
        return hash(self.entries)

    def __getitem__(self, name: str) -> Entry:
        try:
            return self._by_name[name]
        except KeyError:
            close = nearest(name, self._by_name)
            hint = f" Nearest: {', '.join(close)}." if close else ""
            raise LexiconError(f"the lexicon has no entry {name!r}.{hint}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def of_part(self, part: PartOfSpeech, arity: int | None = None) -> tuple[Entry, ...]:
        """Return the entries of one part of speech, and of one arity if given, in order."""
        return tuple(
            e for e in self.entries if e.part is part and (arity is None or e.arity == arity)
        )

    def example(self, fit: Callable[[str, int, str], float] = lambda verb, place, noun: 0.0) -> str:
        """Return a plain sentence of these words, to show in messages; empty if there is no verb.

        Args:
            fit: How well a noun fits the place of a verb, given their names; of those that fit
                equally well, the first is taken.
        """
        verbs = sorted(self.of_part(PartOfSpeech.VERB), key=lambda verb: verb.arity != 2)
        nouns = list(self.of_part(PartOfSpeech.NOUN))
        if not verbs or len(nouns) < verbs[0].arity:
            return ""
        chosen: list[Entry] = []
        for place in range(verbs[0].arity):
            rest = [noun for noun in nouns if noun not in chosen]
            chosen.append(max(rest, key=lambda noun: fit(verbs[0].name, place, noun.name)))
        names = iter(f"the {readable(noun.patterns[0])}" for noun in chosen)
        subject = next(names)
        said = " ".join(next(names) if one is None else one for one in verbs[0].patterns[0])
        return f"{subject[0].upper()}{subject[1:]} {said}."

    def extended(self, entries: Iterable[Entry]) -> "Lexicon":
        """Return a lexicon with more entries; an entry with a known name replaces the old one."""
        merged = dict(self._by_name)
        merged.update((entry.name, entry) for entry in entries)
        return Lexicon(tuple(merged.values()))


def readable(pattern: Pattern) -> str:
    """Return a pattern as lexicon files spell it."""
    return " ".join(SLOT if word is None else word for word in pattern)
