"""Hand-written meanings: read, refused where wrong, and right about plays they describe."""

from dataclasses import replace
from importlib import resources

import numpy as np
import pytest

from wordsight.errors import FormatError
from wordsight.language import Lexicon, PartOfSpeech, default_lexicon
from wordsight.meaning import LearnedLexicon
from wordsight.meaning.features import get_feature
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.meaning.model.wording import _STATEMENTS, argument_names, looks_for
from wordsight.meaning.tasks.clip import living_sentence
from wordsight.records import Clip, Detections

LABELS = ("person", "backpack", "chair")


def street(person, backpack, frames=40):
    """A clip at 20 frames per second; paths are start and end of the middle three quarters."""
    run = np.clip((np.arange(frames) / frames - 0.125) / 0.75, 0, 1)[:, None]
    paths = [np.array(a) + run * (np.array(b) - np.array(a)) for a, b in (person, backpack)]
    paths.append(np.tile([600.0, 300.0], (frames, 1)))
    half = [np.array([25, 80]), np.array([15, 15]), np.array([20, 30])]
    boxes = np.stack(
        [np.concatenate([p - h, p + h], axis=1) for p, h in zip(paths, half, strict=True)], axis=1
    )
    shape = boxes.shape[:2]
    return Clip(
        "street", 0.0, frames / 20,
        Detections(
            np.arange(frames) / 20, boxes, np.ones(shape), np.broadcast_to([0, 1, 2], shape),
            np.ones(shape, dtype=bool), LABELS, (640, 480), ids=np.broadcast_to([0, 1, 2], shape),
        ),
    )  # fmt: skip


STAY, GO = ((380, 300), (380, 300)), ((60, 300), (380, 300))
PLAYS = {
    "The person approached the backpack.": street(GO, ((420, 340), (420, 340))),
    "The person picked up the backpack.": street(STAY, ((410, 370), (410, 270))),
    "The person put down the backpack.": street(STAY, ((410, 270), (410, 370))),
    "The person carried the backpack.": street(GO, ((90, 300), (410, 300))),
}


@pytest.mark.parametrize("text", PLAYS)
def test_hand_written_words_tell_plays_apart(text):
    lexicon = hand_lexicon(LABELS)
    options = list(PLAYS)
    assert options[lexicon.choose(PLAYS[text], options)] == text


def test_left_right_and_manner():
    lexicon = hand_lexicon(LABELS)
    clip = PLAYS["The person approached the backpack."]
    left = "The person to the left of the chair approached the backpack."
    right = "The person to the right of the chair approached the backpack."
    assert lexicon.score(clip, left).score > lexicon.score(clip, right).score
    towards = "The person approached the backpack towards the chair."
    assert np.isfinite(lexicon.score(clip, towards).score)


def test_it_saves_like_any_lexicon(tmp_path):
    lexicon = hand_lexicon(LABELS)
    lexicon.save(tmp_path / "hand")
    loaded = LearnedLexicon.load(tmp_path / "hand")
    text, clip = next(iter(PLAYS.items()))
    assert loaded.score(clip, text).score == lexicon.score(clip, text).score
    assert "written by hand" in (tmp_path / "hand" / "card.md").read_text("utf-8")


def test_every_word_of_the_street_is_there():
    labels = [entry.name for entry in default_lexicon().of_part(PartOfSpeech.NOUN)]
    assert set(hand_lexicon(labels).words) == {entry.name for entry in default_lexicon()}


def test_nouns_may_speak_of_other_labels():
    lexicon = hand_lexicon(["class-1", "class-27"], nouns={"person": "class-1"})
    assert lexicon["person"].emission("label", 0)[0].argmax() == 0
    assert "backpack" not in lexicon.words


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("features = ", "cannot be read"),  # not TOML
        ('features = "tea-leaves"', "tea-leaves"),
        ('features = "paper"', "words"),  # no words
        ('features = "paper"\n[words.elephant]\nstates = [{}]', "elephant"),
        ('features = "paper"\n[words.quickly]\nstates = [{}]', "needs 3 states"),
        (
            'features = "paper"\n[shapes]\n[words.quickly]\nadvance = [0.5, 0.5]\n'
            'states = [{"paper-speed(2)" = [1, 0, 0, 0, 0]}, {}, {}]',
            "does not use",
        ),
        (
            'features = "paper"\n[shapes]\n[words.quickly]\nadvance = [0.5, 0.5]\n'
            'states = [{"paper-speed(1)" = [1, 0]}, {}, {}]',
            "needs 5 shares",
        ),
        (
            'features = "paper"\n[shapes]\n[words.quickly]\nadvance = [0.5]\nstates = [{}, {}, {}]',
            "2 probabilities",
        ),
    ],
)
def test_faults_in_a_file_are_named(tmp_path, text, message):
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        hand_lexicon(LABELS, path=path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FormatError, match=r"nothing\.toml"):
        hand_lexicon(LABELS, path=tmp_path / "nothing.toml")


