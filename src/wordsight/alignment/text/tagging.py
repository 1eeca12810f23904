"""Part-of-speech tagging by rules, and the nouns and verbs of a sentence.

Instructions are mostly imperatives, so a clause that begins with a content word begins with a verb.
Everything else follows from closed word lists and the neighbours of a word.
"""

import re
from dataclasses import dataclass

from wordsight.alignment.text import word_lists as known

__all__ = ["TaggedWord", "base_form", "can_name_thing", "nouns_and_verbs", "singular", "tag"]

_SAME = frozenset({"s", "ss", "us", "is", "as"})
_IRREGULAR_NOUNS = {
    "knives": "knife",
    "halves": "half",
    "leaves": "leaf",
    "loaves": "loaf",
    "shelves": "shelf",
    "people": "person",
    "men": "man",
    "women": "woman",
    "children": "child",
    "feet": "foot",
    "teeth": "tooth",
    "mice": "mouse",
    "scissors": "scissors",
    "tweezers": "tweezers",
    "pliers": "pliers",
    "tongs": "tongs",
    "forceps": "forceps",
    "goggles": "goggles",
    "media": "media",
}


def base_form(word: str) -> str | None:
    """Return the base form of a known verb, or ``None`` for other words.

    Examples:
        >>> base_form("stirring"), base_form("poured"), base_form("bottle")
        ('stir', 'pour', None)
    """
    if word in known.VERBS:
        return word
    if word in known.IRREGULAR_VERBS:
        return known.IRREGULAR_VERBS[word]
    return next((stem for stem in _stems(word) if stem in known.VERBS), None)


