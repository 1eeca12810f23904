"""Recall: the word of each attribute that fits a picture, by three methods; and its results."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.discriminant import Discriminant, choose_discriminant
from wordsight.attributes.grouping.linear_mixture import LinearMaps
from wordsight.attributes.grouping.words import medoids
from wordsight.attributes.picture_space import PictureSpace
from wordsight.attributes.word_names import numbered_names
from wordsight.errors import TeachingError

if TYPE_CHECKING:
    from wordsight.attributes.learner import AttributeLearner

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
    "extended_recalls",
    "learned_words",
    "make_recall",
    "name_attribute",
]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

NO_WORD = "(no word for this)"
"""Placeholder for an attribute none of whose words fits."""

_MAX_OTHERS = 4
_LIKELIER = 0.5
_NEIGHBOURS = 3  # nearest lessons whose agreement is the confidence of a nearest-neighbour answer


@dataclass(frozen=True, eq=False)
class RecallResult:
    """The answers of one attribute for N pictures.

    Attributes:
        lessons: ``(N,)`` the lesson whose word is the answer; -1 for the word's example.
        words: ``(N,)`` the word.
        probabilities: ``(N, C)`` of the attribute's words ``classes``.
        classes: ``(C,)`` the attribute's words.
        known: ``(N,)`` whether the picture resembles those the words were taught with.
    """

    lessons: Labels
    words: Labels
    probabilities: Array
    classes: Labels
    known: NDArray[np.bool_]


class Recall(Protocol):
    """Predicts the word of one attribute."""

    def answer(self, x: Array) -> RecallResult:
        """Predict for pictures ``(N, D)``."""


@dataclass(frozen=True, eq=False)
class DiscriminantRecall:
    """Shrunken linear discriminants between an attribute's words."""

    model: Discriminant

    @classmethod
    def fit(
        cls, x: Array, words: Labels, space: PictureSpace, random_state: int
    ) -> "DiscriminantRecall":
        """Learn from the lessons of one attribute."""
        linear = space.num_linear
        return cls(
            choose_discriminant(x, words, space.parts, num_linear=linear, random_state=random_state)
        )

    def with_lessons(self, x: Array, words: Labels) -> "DiscriminantRecall":
        """Return what is learned from other lessons, looking at the same features."""
        return DiscriminantRecall(replace(self.model).fit(x, words))

    def looks_at(self, columns: Labels) -> bool:
        """Tell whether any of some columns is used."""
        return bool(np.isin(self.model.columns, columns).any())

    def answer(self, x: Array) -> RecallResult:
        """Predict for pictures ``(N, D)``."""
        probabilities = np.exp(self.model.log_posterior(x))
        best = self.model.classes_[probabilities.argmax(axis=1)]
        known = self.model.known(x)
        return RecallResult(np.full(len(x), -1), best, probabilities, self.model.classes_, known)


