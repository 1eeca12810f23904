"""Words of a sentence with their part in it, by rules alone: what may be a noun, what is a verb.

Instructions are mostly commands, so a clause that begins with a content word begins with a verb.
Everything else follows from closed lists of little words and the neighbours of a word.
"""

import re
from dataclasses import dataclass

from wordsight.alignment.text import vocabulary as known
from wordsight.alignment.text.inflection import base_form

__all__ = ["Token", "tag"]

_PIECE = re.compile(
    r"\"[^\"]*\"|“[^”]*”|«[^»]*»"  # what is quoted is one piece
    r"|[^\W\d_]+(?:[-'’][^\W\d_]+)*\d*(?:\.\d+)?"  # words, CaCl2, b1.300
    r"|[~<>≈±]?\d+(?:[.,/:–-]\d+)*(?:\s?°[CF]|%|[a-zA-Zµμ]{1,3}\b)?"  # 50, 0.5, 1/2, 37°C, 100x
    r"|[,;:.!?()\[\]]"
)
_STOPS = frozenset(",;:.!?()[]")
_LITTLE = (
    known.PREPOSITIONS | known.PRONOUNS | known.CONJUNCTIONS | known.AUXILIARIES
) | known.OTHER_LITTLE_WORDS
_TO_VERB = frozenset({"to", "and", "then", "or", "please", "not", "also", "can", "will", "must"})


@dataclass(frozen=True)
class Token:
    """A word in its place.

    Attributes:
        word: Lower case, as written.
        kind: ``noun``, ``verb``, ``adjective``, ``unit``, ``number``, ``quote``, ``stop``, ``of``,
            or ``little`` for everything else that belongs to no noun phrase; ``determiner`` opens
            one.
        verb: Base form, if it is a verb.
    """

    word: str
    kind: str
    verb: str = ""


def tag(sentence: str) -> list[Token]:
    """Split a sentence into words and say what each one is.

    Examples:
        >>> [(t.word, t.kind) for t in tag("Pour 5 mL of water.")][:3]
        [('pour', 'verb'), ('5', 'number'), ('ml', 'unit')]
    """
    pieces = _PIECE.findall(sentence.replace("’", "'"))
    tokens: list[Token] = []
    for place, piece in enumerate(pieces):
        following = pieces[place + 1].lower() if place + 1 < len(pieces) else "."
        tokens.append(_token(piece, tokens, following))
    return tokens


def _token(piece: str, before: list[Token], following: str) -> Token:
    word = piece.lower()
    last = before[-1] if before else Token(".", "stop")
    simple = _closed_kind(piece, word, last)
    # "Empty the jar" and "she closed the jar" are verbs, "the empty jar" and "a closed jar" not.
    may_be_verb = simple == "adjective" and (last.kind == "noun" or _opens_clause(before))
    if simple is not None and not may_be_verb:
        return Token(word, simple)
    base = base_form(word)
    if _is_verb(word, base, before, following):
        return Token(word, "verb", base or _plain(word))
    if word in known.ADJECTIVES or word.endswith("ly") or _is_participle(word, base):
        return Token(word, "adjective")
    return Token(word, "noun")


def _closed_kind(piece: str, word: str, last: Token) -> str | None:
    if piece in _STOPS:
        return "stop"
    if piece[0] in '"“«':
        return "quote"
    if piece[0].isdigit() or piece[0] in "~<>≈±":
        return "number"
    if (piece in known.UNITS or word in known.UNITS) and last.kind == "number":
        return "unit"
    if word == "of":
        return "of"
    if word in known.DETERMINERS:
        return "determiner"
    if word in _LITTLE or word.partition("'")[0] in known.PRONOUNS:  # you'll
        return "little"
    return "adjective" if word in known.ADJECTIVES else None


def _is_verb(word: str, base: str | None, before: list[Token], following: str) -> bool:
    last = before[-1] if before else Token(".", "stop")
    if last.kind in {"determiner", "number", "unit", "adjective", "of"}:
        return False
    if _opens_clause(before):
        return base is not None and not _goes_on_a_list(word, before, following)
    if last.word == "to" and following in known.DETERMINERS | known.PRONOUNS:
        return True  # to protect the label
    if last.kind == "little":
        told_to = last.word in _TO_VERB or last.word in known.AUXILIARIES
        return base is not None and (told_to or word.endswith("ing"))
    # The person poured the milk; but: the pour spout.
    inflected = word.endswith(("ed", "s")) or word in known.IRREGULAR_VERBS
    return base is not None and inflected and _takes_object(following)


def _opens_clause(before: list[Token]) -> bool:
    """Say whether a command may begin here: after a stop, a conjunction, or an adverb there."""
    for token in reversed(before):
        if token.kind == "adjective" and token.word.endswith("ly"):
            continue
        if token.word in {"please", "then", "next", "first", "finally", "now", "also", "again"}:
            continue
        return token.kind == "stop" or token.word in {"and", "or", "then"}
    return True


def _goes_on_a_list(word: str, before: list[Token], following: str) -> bool:
    """Say whether a word is one more thing: "the tube, cap and rack"."""
    last = before[-1].word if before else "."
    if last not in {"and", "or", ","} or not _in_noun_phrase(before):
        return False
    if following in _STOPS or following in {"and", "or"}:
        return last == "," or word in known.THING_VERBS
    return not _takes_object(following)


def _in_noun_phrase(before: list[Token]) -> bool:
    content = [t for t in before if t.kind not in {"stop", "little", "adjective"}]
    return bool(content) and content[-1].kind in {"noun", "unit", "quote"}


def _takes_object(following: str) -> bool:
    return (
        following in known.DETERMINERS | known.PREPOSITIONS | known.PRONOUNS | known.ADJECTIVES
        or following in _STOPS
        or following[0].isdigit()
        or following.endswith("ly")
        or following in {"and", "or", "to", "until"}
    )


def _is_participle(word: str, base: str | None) -> bool:
    return word.endswith("ed") or (base is not None and word != base and word.endswith("ing"))


def _plain(word: str) -> str:
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)]
    return word
