"""A collection from the command line: the way a newcomer goes, and the ways it goes wrong."""

import json

import pytest


@pytest.mark.slow
def test_the_way_of_a_newcomer(run, footage):
    assert run("init").code == 0
    added = run("add", footage, "-s", "The square approached the wall.", "--json").json
    (video,) = added["added"]
    assert added["num_sentences"] == 1
    assert not added["failed"]

    assert video in run("list").out
    (entry,) = run("list", "--json").json
    assert (entry["width"], entry["height"], entry["num_shots"]) == (160, 120, 2)

    shown = run("show", video[:5])
    assert "The square approached the wall." in shown.out
    details = run("show", video, "--json").json
    assert [shot["start_frame"] for shot in details["shots"]] == [0, 24]

    assert run("verify").code == 0
    again = run("add", footage, "--json").json
    assert (again["added"], len(again["skipped"])) == ([], 1)

    assert run("remove", video).code == 0
    assert footage.exists()
    assert run("list", "--json").json == []


@pytest.mark.slow
def test_a_library_elsewhere(run, footage, tmp_path, monkeypatch):
    assert run("add", footage, "-L", tmp_path / "here" / "my lib").code == 0
    assert len(run("list", "--library", tmp_path / "here" / "my lib", "--json").json) == 1
    monkeypatch.setenv("WORDSIGHT_LIBRARY", str(tmp_path / "here" / "my lib"))
    assert len(run("list", "--json").json) == 1


@pytest.mark.slow
def test_what_fails_is_listed_and_the_rest_is_added(run, footage, tmp_path):
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "letter.mp4").write_text("Dear video,")
    answer = run("add", tmp_path / "empty.mp4", tmp_path / "letter.mp4", footage, "--json")
    assert answer.code == 1
    assert len(answer.json["added"]) == 1
    assert {failure["path"].rsplit("/", 1)[-1] for failure in answer.json["failed"]} == {
        "empty.mp4",
        "letter.mp4",
    }
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["list"], "there is no library"),  # before init
        (["list", "-L", "postgresql://127.0.0.1:1/none"], "127.0.0.1"),  # nobody answers
        (["list", "-L", "nonsense://x"], "nonsense"),  # not a database we know
        (["add", "nowhere.mp4"], "nowhere.mp4"),  # no such file
    ],
)
def test_a_clear_word_instead_of_a_traceback(run, arguments, words):
    answer = run(*arguments)
    assert answer.code == 1
    assert words in answer.err
    assert "Traceback" not in answer.err


def test_errors_are_json_too_when_asked(run):
    answer = run("list", "--json")
    assert answer.code == 1
    assert json.loads(answer.out)["error"]["kind"] == "LibraryError"


def test_making_a_library_twice_is_refused(run):
    assert run("init", "lib").code == 0
    assert "already" in run("init", "lib").err


def test_a_video_that_is_not_there(run):
    run("init")
    assert "no video 'ghost'" in run("show", "ghost").err
    assert run("remove", "ghost").code == 1


@pytest.mark.slow
def test_damage_is_found(run, footage, tmp_path):
    run("add", footage)
    (victim,) = (tmp_path / "wordsight-library").rglob("detections*.npz")
    victim.write_bytes(victim.read_bytes()[:-1] + b"?")
    answer = run("verify", "--json")
    assert answer.code == 1
    assert answer.json["ok"] is False
    assert answer.json["problems"][0]["kind"] == "changed"
