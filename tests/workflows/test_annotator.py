"""Taught words at the desk: adjectives for grammars, meanings for lexicons, names for shots."""

import numpy as np
import pytest

from tests.attributes.toys import lessons
from wordsight.attributes import AttributeLearner
from wordsight.errors import WordsightError
from wordsight.language import PartOfSpeech, default_lexicon, parse
from wordsight.workflows.annotator import ClipAnnotator, load_annotator
from wordsight.workflows.index_words import NamedShots, forget_words, named_terms, remember_words
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.teach import load_taught


@pytest.fixture(scope="module")
def namer():
    return ClipAnnotator(AttributeLearner().fit(*lessons(120, np.random.default_rng(0))))


def test_taught_words_are_adjectives_of_any_grammar(namer):
    given, kept = namer.grammar(default_lexicon(), [["The person left."]], RecordingReporter())
    assert given["red"].part is PartOfSpeech.ADJECTIVE and given["person"].part == "noun"
    assert [[s.text for s in one] for one in kept] == [["The person left."]]
    said = parse("The person picked up the red wide backpack.", given)
    assert {word.entry for word in said.words} >= {"red", "wide", "backpack"}


def test_a_grammar_is_inferred_around_them(namer):
    notes = RecordingReporter()
    said = [
        ["The man lifted the red cup."],
        ["The man dropped the cup.", "The woman lifted the red bowl."],
        ["of of the"],
    ]
    lexicon, kept = namer.grammar(None, said, notes)
    assert lexicon["red"].part is PartOfSpeech.ADJECTIVE
    assert lexicon["green"].part is PartOfSpeech.ADJECTIVE  # taught, never said
    assert [[s.text for s in one] for one in kept] == [*said[:2], []]
    assert any("cannot read" in note for note in notes.notes)


def test_a_word_that_is_a_noun_stays_one():
    pictures, words = lessons(120, np.random.default_rng(0))
    names = {"tall": "chair", "wide": "Backpack", "square": "stool"}
    namer = ClipAnnotator(
        AttributeLearner().fit(pictures, [names.get(word, word) for word in words])
    )
    lexicon, _ = namer.grammar(default_lexicon(), [], RecordingReporter())
    assert lexicon["chair"].part is PartOfSpeech.NOUN
    assert ("backpack", "chair", "stool") in namer.groups


def test_taught_words_are_kept_beside_a_lexicon(namer, tmp_path):
    assert load_annotator(tmp_path) is None
    namer.save(tmp_path)
    assert load_annotator(tmp_path).groups == namer.groups
    with pytest.raises(WordsightError, match="no taught words"):
        load_taught(tmp_path / "nowhere")


@pytest.mark.slow
def test_an_index_remembers_and_forgets(namer, tmp_path):
    assert NamedShots.read(tmp_path) is None and not forget_words(tmp_path)
    assert remember_words(tmp_path, namer.taught)
    assert not remember_words(tmp_path, namer.taught)  # the same words again
    other = AttributeLearner().fit(*lessons(80, np.random.default_rng(1)))
    assert remember_words(tmp_path, other)
    assert len(list(tmp_path.glob("attributes-*"))) == 1
    assert forget_words(tmp_path) and not list(tmp_path.iterdir())


def test_words_of_shots_are_said_of_them_if_they_are_sure(tmp_path):
    rows = [[0.0, 2.0, [["red", 0.9], ["wide", 0.6], ["red", 0.7]]], [2.0, 3.0, [["blue", 0.2]]]]
    NamedShots("attributes-x", {"v": "mark"}, {"v": rows}).write(tmp_path)
    shots = NamedShots.read(tmp_path)
    (said,) = shots.sentences("v")
    assert (said.start, said.end, said.text) == (0.0, 2.0, "red wide red")
    assert shots.said("The man left. red wide red", "v", 0.0) == "The man left."
    assert shots.said("The man left.", "v", 2.0) == "The man left."
    assert shots.confidences("v", 0.0) == {"red": [0.9, 0.7], "wide": [0.6]}
    assert shots.confidences("w") == {} and shots.sentences("w") == ()
    by_term = named_terms(shots.confidences("v"), lambda word: [word[:3]])
    assert by_term == {"red": [0.9, 0.7], "wid": [0.6]}


@pytest.mark.parametrize("text", ["{", "[]", '{"model": "a"}', '{"model": 1, "marks": 2}'])
def test_a_damaged_file_is_told(tmp_path, text):
    (tmp_path / "attributes.json").write_text(text)
    with pytest.raises(WordsightError, match="--attributes"):
        NamedShots.read(tmp_path)
