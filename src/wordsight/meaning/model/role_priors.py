"""What is usually said: which nouns fill the roles of a verb, of those that might have.

"The person drank from the microwave" can be said, and hardly ever is. Where sentences about one
clip are compared, how often such a thing was true when it was asked is evidence beside what is
seen. Of training clips it is counted over the others, so that its weight can be fitted fairly.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.language import Lexicon, PartOfSpeech
from wordsight.meaning.checks import require_number, require_numbers
from wordsight.records import Sentence

__all__ = ["RolePriorCounts", "RolePriors"]

Array = NDArray[np.float64]
FilledRole = tuple[str, int, str]  # a verb, the place among its roles, and the noun that fills it

_ANY_NOUN = ""
_PSEUDO_COUNT = 3.0  # questions behind every noun of a role, answered as often as the role's others


@dataclass(frozen=True)
class RolePriors:
    """How usual it is that nouns fill roles of verbs, as log ratios against the role's mean.

    Attributes:
        ratios: Per verb, per role of it, the log ratio of each noun; 0 for nouns not listed.
        weight: What the ratios are multiplied by; 0 if habits are not used.
    """

    ratios: dict[str, tuple[dict[str, float], ...]] = field(default_factory=dict)
    weight: float = 0.0

    def __call__(self, sentences: Sequence[Sentence], lexicon: Lexicon) -> Array:
        """Return ``(K,)`` unweighted log ratios of sentences, summed over their roles."""
        return np.array(
            [sum(map(self._ratio, _filled_roles(s, lexicon))) for s in sentences], float
        )

    def _ratio(self, role: FilledRole) -> float:
        verb, place, noun = role
        places = self.ratios.get(verb, ())
        return places[place].get(noun, 0.0) if place < len(places) else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can hold of it."""
        return {"ratios": {v: list(rows) for v, rows in self.ratios.items()}, "weight": self.weight}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "RolePriors":
        """Undo :meth:`to_json`."""
        require_number("the weight of habits", values["weight"], least=0.0)
        ratios = {
            verb: tuple(require_numbers(f"the habit of {verb!r}", row) for row in rows)
            for verb, rows in values["ratios"].items()
        }
        return cls(ratios, float(values["weight"]))


class RolePriorCounts:
    """How often each noun was asked for, and was true, in each role of each verb.

    Args:
        lexicon: How words combine.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        # Of single nouns, and under an empty name of all nouns in a role together.
        self._asked: Counter[FilledRole] = Counter()
        self._true: Counter[FilledRole] = Counter()

    def add(self, candidates: Sequence[Sentence], truths: Iterable[int], times: int = 1) -> None:
        """Count a question: its candidates, and which of them are true; ``times=-1`` undoes it."""
        right = set(truths)
        for number, sentence in enumerate(candidates):
            for verb, place, noun in _filled_roles(sentence, self._lexicon):
                for name in (noun, _ANY_NOUN):
                    self._asked[verb, place, name] += times
                    self._true[verb, place, name] += times * (number in right)

    def without(self, candidates: Sequence[Sentence], truths: Iterable[int]) -> tuple[float, ...]:
        """Return how usual each candidate of a question is by all other questions."""
        right = tuple(truths)
        self.add(candidates, right, times=-1)
        values = [sum(map(self._ratio, _filled_roles(one, self._lexicon))) for one in candidates]
        self.add(candidates, right)
        return tuple(values)

    def habits(self) -> RolePriors:
        """Return the log ratios, with weight 1."""
        found: dict[str, tuple[dict[str, float], ...]] = {}
        for verb, place, noun in self._asked:
            if noun != _ANY_NOUN:
                rows = found.setdefault(verb, tuple({} for _ in self._lexicon[verb].roles))
                rows[place][noun] = self._ratio((verb, place, noun))
        return RolePriors(found, 1.0)

    def _ratio(self, role: FilledRole) -> float:
        whole = (*role[:2], _ANY_NOUN)
        if self._true[whole] <= 0:
            return 0.0
        mean = self._true[whole] / self._asked[whole]
        rate = (self._true[role] + _PSEUDO_COUNT * mean) / (self._asked[role] + _PSEUDO_COUNT)
        return float(np.log(rate / mean))


def _filled_roles(sentence: Sentence, lexicon: Lexicon) -> tuple[FilledRole, ...]:
    parts = [(word, lexicon[word.entry].part) for word in sentence.words]
    nouns = {w.participants[0]: w.entry for w, part in parts if part is PartOfSpeech.NOUN}
    return tuple(
        (word.entry, place, nouns[person])
        for word, part in parts
        if part is PartOfSpeech.VERB
        for place, person in enumerate(word.participants)
        if person in nouns
    )
