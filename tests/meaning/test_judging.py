"""Judging words on videos they were not learned from."""

from dataclasses import replace

import numpy as np
import pytest

from tests.meaning.plays import LEXICON, play, said
from wordsight.evaluation import Estimate, estimate_mean
from wordsight.language import parse
from wordsight.meaning import ON_FILM
from wordsight.meaning.model.quality import HeldOut, Quality, WordQuality
from wordsight.meaning.tasks import judge
from wordsight.meaning.tasks.judge import (
    JudgedChoice,
    cross_fit,
    held_out_quality,
    quick_settings,
    video_folds,
)
from wordsight.meaning.tasks.rivals import ForcedChoice, ask, rivals_of
from wordsight.workflows.word_quality import DescribedClips, _advice, learning_quality

VERBS = ("lifted", "lowered", "approached")
SETTINGS = replace(ON_FILM, phases=3, tempered_iterations=4, iterations=2)


def described(videos=6, shuffled=False):
    """Plays in videos of four clips each, and what is said of them."""
    rng = np.random.default_rng(3)
    clips, texts = [], []
    for number in range(4 * videos):
        verb, patient = VERBS[number % 3], ("ball", "crate")[number // 3 % 2]
        clip = play(verb, patient, seed=int(rng.integers(1 << 30)))
        video = f"video-{number // 4}"
        clips.append(replace(clip, video_id=video, start=clip.start - 1e-3 * (number % 4)))
        texts.append(said(verb, patient))
    if shuffled:
        rng.shuffle(texts)
    sentences = [[parse(text, LEXICON)] for text in texts]
    rivals = rivals_of(clips, sentences, LEXICON)
    return DescribedClips(LEXICON, clips, sentences, rivals, given=True, cut=True)


def test_folds_never_split_a_video():
    videos = [f"v{n}" for n in np.random.default_rng(0).integers(0, 9, 60)]
    parts = video_folds(videos, 4)
    for video in set(videos):
        assert len({part for part, own in zip(parts, videos, strict=True) if own == video}) == 1
    sizes = np.bincount(parts)
    assert len(sizes) == 4 and sizes.max() - sizes.min() <= max(map(videos.count, videos))
    assert set(video_folds(["a", "b"], 5)) == {0, 1}


def test_rivals_are_all_that_is_said_about_the_things_of_the_video():
    clips, sentences = described().clips, described().sentences
    rivals = rivals_of(clips, sentences, LEXICON)[0]
    assert {one.text for one in rivals} == {
        said(verb, patient) for verb in VERBS for patient in ("ball", "crate")
    }
    whole = [replace(clip, video_id=str(n)) for n, clip in enumerate(clips)]
    near = {one.text for one in rivals_of(whole, sentences, LEXICON)[0]}
    assert "The person lowered the ball." in near
    assert "The person lowered the crate." not in near  # differs in two words


def test_other_true_sentences_are_no_rivals():
    sentences = [parse(said(verb), LEXICON) for verb in VERBS]
    asked = list(ask(play("lifted"), sentences[:2], sentences))
    assert [one.true.text for one in asked] == [said("lifted"), said("lowered")]
    assert all(len(one.candidates) == 2 for one in asked)


def test_words_are_learned_without_the_videos_they_are_judged_on(monkeypatch):
    data = described(videos=4)
    fitted = []
    from wordsight.meaning.tasks import judge as module

    class Spy(module.WordLearner):
        def fit(self, clips, *args, **options):
            fitted.append({clip.video_id for clip in clips})
            return super().fit(clips, *args, **options)

    monkeypatch.setattr(module, "WordLearner", Spy)
    one = replace(quick_settings(SETTINGS), tempered_iterations=1, iterations=0, belief=False)
    found = cross_fit(data.clips, data.sentences, data.rivals, LEXICON, one, folds=2)
    judged = {answer.asked.clip.video_id for answer in found.answers}
    assert len(fitted) == 2 and not fitted[0] & fitted[1]
    assert fitted[0] | fitted[1] == judged and len(found.answers) == len(data.clips)


@pytest.mark.slow
def test_good_words_are_better_than_guessing_and_shuffled_ones_are_not():
    good = learning_quality(described(), SETTINGS, "quick")
    assert good.held_out.is_better_than_guessing
    assert good.held_out.accuracy.low > good.held_out.blind
    assert good.held_out.f1.value > good.held_out.blind_f1
    assert not good.advice
    assert Quality.from_json(good.to_json()) == good
    bad = learning_quality(described(shuffled=True), SETTINGS, "quick")
    assert not bad.held_out.is_better_than_guessing
    text = "\n".join(bad.advice)
    assert "no better than guessing" in text and "What would help" in text


def test_too_few_videos_cannot_be_judged():
    few = learning_quality(described(videos=2), SETTINGS, "quick")
    assert few.held_out is None and "2 described videos" in few.unjudged
    assert few.words["lifted"].clips > 0 and not few.advice


def test_remarks_on_words():
    data = described(videos=2)
    odd = [parse("The person approached the ball quickly.", LEXICON)]
    sentences = [odd if number == 2 else row for number, row in enumerate(data.sentences)]
    quality = learning_quality(replace(data, sentences=sentences), SETTINGS, "none")
    assert any("Seen once" in line and "quickly" in line for line in quality.advice)
    assert quality.words["quickly"].remarks == ("seen once",)
    sentences = [[parse("The ball approached the crate.", LEXICON)]] * 3
    same = replace(data, clips=data.clips[:3], sentences=sentences, rivals=[()] * 3)
    found = learning_quality(same, SETTINGS, "none")
    assert any("told apart: ball and crate." in line for line in found.advice)
    words = found.words
    assert words["ball"].remarks == ("always together with crate: cannot be told apart",)
    assert words["approached"].remarks == ()


def test_interval_of_a_few_right_answers_has_a_width():
    sure = estimate_mean([1.0] * 5, list("abcde"))
    assert sure.value == 1.0 and sure.low < 0.6
    many = estimate_mean([1.0, 0.0] * 200, [str(n // 20) for n in range(400)])
    assert abs(many.value - 0.5) < 1e-9 and 0.4 < many.low < many.high < 0.6


def test_what_another_learning_left_is_discarded(tmp_path):
    from wordsight.meaning.training.checkpoint import OtherTrainingError
    from wordsight.workflows.learn import _fit
    from wordsight.workflows.reporter import RecordingReporter

    class Learner:
        def fit(self, clips, sentences, *, checkpoint, **_):
            if checkpoint.exists():
                raise OtherTrainingError("other clips")

    left, reporter = tmp_path / "words.learning.npz", RecordingReporter()
    left.write_bytes(b"something")
    _fit(Learner(), described(), left, lambda *_: None, reporter)
    assert not left.exists() and "starting over" in reporter.notes[0]


def test_the_guesser_judges_truth_by_what_other_videos_say():
    lifted, lowered, approached = (parse(said(verb), LEXICON) for verb in VERBS)
    known = [ForcedChoice(play("lifted"), (lifted, lowered, lowered), 0)] * 3
    guesser, limit = judge._guesser(known)
    rates = np.exp(guesser.scores([one.words for one in (lifted, lowered, approached)]))
    assert (rates >= limit).tolist() == [True, False, False]
    assert judge._guesser([])[1] == np.inf
    answers = [
        JudgedChoice(ForcedChoice(play("lifted"), (lifted, lowered), n), 0, 0, 1, 1, held, blind)
        for n, held, blind in ((0, (True, False), (True, False)), (1, (True, False), (True, True)))
    ]
    quality = held_out_quality(answers, LEXICON)
    assert quality.f1.value == pytest.approx(0.5)
    assert quality.blind_f1 == pytest.approx(4 / 5)


def test_advice_on_some_words_and_on_truth():
    sure, half = Estimate(0.8, 0.7, 0.9), Estimate(0.3, 0.2, 0.4)
    confused = (("lifted", "lowered", 4), ("ball", "crate", 2))
    held = HeldOut(9, 40, 0, 3, "quick", sure, 0.2, 0.1, sure, half, 0.5, 0.1, confused)
    bad = WordQuality(3, 9, half, 0.3, 0.3, ("no better than guessing",))
    words = {"lifted": bad, "ball": WordQuality(20, 9, sure, 0.3, 0.3)}
    truth, which, more, pairs = _advice(held, words, described())
    assert "F1 0.30 [0.20, 0.40], guessing 0.50" in truth
    assert which == "No better than guessing: lifted. What would help:"
    assert (
        more.startswith("- more described clips: 1 of 1 word is said of fewer")
        and "lifted (3)" in more
    )
    assert "lifted with lowered (4)" in pairs and "crate" not in pairs
    good = replace(held, f1=sure)
    assert list(_advice(good, {"ball": words["ball"]}, described())) == []
    few = replace(held, choices=5, gain=half)
    (line,) = _advice(few, words, described())
    assert line.startswith("5 choices cannot show whether words are better than guessing")
