"""Adding, indexing and rule discovery: the same from every engine, also when workers are killed."""

import os
import signal
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.engine.jobs import worker_processes
from tests.library.conftest import make_video
from tests.meaning.plays import LEXICON, troupe
from tests.states.builders import HOLDING, carrying
from wordsight.engine import Processes, Serial
from wordsight.library import Library
from wordsight.meaning import WordLearner
from wordsight.retrieval import Index, VisualSettings, build_index
from wordsight.retrieval.text import TEXT, Analyser, TextPart
from wordsight.states import BoostingSettings, StateLearningSettings, StateModel
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.searcher import grounded_hits

pytestmark = pytest.mark.slow

SMALL = VisualSettings(num_components=2, longest=64)


@pytest.fixture(params=["processes", "dask"])
def engine(request):
    return Processes(2) if request.param == "processes" else request.getfixturevalue("cluster")


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    folder = tmp_path_factory.mktemp("films")
    for number in range(3):
        make_video(folder / f"film {number}.mp4", seconds=8.0, seed=number)
    (folder / "broken.mp4").write_bytes(b"this is no video")
    return folder


def content(library):
    """What must not depend on who did the work."""
    return (
        [(v.id, v.num_frames, v.num_shots) for v in library.videos()],
        sorted((a.kind, a.path, a.sha256, a.size) for a in library.artefacts()),
        [f.path for f in library.failures()],
    )


@pytest.fixture(scope="module")
def added(films, tmp_path_factory):
    with Library.create(tmp_path_factory.mktemp("serial") / "library") as library:
        library.add(films, engine=Serial())
        yield library


def workers_of(engine):
    if isinstance(engine, Processes):
        return worker_processes()
    return list(engine._client.run(os.getpid).values())


class Killer:
    """Kills one worker when the work has begun; to be called as progress."""

    def __init__(self, engine, after):
        self.engine, self.after, self.killed = engine, after, []

    def __call__(self, done, total, what):
        if not self.killed and done >= self.after:
            self.killed = workers_of(self.engine)[:1]
            for pid in self.killed:
                os.kill(pid, signal.SIGKILL)


def test_adding_finds_the_same_when_a_worker_is_killed(films, added, engine, tmp_path):
    killer = Killer(engine, 0.01)
    with Library.create(tmp_path / "library") as library:
        library.add(films, engine=engine, progress=killer)
        assert killer.killed
        assert content(library) == content(added)
        assert library.verify().clean


class Stopped(Exception):
    pass


def stop_after(number):
    def progress(done, total, what):
        if done >= number:
            raise Stopped

    return progress


def test_adding_that_was_broken_off_goes_on(films, added, tmp_path):
    engine = Processes(2)
    with Library.create(tmp_path / "library") as library:
        with pytest.raises(Stopped):
            library.add(films, engine=engine, progress=stop_after(3))
        before = len(library)
        report = library.add(films, engine=engine)
        assert len(report.added) == 3 - before
        assert content(library) == content(added)
        assert library.verify().clean


def build(folder, library, **options):
    analyser = Analyser()
    settings = {TEXT: analyser.to_json()}
    return build_index(folder, library, parts=[TextPart(analyser)], settings=settings, **options)


def contents(index):
    """All arrays of an index, by segment and name."""
    return [
        {
            f"{part}.{name}": array
            for part in ("documents", "visual", "text")
            for name, array in live.segment.arrays(part).items()
        }
        for live in index.segments
    ]


def assert_same(found, expected):
    assert [d.id for d in found.documents] == [d.id for d in expected.documents]
    for mine, theirs in zip(contents(found), contents(expected), strict=True):
        assert mine.keys() == theirs.keys()
        for name, array in mine.items():
            np.testing.assert_allclose(array, theirs[name], rtol=0, atol=1e-9, err_msg=name)


@pytest.fixture(scope="module")
def indexed(added, tmp_path_factory):
    folder = tmp_path_factory.mktemp("index")
    build(folder, added, visual=SMALL)
    return Index(folder)


def test_indexing_makes_the_same_when_a_worker_is_killed(added, indexed, engine, tmp_path):
    killer = Killer(engine, 1)
    report = build(tmp_path, added, visual=SMALL, engine=engine, progress=killer)
    assert len(report.added) == 3 and not report.failed and killer.killed
    assert_same(Index(tmp_path), indexed)


def test_indexing_that_was_broken_off_goes_on(added, indexed, tmp_path):
    engine = Processes(2)
    with pytest.raises(Stopped):
        build(tmp_path, added, visual=SMALL, engine=engine, progress=stop_after(2))
    report = build(tmp_path, added, engine=engine)
    assert len(report.unchanged) == 2 and len(report.added) == 1
    assert_same(Index(tmp_path), indexed)


def test_discovering_rules_finds_the_same(engine):
    learning = StateLearningSettings(BoostingSettings(rounds=5, least_videos=2))
    seen, told = zip(*(carrying(f"film{k}", k) for k in range(6)), strict=True)
    found = [
        StateModel(vocabulary=HOLDING, learning=learning).fit(seen, told, engine=who)
        for who in (None, engine)
    ]
    assert found[0].rules_ == found[1].rules_
    assert found[0].transition_cost_ == found[1].transition_cost_
    assert found[0].notes_ == found[1].notes_


class Shelf:
    """As much of a library as searching by meaning asks for."""

    def __init__(self, clips):
        self.clips = {clip.video_id: clip for clip in clips}

    def videos(self):
        return [SimpleNamespace(id=name) for name in self.clips]


def test_searching_by_meaning_finds_the_same(engine, monkeypatch):
    clips, sentences = troupe(8)
    shelf = Shelf(replace(clip, video_id=f"clip{n}") for n, clip in enumerate(clips))
    monkeypatch.setattr(
        "wordsight.workflows.clips.whole_clip", lambda shelf, name, _: shelf.clips[name]
    )
    quick = {"restarts": 1, "tempered_iterations": 1, "iterations": 1, "discriminative": None}
    learned = WordLearner(**quick).fit(clips, sentences, lexicon=LEXICON).lexicon_
    found = [
        grounded_hits(
            shelf,
            learned,
            learned.query(sentences[0]),
            [],
            RecordingReporter(),
            top=5,
            everything=True,
            engine=who,
        )
        for who in (None, engine)
    ]
    assert found[0] == found[1] and len(found[0][0]) == 5
