"""The form every experiment prints in."""

import json

import pytest

from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.errors import WordsightError

RESULTS = {"street": {"mota": 62.7, "name": "Straße", "none": None}}


def test_json_is_one_object_on_standard_output(capsys):
    say("working")
    print_report(RESULTS, as_json=True, columns=[Column("mota", "MOTA")], rows=[{"mota": 1.0}])
    printed = capsys.readouterr()
    assert json.loads(printed.out) == RESULTS
    assert printed.err == "working\n"


def test_the_table_shows_every_value(capsys):
    columns = [
        Column("name", "name", justify="left"),
        Column("mota", "MOTA %"),
        Column("misses", "missed"),
    ]
    rows = [{"name": "a rather long name " * 3, "mota": 62.74, "misses": 3}, {"name": "b"}]
    print_report(RESULTS, as_json=False, title="Title", columns=columns, rows=rows, notes=["Note."])
    printed = capsys.readouterr().out
    for text in ("Title", "MOTA %", "a rather long name " * 2, "62.7", "3", "Note."):
        assert text in printed


def test_nan_is_never_printed_as_json():
    with pytest.raises(ValueError, match="JSON"):
        print_report({"mota": float("nan")}, as_json=True)


def test_the_parser_asks_for_data_only_where_needed(tmp_path):
    with_data = report_parser("experiments.x", "Does x.", "folder of x")
    assert with_data.parse_args(["--data", str(tmp_path), "--json"]).data == tmp_path
    with pytest.raises(SystemExit):
        with_data.parse_args([])
    assert report_parser("experiments.y", "Does y.").parse_args([]).json is False


def test_what_is_wrong_with_the_input_is_told_in_a_line():
    def main():
        raise WordsightError("clips.jsonl is missing.")

    with pytest.raises(SystemExit) as stopped:
        run_main(main)
    assert stopped.value.code == "clips.jsonl is missing."  # printed to stderr; the status is 1
    assert run_main(lambda: None) is None


def test_mistakes_of_ours_are_not_hidden():
    with pytest.raises(ZeroDivisionError):
        run_main(lambda: 1 // 0)
