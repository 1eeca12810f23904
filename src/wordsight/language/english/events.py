"""What a text says, before any lexicon is asked: events, who and what takes part, and the order.

A clause may leave out what it takes from the one before it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from wordsight.language.english.words import (
    COLOURS,
    MEASURES,
    OBJECT_VERBS,
    OF_THINGS,
    PEOPLE_PRONOUNS,
    base_form,
    is_continuous,
    is_participle,
    kind_of,
)
from wordsight.records import BODY_PARTS

__all__ = [
    "LINKS",
    "MOST_COUNTED",
    "Event",
    "Mention",
    "Reading",
    "complete",
    "give_voice",
    "in_order",
    "of_another",
    "repeated",
    "resolve_pronouns",
]

MOST_COUNTED = 4
"""Numbers up to this stand for so many participants."""

_PERSONAL = frozenset(
    ["he", "she", "him", "her", "they", "them", "himself", "herself", "themselves"]
)
_THINGS = frozenset(["it", "itself", "they", "them", "this", "that", "these", "those"])
_MEN = frozenset(["man", "boy", "guy", "gentleman"])
_WOMEN = frozenset(["woman", "girl", "lady"])
_NEVER = dict.fromkeys(["he", "him", "himself"], _WOMEN) | dict.fromkeys(
    ["she", "her", "herself"], _MEN
)

LINKS = {
    "then": "then",
    "and then": "then",
    "after that": "then",
    ".": "then",
    "before": "before",
} | {
    "after": "after",
    "once": "after",
    "as soon as": "after",
    "when": "while",
    "while": "while",
    "as": "while",
    "before that": "after",
    "until": "before",
    "since": "after",
}
"""How an event follows the one before it, by the word between them; ``and`` otherwise."""


@dataclass
class Mention:
    """A noun phrase.

    Attributes:
        words: The words of its noun, the head last; empty if unnamed or a pronoun.
        adjectives: Its adjectives.
        pronoun: The pronoun, if it is one.
        count: How many, if a number says so.
        plural: Whether it is in the plural.
        definite: Whether it may be something mentioned before.
        relations: Prepositional phrases about it.
        focus: Whether a question asks for it.
        marked: Whether a determiner or number shows that its last word is a noun.
        joined: Whether "and" joins it to the phrase before.
    """

    words: list[str] = field(default_factory=list)
    adjectives: list[str] = field(default_factory=list)
    pronoun: str | None = None
    count: int | None = None
    plural: bool = False
    definite: bool = True
    relations: list[tuple[str, "Mention"]] = field(default_factory=list)
    focus: bool = False
    marked: bool = False
    joined: bool = False

    @property
    def head(self) -> str | None:
        """The base form of the noun, or None."""
        return base_form(self.words[-1], "N") if self.words else None

    @property
    def is_person(self) -> bool:
        """Whether it names people."""
        if self.pronoun is not None:
            return self.pronoun in PEOPLE_PRONOUNS
        return self.head is not None and kind_of(self.head) == "person"

    @property
    def acts(self) -> bool:
        """Whether it names people or hands, by whom things are done."""
        return self.is_person or self.head in BODY_PARTS

    @property
    def is_colour(self) -> bool:
        """Whether it is nothing but colours: "black" of "a man in black"."""
        words = [*self.adjectives, *self.words]
        return not self.marked and bool(words) and all(word in COLOURS for word in words)

    @property
    def counts(self) -> bool:
        """Whether it only says how many there are of what follows "of"."""
        return not self.words or (len(self.words) == 1 and self.words[0] in MEASURES)


@dataclass
class Event:
    """One verb with who and what takes part.

    Attributes:
        verb: The verb as it is written; None where something only is there or is so.
        particles: Its particles: "up" of "picked up".
        subjects: Who does it; several if joined by "and".
        objects: Whom or what it is done to.
        obliques: Prepositions after the verb, each with its phrase and whether an object precedes.
        adverbs: Its adverbs.
        directions: Its directions.
        negated: Whether it is denied.
        passive: Whether it was said in the passive.
        link: How it follows the event before: "", ``and``, ``then``, ``before``, ``after``,
            ``while``.
        split: Whether the particle follows the object.
        is_leading: Whether it stands before the main clause in the text.
        goes_on: Whether it has left out its subject, which is that of the event before.
    """

    verb: str | None = None
    particles: list[str] = field(default_factory=list)
    subjects: list[Mention] = field(default_factory=list)
    objects: list[Mention] = field(default_factory=list)
    obliques: list[tuple[str, Mention, bool]] = field(default_factory=list)
    adverbs: list[str] = field(default_factory=list)
    directions: list[str] = field(default_factory=list)
    negated: bool = False
    passive: bool = False
    link: str = ""
    split: bool = False
    is_leading: bool = False
    goes_on: bool = False

    @property
    def mentions(self) -> list[Mention]:
        """All phrases of the event, with those inside others."""
        found = [*self.subjects, *self.objects, *(mention for _, mention, _ in self.obliques)]
        for mention in found:
            found.extend(inner for _, inner in mention.relations)
        return found

    @property
    def is_participial(self) -> bool:
        """Whether it may say what is done to its subject: "the car parked at the corner"."""
        done = base_form(self.verb or "", "V") in OBJECT_VERBS | OF_THINGS
        agents = any(preposition == "by" for preposition, _, _ in self.obliques)
        return is_participle(self.verb or "") and not self.objects and (done or agents)

    @property
    def is_headline(self) -> bool:
        """Whether it is a passive without "is": "bottle lifted by hand"."""
        agents = [m for preposition, m, _ in self.obliques if preposition == "by"]
        return (
            self.verb is not None
            and is_participle(self.verb)
            and not self.objects
            and (base_form(self.verb, "V") in OBJECT_VERBS or any(m.acts for m in agents))
            and bool(self.subjects)
            and not any(m.acts or m.marked or not m.words for m in self.subjects)
        )


def repeated(mentions: Sequence[Mention]) -> list[Mention]:
    """Return phrases for what was mentioned before."""
    return [
        Mention(m.words, [*m.adjectives], m.pronoun, None, m.plural, True, [], m.focus, m.marked)
        for m in mentions
    ]


@dataclass
class Reading:
    """What a text says.

    Attributes:
        text: The text.
        events: Its events in order of mention.
        question: What it asks, if it does: ``who``, ``what``, ``when``, ``where``, ``how many``,
            ``how often`` or ``whether``.
        ignored: Words that were left out.
        guesses: What pronouns were taken for, each as "it = bottle".
        cost: How unusual it is as a sentence.
    """

    text: str
    events: list[Event]
    question: str | None = None
    ignored: list[str] = field(default_factory=list)
    guesses: list[str] = field(default_factory=list)
    cost: float = 0.0


def resolve_pronouns(reading: Reading, earlier: list[Mention]) -> None:
    """Bind the pronouns of a reading, and note each as a guess.

    Args:
        reading: The reading; its mentions are changed.
        earlier: Phrases of the captions before it, oldest first; those of the reading are added.
    """
    first = [event for event in reading.events if event.is_leading]
    others = [event for event in reading.events if not event.is_leading]
    # Again for what a clause that stands first in the text says later.
    for events in (first + others, first):
        for event in events:
            own = event.mentions
            for mention in own:
                if mention.pronoun in _PERSONAL | _THINGS:
                    _bind(mention, reading, [m for m in earlier if m not in own])
            named = [m for m in own if m.words or m.pronoun in PEOPLE_PRONOUNS]
            direct = [*event.subjects, *event.objects]
            # What something is done to is meant rather than where: "puts the cup on the table".
            earlier.extend(m for m in named if not any(m is one for one in direct))
            earlier.extend(m for m in named if any(m is one for one in direct))


def complete(event: Event, before: Event) -> None:
    """Give a clause without a verb that of the clause before, where it says no more than a way.

    "The hand puts the bottle to the left and the glass to the right", "the ball rolls across the
    grass and into the water".
    """
    if event.verb is not None:
        return
    way = event.directions or (event.obliques and not event.subjects and not event.objects)
    if not way:
        return
    if before.verb is None:
        for about in (before.objects or before.subjects)[-1:]:
            about.relations += [(preposition, m) for preposition, m, _ in event.obliques]
        return
    event.verb, event.particles = before.verb, list(before.particles)
    event.objects = event.subjects
    if before.particles and before.objects and not before.split and not event.subjects:
        event.particles = []  # "down the hill and into the water"
    elif not event.objects:
        event.objects = repeated(before.objects)
    event.subjects = repeated(before.subjects)
    event.obliques = [(p, m, bool(event.objects)) for p, m, _ in event.obliques]


def give_voice(event: Event) -> None:
    """Say a clause in the passive actively."""
    if event.passive or event.is_headline:
        agents = [m for preposition, m, _ in event.obliques if preposition == "by"]
        event.obliques = [(p, m, True) for p, m, _ in event.obliques if p != "by"]
        event.subjects, event.objects = agents, event.subjects + event.objects


_IN_FRONT = frozenset(["kneel", "bow", "stand", "sit", "appear", "lie", "dance", "perform"])
_IN_PURSUIT = frozenset(["run", "look", "go", "chase", "come", "walk", "ask", "take", "call"])


def of_another(event: Event) -> Event | None:
    """Take off "before the man" of "the woman left before the man", as what the man did."""
    verb = base_form(event.verb or "", "V")
    place = {"before": _IN_FRONT, "after": _IN_PURSUIT}
    for oblique in event.obliques:
        preposition, who, _ = oblique
        if preposition in place and who.is_person and verb not in place[preposition]:
            event.obliques.remove(oblique)
            other = Event(event.verb, list(event.particles), [who], repeated(event.objects))
            other.link = preposition
            return other
    return None


def in_order(events: list[Event]) -> list[Event]:
    """Return clauses with the main one first, each with its subject."""
    if len(events) > 1:
        first, second = events[:2]
        if not first.link and _is_accompanying(first) and second.subjects and second.link == "and":
            first.link = "while"  # "Holding a cup, the man walks away"
        if first.link in ("before", "after", "while"):
            # "Before leaving, she closed the door": the main clause comes first.
            events[0], events[1] = second, first
            second.link, first.is_leading = "", True
    if events:
        events[0].link = ""
    before = None
    for event in events:
        main, before = before, before if event.is_leading else event
        if main is None or event.verb is None or event.subjects:
            continue
        event.goes_on = not event.is_leading
        if not event.passive:
            event.subjects = repeated(main.objects if main.passive else main.subjects)
        elif not event.objects and main.passive:
            event.objects = repeated(main.objects)
    return events


def _bind(mention: Mention, reading: Reading, earlier: list[Mention]) -> None:
    pronoun = mention.pronoun or ""
    found = next((m for m in reversed(earlier) if _fits(pronoun, m)), None)
    if found is None or not found.words:
        return
    mention.words, mention.pronoun, mention.definite = found.words, None, True
    mention.plural = found.plural
    reading.guesses.append(f"{pronoun} = {' '.join(found.words)}")


def _fits(pronoun: str, mention: Mention) -> bool:
    if pronoun in _PERSONAL and mention.is_person:
        return mention.head not in _NEVER.get(pronoun, ())
    if pronoun in ("they", "them", "these", "those"):
        return bool(mention.words) and (mention.plural or (mention.count or 1) > 1)
    return pronoun in _THINGS and bool(mention.words) and not mention.is_person


def _is_accompanying(event: Event) -> bool:
    return not event.subjects and event.verb is not None and is_continuous(event.verb)
