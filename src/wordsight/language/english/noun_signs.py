"""Signs by which words of other languages are known to be nouns: articles and capital letters."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from wordsight.language.english.words import is_function_word, uses_of
from wordsight.language.glosses import glossed
from wordsight.language.tokens import tokens_of

__all__ = ["NounSigns", "noun_signs", "qualifies"]

_CAPITALS = "german"  # which writes nouns, and nothing else within a sentence, with capital letters
_ALWAYS_MARKED = "french"  # whose nouns hardly stand without a determiner or preposition
_ADJECTIVES_FOLLOW = frozenset(["spanish", "french", "italian", "portuguese"])
_MANNER = re.compile("m[ae]?nte?$|ment$")
_MOSTLY = 0.6  # share of its uses in which a noun follows a determiner and an adjective at most
_SENTENCE_END = re.compile("[.!?…]+")
_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")


@dataclass(frozen=True)
class NounSigns:
    """Words of a corpus, by whether they are nouns; most are in neither set.

    Attributes:
        nouns: Words that are mostly nouns.
        others: Words that are none.
    """

    nouns: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()


def noun_signs(texts: Iterable[str], language: str | None) -> NounSigns:
    """Return what articles and capital letters show.

    Between an article and a function word, a mark or the end, there is only room for a noun.

    Args:
        texts: A corpus.
        language: One of :data:`wordsight.language.glosses.GLOSSES`; no signs are known of others.
    """
    if language is None:
        return NounSigns()
    texts = list(texts)
    if language == _CAPITALS and (found := _by_capitals(texts)) is not None:
        return found
    total: Counter[str] = Counter()
    after: Counter[str] = Counter()
    alone: set[str] = set()
    marked: set[str] = set()
    for text in texts:
        words = ["", "", *(word for word, _ in glossed(tokens_of(text), language)), ""]
        for place in range(2, len(words) - 1):
            word, one_before = words[place], words[place - 1]
            if not _is_open(word):
                continue
            total[word] += 1
            follows, second = _determines(one_before), _determines(words[place - 2])
            closed = not _is_open(words[place + 1])
            qualified = second and closed and language not in _ADJECTIVES_FOLLOW
            after[word] += follows or (_is_open(one_before) and qualified)  # "die rote Kiste"
            if follows and closed:
                alone.add(word)
            if second or not _is_open(one_before):
                marked.add(word)
    nouns = {word for word in alone if after[word] >= _MOSTLY * total[word]}
    others = set(total) - marked if language == _ALWAYS_MARKED else set()
    return NounSigns(frozenset(nouns), frozenset(others))


def _by_capitals(texts: list[str]) -> NounSigns | None:
    """Return what capital letters within sentences show; None if most texts have none."""
    large: Counter[str] = Counter()
    small: Counter[str] = Counter()
    texts_with = 0
    for text in texts:
        inner = [
            word for part in _SENTENCE_END.split(text) for word in _WORD.findall(part.strip())[1:]
        ]
        texts_with += any(word[0].isupper() for word in inner)
        for word in inner:
            (large if word[0].isupper() else small)[word.lower()] += 1
    if 2 * texts_with < len(texts):
        return None
    nouns = frozenset(word for word in large if large[word] > small[word])
    return NounSigns(nouns, frozenset(small) - nouns)


def _is_open(word: str) -> bool:
    return word[:1].isalpha() and not is_function_word(word)


def _determines(word: str) -> bool:
    return bool({"D", "Q"} & set(uses_of(word))) if word else False


def qualifies(language: str | None, noun: str, word: str) -> bool:
    """Whether a word right after a noun is its adjective rather than an adverb: "la caja roja"."""
    follows = language in _ADJECTIVES_FOLLOW and _is_open(noun) and _is_open(word)
    return follows and _MANNER.search(word) is None
