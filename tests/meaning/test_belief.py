"""When sentences are true: every word counts, none makes up for another, slopes are learned."""

import json
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import check_grad

from tests.meaning.plays import LEXICON, choices, play, said, troupe
from tests.meaning.test_scorers import SIGHT, problem  # noqa: F401
from wordsight.meaning import LearnedLexicon, WordLearner
from wordsight.meaning.model.calibration import Belief
from wordsight.meaning.scoring.evidence import NUM_EVIDENCE
from wordsight.meaning.scoring.scorer import make_scorer
from wordsight.meaning.training.settings import GradientSettings
from wordsight.meaning.training.truth import _loss, _padded, _Parameters

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
    belief = Belief(dict.fromkeys(WORDS, (0.5, 0.2)), dict.fromkeys(WORDS, -1.0))
    evidence = np.repeat(np.array(rows)[..., None], NUM_EVIDENCE, axis=2)
    whole = belief.log_probability(WORDS, evidence)
    for number, word in enumerate(WORDS):
        assert whole <= belief.log_probability([word], evidence[:, [number]]) + 1e-12
    assert whole <= 0


def test_the_best_choice_of_things_counts_and_unknown_words_say_nothing():
    belief = Belief({"lifted": (1.0,)}, {"lifted": 0.0})
    evidence = np.zeros((2, 2, NUM_EVIDENCE))
    evidence[..., 0] = [[-3.0, 9.0], [0.0, -9.0]]
    evidence[..., 1] = -100.0  # a kind of evidence without a slope says nothing
    found = belief.log_probability(["lifted", "ball"], evidence)
    assert found == pytest.approx(np.log(0.5))


def test_a_word_is_judged_as_its_verb_asks():
    beside = {"lifted": {"quickly": 2.0}}
    belief = Belief({"quickly": (1.0,)}, {"quickly": -2.0}, beside)
    nothing = np.zeros((1, 2, NUM_EVIDENCE))
    with_lifted = belief.log_probability(["lifted", "quickly"], nothing)
    with_moved = belief.log_probability(["moved", "quickly"], nothing)
    assert with_lifted == pytest.approx(np.log(0.5)) and with_moved < with_lifted


def test_the_gradient_is_that_of_the_loss():
    rng = np.random.default_rng(0)
    rows = [
        (
            rng.normal(size=(rng.integers(1, 4), 2, NUM_EVIDENCE)),
            list(rng.choice(WORDS, 2)),
            bool(number % 2),
        )
        for number in range(12)
    ]
    parameters = _Parameters(WORDS, (("lifted", "quickly"),))
    pairs = _padded(rows, parameters)
    assert (pairs.verb_pairs >= 0).any()
    where = 0.5 * rng.normal(size=sum(parameters.sizes))
    loss = partial(_loss, pairs, parameters=parameters)
    assert check_grad(lambda v: loss(v)[0], lambda v: loss(v)[1], where) < 1e-4


def test_evidence_of_words_is_what_the_sentence_adds_up(problem):  # noqa: F811
    seen, tables, sentences = problem[:3]
    reading = make_scorer(seen, tables, SIGHT)
    for sentence in sentences:
        traits = reading.evidence(sentence, 1000)
        assert traits.shape[1:] == (len(sentence.words), NUM_EVIDENCE) and np.isfinite(traits).all()
        evidence = seen.num_frames * traits[..., 0]
        if seen.tracked:
            prior = np.log(np.append(np.ones(seen.num_objects - 1), SIGHT.unseen))
            prior -= np.log(np.exp(prior).sum())
            best = reading.best_path(sentence).objects[0]
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
    assert model["version"] == 2  # those who know nothing of beliefs say that it is newer
    slopes = model.pop("belief")["slopes"]
    assert {entry: tuple(own) for entry, own in slopes.items()} == lexicon.belief.slopes
    for row in (*model["words"], *model["features"]["parts"].values()):
        row.pop("follows")
    path.write_text(json.dumps(model | {"version": 1}), encoding="utf-8")
    loaded = LearnedLexicon.load(tmp_path / "words")
    assert loaded.belief is None
    assert not any(word.follows for word in loaded.words.values())


def test_a_belief_of_an_earlier_version_is_read():
    old = Belief.from_json({"slopes": {"ball": 2.0}, "offsets": {"ball": -1.0}})
    assert old == Belief({"ball": (2.0,)}, {"ball": -1.0})
    new = Belief({"ball": (2.0,)}, {"ball": -1.0}, {"lifted": {"quickly": 0.5}})
    assert Belief.from_json(json.loads(json.dumps(new.to_json()))) == new


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
