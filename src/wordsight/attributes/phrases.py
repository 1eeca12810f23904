"""Phrases: recordings of two known words said in one breath."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.features.sounds import Sound
from wordsight.attributes.features.speech import speech_features, split_words, trim_silence
from wordsight.attributes.grouping.words import WordTypes
from wordsight.attributes.lessons import Utterance

if TYPE_CHECKING:
    from wordsight.attributes.learner import AttributeLearner

__all__ = ["split_phrases"]

Array = NDArray[np.float64]

_WIDTH = 1.6  # times the radius of a known word: more distant recordings are different words
_CUTS = np.linspace(0.2, 0.8, 25)  # of a phrase: where its second word may begin


def split_phrases(learner: "AttributeLearner", utterances: Sequence[Utterance]) -> list[Utterance]:
    """Split recordings of two known words said in one breath ("red cup") into the two.

    A recording that is like no known word, but whose parts before and after some moment are both,
    is a phrase. Everything else stays as it is.

    Args:
        learner: A fitted learner.
        utterances: What is said of pictures.
    """
    heard = np.isfinite(learner.speech_).all(axis=1)
    if not heard.any() or not learner.speech_.shape[1] or not learner.settings.several:
        return list(utterances)
    types = WordTypes.of(learner.speech_[heard], learner.vocabulary_.words[heard])
    describe = speech_features(learner.settings.speech).describe

    def strangeness(sounds: Sequence[Sound]) -> Array:
        away = np.linalg.norm(describe(sounds)[:, None] - types.centres[None], axis=-1)
        nearest: Array = (away / np.maximum(types.radii, 1e-9)).min(axis=1)
        return nearest

    def parts(one: Sound) -> list[Sound]:
        if one.silent or strangeness([one])[0] <= _WIDTH:
            return [one]
        said = trim_silence(one)
        places = (_CUTS * len(said.samples)).astype(int)
        halves = [
            Sound(samples, said.rate)
            for place in places
            for samples in (said.samples[:place], said.samples[place:])
        ]
        worst = strangeness(halves).reshape(-1, 2).max(axis=1)
        best = int(worst.argmin())
        return halves[2 * best : 2 * best + 2] if worst[best] <= _WIDTH else [one]

    def split(utterance: Utterance) -> Utterance:
        if not isinstance(utterance, Sound):
            return utterance
        return [part for word in split_words(utterance) for part in parts(word)]

    return [split(one) for one in utterances]
