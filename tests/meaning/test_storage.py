"""A lexicon on disk: bit for bit the same, never half written, never from the future."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.meaning.plays import LEXICON, choices, troupe
from wordsight.errors import FormatError, WordsightError
from wordsight.meaning import LearnedLexicon, WordLearner
from wordsight.meaning.training.settings import GradientSettings


@pytest.fixture(scope="module")
def lexicon():
    clips, sentences = troupe(9, frames=12)
    return (
        WordLearner(restarts=1, tempered_iterations=3, iterations=2,
                    gradient=GradientSettings(epochs=1))
        .fit(clips, sentences, lexicon=LEXICON)
        .lexicon_
    )  # fmt: skip


@pytest.mark.slow
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
    assert loaded.view_settings == lexicon.view_settings
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
    assert "state 3" in page and "speed" in page and " diagonals/s  " in page


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


def in_words(folder: Path, **values):
    rows = json.loads((folder / "model.json").read_text("utf-8"))["words"]
    changed(folder, words=[rows[0] | values, *rows[1:]])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: changed(f, version=99), "newer Wordsight"),
        (lambda f: changed(f, kind="Elephant"), "does not describe"),
        (lambda f: changed(f, words=[{}]), "damaged"),
        (lambda f: changed(f, vocabulary={}), "damaged"),
        (lambda f: changed(f, threshold="high"), "damaged .threshold is a number"),
        (lambda f: in_words(f, slots=[["label", 7]]), "damaged .a role is one of"),
        (lambda f: in_words(f, slots=[["colour", 0]]), "damaged .a feature is one of"),
        (lambda f: in_words(f, states=10**12), "no word has that many"),
        (lambda f: in_words(f, entry="elephant"), "that the lexicon lacks"),
        (lambda f: in_words(f, arity=3), "another kind of word"),
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


def places(value, before=()):
    """Every place in a JSON value, as the keys that lead to it."""
    yield before
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*before, key))


REMOVED = object()
WRONG = [None, -1, 0, 1e300, "x", [], {}, True, REMOVED, float("nan"), [[1]], 1.5, 10**12]


@pytest.mark.slow
def test_whatever_one_value_is_changed_to_is_refused_or_can_be_used(lexicon, tmp_path):
    lexicon.save(tmp_path / "words")
    path = tmp_path / "words" / "model.json"
    whole = json.loads(path.read_text("utf-8"))
    everywhere = [place for place in places(whole) if place]
    rng = np.random.default_rng(0)
    clip = troupe(1, seed=3, frames=12)[0][0]
    refused = 0
    for number in rng.permutation(len(everywhere))[:120]:
        *way, last = everywhere[number]
        model = json.loads(json.dumps(whole))
        inner = model
        for key in way:
            inner = inner[key]
        inner[last] = WRONG[rng.integers(len(WRONG))]
        if inner[last] is REMOVED:
            del inner[last]
        path.write_text(json.dumps(model), "utf-8")
        try:
            loaded = LearnedLexicon.load(tmp_path / "words")
            for sentence in choices()[:2]:
                loaded.score(clip, sentence)
            loaded.page("lifted")
        except WordsightError:
            refused += 1
    assert refused > 60  # most places matter


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
