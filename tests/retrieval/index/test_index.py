"""The index: equal to brute force, the same after coming and going, whole after being killed."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from tests.retrieval.pictures import (
    SETTINGS,
    make_index,
    picture,
    ranking,
    sources,
    writing,
)
from wordsight.errors import RecordError
from wordsight.files import TEMPORARY_MARK
from wordsight.retrieval import Index, IndexDamagedError, IndexWriter, RetrievalError, VisualPart
from wordsight.retrieval.index.build import MERGE_FACTOR
from wordsight.retrieval.visual import FeatureScale, VisualSmoothing
from wordsight.retrieval.visual import index as index_module

QUERY = picture(999)
COUNTS = {"a": 9, "b": 1, "c": 14, "d": 10, "e": 6}


def brute_force(index, image):
    """Score documents with nothing but the formula, model by model and sample by sample."""
    visual = index.visual
    scale = SETTINGS.require_scale()
    values = scale.standardise(visual.features.samples(image).values)
    models = [visual.model(d) for d in range(len(index))]
    logs = np.array([model.log_densities(values)[0] for model in models])
    background = np.logaddexp.reduce(logs, axis=0) - np.log(len(logs))
    kappa, focus = visual.smoothing.kappa, visual.smoothing.focus
    weights = []
    for sample in logs.T:
        posterior = np.exp(sample - sample.max()) / np.exp(sample - sample.max()).sum()
        told = sum(p * np.log(p * len(logs)) for p in posterior.tolist() if p > 0)
        weights.append(told**focus)
    mixed = np.logaddexp(np.log(kappa) + logs, np.log1p(-kappa) + background)
    return mixed @ np.array(weights) / sum(weights) - np.log(scale.spread).sum()


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Forty shots of five videos."""
    folder = tmp_path_factory.mktemp("index")
    return make_index(folder, COUNTS)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_models_that_were_read_do_not_stay_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("wordsight.retrieval.index.segments._LARGE", 1)
    visual = make_index(tmp_path, COUNTS).visual
    samples = visual.features.samples(QUERY).values
    found = visual.search(samples, 3)
    # Only this index's files: others of the same process may still be mapped by other tests.
    maps = Path("/proc/self/smaps").read_text(encoding="utf-8")
    resident = re.findall(
        rf"{re.escape(str(tmp_path))}\S*visual\.factors\.npy\n.*?^Rss:\s+(\d+)", maps, re.M | re.S
    )
    assert resident and {int(kilobytes) for kilobytes in resident} == {0}
    assert visual.search(samples, 3) == found


@pytest.mark.slow
@pytest.mark.parametrize("smoothing", [VisualSmoothing(0.9), VisualSmoothing(0.1, 2.0)], ids=str)
def test_results_equal_brute_force(index, smoothing):
    index = Index(index.folder)
    index.visual.__dict__["smoothing"] = smoothing
    expected = brute_force(index, QUERY)
    values = index.visual.features.samples(QUERY).values
    np.testing.assert_allclose(index.visual.score(values), expected, atol=1e-9)
    names, scores = ranking(index, QUERY)
    order = np.argsort(-expected)
    assert names == [index.documents[int(d)].id for d in order]
    np.testing.assert_allclose(scores, expected[order], atol=1e-9)
    ten = index.visual.search(values, 10)
    assert [hit.document.id for hit in ten] == names[:10]
    plain = index.visual.score(values, background=False)
    logs = [
        index.visual.model(d).log_densities(SETTINGS.require_scale().standardise(values)).mean()
        for d in range(3)
    ]
    unit = np.log(SETTINGS.require_scale().spread).sum()
    np.testing.assert_allclose(plain[:3], np.array(logs) - unit, atol=1e-9)


def test_a_picture_finds_itself(index):
    for source in sources("c", 14)[::5]:
        names, _ = ranking(index, source.frames[0])
        assert names[0] == source.document.id


def test_documents_come_back_as_they_were(index):
    expected = [s.document for name, n in COUNTS.items() for s in sources(name, n)]
    assert list(index.documents) == expected
    assert index.documents[-1] == expected[-1] and index.documents[2:4] == tuple(expected[2:4])
    assert index.documents.text_of(0) == "words of 0"
    assert index.documents.position_of("c:0003") == 13
    assert index.documents.scenes()[:4].tolist() == [0, 0, 1, 1]
    numbers, names = index.documents.video_numbers()
    assert names == tuple("abcde") and np.bincount(numbers).tolist() == [9, 1, 14, 10, 6]
    assert index.videos() == {name: f"mark of {name}" for name in "abcde"}
    with pytest.raises(IndexError):
        index.documents[40]
    with pytest.raises(RecordError, match="no document"):
        index.documents.position_of("nothing")


