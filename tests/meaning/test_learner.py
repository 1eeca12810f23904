"""Learning: it learns, its objective never falls, it can be stopped, threads change nothing."""

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.meaning.plays import LEXICON, choices, play, said, troupe
from wordsight.inference import ObjectiveFellWarning
from wordsight.language import LanguageError
from wordsight.meaning import (
    FAITHFUL,
    LearnedLexicon,
    MeaningError,
    MeaningWarning,
    ViewSettings,
    WordLearner,
    WordSmoothing,
)
from wordsight.meaning.training.settings import GradientSettings, GrowthSettings
from wordsight.records import Clip, Detections

QUICK = {
    "restarts": 1,
    "tempered_iterations": 4,
    "iterations": 3,
    "gradient": GradientSettings(epochs=2, batch=8),
}


def right(lexicon: LearnedLexicon, clips, sentences):
    """Share of clips for which the true sentence is chosen."""
    options = choices()
    return np.mean(
        [options[lexicon.choose(c, options)] == s for c, s in zip(clips, sentences, strict=True)]
    )


def same_words(one: LearnedLexicon, other: LearnedLexicon):
    return all(
        all(np.array_equal(a, b) for a, b in zip(w.emissions, v.emissions, strict=True))
        and np.array_equal(w.transition, v.transition)
        for w, v in zip(one.words.values(), other.words.values(), strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("tracked", [True, False], ids=["tracks", "loose"])
def test_meanings_are_learned_from_sentences_alone(tracked):
    clips, sentences = troupe(24, tracked=tracked)
    learner = WordLearner(**QUICK | {"restarts": 3}).fit(clips, sentences, lexicon=LEXICON)
    lexicon = learner.lexicon_
    labels = lexicon.vocabulary.labels
    for noun in ("person", "ball", "crate"):
        assert labels[int(lexicon[noun].emission("label", 0).argmax())] == noun
    assert right(lexicon, *troupe(12, seed=7, tracked=tracked)) >= 0.9
    new = play("lifted", "crate", seed=99, tracked=tracked)
    assert lexicon.score(new, said("lifted", "crate")).holds
    assert not lexicon.score(new, said("approached", "ball")).holds


@pytest.mark.slow
@pytest.mark.parametrize("tracked", [True, False], ids=["tracks", "loose"])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_the_objective_never_falls(tracked, noise):
    clips, sentences = troupe(9, tracked=tracked, frames=12)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ObjectiveFellWarning)
        learner = WordLearner(
            restarts=2,
            tempered_iterations=6,
            iterations=6,
            noise=noise,
            discriminative=None,
            weights=(("distance", 0.5), ("gap", 2.0)),
        ).fit(clips, sentences, lexicon=LEXICON)
    for history in learner.histories_:
        assert len(history) == 12
        for phase in (history[:6], history[6:]):
            assert all(b >= a - 1e-9 * abs(a) for a, b in pairwise(phase))


@pytest.mark.parametrize(("tolerance", "lengths"), [(None, (6, 5)), (0.0, (6, 5)), (1e9, (2, 2))])
def test_em_stops_where_its_objective_has_converged(tolerance, lengths):
    clips, sentences = troupe(6, frames=10)
    short = {"restarts": 2, "tempered_iterations": 6, "iterations": 5, "discriminative": None}
    steps = []
    learner = WordLearner(tolerance=tolerance, **short)
    learner.fit(clips, sentences, lexicon=LEXICON, progress=lambda *step: steps.append(step))
    # Each phase needs two iterations to see a rise; the phases are watched apart.
    assert [len(history) for history in learner.histories_] == [sum(lengths)] * 2
    assert steps[-1][:2] == (22, 22) and len(steps) == 2 * sum(lengths)
    assert steps[0][2] == "restart 1, iteration 1"


def test_em_that_stopped_early_goes_on_from_a_checkpoint(tmp_path):
    clips, sentences = troupe(6, frames=10)
    short = {"restarts": 2, "tempered_iterations": 4, "iterations": 4, "discriminative": None}

    class Killed(Exception):
        pass

    def kill(done, total, what):
        if what == "restart 1, iteration 5":  # the first of the second phase, 2 of 4 were needed
            raise Killed

    learner = WordLearner(tolerance=1e9, **short)
    whole = learner.fit(clips, sentences, lexicon=LEXICON).lexicon_
    where = {"lexicon": LEXICON, "checkpoint": tmp_path / "state.npz"}
    with pytest.raises(Killed):
        learner.fit(clips, sentences, progress=kill, **where)
    learner.fit(clips, sentences, **where)
    assert [len(history) for history in learner.histories_] == [4, 4]
    assert same_words(learner.lexicon_, whole)


@pytest.mark.slow
@pytest.mark.parametrize("tracked", [True, False], ids=["tracks", "loose"])
def test_states_may_come_in_any_order(tracked):
    clips, sentences = troupe(9, tracked=tracked, frames=12)
    settings = {"restarts": 1, "tempered_iterations": 0, "iterations": 8, "discriminative": None}
    with warnings.catch_warnings():
        warnings.simplefilter("error", ObjectiveFellWarning)
        learner = WordLearner(**settings, left_to_right=False).fit(
            clips, sentences, lexicon=LEXICON
        )
    verb = learner.lexicon_["lifted"]
    assert (verb.transition > 0).all() and (verb.initial > 0).all() and (verb.final > 0).all()
    assert verb.transition.sum(axis=1) == pytest.approx(1)
    ordered = WordLearner(**settings).fit(clips, sentences, lexicon=LEXICON).lexicon_["lifted"]
    assert not np.tril(ordered.transition, -1).any() and ordered.final.tolist() == [0, 0, 1]
    # A clip shorter than the word has states.
    found = learner.lexicon_.score(play("lifted", "crate", seed=3, frames=2), sentences[0])
    assert np.isfinite(found.score)


@pytest.mark.slow
def test_the_method_as_published_runs_and_rises():
    clips, sentences = troupe(9, tracked=False, frames=12)
    learner = WordLearner(FAITHFUL, iterations=6).fit(clips, sentences, lexicon=LEXICON)
    history = learner.histories_[0]
    assert all(b >= a - 1e-9 * abs(a) for a, b in pairwise(history))
    lexicon = learner.lexicon_
    verb = lexicon["lifted"]
    assert (verb.initial > 0).all() and (np.triu(verb.transition) == verb.transition).all()
    assert lexicon.add_log_states and not lexicon.calibration.scales
    # Eq. 10: a verb of three states adds log 3 to every frame.
    seen = lexicon.observe(clips[0])
    sentence = lexicon.sentence(sentences[0])
    plain = lexicon.scorer(seen).log_ratios([sentence])[0]
    assert lexicon.scores(seen, [sentence])[0] == pytest.approx(plain / seen.num_frames + np.log(3))


@pytest.mark.slow
def test_threads_change_nothing():
    clips, sentences = troupe(36, frames=12)
    one = WordLearner(**QUICK).fit(clips, sentences, lexicon=LEXICON)
    two = WordLearner(**QUICK, threads=2).fit(clips, sentences, lexicon=LEXICON)
    assert same_words(one.lexicon_, two.lexicon_)
    assert one.lexicon_.calibration.to_json() == two.lexicon_.calibration.to_json()


class Killed(Exception):
    """Stands for a kill in the middle of training."""


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 6, 9, 14, 15, 16])
def test_a_killed_training_goes_on_to_the_same_result(tmp_path, after):
    clips, sentences = troupe(9, frames=12)
    settings = QUICK | {"restarts": 2}
    whole = WordLearner(**settings).fit(clips, sentences, lexicon=LEXICON)
    path = tmp_path / "state.npz"
    steps = []

    def kill(done, total, what):
        steps.append(done)
        if len(steps) == after:
            raise Killed

    with pytest.raises(Killed):
        WordLearner(**settings).fit(
            clips, sentences, lexicon=LEXICON, checkpoint=path, progress=kill
        )
    assert path.exists()
    resumed_steps = []
    resumed = WordLearner(**settings).fit(
        clips,
        sentences,
        lexicon=LEXICON,
        checkpoint=path,
        progress=lambda *step: resumed_steps.append(step),
    )
    assert len(resumed_steps) == 16 - after
    assert same_words(whole.lexicon_, resumed.lexicon_)
    assert whole.lexicon_.calibration.to_json() == resumed.lexicon_.calibration.to_json()
    assert whole.lexicon_.threshold == resumed.lexicon_.threshold
    assert whole.histories_ == resumed.histories_
    assert same_words(whole.calibrated_, resumed.calibrated_)  # also if killed after sharpening
    assert whole.calibrated_.calibration.to_json() == resumed.calibrated_.calibration.to_json()
    assert not same_words(resumed.calibrated_, resumed.lexicon_)
    assert not path.exists()


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("there", "is a folder; name a file"),
        ("there/file/learning.npz", "cannot be written.*in which you may write"),
        (3, "name of a file, got int"),
    ],
)
def test_a_checkpoint_that_cannot_be_written_is_told_before_the_work(tmp_path, place, words):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("in the way")
    steps = []
    with pytest.raises(MeaningError, match=words):
        WordLearner(**QUICK).fit(
            *troupe(4),
            lexicon=LEXICON,
            checkpoint=tmp_path / place if isinstance(place, str) else place,
            progress=lambda *step: steps.append(step),
        )
    assert not steps


