"""Words without one clip: what the M-step gives without its counts, nothing else changed."""

from dataclasses import replace

import numpy as np
import pytest

from tests.meaning.plays import LEXICON, play, said, troupe
from wordsight.meaning import WordLearner
from wordsight.meaning.training.em import WordSmoothing, expected_counts, m_step
from wordsight.meaning.training.learner import prepare_training
from wordsight.meaning.training.leave_one_out import leave_one_out
from wordsight.meaning.training.settings import GradientSettings

SHORT = {"restarts": 1, "tempered_iterations": 3, "iterations": 3}


@pytest.fixture(scope="module")
def learned():
    clips, sentences = troupe(12, frames=12)
    learner = WordLearner(gradient=GradientSettings(epochs=1), **SHORT)
    corpus, _ = prepare_training(clips, [[one] for one in sentences], LEXICON, learner.settings)
    return learner.fit(clips, sentences, lexicon=LEXICON), clips, corpus


def tables_of(words):
    return [t for w in words.values() for t in (w.initial, w.transition, *w.emissions)]


@pytest.mark.slow
def test_words_of_the_m_step_equal_the_m_step_without_the_clip(learned):
    learner, _, corpus = learned
    start, smoothing = learner.calibrated_, WordSmoothing()
    sight = start.track_prior
    _, counts = expected_counts(corpus.examples, start.tables, sight)
    fitted = start.with_words(m_step(start.tables, counts, start.background, smoothing))
    # Counts are taken under the words as they are; so the oracle takes them under those, too.
    _, again = expected_counts(corpus.examples, fitted.tables, sight)
    fixed = fitted.with_words(m_step(fitted.tables, again, fitted.background, smoothing))
    held_out = leave_one_out(fitted, corpus, smoothing)
    for number in (0, 5):
        rest = [e for n, e in enumerate(corpus.examples) if n != number]
        _, fewer = expected_counts(rest, fitted.tables, sight)
        oracle = m_step(fitted.tables, fewer, fitted.background, smoothing)
        for entry, found in held_out.without(number).words.items():
            parts = (found, fitted.words[entry], oracle[entry], fixed.words[entry])
            for mine, old, new, whole in zip(*(p.emissions for p in parts), strict=True):
                moved = old * new / whole
                assert np.allclose(mine, moved / moved.sum(axis=1, keepdims=True), atol=1e-9)


def test_tables_stay_distributions_and_words_that_were_not_said_stay(learned):
    learner, _, corpus = learned
    held_out = learner.held_out_
    for number, example in enumerate(corpus.examples):
        heard = {word.entry for sentence in example.sentences for word in sentence.words}
        assert set(held_out.changed[number]) == heard
        for table in tables_of(held_out.changed[number]):
            assert np.allclose(table.sum(axis=-1), 1.0) and (table >= 0).all()


def test_a_clip_fits_less_well_without_itself(learned):
    learner, _, corpus = learned
    gaps = []
    for number, example in enumerate(corpus.examples):
        own = learner.held_out_.without(number).log_ratios(example.observation, example.sentences)
        gaps += (learner.lexicon_.log_ratios(example.observation, example.sentences) - own).tolist()
    assert np.mean(gaps) > 0


def test_a_clip_is_judged_without_itself_and_others_by_all_that_was_learned(learned):
    learner, clips, _ = learned
    held_out = learner.held_out_
    assert held_out.lexicon is learner.lexicon_
    assert held_out.for_clip(play("lifted", seed=77, frames=12)) is learner.lexicon_
    fair = held_out.for_clip(clips[3])
    assert fair.belief == learner.lexicon_.belief and fair.threshold == learner.lexicon_.threshold
    assert fair.words["person"] is held_out.changed[3]["person"]
    assert set(learner.calibrated_held_out_.changed[3]) == set(held_out.changed[3])


def test_threads_change_nothing(learned):
    learner, _, corpus = learned
    one, two = (
        leave_one_out(learner.lexicon_, corpus, WordSmoothing(), noise=0.02, threads=threads)
        for threads in (1, 2)
    )
    for mine, other in zip(one.changed, two.changed, strict=True):
        for a, b in zip(tables_of(mine), tables_of(other), strict=True):
            assert np.array_equal(a, b)


def test_a_clip_in_which_nothing_was_seen_is_judged_by_all_that_was_learned():
    clips, sentences = troupe(4, frames=8)
    empty = play("waited", frames=8)
    unseen = replace(empty.detections, mask=np.zeros_like(empty.detections.mask))
    empty = replace(empty, detections=unseen)
    learner = WordLearner(discriminative=None, **SHORT)
    with pytest.warns(UserWarning, match="left out"):
        learner.fit([empty, *clips], [said("lifted"), *sentences], lexicon=LEXICON)
    assert learner.held_out_.for_clip(empty) is learner.lexicon_
    assert learner.held_out_.for_clip(clips[0]) is not learner.lexicon_


def test_a_clip_given_once_per_sentence_is_one_example():
    clips, sentences = troupe(6, frames=8)
    others = ["The person waited." for _ in clips]
    learner = WordLearner(discriminative=None, **SHORT)
    grouped = learner.fit(clips, list(zip(sentences, others, strict=True)), lexicon=LEXICON)
    one = grouped.lexicon_, grouped.held_out_
    # As a library lists them: one pair of a clip and a sentence after the other, read anew.
    again = [replace(clip, detections=replace(clip.detections)) for clip in clips]
    pairs = [
        (c, s) for a, b, s, o in zip(clips, again, sentences, others, strict=True)
        for c, s in ((a, s), (b, o))
    ]  # fmt: skip
    learner.fit(*zip(*pairs, strict=True), lexicon=LEXICON)
    two = learner.lexicon_, learner.held_out_
    assert one[0].notes == two[0].notes and one[0].notes["clips"] == 6
    assert one[0].threshold == two[0].threshold and one[0].belief == two[0].belief
    for mine, other in zip(one[1].changed, two[1].changed, strict=True):
        assert set(mine) == set(other) >= {"waited"}
        for a, b in zip(tables_of(mine), tables_of(other), strict=True):
            assert np.array_equal(a, b)
    fair = [two[1].for_clip(clip).words["waited"] for clip in (clips[2], again[2])]
    assert fair[0] is fair[1] is two[1].changed[2]["waited"]


def test_clips_that_differ_are_examples_of_their_own():
    clips, sentences = troupe(4, frames=8)
    assert len({(clip.video_id, clip.start, clip.end) for clip in clips}) == 1
    learner = WordLearner(discriminative=None, **SHORT)
    assert learner.fit(clips, sentences, lexicon=LEXICON).lexicon_.notes["clips"] == 4


def test_candidates_of_a_repeated_clip_are_gathered():
    clips, sentences = troupe(4, frames=8)
    learner = WordLearner(discriminative=None, **SHORT)
    rivals = [[said("lifted"), said("lowered")], [said("approached", "crate")]] * 4
    twice = [clip for clip in clips for _ in range(2)]
    learner.fit(twice, [s for s in sentences for _ in range(2)], lexicon=LEXICON, candidates=rivals)
    assert learner.lexicon_.notes["clips"] == 4
    with pytest.raises(ValueError, match="8 clips came with 7 lists"):
        learner.fit(twice, [sentences[0]] * 8, lexicon=LEXICON, candidates=rivals[:-1])
