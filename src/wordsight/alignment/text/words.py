"""The nouns and verbs of a sentence: what is handled in it, and what is done."""

from wordsight.alignment.text import vocabulary as known
from wordsight.alignment.text.inflection import singular
from wordsight.alignment.text.tagging import Token, tag

__all__ = ["names_a_thing", "nouns_and_verbs"]

_FILLERS = frozenset({"determiner", "adjective", "number", "unit"})


def nouns_and_verbs(sentence: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Find the heads of the noun phrases and the verbs by rules that need no model.

    As in the literature on aligning instructions: of "paper towel" the head, of "25 mL of water"
    the water, nothing of what is written on a label, no units, no numbers. Plurals become singular,
    verbs their base form.

    Args:
        sentence: In English.

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
    kept = [noun for noun in nouns if names_a_thing(noun)]
    return tuple(dict.fromkeys(kept)), tuple(dict.fromkeys(verbs))


def names_a_thing(noun: str) -> bool:
    """Tell whether a noun, lower case, may name a thing: no unit, no "anything", no "volume".

    Examples:
        >>> [word for word in ("water", "ml", "%", "volume") if names_a_thing(word)]
        ['water']
    """
    if noun in known.UNITS - known.MEASURES_THAT_ARE_THINGS or noun in known.VAGUE_NOUNS:
        return False
    if noun in known.PRONOUNS:
        return False
    return len(noun) > 1 and "." not in noun  # b1.300 is a shelf mark


def _heads(tokens: list[Token]) -> list[str]:
    heads: list[str] = []
    written = False
    for place, token in enumerate(tokens):
        following = tokens[place + 1] if place + 1 < len(tokens) else Token(".", "stop")
        written = token.verb == "write" or (written and token.kind in {*_FILLERS, "noun", "quote"})
        # A measure is followed by "of" what it measures; a modifier by the noun it modifies.
        is_head = token.kind == "noun" and following.kind not in {"noun", "of"}
        if is_head and not written:
            heads.append(token.word)
    return heads