@pytest.mark.slow
def test_the_folder_of_a_checkpoint_is_made(tmp_path):
    path = tmp_path / "new" / "deep" / "learning.npz"
    WordLearner(**QUICK).fit(*troupe(4), lexicon=LEXICON, checkpoint=path)
    assert path.parent.is_dir() and not path.exists()


def test_a_checkpoint_of_other_data_is_refused(tmp_path):
    clips, sentences = troupe(6, frames=12)
    path = tmp_path / "state.npz"

    def kill(*_):
        raise Killed

    with pytest.raises(Killed):
        WordLearner(**QUICK).fit(clips, sentences, lexicon=LEXICON, checkpoint=path, progress=kill)
    with pytest.raises(MeaningError, match="other clips, sentences or settings"):
        WordLearner(**QUICK, noise=0.3).fit(clips, sentences, lexicon=LEXICON, checkpoint=path)


@pytest.mark.slow
def test_mislabelled_pairs_are_tolerated():
    clips, sentences = troupe(30, frames=12)
    wrong = list(sentences)
    for number in (0, 7, 14, 21):
        wrong[number] = said("approached", "crate")
    learner = WordLearner(**QUICK | {"noise": 0.1, "restarts": 3}).fit(
        clips, wrong, lexicon=LEXICON
    )
    assert right(learner.lexicon_, *troupe(12, seed=7, frames=12)) >= 0.8


