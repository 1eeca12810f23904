"""The workbench experiment: scores that mean what they say, and a small run from end to end."""

import numpy as np
import pytest

from experiments.workbench import measure, measure_lines
from experiments.workbench_films import make_takes, observed_through, spoiled
from experiments.workbench_scores import Timing, clock_split, even_split, score_steps, summed


@pytest.fixture(scope="module")
def take():
    """One film in which every step but the last may be left out."""
    (film,) = make_takes(1, 0.4, steps=4, random_state=3)
    return film


def true_steps(take, observed):
    frames = (observed.times.mean(axis=1) * take.film.frame_rate).astype(int)
    return take.steps[np.minimum(frames, len(take.steps) - 1)]


@pytest.mark.parametrize("source", ["touches", "boxes"])
def test_the_truth_scores_best(take, tmp_path, source):
    (observed,) = observed_through(source, [take], tmp_path, "x")
    perfect = score_steps(take, observed, true_steps(take, observed))
    assert perfect.accuracy > 0.9
    for split in (even_split, clock_split):
        assert score_steps(take, observed, split(take, observed)).accuracy < perfect.accuracy


def test_touches_name_things_of_the_bench(take, tmp_path):
    (observed,) = observed_through("touches", [take], tmp_path, "x")
    named = {thing for chunk in observed.chunks for thing in chunk.things}
    assert named <= set(take.film.truth.boxes)
    assert observed.duration == take.film.duration


def test_touches_are_spoiled_as_much_as_was_asked(take, tmp_path):
    seen = observed_through("touches", [take], tmp_path, "x")
    (same,) = spoiled(seen, 0.0, 0.0, 0.0, np.random.default_rng(0))
    assert [c.things for c in same.chunks] == [c.things for c in seen[0].chunks if c.things]
    for shares in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)):
        assert not spoiled(seen, *shares, np.random.default_rng(0))[0].chunks
    (wrong,) = spoiled(seen, 0.0, 0.0, 1.0, np.random.default_rng(0))
    assert [c.things for c in wrong.chunks] != [c.things for c in same.chunks]


def test_left_out_steps_are_counted(take, tmp_path):
    (observed,) = observed_through("touches", [take], tmp_path, "x")
    every = set(range(4))
    timing = score_steps(
        take, observed, true_steps(take, observed), happened=every - set(take.skipped)
    )
    assert timing.missed == timing.said == timing.both == len(take.skipped)


def test_sums():
    timings = [Timing(0.5, (1.0, 3.0), 2, 1, 1), Timing(1.0, (0.5,), 0, 1, 0)]
    assert summed(timings) == {
        "accuracy": 0.75,
        "boundary_seconds": 1.0,
        "boundary_within_2s": pytest.approx(2 / 3, abs=1e-3),
        "skipped_f1": 0.5,
        "skipped_precision": 0.5,
        "skipped_recall": 0.5,
        "skipped": 2,
        "said_skipped": 2,
    }
    assert summed([Timing(1.0, (), 0, 0, 0)])["skipped_f1"] is None


@pytest.mark.slow
def test_the_experiment_from_end_to_end(tmp_path):
    results = measure(2, [0.0], tmp_path, steps=3, sources=["touches"])
    assert set(results["0"]) == {"uniform", "uniform_clock", "touches_default", "touches_mistakes"}
    for row in results["0"].values():
        assert 0 <= row["accuracy"] <= 1


@pytest.mark.slow
def test_lines_that_do_not_happen_are_found_on_films_of_the_bench():
    (row,) = measure_lines(1).values()
    assert row["absent"] > 0
    assert row["happening"] > row["absent"]
    assert row["precision"] > 0.5
    assert row["false_alarms"] < 0.1
