"""Lists of steps aligned with per-frame scores."""

import json
from itertools import combinations

import numpy as np
import pytest

from experiments.salads import main, measure, read_scored
from wordsight.alignment import AlignmentError
from wordsight.alignment.models.scored_steps import ScoredPair, ScoredSteps
from wordsight.errors import FormatError, WordsightError


def film(seed=0, steps=(0, 2, 1, 0), length=8, wrong=0.3, classes=3):
    """Return a pair whose scores are wrong for a share of the frames, and the true steps."""
    random = np.random.default_rng(seed)
    lengths = random.integers(length - 2, length + 3, len(steps))
    places = np.repeat(np.arange(len(steps)), lengths)
    shown = np.array(steps)[places]
    flip = random.random(len(shown)) < wrong
    shown = np.where(flip, random.integers(0, classes, len(shown)), shown)
    scores = np.full((len(shown), classes), 0.1)
    scores[np.arange(len(shown)), shown] = 0.8
    return ScoredPair(np.array(steps), scores), places


def test_the_posterior_is_that_of_all_segmentations():
    pair, _ = film(length=3, steps=(0, 1, 2))
    model = ScoredSteps(iterations=2).fit([pair])
    emission, _ = model._expect(pair, model.shape)
    frames, steps = emission.shape
    best = pair.scores.argmax(axis=1)
    runs = np.array([next(len(r) for r in _runs(best) if t in r) for t in range(frames)])
    logs = model.temperature * runs[:, None] ** (model.dependence - 1) * np.log(emission)
    means = model.durations_[pair.steps] * frames / model.durations_[pair.steps].sum()
    expected, total = np.zeros((frames, steps)), 0.0
    for cuts in combinations(range(1, frames), steps - 1):
        edges = (0, *cuts, frames)
        places = np.repeat(np.arange(steps), np.diff(edges))
        weight = logs[np.arange(frames), places].sum()
        weight += sum(model.change for cut in cuts if best[cut] != best[cut - 1])
        for length, mean in zip(np.diff(edges), means, strict=True):
            weight += (model.shape - 1) * np.log(length) - length * model.shape / mean
        expected[np.arange(frames), places] += np.exp(weight)
        total += np.exp(weight)
    np.testing.assert_allclose(model.posterior(pair), expected / total, atol=1e-9)


def _runs(labels):
    cuts = np.flatnonzero(np.diff(labels)) + 1
    return [set(run.tolist()) for run in np.split(np.arange(len(labels)), cuts)]


def test_consistent_mistakes_of_the_network_are_learned():
    """A network that always takes class 2 for class 1 is understood, not only averaged out."""
    pairs = []
    for seed in range(4):
        pair, places = film(seed, steps=(0, 1, 0, 2), wrong=0.1)
        scores = pair.scores.copy()
        confused = pair.steps[places] == 2
        scores[confused] = [0.1, 0.8, 0.1]
        pairs.append((ScoredPair(pair.steps, scores), places))
    model = ScoredSteps().fit([pair for pair, _ in pairs])
    assert model.confusions_[2].argmax() == 1
    assert np.mean([(model.predict(p) == truth).mean() for p, truth in pairs]) > 0.9


@pytest.mark.parametrize(
    ("steps", "scores", "message"),
    [
        ([0, 1], np.ones((1, 2)) / 2, "2 steps cannot be aligned with 1 frames"),
        ([0, 5], np.ones((4, 2)) / 2, "classes 0 to 1"),
        ([0], np.full((4, 2), -1.0), "probabilities"),
        ([], np.ones((4, 2)), "at least one step"),
    ],
)
def test_what_cannot_be_meant_is_refused(steps, scores, message):
    with pytest.raises(AlignmentError, match=message):
        ScoredPair(np.array(steps, dtype=np.int64), scores)


def test_the_experiment_beats_an_even_split(tmp_path, capsys):
    arrays = {}
    for number in range(4):
        pair, places = film(number, steps=(0, 2, 1, 0, 2, 1))
        arrays[f"split1_{number}_scores"] = pair.scores.astype(np.float32)
        arrays[f"split1_{number}_truth"] = pair.steps[places].astype(np.int16)
    for name in ("Made_mid_NET", "Made_eval_NET", "Other_eval_NET"):
        np.savez(tmp_path / f"{name}.npz", **arrays)
    np.savez(tmp_path / "notes.npz", other=np.ones(2))
    main(["--data", str(tmp_path), "--json"])
    out, err = capsys.readouterr()
    assert "notes.npz is left out" in err
    results = json.loads(out)
    assert set(results) == {"mid_NET", "Made_eval_NET", "Other_eval_NET"}
    rows = results["mid_NET"]
    assert rows["ours"] > rows["uniform"]
    assert set(rows) >= {"viterbi", "inserted_ours", "swapped_ours"}


def test_bad_files_of_scores(tmp_path):
    with pytest.raises(WordsightError, match=r"no \.npz"):
        measure(tmp_path)
    (tmp_path / "x.npz").write_text("text")
    with pytest.raises(FormatError, match=r"x\.npz is not a file of scores"):
        read_scored(tmp_path / "x.npz")
    np.savez(tmp_path / "y.npz", a_scores=np.ones((4, 2)), a_truth=np.zeros(3))
    with pytest.raises(FormatError, match=r"a_scores has the shape \(4, 2\) and its truth \(3,\)"):
        read_scored(tmp_path / "y.npz")
    np.savez(tmp_path / "z.npz", other=np.ones(2))
    with pytest.raises(FormatError, match="no array whose name ends in _scores"):
        read_scored(tmp_path / "z.npz")
    np.savez(tmp_path / "n.npz", a_scores=np.full((4, 2), np.nan), a_truth=np.zeros(4))
    with pytest.raises(FormatError, match=r"n\.npz: a_scores must be finite"):
        read_scored(tmp_path / "n.npz")
    np.savez(tmp_path / "c.npz", a_scores=np.ones((4, 2)), a_truth=np.full(4, 7))
    with pytest.raises(FormatError, match=r"truth classes 0 to 1; got \[7, 7\]"):
        read_scored(tmp_path / "c.npz")


def test_scores_that_lie_the_other_way_round(tmp_path):
    scores, truth = np.eye(3)[[0, 0, 2, 2, 1]], np.array([0, 0, 2, 2, 1])
    np.savez(tmp_path / "x.npz", a_scores=scores, a_truth=truth)
    np.savez(tmp_path / "y.npz", a_scores=scores.T, a_truth=truth[:, None].astype(float))
    ((one, places),), ((other, also),) = (read_scored(tmp_path / f"{n}.npz") for n in "xy")
    assert (one.scores == other.scores).all() and (places == also).all()
    assert one.steps.tolist() == other.steps.tolist() == [0, 2, 1]