def test_evidence_of_blocks_adds_up_to_the_score(index):
    values = index.visual.features.samples(QUERY).values
    scores = index.visual.score(values)
    evidence = np.array([index.visual.region_evidence(values, d).mean() for d in range(40)])
    expected = scores - index.visual.unrelated_score(values)
    np.testing.assert_allclose(evidence, expected, atol=1e-9)
    by_name = index.visual.region_evidence(values, index.documents[7].id)
    np.testing.assert_array_equal(by_name, index.visual.region_evidence(values, 7))


def test_what_is_learned_of_the_pictures_is_kept_until_the_index_changes(tmp_path):
    index = make_index(tmp_path, {"a": 20, "b": 20})
    learned = index.visual.smoothing
    kept = json.loads((tmp_path / "visual-smoothing.json").read_text())
    assert kept == {"generation": index.generation, "smoothing": learned.to_json()}
    kept["smoothing"] = {"kappa": 0.25, "focus": 1.0}
    (tmp_path / "visual-smoothing.json").write_text(json.dumps(kept))
    assert Index(tmp_path).visual.smoothing == VisualSmoothing(0.25, 1.0)
    (tmp_path / "visual-smoothing.json").write_text('{"smoothing": {"kappa": 7}}')
    assert Index(tmp_path).visual.smoothing == learned


def test_another_collection_as_background_whatever_its_scale(tmp_path):
    ours = make_index(tmp_path / "ours", {"a": 9})
    values = ours.visual.features.samples(QUERY).values
    before = ours.visual.score(values)
    scale = SETTINGS.require_scale()
    wider = FeatureScale(scale.center + 3.0, scale.spread * 2.0)
    theirs = make_index(tmp_path / "theirs", {"b": 8}, replace(SETTINGS, scale=wider))
    ours.visual.use_background(theirs.visual)
    logs = theirs.visual.background.log_density(wider.standardise(values))
    logs = logs + np.log(scale.spread / wider.spread).sum()  # per unit of our scale
    found = ours.visual.background.log_density(scale.standardise(values))
    np.testing.assert_allclose(found, logs, atol=1e-3)  # factors are rounded again
    assert not np.allclose(ours.visual.score(values), before)
    other = make_index(tmp_path / "other", {"b": 2}, replace(SETTINGS, longest=160))
    with pytest.raises(RetrievalError, match="at most 160 pixels"):
        ours.visual.use_background(other.visual)


def test_adding_and_removing_a_video_leaves_the_ranking_as_it_was(tmp_path):
    before = ranking(make_index(tmp_path, {"a": 5, "b": 4, "c": 7}), QUERY)
    with writing(tmp_path) as writer:
        writer.add("new", "1", sources("new", 6))
    assert len(Index(tmp_path)) == 22
    with writing(tmp_path) as writer:
        writer.remove("new")
        writer.remove(["never there"])
    after = ranking(Index(tmp_path), QUERY)
    assert after[0] == before[0]
    np.testing.assert_array_equal(after[1], before[1])


def test_the_order_of_adding_does_not_matter(tmp_path):
    videos = {"a": 5, "b": 4, "c": 7}
    one = ranking(make_index(tmp_path / "1", videos), QUERY)
    two = ranking(make_index(tmp_path / "2", dict(reversed(videos.items()))), QUERY)
    assert one[0] == two[0]
    np.testing.assert_allclose(one[1], two[1], atol=1e-12)


def test_a_video_that_changed_takes_the_place_of_the_old_one(tmp_path):
    make_index(tmp_path, {"a": 5, "b": 4})
    with writing(tmp_path) as writer:
        writer.add("a", "newer", sources("a", 2, seed=1))
        assert writer.videos() == {"a": "newer", "b": "mark of b"}
    index = Index(tmp_path)
    assert sorted(d.id for d in index.documents) == [
        "a:0000",
        "a:0001",
        *(f"b:000{n}" for n in range(4)),
    ]
    assert ranking(index, sources("a", 2, seed=1)[1].frames[0])[0][0] == "a:0001"


