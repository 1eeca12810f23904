"""Learning as it goes: one lesson at a time, settling, asking for the lesson that teaches most."""

from dataclasses import replace
from time import process_time

import numpy as np
import pytest

from tests.attributes.toys import COLOURS, SHAPES, lessons, thing, word
from wordsight.attributes import FAITHFUL, AttributeLearner, SpokenWord, TeachingError
from wordsight.attributes.recall.answers import learned_words
from wordsight.attributes.word_names import kept_names


def groups(learner):
    return sorted(sorted(word.name for word in group) for group in learner.attributes())


@pytest.fixture(scope="module")
def written():
    return lessons(120, np.random.default_rng(0))


@pytest.mark.slow
@pytest.mark.parametrize("heard", [False, True])
def test_one_at_a_time_is_the_same_as_all_at_once(written, heard):
    pictures, words = written
    random = np.random.default_rng(2)
    said = [word(text, random) for text in words] if heard else words
    learner = AttributeLearner().fit(pictures[:80], said[:80])
    took = []
    for picture, one in zip(pictures[80:], said[80:], strict=True):
        start = process_time()
        learner.teach_one(picture, one)
        took.append(process_time() - start)
    assert np.median(took) < 0.05
    at_once = AttributeLearner().fit(pictures, said)
    new = [thing(colour, shape, random) for colour in COLOURS for shape in SHAPES]
    # Only what recordings are called differs: a word that was only heard keeps its number.
    assert np.array_equal(learner.settle().vocabulary_.words, at_once.vocabulary_.words)
    called = tuple(one.name for one in learner.words_)
    at_once.vocabulary_ = replace(at_once.vocabulary_, called=called)
    at_once.words_ = learned_words(at_once)
    assert learner.name_all(new) == at_once.name_all(new)
    assert len(learner.texts_) == 120 and sum(word.count for word in learner.words_) == 120


def test_naming_knows_of_a_lesson_at_once(written):
    pictures, words = written
    learner = AttributeLearner().fit(pictures, words)
    before = {word.name: word.attribute for word in learner.words_}["red"]
    odd = thing("red", "tall", np.random.default_rng(8)) // 2
    sure = [learner.name(odd).attributes[before].confidence]
    for _ in range(5):
        learner.teach_one(odd, "red")
        learner._timer.cancel()
        sure.append(learner.name(odd).attributes[before].confidence)
    assert len(learner.texts_) == 120 and sure[-1] >= sure[0]
    assert (
        learner._current().recalls_[before].model.prior_.max()
        > learner.recalls_[before].model.prior_.max()
    )
    # Of more lessons than one in twenty, or a new word, naming learns first.
    learner.teach_one(odd, "red").teach_one(odd, "red")
    learner.name(odd)
    assert len(learner.texts_) == 127
    learner.teach_one(odd, "scarlet").name(odd)
    assert len(learner.texts_) == 128


def test_learning_goes_on_in_a_pause(written, monkeypatch):
    pictures, words = written
    learner = AttributeLearner().fit(pictures[:40], words[:40])
    learner.teach_one(pictures[40], "new")
    learner._timer.join()
    assert "new" in {word.name for word in learner.words_} and len(learner.texts_) == 41
    # What cannot be learned is said by the next method, and nothing is lost.
    lessons = learner._waiting
    monkeypatch.setattr(AttributeLearner, "fit_lessons", _refuse)
    learner.teach_one(pictures[41], "newer")
    learner._timer.join()
    with pytest.raises(TeachingError, match="refused"):
        learner.name(pictures[0])
    monkeypatch.undo()
    assert len(lessons) == 1
    assert "newer" in {word.name for word in learner.settle().words_}


def _refuse(*_):
    raise TeachingError("refused")


