"""Adding is killed for real, and two processes add at once: nothing is lost, nothing is double."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from wordsight.library import Library

PROGRAM = """
import json, sys
from wordsight.library import Library
where, artefacts, workers, *paths = json.loads(sys.argv[1])
with Library.open(where, artefacts=artefacts, create=True) as library:
    tell = lambda done, total, what: print("done", done, flush=True)
    report = library.add(paths, workers=workers, progress=tell)
    print(json.dumps({"added": report.added, "failed": [f.message for f in report.failed]}))
"""


def start_adding(place, paths, workers=2):
    """Start a real process that makes the library if need be and adds the paths."""
    artefacts = place.get("artefacts")
    order = [str(place["where"]), artefacts and str(artefacts), workers, *map(str, paths)]
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


def is_gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_until_gone(pids, seconds=15.0):
    deadline = time.monotonic() + seconds
    while not all(map(is_gone, pids)):
        assert time.monotonic() < deadline, f"{pids} outlived their parent"
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
    output, errors = process.communicate(timeout=120)
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


def kill_and_complete(place, folder, done, delay):
    """Kill adding a while after some videos are done, then run it to its end in this process.

    Returns:
        The library, and how many videos were in it when it was killed.
    """
    process = start_adding(place, [folder])
    if done:
        wait_for_done(process, done)
    time.sleep(delay)
    workers = children_of(process.pid)
    process.kill()  # the main process only: its workers must see for themselves
    process.communicate()
    wait_until_gone(workers)
    library = Library.open(**place, create=True)
    kept = len(library)
    assert not library.add(folder, workers=1).failed
    return library, kept


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "times"), [("sqlite", 20), ("postgresql", 6)])
def test_killed_at_random_moments_nothing_is_lost_or_double(
    backend, times, folder, expected, tmp_path, request
):
    content, started, each = expected
    chance = random.Random(backend)
    kept_at_kill = []
    for turn in range(times):
        place = {"where": tmp_path / f"library {turn}"}
        if backend == "postgresql":
            url = request.getfixturevalue("new_postgres_url")()
            place = {"where": url, "artefacts": place["where"]}
        # Starting up takes longest; so that every stretch of the work is hit, half of the moments
        # lie anywhere from the start on, and half after one, two, three ... videos are done.
        done = 0 if turn % 2 else 1 + turn // 2 % 5
        delay = chance.uniform(0, each if done else started + 3 * each)
        library, kept = kill_and_complete(place, folder, done, delay)
        with library:
            kept_at_kill.append(kept)
            assert library.verify().clean, f"killed {delay:.3f} s after {done} videos"
            assert content_of(library) == content, f"killed {delay:.3f} s after {done} videos"
    assert len(set(kept_at_kill)) > 2, f"always killed at the same stage: {kept_at_kill}"


@pytest.mark.slow
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


@pytest.mark.slow
def test_control_c_stops_cleanly_and_keeps_what_is_done(tmp_path, folder, expected):
    place = {"where": tmp_path / "library"}
    process = start_adding(place, [folder])
    deadline = time.monotonic() + 60
    while not children_of(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    workers = children_of(process.pid)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of the group
    _, errors = process.communicate(timeout=30)
    assert process.returncode != 0
    assert errors.count("Traceback") <= 1  # the main program's own, not the workers'
    wait_until_gone(workers)
    with Library.open(**place, create=True) as library:
        assert library.verify().clean
        assert library.add(folder, workers=1).ok
        assert content_of(library) == expected[0]
