"""Nouns from situations alone."""

import numpy as np
import pytest

from experiments.baselines.noun_learner import NounLearner
from wordsight.meaning import MeaningError


def situations(count=200, seed=0):
    """Utterances "look at the NAME" with the thing and two others in view."""
    rng = np.random.default_rng(seed)
    names = {"ball": "BALL", "dog": "DOG", "cup": "CUP", "hat": "HAT", "car": "CAR"}
    utterances, scenes = [], []
    for _ in range(count):
        word = rng.choice(list(names))
        others = [t for t in names.values() if t != names[word]]
        scenes.append([names[word], *rng.choice(others, 2, replace=False)])
        utterances.append(["look", "at", "the", word] if rng.random() < 0.8 else ["look", "here"])
    return utterances, scenes


def test_words_find_what_they_name_and_others_find_nothing():
    learner = NounLearner().fit(*situations())
    found = {(noun.word, noun.thing) for noun in learner.nouns_}
    assert found == {(w, w.upper()) for w in ("ball", "dog", "cup", "hat", "car")}
    assert all(0.5 <= noun.share <= 1 for noun in learner.nouns_)


def test_order_of_words_and_things_does_not_matter():
    utterances, scenes = situations(60)
    one = NounLearner().fit(utterances, scenes)
    other = NounLearner().fit([u[::-1] for u in utterances], [s[::-1] for s in scenes])
    assert np.array_equal(one.counts_, other.counts_)


@pytest.mark.parametrize(
    ("utterances", "scenes", "message"),
    [
        ([], [], "nothing to learn"),
        ([["ball"]], [[]], "nothing in view"),
        ([["ball"]], [], "1 utterances came with 0 scenes"),
    ],
)
def test_bad_input_is_refused(utterances, scenes, message):
    with pytest.raises(MeaningError, match=message):
        NounLearner().fit(utterances, scenes)
