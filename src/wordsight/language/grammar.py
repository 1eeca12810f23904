"""The grammar: English clauses over the entries of a lexicon, and their syntactic structure.

Every written word is one terminal of a Lark grammar. Entries of several words, and words with
several uses, become rules, so the Earley parser finds every reading of a sentence. A
:class:`Clause` is the structure between text and meaning: parsing builds it from text, realisation
from a meaning, generation from the grammar; :func:`bind` numbers the participants and lists the
words in canonical order.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from wordsight.language.lexicon import Entry, Lexicon, PartOfSpeech, Pattern
from wordsight.records import Word

__all__ = [
    "FUNCTION_WORDS",
    "Clause",
    "Grammar",
    "Phrase",
    "Relation",
    "bind",
    "bind_all",
    "compile_grammar",
]


FUNCTION_WORDS: dict[str, tuple[str, ...]] = {
    "the": ("the", "this", "that", "these", "those", "its", "his", "her", "their"),
    "new": ("a", "an", "another", "some", "one"),
    "other": ("other",),
    "pronoun": ("something",),
    "copula": ("is", "are", "was", "were"),
    "perfect": ("has", "have", "had", "been", "being"),
    "who": ("who", "which", "that"),
    "and": ("and",),
    "by": ("by",),
    "there": ("there",),
}
"""Function words; they have no learned meaning."""

# S -> NP VP and the rest of Table 1 of the paper, widened: bare nouns, adjectives, several
# adverbs in any place, auxiliaries, passive, copula and relative clauses. Written without
# optional parts, because each doubles the rules of an Earley parser.
_FRAME = """
start: _opening _said -> said
     | _opening _aux _said -> said
     | _opening _aux _undergone -> undergone
     | np _f_copula _qualities -> is_so
     | np _f_copula relations -> is_there
     | _f_there _f_copula np -> exists
_opening: np | adverb _opening
_said: adverb _said | _active | _active _trails
_undergone: adverb _undergone | _passive | _passive _ends
_ends: trail | trail _ends | agent | agent _trails
_trails: trail | trail _trails
?trail: adverb | direction | motion
agent: _f_by np
_aux: _f_copula | _f_perfect | _f_copula _aux | _f_perfect _aux
_qualities: adjective | adjective _qualities | adjective _f_and _qualities
np: _f_the _described -> definite
  | _described -> definite
  | _f_new _described -> indefinite
  | _f_the _f_other _described -> indefinite
  | _f_pronoun -> unnamed
  | _f_pronoun relations -> unnamed
