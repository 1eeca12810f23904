"""Converting texts of any script, and queries, into terms: words without stop words, stemmed.

Scripts written without spaces (Chinese, Japanese, Thai and others) are split into overlapping pairs
of characters, the usual choice without a dictionary.
"""

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, Self

from wordsight.errors import RetrievalError

__all__ = [
    "STOP_WORDS",
    "Analyser",
    "TextQuery",
    "is_pair",
    "neighbours_of",
    "stemming_languages",
    "stop_words_of",
    "words_of",
]

_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")
# Han, kana, bopomofo, Thai, Lao, Myanmar and Khmer: no space between words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u312f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_LONGEST_TERM = 64  # characters; longer ones are data, not words, and would fill the index

# Function words only: articles, pronouns, prepositions, conjunctions, auxiliaries. Words that say
# where or how something moves (up, down, left, over) are kept: videos are searched for them.
_ENGLISH = """
a an the this that these those
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself
she her hers herself it its itself they them their theirs themselves one
who whom whose which what when where why how
and or but nor so if then than because as while although though unless until whether
of at by for with about against between into through during to from in on within without upon per
is am are was were be been being do does did doing done have has had having
can could may might must shall should will would cannot
not no there here also only very too just such both each any all some other same own more most
s t d ll m re ve don didn doesn isn wasn weren aren hasn haven hadn won wouldn couldn shouldn
it's that's there's what's who's he's she's i'm i'd i'll i've you're you'd you'll you've we're we'd
we'll we've they're they'd they'll they've isn't aren't wasn't weren't hasn't haven't hadn't doesn't
don't didn't won't wouldn't can't couldn't shouldn't let's
"""

STOP_WORDS: dict[str, frozenset[str]] = {"english": frozenset(_ENGLISH.split())}
"""The lists of stop words by language."""


