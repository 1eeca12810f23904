"""The picture of a word: drawn for every kind of word, refused where it cannot be."""

import pytest

from wordsight.errors import WordsightError
from wordsight.meaning import MeaningError
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.meaning.model.wording import plot_word, save_word_plot


@pytest.fixture(scope="module")
def lexicon():
    return hand_lexicon(["person", "chair"])


@pytest.mark.parametrize(
    ("entry", "panels"),
    [
        ("picked-up", 1 + 4 * 3),  # a verb: states, and four features that say something
        ("quickly", 1 + 3),  # an adverb: one feature in three states
        ("person", 1 + 1),  # a noun: one state
    ],
)
def test_a_word_has_a_panel_per_feature_and_state(lexicon, entry, panels):
    assert len(plot_word(lexicon, entry).axes) == panels


def test_the_strongest_features_come_first_and_no_more_than_asked(lexicon):
    figure = plot_word(lexicon, "put-down", strongest=1)
    assert len(figure.axes) == 4
    assert figure.axes[1].get_title(loc="left") == "rise(2)"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["word.png", "word.svg"])
def test_it_is_written(lexicon, tmp_path, name):
    save_word_plot(lexicon, "carried", tmp_path / name)
    assert (tmp_path / name).stat().st_size > 3000


def test_bad_wishes_are_refused(lexicon, tmp_path):
    with pytest.raises(WordsightError, match=r"must end in \.png"):
        save_word_plot(lexicon, "carried", tmp_path / "word.doc")
    with pytest.raises(MeaningError, match="no meaning"):
        plot_word(lexicon, "flew")
