"""Tokenising sentences: lower case, without punctuation, hyphens read as spaces."""

import re
from dataclasses import dataclass

from wordsight.errors import pointing_at
from wordsight.language.errors import LanguageError

__all__ = ["WordToken", "split_words", "tokenise"]

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_ENDING = re.compile(r"[.!?…]+")
# Characters that are ignored between words; anything else is an error.
_IGNORED = frozenset(" \t\r\n,;:-–—\"'“”‘’()")


@dataclass(frozen=True)
class WordToken:
    """One word of a text.

    Attributes:
        word: The word in lower case.
        start: Index of its first character in the text.
        end: Index of its end, exclusive.
    """

    word: str
    start: int
    end: int


def tokenise(text: str) -> list[WordToken]:
    """Split one sentence into words.

    ``trash-can`` and ``trash can`` give the same two words, so hyphens never matter.

    Args:
        text: One sentence; a full stop, question or exclamation mark may end it.

    Returns:
        Its words in order, with their positions in ``text``.

    Raises:
        LanguageError: If there is no word, more than one sentence, or a character that is
            neither letter, digit nor common punctuation.
    """
    tokens = [WordToken(m.group().lower(), *m.span()) for m in _WORD.finditer(text)]
    if not tokens:
        raise LanguageError(f"expected a sentence, got {text!r} without a single word.")
    _require_one_sentence(text, tokens)
    _require_known_characters(text)
    return tokens


def split_words(text: str) -> tuple[str, ...]:
    """Return the words of a short piece of text, such as a spelling in a lexicon."""
    return tuple(m.group().lower() for m in _WORD.finditer(text))


def _require_one_sentence(text: str, tokens: list[WordToken]) -> None:
    ending = _ENDING.search(text, tokens[0].start)
    if ending is not None and ending.end() <= tokens[-1].start:
        raise LanguageError(
            "expected one sentence, but the text goes on after its end; give each sentence on "
            f"its own:\n{pointing_at(text, *ending.span())}"
        )


def _require_known_characters(text: str) -> None:
    rest = _ENDING.sub(lambda m: " " * len(m.group()), text)
    rest = _WORD.sub(lambda m: " " * len(m.group()), rest)
    for place, character in enumerate(rest):
        if character not in _IGNORED and not character.isspace():
            raise LanguageError(
                f"expected letters, digits and common punctuation, got {character!r}; leave it "
                f"out or spell it as a word:\n{pointing_at(text, place, place + 1)}"
            )