@pytest.mark.slow
def test_a_new_word_joins_its_attribute_and_is_kept(written, tmp_path):
    pictures, words = written
    early = [n for n, said in enumerate(words) if said != "green"]
    learner = AttributeLearner().fit([pictures[n] for n in early], [words[n] for n in early])
    for n, said in enumerate(words):
        if said == "green":
            learner.teach_one(pictures[n], said)
    assert groups(learner) == [["blue", "green", "red"], ["square", "tall", "wide"]]
    learner.teach_one(thing("green", "tall", np.random.default_rng(3)), "green")
    learner.save(tmp_path / "taught")
    again = AttributeLearner.load(tmp_path / "taught")
    assert groups(again) == groups(learner) and len(again.texts_) == 121


@pytest.mark.slow
def test_recordings_are_recognised_and_corrections_survive(written):
    pictures, words = written
    random = np.random.default_rng(2)
    sounds = [word(said, random) for said in words]
    learner = AttributeLearner().fit(pictures[:90], sounds[:90])
    heard = {said: learner.vocabulary_.words[n] for n, said in enumerate(words[:90])}
    for said in ("red", "blue"):
        learner.rename(learner.words_[heard[said]].name, said)
    learner.merge("blue", "red")
    for picture, sound in zip(pictures[90:], sounds[90:], strict=True):
        learner.teach_one(picture, sound)
    learner.settle()
    names = [learner.words_[n].name for n in learner.vocabulary_.words]
    expected = np.array(["red" if said in ("red", "blue") else said for said in words])
    assert np.mean((np.array(names) == "red") == (expected == "red")) > 0.95


@pytest.mark.slow
def test_words_that_were_only_heard_keep_their_numbers(written, tmp_path):
    pictures, words = written
    random = np.random.default_rng(2)
    sounds = [word(said, random) for said in words]
    learner = AttributeLearner().fit(pictures[:90], sounds[:90])

    def called():
        """Return what the word of most recordings of each thing said is called."""
        names = [learner.words_[n].name for n in learner.vocabulary_.words]
        pairs = list(zip(names, words, strict=False))
        return {said: max(names, key=lambda n: pairs.count((n, said))) for said in set(words)}

    first = called()
    learner.merge(first["red"], first["blue"])
    expected = first | {"red": first["blue"]}
    assert called() == expected
    learner.save(tmp_path / "taught")
    learner = AttributeLearner.load(tmp_path / "taught")
    learner.rename(first["tall"], "tall")
    expected["tall"] = "tall"
    assert called() == expected
    learner.split(first["blue"])
    *_, new = learner.words_
    assert new.name not in first.values()
    learner.merge(new.name, first["blue"])
    learner.teach(pictures[90:], sounds[90:])
    assert called() == expected


def test_names_go_where_most_lessons_go():
    before, now = np.array([0, 0, 0, 1, 1, 2]), np.array([1, 1, 2, 0, 0, 3, 4, 4])
    called, known = ("word-2", "word-5", "red"), ("red", None, None, None, None)
    # "word-5" is "red" now; the third lesson's and the last two lessons' words are new.
    names = kept_names(before, called, now, known)
    assert names[:2] == ("red", "word-2") and len(set(names)) == 5
    assert not set(names[2:]) & {"word-2"}
    assert kept_names(before, called, before, (None, None, "red")) == called


def test_text_then_recordings(written):
    pictures, words = written
    random = np.random.default_rng(5)
    learner = AttributeLearner().fit(pictures, words)
    learner.teach(pictures[:30], [word(said, random) for said in words[:30]])
    assert len(learner.texts_) == 150 and {"red", "wide"} <= {w.name for w in learner.words_}


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
    # What is said in answer to a question names the attribute that was asked for.
    learner.teach_one(mixed, SpokenWord("violet", like="red"))
    by_name = {word.name: word.attribute for word in learner.settle().words_}
    assert by_name["violet"] == by_name["red"]
    # So what else it is need not be asked, once that is known of one word of the attribute.
    assert learner.ask([*sure, mixed]).words == ("violet",)
    learner.teach([sure[0], sure[0]], ["red", "tall"])
    assert learner.ask([*sure, mixed]).attribute is not None
    # Methods that learn by maps go on as well.
    faithful = AttributeLearner(FAITHFUL, num_attributes=2).fit(pictures, words)
    assert faithful.teach_one(pictures[0], "red").name(pictures[0]).words
