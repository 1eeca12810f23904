"""A studio that knows no words begins with those learned on the command line, and keeps its own."""

import pytest

from wordsight.cli.output import Output, Style
from wordsight.cli.studio import take_words
from wordsight.library import Library
from wordsight.meaning import LearnedLexicon
from wordsight.meaning.hand import hand_lexicon

LABELS = ("person", "chair", "backpack", "trash-can")


@pytest.fixture
def words(tmp_path):
    hand_lexicon(LABELS).save(tmp_path / "lexicon")
    return tmp_path / "lexicon"


def test_words_are_taken_over_once(tmp_path, words, capsys):
    library = tmp_path / "library"
    take_words(Output(Style()), str(library), words)
    assert "begins with the words of" in capsys.readouterr().err
    kept = library / "studio" / "lexicon"
    assert sorted(LearnedLexicon.load(kept).words) == sorted(LearnedLexicon.load(words).words)
    before = (kept / "model.json").stat().st_mtime_ns
    take_words(Output(Style()), str(library), words)  # the studio has its own by now
    assert (kept / "model.json").stat().st_mtime_ns == before
    assert capsys.readouterr().err == ""


def test_without_words_nothing_is_said(tmp_path, capsys):
    take_words(Output(Style()), str(tmp_path / "library"), tmp_path / "lexicon")
    assert capsys.readouterr().err == ""
    with Library.open(tmp_path / "library") as library:
        assert not (library.folder / "studio" / "lexicon").exists()


def test_damaged_words_are_told_and_stop_nobody(tmp_path, words, capsys):
    (words / "model.json").write_text("{")
    take_words(Output(Style()), str(tmp_path / "library"), words)
    assert "begins without words" in capsys.readouterr().err
    assert not (tmp_path / "library" / "studio" / "lexicon").exists()
