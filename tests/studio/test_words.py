"""Words in the studio: changes by hand, their effect, versions, and the course of learning."""

import numpy as np
import pytest

from tests.studio.conftest import finished
from wordsight.attributes import AttributeLearner
from wordsight.errors import WordsightError
from wordsight.library import Library
from wordsight.meaning import LearnedLexicon
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.studio.jobs.lexicon import LearningCurve, read_curve, watched, write_curve
from wordsight.workflows.annotator import ClipAnnotator, load_annotator
from wordsight.workflows.word_edits import (
    edited,
    effects_of,
    keep_version,
    list_versions,
    load_version,
    restore_version,
)

WORD = "/api/v1/lexicon/words/approached"


@pytest.fixture(scope="module")
def words(street_library):
    with Library.open(street_library / "library") as library:
        return hand_lexicon(library.detections(library.videos()[0].id).label_names)


@pytest.fixture
def folder(words, library):
    words.save(library / "lexicon")
    return library


def edit(shares, feature="closing", roles=(0, 1), state=1):
    return {"feature": feature, "roles": list(roles), "state": state, "shares": shares}


def table(lexicon, feature="closing"):
    word = lexicon["approached"]
    return next(t for s, t in zip(word.slots, word.emissions, strict=True) if s.feature == feature)


def test_an_edit_changes_one_row_and_sums_to_one(words):
    changed = edited(words, "approached", [edit([0, 3, 1])])
    assert table(changed)[1] == pytest.approx([0, 0.75, 0.25], abs=1e-5)
    assert table(changed).sum(axis=1) == pytest.approx(1) and (table(changed) > 0).all()
    assert (table(changed)[[0, 2]] == table(words)[[0, 2]]).all()
    others = [entry for entry in words.words if entry != "approached"]
    assert all(changed[entry] is words[entry] for entry in others)


@pytest.mark.parametrize(
    ("entry", "wanted"),
    [
        ("flew", edit([1, 1, 1])),  # no such word
        ("approached", edit([1, 1])),  # too few
        ("approached", edit([0, 0, 0])),  # nothing
        ("approached", edit([1, -1, 1])),  # less than nothing
        ("approached", edit([1, float("nan"), 1])),  # no number
        ("approached", edit([1, 1, 1], state=3)),  # no such state
        ("approached", edit([1, 1, 1], feature="smell")),  # no such feature
        ("approached", edit([1, 1, 1], roles=[1, 0])),  # not measured that way round
    ],
)
def test_bad_edits_are_refused(words, entry, wanted):
    with pytest.raises(WordsightError):
        edited(words, entry, [wanted])


@pytest.mark.slow
def test_effects_are_the_scores_before_and_after(words, library):
    changed = edited(words, "approached", [edit([0.001, 0.001, 0.998], state=s) for s in range(3)])
    with Library.open(library) as opened:
        same = effects_of(opened, "approached", words, words, lambda *_: None)
        found = effects_of(opened, "approached", words, changed, lambda *_: None)
    assert same and all(one.before == one.after for one in same)
    assert {(one.video_id, one.sentence) for one in same} == {
        (one.video_id, one.sentence) for one in found
    }
    assert all("approached" in one.sentence for one in found)
    moved = sum(one.after - one.before for one in found if one.said)
    assert moved < 0  # whoever approaches does not part
    flips = [one.holds_before != one.holds_after for one in found]
    assert flips == sorted(flips, reverse=True)  # decisions that flip come first


@pytest.mark.slow
def test_versions_return_bit_for_bit(words, folder):
    assert keep_version(folder / "lexicon", "first").number == 1
    edited(words, "approached", [edit([1, 1, 1])]).save(folder / "lexicon", overwrite=True)
    restore_version(folder / "lexicon", 1)
    again = LearnedLexicon.load(folder / "lexicon")
    assert all(np.array_equal(table(again), table(words)) for _ in range(1))
    assert [one.note for one in list_versions(folder / "lexicon")] == [
        "before going back to version 1",
        "first",
    ]
    assert table(load_version(folder / "lexicon", 2))[1] == pytest.approx([1 / 3] * 3)
    with pytest.raises(WordsightError, match="no version 9"):
        restore_version(folder / "lexicon", 9)


def test_nothing_is_kept_where_nothing_was_learned(tmp_path):
    assert keep_version(tmp_path / "words", "empty") is None
    assert list_versions(tmp_path / "words") == []


