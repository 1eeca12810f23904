"""The Rollins experiment on a little corpus, and on the real one where it is there."""

import json

import pytest

from experiments.rollins import main, measure, read_corpus
from wordsight.errors import FormatError


@pytest.fixture
def folder(tmp_path):
    lines = []
    things = ("BALL", "DOG", "CUP", "HAT")
    for number in range(60):
        thing, other = things[number % 3], things[(number + 1 + number // 3 % 3) % 4]
        lines += [f"see the {thing.lower()}", f"{thing} {other}", ""]
    lines += ["oh well", ""]
    (tmp_path / "rollins.txt").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "gold.txt").write_text("ball BALL\ndog DOG\ncup CUP\n", encoding="utf-8")
    return tmp_path


def test_reading_keeps_utterances_with_nothing_in_view(folder):
    utterances, scenes = read_corpus(folder / "rollins.txt")
    assert len(utterances) == len(scenes) == 61
    assert utterances[-1] == ["oh", "well"] and scenes[-1] == []


def test_the_report_is_one_json_object(folder, capsys):
    main(["--data", str(folder), "--json"])
    results = json.loads(capsys.readouterr().out)
    assert results["learned"]["f"] == 1.0
    assert results["gold_pairs"] == 3
    main(["--data", str(folder)])
    assert "learned" in capsys.readouterr().out


def test_a_wrong_folder_is_named(tmp_path):
    with pytest.raises(FormatError, match="Rollins"):
        measure(tmp_path)


def test_real_speech_beats_co_occurrence(shared_data):
    results = measure(shared_data("rollins"))
    assert results["learned"]["f"] > 2 * results["conditional_best"]["f"]
