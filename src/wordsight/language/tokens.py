"""Words of sentences: of those of a grammar, hyphens read as spaces, and as people write them."""

import re
import unicodedata
from dataclasses import dataclass

from wordsight.errors import LanguageError, pointing_at
from wordsight.language.english.words import FIXED_PHRASES, NUMBERS, TIMES
from wordsight.language.glosses import glossed, segmented

__all__ = ["MOST_WORDS", "Piece", "WordToken", "pieces_of", "split_words", "tokenise", "tokens_of"]

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_ENDING = re.compile(r"[.!?…]+")
# Characters that are ignored between words; anything else is an error.
_IGNORED = frozenset(" \t\r\n,;:-–—\"'“”‘’()")


MOST_WORDS = 80
"""Words of a sentence that is read."""

_TOKEN = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*|[,;:.!?…]|\S")
_SOUND = re.compile(r"\[[^\]]*\]|♪[^♪]*♪?")  # what subtitles say of what is heard
# Soft hyphens, marks of direction and such.
_UNSEEN = re.compile("[¿¡\u00ad\u200c-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_LONGEST_PHRASE = 4
_ENDINGS = {"s": "is", "re": "are", "ve": "have", "ll": "will", "m": "am", "d": "had"}
_DENIED = re.compile(r"(is|are|was|were|do|does|did|has|have|had|could|would|should|must)n'?t")
_DENIED_OTHERWISE = {"can't": "can", "won't": "will", "ain't": "is", "needn't": "can"}
_IS_AFTER = frozenset(
    ("he", "she", "it", "that", "there", "who", "what", "they", "we", "i", "you", "where", "here")
)


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


@dataclass(frozen=True)
class Piece:
    """A word or fixed phrase of a text, or a mark.

    Attributes:
        text: In lower case; a function word of another language in English.
        position: Number of the piece in the text.
        written: What was written.
    """

    text: str
    position: int
    written: str = ""

    @property
    def is_word(self) -> bool:
        """Whether it is no punctuation or symbol."""
        return self.text[0].isalnum() or (self.text[0] == "'" and len(self.text) > 1)


def pieces_of(
    text: str, phrases: frozenset[tuple[str, ...]] = frozenset(), language: str | None = None
) -> list[Piece]:
    """Split a text into words, fixed phrases such as "to the left of", and marks.

    Args:
        text: One or more sentences.
        phrases: Further phrases to keep together, such as nouns of several words.
        language: Whose function words it has; English if None.

    Raises:
        LanguageError: If there is no word, or there are more than :data:`MOST_WORDS`.
    """
    tokens = tokens_of(text)
    if language is None:
        tokens = [part for place in range(len(tokens)) for part in _unjoined(tokens, place)]
    pairs = [(token, token) for token in tokens] if language is None else glossed(tokens, language)
    english = language is None
    pairs = [(part, one) for token, one in pairs for part in _split(token, phrases, english)]
    tokens = [token for token, _ in pairs]
    words = sum(token[0].isalnum() for token in tokens)
    if not words:
        raise LanguageError(f"expected a sentence, got {text[:60]!r} without a single word.")
    if words > MOST_WORDS:
        got = max(words, len(text.split()))
        raise LanguageError(f"expected up to {MOST_WORDS} words, got {got:,}; write it in parts.")
    found: list[Piece] = []
    place = 0
    while place < len(tokens):
        length = _phrase_length(tokens, place, phrases)
        piece = " ".join(tokens[place : place + length])
        found.append(Piece(piece, len(found), pairs[place][1] if length == 1 else piece))
        place += length
    return found


def tokens_of(text: str) -> list[str]:
    """Return the words and marks of a text in lower case."""
    whole = unicodedata.normalize("NFC", text[: 40 * MOST_WORDS])
    cut = _SOUND.sub(" ", segmented(_UNSEEN.sub("", whole)))
    return [token.lower().replace("’", "'") for token in _TOKEN.findall(cut)]


def _split(token: str, phrases: frozenset[tuple[str, ...]], english: bool) -> list[str]:
    denied = _DENIED.fullmatch(token) if english else None
    if denied or token in _DENIED_OTHERWISE:
        return [denied.group(1) if denied else _DENIED_OTHERWISE[token], "not"]
    if "'" in token:
        head, _, tail = token.partition("'")
        if tail in _ENDINGS and (head in _IS_AFTER or tail not in ("s", "m", "d")):
            return [head, _ENDINGS[tail]]
    if "-" in token and (
        tuple(token.split("-")) in phrases or token.replace("-", " ") in FIXED_PHRASES
    ):
        return token.split("-")
    return [token]


def _unjoined(tokens: list[str], place: int) -> list[str]:
    """Split "someone's" where it is no possessive: "someone's knocking on the window"."""
    token, following = tokens[place], [*tokens[place + 1 : place + 3], "", ""]
    ends = not following[1][:1].isalpha() or bool(_AFTER_VERB.fullmatch(following[1]))
    if token.endswith("'s") and following[0].endswith("ing") and ends:
        return [token[:-2], "is"]
    return [token]


def _phrase_length(tokens: list[str], place: int, phrases: frozenset[tuple[str, ...]]) -> int:
    time = _time_length(tokens[place : place + _LONGEST_PHRASE + 1])
    if time:
        return time
    for length in range(_LONGEST_PHRASE, 1, -1):
        part = tuple(tokens[place : place + length])
        if len(part) == length and (" ".join(part) in FIXED_PHRASES or part in phrases):
            return length
    return 1


def _time_length(tokens: list[str]) -> int:
    """Return how many words say how long, or how much later: "after a few seconds"."""
    at = next((n for n, token in enumerate(tokens) if token in TIMES), 0)
    if not at or not all(token in _HOW_LONG or token in NUMBERS for token in tokens[1:at]):
        return 0
    if tokens[at + 1 : at + 2] in (["later"], ["ago"]):
        return at + 2 if tokens[0] in _HOW_LONG or tokens[0] in NUMBERS else 0
    how_often = tokens[0] == "every"
    return at + 1 if how_often or (tokens[0] in ("after", "for", "within") and at > 1) else 0


_AFTER_VERB = re.compile(
    "the|a|an|his|her|its|their|and|on|at|to|into|onto|in|up|down|off|out|away|with|for|over|from|"
    "through|across|around|by|towards|along|past"
)
_HOW_LONG = frozenset(["a", "an", "the", "some", "few", "several", "about", "around", "half"])
