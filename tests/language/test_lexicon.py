"""The lexicon: its shipped words, its file format and the errors of both."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.language import (
    Entry,
    Lexicon,
    LexiconError,
    PartOfSpeech,
    default_lexicon,
    parse_lexicon,
    read_lexicon,
    write_lexicon,
)


def test_shipped_lexicon_holds_the_papers_words():
    lexicon = default_lexicon()
    counts = {part: len(lexicon.of_part(part)) for part in PartOfSpeech}
    assert counts == {
        PartOfSpeech.NOUN: 6,
        PartOfSpeech.ADJECTIVE: 0,
        PartOfSpeech.VERB: 4,
        PartOfSpeech.ADVERB: 2,
        PartOfSpeech.DIRECTION: 0,
        PartOfSpeech.SPATIAL_PREPOSITION: 2,
        PartOfSpeech.MOTION_PREPOSITION: 2,
    }
    assert lexicon["approached"].roles == ("agent", "goal")
    assert lexicon["towards"].roles == ("agent/patient", "goal")


def test_defaults_of_a_short_line():
    entry = parse_lexicon("traffic-light : noun")["traffic-light"]
    assert entry.roles == ("any",)
    assert entry.patterns == (("traffic", "light"),)
    verb = parse_lexicon("looked-at : verb (agent, goal) : looked at")["looked-at"]
    assert verb.patterns == (("looked", "at", None),)


FAULTS = [
    # no part of speech
    ("chair", "2:6", "expected ':'"),
    # a part of speech nobody knows, with the nearest
    ("ran : vreb", "2:7", "did you mean 'verb'?"),
    # an entry's name with capitals
    ("Chair : noun", "2:1", "lower-case"),
    # a role that is no word
    ("ran : verb (agent, 7)", "2:13", "got '7'"),
    # an empty spelling
    ("ran : verb (agent) : ran | ", "2:27", "expected a spelling"),
    # the number of slots contradicts the roles
    ("ran : verb (agent, goal) : ran _ to _", "2:28", "marks 2 places"),
    # a noun of two roles
    ("owner : noun (agent, patient)", "2:9", "exactly one role"),
    # a preposition of one role
    ("near : spatial preposition (agent)", "2:8", "2 or more roles"),
    # said twice
    ("person : noun\nperson : noun", "3:1", "occurs twice"),
    # spelled alike
    ("a-1 : noun : stone\na-2 : noun : stone", "3:1", "both a noun spelled 'stone'"),
    # written by a newer program
    ("%version 99", "2:1", "update Wordsight"),
    ("%verison 1", "2:1", "%version 1"),
]


@pytest.mark.parametrize(("text", "place", "says"), FAULTS)
def test_faults_name_file_line_and_column(tmp_path, text, place, says):
    path = tmp_path / "my.lexicon"
    path.write_text(f"# mine\n{text}\n", encoding="utf-8")
    with pytest.raises(LexiconError) as caught:
        read_lexicon(path)
    assert f"{path}:{place}: " in str(caught.value)
    assert says in str(caught.value)


def test_unreadable_files_are_refused(tmp_path):
    with pytest.raises(LexiconError, match="cannot read"):
        read_lexicon(tmp_path / "absent.lexicon")
    (tmp_path / "latin.lexicon").write_bytes(b"caf\xe9 : noun")
    with pytest.raises(LexiconError, match="UTF-8"):
        read_lexicon(tmp_path / "latin.lexicon")


def test_written_file_reads_back_equal(tmp_path):
    write_lexicon(tmp_path / "street.lexicon", default_lexicon())
    assert read_lexicon(tmp_path / "street.lexicon") == default_lexicon()
    with pytest.raises(FileExistsError):
        write_lexicon(tmp_path / "street.lexicon", Lexicon())


def test_extended_replaces_an_entry_of_the_same_name():
    wider = default_lexicon().extended([Entry("chair", PartOfSpeech.NOUN, spellings=("seat",))])
    assert wider["chair"].spellings == ("seat",)
    assert len(wider) == len(default_lexicon())


def test_absent_entry_names_the_nearest():
    with pytest.raises(LexiconError, match="Nearest: backpack"):
        default_lexicon()["bakpack"]


@given(st.text(alphabet="ab:()|_%# ,-\n1", max_size=60))
def test_any_text_is_read_or_refused_with_its_place(text):
    try:
        parse_lexicon(text, where="here")
    except LexiconError as error:
        assert str(error).startswith("here:")


def test_an_example_is_a_sentence_of_its_own_words():
    known = Lexicon(
        (
            Entry("hand", PartOfSpeech.NOUN),
            Entry("tea-cup", PartOfSpeech.NOUN),
            Entry("slept", PartOfSpeech.VERB, ("agent",)),
            Entry("picked-up", PartOfSpeech.VERB, ("agent", "patient")),
        )
    )
    assert known.example() == "The hand picked up the tea cup."
    usual = known.example(lambda verb, place, noun: float(noun == "tea-cup" and place == 0))
    assert usual == "The tea cup picked up the hand."
    assert Lexicon(known.entries[:1]).example() == ""
