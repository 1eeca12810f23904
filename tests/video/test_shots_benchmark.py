"""The benchmark of shot finding: its count of hits, and that ours does well on its films."""

import pytest

from benchmarks.shot_films import render
from benchmarks.shots import f1_of, ours, score


@pytest.mark.parametrize(
    ("found", "counts"),
    [
        ([], (0, 0, 2)),  # nothing found
        ([10, 50], (2, 0, 0)),  # all right
        ([9, 52], (2, 0, 0)),  # at the edges of what is right
        ([8, 53], (0, 2, 2)),  # just beyond them
        ([10, 11, 50], (2, 1, 0)),  # one boundary found twice
    ],
)
def test_hits_false_alarms_and_misses(found, counts):
    assert f1_of(found, [(9, 11), (48, 52)]) == counts


def test_score_of_several_films():
    assert score([(2, 0, 0), (0, 0, 0)]) == 1.0
    assert score([(1, 1, 1), (1, 0, 0)]) == pytest.approx(4 / 6)
    assert score([(0, 0, 0)]) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["restless", "lights"])
def test_rendered_films_are_divided_where_they_should(tmp_path, name):
    path, truth = render(name, tmp_path, seed=11)
    hits, false, missed = f1_of(ours(path), truth)
    assert (false, missed) == (0, 0)
    assert hits == len(truth) > 5
