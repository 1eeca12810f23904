"""Corrections by hand of words that were only recorded: spelling, merging, splitting.

What is corrected becomes the spelling of its lessons, so that it stays when more are taught.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.grouping.words import find_word_types
from wordsight.attributes.lessons import Lessons
from wordsight.attributes.recall.answers import learned_words
from wordsight.attributes.word_names import kept_names, new_name
from wordsight.errors import TeachingError

if TYPE_CHECKING:
    from wordsight.attributes.learner import AttributeLearner

__all__ = [
    "keep_names",
    "learn_with_corrections",
    "merge_words",
    "rename_word",
    "spelled_likes",
    "split_word",
]

Labels = NDArray[np.intp]


def rename_word(learner: "AttributeLearner", word: str, name: str) -> None:
    """Give a recorded word a spelling.

    Raises:
        TeachingError: If there is no such word, or another has that name.
    """
    number = _number(learner, word)
    if name in _names(learner):
        raise TeachingError(
            f"another word is already called {name!r}; if both are one word, merge {word!r} into "
            "it, else choose another spelling."
        )
    _spell(learner, learner.vocabulary_.words == number, name)
    names, called = list(learner.vocabulary_.names), _names(learner)
    names[number] = called[number] = name
    learner.vocabulary_ = replace(learner.vocabulary_, names=tuple(names))
    _call(learner, called)
    learner.words_ = learned_words(learner)


def merge_words(learner: "AttributeLearner", word: str, into: str) -> None:
    """Make the lessons of a word lessons of another: it was the same one, heard differently.

    Raises:
        TeachingError: If there is no such word, or it is the same.
    """
    old, kept = _number(learner, word), _number(learner, into)
    if old == kept:
        raise TeachingError(f"{word!r} cannot be merged with itself.")
    words = np.where(learner.vocabulary_.words == old, kept, learner.vocabulary_.words)
    _spell(learner, words == kept, into)
    names, called = list(learner.vocabulary_.names), _names(learner)
    names[kept] = into
    del names[old], called[old]
    _call(learner, called)
    _relabel(learner, words - (words > old), tuple(names), old)


def split_word(learner: "AttributeLearner", word: str) -> None:
    """Split the recordings of a word into the two that they resemble most; one keeps its name.

    Raises:
        TeachingError: If there is no such word, or fewer than two recordings of it.
    """
    number, new = _number(learner, word), len(learner.words_)
    known = learner.vocabulary_
    own = np.flatnonzero((known.words == number) & known.places.any(axis=1))
    if len(own) < 2:
        raise TeachingError(
            f"{word!r} has {len(own)} recordings; two or more are needed to split it."
        )
    parts = find_word_types(known.places[own], 2).labels
    words = known.words.copy()
    words[own[parts != np.bincount(parts).argmax()]] = new
    name = new_name(set(_names(learner)), new)
    _spell(learner, words == number, word)
    _spell(learner, words == new, name)
    names = [*known.names, name]
    names[number] = word
    _call(learner, [*_names(learner), name])
    _relabel(learner, words, tuple(names), None, number)


def _relabel(
    learner: "AttributeLearner",
    words: Labels,
    names: tuple[str | None, ...],
    gone: int | None,
    parent: int | None = None,
) -> None:
    """Learn again with other words; ``parent`` is the one that a new last word comes from."""
    before, old = learner.attribution_, learner.vocabulary_.words
    groups = before.words
    groups = np.delete(groups, gone) if gone is not None else groups
    groups = np.append(groups, groups[parent]) if parent is not None else groups
    # Lessons whose word is another now go to its attribute; others keep their meaning.
    now = words + (words >= gone) if gone is not None else words
    lessons = np.where(now == old, before.lessons, groups[words])
    number = {n: n - (gone is not None and n > gone) for n in range(len(names) + 1) if n != gone}
    covers = {
        number[up]: tuple(number[n] for n in below if n in number)
        for up, below in before.covers.items()
        if up in number
    }
    learner.vocabulary_ = replace(learner.vocabulary_, words=words, names=names)
    learner.set_attributes(
        replace(before, lessons=lessons, words=groups, partition=None, covers=covers)
    )


def _call(learner: "AttributeLearner", names: list[str]) -> None:
    learner.vocabulary_ = replace(learner.vocabulary_, called=tuple(names))


def keep_names(learner: "AttributeLearner", learned: "AttributeLearner") -> None:
    """Let words that were only recorded be called what they are called, after learning again.

    Args:
        learner: What was learned before.
        learned: What was learned from its lessons and further ones after them.
    """
    before, now = learner.vocabulary_, learned.vocabulary_
    called = kept_names(before.words, _names(learner), now.words, now.names)
    _call(learned, list(called))
    learned.words_ = learned_words(learned)


def spelled_likes(learner: "AttributeLearner", lessons: Lessons, new: Sequence[Lessons]) -> Lessons:
    """Return a learner's lessons, spelled where new ones name a word that was only heard.

    Args:
        learner: A fitted learner.
        lessons: Its lessons.
        new: Lessons that may be of its words, or like them.
    """
    given = {name for one in new for name in (*one.likes, *one.texts)}
    called = [one.name if one.name in given and not one.spelled else None for one in learner.words_]
    words = learner.vocabulary_.words
    pairs = zip(lessons.texts, words.tolist(), strict=True)
    return replace(lessons, texts=tuple(text or called[word] for text, word in pairs))


def learn_with_corrections(learner: "AttributeLearner", before: "AttributeLearner") -> None:
    """Learn again with the spellings that recordings got by hand, if there are any.

    Args:
        learner: What was learned from lessons.
        before: What was learned earlier from some of them, and corrected.
    """
    heard = np.isfinite(before.speech_).all(axis=1) & bool(before.speech_.shape[1])
    rows = before.speech_.round(6) + 0.0
    spelled = {rows[n].tobytes(): before.texts_[n] for n in np.flatnonzero(heard)}
    now = learner.lessons()
    given = zip(now.texts, now.speech.round(6) + 0.0, strict=True)
    texts = tuple(text or spelled.get(row.tobytes()) for text, row in given)
    if texts != now.texts and learner.kinds_:
        earlier = copy(learner)
        learner.fit_lessons(replace(now, texts=texts))
        keep_names(earlier, learner)


def _spell(learner: "AttributeLearner", lessons: NDArray[np.bool_], name: str) -> None:
    pairs = zip(lessons, learner.texts_, strict=True)
    learner.texts_ = tuple(name if own else text for own, text in pairs)


def _names(learner: "AttributeLearner") -> list[str]:
    return [one.name for one in learner.words_]


def _number(learner: "AttributeLearner", word: str) -> int:
    names = _names(learner)
    if word not in names:
        raise TeachingError(f"there is no word {word!r}; known are {', '.join(names)}.")
    return names.index(word)
