"""Cutting texts of any script into terms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.errors import RetrievalError
from wordsight.retrieval.text import STOP_WORDS, Analyser

PLAIN = Analyser(language=None, stop_words=None)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The Red-CUP, 2 cups!", ["the", "red", "cup", "2", "cups"]),  # case and punctuation
        ("don’t", ["don't"]),  # a curly apostrophe is an apostrophe
        ("snake_case", ["snake", "case"]),  # an underscore is no letter
        ("Straße STRASSE", ["strasse", "strasse"]),  # folded, not just lowered
        ("cafe\u0301 café", ["café", "café"]),  # an accent written two ways
        ("ﬁlm", ["film"]),  # a ligature
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),  # vowel signs belong to the word
        ("красная чашка", ["красная", "чашка"]),
        ("كوب أحمر", ["كوب", "أحمر"]),
        ("赤いカップ", ["赤い", "いカ", "カッ", "ップ"]),  # no spaces: pairs of characters
        ("赤", ["赤"]),  # a single one stays
        ("USB充電器", ["usb", "充電", "電器"]),  # two scripts in one word
        ("", []),
        (" \t…!?🎬", []),  # nothing that is a word
    ],
)
def test_words_of_any_script(text, terms):
    assert PLAIN.terms(text) == terms


def test_stop_words_go_and_stems_meet():
    analyser = Analyser()
    assert analyser.terms("the persons were picking up backpacks") == analyser.terms(
        "A person picked up the backpack"
    )
    assert analyser.terms("of the and") == []
    assert "up" not in STOP_WORDS["english"]  # films are searched for where things move


def test_other_languages_and_own_stop_words():
    assert Analyser("german", None).terms("Tassen") == Analyser("german", None).terms("Tasse")
    assert Analyser(None, frozenset({"cup"})).terms("red cup") == ["red"]


@pytest.mark.parametrize("settings", [{"language": "klingon"}, {"stop_words": "klingon"}])
def test_a_language_nobody_knows(settings):
    with pytest.raises(RetrievalError, match="klingon"):
        Analyser(**settings)


@pytest.mark.slow
@given(st.text())
def test_any_text_can_be_cut(text):
    terms = Analyser().terms(text)
    assert all(term and not any(c.isspace() for c in term) for term in terms)
    # What was cut once is not cut differently when cut again.
    assert PLAIN.terms(" ".join(PLAIN.terms(text))) == PLAIN.terms(text)


def test_settings_there_and_back():
    for analyser in (Analyser(), Analyser(None, frozenset({"b", "a"})), Analyser("french", None)):
        assert Analyser.from_json(analyser.to_json()) == analyser


def test_data_is_no_word():
    assert PLAIN.terms("x" * 1000 + " cup") == ["cup"]
