"""Results of tasks: scores, tracks, descriptions, hits and explanations of sentences."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.records import Moment, Sentence, Track

__all__ = [
    "Description",
    "LivingWord",
    "SentenceExplanation",
    "SentenceHit",
    "SentenceScore",
    "TrackedSentence",
    "WordTime",
]


@dataclass(frozen=True, eq=False)
class SentenceScore(Moment):
    """How well a sentence fits a clip; ``score`` compares across clips, a log probability of truth.

    Attributes:
        text: The sentence.
        holds: Whether the score reaches the threshold: whether the sentence is judged true.
        log_ratio: Log likelihood of the clip under the sentence less that of the background.
        preference: Calibrated score that compares sentences about this clip.
        lost_mass: Upper bound of the share of explanations, by weight, that were left out because
            they did not fit the memory; 0 if none were.
    """

    text: str
    holds: bool
    log_ratio: float
    preference: float
    lost_mass: float = 0.0


@dataclass(frozen=True, eq=False)
class SentenceHit(Moment):
    """A moment that a search found.

    Attributes:
        text: The query.
        holds: Whether the score reaches the threshold.
        evidence: Per word, in order, its mean log ratio per frame.
        lost_mass: As of a :class:`SentenceScore`.
        window: Start and end of the stretch that was judged, with some time around the moment;
            None if it is the moment.
    """

    text: str
    holds: bool
    evidence: tuple[tuple[str, float], ...]
    lost_mass: float = 0.0
    window: tuple[float, float] | None = None

    @property
    def judged(self) -> tuple[float, float]:
        """Start and end of the stretch that was judged."""
        return self.window or (self.start, self.end)


@dataclass(frozen=True, eq=False)
class Description(Moment):
    """A description of a clip; ``score`` is a preference, which compares sentences of one clip.

    Attributes:
        text: The sentence; it is judged true, or fits best of all and may well be true.
        probability: Share of this sentence among all that were weighed.
        lost_mass: As of a :class:`SentenceScore`, the largest of all sentences weighed.
        unsure: Whether it is not judged true, but fits best of all and may well be.
    """

    text: str
    probability: float
    lost_mass: float = 0.0
    unsure: bool = False


@dataclass(frozen=True)
class WordTime:
    """The states and the evidence of a word in every frame.

    Attributes:
        word: The word with its participants, ``picked-up(p0,p1)``.
        states: ``(T,)`` its state in each sampled frame, counted from 0.
        evidence: ``(T,)`` its log ratio in each frame: above 0 it fits better than the background.
        typical: ``(T,)`` the mean log ratio where the word is true.
        failing: Start and end, in seconds, of the longest run of frames in which it fails.
        reason: Why it fails there, in plain words; empty where it does not.
    """

    word: str
    states: NDArray[np.int64]
    evidence: NDArray[np.float64]
    typical: NDArray[np.float64]
    failing: tuple[float, float] | None = None
    reason: str = ""

    @property
    def fit(self) -> float:
        """Evidence as a share of what is typical: about 1 where the word is true."""
        return float(self.evidence.sum() / max(float(self.typical.sum()), 1e-9))


@dataclass(frozen=True, eq=False)
class LivingWord:
    """A piece of a sentence as it is written, and how true it is over time.

    Attributes:
        text: The piece: a word of the text with what follows it.
        word: Which word of the lexicon it is, with its participants; ``None`` for an article or
            another piece without a meaning of its own.
        participant: The first thing it mentions.
        belief: ``(T,)`` 0 where it is not true (yet), 1 where all of it is; ``None`` without word.
        begins: When it begins to be true, in seconds; ``None`` if it never does.
        failing: When it fails longest, start and end in seconds.
        reason: Why it fails there, in plain words.
    """

    text: str
    word: str | None = None
    participant: int | None = None
    belief: NDArray[np.float64] | None = None
    begins: float | None = None
    failing: tuple[float, float] | None = None
    reason: str = ""


@dataclass(frozen=True, eq=False)
class TrackedSentence(Moment):
    """The tracks of the participants of a sentence in a clip.

    Attributes:
        sentence: The sentence.
        times: ``(T,)`` seconds of the sampled frames.
        tracks: Per participant its boxes, labelled with its noun, without frames in which it is
            unseen.
        words: Per word its states and evidence.
        lost_mass: As of a :class:`SentenceScore`.
    """

    sentence: Sentence
    times: NDArray[np.float64]
    tracks: tuple[Track, ...]
    words: tuple[WordTime, ...]
    lost_mass: float = 0.0


@dataclass(frozen=True, eq=False)
class SentenceExplanation(Moment):
    """Why a sentence fits a clip or does not.

    Attributes:
        text: The sentence.
        times: ``(T,)`` seconds of the sampled frames.
        words: Per word its states and evidence.
        weakest: The word with the least share of its typical evidence.
        weakest_span: Start and end, in seconds, of the longest run of frames in which that word
            fails; None if there is none.
        reason: Why it fails there, in plain words; empty where it does not.
        lost_mass: As of a :class:`SentenceScore`.
    """

    text: str
    times: NDArray[np.float64]
    words: tuple[WordTime, ...]
    weakest: str
    weakest_span: tuple[float, float] | None
    reason: str = ""
    lost_mass: float = 0.0

    def table(self) -> str:
        """Return one line per word: its fit, and a strip that shows when it fits."""
        lines = []
        for word in self.words:
            share = word.evidence / np.maximum(word.typical, 1e-9)
            strip = "".join(_MARKS[int(np.clip(np.floor(2 * s + 1), 0, 3))] for s in share)
            lines.append(f"{word.word:<28} {word.fit:+6.2f}  {strip}")
        return "\n".join(lines)


# A frame against the word, with little, with half, with all of the typical evidence.
_MARKS = "·░▓█"
