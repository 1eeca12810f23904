"""The MOT15 experiment on made-up and on real sequences."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from experiments.mot15 import main, measure, measure_sensitivity
from experiments.mot_files import find_sequences
from experiments.mot_scores import _compare, score_tracks
from tests.perception.scenes import Walker, scene
from wordsight.perception.formats import read_boxes, write_boxes
from wordsight.perception.tracking.tracker import Tracker
from wordsight.perception.tracking.tracks import detections_from_tracks
from wordsight.records import Detections, FrameDetections

ROOT = Path(__file__).resolve().parents[2]
WALKERS = [Walker((50, 50), (40, 0)), Walker((300, 200), (-40, 0), first=5, last=50)]
SORT_MOTA = 62.7  # on TUD-Campus, as its authors report


@pytest.fixture(autouse=True)
def motmetrics():
    return pytest.importorskip("motmetrics")  # not before a test runs: it brings pandas


def true_boxes(walkers=WALKERS, frames=60):
    made = []
    for t in range(frames):
        here = [(k, w) for k, w in enumerate(walkers, start=1) if w.first <= t <= w.last]
        made.append(
            FrameDetections(
                t / 25,
                np.array([w.box(t / 25) for _, w in here]).reshape(-1, 4),
                np.ones(len(here)),
                np.zeros(len(here), int),
                ids=np.array([k for k, _ in here]),
            )
        )
    return Detections.from_frames(made, label_names=["object"], frame_size=(640, 480))


@pytest.fixture
def sequences(tmp_path):
    """Two sequences, one of them with ground truth."""
    detections, _ = scene(WALKERS, false_alarms=1.0)
    for name in ("street", "park"):
        write_boxes(tmp_path / "set" / name / "det" / "det.txt", detections)
    write_boxes(tmp_path / "set" / "street" / "gt" / "gt.txt", true_boxes())
    return tmp_path / "set"


class TestScores:
    def test_the_truth_itself_scores_full_marks(self, tmp_path):
        write_boxes(tmp_path / "gt.txt", true_boxes())
        scores = score_tracks(tmp_path / "gt.txt", true_boxes())
        assert (scores["mota"], scores["idf1"], scores["motp"]) == (100.0, 100.0, 100.0)
        assert scores["misses"] == scores["false_positives"] == scores["id_switches"] == 0

    def test_nothing_found_scores_nothing(self, tmp_path):
        write_boxes(tmp_path / "gt.txt", true_boxes())
        scores = score_tracks(tmp_path / "gt.txt", true_boxes(walkers=[]))
        assert scores["mota"] == 0.0
        assert scores["motp"] is None
        assert scores["misses"] == scores["objects"] == 106

    def test_rows_of_truth_marked_as_not_to_be_considered_are_not(self, tmp_path):
        write_boxes(tmp_path / "gt.txt", true_boxes())
        lines = (tmp_path / "gt.txt").read_text().splitlines()
        ignored = [line.replace(",1,-1,-1,-1", ",0,-1,-1,-1") for line in lines[:10]]
        (tmp_path / "gt.txt").write_text("\n".join([*ignored, *lines[10:]]) + "\n")
        scores = score_tracks(tmp_path / "gt.txt", true_boxes())
        assert scores["false_positives"] == 10

    def test_it_is_what_motmetrics_itself_computes(self, tmp_path, monkeypatch, motmetrics):
        # motmetrics calls a function of numpy 1; with it put back its own code runs.
        monkeypatch.setattr(np, "asfarray", lambda a: np.asarray(a, float), raising=False)
        write_boxes(tmp_path / "gt.txt", true_boxes())
        detections, _ = scene(WALKERS, false_alarms=1.0, jitter=5.0)
        tracks = Tracker().track(detections)
        framed = detections_from_tracks(tracks, detections.times, (640, 480))
        write_boxes(tmp_path / "tracks.txt", framed)
        truth = motmetrics.io.loadtxt(tmp_path / "gt.txt", fmt="mot15-2D", min_confidence=1)
        found = motmetrics.io.loadtxt(tmp_path / "tracks.txt", fmt="mot15-2D")
        theirs = motmetrics.utils.compare_to_groundtruth(truth, found, "iou", distth=0.5)
        names = list(motmetrics.metrics.motchallenge_metrics)
        one, other = (
            motmetrics.metrics.create().compute(events, metrics=names).to_numpy()
            for events in (theirs, _compare(truth, found))
        )
        np.testing.assert_array_equal(one, other)
        assert one.min() != one.max()


class TestFiles:
    @pytest.mark.parametrize(
        ("truth", "given"),
        [
            ("set/street/gt/gt.txt", None),  # beside the detections
            ("set/street/gt.txt", None),
            ("set_gt/any/where/street/gt.txt", None),  # in the folder beside, named ..._gt
            ("elsewhere/street/gt/gt.txt", "elsewhere"),  # in a folder named
            ("elsewhere/park/gt/gt.txt", "elsewhere"),  # of another sequence only
        ],
    )
    def test_truth_is_found_where_it_lies(self, tmp_path, truth, given):
        for name in ("set/deep/street/det/det.txt", truth):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("1,1,1,1,5,5,1,-1,-1,-1\n")
        (found,) = find_sequences(tmp_path / "set", given and tmp_path / given)
        assert found.name == "street"
        assert found.truth == (None if "park" in truth else tmp_path / truth)

    @pytest.mark.parametrize(
        ("name", "rate"), [("KITTI-17", 10), ("PETS09-S2L1", 7), ("TUD-Campus", 25), ("park", 25)]
    )
    def test_rates_are_those_published(self, tmp_path, name, rate):
        (tmp_path / name / "det").mkdir(parents=True)
        (tmp_path / name / "det" / "det.txt").write_text("")
        assert find_sequences(tmp_path)[0].frame_rate == rate

    def test_seqinfo_comes_first(self, tmp_path):
        (tmp_path / "KITTI-17" / "det").mkdir(parents=True)
        (tmp_path / "KITTI-17" / "det" / "det.txt").write_text("")
        (tmp_path / "KITTI-17" / "seqinfo.ini").write_text("[Sequence]\nframeRate=12\n")
        assert find_sequences(tmp_path)[0].frame_rate == 12


class TestCommandLine:
    def test_json(self, sequences, capsys):
        main(["--data", str(sequences), "--json"])
        results = json.loads(capsys.readouterr().out)
        assert list(results) == ["street"]
        assert results["street"]["mota"] > results["street"]["baseline_iou"]["mota"]
        assert results["street"]["mota"] > 95

    def test_all_sequences(self, sequences, capsys):
        main(["--data", str(sequences), "--json", "--all"])
        results = json.loads(capsys.readouterr().out)
        assert results["park"]["mota"] is None
        assert results["park"]["tracks"] == 2

    def test_the_table(self, sequences, capsys):
        main(["--data", str(sequences)])
        printed = capsys.readouterr().out
        for text in ("MOTA %", "street", "Wordsight", "greedy overlap"):
            assert text in printed

    def test_tracks_are_written(self, sequences, tmp_path, capsys):
        main(["--data", str(sequences), "--json", "--output", str(tmp_path / "out")])
        written = read_boxes(tmp_path / "out" / "street.txt", frame_rate=25)
        assert len(np.unique(written.ids[written.mask])) == 2

    def test_a_folder_without_sequences(self, tmp_path):
        run = subprocess.run(
            [sys.executable, "-m", "experiments.mot15", "--data", str(tmp_path)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 2
        assert "found 0 sequences with detections" in run.stderr
        assert run.stdout == ""


@pytest.fixture(scope="module")
def real(shared_data):
    shared_data("mot15_gt")
    return {s.name: s for s in find_sequences(shared_data("mot15")) if s.truth is not None}


class TestRealSequences:
    def test_it_beats_sort_and_the_baseline(self, real):
        for name in ("TUD-Campus", "TUD-Stadtmitte"):
            result = measure(real[name])
            assert result["mota"] > SORT_MOTA
            assert result["mota"] > result["baseline_iou"]["mota"] + 10
            assert result["idf1"] > result["baseline_iou"]["idf1"]

    def test_running_twice_gives_the_same(self, real):
        assert measure(real["TUD-Campus"]) == measure(real["TUD-Campus"])

    @pytest.mark.slow
    def test_no_setting_is_tuned_to_the_point(self, real):
        for values in measure_sensitivity(real["TUD-Campus"]).values():
            assert min(values) > SORT_MOTA
