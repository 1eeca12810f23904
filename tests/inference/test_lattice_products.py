"""Small products equal numpy's for every number of detections, and write nowhere else."""

import numpy as np
import pytest
from numba import njit

from tests.inference.brute_force import random_lattice
from wordsight.inference import expected_counts
from wordsight.inference.lattice.kernels import products

rows_times_matrix = products.rows_times_matrix
matrix_times_rows = products.matrix_times_rows
sum_rows = products.sum_rows
scale_rows = products.scale_rows

COUNTS = [1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17]
BEFORE, BEHIND = 3, 11  # numbers in front of and behind what is to be written


# Inner functions have no wrapper that Python could call.
@njit
def _rows_times_matrix(target, source, rows, matrices, place, count):
    rows_times_matrix(target, 3, source, 0, rows, matrices, place, count)


@njit
def _matrix_times_rows(target, source, blocks, inner, matrices, place, count):
    matrix_times_rows(target, 3, source, 0, blocks, inner, matrices, place, count)


@njit
def _sum_rows(target, source, rows, columns):
    sum_rows(target, 3, source, 0, rows, columns, np.ones(1))


@njit
def _scale_rows(target, source, numbers, places, count):
    scale_rows(target, source, numbers, places, count)


def _framed(size):
    return np.full(BEFORE + size + BEHIND, -7.0)


def _inside(framed, size):
    assert (framed[:BEFORE] == -7.0).all()
    assert (framed[BEFORE + size :] == -7.0).all()
    return framed[BEFORE : BEFORE + size]


@pytest.mark.slow
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("rows", [1, 3, 4, 6, 24])
def test_rows_times_a_matrix(count, rows):
    random = np.random.default_rng([count, rows])
    source, matrices = random.random((rows, count)), random.random((2, count, count))
    target = _framed(rows * count)
    _rows_times_matrix(target, source.ravel(), rows, matrices.ravel(), count * count, count)
    found = _inside(target, rows * count).reshape(rows, count)
    np.testing.assert_allclose(found, source @ matrices[1], rtol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("power", [1, 2])
def test_a_turned_matrix_times_rows(count, power):
    random, inner, blocks = np.random.default_rng([count, power]), count**power, 3
    source, matrices = random.random((blocks, count, inner)), random.random((2, count, count))
    target = _framed(source.size)
    _matrix_times_rows(
        target, source.ravel(), blocks, inner, matrices.ravel(), count * count, count
    )
    found = _inside(target, source.size).reshape(source.shape)
    np.testing.assert_allclose(found, matrices[1].T @ source, rtol=1e-13)


@pytest.mark.parametrize("columns", COUNTS)
@pytest.mark.parametrize("rows", [1, 3, 9])
def test_sums_of_rows(columns, rows):
    source = np.random.default_rng([columns, rows]).random((rows, columns))
    target = _framed(columns)
    _sum_rows(target, source.ravel(), rows, columns)
    np.testing.assert_allclose(_inside(target, columns), source.sum(axis=0), rtol=1e-13)


@pytest.mark.parametrize("count", COUNTS)
def test_scaled_rows(count):
    random = np.random.default_rng(count)
    source, numbers = random.random((6, count)), random.random(3)
    places = np.repeat([2, 0, 1, 1, 2, 0], count)
    whole = _framed(source.size)
    target = whole[BEFORE : BEFORE + source.size]
    _scale_rows(target, source.ravel(), numbers, places, count)
    np.testing.assert_array_equal(_inside(whole, source.size), source.ravel() * numbers[places])


@pytest.mark.parametrize(
    ("people", "count"),
    [(1, 4), (1, 8), (1, 11), (2, 4), (2, 6), (2, 8), (2, 9), (3, 5), (3, 8), (4, 4), (2, 20)],
)
def test_whole_lattices_equal_plain_numpy(people, count):
    random = np.random.default_rng([people, count])
    words = [((0,), 1), ((0, people - 1) if people > 1 else (0,), 3), ((people - 1,), 2)]
    words += [((0, 1), 1), ((1, 0), 3)] if people > 1 else []
    lattice = random_lattice(random, people, count, 5, words, holes=0.2)
    (found,) = expected_counts([lattice], participants=True)
    (wanted,) = expected_counts([lattice], participants=True, backend="reference")
    assert found.log_joint == pytest.approx(wanted.log_joint, rel=1e-10)
    for one, other in zip(found.tables, wanted.tables, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-10)
    for one, other in zip(found.transitions, wanted.transitions, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.participants, wanted.participants, rtol=0, atol=1e-10)