@pytest.mark.slow
def test_missed_detections_are_tolerated():
    clips, sentences = troupe(24, frames=12)
    rng = np.random.default_rng(0)
    holed = []
    for clip in clips:
        seen = clip.detections
        mask = rng.random(seen.mask.shape) > 0.25
        holed.append(
            Clip(
                clip.video_id,
                clip.start,
                clip.end,
                Detections(
                    seen.times,
                    seen.boxes,
                    seen.scores,
                    seen.labels,
                    mask,
                    seen.label_names,
                    seen.frame_size,
                    ids=seen.ids,
                ),
            )
        )
    learner = WordLearner(**QUICK | {"restarts": 3}).fit(holed, sentences, lexicon=LEXICON)
    assert right(learner.lexicon_, *troupe(12, seed=7, frames=12)) >= 0.8


@pytest.mark.slow
def test_growth_never_lowers_the_conditional_objective():
    clips, sentences = troupe(12, frames=12)
    learner = WordLearner(
        **QUICK | {"iterations": 1, "tempered_iterations": 1},
        discriminative="growth",
        growth=GrowthSettings(iterations=8),
        smoothing=WordSmoothing(50, 50, 1),
    ).fit(clips, sentences, lexicon=LEXICON)
    history = learner.discriminative_history_
    assert len(history) > 1
    assert all(b >= a for a, b in pairwise(history))
    assert history[-1] > history[0]


@pytest.mark.slow
def test_events_may_have_more_phases(tmp_path):
    clips = [play("lifted", seed=n) for n in range(4)]
    learner = WordLearner(phases=4, restarts=1, iterations=1, tempered_iterations=2)
    learner.fit(clips, ["The person lifted the ball quickly."] * 4, lexicon=LEXICON)
    states = {entry: word.num_states for entry, word in learner.lexicon_.words.items()}
    assert states["lifted"] == states["quickly"] == 4
    assert states["person"] == states["ball"] == 1
    learner.lexicon_.save(tmp_path / "words")
    again = LearnedLexicon.load(tmp_path / "words")
    assert again.score(clips[0], "The person lifted the ball quickly.") == learner.lexicon_.score(
        clips[0], "The person lifted the ball quickly."
    )


