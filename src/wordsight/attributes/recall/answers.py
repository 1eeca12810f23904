"""Recall: given a picture, the word of each attribute that fits it; three ways."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.grouping.linear_mixture import LinearMaps
from wordsight.attributes.recall.discriminant import Discriminant, choose_discriminant

__all__ = [
    "NO_WORD",
    "DiscriminantRecall",
    "LearnedWord",
    "NamedAttribute",
    "Naming",
    "NearestPicture",
    "NearestSound",
    "Recall",
    "RecallResult",
]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]


_SOFTNESS = 3  # nearest lessons whose agreement is the confidence of a nearest-neighbour answer


@dataclass(frozen=True, eq=False)
class RecallResult:
    """Answers of one attribute for N pictures.

    Attributes:
        lessons: ``(N,)`` the lesson whose word is the answer; -1: take the word's example.
        words: ``(N,)`` the word.
        probabilities: ``(N, C)`` of the attribute's words ``classes``.
        classes: ``(C,)`` the attribute's words.
        known: ``(N,)`` whether the picture is like those the words were said of.
    """

    lessons: Labels
    words: Labels
    probabilities: Array
    classes: Labels
    known: NDArray[np.bool_]


class Recall(Protocol):
    """Says which of one attribute's words fits a picture."""

    def answer(self, x: Array) -> RecallResult:
        """Answer for pictures ``(N, D)``."""


@dataclass(frozen=True, eq=False)
class DiscriminantRecall:
    """Shrunken linear discriminants between an attribute's words."""

    model: Discriminant

    @classmethod
    def fit(
        cls, x: Array, words: Labels, parts: list[slice], random_state: int
    ) -> "DiscriminantRecall":
        """Learn from the lessons of one attribute."""
        return cls(choose_discriminant(x, words, parts, random_state=random_state))

    def answer(self, x: Array) -> RecallResult:
        """Answer for pictures ``(N, D)``."""
        probabilities = np.exp(self.model.log_posterior(x))
        best = self.model.classes_[probabilities.argmax(axis=1)]
        known = self.model.known(x)
        return RecallResult(np.full(len(x), -1), best, probabilities, self.model.classes_, known)


@dataclass(frozen=True, eq=False)
class NearestPicture:
    """The word said of the most similar picture (the paper's recall, first reading).

    Attributes:
        mean: ``(D,)`` of all pictures.
        weights: ``(D, d)`` canonical directions in which pictures are compared.
        places: ``(M, d)`` the lessons of this attribute along them.
        words: ``(M,)`` their words.
        lessons: ``(M,)`` their numbers.
    """

    mean: Array
    weights: Array
    places: Array
    words: Labels
    lessons: Labels

    def answer(self, x: Array) -> RecallResult:
        """Answer for pictures ``(N, D)``."""
        return _nearest((x - self.mean) @ self.weights, self.places, self.words, self.lessons)


@dataclass(frozen=True, eq=False)
class NearestSound:
    """The recording nearest to what the attribute's linear map expects (second reading).

    Attributes:
        mean: ``(D,)`` of all pictures.
        weights: ``(D, d)`` canonical directions.
        table: ``(d + 1, d)`` the map from pictures to speech along them.
        places: ``(M, d)`` recordings of this attribute along the directions of speech.
        words: ``(M,)`` their words.
        lessons: ``(M,)`` their numbers.
    """

    mean: Array
    weights: Array
    table: Array
    places: Array
    words: Labels
    lessons: Labels

    def answer(self, x: Array) -> RecallResult:
        """Answer for pictures ``(N, D)``."""
        maps = LinearMaps(np.ones(1), self.table[None], np.eye(self.table.shape[1])[None])
        expected = maps.predict((x - self.mean) @ self.weights)[0]
        return _nearest(expected, self.places, self.words, self.lessons)


def _nearest(points: Array, places: Array, words: Labels, lessons: Labels) -> RecallResult:
    from scipy.spatial import cKDTree

    count = min(_SOFTNESS, len(places))
    _, near = cKDTree(places).query(points, k=[*range(1, count + 1)])
    classes = np.unique(words)
    votes = (words[near][..., None] == classes).mean(axis=1)
    first = near[:, 0]
    return RecallResult(
        lessons[first], words[first], votes, classes, np.ones(len(points), dtype=bool)
    )


# What a learner answers.


NO_WORD = "(no word for this)"
"""What stands in a text for an attribute none of whose words fits."""


@dataclass(frozen=True)
class LearnedWord:
    """A word that was learned.

    Attributes:
        name: Its spelling, or a made-up name such as ``word-3`` where it was only heard.
        attribute: Which attribute it names, from 0 on.
        count: How often it was taught.
        spelled: Whether the name is a spelling that was taught.
        example: The lesson that stands for it: the recording most like all others.
    """

    name: str
    attribute: int
    count: int
    spelled: bool
    example: int


@dataclass(frozen=True)
class NamedAttribute:
    """What one attribute of a picture is called.

    Attributes:
        attribute: Which attribute, from 0 on.
        word: The word that fits best.
        confidence: Probability that it is the right one of this attribute's words.
        known: False where the picture is unlike everything the attribute's words were said of.
        lesson: The lesson whose recording is the spoken answer.
        others: Further words of the attribute with their probabilities, the likeliest first.
    """

    attribute: int
    word: str
    confidence: float
    known: bool
    lesson: int
    others: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Naming:
    """All words for a picture, one for each attribute.

    Attributes:
        attributes: One answer per attribute.
    """

    attributes: tuple[NamedAttribute, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The words that are known to fit."""
        return tuple(answer.word for answer in self.attributes if answer.known)

    @property
    def text(self) -> str:
        """The words in a row; says where there is none."""
        return " ".join(a.word if a.known else NO_WORD for a in self.attributes)
