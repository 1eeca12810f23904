"""When a sentence is true of a clip: when each of its words is true of the things it speaks of.

Log ratios of words add up to how well a sentence explains a clip, but a verb that fits very well
does not make up for an adverb that fails. So the evidence of every word is turned into the
probability that the word is true, which cannot exceed 1, and a sentence is as likely true as all
its words are together, of those things of which they are likeliest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.checks import require_numbers
from wordsight.meaning.errors import MeaningError
from wordsight.meaning.scoring.evidence import NUM_EVIDENCE
from wordsight.meaning.scoring.scorer import ClipScorer
from wordsight.records import Sentence

__all__ = ["NUM_ASSIGNMENTS", "Belief", "log_sigmoid"]

Array = NDArray[np.float64]

NUM_ASSIGNMENTS = 8
"""Choices of things that are weighed: those that explain the clip best."""


@dataclass(frozen=True)
class Belief:
    """Per word how its evidence turns into the probability that it is true.

    Attributes:
        slopes: Per entry the factors of its kinds of evidence, those missing being 0; see
            :data:`wordsight.meaning.scoring.evidence.NUM_EVIDENCE`.
        offsets: Per entry what is added; the sum is the log odds that the word is true.
        beside: Per verb and word said beside it what is added to that word's log odds: to bend
            down quickly is not as fast as to walk quickly.
    """

    slopes: dict[str, tuple[float, ...]]
    offsets: dict[str, float]
    beside: dict[str, dict[str, float]] = field(default_factory=dict)

    def log_probability(self, entries: Sequence[str], evidence: Array) -> float:
        """Return the log probability that all words are true of one of several choices of things.

        Args:
            entries: The L words; those without a slope are taken as true.
            evidence: ``(C, L, TRAITS)`` their evidence on each choice of things.
        """
        known = [number for number, entry in enumerate(entries) if entry in self.slopes]
        slopes = np.zeros((len(known), NUM_EVIDENCE))
        for row, number in zip(slopes, known, strict=True):
            own = self.slopes[entries[number]]
            row[: len(own)] = own
        verb = next((entry for entry in entries if entry in self.beside), "")
        beside = self.beside.get(verb, {})
        offsets = np.array([self.offsets[entries[n]] + beside.get(entries[n], 0.0) for n in known])
        odds = (evidence[:, known] * slopes).sum(axis=2) + offsets
        return float(log_sigmoid(odds).sum(axis=1).max())

    def scores(self, reading: ClipScorer, sentences: Sequence[Sentence]) -> Array:
        """Return ``(K,)`` the log probability that each sentence is true of a clip."""
        return np.array(
            [
                self.log_probability(
                    [word.entry for word in sentence.words],
                    reading.evidence(sentence, NUM_ASSIGNMENTS),
                )
                for sentence in sentences
            ]
        )

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can hold of it."""
        slopes = {entry: list(own) for entry, own in self.slopes.items()}
        beside = {verb: dict(row) for verb, row in self.beside.items()}
        return {"slopes": slopes, "offsets": dict(self.offsets), "beside": beside}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Belief":
        """Undo :meth:`to_json`; earlier versions had one slope per word, and nothing beside."""
        slopes = {
            entry: tuple(map(float, own)) if isinstance(own, list) else (float(own),)
            for entry, own in values["slopes"].items()
        }
        offsets = require_numbers("the offset", values["offsets"])
        if not slopes.keys() <= offsets.keys():
            raise MeaningError("every word with slopes has an offset, too.")
        if not all(len(own) <= NUM_EVIDENCE and np.isfinite(own).all() for own in slopes.values()):
            raise MeaningError(f"a word has up to {NUM_EVIDENCE} slopes, which are numbers.")
        rows = values.get("beside", {}).items()
        beside = {verb: require_numbers("what is added", row) for verb, row in rows}
        return cls(slopes, offsets, beside)


def log_sigmoid(values: Array) -> Array:
    """Return the logarithm of the logistic function, exact for large values of either sign."""
    return np.asarray(-np.logaddexp(0.0, -values))
