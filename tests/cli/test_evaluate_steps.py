"""``evaluate steps``: annotations and scores in, measures beside Drop-DTW and an even split out."""

import numpy as np
import pytest

from wordsight import evaluate_steps
from wordsight.evaluation import score_steps

STEPS = ["cut", "peel", "mix"]


@pytest.fixture
def collection(tmp_path):
    """Twelve videos of uneven steps, a label per frame, and scores that are right most times."""
    rng = np.random.default_rng(0)
    (tmp_path / "truth").mkdir()
    (tmp_path / "scores").mkdir()
    for video in range(12):
        lengths = rng.integers(10, 90, 3)
        truth = np.repeat(np.arange(3), lengths)
        labels = ["background"] * 5 + [STEPS[k] for k in truth]
        (tmp_path / "truth" / f"v{video}.txt").write_text("\n".join(labels))
        said = np.concatenate([np.full(5, 1), truth])
        wrong = rng.random(len(said)) < 0.3
        said = np.where(wrong, rng.integers(0, 3, len(said)), said)
        order = np.argsort(np.argsort(STEPS))  # classes are the labels sorted
        scores = np.full((len(said), 3), 0.15)
        scores[np.arange(len(said)), order[said]] = 0.7
        np.save(tmp_path / "scores" / f"v{video}.npy", scores)
    return tmp_path


def test_ours_beside_others(run, collection):
    options = ("--scores", "scores", "--rate", "30", "--json")
    answer = run("evaluate", "steps", "truth", *options)
    assert answer.code == 0, answer.err
    found = answer.json
    assert found["videos"] == 12
    assert found["left_out"] == []
    assert found["ours"]["mof"] > 0.9 > found["uniform"]["mof"]
    assert found["ours"]["iou"] > found["drop_dtw"]["iou"]
    table = run("evaluate", "steps", "truth", "--scores", "scores", "--rate", "30")
    assert "F1@50" in table.out and "drop-dtw" in table.out


def test_the_classes_come_from_a_mapping(run, collection):
    (collection / "scores" / "mapping.txt").write_text("0 cut\n2 peel\n1 mix\n")
    answer = run("evaluate", "steps", "truth", "--scores", "scores", "--rate", "30", "--json")
    assert answer.json["ours"]["mof"] > 0.9
    (collection / "scores" / "mapping.txt").write_text("0 cut\n")
    answer = run("evaluate", "steps", "truth", "--scores", "scores")
    assert answer.code and "has no class 'mix'" in answer.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("nowhere", "--scores", "scores"), "no steps in a known layout"),
        (("truth", "--scores", "truth"), "no table of scores"),
        (("truth", "--scores", "nowhere"), "no scores of these videos"),
        (("truth", "--scores", "scores", "--rate", "0"), "rate"),
    ],
)
def test_bad_input_is_refused(run, collection, options, message):
    answer = run("evaluate", "steps", *options)
    assert answer.code
    assert message in answer.err
    assert "Traceback" not in answer.err


def test_a_rate_that_cannot_be_right_is_pointed_out(run, collection):
    answer = run("evaluate", "steps", "truth", "--scores", "scores", "--rate", "30")
    assert "check the rate" not in answer.err
    answer = run("evaluate", "steps", "truth", "--scores", "scores", "--rate", "1")
    assert answer.code == 0 and "By --rate 1 the scores of a video last" in answer.err
    answer = run("evaluate", "steps", "truth", "--scores", "scores", "--rate", "5000")
    assert answer.code == 1 and "check the rate" in answer.err and "as the steps last" in answer.err


def test_progress_while_learning(collection):
    calls = []
    evaluate_steps(
        collection / "truth",
        scores=collection / "scores",
        rate=30.0,
        progress=lambda *call: calls.append(call),
    )
    done = [call[0] for call in calls if call[2] == "learning"]
    assert done == list(range(1, calls[-1][1] + 1))


def test_measures_by_hand():
    truth = np.array([-1, 0, 0, 0, 0, 1, 1, 1])
    found = np.array([0, 0, 0, 0, 1, 1, 1, 0])
    scores = score_steps([truth], [found])
    assert scores.mof == pytest.approx(5 / 7)
    assert scores.iou == pytest.approx((3 / 6 + 2 / 4) / 2)
    assert scores.f1_50 == 1.0
    assert scores.step_recall == 1.0
    assert score_steps([truth], [np.full(8, -1)]).f1_50 == 0.0
