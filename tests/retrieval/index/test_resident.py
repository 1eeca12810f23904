"""Shards that stay with the workers that made them: two workers, each with a folder of its own."""

import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from tests.library.conftest import make_video
from wordsight.engine import EngineError, Processes
from wordsight.engine.cluster import Cluster
from wordsight.errors import WordsightError
from wordsight.library import Library
from wordsight.library.catalog.queries import NewSentence
from wordsight.retrieval import Index, JointQuery, JointSearch, RetrievalError
from wordsight.retrieval.index import resident
from wordsight.retrieval.index.reader import RESIDENT
from wordsight.retrieval.index.resident_search import ResidentIndex, ResidentSearch
from wordsight.retrieval.index.segments import Manifest
from wordsight.video import VideoReader
from wordsight.workflows.index import IndexRequest, index, index_folder, open_index, update_index
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.search import search

pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
pytestmark = pytest.mark.slow

SAID = ("a red square moves", "a green square rests", "a blue square moves to the left")


class Machines:
    """A scheduler and workers, as ``dask scheduler`` and ``dask worker`` start them."""

    def __init__(self, folder):
        self.folder, self.processes = folder, {}
        self.file = folder / "scheduler.json"
        self._start("scheduler", "--port", "0", "--no-dashboard")
        while not self.file.exists():
            time.sleep(0.1)

    def start(self, name):
        self._start(name, "--no-nanny", "--no-dashboard", "--nthreads", "1")
        return self

    def _start(self, name, *options):
        what = "scheduler" if name == "scheduler" else "worker"
        self.processes[name] = subprocess.Popen(
            [sys.executable, "-m", "dask", what, "--scheduler-file", self.file, *options],
            env={**os.environ, "WORDSIGHT_SHARDS": str(self.folder / name)},
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def kill(self, name):
        process = self.processes.pop(name)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def shards(self, name):
        return sorted(self.folder.glob(f"{name}/*/shard-*"))

    def close(self):
        for name in list(self.processes):
            self.kill(name)


@pytest.fixture
def machines(tmp_path):
    folder = tmp_path / "machines"
    folder.mkdir()
    started = Machines(folder)
    yield started.start("one").start("two")
    started.close()


@pytest.fixture
def engine(machines):
    from distributed import Client

    with Client(scheduler_file=str(machines.file)) as client:
        client.wait_for_workers(2, timeout=120)
        address = client.scheduler_info()["address"]
    with Cluster(address) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("resident")
    with Library.create(folder / "library") as library:
        for number, said in enumerate((*SAID, *SAID)):
            film = make_video(folder / f"film {number}.mp4", seconds=6.0, seed=number)
            library.add(film, workers=1, sentences=[said])
        yield library


@pytest.fixture(scope="module")
def alone(library, tmp_path_factory):
    """The same index in one place."""
    folder = tmp_path_factory.mktemp("alone")
    index(library, IndexRequest(index=folder, components=2))
    return Index(folder)


def make(library, folder, engine, **options):
    """Index as the command does; return the report."""
    visual = IndexRequest(components=2).visual
    return update_index(library, folder, engine=engine, visual=visual, resident=True, **options)


def queries(search, picture, excluded):
    words = search.text.query("red square moves")
    samples = search.index.visual.features.samples(picture)
    return [
        (JointQuery(words), 20, False),
        (JointQuery(words), 20, True),
        (JointQuery(None, samples), 3, False),
        (JointQuery(words, samples), 20, False),
        (JointQuery(words, samples, frozenset({search.index.shots_of(excluded)[0][0]})), 20, False),
    ]


def assert_same(found, expected):
    assert [hit.document for hit in found] == [hit.document for hit in expected]
    for name in ("score", "text", "visual"):
        ours, theirs = ([getattr(h, name) for h in hits] for hits in (found, expected))
        assert [one is None for one in ours] == [one is None for one in theirs]
        if None not in ours:
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


def test_each_worker_keeps_and_searches_the_shard_it_made(
    library, alone, machines, engine, tmp_path
):
    folder = tmp_path / "index"
    report = make(library, folder, engine)
    assert len(report.added) == 6 and not report.failed
    held = [machines.shards(name) for name in ("one", "two")]
    assert [len(each) for each in held] == [1, 1]  # both worked, each on its own disk
    counts = [len(Index(each[0])) for each in held]
    assert min(counts) > 0 and sum(counts) == len(alone)
    assert not list(folder.glob("segment-*"))  # nothing came here

    film = library.videos()[0]
    with VideoReader(film.path) as reader:
        picture = reader.frame_at(1.0).image
    ours, one = ResidentSearch(ResidentIndex(folder, engine)), JointSearch(alone)
    # The weights of shot and film are learned from the largest shard, which is not the whole.
    smoothing = ours.text.smoothing
    one.text.__dict__["smoothing"] = smoothing
    for (query, k, everything), (other, _, _) in zip(
        queries(ours, picture, film.id), queries(one, picture, film.id), strict=True
    ):
        assert_same(
            ours.search(query, k, everything=everything),
            one.search(other, k, everything=everything),
        )
    assert sorted(d.id for d in ours.index.documents) == sorted(d.id for d in alone.documents)
    assert make(library, folder, engine).unchanged == tuple(v.id for v in library.videos())


def test_a_search_says_what_is_missing_when_a_worker_goes_away(
    library, machines, engine, tmp_path, monkeypatch
):
    monkeypatch.setattr(resident, "_BACK", 1.0)
    folder = index_folder(library, None)
    shutil.rmtree(folder, ignore_errors=True)
    address = engine._client.scheduler_info()["address"]
    index(library, IndexRequest(engine=address, resident=True))
    asked = {"engine": address, "by": "said", "top": 50}
    whole = search(library, "square", **asked)
    assert not any("not searched" in note for note in whole.warnings)
    for options in (
        {"like": f"{library.videos()[1].id}@2"},
        {"text": "red", "expand": True, "rank": "video"},
    ):
        assert search(library, **{**asked, **options}).moments

    ours = open_index(library, folder, RecordingReporter(), engine=engine)
    asking = ResidentSearch(ours)
    words = JointQuery(asking.text.query("square"))
    before = asking.search(words, 50)
    kept = {v for path in machines.shards("two") for v in Index(path).videos()}
    machines.kill("two")
    left = asking.search(words, 50)  # lost between two questions
    assert {h.document.video_id for h in left} == {v.id for v in library.videos()} - kept
    assert f"{len(kept)} video" in ours.missing and str(machines.folder / "two") in ours.missing

    partly = search(library, "square", **asked)
    assert {m.video_id for m in partly.moments} == {v.id for v in library.videos()} - kept
    assert any("not searched" in note and "dask worker" in note for note in partly.warnings)

    machines.start("two")  # its shard is still on its disk
    engine._client.wait_for_workers(2, timeout=120)
    again = search(library, "square", **asked)
    assert again.moments == whole.moments and len(before) == len(whole.moments)

    machines.kill("two")  # for good: what it had is indexed by who is there
    while len(engine.stations()) > 1:
        time.sleep(0.1)
    report = index(library, IndexRequest(engine=address)).report
    assert set(report.added) == kept
    assert {m.video_id for m in search(library, "square", **asked).moments} == {
        v.id for v in library.videos()
    }
    machines.start("two")  # and when it comes back all the same, nothing is there twice
    engine._client.wait_for_workers(2, timeout=120)
    index(library, IndexRequest(engine=address))
    assert machines.shards("two") == []
    assert len(search(library, "square", **asked).moments) == len(whole.moments)

    with pytest.raises(WordsightError, match="kept by the workers"):
        search(library, "square", by="said")
    shutil.rmtree(folder)


def test_videos_that_change_or_go_are_taken_out_of_their_shards(machines, engine, tmp_path):
    with Library.create(tmp_path / "library") as library:
        for number in range(3):
            film = make_video(tmp_path / f"film {number}.mp4", seconds=4.0, seed=number)
            library.add(film, workers=1, sentences=[SAID[number]])
        folder = tmp_path / "index"
        make(library, folder, engine)
        first, second, third = (video.id for video in library.videos())
        library.remove(first)
        library.set_sentences(second, [NewSentence("a yellow circle")])
        report = make(library, folder, engine)
        assert (report.removed, report.added) == ((first,), (second,))
        ours = ResidentSearch(ResidentIndex(folder, engine))
        found = ours.search(JointQuery(ours.text.query("yellow circle")), 10)
        assert {hit.document.video_id for hit in found} == {second}
        videos = [v for n in ("one", "two") for p in machines.shards(n) for v in Index(p).videos()]
        assert sorted(videos) == sorted((second, third))
        _, listed = resident.listed_shards(Manifest.read(folder))
        assert sorted(v for shard in listed.values() for v in shard.videos) == sorted(videos)
        assert RESIDENT in Manifest.read(folder).settings


def test_other_engines_have_no_disks_of_their_own(library, tmp_path):
    with pytest.raises(RetrievalError, match="Dask cluster; give its address"):
        make(library, tmp_path / "index", Processes(2))
    with pytest.raises(EngineError, match="not machines of their own"):
        Processes(2).map_at(abs, {"one": 1})
