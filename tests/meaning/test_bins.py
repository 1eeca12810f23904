"""Where values are cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.meaning import MeaningError
from wordsight.meaning.features import (
    Bins,
    CategoryBins,
    ClusterBins,
    FixedBins,
    MagnitudeBins,
    QuantileBins,
    ShareBins,
    SignedBins,
)
from wordsight.meaning.features.bins import adapted_to_jitter

SCHEMES = [
    QuantileBins(4),
    MagnitudeBins(0.1),
    SignedBins(0.1),
    ShareBins(),
    ClusterBins(3),
    FixedBins((0.0, 1.0)),
    CategoryBins(("a", "b")),
]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
@given(st.lists(st.floats(-5, 5), max_size=40))
def test_every_value_has_a_bin(scheme, values):
    bins = scheme.learn(np.array(values, dtype=float))
    assert (np.diff(bins.edges) >= 0).all()
    found = bins(np.array([*values, np.nan]))
    assert found[-1] == -1
    assert all(0 <= bin_ < len(bins) for bin_ in found[:-1])
    assert Bins.from_json(bins.to_json()) == bins


@pytest.mark.parametrize(
    ("scheme", "values", "expected"),
    [
        (QuantileBins(2), [1, 2, 3, 4], [0, 0, 1, 1]),  # halves
        (MagnitudeBins(0.1, 3), [0, 0.05, 1, 2, 3, 4], [0, 0, 1, 1, 2, 2]),  # still, then halves
        (SignedBins(0.1), [-9, -1, 0, 1, 9], [0, 1, 2, 3, 4]),
        (ClusterBins(2), [0, 0.1, 0.2, 9, 9.1], [0, 0, 0, 1, 1]),
        (CategoryBins(("a", "b", "c")), [0, 1, 2], [0, 1, 2]),
    ],
)
def test_schemes(scheme, values, expected):
    data = np.array(values, dtype=float)
    assert scheme.learn(data)(data).tolist() == expected


def test_names_say_where_the_cuts_are():
    assert FixedBins((0.0, 1.0)).learn(np.zeros(0)).names == ("below 0", "0 to 1", "1 and more")


@pytest.mark.parametrize(
    ("tremble", "limit"),
    [
        (0.0, 0.01),  # good tracks: as the scheme says
        (0.01, 0.025),  # trembling boxes: above nearly all of what rests
        (9.0, 0.04),  # everything moves: no further than four times the usual
    ],
)
@pytest.mark.parametrize("scheme", [MagnitudeBins(0.01), SignedBins(0.01)], ids=repr)
def test_what_trembles_is_still(scheme, tremble, limit):
    values = np.array([tremble] * 30 + [0.5, 1.0, 1.5, 2.0])
    assert adapted_to_jitter(scheme, values).still == pytest.approx(limit)
    assert adapted_to_jitter(QuantileBins(3), values) == QuantileBins(3)


@pytest.mark.parametrize(
    ("edges", "names"),
    [
        ([2.0, 1.0], ()),  # falling
        ([[1.0]], ()),  # not a row
        ([np.nan], ()),
        ([1.0], ("low", "middle", "high")),  # more names than bins
        ([1.0], ("low",)),
        ([1.0], ("low", 2)),  # not a text
    ],
)
def test_edges_and_names_that_do_not_fit_are_refused(edges, names):
    with pytest.raises(MeaningError, match="got"):
        Bins(np.array(edges), names)
