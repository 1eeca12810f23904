"""The structure of sentences with unknown words, from English words of closed classes.

A sentence is split at determiners, prepositions and adverbs, which are known or recognisable; what
is left between them must be nouns, adjectives and one verb. Meanings of closed-class words are
learned like those of others.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from wordsight.language.grammar import FUNCTION_WORDS
from wordsight.language.lexicon import SLOT
from wordsight.language.tokens import WordToken, tokenise

__all__ = [
    "AUXILIARIES",
    "CLAUSE_WORDS",
    "COPULAS",
    "DESCRIPTIVE_ADJECTIVES",
    "DETERMINERS",
    "DIRECTIONS",
    "PARTICLES",
    "PATH_PREPOSITIONS",
    "PLACE_PREPOSITIONS",
    "PREPOSITIONS",
    "PRONOUNS",
    "Symbol",
    "Usage",
    "certain_nouns",
    "read_usage",
    "symbols_of",
]

DETERMINERS = frozenset((*FUNCTION_WORDS["the"], *FUNCTION_WORDS["new"]))
PRONOUNS = frozenset(FUNCTION_WORDS["pronoun"])
COPULAS = frozenset(FUNCTION_WORDS["copula"])
AUXILIARIES = frozenset((*FUNCTION_WORDS["copula"], *FUNCTION_WORDS["perfect"]))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split(","))


def _phrases(text: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(phrase.split()) for phrase in text.split(","))


PLACE_PREPOSITIONS = _phrases(
    "to the left of,to the right of,on the left of,on the right of,left of,right of,in front of,"
    "at the back of,on top of,next to,close to,far from,behind,beside,near,above,below,beneath,"
    "under,underneath,inside,outside,opposite"
)
"""Prepositions of place."""

PATH_PREPOSITIONS = _phrases(
    "towards,toward,away from,along,past,around,across,through,up to,out of"
)
"""Prepositions of movement."""

PREPOSITIONS = (
    PLACE_PREPOSITIONS
    | PATH_PREPOSITIONS
    | _phrases(
        "in,into,on,onto,from,with,for,to,at,over,off,out,up,down,away,back,by,of,against,about,"
        "after,without,between,upon,within"
    )
)
"""All prepositions, with the particles of verbs such as "picked up"."""

DIRECTIONS = _phrases(
    "to the left,to the right,from the left,from the right,leftward,leftwards,rightward,"
    "rightwards,upward,upwards,downward,downwards,forward,forwards,backward,backwards"
)

DESCRIPTIVE_ADJECTIVES = _words(
    "black,white,red,green,yellow,blue,brown,orange,pink,purple,grey,gray,violet,beige,"
    "big,small,large,little,tiny,huge,long,short,tall,wide,narrow,thick,thin,round,square,flat"
)
"""Adjectives for appearance, which are not part of a name."""

PARTICLES = _words("up,down,off,out,away,back,over")
"""Words after a verb whose object is not a place: "picked up the cup"."""

CLAUSE_WORDS = _words(
    "and,or,but,nor,then,while,when,until,because,if,than,who,whom,whose,which,not,never,no,"
    "nothing,nobody,do,does,did"
)
"""Words that join or negate clauses; sentences with them are not used as evidence."""


_LONGEST_PHRASE = 4
_BEFORE_PASSIVE = COPULAS | {"been", "being"}
# Kinds of symbols.
DETERMINER, PREPOSITION, ADVERB, DIRECTION, AUXILIARY, PRONOUN, WORD = "DPARXNW"


@dataclass(frozen=True)
class Symbol:
    """A word or fixed phrase of a sentence, and its kind."""

    kind: str
    text: str


@dataclass
class Usage:
    """Evidence of one sentence about its words.

    Attributes:
        phrases: The words of each noun phrase without determiner, the noun last.
        verb: Its verb without particles, or None if it has only a copula.
        after_verb: What follows the verb: ``_`` for a noun phrase, else a preposition.
        spatial: Prepositions in positions where only those of place occur.
        adjectives: Words that a copula attributes to the subject.
        adverbs: Its adverbs.
        directions: Its directions.
    """

    phrases: list[tuple[str, ...]] = field(default_factory=list)
    verb: str | None = None
    after_verb: list[str] = field(default_factory=list)
    spatial: list[str] = field(default_factory=list)
    adjectives: list[str] = field(default_factory=list)
    adverbs: list[str] = field(default_factory=list)
    directions: list[str] = field(default_factory=list)


def symbols_of(text: str, adverbs: Collection[str] = ()) -> list[Symbol]:
    """Split a sentence into symbols; fixed phrases such as "to the left of" become one.

    Args:
        text: The sentence. Words joined by hyphens count as one word.
        adverbs: Known adverbs, besides words that end in "ly".

    Raises:
        LanguageError: If the text cannot be tokenised.
    """
    words = _joined(text, tokenise(text))
    symbols: list[Symbol] = []
    place = 0
    while place < len(words):
        length, kind = _longest_phrase(words, place)
        if not kind:
            length, kind = 1, _kind_of(words[place], adverbs)
        symbols.append(Symbol(kind, " ".join(words[place : place + length])))
        place += length
    return symbols


def _joined(text: str, tokens: list[WordToken]) -> list[str]:
    """Join hyphenated words, except fixed phrases, which are spelled either way."""
    groups: list[list[str]] = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if before is not None and text[before.end : token.start] == "-":
            groups[-1].append(token.word)
        else:
            groups.append([token.word])
    fixed = PREPOSITIONS | DIRECTIONS
    return [w for g in groups for w in (g if tuple(g) in fixed else ["-".join(g)])]


def _longest_phrase(words: list[str], place: int) -> tuple[int, str]:
    for length in range(_LONGEST_PHRASE, 0, -1):
        phrase = tuple(words[place : place + length])
        if phrase in PREPOSITIONS:
            return length, PREPOSITION
        if phrase in DIRECTIONS:
            return length, DIRECTION
    return 0, ""


def _kind_of(word: str, adverbs: Collection[str]) -> str:
    if word in DETERMINERS:
        return DETERMINER
    if word in PRONOUNS:
        return PRONOUN
    if word in AUXILIARIES:
        return AUXILIARY
    if word in adverbs or (word.endswith("ly") and len(word) > 4):
        return ADVERB
    return WORD


def certain_nouns(sentences: Iterable[list[Symbol]]) -> set[str]:
    """Return the words that must be nouns by their position.

    A word alone after a determiner is a noun, and the first of "the dog slept". So is the last word
    of a sentence whose first phrase contains the verb ("the person opened the medicine box"),
    unless it also ends a sentence of one phrase, where it must be the verb.
    """
    found: set[str] = set()
    last: set[str] = set()
    verbs: set[str] = set()
    for symbols in sentences:
        runs = _runs_after_determiners(symbols)
        found |= {run[0].text for run in runs if len(run) == 1}
        ends_in_run = bool(runs) and bool(runs[-1]) and symbols[-1] is runs[-1][-1]
        if ends_in_run and len(runs) == 1:
            verbs.add(symbols[-1].text)
            found |= {run[0].text for run in runs if len(run) == 2}
        elif ends_in_run and len(runs[0]) > 1:
            last.add(symbols[-1].text)
    return found | (last - verbs)


def _runs_after_determiners(symbols: list[Symbol]) -> list[list[Symbol]]:
    runs: list[list[Symbol]] = []
    for before, symbol in zip([Symbol("", ""), *symbols], symbols, strict=False):
        if symbol.kind == DETERMINER:
            runs.append([])
        elif (
            symbol.kind == WORD
            and runs
            and (before.kind == DETERMINER or runs[-1][-1:] == [before])
        ):
            runs[-1].append(symbol)
    return runs


def read_usage(symbols: list[Symbol], nouns: Collection[str]) -> Usage | None:
    """Collect the evidence of a sentence about its words.

    Args:
        symbols: The sentence.
        nouns: Words known to be nouns; they end noun phrases.

    Returns:
        Its usage, or None if it has no verb or does not begin with a noun phrase or an adverb.
    """
    usage = Usage()
    usage.adverbs = [s.text for s in symbols if s.kind == ADVERB]
    usage.directions = [s.text for s in symbols if s.kind == DIRECTION]
    others = [s for s in symbols if s.kind not in (ADVERB, DIRECTION)]
    rest = _read_subject(others, usage, nouns)
    if rest is None or not _read_verb(rest, usage, nouns):
        return None
    return usage


def _read_subject(
    symbols: list[Symbol], usage: Usage, nouns: Collection[str]
) -> list[Symbol] | None:
    """Read the subject and its prepositions; return the rest, which begins with the verb."""
    while True:
        run, rest = _run_of_words(symbols, nouns)
        if run is None:
            return None
        at_end = not rest or rest[0].kind in (DETERMINER, PRONOUN)
        size = _noun_phrase_size(run, nouns, must_leave_verb=at_end)
        if run:
            usage.phrases.append(tuple(s.text for s in run[:size]))
        remaining = run[size:] + rest
        if not remaining:
            return None
        if run[size:] or remaining[0].kind != PREPOSITION:
            return _split_bare_object(remaining, nouns)
        # A preposition before the verb is about the place of the subject.
        usage.spatial.append(remaining[0].text)
        symbols = remaining[1:]


def _run_of_words(
    symbols: list[Symbol], nouns: Collection[str]
) -> tuple[list[Symbol] | None, list[Symbol]]:
    """Return the words of a noun phrase, or None if there is none, and the rest."""
    if symbols and symbols[0].kind == PRONOUN:
        return [], symbols[1:]
    start = 1 if symbols and symbols[0].kind == DETERMINER else 0
    if start == 0 and symbols and symbols[0].text not in nouns:
        return None, symbols  # without a determiner only known nouns begin a phrase
    end = start
    while end < len(symbols) and symbols[end].kind == WORD:
        end += 1
    return (symbols[start:end], symbols[end:]) if end > start else (None, symbols)


def _noun_phrase_size(run: list[Symbol], nouns: Collection[str], *, must_leave_verb: bool) -> int:
    for size in range(1, len(run) + 1):
        ends = size == len(run) or run[size].text not in nouns
        if run[size - 1].text in nouns and ends and not (must_leave_verb and size == len(run)):
            return size
    return max(1, len(run) - 1) if run else 0


def _split_bare_object(symbols: list[Symbol], nouns: Collection[str]) -> list[Symbol]:
    # "poured milk into": insert a determiner before a bare noun, so that it is read as a phrase.
    for place in range(1, len(symbols)):
        before = symbols[place - 1].kind
        if symbols[place].kind == WORD and symbols[place].text in nouns and before == WORD:
            return [*symbols[:place], Symbol(DETERMINER, "the"), *symbols[place:]]
        if before != WORD:
            break
    return symbols


def _read_verb(symbols: list[Symbol], usage: Usage, nouns: Collection[str]) -> bool:
    copula, last = symbols[0].text in COPULAS, ""
    while symbols and symbols[0].kind == AUXILIARY:
        last, symbols = symbols[0].text, symbols[1:]
    if not symbols or symbols[0].kind == DETERMINER:
        return False
    going_on = symbols[0].kind == WORD and symbols[0].text.endswith("ing")
    if copula and symbols[0].kind == PREPOSITION:
        usage.spatial.append(symbols[0].text)
        return _read_rest(symbols[1:], usage, nouns)
    if copula and not going_on and all(s.kind == WORD for s in symbols):
        usage.adjectives += [s.text for s in symbols if s.text != "and"]
        return True
    if symbols[0].kind != WORD:
        return False
    # Words after the verb without a determiner belong to it: "let go the cup".
    count = 1
    while count < len(symbols) and symbols[count].kind == WORD:
        count += 1
    usage.verb = " ".join(s.text for s in symbols[:count])
    read = _read_rest(symbols[count:], usage, nouns)
    if last in _BEFORE_PASSIVE and not going_on:
        usage.after_verb = _as_active(usage.after_verb)
    return read


def _as_active(after: list[str]) -> list[str]:
    """Return what would follow the verb if the agent ("by ...") were the subject."""
    for place in range(len(after) - 1):
        if after[place : place + 2] == ["by", SLOT]:
            return [SLOT, *after[:place], *after[place + 2 :]]
    return after


def _read_rest(symbols: list[Symbol], usage: Usage, nouns: Collection[str]) -> bool:
    while symbols:
        if symbols[0].kind == PREPOSITION:
            usage.after_verb.append(symbols[0].text)
            symbols = symbols[1:]
            continue
        run, symbols = _run_of_words(symbols, nouns)
        if run is None:
            return False
        usage.after_verb.append(SLOT)
        if run:
            usage.phrases.append(tuple(s.text for s in run))
    return True
