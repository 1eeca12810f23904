"""Active learning: the lesson that would teach most."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.picture_space import PictureSpace
from wordsight.attributes.recall.answers import DiscriminantRecall, Recall

if TYPE_CHECKING:
    from wordsight.attributes.learner import AttributeLearner

__all__ = ["LessonQuestion", "choose_question"]

Array = NDArray[np.float64]

_NEAR = 0.05  # of all pairs of pictures: those nearer than this quantile resemble each other
_NOISE = 0.5  # variance of an answer, relative to how much words vary between pictures
_LEAST_DOUBT = 0.1  # of a word that a learner is sure of which cannot say how often it is wrong


@dataclass(frozen=True)
class LessonQuestion:
    """What to ask a teacher about one of several pictures.

    Attributes:
        picture: The number of the picture.
        attribute: The attribute to ask for, from 0; ``None`` to ask what else may be said of it.
        words: The attribute's likeliest words for the picture, best first ("red or green?"); or
            those that were said of it already ("red, and what else?"). An answer to the first kind
            of question is a word ``like`` the first of them; see :class:`SpokenWord`.
        gain: How much the answer is expected to teach; only comparisons mean something.
    """

    picture: int
    attribute: int | None
    words: tuple[str, ...]
    gain: float


def choose_question(
    learner: "AttributeLearner",
    kinds: Sequence[Array],
    *,
    num_words: int = 2,
) -> LessonQuestion:
    """Choose what to ask about which picture.

    While nothing tells which attribute a word names, a second word is asked for a picture of which
    it was said: two words of one picture name different attributes. A word that was said to be like
    another is placed where that one is. Otherwise the gain is how much less the words of all
    pictures would be in doubt: what the answer says of pictures that resemble this one in what the
    attribute looks at, less what answers so far say of them (the expected reduction of variance of
    a Gaussian process; Cohn et al., 1996), times how unsure their words are. So pictures like many
    that are unclear are asked for, and odd ones are not.

    Args:
        learner: A fitted learner.
        kinds: Descriptions of the pictures, per kind of feature ``(N, D)``.
        num_words: How many words the question names.
    """
    x = learner.space_.transform(kinds)
    said = _said(learner, x)
    question = _what_else(learner, said)
    return _least_sure(learner, kinds, said, num_words) if question is None else question


def _said(learner: "AttributeLearner", x: Array) -> NDArray[np.bool_]:
    """Return ``(N, W)`` which words were said of which of the pictures."""
    count = len(learner.words_)
    rows: dict[bytes, NDArray[np.bool_]] = {}
    for row, word in zip(learner.x_.round(6) + 0.0, learner.vocabulary_.words, strict=True):
        rows.setdefault(row.tobytes(), np.zeros(count, dtype=bool))[word] = True
    nothing = np.zeros(count, dtype=bool)
    return np.array([rows.get(row.tobytes(), nothing) for row in x.round(6) + 0.0])


def _what_else(learner: "AttributeLearner", said: NDArray[np.bool_]) -> LessonQuestion | None:
    """Ask for a second word where nothing tells yet which attribute a word names."""
    alike = _alike(learner)
    together = alike.T @ (said.T.astype(np.intp) @ said) @ alike
    partners = alike @ ((together > 0).sum(axis=1) - (np.diag(together) > 0))
    once = np.flatnonzero(said.sum(axis=1) == 1)
    if not len(once):
        return None
    words = said[once].argmax(axis=1)
    fewest = int(partners[words].argmin())
    if partners[words[fewest]]:
        return None
    name = learner.words_[int(words[fewest])].name
    return LessonQuestion(int(once[fewest]), None, (name,), np.inf)


def _alike(learner: "AttributeLearner") -> NDArray[np.intp]:
    """Return ``(W, G)`` which words were said to name one attribute."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(learner.words_)
    pairs = np.array(learner.vocabulary_.alike, dtype=np.intp).reshape(-1, 2).T
    links = coo_array((np.ones(pairs.shape[1]), tuple(pairs)), shape=(count, count))
    groups = connected_components(links, directed=False)[1]
    return np.asarray(groups[:, None] == np.arange(count), dtype=np.intp)


def _least_sure(
    learner: "AttributeLearner",
    kinds: Sequence[Array],
    said: NDArray[np.bool_],
    num_words: int,
) -> LessonQuestion:
    from scipy.spatial.distance import cdist

    best, axes = LessonQuestion(0, 0, (), -np.inf), _own_axes(kinds, learner.settings.num_axes)
    for attribute, (recall, one) in enumerate(
        zip(learner.recalls_, learner.recall(kinds), strict=True)
    ):
        shares = one.probabilities
        doubt = 1 - shares.max(axis=1) + _held_out_error(learner, recall)
        seen = [
            own
            for own, part in zip(axes, learner.space_.parts, strict=True)
            if _looks_at(recall, part)
        ]
        points = np.hstack(seen or axes)
        distances = cdist(points, points, "sqeuclidean")
        alike = np.exp(-distances / max(float(np.quantile(distances, _NEAR)), 1e-12))
        asked = np.flatnonzero(said[:, one.classes].any(axis=1))
        known = alike[np.ix_(asked, asked)] + _NOISE * np.eye(len(asked))
        alike = alike - alike[:, asked] @ np.linalg.solve(known, alike[asked])
        gain = alike**2 @ doubt / (np.diag(alike) + _NOISE) / len(points)
        gain[asked] = -np.inf
        picture = int(gain.argmax())
        if gain[picture] > best.gain:
            order = np.argsort(-shares[picture], kind="stable")[:num_words]
            words = tuple(learner.words_[int(one.classes[place])].name for place in order)
            best = LessonQuestion(picture, attribute, words, float(gain[picture]))
    return best


def _own_axes(kinds: Sequence[Array], num_axes: int | None) -> list[Array]:
    """Return per kind the pictures along axes of their own; none where nothing was measured.

    A few lessons span too little of what the pictures differ in to say which are alike.
    """
    nothing = np.zeros((len(kinds[0]), 0))
    return [
        PictureSpace.fit([kind], num_axes).transform([kind])
        if np.isfinite(kind).all(axis=1).any()
        else nothing
        for kind in kinds
    ]


def _looks_at(recall: Recall, part: NDArray[np.intp]) -> bool:
    return not isinstance(recall, DiscriminantRecall) or recall.looks_at(part)


def _held_out_error(learner: "AttributeLearner", recall: Recall) -> float:
    """Return the share of an attribute's lessons whose word is not said without them."""
    if not isinstance(recall, DiscriminantRecall):
        return _LEAST_DOUBT
    words = learner.vocabulary_.words
    own = np.isin(words, recall.model.classes_)
    return recall.model.held_out_error(learner.x_[own], words[own])
