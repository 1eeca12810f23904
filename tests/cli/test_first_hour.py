"""The commands of the guide "Your first hour", run as they stand on the films it names."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from experiments.data.film_things import FILM_THINGS
from wordsight.cli.options import DEFAULT_LIBRARY
from wordsight.library import Library
from wordsight.perception import Tracker
from wordsight.perception.networks import network_path

ROOT = Path(__file__).resolve().parents[2]
FILMS = ROOT.parent / "shared" / "data" / "films"
NETWORK = (
    ROOT.parent / "shared" / "weights" / "picodet_s" / "picodet_s_coco80_416_yolov8layout.onnx"
)
GUIDE = ROOT / "docs" / "guides" / "first_hour.md"


def commands():
    """Return the command lines of the page."""
    blocks = re.findall(r"```console\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]


def test_the_guide_shows_the_way_to_a_search():
    verbs = [line.split()[1] for line in commands()]
    assert verbs[:2] == ["add", "learn"] and {"describe", "track", "search"} <= set(verbs)


@pytest.mark.slow
def test_the_commands_do_what_the_guide_says(run, tmp_path, monkeypatch):
    if not FILMS.exists() or not NETWORK.exists():
        pytest.skip("the films, or the network objects, are not in ../shared")
    monkeypatch.setenv("WORDSIGHT_CACHE", str(tmp_path / "cache"))
    network_path("objects").parent.mkdir(parents=True)
    shutil.copy(NETWORK, network_path("objects"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "films").symlink_to(FILMS)
    found = {}
    for line in commands():
        arguments = shlex.split(line)[1:]
        if arguments[0] == "add":  # the guide looks at ten frames a second, for minutes
            arguments += ["--rate", "5"]
        done = run(*arguments)
        assert done.code == 0, f"{line}: {done.err}"
        found[line] = done.out
    assert (tmp_path / "who.mp4").stat().st_size > 1000
    for line in commands():
        if line.startswith("wordsight search"):
            film = "bottle" if "bottle" in line else "one-by-one"
            assert f"{film}-" in found[line], f"{line} found nothing:\n{found[line]}"
    with Library.open(tmp_path / DEFAULT_LIBRARY) as library:
        seen = [library.detections(video.id) for video in library.videos()]
    tracks = [len(Tracker().track(detections)) for detections in seen]
    assert sum(tracks) <= 2 * sum(film.things for film in FILM_THINGS.values()), tracks