@pytest.mark.slow
def test_many_small_segments_become_few(tmp_path):
    index = make_index(tmp_path / "grown", {f"v{n:02d}": 1 + n % 3 for n in range(26)})
    assert len(index.segments) < 2 * MERGE_FACTOR
    assert len(index.videos()) == 26
    with writing(tmp_path / "at once") as writer:
        writer.add_many(
            {f"v{n:02d}": (f"mark of v{n:02d}", sources(f"v{n:02d}", 1 + n % 3)) for n in range(26)}
        )
    whole = Index(tmp_path / "at once")
    assert len(whole.segments) == 1
    assert list(index.documents) == list(whole.documents)
    assert index.videos() == whole.videos()
    assert ranking(index, QUERY)[0] == ranking(whole, QUERY)[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_coming_and_going_at_random_equals_a_fresh_index(tmp_path, seed):
    random = np.random.default_rng(seed)
    there = {}
    with writing(tmp_path / "lived in") as writer:
        for _ in range(14):
            name = f"v{random.integers(5)}"
            if name in there and random.random() < 0.4:
                writer.remove(name)
                del there[name]
            else:
                there[name] = int(random.integers(1, 4)), int(random.integers(3))
                shots, look = there[name]
                writer.add(name, f"{shots} {look}", sources(name, shots, seed=look))
    with writing(tmp_path / "fresh") as writer:
        videos = {
            name: (f"{shots} {look}", sources(name, shots, seed=look))
            for name, (shots, look) in there.items()
        }
        writer.add_many(videos)
    lived, fresh = Index(tmp_path / "lived in"), Index(tmp_path / "fresh")
    assert lived.videos() == fresh.videos()
    names, scores = ranking(lived, QUERY)
    expected, expected_scores = ranking(fresh, QUERY)
    assert names == expected
    np.testing.assert_allclose(scores, expected_scores, atol=1e-12)


def test_segments_that_are_mostly_gone_are_rewritten(tmp_path):
    with writing(tmp_path, grace_seconds=0.0) as writer:
        writer.add_many({name: ("1", sources(name, 4)) for name in "abcd"})
        writer.remove("a")
        writer.remove(["b", "c"])
        time.sleep(0.01)
        writer.remove("nothing")
    index = Index(tmp_path)
    assert [live.segment.array("visual", "constants").shape[0] for live in index.segments] == [4]
    assert [path.name for path in tmp_path.glob("segment-*")] == [index.segments[0].segment.name]
    assert index.videos() == {"d": "1"}


def test_an_index_that_became_empty_can_be_filled_again(tmp_path):
    make_index(tmp_path, {"a": 3})
    with writing(tmp_path) as writer:
        writer.remove("a")
    empty = Index(tmp_path)
    assert len(empty) == 0 and list(empty.documents) == [] and empty.videos() == {}
    values = empty.visual.features.samples(QUERY).values
    with pytest.raises(RetrievalError, match="empty"):
        empty.visual.score(values)
    with writing(tmp_path) as writer:
        writer.add("a", "1", sources("a", 3))
    assert len(Index(tmp_path)) == 3


@pytest.mark.slow
def test_a_reader_goes_on_while_others_write(tmp_path):
    old = make_index(tmp_path, {"a": 4, "b": 4})
    before = ranking(old, QUERY)
    again = Index(tmp_path)
    with writing(tmp_path) as writer:
        for n in range(10):  # enough to merge everything
            writer.add(f"more{n}", "1", sources(f"more{n}", 1))
        writer.remove("a")
    assert old.changed and not Index(tmp_path).changed
    assert ranking(again, QUERY)[0] == before[0]


def test_only_one_writes_at_a_time(tmp_path):
    with writing(tmp_path), pytest.raises(RetrievalError, match="another process"):
        writing(tmp_path)
    writing(tmp_path).close()


def test_settings_cannot_change_under_an_index(tmp_path):
    make_index(tmp_path, {"a": 1})
    with pytest.raises(RetrievalError, match="other settings"):
        IndexWriter(tmp_path, [VisualPart(SETTINGS)], {"visual": {"kappa": 0.5}})


def test_documents_of_another_video_are_refused(tmp_path):
    with writing(tmp_path) as writer:
        with pytest.raises(RetrievalError, match="belong to b"):
            writer.add("b", "1", sources("a", 1))
        assert writer.videos() == {}


def test_a_failure_while_adding_changes_nothing(tmp_path):
    before = ranking(make_index(tmp_path, {"a": 3}), QUERY)
    bad = sources("b", 2)
    with writing(tmp_path) as writer, pytest.raises(RetrievalError, match="no frame"):
        writer.add("b", "1", [bad[0], type(bad[0])(bad[1].document)])
    assert ranking(Index(tmp_path), QUERY)[0] == before[0]
    with writing(tmp_path) as writer:
        assert writer.videos() == {"a": "mark of a"}


@pytest.mark.slow
def test_two_stages_find_what_one_does(tmp_path):
    index = make_index(tmp_path, {"many": 120})
    for seed in range(5):
        values = index.visual.features.samples(picture(seed + 5000)).values
        full = index.visual.search(values, 5)
        fast = index.visual.search(values, 5, exact=False, candidates=60)
        assert [hit.document.id for hit in fast][:1] == [hit.document.id for hit in full][:1]
        by_name = {hit.document.id: hit.score for hit in full}
        for hit in fast:  # the score of what is found is exact
            if hit.document.id in by_name:
                assert hit.score == pytest.approx(by_name[hit.document.id], abs=1e-9)


def test_a_picture_is_a_candidate_of_its_own_samples(index):
    values = index.visual.features.samples(sources("c", 14)[7].frames[0]).values
    assert 17 in index.visual.candidates(values, 4)


PROGRAM = """
import sys
from tests.retrieval.pictures import sources, writing
with writing(sys.argv[1]) as writer:
    for n in range(1000):
        writer.add(f"v{n:03d}", f"mark of v{n:03d}", sources(f"v{n:03d}", 2))
        print(n, flush=True)
"""


@pytest.mark.slow
def test_killed_while_building_it_leaves_a_whole_index(tmp_path):
    random = np.random.default_rng(0)
    for turn in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        told = -1
        for line in process.stdout:
            told = int(line)
            if told >= 3 * turn + 2:
                break
        time.sleep(random.uniform(0, 0.05))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        index = Index(tmp_path)
        videos = index.videos()
        assert len(videos) >= told + 1  # what was told is there
        assert sorted(videos) == [f"v{n:03d}" for n in range(len(videos))]
        assert len(index) == 2 * len(videos)
        first = sources("v001", 2)[0]
        assert ranking(index, first.frames[0])[0][0] == first.document.id
    with writing(tmp_path, grace_seconds=0.0) as writer:
        time.sleep(0.01)
        writer.remove("v000")
    assert not [path for path in tmp_path.iterdir() if TEMPORARY_MARK in path.name]


def test_a_file_of_a_reader_that_goes_meanwhile_stops_no_writer(tmp_path, monkeypatch):
    with writing(tmp_path) as writer:
        writer.add("v000", "1", sources("v000", 2))
    listed = Path.iterdir
    gone = tmp_path / f".text-shares{TEMPORARY_MARK}1.json"
    monkeypatch.setattr(Path, "iterdir", lambda folder: [*listed(folder), gone])
    with writing(tmp_path) as writer:
        writer.remove("v000")
    assert not Index(tmp_path).videos()


def damage(folder, what):
    manifest = folder / "index.json"
    values = json.loads(manifest.read_text())
    segment = folder / values["segments"][0]["name"]
    match what:
        case "no manifest":
            manifest.unlink()
        case "cut manifest":
            manifest.write_text(manifest.read_text()[:50])
        case "another kind":
            manifest.write_text(json.dumps(values | {"kind": "Lexicon"}))
        case "newer":
            manifest.write_text(json.dumps(values | {"version": 99}))
        case "no segment":
            segment.rename(folder / "elsewhere")
        case "cut array":
            path = segment / "visual.factors.npy"
            path.write_bytes(path.read_bytes()[:100])
        case "no array":
            (segment / "visual.constants.npy").unlink()
        case "cut description":
            (segment / "documents.json").write_text("{")
        case "bad scale":
            values["settings"]["visual"]["scale"] = {"center": []}
            manifest.write_text(json.dumps(values))
        case "scale of other features":
            for numbers in values["settings"]["visual"]["scale"].values():
                numbers.append(1.0)
            manifest.write_text(json.dumps(values))


@pytest.mark.slow
@pytest.mark.parametrize(
    "what",
    [
        "no manifest",
        "cut manifest",
        "another kind",
        "newer",
        "no segment",
        "cut array",
        "no array",
        "cut description",
        "bad scale",
        "scale of other features",
    ],
)
def test_damage_is_told(tmp_path, what):
    make_index(tmp_path, {"a": 2})
    damage(tmp_path, what)
    expected = RetrievalError if what == "no manifest" else IndexDamagedError
    with pytest.raises(expected):
        ranking(Index(tmp_path), QUERY)


def test_samples_of_other_features_are_refused(index):
    with pytest.raises(RetrievalError, match="14 numbers"):
        index.visual.score(np.zeros((4, 15)))
    with pytest.raises(RetrievalError, match="no words part"):
        index.settings("words")


def test_documents_are_scored_alike_in_parts_and_in_one_thread_of_blas(index, monkeypatch):
    query = index.visual.features.samples(QUERY).values
    whole = index.visual.score(query)
    monkeypatch.setattr("wordsight.retrieval.visual.index._THREADED", 2)
    threads, gains = [], index_module.smoothed_gains

    def noted(*arguments):
        pools = threadpool_info()
        threads.extend(pool["num_threads"] for pool in pools if pool["user_api"] == "blas")
        return gains(*arguments)

    monkeypatch.setattr(index_module, "smoothed_gains", noted)
    assert index.visual.score(query) == pytest.approx(whole, abs=1e-12)
    assert threads and set(threads) == {1}


def test_opening_reads_no_array(tmp_path):
    make_index(tmp_path, {"a": 3})
    opened = Index(tmp_path)
    for path in opened.segments[0].segment.path.glob("*.npy"):
        path.unlink()
    assert len(opened) == 3 and not opened.changed
