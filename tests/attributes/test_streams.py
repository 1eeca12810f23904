"""Learning as it goes: one lesson at a time, settling, asking for the lesson that teaches most."""

from time import perf_counter

import numpy as np
import pytest

from tests.attributes.toys import COLOURS, SHAPES, lessons, thing, word
from wordsight.attributes import FAITHFUL, AttributeLearner, TeachingError


def groups(learner):
    return sorted(sorted(word.name for word in group) for group in learner.attributes())


@pytest.fixture(scope="module")
def written():
    return lessons(120, np.random.default_rng(0))


@pytest.mark.slow
def test_one_at_a_time_names_what_all_at_once_does(written):
    pictures, words = written
    learner = AttributeLearner().fit(pictures[:80], words[:80])
    took = []
    for picture, said in zip(pictures[80:], words[80:], strict=True):
        start = perf_counter()
        learner.teach_one(picture, said)
        took.append(perf_counter() - start)
    assert np.median(took) < 0.05
    assert len(learner.texts_) == 120 and sum(word.count for word in learner.words_) == 120
    at_once = AttributeLearner().fit(pictures, words)
    random = np.random.default_rng(1)
    new = [thing(colour, shape, random) for colour in COLOURS for shape in SHAPES]
    expected = [set(naming.words) for naming in at_once.name_all(new)]
    assert [set(naming.words) for naming in learner.name_all(new)] == expected
    settled = learner.settle()
    for one, other in zip(settled.name_all(new), at_once.name_all(new), strict=True):
        assert one == other


@pytest.mark.slow
def test_a_new_word_is_placed_at_once_and_reconsidered(written, tmp_path):
    pictures, words = written
    early = [n for n, said in enumerate(words) if said != "green"]
    learner = AttributeLearner().fit([pictures[n] for n in early], [words[n] for n in early])
    for n, said in enumerate(words):
        if said == "green":
            learner.teach_one(pictures[n], said)
    assert groups(learner) == [["blue", "green", "red"], ["square", "tall", "wide"]]
    learner.save(tmp_path / "taught")
    again = AttributeLearner.load(tmp_path / "taught")
    again.teach_one(thing("green", "tall", np.random.default_rng(3)), "green")
    assert again.words_[-1].count == learner.words_[-1].count + 1
    assert groups(again.settle()) == groups(learner)


@pytest.mark.slow
def test_recordings_are_recognised_and_names_survive(written):
    pictures, words = written
    random = np.random.default_rng(2)
    sounds = [word(said, random) for said in words]
    learner = AttributeLearner().fit(pictures[:90], sounds[:90])
    heard = {said: learner.vocabulary_.words[n] for n, said in enumerate(words[:90])}
    learner.rename(learner.words_[heard["red"]].name, "red")
    for picture, sound in zip(pictures[90:], sounds[90:], strict=True):
        learner.teach_one(picture, sound)
    right = [heard[said] == learner.vocabulary_.words[n] for n, said in enumerate(words)]
    assert np.mean(right) > 0.95
    learner.settle()
    assert "red" in {word.name for word in learner.words_}
    with pytest.raises(TeachingError, match="taught by text alone"):
        AttributeLearner().fit(*written).teach_one(pictures[0], sounds[0])


def test_the_question_is_about_what_is_unsure(written):
    pictures, words = written
    learner = AttributeLearner().fit(pictures, words)
    random = np.random.default_rng(4)
    sure = [thing("red", "tall", random) for _ in range(3)]
    mixed = thing("red", "tall", random) // 2 + thing("blue", "wide", random) // 2
    question = learner.ask([*sure, mixed])
    assert question.picture == 3 and len(question.words) == 2 and question.gain > 0
    attribute = next(w.attribute for w in learner.words_ if w.name == question.words[0])
    assert attribute == question.attribute
    # Of pictures that were shown, each had one word: another would tell which words go together.
    question = learner.ask([*sure, pictures[7]])
    assert question.picture == 3 and question.attribute is None and question.words == (words[7],)
    with pytest.raises(TeachingError, match="discriminant"):
        AttributeLearner(FAITHFUL, num_attributes=2).fit(pictures, words).teach_one(
            pictures[0], "red"
        )
