"""What is usually said: counted, left out of its own judgement, weighed, and kept from words."""

from dataclasses import replace

import numpy as np
import pytest

from tests.meaning.plays import LEXICON, troupe
from wordsight.errors import MeaningError
from wordsight.language import parse
from wordsight.meaning import WordLearner
from wordsight.meaning.model.calibration import Calibration, RolePriors
from wordsight.meaning.training.calibration import Question, fit_role_prior_weight
from wordsight.meaning.training.corpus import RolePriorCounts

BALL, CRATE = (parse(f"the person lifted the {noun}", LEXICON) for noun in ("ball", "crate"))


def counted(balls, crates):
    """Count questions "ball or crate?" with so many answers of each kind."""
    counts = RolePriorCounts(LEXICON)
    for truth, times in enumerate((balls, crates)):
        for _ in range(times):
            counts.add([BALL, CRATE], [truth])
    return counts


def test_a_ratio_is_the_smoothed_rate_over_the_mean_of_the_role():
    ball, crate = counted(9, 1).role_priors()([BALL, CRATE], LEXICON)
    # Each was asked ten times, half of the candidates are true, three questions are imagined.
    assert ball == pytest.approx(np.log((9 + 1.5) / 13 / 0.5))
    assert crate == pytest.approx(np.log((1 + 1.5) / 13 / 0.5))


def test_who_always_fills_a_role_says_nothing():
    ratios = counted(9, 1).role_priors().ratios["lifted"]
    assert ratios[0] == {"person": pytest.approx(0.0)}


@pytest.mark.parametrize("truth", [0, 1])
def test_a_question_is_judged_by_the_others_alone(truth):
    counts = counted(4, 2)
    others = counted(4 - (truth == 0), 2 - (truth == 1)).role_priors()
    assert counts.without([BALL, CRATE], [truth]) == pytest.approx(others([BALL, CRATE], LEXICON))
    assert counts.role_priors() == counted(4, 2).role_priors()  # nothing was lost on the way


def test_nouns_of_the_same_things_are_counted_together():
    counts = RolePriorCounts(LEXICON, {"ball": "ball", "crate": "ball"})
    for truth in (0, 1, 1):
        counts.add([BALL, CRATE], [truth])
    ball, crate = counts.role_priors()([BALL, CRATE], LEXICON)
    assert ball == crate == pytest.approx(0.0)


def test_what_was_never_asked_is_neither_usual_nor_unusual():
    left = parse("the ball approached the person", LEXICON)
    assert counted(9, 1).role_priors()([left], LEXICON) == [0.0]
    assert RolePriors()([left, BALL], LEXICON).tolist() == [0.0, 0.0]


def asked(rights, usual=(1.0, -1.0)):
    return [Question(np.zeros(2), ("v", "v"), 1.0, 0 if r else 1, usual) for r in rights]


@pytest.mark.parametrize(
    ("questions", "least", "most"),
    [
        pytest.param(asked([True] * 20), 0.99, 1.0, id="always right"),
        pytest.param(asked([True, False] * 10), 0.0, 0.01, id="right by chance"),
        pytest.param(asked([False] * 20), 0.0, 0.01, id="always wrong"),
        # At weight w the first is e^2w as likely as the second: three to one at w = 0.55.
        pytest.param(asked([True, True, True, False] * 10), 0.54, 0.56, id="three of four"),
        pytest.param(asked([True], usual=()), 0.0, 0.0, id="no habits"),
        pytest.param([], 0.0, 0.0, id="no questions"),
    ],
)
def test_the_weight_is_what_they_are_worth(questions, least, most):
    assert least <= fit_role_prior_weight(questions, Calibration()) <= most


