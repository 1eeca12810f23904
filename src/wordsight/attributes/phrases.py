"""Recordings of known words: which word each is, and phrases of two said in one breath."""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.features.sounds import Sound
from wordsight.attributes.features.speech import speech_features, split_words, trim_silence
from wordsight.attributes.grouping.words import WordTypes
from wordsight.attributes.lessons import Lessons, Utterance

if TYPE_CHECKING:
    from wordsight.attributes.learner import AttributeLearner

__all__ = ["known_words", "split_phrases"]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

_WIDTH = 1.6  # times the radius of a known word: more distant recordings are different words
_CLEARLY = 0.9  # times the strangeness of a phrase: what that of its stranger word must be below
_SHORTEST = 0.5  # times how long a word usually lasts: shorter parts of a recording are others
_MOST_TIMED = 20  # recordings of a word of which it is measured how long they last
_CUTS = np.linspace(0.2, 0.8, 25)  # of a phrase: where its second word may begin


def known_words(learner: "AttributeLearner", lessons: Lessons) -> Labels:
    """Return ``(N,)`` the word of each lesson, by spelling or else by sound; -1 where it is new.

    Args:
        learner: A fitted learner.
        lessons: Lessons that it did not learn from.
    """
    number = {name: place for place, name in enumerate(learner.vocabulary_.names)}
    found = np.array([-1 if text is None else number.get(text, -1) for text in lessons.texts])
    heard = np.array([text is None for text in lessons.texts]) & lessons.spoken
    nearest = _nearest_word(learner) if heard.any() else None
    if nearest is not None:
        words, strangeness = nearest(lessons.speech[heard])
        found[heard] = np.where(strangeness <= _WIDTH, words, -1)
    return found.astype(np.intp)


def _nearest_word(
    learner: "AttributeLearner",
) -> Callable[[Array], tuple[Labels, Array]] | None:
    """Return what finds the nearest word of recordings, and its distance in radii of the word."""
    heard = np.isfinite(learner.speech_).all(axis=1)
    if not heard.any() or not learner.speech_.shape[1]:
        return None
    words = learner.vocabulary_.words[heard]
    types, numbers = WordTypes.of(learner.speech_[heard], words), np.unique(words)

    def nearest(speech: Array) -> tuple[Labels, Array]:
        away = np.linalg.norm(speech[:, None] - types.centres[None], axis=-1)
        away = away / np.maximum(types.radii, 1e-9)
        return numbers[away.argmin(axis=1)], away.min(axis=1)

    return nearest


def split_phrases(learner: "AttributeLearner", utterances: Sequence[Utterance]) -> list[Utterance]:
    """Split recordings of two known words said in one breath ("red cup") into the two.

    A recording is a phrase if its parts before and after some moment are both like known words and
    last as long as these do. If the whole is like a known word, too, both parts must be clearly
    more so, and as near as nearly all recordings of their words are. Everything else stays as it
    is.

    Args:
        learner: A fitted learner.
        utterances: What is said of pictures.
    """
    nearest = _nearest_word(learner) if learner.settings.several else None
    if nearest is None:
        return list(utterances)
    describe = speech_features(learner.settings.speech).describe

    def parts(one: Sound) -> list[Sound]:
        if one.silent:
            return [one]
        said, strange = trim_silence(one), float(nearest(describe([one]))[1][0])
        most = _WIDTH if strange > _WIDTH else min(1.0, _CLEARLY * strange)
        places = (_CUTS * len(said.samples)).astype(int)
        halves = [
            Sound(samples, said.rate)
            for place in places
            for samples in (said.samples[:place], said.samples[place:])
        ]
        words, strangeness = (found.reshape(-1, 2) for found in nearest(describe(halves)))
        worst = strangeness.max(axis=1)
        best = int(worst.argmin())
        two = halves[2 * best : 2 * best + 2]
        if worst[best] > most:
            return [one]
        short = (_SHORTEST * _usual_duration(learner, int(word)) for word in words[best])
        whole = all(half.duration >= least for half, least in zip(two, short, strict=True))
        return two if whole else [one]

    def split(utterance: Utterance) -> Utterance:
        given: list[Any] = []
        for one in utterance if isinstance(utterance, list | tuple) else [utterance]:
            if isinstance(one, Sound):
                given += [part for word in split_words(one) for part in parts(word)]
            else:
                given.append(one)
        return given if isinstance(utterance, list | tuple | Sound) else utterance

    return [split(one) for one in utterances]


def _usual_duration(learner: "AttributeLearner", word: int) -> float:
    """Return how many seconds a word lasts, by some of its recordings; 0 if there are none."""
    own = (learner.sounds_[lesson] for lesson in np.flatnonzero(learner.vocabulary_.words == word))
    heard = islice((sound for sound in own if sound is not None), _MOST_TIMED)
    durations = [trim_silence(sound).duration for sound in heard]
    return float(np.median(durations)) if durations else 0.0