_described: noun | noun relations | adjective _described
relations: _places | _f_who _f_copula _places
_places: _relation | _relation _f_and _places
"""


@dataclass(frozen=True)
class Lexeme:
    """One spelling of one entry, as a rule of the grammar.

    Attributes:
        entry: The entry.
        passive: Whether its first slot is the subject.
    """

    entry: Entry
    passive: bool = False


@dataclass(frozen=True)
class Grammar:
    """A compiled grammar.

    Attributes:
        lark: The Earley parser; its terminals are single words.
        terminal_of: Name of the terminal of each known written word.
        lexemes: The lexeme of each rule made from the lexicon.
        plain: The entry of each written word that is a terminal of its part of speech.
    """

    lark: Any
    terminal_of: dict[str, str]
    lexemes: dict[str, Lexeme]
    plain: dict[str, Entry]

    @property
    def vocabulary(self) -> set[str]:
        """All known written words."""
        return set(self.terminal_of)


@lru_cache(maxsize=16)
def compile_grammar(lexicon: Lexicon) -> Grammar:
    """Build the parser of a lexicon; recent ones are cached."""
    from lark import Lark, Token
    from lark.lexer import Lexer

    plain = _plain_words(lexicon)
    terminals = {word: _PLAIN_TERMINALS[entry.part] for word, entry in plain.items()}
    rules = _Rules(terminals)
    lexemes = rules.add_lexicon(lexicon, plain)

    class _Words(Lexer):
        # Lark needs a lexer class; the text is tokenised and checked before it is called.
        def __init__(self, conf: Any) -> None:
            pass

        def lex(self, lexer_state: Any, parser_state: Any = None) -> Any:
            return (Token(terminals[t.word], t.word, t.start) for t in lexer_state)

    lark = Lark(
        _FRAME + rules.text(), parser="earley", lexer=_Words, ambiguity="explicit", start="start"
    )
    return Grammar(lark, terminals, lexemes, plain)


# One-word entries with a single use share a terminal: the size of the grammar does not depend on
# the number of nouns.
_PLAIN_TERMINALS = {
    PartOfSpeech.NOUN: "NOUN",
    PartOfSpeech.ADJECTIVE: "ADJECTIVE",
    PartOfSpeech.ADVERB: "ADVERB",
    PartOfSpeech.DIRECTION: "DIRECTION",
}
_RULE_OF_PART = {
    PartOfSpeech.NOUN: "?noun",
    PartOfSpeech.ADJECTIVE: "?adjective",
    PartOfSpeech.ADVERB: "?adverb",
    PartOfSpeech.DIRECTION: "?direction",
    PartOfSpeech.VERB: "_active",
    PartOfSpeech.SPATIAL_PREPOSITION: "_relation",
    PartOfSpeech.MOTION_PREPOSITION: "?motion",
}


def _plain_words(lexicon: Lexicon) -> dict[str, Entry]:
    uses: dict[str, list[tuple[Entry, Pattern]]] = {}
    for entry in lexicon:
        for pattern in entry.patterns:
            for word in {word for word in pattern if word is not None}:
                uses.setdefault(word, []).append((entry, pattern))
    function_words = {word for words in FUNCTION_WORDS.values() for word in words}
    return {
        word: found[0][0]
        for word, found in uses.items()
        if len(found) == 1
        and len(found[0][1]) == 1
        and not found[0][0].part.takes_slots
        and word not in function_words
    }


class _Rules:
    """Collects the alternatives of each rule; ``terminals`` gains a name per written word."""

    def __init__(self, terminals: dict[str, str]) -> None:
        self.terminals = terminals
        self.alternatives: dict[str, list[str]] = {rule: [] for rule in _RULE_OF_PART.values()}
        self.alternatives["_passive"] = []
        for part, terminal in _PLAIN_TERMINALS.items():
            self.alternatives[_RULE_OF_PART[part]].append(terminal)
        self.lines: list[str] = []
        for rule, words in FUNCTION_WORDS.items():
            self.lines.append(f"_f_{rule}: " + " | ".join(self._terminal(w) for w in words))

    def add_lexicon(self, lexicon: Lexicon, plain: dict[str, Entry]) -> dict[str, Lexeme]:
        lexemes: dict[str, Lexeme] = {}
        for entry in lexicon:
            for pattern in dict.fromkeys(entry.patterns):
                if len(pattern) == 1 and pattern[0] in plain:
                    continue
                self._add(_RULE_OF_PART[entry.part], pattern, Lexeme(entry), lexemes)
            if entry.part is PartOfSpeech.VERB and entry.arity > 1:
                for pattern in dict.fromkeys(map(_without_first_slot, entry.patterns)):
                    self._add("_passive", pattern, Lexeme(entry, passive=True), lexemes)
        return lexemes

    def text(self) -> str:
        lines = list(self.lines)
        for rule, alternatives in self.alternatives.items():
            # A part of speech without entries needs a rule, too; this terminal never occurs.
            lines.append(f"{rule}: " + " | ".join(alternatives or ["_NEVER"]))
        names = {*self.terminals.values(), *_PLAIN_TERMINALS.values(), "_NEVER"}
        return "\n".join([*lines, "%declare " + " ".join(sorted(names))])

    def _add(self, rule: str, pattern: Pattern, lexeme: Lexeme, lexemes: dict[str, Lexeme]) -> None:
        name = f"x{len(lexemes)}"
        lexemes[name] = lexeme
        self.alternatives[rule].append(name)
        body = " ".join("np" if word is None else self._terminal(word) for word in pattern)
        self.lines.append(f"{name}: {body}")

    def _terminal(self, word: str) -> str:
        # A leading underscore makes Lark drop the token: the rule around it is enough.
        return self.terminals.setdefault(word, f"_W{len(self.terminals)}")


def _without_first_slot(pattern: Pattern) -> Pattern:
    first = pattern.index(None)
    return pattern[:first] + pattern[first + 1 :]


@dataclass(frozen=True)
class Phrase:
    """A noun phrase, ``the red chair to the left of the backpack``.

    Attributes:
        noun: Entry of its noun, or None for ``something``.
        adjectives: Entries of its adjectives in order.
        relations: Spatial prepositions about it.
        definite: Whether it may refer to something already mentioned (``the``); ``a`` and
            ``another`` always introduce something new.
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
        objects: The phrases that fill the other roles of the verb.
        manners: Entries of adverbs and directions, which are about the subject.
        motions: Motion prepositions; what moves is the subject.
    """

    subject: Phrase
    verb: str | None = None
    objects: tuple[Phrase, ...] = ()
    manners: tuple[str, ...] = ()
    motions: tuple[Relation, ...] = ()


def bind(clause: Clause) -> tuple[Word, ...]:
    """Number the participants of a clause in order of mention and list its words.

    A definite phrase that adds nothing to an earlier one (same noun, no other adjective, no or the
    same relations) refers to the same participant, except where one word would then have the same
    participant twice.
    """
    return bind_all((clause,))[0]


def bind_all(clauses: Iterable[Clause]) -> tuple[tuple[Word, ...], list[Phrase]]:
    """Number the participants of several clauses together.

    Returns:
        Their words, and the phrase that introduced each participant.
    """
    binder = _Binder()
    for clause in clauses:
        subject = binder.place(clause.subject, set())
        if clause.verb is not None:
            binder.attach(clause.verb, subject, clause.objects)
        for entry in clause.manners:
            binder.words.append(Word(entry, (subject,)))
        for relation in clause.motions:
            binder.attach(relation.entry, subject, relation.phrases)
    return tuple(word for word in binder.words if word is not None), binder.introduced


@dataclass
class _Binder:
    """The words so far, and the phrase that introduced each participant."""

    words: list[Word | None] = field(default_factory=list)
    introduced: list[Phrase] = field(default_factory=list)

    def place(self, phrase: Phrase, avoid: set[int]) -> int:
        same = next((n for n, p in enumerate(self.introduced) if p is phrase), None)
        known = self._mentioned(phrase, avoid) if same is None or same in avoid else same
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
        # The word comes before the phrases it governs, but needs their numbers.
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
            if number not in avoid and _adds_nothing(phrase, earlier):
                return number
        return None


def _adds_nothing(phrase: Phrase, earlier: Phrase) -> bool:
    return (
        phrase.noun == earlier.noun
        and set(phrase.adjectives) <= set(earlier.adjectives)
        and (not phrase.relations or phrase.relations == earlier.relations)
    )