@pytest.mark.slow
def test_words_of_clips_without_detections_are_named():
    clips, sentences = troupe(6, frames=12)
    unseen = replace(clips[0].detections, mask=np.zeros_like(clips[0].mask))
    clips = [*clips, Clip("empty", clips[0].start, clips[0].end, unseen)]
    said = [*sentences, "The person lifted the ball quickly."]
    with pytest.warns(MeaningWarning, match="1 of 7 clips.*Nothing can be learned of: quickly"):
        WordLearner(**QUICK).fit(clips, said, lexicon=LEXICON)


@pytest.mark.slow
def test_two_phases_begin_with_nouns_and_verbs():
    clips, sentences = troupe(9, frames=12)
    sentences = [f"{s[:-1]} quickly." if n % 3 == 0 else s for n, s in enumerate(sentences)]
    learner = WordLearner(**QUICK, two_phase=True).fit(clips, sentences, lexicon=LEXICON)
    assert "quickly" in learner.lexicon_.words


@pytest.mark.slow
def test_without_a_lexicon_one_is_inferred():
    clips, sentences = troupe(12, frames=12)
    learner = WordLearner(**QUICK).fit(clips, sentences)
    assert {"person", "ball", "lifted"} <= set(learner.lexicon_.words)
    assert learner.inferred_ is not None


@pytest.mark.slow
def test_several_sentences_may_be_true_of_a_clip():
    clips, sentences = troupe(6, frames=12)
    both = [[s, f"{s[:-1]} quickly."] for s in sentences]
    learner = WordLearner(**QUICK).fit(clips, both, lexicon=LEXICON)
    assert learner.lexicon_.notes["pairs"] == 12


@pytest.mark.slow
def test_a_word_heard_once_gets_a_meaning():
    clips, sentences = troupe(6, frames=12)
    clips.append(play("waited", seed=5, frames=12))
    sentences.append("The person waited.")
    lexicon = WordLearner(**QUICK).fit(clips, sentences, lexicon=LEXICON).lexicon_
    assert all((table > 0).all() for table in lexicon["waited"].emissions)


def empty_clip(frames=5):
    nothing = Detections(
        times=np.arange(frames) / 10, boxes=np.zeros((frames, 0, 4)), scores=np.zeros((frames, 0)),
        labels=np.zeros((frames, 0)), mask=np.zeros((frames, 0)), label_names=(),
        frame_size=(640, 480), ids=np.zeros((frames, 0)),
    )  # fmt: skip
    return Clip("empty", 0.0, 1.0, nothing)


def test_a_single_clip_with_one_sentence_is_learned_and_kept(tmp_path):
    clips, _ = troupe(1, frames=12)
    text = "The person lifted the crate."  # no other word is known, so nothing near it is false
    learner = WordLearner(**QUICK).fit(clips, [text], checkpoint=tmp_path / "learning.npz")
    lexicon = learner.lexicon_
    assert np.isfinite(lexicon.notes["objective"])
    lexicon.save(tmp_path / "words")
    loaded = LearnedLexicon.load(tmp_path / "words")
    assert loaded.score(clips[0], text) == lexicon.score(clips[0], text)


@pytest.mark.slow
def test_clips_without_detections_are_left_out_with_a_warning():
    clips, sentences = troupe(6, frames=12)
    with pytest.warns(UserWarning, match="1 of 7 clips"):
        learner = WordLearner(**QUICK).fit(
            [*clips, empty_clip()], [*sentences, sentences[0]], lexicon=LEXICON
        )
    lexicon = learner.lexicon_
    for clip in (empty_clip(), empty_clip(0)):
        found = lexicon.score(clip, sentences[0])
        assert np.isfinite(found.score) and not found.holds
        assert lexicon.describe(clip) == []
        assert lexicon.search([clip], sentences[0]) == []
        assert lexicon.track(clip, sentences[0]).tracks[0].boxes.shape == (0, 4)
        assert lexicon.explain(clip, sentences[0]).text == sentences[0]


@pytest.mark.slow
def test_one_frame_is_enough_to_be_read():
    clips, sentences = troupe(6, frames=12)
    clips.append(play("lifted", frames=1))
    sentences.append(said("lifted"))
    lexicon = WordLearner(**QUICK).fit(clips, sentences, lexicon=LEXICON).lexicon_
    assert np.isfinite(lexicon.score(clips[-1], sentences[-1]).score)


