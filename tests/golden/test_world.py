"""Rendered films: what the commands answer, the truth beside the films, and how they look."""

import json

import pytest

from tests.golden.harness import wordsight
from tests.golden.sample import FILMS

pytestmark = pytest.mark.slow

PLACES = ("courtyard", "park", "kerb", "harbour")
LOOKS = {
    "street": ["--clips=12", "--frame-rate=3", *(f"--place={place}" for place in PLACES)],
    "tabletop": ["--films=1", "--frame-rate=10"],
    "workbench": [
        *("--films=1", "--videos-per-protocol=1", "--steps=14", "--frame-rate=5"),
        *("--skip=0.2", "--repeat=0.1", "--swap=0.2"),
    ],
}


def test_films_and_their_truth(golden, films):
    with golden("world", films) as book:
        book.keep("answers", json.loads((films / "world.json").read_text()))
        for name in FILMS:
            book.folder(name, films / name)


@pytest.mark.parametrize("name", LOOKS)
def test_how_films_look(golden, tmp_path, name):
    made = ("-o", "films", "--noise", 0.6, "--seed", 5, "--json")
    answer = wordsight(tmp_path, "world", name, *LOOKS[name], *made)
    assert answer.code == 0, answer.err
    with golden(f"look-{name}", tmp_path) as book:
        book.keep("answer", answer.json)
        for path in sorted((tmp_path / "films").glob("*.mp4")):
            book.film(path.name, path)
        book.file("sentences", tmp_path / "films" / "metadata.jsonl")
        truth = (tmp_path / "films" / "truth.jsonl").read_text(encoding="utf-8")
        book.keep("truth", [json.loads(line) for line in truth.splitlines()], brief=True)
