"""Parsing sentences into words bound to participants."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, product
from typing import Any

from wordsight.errors import AmbiguityError, LanguageError, UnknownWordError, nearest, pointing_at
from wordsight.language.grammar import Clause, Grammar, Phrase, Relation, bind, compile_grammar
from wordsight.language.lexicon import Lexicon, PartOfSpeech
from wordsight.language.lexicon_file import default_lexicon
from wordsight.language.tokens import WordToken, tokenise
from wordsight.records import Sentence, Word

__all__ = ["parse"]

_MOST_READINGS = 256
"""Maximum number of readings considered; a sentence has a handful."""

_SOMETHING = Phrase(None)


def parse(text: str, lexicon: Lexicon | None = None) -> Sentence:
    """Parse a sentence into words bound to participants.

    Participants are numbered in order of mention, and words come in canonical order, so sentences
    with the same meaning have the same words. Adverbs, directions and motion prepositions are about
    the subject. Of several readings, the one with the most noun phrases filling roles of the verb
    is preferred, then the one that attaches every "and ..." to the nearest noun.

    Args:
        text: One sentence; case, punctuation, hyphens and the choice of article do not matter,
            except that "a" and "another" always introduce something new.
        lexicon: The lexicon; that of the street corpus if not given.

    Returns:
        The sentence with its words.

    Raises:
        UnknownWordError: If a word is not in the lexicon.
        AmbiguityError: If several readings remain.
        LanguageError: If the words are not a sentence of the grammar.

    Examples:
        >>> parse("The person picked the backpack up quickly.").meaning
        'person(p0) picked-up(p0,p1) backpack(p1) quickly(p0)'
    """
    words = _parsed(text.strip(), default_lexicon() if lexicon is None else lexicon)
    return Sentence(text.strip(), words)


@lru_cache(maxsize=65536)
def _parsed(text: str, lexicon: Lexicon) -> tuple[Word, ...]:
    grammar = compile_grammar(lexicon)
    tokens = tokenise(text)
    _require_known(text, tokens, grammar)
    tree = _parse_tree(text, tokens, grammar, lexicon.example())
    return _preferred(text, list(islice(_clauses(tree, grammar), _MOST_READINGS)))


def _require_known(text: str, tokens: list[WordToken], grammar: Grammar) -> None:
    unknown = [token for token in tokens if token.word not in grammar.terminal_of]
    if not unknown:
        return
    lines = []
    for token in unknown:
        close = nearest(token.word, grammar.vocabulary)
        hint = f"nearest known: {', '.join(close)}" if close else "no known word is similar"
        lines.append(f"{pointing_at(text, token.start, token.end)}\n  {token.word!r}: {hint}")
    count = "a word" if len(unknown) == 1 else f"{len(unknown)} words"
    raise UnknownWordError(
        f"the lexicon does not know {count} of this sentence; correct the spelling or add an "
        "entry to your lexicon file:\n" + "\n".join(lines),
        tuple(token.word for token in unknown),
    )


def _parse_tree(text: str, tokens: list[WordToken], grammar: Grammar, example: str) -> Any:
    from lark.exceptions import UnexpectedInput

    try:
        return grammar.lark.parse(tokens)
    except UnexpectedInput as error:
        plain = example or "who does what"
        token = getattr(error, "token", None)
        place = getattr(token, "start_pos", None)
        stopped = next((t for t in tokens if t.start == place), None)
        if stopped is None:
            shown = pointing_at(text, tokens[-1].end, tokens[-1].end + 1)
            raise LanguageError(
                f"the sentence ends too early; expected a sentence such as {plain!r}:\n{shown}"
            ) from None
        shown = pointing_at(text, stopped.start, stopped.end)
        raise LanguageError(
            f"the sentence makes sense up to {stopped.word!r}, which does not fit there; expected "
            f"a sentence such as {plain!r}:\n{shown}"
        ) from None


def _preferred(text: str, clauses: list[Clause]) -> tuple[Word, ...]:
    best = max(_preference(clause) for clause in clauses)
    readings = list(dict.fromkeys(bind(c) for c in clauses if _preference(c) == best))
    if len(readings) > 1:
        meanings = tuple(" ".join(map(str, words)) for words in readings)
        raise AmbiguityError(
            f"{text!r} has {len(readings)} readings; rephrase it, or change the lexicon so that a "
            "spelling has one use:\n  " + "\n  ".join(meanings),
            meanings,
        )
    return readings[0]


def _preference(clause: Clause) -> tuple[int, int]:
    phrases = (clause.subject, *clause.objects, *(p for m in clause.motions for p in m.phrases))
    return len(clause.objects), sum(_depth(phrase) for phrase in phrases)


def _depth(phrase: Phrase, level: int = 0) -> int:
    # Each relation counts by its depth: deeper means attached to a nearer noun.
    inner = (p for relation in phrase.relations for p in relation.phrases)
    return level * len(phrase.relations) + sum(_depth(p, level + 1) for p in inner)


def _clauses(tree: Any, grammar: Grammar) -> Iterator[Clause]:
    if tree.data == "_ambig":
        for alternative in tree.children:
            yield from _clauses(alternative, grammar)
        return
    for parts in _alternatives(tree.children, grammar):
        yield _clause(tree.data, parts)


def _alternatives(children: list[Any], grammar: Grammar) -> Iterator[tuple[Any, ...]]:
    return product(*(tuple(_values(child, grammar)) for child in children))


def _values(node: Any, grammar: Grammar) -> Iterator[Any]:
    """Yield every value of a node: an entry's part and name, a phrase, relations."""
    if not hasattr(node, "data"):
        entry = grammar.plain[str(node)]
        yield entry.part, entry.name, ()
        return
    if node.data == "_ambig":
        for alternative in node.children:
            yield from _values(alternative, grammar)
        return
    for parts in _alternatives(node.children, grammar):
        if node.data in grammar.lexemes:
            lexeme = grammar.lexemes[node.data]
            yield lexeme.entry.part, lexeme.entry.name, parts
        elif node.data == "relations":
            yield tuple(Relation(name, phrases) for _, name, phrases in parts)
        elif node.data == "agent":
            yield parts[0]
        else:
            yield _phrase(node.data, parts)