@pytest.mark.parametrize(
    ("clips", "sentences", "error", "message"),
    [
        ([], [], MeaningError, "no clips"),  # an empty corpus
        ([empty_clip()], ["The person waited."], MeaningError, "nothing to learn"),
        ([play("lifted")], [], MeaningError, "1 clips came with 0 sentences"),
        ([play("lifted")], ["The person lifted the elephant."], LanguageError, "elephant"),
        ([play("lifted")], ["The of and."], LanguageError, "names nothing"),
    ],
)
@pytest.mark.filterwarnings("ignore:1 of 1 clips")
def test_bad_input_is_refused(clips, sentences, error, message):
    with pytest.raises(error, match=message):
        WordLearner(**QUICK).fit(clips, sentences, lexicon=LEXICON)


def test_unknown_settings_are_refused():
    with pytest.raises(MeaningError, match="no setting colour"):
        WordLearner(colour="red")


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("restarts", 0),
        ("restarts", "2"),
        ("restarts", True),  # is an int to Python, and to nobody else
        ("tempered_iterations", -1),
        ("iterations", 1.5),
        ("noise", 1.0),
        ("noise", float("nan")),  # would learn nothing, without a word
        ("temper", 0),
        ("background", "uniformly"),  # would be taken for the other one
        ("choose_by", "luck"),
        ("discriminative", "gradients"),
        ("discriminative", False),
        ("clusters", 1),
        ("phases", 1),
        ("max_candidates", -1),
        ("random_state", -1),
        ("random_state", None),
        ("view_settings", None),
        ("smoothing", 5.0),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(setting, value):
    with pytest.raises(MeaningError, match=f"{setting} is .*got"):
        WordLearner(**{setting: value})


@pytest.mark.parametrize(
    ("setting", "value"),
    [("rate", 0), ("rate", float("inf")), ("max_objects", 0), ("min_visible", -1)],
)
def test_ways_of_looking_that_see_nothing_are_refused(setting, value):
    with pytest.raises(MeaningError, match=f"{setting} is .*got"):
        ViewSettings(**{setting: value})


@pytest.mark.parametrize(
    "setting", [{"settings": "quick"}, {"threads": 0}, {"restarts": np.int64(2)}]
)
def test_numbers_of_numpy_are_numbers_and_other_things_are_not(setting):
    if "restarts" in setting:
        assert WordLearner(**setting).settings.restarts == 2
        return
    with pytest.raises(MeaningError, match="got"):
        WordLearner(**setting)


@pytest.mark.parametrize(
    ("clips", "sentences", "message"),
    [
        (None, ["The person waited."], "list of clips, got NoneType"),
        (play("lifted"), ["The person waited."], "list of clips, got Clip"),  # one, not in a list
        (["film.mp4"], ["The person waited."], "expected a Clip.*'film.mp4'"),
        ([play("lifted")], None, "for every clip, got NoneType"),
        ([play("lifted")], "The person waited.", "for every clip, got str"),  # else 18 sentences
        ([play("lifted")], [3], "sentence as text, got int 3"),
        ([play("lifted")], [[None]], "sentence as text, got NoneType"),
    ],
)
def test_other_things_than_clips_and_sentences_are_refused(clips, sentences, message):
    with pytest.raises(MeaningError, match=message):
        WordLearner(**QUICK).fit(clips, sentences, lexicon=LEXICON)


def test_the_name_of_a_lexicon_file_is_no_lexicon():
    with pytest.raises(MeaningError, match="read_lexicon"):
        WordLearner(**QUICK).fit([play("lifted")], [said("lifted")], lexicon="words.lexicon")


def test_clips_and_sentences_may_come_one_after_the_other():
    clips, sentences = troupe(6, frames=12)
    settings = QUICK | {"discriminative": None}
    whole = WordLearner(**settings).fit(clips, sentences, lexicon=LEXICON).lexicon_
    streamed = WordLearner(**settings).fit(iter(clips), iter(sentences), lexicon=LEXICON).lexicon_
    assert same_words(whole, streamed)


def test_looking_is_part_of_the_lexicon():
    clips, sentences = troupe(6, frames=12)
    looking = ViewSettings(rate=3.0, max_objects=2)
    lexicon = (
        WordLearner(**QUICK, view_settings=looking).fit(clips, sentences, lexicon=LEXICON).lexicon_
    )
    seen = lexicon.observe(clips[0])
    assert (seen.num_frames, seen.num_objects) == (3, 3)
