"""Verbs in their base form and nouns in the singular, by the rules of English spelling."""

from wordsight.alignment.text.vocabulary import IRREGULAR_VERBS, VERBS

__all__ = ["base_form", "singular"]

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
    """Return the base form of a known verb, or ``None`` if the word is no form of one.

    Examples:
        >>> base_form("stirring"), base_form("poured"), base_form("bottle")
        ('stir', 'pour', None)
    """
    if word in VERBS:
        return word
    if word in IRREGULAR_VERBS:
        return IRREGULAR_VERBS[word]
    return next((stem for stem in _stems(word) if stem in VERBS), None)


def _stems(word: str) -> list[str]:
    """Return what the word may come from, likeliest first."""
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
    """Return the singular of a noun, or the noun itself where it seems to be one.

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
