"""Cutting texts of any script into the terms that are counted: words, stopped and stemmed.

Scripts that write no spaces between words (Chinese, Japanese, Thai and others) are cut into
overlapping pairs of characters, the usual choice where there is no dictionary.
"""

import re
import sys
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.text.stop_words import stop_words_of

__all__ = ["Analyser", "stemming_languages", "words_of"]

_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")
# Han, kana, bopomofo, Thai, Lao, Myanmar and Khmer: no space between words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u312f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_LONGEST_TERM = 64  # characters; longer ones are no words but data that would fill the index


@dataclass(frozen=True)
class Analyser:
    """Turns a text into terms.

    Letters are brought to one form (NFKC) and folded in case; apostrophes keep words together
    and a possessive ending goes with stemming; stop words go before stemming.

    Attributes:
        language: Of the Snowball stemmer, such as ``"english"``; ``None`` leaves words whole.
        stop_words: ``"english"``, ``None``, or the words themselves.

    Example:
        >>> Analyser().terms("The persons' backpacks were dropped")
        ['person', 'backpack', 'drop']
        >>> Analyser(language=None, stop_words=None).terms("Ærøskøbing 東京都 ÉTÉ")
        ['ærøskøbing', '東京', '京都', 'été']
    """

    language: str | None = "english"
    stop_words: str | frozenset[str] | None = "english"
    _known: dict[str, tuple[str, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if self.language is not None and self.language not in stemming_languages():
            raise RetrievalError(
                f"there is no stemmer for {self.language!r}; choose one of "
                f"{', '.join(stemming_languages())}, or none."
            )
        stop_words_of(self.stop_words)  # says which lists there are

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text in order, repeated as often as they occur."""
        known = self._known
        found: list[str] = []
        for word in words_of(text):
            terms = known.get(word)
            if terms is None:
                terms = known[word] = self._terms_of(word)
            found.extend(terms)
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON can hold them."""
        stop = self.stop_words
        return {
            "language": self.language,
            "stop_words": sorted(stop) if isinstance(stop, frozenset) else stop,
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Analyser":
        """Make the analyser that :meth:`to_json` described."""
        stop = values["stop_words"]
        return cls(values["language"], frozenset(stop) if isinstance(stop, list) else stop)

    def __reduce__(self) -> tuple[Any, ...]:
        # What it has at hand, the stemmer above all, is made again where it arrives.
        return Analyser, (self.language, self.stop_words)

    def _terms_of(self, word: str) -> tuple[str, ...]:
        pieces = [word] if word.isascii() else _pieces(word)
        return tuple(term for piece in pieces for term in self._stemmed(piece))

    def _stemmed(self, word: str) -> Iterable[str]:
        if word in self._stop or len(word) > _LONGEST_TERM:
            return ()
        if self._stemmer is None:
            return (word,)
        stem = self._stemmer.stemWord(word).strip("'")
        return (stem,) if stem else ()

    @cached_property
    def _stop(self) -> frozenset[str]:
        return stop_words_of(self.stop_words)

    @cached_property
    def _stemmer(self) -> Any:
        if self.language is None:
            return None
        import Stemmer

        # Our own cache holds the stem of every word already.
        return Stemmer.Stemmer(self.language, maxCacheSize=0)


@lru_cache(maxsize=1)
def stemming_languages() -> tuple[str, ...]:
    """Return the languages there are stemmers for."""
    import Stemmer

    return tuple(Stemmer.algorithms())


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case; unspaced scripts come in whole runs."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    # Case folding may undo the normal form of some letters.
    return _word_of_any_script().findall(unicodedata.normalize("NFC", folded))


@lru_cache(maxsize=1)
def _word_of_any_script() -> re.Pattern[str]:
    # Vowel signs and accents of many scripts are marks, which \w leaves out.
    marks = "".join(
        character
        for character in map(chr, range(0x300, min(sys.maxunicode, 0x1E95B)))
        if unicodedata.category(character) in ("Mn", "Mc")
    )
    letter = rf"(?:[^\W_]|[{re.escape(marks)}])"
    return re.compile(rf"[^\W_]{letter}*(?:'{letter}+)*")


@lru_cache(maxsize=1)
def _runs() -> re.Pattern[str]:
    return re.compile(rf"([{_UNSPACED}]+)")


def _pieces(word: str) -> list[str]:
    """Cut runs of unspaced scripts into overlapping pairs of characters; leave the rest whole."""
    pieces: list[str] = []
    for place, run in enumerate(_runs().split(word)):
        if place % 2 == 0:
            pieces += [run] if run else []
        else:
            pieces += [run[i : i + 2] for i in range(max(1, len(run) - 1))]
    return pieces
