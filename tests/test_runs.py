"""Results that are kept: the last of each program, and nothing breaks over them."""

import pytest

from wordsight.runs import keep_run, kept_runs, runs_folder


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("WORDSIGHT_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


def test_the_last_run_of_each_program_is_kept(folder):
    keep_run("experiments.a", "python -m experiments.a", {"x": 1})
    keep_run("experiments.a", "python -m experiments.a --json", {"x": 2})
    keep_run("benchmarks.b", "python -m benchmarks.b", {"y": 3})
    found = kept_runs()
    assert [run.name for run in found] == ["benchmarks.b", "experiments.a"]
    assert found[1].results == {"x": 2} and "--json" in found[1].command


def test_what_cannot_be_kept_or_read_is_left_out(folder):
    keep_run("experiments.odd", "", {"x": object()})
    keep_run("experiments.good", "", {"x": 1})
    (folder / "experiments.broken.json").write_text("{")
    (folder / "experiments.other.json").write_text('{"name": 1}')
    assert [run.name for run in kept_runs()] == ["experiments.good"]


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WORDSIGHT_RUNS", str(tmp_path / "file"))
    keep_run("experiments.a", "", {})
    assert kept_runs() == []


def test_the_users_data_folder_is_the_default(monkeypatch, tmp_path):
    monkeypatch.delenv("WORDSIGHT_RUNS")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert runs_folder() == tmp_path / "wordsight" / "runs"
