"""Rules of states at the desk: which facts hold of what is detected."""

import numpy as np
import pytest

from wordsight.errors import WordsightError
from wordsight.language import Entry, Lexicon, PartOfSpeech
from wordsight.records import Clip, Detections
from wordsight.states import StateModel, parse_rules, parse_vocabulary
from wordsight.workflows.annotator import (
    ClipAnnotator,
    StateAnnotator,
    load_annotator,
    load_state_annotator,
)
from wordsight.workflows.lexicon import readable_grammar
from wordsight.workflows.reporter import RecordingReporter

RULES = """2: speed(X) >= 20 -> moves(X)
1: moves(X) -> false
2: distance(X,Y) <= 60, cup(X) -> near(X,Y)
1: near(X,Y) -> false
"""
VOCABULARY = "predicate moves(thing)\npredicate near(cup, thing)\n"


@pytest.fixture
def stater():
    model = StateModel(parse_rules(RULES), 1.0, parse_vocabulary(VOCABULARY))
    return StateAnnotator(model, {"mug": "cup"})


def clip(*, ids=True):
    """A mug that begins to move away from a box, 10 frames a second; columns change places."""
    boxes = np.zeros((40, 2, 4))
    boxes[:, 0], boxes[:, 1] = [60, 40, 80, 60], [20, 40, 40, 60]
    boxes[:, 0, [0, 2]] += 6.0 * np.clip(np.arange(40) - 20, 0, None)[:, None]
    numbers = np.broadcast_to([3, 8], (40, 2)).copy()
    boxes[30:], numbers[30:] = boxes[30:, ::-1], numbers[30:, ::-1]
    seen = Detections(
        np.arange(40) / 10,
        boxes,
        np.ones((40, 2)),
        (numbers == 8).astype(np.int32),
        np.ones((40, 2), bool),
        ("mug", "box"),
        (320, 240),
        ids=numbers if ids else None,
    )
    return Clip("film", 0.0, 4.0, seen)


def test_facts_lie_where_the_detections_are(stater):
    facts = stater.facts(clip())
    assert facts["moves"].shape == (40, 2) and facts["near"].shape == (40, 2, 2)
    assert facts["moves"][25].tolist() == [1, 0]
    assert facts["moves"][35].tolist() == [0, 1]  # the mug is the second one now
    assert facts["near"][5, 0, 1] == 1 and facts["near"][35, 1, 0] == 0
    assert (facts["near"][:30, 1, 0] == -1).all()  # only cups are said to be near something


def test_without_identities_nothing_is_known_and_learning_says_so(stater):
    assert stater.facts(clip(ids=False)) == {}
    with pytest.raises(WordsightError, match="boxes that have identities"):
        ClipAnnotator(stated=stater).name_clips(None, [clip(ids=False)], RecordingReporter())


def test_rules_are_kept_beside_a_lexicon(stater, tmp_path):
    ClipAnnotator(stated=stater).save(tmp_path)
    kept = load_annotator(tmp_path)
    assert kept.taught is None and kept.stated.kinds == {"mug": "cup"}
    (named,) = kept.name_clips(None, [clip()], RecordingReporter())
    assert np.array_equal(named.facts["near"], stater.facts(clip())["near"])
    assert "fact:near(1,2)" in kept.features().names()
    (tmp_path / "states" / "kinds.json").write_text("[]")
    with pytest.raises(WordsightError, match="damaged"):
        load_annotator(tmp_path)
    with pytest.raises(WordsightError, match="states learn"):
        load_state_annotator(tmp_path / "nowhere")


def test_words_that_a_lexicon_lacks_are_inferred_and_told():
    notes = RecordingReporter()
    known = Lexicon((Entry("person", PartOfSpeech.NOUN), Entry("lifted", PartOfSpeech.VERB)))
    said = [["The person lifted the cup."], ["The person gently lifted the box.", "of of the"]]
    lexicon, kept = readable_grammar(known, said, notes)
    assert lexicon["cup"].part is PartOfSpeech.NOUN
    assert lexicon["gently"].part is PartOfSpeech.ADVERB
    assert [[s.text for s in one] for one in kept] == [said[0], said[1][:1]]
    assert "cup (noun)" in notes.notes[0] and "cannot read 'of of the'" in notes.notes[1]
    silent = RecordingReporter()
    (one,) = readable_grammar(None, said[:1], silent)[1]
    assert [s.text for s in one] == said[0] and not silent.notes
