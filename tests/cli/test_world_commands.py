"""Rendered worlds from the command line, ready for the library."""

import json

import pytest


@pytest.mark.slow
def test_street_films_go_straight_into_a_library(run, tmp_path):
    made = run("world", "street", "--clips", 2, "--seed", 5, "-o", "films", "--json")
    assert made.json == {"folder": "films", "films": 2}
    assert len(list((tmp_path / "films").glob("*.mp4"))) == 2
    truth = (tmp_path / "films" / "truth.jsonl").read_bytes()
    report = run("add", "films", "--json").json
    assert len(report["added"]) == 2
    rows = (tmp_path / "films" / "metadata.jsonl").read_text().splitlines()
    assert report["num_sentences"] == len(rows)
    run("world", "street", "--clips", 2, "--seed", 5, "-o", "again")
    assert (tmp_path / "again" / "truth.jsonl").read_bytes() == truth


@pytest.mark.slow
def test_the_other_worlds(run, tmp_path):
    run("world", "tabletop", "--films", 1, "--event", "stack", "-o", "blocks")
    (truth,) = (tmp_path / "blocks" / "truth.jsonl").read_text().splitlines()
    assert json.loads(truth)["event"]["name"] == "stack"
    run("world", "workbench", "--films", 1, "--steps", 10, "--noise", 0, "-o", "bench")
    assert (tmp_path / "bench" / "workbench-000-a.txt").read_text().startswith("Step 1")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["street", "--clips", "0"], "clips"),  # no films at all
        (["street", "--place", "parc"], "park"),  # a place that is nearly there
        (["tabletop", "--event", "juggle"], "juggle"),  # not an event
        (["workbench", "--skip", "2"], "skip"),  # not a chance
    ],
)
def test_bad_wishes_are_refused_in_plain_words(run, arguments, words):
    answer = run("world", *arguments, "-o", "films")
    assert answer.code == 1
    assert words in answer.err
    assert "Traceback" not in answer.err


def test_a_folder_in_use_is_refused(run, tmp_path):
    (tmp_path / "films").mkdir()
    (tmp_path / "films" / "diary.txt").write_text("mine")
    answer = run("world", "street", "--clips", 1, "-o", "films")
    assert (answer.code, "--force" in answer.err) == (1, True)
    assert (tmp_path / "films" / "diary.txt").read_text() == "mine"