@pytest.mark.slow
def test_the_api_tries_saves_and_goes_back(client, folder):
    before = client.get(WORD).json()
    wanted = {"edits": [edit([0, 0, 1])]}
    job = finished(client, client.post(f"{WORD}/compare", json=wanted).json()["id"])
    assert job["state"] == "done", job
    result = job["result"]
    assert result["sentences"] == len(result["rows"]) > 0 and result["flips"] >= 0
    assert client.get(WORD).json() == before  # trying changes nothing
    assert client.put(WORD, json=wanted).status_code == 200
    assert client.get(WORD).json() != before
    (version,) = client.get("/api/v1/lexicon/versions").json()
    assert "approached was changed" in version["note"]
    shown = client.get("/lexicon/approached", params={"version": version["number"]})
    assert shown.status_code == 200 and "version 1" in shown.text
    against = client.post(f"{WORD}/compare", json={"version": version["number"]}).json()
    assert finished(client, against["id"])["state"] == "done"
    assert client.post("/api/v1/lexicon/versions/1/restore").status_code == 200
    assert client.get(WORD).json() == before
    for bad in ({"edits": []}, {"edits": [edit([1])]}, {}):  # nothing, too few, not even that
        assert client.put(WORD, json=bad).status_code == 422
    assert client.post(f"{WORD}/compare", json={"version": 99}).status_code in (404, 422)
    assert client.post("/api/v1/lexicon/versions/99/restore").status_code in (404, 422)


@pytest.mark.slow
def test_examples_are_looked_for_once(client, folder):
    assert client.get(f"{WORD}/examples").json()["job"] is None  # who only looks begins nothing
    first = client.post(f"{WORD}/examples").json()
    assert not first["surest"]
    assert "Looking" in client.post("/parts/examples/approached").text
    assert finished(client, first["job"]["id"])["state"] == "done"
    found = client.get(f"{WORD}/examples").json()
    assert found["job"]["id"] == first["job"]["id"] and found["surest"]
    assert found["surest"][0]["fit"] >= found["least"][0]["fit"]
    assert "approached" in client.post("/parts/examples/approached").text
    assert client.get("/api/v1/lexicon/words/flew/examples").status_code == 422


def test_the_course_grows_with_the_checkpoint(tmp_path, monkeypatch):
    write_curve(tmp_path, LearningCurve([[1.0, 2.0]], [0.5]))
    told, grown = [], [([[-3.0]], []), ([[-3.0, -2.0]], []), ([[-3.0, -2.0], [-1.0]], [0.1])]
    monkeypatch.setattr(
        "wordsight.studio.jobs.lexicon.read_training_history", lambda _: grown[len(told)]
    )
    monkeypatch.setattr("wordsight.studio.jobs.lexicon._EVERY", 0.0)
    progress = watched(lambda *step: told.append(step), tmp_path / "none.npz", tmp_path)
    assert read_curve(tmp_path).restarts == [[-3.0]]  # that of an earlier learning is over
    seen = []
    for step in range(1, 3):
        progress(step, 2, "step")
        seen.append(read_curve(tmp_path))
    assert [len(course.restarts) for course in seen] == [1, 1] and len(told) == 2
    assert seen[1].restarts == [[-3.0, -2.0]]


def test_a_course_that_cannot_be_read_is_none(tmp_path):
    assert read_curve(tmp_path) == LearningCurve()
    (tmp_path / "lexicon-history.json").write_text("[[1.0, 2.0]]")  # as it was written before
    assert read_curve(tmp_path).restarts == [[1.0, 2.0]]
    (tmp_path / "lexicon-history.json").write_text("{")
    assert read_curve(tmp_path) == LearningCurve()


@pytest.mark.slow
def test_taught_words_stay_beside_a_lexicon_that_is_changed_and_restored(words, folder, client):
    pictures = [np.full((16, 16, 3), value, np.uint8) for value in (10, 240) * 6]
    taught = AttributeLearner(num_attributes=1, random_state=0)
    ClipAnnotator(taught.fit(pictures, ["black", "white"] * 6)).save(folder / "lexicon")
    assert client.put(WORD, json={"edits": [edit([0, 3, 1])]}).status_code == 200
    assert load_annotator(folder / "lexicon") is not None
    restore_version(folder / "lexicon", 1)
    assert load_annotator(folder / "lexicon").groups == (("black", "white"),)


@pytest.mark.slow
def test_adjectives_need_taught_words(folder, client):
    begun = client.post("/api/v1/lexicon/learn", json={"attributes": True})
    job = finished(client, begun.json()["id"])
    assert job["state"] == "failed" and "Attributes page" in job["message"]
