"""Shards of an index: bounded, and searched by whomever, they answer as the one index does."""

import os
import signal

import numpy as np
import pytest

from tests.engine.jobs import worker_processes
from tests.retrieval.pictures import SETTINGS, picture, sources
from wordsight.engine import Processes, Serial
from wordsight.retrieval import Index, IndexWriter, JointQuery, JointSearch, ShardedSearch
from wordsight.retrieval.text import TEXT, Analyser, TextPart
from wordsight.retrieval.visual import VisualPart

VIDEOS = {f"film{n}": 1 + n % 4 for n in range(12)}


def write(folder, **options):
    analyser = Analyser(language=None, stop_words=None)
    settings = {"visual": SETTINGS.to_json(), TEXT: analyser.to_json()}
    parts = [VisualPart(SETTINGS), TextPart(analyser)]
    with IndexWriter(folder, parts, settings, **options) as writer:
        for name, shots in VIDEOS.items():
            writer.add(name, f"mark of {name}", sources(name, shots))
        writer.remove("film5")
    return Index(folder)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    analyser = Analyser(language=None, stop_words=None)
    settings = {"visual": SETTINGS.to_json(), TEXT: analyser.to_json()}
    with IndexWriter(folder, [VisualPart(SETTINGS), TextPart(analyser)], settings) as writer:
        kept = {name: shots for name, shots in VIDEOS.items() if name != "film5"}
        writer.add_many({name: (f"mark of {name}", sources(name, n)) for name, n in kept.items()})
    index = Index(folder)
    assert len(index.segments) == 1
    return index


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    index = write(tmp_path_factory.mktemp("shards"), shard_documents=8)
    assert len(index.segments) > 2
    return index


@pytest.fixture(params=["serial", "processes", "dask"])
def engine(request):
    if request.param == "dask":
        pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
        from wordsight.engine.cluster import Cluster

        with Cluster(workers=2) as cluster:
            yield cluster
    else:
        yield Serial() if request.param == "serial" else Processes(2)


def queries(search):
    """Words, a picture, both, one with what must not be found; and everything."""
    words = search.text.query("words of 2 film3 unheard")
    samples = search.index.visual.features.samples(picture([1, 2, 3]))
    first = search.index.documents.position_of("film7:0000")
    return [
        (JointQuery(words), 5, False),
        (JointQuery(words), 100, True),
        (JointQuery(None, samples), 3, False),
        (JointQuery(words, samples), 7, False),
        (JointQuery(words, samples, frozenset({first})), 100, False),
    ]


def assert_same(found, expected):
    assert [hit.document for hit in found] == [hit.document for hit in expected]
    for mine, theirs in zip(found, expected, strict=True):
        for name in ("score", "text", "visual"):
            ours, other = getattr(mine, name), getattr(theirs, name)
            assert (ours is None) == (other is None)
            if ours is not None:
                np.testing.assert_allclose(ours, other, rtol=0, atol=1e-9)
        assert [t.term for t in mine.terms] == [t.term for t in theirs.terms]
        np.testing.assert_allclose(
            [t.evidence for t in mine.terms], [t.evidence for t in theirs.terms], atol=1e-9
        )
        assert [r.place for r in mine.regions] == [r.place for r in theirs.regions]


@pytest.mark.slow
def test_shards_have_a_bounded_size(index):
    assert max(len(live.rows) for live in index.segments) <= 8
    assert len(index) == sum(VIDEOS.values()) - VIDEOS["film5"]


@pytest.mark.slow
def test_shards_answer_as_the_one_index_does(whole, index, engine):
    one = JointSearch(whole)
    # The shares of shot and film are learned from the largest segment, which is not the same one.
    one.text.__dict__["smoothing"] = JointSearch(index).text.smoothing
    with ShardedSearch(index, engine) as search:
        for (query, k, everything), (other, _, _) in zip(
            queries(search), queries(one), strict=True
        ):
            found = search.search(query, k, everything=everything)
            assert_same(found, JointSearch(index).search(query, k, everything=everything))
            assert_same(found, one.search(other, k, everything=everything))
            names = [index.documents[hit.position].id for hit in found]
            assert names == [hit.document.id for hit in found]


@pytest.mark.parametrize("excluded", [frozenset(), frozenset({0, 3})], ids=["all", "but two"])
def test_a_first_look_scores_as_looking_at_all(index, excluded, monkeypatch):
    """Candidates that are all documents but a few: found are the best, with the same scores."""
    samples = index.visual.features.samples(picture([1, 2, 3]))
    query = JointQuery(None, samples, excluded)
    expected = JointSearch(index, exact=True).search(query, 3)
    looked = []
    score_subset = type(index.visual).score_subset
    monkeypatch.setattr(
        type(index.visual),
        "score_subset",
        lambda self, values, at: looked.append(len(at)) or score_subset(self, values, at),
    )
    monkeypatch.setattr(type(index.visual), "num_candidates", lambda self, k: 20)
    assert_same(JointSearch(index, exact=False).search(query, 3), expected)
    assert max(looked) <= 20 + len(excluded) < len(index)
    with ShardedSearch(index, Serial(), exact=False) as search:
        assert_same(search.search(query, 3), expected)


def test_many_documents_are_looked_at_by_candidates_unless_told(index, monkeypatch):
    assert JointSearch(index).exact
    monkeypatch.setattr("wordsight.retrieval.joint.MANY_DOCUMENTS", 5)
    assert not JointSearch(index).exact and JointSearch(index, exact=True).exact


@pytest.mark.slow
def test_a_worker_that_is_killed_between_queries_harms_nothing(index):
    with ShardedSearch(index, Processes(2)) as search:
        query, k, _ = queries(search)[3]
        before = search.search(query, k)
        os.kill(worker_processes()[0], signal.SIGKILL)
        assert_same(search.search(query, k), before)


def test_an_empty_index_has_nothing(tmp_path):
    with IndexWriter(
        tmp_path,
        [VisualPart(SETTINGS), TextPart(Analyser())],
        {"visual": SETTINGS.to_json(), TEXT: Analyser().to_json()},
    ):
        pass
    with ShardedSearch(Index(tmp_path), Serial()) as search:
        assert search.search(JointQuery(search.text.query("word"))) == []
