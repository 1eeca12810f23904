"""A lexicon on disk: bit for bit the same, never half written, never from the future."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.meaning.plays import LEXICON, choices, troupe
from wordsight.errors import FormatError
from wordsight.meaning import LearnedLexicon, WordLearner
from wordsight.meaning.discriminative import GradientSettings


@pytest.fixture(scope="module")
def lexicon():
    clips, sentences = troupe(9, frames=12)
    return (
        WordLearner(restarts=1, tempered_iterations=3, iterations=2,
                    gradient=GradientSettings(epochs=1))
        .fit(clips, sentences, lexicon=LEXICON)
        .lexicon_
    )  # fmt: skip


def test_a_loaded_lexicon_scores_bit_for_bit_alike(lexicon, tmp_path):
    lexicon.save(tmp_path / "words")
    loaded = LearnedLexicon.load(tmp_path / "words")
    clips, _ = troupe(6, seed=3, frames=12)
    for clip in clips:
        for sentence in choices():
            one, other = lexicon.score(clip, sentence), loaded.score(clip, sentence)
            assert (one.score, one.log_ratio, one.preference, one.holds) == (
                other.score,
                other.log_ratio,
                other.preference,
                other.holds,
            )
    assert loaded.lexicon == lexicon.lexicon
    assert loaded.looking == lexicon.looking
    assert loaded.features == lexicon.features
    assert loaded.notes == lexicon.notes


def test_the_folder_holds_a_page_for_people(lexicon, tmp_path):
    lexicon.save(tmp_path / "words")
    assert sorted(p.name for p in (tmp_path / "words").iterdir()) == [
        "arrays.npz",
        "card.md",
        "model.json",
    ]
    card = (tmp_path / "words" / "card.md").read_text(encoding="utf-8")
    assert "| ball | " in card and "clips: 9" in card
    page = lexicon.page("lifted")
    assert "state 3" in page and "speed" in page


def test_saving_twice_gives_the_same_bytes(lexicon, tmp_path):
    for name in ("one", "two"):
        lexicon.save(tmp_path / name)
    for name in ("arrays.npz", "model.json", "card.md"):
        first, second = ((tmp_path / folder / name).read_bytes() for folder in ("one", "two"))
        assert first == second


def test_nothing_is_overwritten_unasked(lexicon, tmp_path):
    lexicon.save(tmp_path / "words")
    with pytest.raises(FileExistsError, match="exists already"):
        lexicon.save(tmp_path / "words")
    lexicon.save(tmp_path / "words", overwrite=True)
    (tmp_path / "mine").mkdir()
    with pytest.raises(FileExistsError):
        lexicon.save(tmp_path / "mine", overwrite=True)  # not a lexicon: never removed
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine", "words"]


def changed(folder: Path, **values):
    path = folder / "model.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | values), "utf-8")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: changed(f, version=99), "newer Wordsight"),
        (lambda f: changed(f, kind="Elephant"), "does not describe"),
        (lambda f: changed(f, words=[{}]), "damaged"),
        (lambda f: changed(f, vocabulary={}), "damaged"),
        (lambda f: (f / "model.json").write_text("{", "utf-8"), "cannot be read"),
        (lambda f: (f / "model.json").unlink(), "no model.json"),
        (lambda f: (f / "arrays.npz").write_bytes(b"PK"), "not a readable"),
        (lambda f: (f / "arrays.npz").unlink(), "does not exist"),
    ],
)
def test_damaged_folders_are_refused(lexicon, tmp_path, damage, message):
    lexicon.save(tmp_path / "words")
    damage(tmp_path / "words")
    with pytest.raises(FormatError, match=message):
        LearnedLexicon.load(tmp_path / "words")


def test_parts_of_two_lexicons_do_not_mix(lexicon, tmp_path):
    lexicon.save(tmp_path / "one")
    other = lexicon.with_words({k: w for k, w in lexicon.words.items() if k != "crate"})
    other.save(tmp_path / "two")
    (tmp_path / "one" / "arrays.npz").write_bytes((tmp_path / "two" / "arrays.npz").read_bytes())
    with pytest.raises(FormatError, match="belong together"):
        LearnedLexicon.load(tmp_path / "one")


def test_a_lexicon_without_a_threshold_says_never(lexicon, tmp_path):
    replace(lexicon, threshold=np.inf).save(tmp_path / "words")
    assert LearnedLexicon.load(tmp_path / "words").threshold == np.inf
