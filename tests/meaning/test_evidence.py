"""Kinds of evidence: each is what its name says, on words whose states are plain to see."""

import numpy as np
import pytest

from tests.meaning.plays import LEXICON, play
from wordsight.language import parse
from wordsight.meaning import WordLearner
from wordsight.meaning.scoring.evidence import (
    NUM_EVIDENCE,
    _in_event,
    _in_phases,
    _relative_to,
    is_judged_in_event,
    num_evidence,
)
from wordsight.meaning.scoring.tables import CompoundTables

TEXTS = ["The person lifted the ball quickly.", "The person left of the crate lifted the ball."]


@pytest.fixture(scope="module", params=["tracks", "loose"])
def heard(request):
    tracked = request.param == "tracks"
    clips = [play("lifted", seed=n, frames=8, tracked=tracked) for n in range(4)]
    learner = WordLearner(
        restarts=1, tempered_iterations=2, iterations=2, discriminative=None, max_candidates=3
    )
    return learner.fit(clips, [TEXTS] * 4, lexicon=LEXICON).lexicon_, clips[0]


def test_phases_are_means_while_a_state_lasts():
    states = np.zeros((6, 1, 3))
    states[[0, 1, 2, 3, 4, 5], 0, [0, 0, 1, 1, 1, 2]] = 1.0
    logs = np.arange(18.0).reshape(6, 1, 3)
    first, inner, last = logs[:2, 0, 0].mean(), logs[2:5, 0, 1].mean(), logs[5, 0, 2]
    assert _in_phases(logs, states)[0] == pytest.approx([first, inner, last])
    # Half a frame is not taken for a whole one: little seen is little evidence.
    assert _in_phases(np.ones((1, 1, 3)), np.full((1, 1, 3), 0.5))[0] == pytest.approx([0.5] * 3)


def test_evidence_in_an_event_leaves_the_rest_of_the_clip_out():
    logs = np.array([[9.0], [1.0], [3.0], [-9.0]])
    event = np.array([[0.0], [1.0], [1.0], [0.0]])
    mean, best, worst = _in_event(logs, event)[0]
    assert mean == pytest.approx(2.0)
    assert 2.0 < best <= 4.7  # what is far off counts a millionth
    assert worst < 2.0
    alike = _in_event(np.full((4, 1), 0.7), event)[0]
    assert alike == pytest.approx([0.7] * 3)


def test_beside_others_only_the_difference_counts():
    slow, quick = np.array([[-2.0], [2.0], [0.0]]), np.array([[-2.0], [0.0], [3.0]])
    beside = _relative_to(slow, [quick])
    assert beside[0, 0] == pytest.approx(0.0)  # both say that it stands still
    assert beside[1, 0] == pytest.approx(2.0 - np.log((np.exp(2.0) + 1.0) / 2))
    assert beside[2, 0] < -2.0
    # As shares of what might have been said, all together are one.
    shares = np.exp([beside, _relative_to(quick, [slow])]) / 2
    assert shares.sum(axis=0) == pytest.approx(np.ones((3, 1)))
    assert _relative_to(slow, []) is slow  # nothing else could be said


@pytest.mark.slow
def test_words_that_look_at_the_same_may_stand_for_each_other(heard):
    lexicon, _ = heard
    words = CompoundTables(lexicon.tables)
    found = {
        e: {t.word.entry for t in words.alternatives(e)} for e in ("quickly", "left-of", "ball")
    }
    assert found["ball"] >= {"person", "crate"}
    assert "quickly" not in found["quickly"] | found["left-of"]


def test_each_word_brings_its_kinds_of_evidence(heard):
    lexicon, clip = heard
    words = lexicon.words
    assert [num_evidence(words[e]) for e in ("ball", "lifted", "quickly", "left-of")] == [
        1,
        4,
        7,
        7,
    ]
    assert [is_judged_in_event(words[e]) for e in ("ball", "lifted", "quickly", "left-of")] == [
        False, False, True, True,
    ]  # fmt: skip
    reading = lexicon.scorer(clip)
    for text in TEXTS:
        sentence = parse(text, LEXICON)
        evidence = reading.evidence(sentence, 5)
        assert evidence.shape[1:] == (len(sentence.words), NUM_EVIDENCE)
        assert np.isfinite(evidence).all()
        for number, word in enumerate(sentence.words):
            rest = evidence[:, number, 1:]
            assert (rest == 0).all() == (word.entry in ("person", "ball", "crate"))
            if is_judged_in_event(words[word.entry]):
                assert (rest[:, 1] >= rest[:, 0] - 0.2).all()  # best
                assert (rest[:, 2] <= rest[:, 1] + 1e-9).all()  # worst