def _stems(word: str) -> list[str]:
    """Return possible base forms of a word, the most probable first."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            bare = word[: -len(ending)]
            stems = [bare, bare + "e"]
            if len(bare) > 2 and bare[-1] == bare[-2]:
                stems.append(bare[:-1])  # stirred, stirring
            if bare.endswith("i"):
                stems.append(bare[:-1] + "y")  # dried, dries
            return stems
    return []


def singular(noun: str) -> str:
    """Return the singular of a noun; a singular noun is returned unchanged.

    Examples:
        >>> singular("tubes"), singular("dishes"), singular("berries"), singular("glass")
        ('tube', 'dish', 'berry', 'glass')
    """
    if noun in _IRREGULAR_NOUNS:
        return _IRREGULAR_NOUNS[noun]
    if len(noun) < 4 or not noun.endswith("s") or noun[-2:] in _SAME:
        return noun
    if noun.endswith("ies"):
        return noun[:-3] + "y"
    if noun.endswith(("ches", "shes", "xes", "sses", "zes", "toes")):
        return noun[:-2]
    return noun[:-1]


_PIECE = re.compile(
    r"\"[^\"]*\"|“[^”]*”|«[^»]*»"  # a quotation is one piece
    r"|[^\W\d_]+(?:[-'’][^\W\d_]+)*\d*(?:\.\d+)?"  # words, CaCl2, b1.300
    r"|[~<>≈±]?\d+(?:[.,/:–-]\d+)*(?:\s?°[CF]|%|[a-zA-Zµμ]{1,3}\b)?"  # 50, 0.5, 1/2, 37°C, 100x
    r"|[,;:.!?()\[\]]"
)
_STOPS = frozenset(",;:.!?()[]")
_FUNCTION_WORDS = (
    known.PREPOSITIONS | known.PRONOUNS | known.CONJUNCTIONS | known.AUXILIARIES
) | known.OTHER_FUNCTION_WORDS
_TO_VERB = frozenset({"to", "and", "then", "or", "please", "not", "also", "can", "will", "must"})


@dataclass(frozen=True)
class TaggedWord:
    """A word with its part of speech.

    Attributes:
        word: As written, in lower case.
        kind: ``noun``, ``verb``, ``adjective``, ``determiner``, ``unit``, ``number``, ``quote``,
            ``stop``, ``of``, or ``function`` for all other words outside noun phrases.
        verb: Base form of a verb, else empty.
    """

    word: str
    kind: str
    verb: str = ""


def tag(sentence: str) -> list[TaggedWord]:
    """Split a sentence into words and tag each one.

    Examples:
        >>> [(t.word, t.kind) for t in tag("Pour 5 mL of water.")][:3]
        [('pour', 'verb'), ('5', 'number'), ('ml', 'unit')]
    """
    pieces = _PIECE.findall(sentence.replace("’", "'"))
    tokens: list[TaggedWord] = []
    for place, piece in enumerate(pieces):
        following = pieces[place + 1].lower() if place + 1 < len(pieces) else "."
        tokens.append(_token(piece, tokens, following))
    return tokens


def _token(piece: str, before: list[TaggedWord], following: str) -> TaggedWord:
    word = piece.lower()
    last = before[-1] if before else TaggedWord(".", "stop")
    simple = _closed_kind(piece, word, last)
    # A verb in "empty the jar" and "she closed the jar", not in "the empty jar" and "a closed jar".
    may_be_verb = simple == "adjective" and (last.kind == "noun" or _opens_clause(before))
    if simple is not None and not may_be_verb:
        return TaggedWord(word, simple)
    base = base_form(word)
    if _is_verb(word, base, before, following):
        return TaggedWord(word, "verb", base or _plain(word))
    if word in known.ADJECTIVES or word.endswith("ly") or _is_participle(word, base):
        return TaggedWord(word, "adjective")
    return TaggedWord(word, "noun")


def _closed_kind(piece: str, word: str, last: TaggedWord) -> str | None:
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
    if word in _FUNCTION_WORDS or word.partition("'")[0] in known.PRONOUNS:  # you'll
        return "function"
    return "adjective" if word in known.ADJECTIVES else None


def _is_verb(word: str, base: str | None, before: list[TaggedWord], following: str) -> bool:
    last = before[-1] if before else TaggedWord(".", "stop")
    if last.kind in {"determiner", "number", "unit", "adjective", "of"}:
        return False
    if _opens_clause(before):
        return base is not None and not _continues_list(word, before, following)
    if last.word == "to" and following in known.DETERMINERS | known.PRONOUNS:
        return True  # to protect the label
    if last.kind == "function":
        introduced = last.word in _TO_VERB or last.word in known.AUXILIARIES
        return base is not None and (introduced or word.endswith("ing"))
    # The person poured the milk; but: the pour spout.
    inflected = word.endswith(("ed", "s")) or word in known.IRREGULAR_VERBS
    return base is not None and inflected and _takes_object(following)


def _opens_clause(before: list[TaggedWord]) -> bool:
    """Return whether an imperative may begin here: after a stop, a conjunction or an adverb."""
    for token in reversed(before):
        if token.kind == "adjective" and token.word.endswith("ly"):
            continue
        if token.word in {"please", "then", "next", "first", "finally", "now", "also", "again"}:
            continue
        return token.kind == "stop" or token.word in {"and", "or", "then"}
    return True


def _continues_list(word: str, before: list[TaggedWord], following: str) -> bool:
    """Return whether a word is one more item of a list: "the tube, cap and rack"."""
    last = before[-1].word if before else "."
    if last not in {"and", "or", ","} or not _in_noun_phrase(before):
        return False
    if following in _STOPS or following in {"and", "or"}:
        return last == "," or word in known.THING_VERBS
    return not _takes_object(following)


def _in_noun_phrase(before: list[TaggedWord]) -> bool:
    content = [t for t in before if t.kind not in {"stop", "function", "adjective"}]
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


_FILLERS = frozenset({"determiner", "adjective", "number", "unit"})


def nouns_and_verbs(sentence: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the heads of the noun phrases and the verbs of a sentence.

    As in the literature on aligning instructions: of "paper towel" the head, of "25 mL of water"
    the water, nothing of what is written on a label, no units, no numbers. Plurals become singular,
    verbs their base form.

    Args:
        sentence: An English sentence.

    Returns:
        Nouns and verbs, lower case, each once, in the order of the sentence.

    Examples:
        >>> nouns_and_verbs("Add 25 mL of DI water to a 50 mL Falcon tube.")
        (('water', 'tube'), ('add',))
        >>> nouns_and_verbs("Dry off the bottle with a paper towel.")
        (('bottle', 'towel'), ('dry',))
    """
    tokens = tag(sentence)
    verbs = [token.verb for token in tokens if token.kind == "verb"]
    nouns = [singular(noun) for noun in _heads(tokens)]
    nouns += [verb for verb in verbs if verb in known.TOOL_VERBS]
    kept = [noun for noun in nouns if can_name_thing(noun)]
    return tuple(dict.fromkeys(kept)), tuple(dict.fromkeys(verbs))


def can_name_thing(noun: str) -> bool:
    """Return whether a lower-case noun may name a thing: no unit, no "anything", no "volume".

    Examples:
        >>> [word for word in ("water", "ml", "%", "volume") if can_name_thing(word)]
        ['water']
    """
    if noun in known.UNITS - known.MEASURES_THAT_ARE_THINGS or noun in known.VAGUE_NOUNS:
        return False
    if noun in known.PRONOUNS:
        return False
    return len(noun) > 1 and "." not in noun  # b1.300 is a shelf mark


def _heads(tokens: list[TaggedWord]) -> list[str]:
    heads: list[str] = []
    written = False
    for place, token in enumerate(tokens):
        following = tokens[place + 1] if place + 1 < len(tokens) else TaggedWord(".", "stop")
        written = token.verb == "write" or (written and token.kind in {*_FILLERS, "noun", "quote"})
        # A measure is followed by "of" what it measures; a modifier by the noun it modifies.
        is_head = token.kind == "noun" and following.kind not in {"noun", "of"}
        if is_head and not written:
            heads.append(token.word)
    return heads
