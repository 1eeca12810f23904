"""Adding is killed for real, and two processes add at once: nothing is lost, nothing is double."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from wordsight.library import Library

pytestmark = pytest.mark.slow

# The process sets its own end, so that it does not matter how soon a busy machine lets others act:
# the system takes a process down whose alarm nobody handles, without a word of Python.
PROGRAM = """
import json, os, signal, sys
where, artefacts, videos, delay, *paths = json.loads(sys.argv[1])
def end_soon():
    if delay == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    signal.setitimer(signal.ITIMER_REAL, delay)
if videos == 0:
    end_soon()
from wordsight.library import Library
with Library.open(where, artefacts=artefacts, create=True) as library:
    def tell(done, total, what):
        global videos
        print("done", done, flush=True)
        if videos and len(library) >= videos:
            videos = None
            end_soon()
    report = library.add(paths, workers=2, progress=tell)
    print(json.dumps({"added": report.added, "failed": [f.message for f in report.failed]}))
"""


def start_adding(place, paths, videos=None, delay=None):
    """Start a real process that makes the library if need be and adds the paths.

    Args:
        place: The library.
        paths: What to add.
        videos: How many videos must be in it before the process is killed; never if left out.
        delay: Seconds from then to the kill.
    """
    artefacts = place.get("artefacts")
    order = [str(place["where"]), artefacts and str(artefacts), videos, delay, *map(str, paths)]
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, json.dumps(order)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def children_of(pid):
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except FileNotFoundError:
        return []
    return [int(child) for child in text.split()]


def alive_in(group):
    """Return the processes of a group that have not ended."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208
        try:
            state, _, its_group, *_ = (
                Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            )
        except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
            continue
        if int(its_group) == group and state != "Z":
            found.append(int(process))
    return found


def wait_until_gone(group, seconds=120.0):
    """Wait until no process is left of what a process has started."""
    deadline = time.monotonic() + seconds
    while left := alive_in(group):
        assert time.monotonic() < deadline, f"{left} outlived their parent"
        time.sleep(0.02)


def content_of(library):
    """Everything a library holds, without the times at which it came."""
    root = library.folder
    videos = [(v.id, v.path, v.num_frames, v.num_shots, v.num_sentences) for v in library.videos()]
    return {
        "videos": sorted(videos),
        "sentences": sorted((s.video_id, s.text, s.start) for s in library.sentences()),
        "artefacts": sorted((a.video_id, a.kind, a.path, a.sha256) for a in library.artefacts()),
        "files": sorted(str(p.relative_to(root)) for p in root.glob("videos/*/*")),
        "staging": sorted(p.name for p in root.glob("staging/*")),
        "failures": library.failures(),
    }


@pytest.fixture(scope="module")
def folder(tiny_videos, tmp_path_factory):
    """Six videos with a sentence each."""
    folder = tmp_path_factory.mktemp("to add")
    rows = []
    for number, video in enumerate(tiny_videos):
        shutil.copy2(video, folder)
        rows.append({"file_name": video.name, "text": f"Square {number} crossed."})
    (folder / "metadata.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return folder


def answer_of(process):
    """Wait for an undisturbed process and return what it says at the end."""
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return json.loads(output.splitlines()[-1])


@pytest.fixture(scope="module")
def expected(folder, tmp_path_factory):
    """What an undisturbed run makes, and how long starting it and each video takes."""
    place = {"where": tmp_path_factory.mktemp("undisturbed") / "library"}
    began = time.monotonic()
    process = start_adding(place, [folder])
    wait_for_done(process, 1)
    started = time.monotonic() - began
    answer = answer_of(process)
    seconds = time.monotonic() - began
    with Library.open(place["where"]) as library:
        content = content_of(library)
        assert library.verify().clean
    assert len(content["videos"]) == len(content["sentences"]) == len(answer["added"]) == 6
    return content, started, (seconds - started) / 5


def wait_for_done(process, number):
    """Wait until so many videos are done, or the process has ended."""
    for line in process.stdout:
        if line.startswith("done") and float(line.split()[1]) >= number:
            return


def kill_and_complete(place, folder, videos, delay):
    """Kill adding a while after some videos are there, then run it to its end in this process.

    Returns:
        The library, and how many videos were in it when it was killed.
    """
    process = start_adding(place, [folder], videos, delay)
    process.communicate()
    assert delay or process.returncode == -signal.SIGKILL
    wait_until_gone(process.pid)  # the main process only was killed: workers see for themselves
    library = Library.open(**place, create=True)
    kept = len(library)
    assert not library.add(folder, workers=1).failed
    return library, kept


@pytest.mark.parametrize(("backend", "times"), [("sqlite", 12), ("postgresql", 4)])
def test_killed_at_random_moments_nothing_is_lost_or_double(
    backend, times, folder, expected, tmp_path, request
):
    content, started, each = expected
    chance = random.Random(backend)
    for turn in range(times):
        place = {"where": tmp_path / f"library {turn}"}
        if backend == "postgresql":
            url = request.getfixturevalue("new_postgres_url")()
            place = {"where": url, "artefacts": place["where"]}
        # Starting up takes longest; so that every stretch of the work is hit, half of the moments
        # lie anywhere from the start on, and half after one, two, three ... videos are there: of
        # these every other at once, when it is known how many must have been kept.
        videos = 0 if turn % 2 else 1 + turn // 2 % 5
        delay = chance.uniform(0.001, each if videos else started + 3 * each) if turn % 4 else 0.0
        library, kept = kill_and_complete(place, folder, videos, delay)
        with library:
            assert kept == videos if delay == 0 else kept >= videos
            assert library.verify().clean, f"killed {delay:.3f} s after {videos} videos"
            assert content_of(library) == content, f"killed {delay:.3f} s after {videos} videos"


def test_two_processes_adding_the_same_do_it_once(place, folder, expected):
    videos = sorted(folder.glob("*.mp4"))
    processes = [
        start_adding(place, [*videos[:4], folder / "metadata.jsonl"]),
        start_adding(place, [*reversed(videos[2:]), folder / "metadata.jsonl"]),
    ]
    answers = [answer_of(process) for process in processes]
    assert all(answer["failed"] == [] for answer in answers)
    added = [video for answer in answers for video in answer["added"]]
    assert sorted(added) == sorted(video[0] for video in expected[0]["videos"])
    with Library.open(**place) as library:
        assert library.verify().clean
        assert content_of(library) == expected[0]


def test_control_c_stops_cleanly_and_keeps_what_is_done(tmp_path, folder, expected):
    place = {"where": tmp_path / "library"}
    process = start_adding(place, [folder])
    deadline = time.monotonic() + 120
    while not children_of(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of the group
    _, errors = process.communicate(timeout=120)
    assert process.returncode != 0
    # The main program's own interrupt, not one of the workers; nor one that was still starting.
    assert len(re.findall("^KeyboardInterrupt", errors, re.MULTILINE)) == 1, errors
    assert "Fatal" not in errors
    wait_until_gone(process.pid)
    with Library.open(**place, create=True) as library:
        assert library.verify().clean
        assert library.add(folder, workers=1).ok
        assert content_of(library) == expected[0]
