"""The conditional objective: its gradient by differences, its calibration, its durations."""

from dataclasses import replace

import numpy as np
import pytest

from tests.meaning.plays import LEXICON, troupe
from wordsight.language import parse
from wordsight.meaning.features import get_feature_set, learn_vocabulary, observe, view_clip
from wordsight.meaning.model.calibration import Calibration
from wordsight.meaning.model.lexicon import LearnedLexicon
from wordsight.meaning.training.calibration import (
    Question,
    fit_calibration,
    fit_durations,
    make_questions,
)
from wordsight.meaning.training.conditional import conditional_gradient
from wordsight.meaning.training.corpus import background_distributions, build_corpus, initial_words
from wordsight.meaning.training.discriminative import GradientTraining
from wordsight.meaning.training.leave_one_out import LeaveOneOut
from wordsight.meaning.training.settings import GradientSettings


@pytest.fixture(scope="module", params=[True, False], ids=["tracks", "loose"])
def problem(request):
    clips, texts = troupe(3, tracked=request.param, frames=8)
    views = [view_clip(clip) for clip in clips]
    features = get_feature_set("recommended").with_weights((("speed", 0.5), ("distance", 0.3)))
    vocabulary = learn_vocabulary(views, features)
    seen = [observe(view, vocabulary) for view in views]
    sentences = [[parse(text, LEXICON)] for text in texts]
    corpus = build_corpus(seen, sentences, LEXICON, max_candidates=4)
    rng = np.random.default_rng(0)
    words = initial_words(corpus, features, vocabulary, rng)
    verbs = ("lifted", "lowered", "approached")
    durations = fit_durations([e.observation.duration for e in corpus.examples], verbs, bins=2)
    calibration = Calibration(
        dict.fromkeys(verbs, 0.5), dict.fromkeys(verbs, 0.1), replace(durations, weight=0.7), 0.5
    )
    lexicon = LearnedLexicon(
        LEXICON, words, features, vocabulary, background_distributions(seen, vocabulary),
        calibration=calibration,
    )  # fmt: skip
    return corpus, lexicon


def value_of(corpus, lexicon):
    return conditional_gradient(
        corpus.examples, lexicon.tables, lexicon.track_prior, lexicon.calibration
    ).value


@pytest.mark.slow
def test_the_gradient_equals_differences(problem):
    corpus, lexicon = problem
    training = GradientTraining(lexicon, GradientSettings(penalty=0.0))
    now = training.lexicon()
    found = conditional_gradient(corpus.examples, now.tables, now.track_prior, now.calibration)
    slopes = training._parameter_gradient(found, now, 1)
    rng = np.random.default_rng(5)
    names = ["scales", "biases", "durations", "duration_weight", "person/0"]
    names += [f"lifted/{n}" for n in (0, 7, 12)]
    for name in names:
        base = training.values[name].copy()
        place = tuple(rng.integers(0, size) for size in base.shape)
        moved = []
        for step in (1e-5, -1e-5):
            training.values[name] = base.copy()
            training.values[name][place] += step
            moved.append(value_of(corpus, training.lexicon()))
        training.values[name] = base
        expected = (moved[0] - moved[1]) / 2e-5
        prior = {"scales": 1e-2, "biases": 1e-3, "durations": 3e-2}.get(name, 0.0)
        held = prior * training._deviation(name)[place] if prior else 0.0
        assert slopes[name][place] + held == pytest.approx(expected, abs=1e-5), name


def test_an_epoch_raises_the_objective(problem):
    corpus, lexicon = problem
    training = GradientTraining(lexicon, GradientSettings(batch=3))
    values = [training.epoch(corpus.examples, np.random.default_rng(n)) for n in range(6)]
    assert values[-1] > values[0]
    words = training.lexicon().words.values()
    assert all(np.allclose(t.sum(axis=1), 1) for w in words for t in w.emissions)


def test_questions_leave_other_true_sentences_out(problem):
    corpus, lexicon = problem
    example = corpus.examples[0]
    both = replace(example, truths=(0, 1))
    asked = make_questions([both, both], unchanged(lexicon, 2))
    known = [verb in {example.verbs[0], example.verbs[1]} for verb in example.verbs]
    assert len(asked) == 4
    assert all(len(q.ratios) == sum(known) - 1 for q in asked)


def test_questions_are_asked_without_the_clip_itself(problem):
    corpus, lexicon = problem
    examples = (corpus.examples[0], corpus.examples[0])
    blank = {entry: replace(lexicon.words[entry], emissions=tuple(
        np.tile(lexicon.background[slot.feature], (lexicon.words[entry].num_states, 1))
        for slot in lexicon.words[entry].slots
    )) for entry in lexicon.words}  # fmt: skip
    held_out = LeaveOneOut(lexicon, (blank, {}), ())
    first, second = make_questions(examples, held_out)
    ratios = lexicon.scorer(examples[0].observation).log_ratios(examples[0].candidates)
    assert set(second.ratios) <= set(ratios)
    assert np.abs(first.ratios).max() < np.abs(second.ratios).max()


def test_verbs_of_a_single_clip_are_not_asked_about(problem):
    corpus, lexicon = problem
    one, other = corpus.examples[:2]
    assert {one.verbs[n] for n in one.truths}.isdisjoint(other.verbs[n] for n in other.truths)
    assert make_questions([one, other], unchanged(lexicon, 2)) == []
    calibration, value = fit_calibration([], fit_durations((), ()))
    assert calibration.other_scale < 1
    assert value == -np.inf


def unchanged(lexicon, count):
    return LeaveOneOut(lexicon, ({},) * count, ())


def test_calibration_makes_the_true_candidate_likelier():
    rng = np.random.default_rng(0)
    asked = []
    for number in range(60):
        # One verb's ratios are ten times too large: uncalibrated it always wins or always loses.
        ratios = np.array([rng.normal(1.0 if number % 2 else -1.0), 0.0]) * [10, 1]
        asked.append(Question(ratios, ("loud", "soft"), 1.0, 0 if number % 2 else 1))
    plain = Calibration()
    fitted, value = fit_calibration(asked, fit_durations((), ()))

    def mean(calibration):
        logs = []
        for q in asked:
            x = calibration.preferences(q.ratios, q.verbs, q.duration)
            logs.append(x[q.truth] - np.logaddexp(*x))
        return np.mean(logs)

    assert mean(fitted) > mean(plain)
    assert fitted.scales["loud"] < 1
    assert np.isfinite(value)
    assert Calibration.from_json(fitted.to_json()).to_json() == fitted.to_json()


def test_impossible_candidates_do_not_break_calibration():
    asked = [
        Question(np.array([-np.inf, 1.0]), ("a", "b"), 1.0, 1),
        Question(np.array([-np.inf, -np.inf]), ("a", "b"), 1.0, 1),
    ]
    fitted, value = fit_calibration(asked, fit_durations((), ()))
    assert np.isfinite(value)
    assert all(np.isfinite(scale) for scale in fitted.scales.values())


def test_durations_tell_short_from_long():
    seconds = [0.5, 0.6, 0.7, 3.0, 3.1, 3.2]
    verbs = ["grab"] * 3 + ["carry"] * 3
    durations = fit_durations(seconds, verbs, bins=2, smoothing=1.0)
    short = durations(("grab", "carry", "other"), 0.5)
    assert short[0] > 0 > short[1] and short[2] == 0
    alike = fit_durations([1.0] * 4, ["a", "a", "b", "b"])
    assert durations.weight == 1.0
    assert not alike(("a", "b"), 0.3).any()  # a length never seen says nothing
