"""When a sentence is true of a clip: when each of its words is true of the things it speaks of.

Log ratios of words add up to how well a sentence explains a clip, but a verb that fits very well
does not make up for an adverb that fails. So the evidence of every word is turned into the
probability that the word is true, which cannot exceed 1, and a sentence is as likely true as all
its words are together, of those things of which they are likeliest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.reading import Reading
from wordsight.records import Sentence

__all__ = ["CASTS", "Belief", "log_sigmoid"]

Array = NDArray[np.float64]

CASTS = 8
"""Choices of things that are weighed: those that explain the clip best."""


@dataclass(frozen=True)
class Belief:
    """Per word how its evidence turns into the probability that it is true.

    Attributes:
        slopes: Per entry the factor of its log ratio per frame.
        offsets: Per entry what is added; the sum is the log odds that the word is true.
    """

    slopes: dict[str, float]
    offsets: dict[str, float]

    def log_probability(self, entries: Sequence[str], evidence: Array) -> float:
        """Return the log probability that all words are true of one of several choices of things.

        Args:
            entries: The L words; those without a slope are taken as true.
            evidence: ``(C, L)`` their log ratios per frame on each choice of things.
        """
        known = [number for number, entry in enumerate(entries) if entry in self.slopes]
        slopes = np.array([self.slopes[entries[number]] for number in known])
        offsets = np.array([self.offsets[entries[number]] for number in known])
        return float(log_sigmoid(slopes * evidence[:, known] + offsets).sum(axis=1).max())

    def scores(self, reading: Reading, sentences: Sequence[Sentence], frames: int) -> Array:
        """Return ``(K,)`` the log probability that each sentence is true of a clip."""
        return np.array(
            [
                self.log_probability(
                    [word.entry for word in sentence.words],
                    reading.evidence(sentence, CASTS) / max(1, frames),
                )
                for sentence in sentences
            ]
        )

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can hold of it."""
        return {"slopes": dict(self.slopes), "offsets": dict(self.offsets)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Belief":
        """Undo :meth:`to_json`."""
        return cls(dict(values["slopes"]), dict(values["offsets"]))


def log_sigmoid(values: Array) -> Array:
    """Return the logarithm of the logistic function, exact for large values of either sign."""
    return np.asarray(-np.logaddexp(0.0, -values))
