"""Where steps may change, and when steps are due."""

import numpy as np
import pytest

from wordsight.alignment import Chunk, Instructions, Line, Observed
from wordsight.alignment.models.clock import (
    CHANGE_KINDS,
    chunk_moments,
    clock_uniform,
    find_change_points,
    lateness,
    step_shares,
)
from wordsight.alignment.models.encoding import encode, vocabulary_of
from wordsight.errors import AlignmentError

TEXT = Instructions("t", tuple(Line(str(n), s, (f"n{n}",)) for n, s in enumerate((1, 1, 1, 1, 5))))


def encoded(*chunks):
    seen = Observed("v", tuple(Chunk(a, b, frozenset(things)) for a, b, things in chunks), 99.0)
    return encode(TEXT, seen, vocabulary_of([(TEXT, seen)]))


def test_edges_are_where_touches_change():
    pair = encoded(
        (0.0, 1.0, "A"),
        (1.0, 2.0, "A"),  # the same touch goes on
        (2.0, 3.0, "AB"),  # something more in hand
        (5.0, 6.0, "AB"),  # the same after a pause
        (6.0, 7.0, "C"),  # something else at once
    )
    edges = find_change_points(pair)
    assert edges.first.tolist() == [0, 2, 3, 4] and edges.units.tolist() == [0, 0, 1, 2, 3]
    assert edges.sizes.tolist() == [2, 1, 1, 1]
    # pause (0, 1, 2, 3) times three, plus overlap (nothing 0, something 1, all 2)
    assert edges.kinds[1:-1].tolist() == [1, 8, 0]
    assert edges.kinds.max() < CHANGE_KINDS
    np.testing.assert_allclose(edges.moments, [0, 2 / 7, 4 / 7, 6 / 7, 1])


def test_too_few_edges_become_all_and_too_many_are_thinned():
    still = encoded(*((t, t + 1.0, "A") for t in range(10)))
    assert len(find_change_points(still).first) == 1
    assert len(find_change_points(still, fewest=4).first) == 10
    busy = encoded(*((t, t + 0.5, "AB"[t % 2]) for t in range(1000)))
    assert 90 <= len(find_change_points(busy, most=100).first) <= 101


def test_steps_are_due_by_the_clock():
    pair = encoded(*((t, t + 1.0, "A") for t in range(10)))
    np.testing.assert_allclose(step_shares(pair, 0.0), [0.5, 0.5])
    np.testing.assert_allclose(step_shares(pair, 1.0), [0.8, 0.2])
    assert clock_uniform(pair, 1.0).tolist() == [0] * 8 + [1] * 2
    moments = chunk_moments(pair)
    assert moments[0] == pytest.approx(0.05) and moments[-1] == pytest.approx(0.95)
    outside = lateness(pair, 1.0, "outside")
    assert outside.shape == (10, 5) and (outside[:8, 0] == 0).all() and outside[9, 0] > 0
    for shape in ("centre", "widths"):
        late = lateness(pair, 1.0, shape)
        assert late[:, 0].argmin() in (3, 4) and (late >= 0).all()


def test_one_chunk_has_a_clock_too_and_none_is_refused():
    assert np.isfinite(chunk_moments(encoded((3.0, 3.0, "A")))).all()
    with pytest.raises(AlignmentError, match="no chunk"):
        encoded()
