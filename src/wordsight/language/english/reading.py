"""From a text to events; what does not fit stays in `Reading.ignored`.

A question is taken off first: what is asked, and the sentence without its question words.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from wordsight.errors import LanguageError
from wordsight.language.english.builder import EventBuilder
from wordsight.language.english.events import Event, Mention, Reading
from wordsight.language.english.noun_signs import qualifies
from wordsight.language.english.paths import without_joined_manners
from wordsight.language.english.tagging import CorpusUses, Uses, tag
from wordsight.language.english.words import NUMBERS, PEOPLE_PRONOUNS, uses_of
from wordsight.language.glosses import language_of, open_uses
from wordsight.language.tokens import Piece, pieces_of, tokens_of

__all__ = ["Asked", "read_events", "strip_question"]

_BE = frozenset(["is", "are", "was", "were", "am"])
_DO = frozenset(["do", "does", "did", "has", "have", "had", "will", "can", "could", "would"])
_WHO = frozenset(["who", "whom", "what", "which"])
_TIMES = frozenset(["moment", "time", "part", "point"])
_FILMS = frozenset(["video", "clip", "film", "scene", "shot", "footage"])
_POLITE = (
    *("show me", "can you show me", "can you find", "find me", "find", "show", "search for"),
    *("look for", "give me", "i want to see", "i am looking for", "where is", "please"),
    *("make sure that", "make sure", "it looks like", "it looks as if", "it seems that"),
    *("we see", "we can see", "you see", "you can see", "i see", "i can see", "one sees"),
    *("in this video", "in the video", "in the film", "in this film"),
    *(
        f"{this} {film} {shows}"
        for this in ("the", "this")
        for film in ("video", "film", "clip")
        for shows in ("shows", "show", "showed")
    ),
    *("is it true that", "do you see", "can you see", "can you tell me", "tell me"),
)
_MANY = [["many"], ["often"], ["long"]]
_PREFIXES = sorted((tuple(text.split()) for text in _POLITE), key=len, reverse=True)

_STRANDED = frozenset(
    ["from", "with", "into", "onto", "to", "in", "on", "at", "by", "towards", "for", "near", "over"]
)
_WHICH_TIME = frozenset(
    ("all", "every", "any", "some", "the", "a", "first", "second", "last", "next")
)
_PHRASE_OPENERS = frozenset(
    [
        "the",
        "a",
        "an",
        "this",
        "that",
        "these",
        "those",
        "his",
        "her",
        "its",
        "their",
        "he",
        "she",
        "it",
        "they",
        "someone",
        "anyone",
        "somebody",
        "something",
        "two",
        "three",
        "man",
        "woman",
        "person",
        "people",
    ]
)


@dataclass
class Asked:
    """A text without its question words.

    Attributes:
        pieces: The rest.
        kind: What is asked; empty if nothing is.
        auxiliary: ``be`` or ``do`` where that stood before the subject.
        gap: ``object`` where the object is asked for and left out, ``counted`` where it is named,
            ``subject`` where the subject is asked for.
        person: Whether it is asked for people.
        is_one: Whether it is asked for one of several: "which of the two cars".
        ignored: Words of politeness that were left out.
    """

    pieces: list[Piece]
    kind: str = ""
    auxiliary: str = ""
    gap: str = ""
    person: bool = False
    is_one: bool = False
    ignored: list[str] = field(default_factory=list)

    def complete(self, events: list[Event]) -> None:
        """Mark what is asked for in the first event, and add it where it was left out."""
        if not events:
            return
        event = events[0]
        if self.gap == "object":
            focus = Mention(pronoun="someone" if self.person else "something", focus=True)
            # "What is he drinking from?": the preposition at the end takes it.
            if event.passive and event.particles[-1:] == ["by"]:
                event.particles, event.subjects = event.particles[:-1], [focus]
            elif event.particles and event.particles[-1] in _STRANDED:
                event.obliques.append((event.particles.pop(), focus, bool(event.objects)))
            elif event.passive and not event.subjects:
                event.subjects = [focus]
            else:
                event.objects.insert(0, focus)
        elif self.gap == "counted" and event.objects:
            event.objects[-1].focus = True
        elif self.gap == "subject":
            first = event.subjects or event.objects
            if event.passive:
                first = event.objects or event.subjects
            if first:
                first[0].focus = True
                if self.is_one:
                    first[0].count = None


def strip_question(pieces: list[Piece], uses: Uses) -> Asked:
    """Take question words and politeness off a text."""
    asked = Asked(list(pieces))
    _strip_politeness(asked)
    words = [piece.text for piece in asked.pieces]
    if not words:
        return asked
    if words[0] in _WHO and words[1:2] and words[1] in _BE and words[2:3] == ["it"]:
        words = _without_it(asked, words)
    first = words[0]
    if first in ("why", "whose") or (first == "how" and words[1:2] not in _MANY):
        raise LanguageError(
            f"a question with {first!r} cannot be answered; ask who, what, which, when, where, how "
            "many, how often, or whether something happens."
        )
    if first in ("when", "where") and _opens_question(words):
        asked.kind = first
        asked.pieces = asked.pieces[1:]
        _take_auxiliary(asked)
    elif words[:2] == ["how", "many"] or words[:2] == ["how", "often"]:
        _how_many(asked, words)
    elif words[:2] == ["how", "long"]:
        asked.kind, asked.pieces = "when", asked.pieces[2:]
        _take_auxiliary(asked)
    elif first in _WHO and len(words) > 1:
        _who_or_what(asked, words, uses)
    elif (first in _BE or first in _DO) and len(words) > 2 and not _orders(words, uses):
        asked.kind = "whether"
        _take_auxiliary(asked)
    if asked.kind in ("when", "whether", "how often"):
        asked.ignored, before = [], asked.ignored
        _strip_politeness(asked)
        if asked.ignored and asked.auxiliary == "be":
            asked.auxiliary = "do"  # "when was the first time she smiled?" is no passive
        asked.ignored = before + asked.ignored
    return asked


def _without_it(asked: Asked, words: list[str]) -> list[str]:
    """Take off "was it that": "who was it that took the box?"."""
    if len(words) < 5 or words[3] not in ("that", "who", "which"):
        return words
    asks_object = _begins_phrase(words[4])  # "what was it that she dropped?"
    did = [Piece("did", -1)] if asks_object else []
    asked.pieces = [asked.pieces[0], *did, *asked.pieces[4:]]
    return [piece.text for piece in asked.pieces]


def _strip_politeness(asked: Asked) -> None:
    """Take off what only says that something is looked for, or that it is a moment."""
    while True:
        words = [piece.text for piece in asked.pieces]
        length = 1 if len(words) > 1 and words[0] in (",", ":") else _polite(words)
        if not length or length >= len(words):
            return
        asked.ignored += [word for word in words[:length] if word[0].isalnum()]
        asked.pieces = asked.pieces[length:]


def _polite(words: list[str]) -> int:
    """Return how many words at the beginning say nothing of what is to be seen."""
    prefix = next((p for p in _PREFIXES if tuple(words[: len(p)]) == p), ())
    if prefix == ("where", "is"):
        return 0
    if prefix:
        return len(prefix)
    be = len(words) > 1 and words[0] in ("it", "that") and words[1] in _BE
    if be or (words[0] == "it" and len(words) > 1 and _begins_phrase(words[1])):
        # "It was the boy who broke it", "was it the boy who broke it?"
        relative = any(word in ("who", "that", "which") for word in words[3:])
        return (2 if be else 1) * relative
    return _moment(words)


def _moment(words: list[str]) -> int:
    """Return the length of "the moment when", "every time", "any video of"."""
    at = 0
    while at < len(words) and words[at] in _WHICH_TIME:
        at += 1
    if at >= len(words) - 1 or words[at].removesuffix("s") not in _TIMES | _FILMS:
        return 0
    following = words[at + 1]
    shows = words[at].removesuffix("s") in _FILMS and following in ("of", "with", "showing")
    if shows or following in ("when", "where", "that", "in which", "at which"):
        return at + 2
    times = at > 0 and words[at].removesuffix("s") in _TIMES
    return at + 1 if times and _begins_phrase(following) else 0


def _orders(words: Sequence[str], uses: Uses) -> bool:
    """Whether it is an order: "don't touch it"."""
    verb = words[2] if words[1] == "not" else words[1]
    if words[0] != "do" or _begins_phrase(verb):
        return False
    found = uses(verb)
    return found.get("V", 9.0) <= found.get("N", 9.0)


def _opens_question(words: Sequence[str]) -> bool:
    return words[-1] == "?" or (len(words) > 1 and words[1] in _BE | _DO)


def _take_auxiliary(asked: Asked) -> None:
    if not asked.pieces:
        return
    word = asked.pieces[0].text
    if word in _BE or word in _DO:
        asked.auxiliary = "be" if word in _BE else "do"
        rest = asked.pieces[1:]
        denied = bool(rest) and rest[0].text == "not"  # "didn't he leave?"
        rest = rest[denied:]
        if rest and rest[0].text == "there":
            rest = rest[1:]
        asked.pieces = [Piece("never", -1), *rest] if denied else rest


def _how_many(asked: Asked, words: list[str]) -> None:
    asked.kind = "how many"
    rest = asked.pieces[3 if words[2:3] == ["of"] else 2 :]  # "how many of the people"
    if words[1] == "often" or (len(words) > 2 and words[2] in ("times", "time")):
        asked.kind = "how often"
        asked.pieces = rest if words[1] == "often" else rest[1:]
        _take_auxiliary(asked)
        return
    # "How many bottles did the man pick up?": what is counted is the object.
    for place, piece in enumerate(rest):
        if piece.text in _BE | _DO and place and place + 1 < len(rest):
            following = rest[place + 1].text
            inverted = piece.text in ("do", "does", "did") or _begins_phrase(following)
            if inverted and following not in ("there", "not"):
                counted, asked.gap = rest[:place], ""
                asked.pieces = [*rest[place + 1 :]]
                if asked.pieces and asked.pieces[-1].text == "?":
                    asked.pieces.pop()
                asked.pieces += [Piece("the", -1), *counted]
                asked.auxiliary = "be" if piece.text in _BE else "do"
                asked.gap = "counted"
                return
            if following == "there":
                rest = [*rest[:place], *rest[place + 2 :]]
                break
    asked.pieces, asked.gap = rest, "subject"


def _begins_phrase(word: str) -> bool:
    return word in _PHRASE_OPENERS or word in PEOPLE_PRONOUNS or word in NUMBERS


def read_events(
    text: str,
    uses: Uses = uses_of,
    phrases: frozenset[tuple[str, ...]] = frozenset(),
    foreign: frozenset[str] = frozenset(),
) -> Reading:
    """Read a text into events.

    Args:
        text: A sentence, a question, a bare phrase, or several clauses.
        uses: The possible uses of a word with their costs.
        phrases: Words to keep together, such as nouns of several words.
        foreign: Words of the same language, if that is known not to be English.

    Raises:
        LanguageError: If there is no word in it, or too many.
    """
    if isinstance(uses, CorpusUses):
        language = uses.language
    else:
        language = language_of(tokens_of(text), foreign=foreign)
    if language is not None and not isinstance(uses, CorpusUses):
        uses = open_uses(uses)
    pieces = pieces_of(text, phrases, language)
    asked = strip_question(pieces, uses)
    tagged, cost = tag(asked.pieces, uses) if asked.pieces else ([], 0.0)
    kept = without_joined_manners(tagged)
    if len(kept) < len(tagged):
        tagged, cost = tag(kept, uses)
    builder = EventBuilder(asked.auxiliary)
    before = ""
    for item in tagged:
        if item.tag == "A" and before and qualifies(language, before, item.text):
            item = replace(item, tag="J")
        builder.take(item)
        before = item.text if item.tag == "N" else ""
    reading = Reading(text, builder.finished(), None, asked.ignored + builder.ignored, [], cost)
    if asked.kind:
        reading.question = asked.kind
        asked.complete(reading.events)
    return reading


def _who_or_what(asked: Asked, words: list[str], uses: Uses) -> None:
    person = words[0] in ("who", "whom")
    asked.person = person
    asked.kind = "who" if person else "what"
    asked.is_one = words[1] == "of"  # "which of the bottles"
    rest = asked.pieces[2 if asked.is_one else 1 :]
    if words[0] == "which" or (words[0] == "what" and _names(words[1], uses)):
        # "Which person left?": the noun stays, and is asked for.
        asked.kind = "what"
        for place, piece in enumerate(rest):
            if place and piece.text in ("do", "does", "did"):
                counted = rest[:place]
                tail = [p for p in rest[place + 1 :] if p.text != "?"]
                asked.pieces, asked.gap = [*tail, Piece("the", -1), *counted], "counted"
                asked.auxiliary = "do"
                return
        asked.pieces, asked.gap = rest, "subject"
        return
    if words[1] in _BE | _DO and len(words) > 2 and words[2] not in ("not", "there"):
        inverted = words[1] in ("do", "does", "did") or _begins_phrase(words[2])
        inverted = inverted or (words[1] in _BE and _is_only_noun(words[2], uses))
        if inverted and words[1] in _BE and not _has_verb(words[2:], uses):
            inverted = False
        if inverted:
            asked.pieces, asked.gap = rest[1:], "object"
            asked.auxiliary = "be" if words[1] in _BE else "do"
            return
    asked.pieces = [Piece("someone" if person else "something", -1), *rest]
    asked.gap = "subject"


def _names(word: str, uses: Uses) -> bool:
    found = uses(word)
    return "N" in found and not set(found) & set("XHMVRD")


def _is_only_noun(word: str, uses: Uses) -> bool:
    found = uses(word)
    return found.get("N", 9.0) < found.get("V", 9.0) and "R" not in found


def _has_verb(words: Sequence[str], uses: Uses) -> bool:
    return any(uses(word).get("V", 9.0) < 1.0 for word in words if word[0].isalnum())
