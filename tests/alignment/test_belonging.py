"""Whether a text belongs to a video: left out of learning, or by names alone."""

from dataclasses import replace

import numpy as np
import pytest

from tests.alignment.models.plays import NAMES, play, plays
from wordsight.alignment import (
    Chunk,
    Constraint,
    Instructions,
    Line,
    Observed,
    align_together,
    judge_belonging,
)
from wordsight.alignment.belonging import BelongingJudge, absent_lines, name_overlap
from wordsight.alignment.models import HSMM

OTHERS = ("saw", "nut", "oil", "rag", "bit", "cap", "rod", "jig")


@pytest.fixture(scope="module")
def kitchen():
    return [(text, seen) for text, seen, _ in plays(3)]


@pytest.fixture(scope="module")
def workshop():
    return [(text, seen) for text, seen, _ in plays(3, words=OTHERS)]


def test_a_text_of_another_procedure_does_not_belong(kitchen, workshop):
    judge = BelongingJudge([*kitchen[1:], *workshop[1:]])
    right = judge.judge(*kitchen[0])
    wrong = judge.judge(workshop[0][0], kitchen[0][1])
    assert right.verdict == "belongs"
    assert wrong.verdict == "does not belong"
    assert right.probability > 0.9
    assert wrong.probability < 0.1
    assert right.gain > 1 > 0 > wrong.gain
    assert right.happens.min() > wrong.happens.max()


@pytest.mark.slow
def test_each_pair_is_judged_by_the_others_only(kitchen, workshop):
    wrong = (workshop[0][0], kitchen[0][1])
    pairs = [wrong, *kitchen[1:], *workshop[1:]]
    verdicts = judge_belonging(pairs)
    alone = BelongingJudge(pairs[1:]).judge(*wrong)
    assert verdicts[0].gain == pytest.approx(alone.gain, abs=1e-12)
    assert [one.verdict for one in verdicts] == ["does not belong"] + 4 * ["belongs"]


def test_steps_in_their_order_explain_more_than_in_random_orders(kitchen, workshop):
    text, seen, _ = play(seed=9)
    turned = play(order=(3, 2, 1, 0), seed=9)[1]
    judge = BelongingJudge([*kitchen, *workshop])
    assert judge.judge(text, seen).order > judge.judge(text, turned).order


def test_the_gain_is_the_difference_of_two_likelihoods(kitchen, workshop):
    """With tables equal to the background, the text explains as much as the clock does."""
    model = HSMM(iterations=2).fit([*kitchen, *workshop])
    assert model.gain(*kitchen[0]).over_clock != 0
    model.table_ = np.tile(model.background_[0], (len(model.table_), 1))
    gain = model.gain(*kitchen[0])
    assert gain.over_clock == pytest.approx(0, abs=1e-9)
    assert gain.evidence == pytest.approx(np.zeros(4), abs=1e-9)


def test_other_videos_of_the_same_text_alone_hardly_refuse(kitchen):
    verdict = judge_belonging(kitchen)[0]
    assert verdict.verdict == "belongs"
    assert verdict.probability is None


@pytest.mark.parametrize(
    ("things", "verdict"),
    [(("kettle_1", "cups"), "belongs"), (("cup",), "doubtful"), (("look-7",), "cannot tell")],
)
def test_without_other_videos_only_names_speak(things, verdict):
    lines = [Line(word, step, (word,)) for step, word in enumerate(("kettle", "cup", "spoon"))]
    chunks = [Chunk(t, t + 1.0, frozenset({thing})) for t, thing in enumerate(things)]
    seen = Observed("film", tuple(chunks), 9.0)
    (judged,) = judge_belonging([(Instructions("tea", tuple(lines)), seen)])
    assert judged.verdict == verdict
    assert judged.gain is judged.probability is judged.order is None
    assert "no other video" in judged.reason


def test_nouns_unknown_to_the_other_texts_leave_it_to_names(kitchen, workshop):
    judged = BelongingJudge(kitchen).judge(*workshop[0])
    assert judged.verdict != "does not belong"
    assert "0% of its nouns" in judged.reason


def test_units_and_pronouns_are_no_names():
    line = Line("Add 5 ml of it", 0, ("ml", "it", "water"))
    seen = Observed("film", (Chunk(0.0, 1.0, frozenset({"water", "ml"})),), 1.0)
    assert name_overlap(Instructions("a", (line,)), seen) == 1.0


def test_a_step_that_does_not_happen_is_found_and_left_out(kitchen, workshop):
    text, seen = kitchen[0]
    foreign = workshop[0][0].lines[:2]
    lines = [
        *(replace(line, step=line.step * 2) for line in text.lines[:4]),
        *(replace(line, step=text.lines[3].step * 2 + 1) for line in foreign),
        *(replace(line, step=line.step * 2) for line in text.lines[4:]),
    ]
    longer = Instructions("edited", tuple(lines))
    verdict = BelongingJudge([*kitchen[1:], *workshop]).judge(longer, seen)
    inserted = [4, 5]
    assert absent_lines(verdict.happens).nonzero()[0].tolist() == inserted
    plain = align_together(text, [seen], known=[*kitchen[1:], *workshop])
    found = align_together(
        longer, [seen], aligner=plain.aligner, fit=False, belonging={seen.video_id: verdict}
    ).alignments[0]
    spans = {span.line: span for span in found.spans}
    assert [n for n, span in spans.items() if not span.happened] == inserted
    assert spans[4].confidence == pytest.approx(1 - verdict.happens[4])
    own = np.setdiff1d(np.arange(len(lines)), inserted)
    assert own[plain.alignments[0].best].tolist() == found.best.tolist()
    assert found.posterior[:, inserted].max() == 0
    pinned = align_together(
        longer,
        [seen],
        constraints={seen.video_id: [Constraint(4, start=2.0)]},
        aligner=plain.aligner,
        fit=False,
        belonging={seen.video_id: verdict},
    ).alignments[0]
    assert 4 in pinned.best  # what the user knows happened did happen


def test_of_a_step_of_unknown_nouns_it_cannot_be_told_whether_it_happens(kitchen, workshop):
    text, seen = kitchen[0]
    unknown = Line("Admire the view.", text.lines[-1].step + 1, ("view",))
    longer = Instructions("edited", (*text.lines, unknown))
    happens = BelongingJudge([*kitchen[1:], *workshop]).judge(longer, seen).happens
    assert np.isnan(happens).nonzero()[0].tolist() == [len(text.lines)]
    assert not absent_lines(happens).any()


def test_of_a_step_about_what_is_never_seen_it_cannot_be_told_whether_it_happens(workshop):
    """The tap is in no video."""
    words = (*NAMES[:4], "tap", "water", *NAMES[4:])
    films = [play(range(5), seed=n, words=words)[:2] for n in range(3)]
    unseen = {"tap-thing", "water-thing"}
    pairs = [
        (text, replace(seen, chunks=tuple(c for c in seen.chunks if not c.things & unseen)))
        for text, seen in films
    ]
    happens = BelongingJudge([*pairs[1:], *workshop]).judge(*pairs[0]).happens
    about_tap = pairs[0][0].steps == 3
    assert np.isnan(happens[about_tap]).all()
    assert happens[~about_tap].min() > 0.5