@dataclass(frozen=True, eq=False)
class NearestPicture:
    """The word of the most similar picture (the paper's recall, first reading).

    Attributes:
        mean: ``(D,)`` of all pictures.
        weights: ``(D, d)`` canonical directions along which pictures are compared.
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
        """Predict for pictures ``(N, D)``."""
        return self._nearest((x - self.mean) @ self.weights)

    def _nearest(self, points: Array) -> RecallResult:
        from scipy.spatial import cKDTree

        count = min(_NEIGHBOURS, len(self.places))
        _, near = cKDTree(self.places).query(points, k=[*range(1, count + 1)])
        classes = np.unique(self.words)
        votes = (self.words[near][..., None] == classes).mean(axis=1)
        first, known = near[:, 0], np.ones(len(points), dtype=bool)
        return RecallResult(self.lessons[first], self.words[first], votes, classes, known)


@dataclass(frozen=True, eq=False)
class NearestSound(NearestPicture):
    """The recording nearest to the prediction of the attribute's linear map (second reading).

    The places are those of recordings along the directions of speech.

    Attributes:
        table: ``(d + 1, d)`` the map from pictures to speech along the directions.
    """

    table: Array

    def answer(self, x: Array) -> RecallResult:
        """Predict for pictures ``(N, D)``."""
        maps = LinearMaps(np.ones(1), self.table[None], np.eye(self.table.shape[1])[None])
        return self._nearest(maps.predict((x - self.mean) @ self.weights)[0])


def make_recall(learner: "AttributeLearner", attribute: int) -> Recall:
    """Learn the recall of an attribute from a learner's lessons, as its settings say.

    Raises:
        TeachingError: If the settings name no recall, or one that the method does not allow.
    """
    settings, attribution = learner.settings, learner.attribution_
    own = attribution.taught(learner.vocabulary_.words, attribute)
    words, cca = learner.vocabulary_.words[own], attribution.cca
    if settings.recall == "discriminant":
        return DiscriminantRecall.fit(learner.x_[own], words, learner.space_, settings.random_state)
    if settings.recall == "nearest":
        places = cca.transform_x(learner.x_[own])
        return NearestPicture(cca.x_mean_, cca.x_weights_, places, words, own)
    if settings.recall != "nearest-sound":
        raise TeachingError(
            f"recall must be 'discriminant', 'nearest' or 'nearest-sound', got {settings.recall!r}."
        )
    if attribution.mixture is None:
        raise TeachingError("recall 'nearest-sound' needs the method 'mixture'.")
    y = learner.vocabulary_.places[own]
    if not y.shape[1]:
        y = cca.transform_y(words[:, None] == np.arange(len(learner.vocabulary_.names)))
    table = attribution.mixture.maps_.maps[attribute]
    return NearestSound(cca.x_mean_, cca.x_weights_, y, words, own, table)


def extended_recalls(learner: "AttributeLearner", x: Array, words: Labels) -> list[Recall] | None:
    """Return the recalls with a few lessons more, within milliseconds.

    What an attribute looks at and when a picture is unknown to it stay as they are.

    Args:
        learner: A learner that did not learn from these lessons.
        x: ``(N, D)`` their pictures.
        words: ``(N,)`` their words.

    Returns:
        The recalls; ``None`` where they can only be learned anew: a word is new (-1), or the
        recall is no discriminant.
    """
    attribution, recalls = learner.attribution_, list(learner.recalls_)
    if (words < 0).any():
        return None
    x_before, before = learner.x_, learner.vocabulary_.words
    plain = ~np.isin(words, list(attribution.covers))
    for place, attribute in enumerate(np.unique(attribution.lessons)):
        new = plain & (attribution.words[words] == attribute)
        if not new.any():
            continue
        recall = recalls[place]
        if not isinstance(recall, DiscriminantRecall):
            return None
        own = attribution.taught(before, int(attribute))
        recalls[place] = recall.with_lessons(
            np.vstack([x_before[own], x[new]]), np.concatenate([before[own], words[new]])
        )
    return recalls


@dataclass(frozen=True)
class LearnedWord:
    """A learned word.

    Attributes:
        name: Its spelling, or a generated name such as ``word-3`` if it was only recorded.
        attribute: The attribute it names, from 0.
        count: The number of its lessons.
        spelled: Whether the name is a spelling that was taught.
        example: The lesson that represents it: the most typical recording.
        also: Further attributes it names, if it has several meanings ("orange").
        covers: Words of its attribute that it stands over ("warm": red, yellow); of such a word
            nothing is learned but which those are.
    """

    name: str
    attribute: int
    count: int
    spelled: bool
    example: int
    also: tuple[int, ...] = ()
    covers: tuple[str, ...] = ()


def learned_words(learner: "AttributeLearner") -> tuple[LearnedWord, ...]:
    """Return the words of a learner's vocabulary with what was learned of each."""
    words, attribution = learner.vocabulary_.words, learner.attribution_
    points = learner.vocabulary_.places if learner.vocabulary_.places.shape[1] else learner.x_
    # Files keep some recordings of each word: its example is one that can still be played.
    played = np.array([sound is not None for sound in learner.sounds_])
    examples = medoids(points, words, played)
    counts = np.bincount(words)
    known = learner.vocabulary_.names
    names = learner.vocabulary_.called or numbered_names(known)
    learned = []
    for number, name in enumerate(names):
        home = int(attribution.words[number])
        also = set(attribution.lessons[words == number].tolist()) - {home}
        learned.append(
            LearnedWord(
                name,
                home,
                int(counts[number]),
                known[number] is not None,
                int(examples[number]),
                # The paper's mixture scatters single lessons, which are no meanings.
                tuple(sorted(also)) if attribution.mixture is None else (),
                tuple(names[below] for below in attribution.covers.get(number, ())),
            )
        )
    return tuple(learned)


@dataclass(frozen=True)
class NamedAttribute:
    """The word of one attribute for a picture.

    Attributes:
        attribute: The attribute, from 0.
        word: The best word.
        confidence: Its probability among this attribute's words.
        known: False if the picture is unlike everything the attribute's words were taught with.
        lesson: The lesson whose recording is the spoken answer.
        others: Further words of the attribute with their probabilities, likeliest first.
        above: Words over its words that are likelier than not, with their probabilities.
    """

    attribute: int
    word: str
    confidence: float
    known: bool
    lesson: int
    others: tuple[tuple[str, float], ...] = ()
    above: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Naming:
    """The words for a picture, one for each attribute.

    Attributes:
        attributes: One answer per attribute.
    """

    attributes: tuple[NamedAttribute, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The words of known attributes."""
        return tuple(answer.word for answer in self.attributes if answer.known)

    @property
    def text(self) -> str:
        """The words in a row, with a placeholder for unknown attributes."""
        return " ".join(a.word if a.known else NO_WORD for a in self.attributes)


def name_attribute(
    words: Sequence[LearnedWord], attribute: int, recalled: RecallResult, row: int
) -> NamedAttribute:
    """Return the answer of an attribute for one of several pictures, in words."""
    word = int(recalled.words[row])
    shares = recalled.probabilities[row]
    order = np.argsort(-shares, kind="stable")
    chance = {int(recalled.classes[place]): float(shares[place]) for place in order}
    lesson = int(recalled.lessons[row])
    others = [(words[w].name, p) for w, p in chance.items() if w != word]
    names = {words[w].name: p for w, p in chance.items()}
    above = {
        one.name: sum(names.get(below, 0.0) for below in one.covers)
        for one in words
        if one.covers and one.attribute == attribute
    }
    return NamedAttribute(
        attribute,
        words[word].name,
        chance.get(word, 0.0),
        bool(recalled.known[row]),
        lesson if lesson >= 0 else words[word].example,
        tuple(others[:_MAX_OTHERS]),
        tuple((name, p) for name, p in above.items() if p > _LIKELIER),
    )