def test_preferences_add_them_with_their_weight():
    habits = RolePriors(counted(9, 1).role_priors().ratios, 0.5)
    plain, usual = Calibration(), Calibration(role_priors=habits)
    values = habits([BALL, CRATE], LEXICON)
    ratios, verbs = np.array([1.0, 2.0]), ["lifted", "lifted"]
    difference = usual.preferences(ratios, verbs, None, values) - plain.preferences(
        ratios, verbs, None, values
    )
    assert difference == pytest.approx(0.5 * values)
    assert Calibration.from_json(usual.to_json()).role_priors == habits


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({"ratios": {}, "weight": -1.0}, id="negative weight"),
        pytest.param({"ratios": {}, "weight": "much"}, id="weight in words"),
        pytest.param({"ratios": {"lifted": [{"ball": None}]}, "weight": 1.0}, id="no number"),
        pytest.param({"ratios": {"lifted": [{"ball": np.nan}]}, "weight": 1.0}, id="NaN"),
    ],
)
def test_damaged_habits_are_refused(values):
    with pytest.raises(MeaningError):
        RolePriors.from_json(values)


@pytest.fixture(scope="module")
def learned():
    clips, texts = troupe(6, tracked=True, frames=8)
    few = {"restarts": 1, "tempered_iterations": 3, "iterations": 2}
    with_them, without = (
        WordLearner(**few, role_priors=habits).fit(clips, texts, lexicon=LEXICON)
        for habits in (True, False)
    )
    return clips, texts, with_them.lexicon_, without.lexicon_


@pytest.mark.slow
def test_words_and_their_truth_do_not_depend_on_habits(learned):
    clips, texts, one, other = learned
    for entry, word in one.words.items():
        for table, same in zip(word.emissions, other.words[entry].emissions, strict=True):
            np.testing.assert_array_equal(table, same)
    assert [one.score(c, t).score for c, t in zip(clips, texts, strict=True)] == [
        other.score(c, t).score for c, t in zip(clips, texts, strict=True)
    ]


def test_sentences_about_one_clip_are_compared_with_them(learned):
    clips, texts, one, other = learned
    assert other.calibration.role_priors == RolePriors()
    said = one.sentences(dict.fromkeys(texts))
    seen = one.observe(clips[0])
    usual = one.calibration.role_priors.weight * one.calibration.role_priors(said, one.lexicon)
    assert one.preferences(seen, said) == pytest.approx(other.preferences(seen, said) + usual)
    scored = [one.score(clips[0], sentence).preference for sentence in said]
    assert scored == pytest.approx(one.preferences(seen, said).tolist())


def test_a_verb_never_trained_may_mean_what_any_other_does(learned):
    clips, texts, one, _ = learned
    verbs = [e.name for e in one.lexicon if e.part == "verb" and e.name in one.words]
    pairs = {verb: one.lexicon[verb].arity for verb in verbs}
    unknown = next(v for v in verbs if list(pairs.values()).count(pairs[v]) > 1)
    rest = {entry: word for entry, word in one.words.items() if entry != unknown}
    without = one.with_words(rest).with_silent([unknown])
    assert without.silent == {unknown}
    said = next(s for s in one.sentences(texts) if one.verb(s) == unknown)
    others = [v for v in verbs if v != unknown and pairs[v] == pairs[unknown]]
    alike = [
        replace(
            said, words=tuple(replace(w, entry=v) if w.entry == unknown else w for w in said.words)
        )
        for v in others
    ]
    seen = one.observe(clips[0])
    expected = np.log(np.exp(one.preferences(seen, alike)).mean())
    assert without.preferences(seen, [said, alike[0]])[0] == pytest.approx(expected)


def test_a_word_shows_who_usually_fills_its_roles(learned):
    _, _, one, other = learned
    assert "said in its roles" not in other.page("lifted")
    told = replace(one, calibration=Calibration(role_priors=counted(9, 1).role_priors()))
    page = told.page("lifted")
    assert page.endswith("(how many times the mean)\n  patient: ball 1.6")
    assert "said in its roles" not in told.page("ball")
