"""What is said against words from their use alone."""

from wordsight.language import default_lexicon, parse
from wordsight.workflows.word_quality import _clips_of_words, _remarks


def test_words_that_are_never_said_apart_are_named():
    said = [
        "The person carried the chair quickly.",
        "The person carried the chair quickly.",
        "The person approached the backpack.",
    ]
    remarks = _remarks(_clips_of_words([[parse(text)] for text in said]), default_lexicon(), None)
    # Also of different parts of speech: either may be what is seen.
    assert remarks["carried"] == ["always together with quickly: cannot be told apart"]
    assert remarks["quickly"] == ["always together with carried: cannot be told apart"]
    # A noun is seen in a thing, a verb in what becomes of it.
    assert remarks["chair"] == [] and remarks["person"] == []
    assert remarks["approached"] == remarks["backpack"] == ["seen once"]
