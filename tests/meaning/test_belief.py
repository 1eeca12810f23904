"""When sentences are true: every word counts, none makes up for another, slopes are learned."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import check_grad

from tests.meaning.plays import LEXICON, choices, play, said, troupe
from tests.meaning.test_reading import SIGHT, problem  # noqa: F401
from wordsight.meaning import LearnedLexicon, WordLearner
from wordsight.meaning.belief import Belief
from wordsight.meaning.belief_fitting import _misfit, _padded
from wordsight.meaning.discriminative import GradientSettings
from wordsight.meaning.reading import read

WORDS = ("lifted", "ball", "quickly")
numbers = st.floats(-50, 50)


@pytest.fixture(scope="module")
def lexicon():
    clips, sentences = troupe(18, frames=12)
    learner = WordLearner(
        restarts=1, tempered_iterations=4, iterations=3, gradient=GradientSettings(epochs=1)
    )
    return learner.fit(clips, sentences, lexicon=LEXICON).lexicon_


@given(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=5))
def test_a_sentence_is_no_likelier_than_its_least_likely_word(rows):
    belief = Belief(dict.fromkeys(WORDS, 0.5), dict.fromkeys(WORDS, -1.0))
    evidence = np.array(rows)
    whole = belief.log_probability(WORDS, evidence)
    for number, word in enumerate(WORDS):
        assert whole <= belief.log_probability([word], evidence[:, [number]]) + 1e-12
    assert whole <= 0


def test_the_best_choice_of_things_counts_and_unknown_words_say_nothing():
    belief = Belief({"lifted": 1.0}, {"lifted": 0.0})
    found = belief.log_probability(["lifted", "ball"], np.array([[-3.0, 9.0], [0.0, -9.0]]))
    assert found == pytest.approx(np.log(0.5))


def test_the_gradient_is_that_of_the_misfit():
    rng = np.random.default_rng(0)
    rows = [
        (rng.normal(size=(rng.integers(1, 4), 2)), list(rng.choice(WORDS, 2)), bool(number % 2))
        for number in range(12)
    ]
    pairs = _padded(rows, WORDS)
    where = rng.normal(size=6)
    gap = check_grad(lambda v: _misfit(pairs, v, 3)[0], lambda v: _misfit(pairs, v, 3)[1], where)
    assert gap < 1e-4


def test_evidence_of_words_is_what_the_sentence_adds_up(problem):  # noqa: F811
    seen, tables, sentences = problem[:3]
    reading = read(seen, tables, SIGHT)
    for sentence in sentences:
        evidence = reading.evidence(sentence, 1000)
        assert evidence.shape[1] == len(sentence.words) and np.isfinite(evidence).all()
        if seen.tracked:
            prior = np.log(np.append(np.ones(seen.num_things - 1), SIGHT.unseen))
            prior -= np.log(np.exp(prior).sum())
            best = reading.best_path(sentence).things[0]
            top = evidence[0].sum() + prior[best].sum()
            total = reading.log_ratios([sentence])[0]
            rest = evidence.sum(axis=1)
            assert len(evidence) > 1 and top <= total + 1e-9
            assert rest.max() <= total - len(best) * prior.min() + 1e-9


def test_what_was_said_is_believed_more_than_what_was_not(lexicon):
    assert lexicon.belief is not None and set(lexicon.belief.slopes) == set(lexicon.words)
    clips, sentences = troupe(12, seed=5, frames=12)
    for clip, true in zip(clips, sentences, strict=True):
        scores = {text: lexicon.score(clip, text).score for text in choices()}
        assert max(scores, key=scores.get) == true
        assert all(value <= 0 for value in scores.values())


def test_loose_detections_are_judged_word_by_word_too(lexicon):
    clip = play("lifted", "crate", seed=99, frames=12, tracked=False)
    true, false = said("lifted", "crate"), said("approached", "ball")
    assert lexicon.score(clip, true).score > lexicon.score(clip, false).score


def test_a_lexicon_of_an_earlier_version_is_read(lexicon, tmp_path):
    lexicon.save(tmp_path / "words")
    path = tmp_path / "words" / "model.json"
    model = json.loads(path.read_text(encoding="utf-8"))
    assert model.pop("belief")["slopes"] == lexicon.belief.slopes
    for row in (*model["words"], *model["features"]["parts"].values()):
        row.pop("follows")
    path.write_text(json.dumps(model), encoding="utf-8")
    loaded = LearnedLexicon.load(tmp_path / "words")
    assert loaded.belief is None
    assert not any(word.follows for word in loaded.words.values())


def test_without_false_sentences_there_is_nothing_to_believe():
    clips, sentences = troupe(6, frames=12)
    learner = WordLearner(
        restarts=1, tempered_iterations=1, iterations=1, discriminative=None, calibrated=False,
        choose_by="likelihood",
    )  # fmt: skip
    one = [(c, s) for c, s in zip(clips, sentences, strict=True) if s == sentences[0]]
    found = learner.fit(
        [c for c, _ in one], [s for _, s in one], lexicon=LEXICON, candidates=[[] for _ in one]
    )
    assert found.lexicon_.belief is None and found.lexicon_.threshold == 0.0
