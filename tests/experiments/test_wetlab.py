"""The wet-lab experiment on a little folder, and on the real one where it is there."""

import json

import numpy as np
import pytest

from benchmarks.alignment import made_up
from benchmarks.alignment_reference import ReferenceHMM1
from experiments import wetlab
from experiments.data.wetlab import read_recordings
from wordsight.alignment.models import HMM1, Ensemble
from wordsight.alignment.models.encoding import AlignmentVocabulary
from wordsight.errors import FormatError


@pytest.fixture
def folder(tmp_path):
    """Write a protocol of two steps and two videos of it, one of each kind."""
    protocols, blobs = tmp_path / "protocols", tmp_path / "video_blobs"
    protocols.mkdir()
    blobs.mkdir()
    (protocols / "protocol_TEA.txt").write_text(
        "Step Fill the kettle.\n    Use water.\n\nStep Take the cup.\n", encoding="utf-8"
    )
    (protocols / "parses_TEA.txt").write_text(
        "(S1 (S (VP (VB Fill) (NP (DT the) (NN kettle)))))\n"
        "(S1 (S (VP (VB Use) (NP (NN water)))))\n"
        "(S1 (S (VP (VB Take) (NP (DT the) (NN cup)))))\n",
        encoding="utf-8",
    )
    rows = "ID start end token\ne0 0 4.5 kettle,1\ne1 4.5 5 \ne2 5 6.2 water,1\ne3 7 11.5 cup,2\n"
    (blobs / "TEA01.anvil.txt").write_text(rows, encoding="utf-8")
    (blobs / "tea01.vision.anvil.txt").write_text(rows, encoding="utf-8")
    return tmp_path


def test_reading(folder):
    recordings = read_recordings(folder)
    (film,) = recordings["anvil"]
    assert [line.nouns for line in film.instructions.lines] == [("kettle",), ("water",), ("cup",)]
    assert film.instructions.steps.tolist() == [1, 1, 2]
    assert film.gold.tolist() == [1] * 7 + [2] * 5  # 5 + 2 + 5 chunks, the empty line left out
    assert [r.name for r in recordings["vision"]] == ["TEA01"]


def test_reading_without_parses_or_some_true_steps(folder):
    (folder / "protocols" / "parses_TEA.txt").unlink()
    blobs = folder / "video_blobs" / "TEA01.anvil.txt"
    blobs.write_text(blobs.read_text(encoding="utf-8").replace("water,1", "water"), "utf-8")
    (film,) = read_recordings(folder)["anvil"]
    assert [line.nouns for line in film.instructions.lines] == [("kettle",), ("water",), ("cup",)]
    assert film.gold.tolist() == [1] * 5 + [-1] * 2 + [2] * 5
    assert wetlab.step_accuracy(film, np.array([0] * 5 + [2] * 7)) == 1.0
    (folder / "protocols" / "parses_TEA.txt").write_text("(S1 (NN x))\n", encoding="utf-8")
    with pytest.raises(FormatError, match="1 parses"):
        read_recordings(folder)


def test_the_report_is_one_json_object(folder, capsys, monkeypatch):
    few = {name: wetlab.MODELS[name] for name in ("hmm1", "hmm2", "lhmm1", "lhmm2")}
    few["default"] = (lambda: Ensemble(hsmm=2, lcrf=1), "all")
    monkeypatch.setattr(wetlab, "MODELS", few)
    monkeypatch.setattr(wetlab, "ABLATIONS", {"sgd": {"optimiser": "sgd", "iterations": 2}})
    wetlab.main(["--data", str(folder), "--json"])
    results = json.loads(capsys.readouterr().out)
    assert results["anvil"]["default"] == 1.0 and results["vision"]["default"] == 1.0
    assert results["per_video"]["anvil"]["hmm1"]["TEA01"] == results["anvil"]["hmm1"]
    assert results["ablations"]["vision"]["sgd"]["accuracy"] == 1.0
    wetlab.main(["--data", str(folder)])
    assert "uniform_clock" in capsys.readouterr().out


def test_a_wrong_folder_is_named(tmp_path, folder):
    with pytest.raises(FormatError, match="protocols"):
        read_recordings(tmp_path / "nowhere")
    (folder / "video_blobs" / "XX1.anvil.txt").write_text("ID\ne 0 1 a,1\n", encoding="utf-8")
    with pytest.raises(FormatError, match="fits no protocol"):
        read_recordings(folder)


def test_chunks_without_a_line_count_for_the_line_before(folder):
    (film,) = read_recordings(folder)["anvil"]
    lines = np.array([-1, 0, 0, -1, 1, 1, 1, 2, -1, 2, 2, -1])
    assert wetlab.step_accuracy(film, lines) == 1.0
    assert wetlab.step_accuracy(film, np.full(12, -1)) == 0.0


def test_the_compiled_chain_learns_what_plain_python_learns():
    pairs = [made_up(6, 40, 0), made_up(5, 30, 1)]
    fast, slow = HMM1(4).fit(pairs), ReferenceHMM1(4).fit(pairs)
    np.testing.assert_allclose(fast.objectives_[0], slow.objectives, rtol=1e-10)
    for row, noun in enumerate(fast.vocabulary_.nouns):
        learned = [slow.table[noun][thing] for thing in fast.vocabulary_.things]
        np.testing.assert_allclose(fast.table_[row], learned, atol=1e-10)
    np.testing.assert_allclose(fast.jumps_, [slow.jumps[0], slow.jumps[1]], rtol=1e-10)


def test_uniform_splits_as_published(shared_data):
    rows = wetlab._uniform_rows(read_recordings(shared_data("wetlab"))["anvil"])
    assert round(float(np.mean(rows["uniform"])), 4) == 0.6354
    assert float(np.mean(rows["uniform_clock"])) > 0.7


@pytest.mark.slow
def test_the_default_beats_the_published_models(shared_data):
    """A small average suffices; the whole one is measured by the experiment."""
    recordings = read_recordings(shared_data("wetlab"))["vision"]
    model = Ensemble(hsmm=4, lcrf=0)
    model.fit([(r.instructions, r.observed) for r in recordings])
    scores = [
        wetlab.step_accuracy(r, model.predict(r.instructions, r.observed)) for r in recordings
    ]
    assert np.mean(scores) > 0.75


def test_matching_counts_namesakes_and_shares_ties():
    known = AlignmentVocabulary(
        ("%", "biotin", "mix", "pipettes"), ("biotin", "pipette1", "pipette2")
    )
    links = np.array([[0.5, 0, 0], [0.5, 0, 0.1], [0.2, 0, 0.3], [0, 0.4, 0.2]])
    found = wetlab.matching(known, links)
    # Both nouns find theirs; biotin is as much "%" as "biotin", and pipette2 goes with "mix".
    assert found["precision"] == 1.0
    assert found["recall"] == pytest.approx((0.5 + 1 + 0) / 3)
    assert wetlab.matching(AlignmentVocabulary(("cup",), ("blob",)), np.ones((1, 1))) == {}