def _phrase(kind: str, parts: tuple[Any, ...]) -> Phrase:
    relations: tuple[Relation, ...] = ()
    # A word is a triple that begins with its part of speech; relations hold Relation records.
    if parts and not _is_word(parts[-1]):
        relations, parts = parts[-1], parts[:-1]
    if kind == "unnamed":
        return Phrase(None, (), relations)
    *adjectives, noun = (name for _, name, _ in parts)
    return Phrase(noun, tuple(adjectives), relations, definite=kind == "definite")


def _is_word(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and isinstance(value[0], PartOfSpeech)


def _clause(kind: str, parts: tuple[Any, ...]) -> Clause:
    phrases = [part for part in parts if isinstance(part, Phrase)]
    words = [part for part in parts if _is_word(part)]
    if kind in ("is_so", "is_there", "exists"):
        relations = () if kind != "is_there" else parts[1]
        return Clause(_described(phrases[0], tuple(name for _, name, _ in words), relations))
    verb, taken = next((name, p) for part, name, p in words if part is PartOfSpeech.VERB)
    subject, objects = phrases[0], taken
    if kind == "undergone":
        agent = phrases[1] if len(phrases) > 1 else _SOMETHING
        subject, objects = agent, (phrases[0], *taken)
    return Clause(subject, verb, objects, _manners(words), _motions(words))


def _described(phrase: Phrase, adjectives: tuple[str, ...], relations: Any) -> Phrase:
    return Phrase(
        phrase.noun,
        phrase.adjectives + adjectives,
        phrase.relations + relations,
        phrase.definite,
    )


def _manners(words: list[Any]) -> tuple[str, ...]:
    parts = (PartOfSpeech.ADVERB, PartOfSpeech.DIRECTION)
    return tuple(name for wanted in parts for part, name, _ in words if part is wanted)


def _motions(words: list[Any]) -> tuple[Relation, ...]:
    return tuple(
        Relation(name, phrases)
        for part, name, phrases in words
        if part is PartOfSpeech.MOTION_PREPOSITION
    )
