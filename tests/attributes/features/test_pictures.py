"""Autocorrelation: the masks by enumeration, the sums by brute force, and what moving changes."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.attributes import TeachingError
from wordsight.attributes.features.pictures import autocorrelation, hlac_masks

WINDOW = list(itertools.product((-1, 0, 1), repeat=2))


def brute_force(picture, mask):
    rows, columns = picture.shape
    return np.mean(
        [
            np.prod([picture[r + dr, c + dc] for dr, dc in mask])
            for r in range(1, rows - 1)
            for c in range(1, columns - 1)
        ]
    )


@pytest.mark.parametrize(
    ("number", "orders"),
    [
        (25, [1, 4, 20]),  # distinct pixels
        (35, [1, 5, 29]),  # a pixel may repeat
    ],
)
def test_there_are_as_many_masks_as_enumeration_finds(number, orders):
    found = hlac_masks(number)
    assert [sum(len(mask) == order for mask in found) for order in (1, 2, 3)] == orders
    # Independently: multisets of pixels in the window with the centre, up to translation.
    shapes = set()
    for order in (1, 2, 3):
        for points in itertools.combinations_with_replacement(WINDOW, order):
            if (0, 0) not in points or (number == 25 and len(set(points)) < order):
                continue
            top, left = min(p[0] for p in points), min(p[1] for p in points)
            shapes.add(tuple(sorted((p[0] - top, p[1] - left) for p in points)))
    assert len(shapes) == number


@pytest.mark.parametrize("number", [25, 35])
def test_sums_are_those_of_brute_force(number):
    pictures = np.random.default_rng(0).normal(size=(3, 6, 7))
    found = autocorrelation(pictures, number)
    for picture, row in zip(pictures, found, strict=True):
        expected = [brute_force(picture, mask) for mask in hlac_masks(number)]
        np.testing.assert_allclose(row, expected, rtol=1e-4, atol=1e-6)


@given(st.integers(0, 10**6), st.integers(-3, 3), st.integers(-3, 3))
def test_moving_a_thing_changes_nothing(seed, down, right):
    picture = np.zeros((1, 20, 20))
    picture[0, 7:13, 7:13] = np.random.default_rng(seed).random((6, 6))
    moved = np.roll(picture, (down, right), axis=(1, 2))
    np.testing.assert_allclose(autocorrelation(moved), autocorrelation(picture), atol=1e-6)


def test_small_pictures_and_wrong_numbers():
    assert autocorrelation(np.ones((2, 2, 5))).tolist() == np.zeros((2, 25)).tolist()
    np.testing.assert_allclose(autocorrelation(np.ones((1, 3, 3))), 1.0)
    with pytest.raises(TeachingError, match="25 or 35"):
        hlac_masks(26)
