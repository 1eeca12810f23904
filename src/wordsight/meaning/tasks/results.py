"""What reading clips with sentences returns: scores, tracks, descriptions, hits, explanations."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.records import Moment, Sentence, Track

__all__ = [
    "Description",
    "SentenceExplanation",
    "SentenceHit",
    "SentenceScore",
    "TrackedSentence",
    "WordTime",
]


@dataclass(frozen=True, eq=False)
class SentenceScore(Moment):
    """How well a sentence fits a clip; ``score`` compares across clips: log probability of truth.

    Attributes:
        text: The sentence.
        holds: Whether the score reaches the threshold: whether the sentence is said to be true.
        log_ratio: Log likelihood of the clip under the sentence less that under the corpus.
        preference: Calibrated score by which sentences about this clip compare.
        lost_mass: Share of the weight of all explanations that was left out at most, because
            they did not fit the memory; 0 if none was.
    """

    text: str
    holds: bool
    log_ratio: float
    preference: float
    lost_mass: float = 0.0


@dataclass(frozen=True, eq=False)
class SentenceHit(Moment):
    """A moment a search found.

    Attributes:
        text: The sentence searched for.
        holds: Whether the score reaches the threshold.
        evidence: Per word, in order, its score per frame: which words carry the hit.
        lost_mass: As of a :class:`SentenceScore`.
    """

    text: str
    holds: bool
    evidence: tuple[tuple[str, float], ...]
    lost_mass: float = 0.0


@dataclass(frozen=True, eq=False)
class Description(Moment):
    """A sentence found to describe a clip; ``score`` is calibrated, for sentences of one clip.

    Attributes:
        text: The sentence.
        holds: Whether it is likely enough to be true: see :class:`SentenceScore`.
        probability: Share of this sentence among all that were weighed.
        lost_mass: Of the sentence, among all that were weighed, that lost most: as of a
            :class:`SentenceScore`.
    """

    text: str
    holds: bool
    probability: float
    lost_mass: float = 0.0


@dataclass(frozen=True)
class WordTime:
    """What state a word is in, frame by frame.

    Attributes:
        word: The word with its participants, ``picked-up(p0,p1)``.
        states: ``(T,)`` its state in each frame looked at, counted from 0.
        evidence: ``(T,)`` its log ratio in each frame: above 0 it fits better than usual.
        typical: ``(T,)`` what that is on average where the word is true.
    """

    word: str
    states: NDArray[np.int64]
    evidence: NDArray[np.float64]
    typical: NDArray[np.float64]

    @property
    def fit(self) -> float:
        """Evidence as a share of what is typical: about 1 where the word is true."""
        return float(self.evidence.sum() / max(float(self.typical.sum()), 1e-9))


@dataclass(frozen=True, eq=False)
class TrackedSentence(Moment):
    """Who is who in a clip, given a sentence.

    Attributes:
        sentence: The sentence.
        times: ``(T,)`` seconds of the frames looked at.
        tracks: Per participant its boxes, labelled with its noun; frames in which it is unseen
            are left out.
        words: Per word its states.
        lost_mass: As of a :class:`SentenceScore`.
    """

    sentence: Sentence
    times: NDArray[np.float64]
    tracks: tuple[Track, ...]
    words: tuple[WordTime, ...]
    lost_mass: float = 0.0


@dataclass(frozen=True, eq=False)
class SentenceExplanation(Moment):
    """Why a sentence fits or does not.

    Attributes:
        text: The sentence.
        times: ``(T,)`` seconds of the frames looked at.
        words: Per word its states and evidence.
        weakest: The word with the least share of the evidence typical of it.
        weakest_span: From when to when, in seconds, that word fails: the longest such stretch, or
            None if there is none.
        lost_mass: As of a :class:`SentenceScore`.
    """

    text: str
    times: NDArray[np.float64]
    words: tuple[WordTime, ...]
    weakest: str
    weakest_span: tuple[float, float] | None
    lost_mass: float = 0.0

    def table(self) -> str:
        """Return one line per word: its fit, and a strip of when it fits."""
        lines = []
        for word in self.words:
            share = word.evidence / np.maximum(word.typical, 1e-9)
            strip = "".join(_MARKS[int(np.clip(np.floor(2 * s + 1), 0, 3))] for s in share)
            lines.append(f"{word.word:<28} {word.fit:+6.2f}  {strip}")
        return "\n".join(lines)


# A frame against the word, with little, with half, with all of the typical evidence.
_MARKS = "·░▓█"
