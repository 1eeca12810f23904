"""Ctrl-C in a terminal while workers work: one line that says so, and nobody stays behind."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from wordsight.library import Library
from wordsight.worlds import street, write_world

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("here")
    write_world(street(2, 3, noise=0.0), folder / "films")
    with Library.create(folder / "library") as made:
        made.add(folder / "films", detector="rendered", workers=1)
    return folder / "library"


@pytest.fixture(scope="module")
def films(library, tmp_path_factory):
    """So many films that nobody is done with them before the test is over."""
    folder = tmp_path_factory.mktemp("many")
    film = next((library.parent / "films").glob("*.mp4")).read_bytes()
    for number in range(100):
        (folder / f"{number}.mp4").write_bytes(film + bytes(number))  # each is another one
    return folder


def workers_of(program):
    """Return the processes that a program has started to work for it."""
    found = []
    for child in psutil.Process(program.pid).children():
        try:
            if "wordsight.engine.worker" in " ".join(child.cmdline()):
                found.append(child)
        except psutil.Error:  # it has ended
            continue
    return found


@pytest.mark.parametrize("pause", [0.0, 0.3, 1.0], ids="{} s later".format)
@pytest.mark.parametrize(
    "command",
    [
        ["add", "{films}", "-L", "new", "-d", "rendered", "-j", "2"],
        ["learn", "-L", "{library}", "--engine", "processes:2", "--restarts", "1000"],
        ["studio", "--demo", "--no-browser", "--port", "0"],
    ],
    ids=lambda command: command[0],
)
def test_control_c_while_workers_work(command, pause, films, library, tmp_path):
    given = [each.format(films=films, library=library) for each in command]
    program = subprocess.Popen(
        [sys.executable, "-m", "wordsight", *given],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    end = time.monotonic() + 120
    while not (workers := workers_of(program)):
        assert time.monotonic() < end and program.poll() is None, "it never had workers"
        time.sleep(0.01)
    time.sleep(pause)  # anywhere in the start and the work of the workers
    workers = workers_of(program) or workers
    os.killpg(program.pid, signal.SIGINT)  # as a terminal does: to all of the group
    _, errors = program.communicate(timeout=120)
    assert program.returncode == 130, errors
    assert errors.strip().endswith(
        "stopped. Nothing is lost: run the same command again to resume."
    )
    assert "Traceback" not in errors
    assert psutil.wait_procs(workers, timeout=120)[1] == []
