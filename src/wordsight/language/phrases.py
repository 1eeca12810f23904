"""The shape of a sentence between text and meaning: a clause of phrases, and how they are bound.

Parsing builds a clause from text, realisation from a meaning, enumeration from the grammar;
:func:`bind` numbers the participants and lists the words, always in one canonical order.
"""

from dataclasses import dataclass, field

from wordsight.records import Word

__all__ = ["Clause", "Phrase", "Relation", "bind"]


@dataclass(frozen=True)
class Phrase:
    """A noun phrase, ``the red chair to the left of the backpack``.

    Attributes:
        noun: Entry of its noun, or None for ``something``.
        adjectives: Entries of its adjectives in order.
        relations: Where it is said to be.
        definite: Whether it may speak of something already mentioned (``the``); ``a`` and
            ``another`` always bring in something new.
    """

    noun: str | None
    adjectives: tuple[str, ...] = ()
    relations: tuple["Relation", ...] = ()
    definite: bool = True


@dataclass(frozen=True)
class Relation:
    """A preposition with the phrases that follow it."""

    entry: str
    phrases: tuple[Phrase, ...]


@dataclass(frozen=True)
class Clause:
    """A whole sentence.

    Attributes:
        subject: Its first phrase.
        verb: Entry of its verb, or None in ``the chair is to the left of the stool``.
        objects: The phrases that fill the verb's further roles.
        manners: Entries of adverbs and directions; they speak of the subject.
        motions: Motion prepositions; what moves is the subject.
    """

    subject: Phrase
    verb: str | None = None
    objects: tuple[Phrase, ...] = ()
    manners: tuple[str, ...] = ()
    motions: tuple[Relation, ...] = ()


def bind(clause: Clause) -> tuple[Word, ...]:
    """Number the participants of a clause in order of mention and list its words.

    A definite phrase that says nothing new of something mentioned before (same noun, no further
    adjective, no or the same relations) speaks of the same participant, except where that would
    give one word the same participant twice: nobody approaches themselves.
    """
    binder = _Binder()
    subject = binder.place(clause.subject, set())
    if clause.verb is not None:
        binder.attach(clause.verb, subject, clause.objects)
    for entry in clause.manners:
        binder.words.append(Word(entry, (subject,)))
    for relation in clause.motions:
        binder.attach(relation.entry, subject, relation.phrases)
    return tuple(word for word in binder.words if word is not None)


@dataclass
class _Binder:
    """The words so far and the phrases that introduced each participant."""

    words: list[Word | None] = field(default_factory=list)
    introduced: list[Phrase] = field(default_factory=list)

    def place(self, phrase: Phrase, avoid: set[int]) -> int:
        known = self._mentioned(phrase, avoid)
        if known is not None:
            return known
        number = len(self.introduced)
        self.introduced.append(phrase)
        self.words += [Word(entry, (number,)) for entry in phrase.adjectives]
        if phrase.noun is not None:
            self.words.append(Word(phrase.noun, (number,)))
        for relation in phrase.relations:
            self.attach(relation.entry, number, relation.phrases)
        return number

    def attach(self, entry: str, first: int, phrases: tuple[Phrase, ...]) -> None:
        # The word stands before the phrases it governs, but needs their numbers.
        place = len(self.words)
        self.words.append(None)
        participants = [first]
        for phrase in phrases:
            participants.append(self.place(phrase, set(participants)))
        self.words[place] = Word(entry, tuple(participants))

    def _mentioned(self, phrase: Phrase, avoid: set[int]) -> int | None:
        if not phrase.definite or phrase.noun is None:
            return None
        for number, earlier in enumerate(self.introduced):
            if number not in avoid and _says_nothing_new(phrase, earlier):
                return number
        return None


def _says_nothing_new(phrase: Phrase, earlier: Phrase) -> bool:
    return (
        phrase.noun == earlier.noun
        and set(phrase.adjectives) <= set(earlier.adjectives)
        and (not phrase.relations or phrase.relations == earlier.relations)
    )
