"""`TextQuery`: what is looked for in words, as terms with weights."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from wordsight.retrieval.text.analysis import Analyser, words_of

__all__ = ["TextQuery"]


@dataclass(frozen=True)
class TextQuery:
    """Terms with weights; for words typed by a person, how often each occurs.

    Attributes:
        weights: Weight of each term, above 0.
        text: What the query was made from, for people.
        exclude: Numbers of documents that are not to be found, such as the example itself.
        words: For each term a word as it was written.

    Example:
        >>> TextQuery.of("a red cup, a very red one", Analyser()).weights
        {'red': 2.0, 'cup': 1.0}
    """

    weights: Mapping[str, float]
    text: str = ""
    exclude: frozenset[int] = field(default_factory=frozenset)
    words: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, analyser: Analyser) -> Self:
        """Make a query of a text; empty if it holds nothing but stop words."""
        counts = Counter(analyser.terms(text))
        weights = {term: float(count) for term, count in counts.items()}
        written: dict[str, str] = {}
        for word in words_of(text):
            terms = analyser.terms(word)
            # A run of characters without spaces is many terms, which show themselves.
            written |= {term: word if len(terms) == 1 else term for term in terms}
        return cls(weights, text, words=written)

    @property
    def length(self) -> float:
        """How many words it counts for: the sum of its weights."""
        return float(sum(self.weights.values()))

    def __bool__(self) -> bool:
        return self.length > 0