@dataclass(frozen=True)
class Analyser:
    """Converts a text into terms.

    Characters are normalised (NFKC) and case-folded; apostrophes keep words together, and a
    possessive ending is removed by stemming; stop words are removed before stemming.

    Attributes:
        language: Language of the Snowball stemmer, such as ``"english"``; ``None`` for no stemming.
        stop_words: ``"english"``, ``None``, or a set of words.

    Examples:
        >>> Analyser().terms("The persons' backpacks were dropped")
        ['person', 'backpack', 'drop']
        >>> Analyser(language=None, stop_words=None).terms("Ærøskøbing 東京都 ÉTÉ")
        ['ærøskøbing', '東京', '京都', 'été']
    """

    language: str | None = "english"
    stop_words: str | frozenset[str] | None = "english"
    _cache: dict[str, tuple[str, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if self.language is not None and self.language not in stemming_languages():
            raise RetrievalError(
                f"there is no stemmer for {self.language!r}; choose one of "
                f"{', '.join(stemming_languages())}, or none."
            )
        stop_words_of(self.stop_words)  # raises if there is no such list

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text in order, with repetitions."""
        cache = self._cache
        result: list[str] = []
        for word in words_of(text):
            terms = cache.get(word)
            if terms is None:
                terms = cache[word] = self._terms_of(word)
            result.extend(terms)
        return result

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        stop = self.stop_words
        return {
            "language": self.language,
            "stop_words": sorted(stop) if isinstance(stop, frozenset) else stop,
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Analyser":
        """Create an analyser from the result of :meth:`to_json`."""
        stop = values["stop_words"]
        return cls(values["language"], frozenset(stop) if isinstance(stop, list) else stop)

    def __reduce__(self) -> tuple[Any, ...]:
        # The stemmer cannot be pickled, and the cache need not be.
        return Analyser, (self.language, self.stop_words)

    def _terms_of(self, word: str) -> tuple[str, ...]:
        pieces = [word] if word.isascii() else _pieces(word)
        return tuple(term for piece in pieces for term in self._stem(piece))

    def _stem(self, word: str) -> Iterable[str]:
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

        # Our own cache already holds the stem of every word.
        return Stemmer.Stemmer(self.language, maxCacheSize=0)


@dataclass(frozen=True)
class TextQuery:
    """Terms with weights; in a typed query, the number of occurrences.

    Attributes:
        weights: Weight of each term, above 0.
        text: The original text, for display.
        exclude: Positions of documents to leave out, such as the example itself.
        words: For each term a word as it was written.
        pairs: Weight of each pair of neighbouring terms.

    Examples:
        >>> query = TextQuery.from_text("a red cup, a very red one", Analyser())
        >>> query.weights, query.pairs
        ({'red': 2.0, 'cup': 1.0}, {'cup red': 2.0})
    """

    weights: Mapping[str, float]
    text: str = ""
    exclude: frozenset[int] = field(default_factory=frozenset)
    words: Mapping[str, str] = field(default_factory=dict)
    pairs: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def from_text(cls, text: str, analyser: Analyser) -> Self:
        """Create a query from a text; empty if it contains only stop words."""
        terms_in_order = analyser.terms(text)
        weights = {term: float(n) for term, n in Counter(terms_in_order).items()}
        pairs = {pair: float(n) for pair, n in Counter(neighbours_of(terms_in_order)).items()}
        written: dict[str, str] = {}
        for word in words_of(text):
            terms = analyser.terms(word)
            # A run of unspaced characters gives several terms, which are displayed themselves.
            written |= {term: word if len(terms) == 1 else term for term in terms}
        for pair in pairs:
            written[pair] = " + ".join(written.get(term, term) for term in pair.split())
        return cls(weights, text, words=written, pairs=pairs)

    @property
    def length(self) -> float:
        """The sum of the weights."""
        return float(sum(self.weights.values()))

    def __bool__(self) -> bool:
        return self.length > 0


def neighbours_of(terms: Sequence[str]) -> list[str]:
    """Return the pairs of neighbouring terms, each in the order of the alphabet.

    Examples:
        >>> neighbours_of(["red", "cup", "cup", "red"])
        ['cup red', 'cup red']
    """
    return [f"{min(a, b)} {max(a, b)}" for a, b in pairwise(terms) if a != b]


def is_pair(term: str) -> bool:
    """Tell whether a term is a pair of neighbours; no word contains a space."""
    return " " in term


@lru_cache(maxsize=1)
def stemming_languages() -> tuple[str, ...]:
    """Return the languages of the Snowball stemmers."""
    import Stemmer

    return tuple(Stemmer.algorithms())


def stop_words_of(choice: str | frozenset[str] | None) -> frozenset[str]:
    """Return a set of stop words.

    Args:
        choice: The name of a list, a set of words, or ``None`` for no stop words.

    Raises:
        RetrievalError: If there is no such list.
    """
    if choice is None:
        return frozenset()
    if isinstance(choice, frozenset):
        return choice
    if choice not in STOP_WORDS:
        raise RetrievalError(
            f"there is no list of stop words for {choice!r}; there are {', '.join(STOP_WORDS)}. "
            "Give your own words as a frozenset, or None."
        )
    return STOP_WORDS[choice]


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case; a run of an unspaced script is one word."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    # Case folding can undo the normalisation of some characters.
    return _word_of_any_script().findall(unicodedata.normalize("NFC", folded))


@lru_cache(maxsize=1)
def _word_of_any_script() -> re.Pattern[str]:
    # Vowel signs and accents of many scripts are marks, which \w excludes.
    marks = "".join(
        character
        for character in map(chr, range(0x300, min(sys.maxunicode, 0x1E95B)))
        if unicodedata.category(character) in ("Mn", "Mc")
    )
    letter = rf"(?:[^\W_]|[{re.escape(marks)}])"
    return re.compile(rf"[^\W_]{letter}*(?:'{letter}+)*")


@lru_cache(maxsize=1)
def _unspaced_runs() -> re.Pattern[str]:
    return re.compile(rf"([{_UNSPACED}]+)")


def _pieces(word: str) -> list[str]:
    """Split runs of unspaced scripts into overlapping pairs of characters; keep the rest whole."""
    pieces: list[str] = []
    for place, run in enumerate(_unspaced_runs().split(word)):
        if place % 2 == 0:
            pieces += [run] if run else []
        else:
            pieces += [run[i : i + 2] for i in range(max(1, len(run) - 1))]
    return pieces
