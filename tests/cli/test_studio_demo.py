"""The studio's sample library: films, a workbench, and jobs for what is not there yet."""

import socket

import pytest

from wordsight.cli.output import Output, Style
from wordsight.library import Library
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.studio.demo import demo_library
from wordsight.studio.jobs.store import JobStore

pytestmark = pytest.mark.slow


def jobs(library):
    return sorted(job.kind for job in JobStore(library / "studio" / "jobs.sqlite").list())


def test_the_sample_is_made_once(tmp_path):
    output = Output(Style(quiet=True))
    library = demo_library(output, tmp_path, films=3)
    with Library.open(library) as opened:
        names = sorted(video.name for video in opened.videos())
    assert names == ["street-000.mp4", "street-001.mp4", "street-002.mp4", "workbench.mp4"]
    assert jobs(library) == ["align", "index", "learn"]
    assert demo_library(output, tmp_path, films=3) == library
    assert jobs(library) == ["align", "index", "learn"]  # nothing is asked for twice


def test_what_the_demo_has_learned_is_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Library.create("demo/library"):
        pass
    hand_lexicon(["person", "chair"]).save("demo/library/lexicon")
    library = demo_library(Output(Style(quiet=True)), films=3)
    assert library.parts[0] == "demo" and not (tmp_path / "studio-demo").exists()
    assert jobs(library) == ["align", "index"]  # its words are there already
    with Library.open(library) as opened:
        assert [video.name for video in opened.videos()] == ["workbench.mp4"]


def test_a_port_that_is_taken_is_said_before_films_are_rendered(run, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        found = run("studio", "--demo", "--no-browser", "--port", port)
    assert found.code == 1 and "cannot listen" in found.err
    assert not (tmp_path / "studio-demo").exists()


def test_progress_is_written_in_lines_where_no_bar_can_be_drawn(capsys, monkeypatch):
    monkeypatch.setattr("wordsight.cli.output._LINE_EVERY", 0.0)
    with Output(Style()).progress("Rendering") as progress:
        progress(3, 30, "films")
    assert "Rendering: 3 of 30" in capsys.readouterr().err
    with Output(Style(quiet=True)).progress("Rendering") as progress:
        progress(4, 30, "films")
    assert not capsys.readouterr().err