def test_how_sure_to_be_is_said_per_part_of_speech_and_per_word():
    belief = hand_lexicon(LABELS).belief
    assert belief.slopes["person"] == belief.slopes["chair"] == (4.0,)
    assert belief.slopes["picked-up"] != belief.slopes["carried"]


def test_without_a_table_of_truth_scores_are_log_ratios(tmp_path):
    text = resources.files("wordsight.meaning.model").joinpath("street.toml").read_text("utf-8")
    kept = text[: text.index("[truth.noun]")] + text[text.index("[shapes.pace]") :]
    (tmp_path / "mine.toml").write_text(kept, encoding="utf-8")
    lexicon = hand_lexicon(LABELS, path=tmp_path / "mine.toml")
    assert lexicon.belief is None and lexicon.add_log_states
    said = "The person approached the backpack."
    assert lexicon.score(PLAYS[said], said).score > 0


def test_quick_and_slow_go_with_the_verb():
    lexicon = hand_lexicon(LABELS)
    run = street(GO, ((420, 340), (420, 340)))
    stroll = street(GO, ((420, 340), (420, 340)), frames=160)
    said = "The person approached the backpack {}."
    quick, slow = ([lexicon.score(c, said.format(how)).score for how in ("quickly", "slowly")]
                   for c in (run, stroll))  # fmt: skip
    assert quick[0] > quick[1] and slow[0] < slow[1]


def test_a_sentence_lives_word_by_word_and_says_why_it_fails():
    lexicon, text = hand_lexicon(LABELS), "The person approached the backpack."
    living = living_sentence(lexicon, lexicon.track(PLAYS[text], text))
    assert "".join(one.text for one in living) == text
    by_word = {one.word.split("(")[0]: one for one in living if one.word}
    verb, noun = by_word["approached"], by_word["person"]
    assert verb.belief[0] < 0.5 < verb.belief[-1] and verb.begins > noun.begins  # it comes true
    assert noun.belief.mean() > 0.9 and noun.participant == verb.participant == 0
    assert all(((one.belief >= 0) & (one.belief <= 1)).all() for one in by_word.values())
    other = next(one for one in PLAYS if "approached" not in one)
    why = lexicon.explain(PLAYS[other], text)
    assert why.reason and why.weakest_span is not None
    longer = living_sentence(
        lexicon, lexicon.track(PLAYS[text], "The person picked up the backpack.")
    )
    assert [one.text for one in longer if one.word and "picked" in one.word] == [" picked", " up"]


def test_what_a_word_looks_for_is_said_in_a_line():
    line = looks_for(hand_lexicon(LABELS), "approached")
    assert line == (
        "the agent and the goal are far apart → the agent and the goal come nearer to each other"
        " → the agent and the goal are close"
    )
    assert looks_for(hand_lexicon(LABELS), "chair") == "it looks like a chair"


def test_an_argument_that_may_be_anything_is_called_it():
    learned = hand_lexicon(LABELS)
    entries = [
        replace(one, roles=("any", "referent")) if one.arity == 2 else one
        for one in default_lexicon()
    ]
    inferred = replace(learned, lexicon=Lexicon(tuple(entries)))
    assert argument_names(inferred, "to-the-left-of") == ["it", "the referent"]


@pytest.mark.parametrize("name", sorted(_STATEMENTS))
def test_statements_speak_of_as_many_things_as_their_feature_has(name):
    things = [f"thing {number}" for number in range(get_feature(name).arity)]
    assert all(text.format(*things) for text in _STATEMENTS[name])
