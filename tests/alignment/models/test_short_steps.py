"""Steps far shorter than their share of the text are taken back."""

import numpy as np
import pytest

from tests.alignment.builders import TEA, tea_alignment
from wordsight.alignment import NO_LINE, LineBoundary, LineSpan
from wordsight.alignment.models.decoding import reject_short_steps

SPANS = (
    LineSpan(0, 0.0, 10.0, 0.9),
    LineSpan(1, 10.0, 10.5, 0.4),  # step 2, of two lines, lasts 1 s of 20 expected
    LineSpan(2, 10.5, 11.0, 0.4),
    LineSpan(3, 11.0, 40.0, 0.9),
)


def alignment():
    return tea_alignment(
        spans=SPANS,
        times=np.array([[0, 10], [10, 10.5], [10.5, 11], [11, 40]], dtype=float),
        posterior=np.eye(4),
        best=np.array([0, 1, 2, 3]),
        boundaries=(
            LineBoundary(10, 0, 1, 0.5),
            LineBoundary(10.5, 1, 2, 0.5),
            LineBoundary(11, 2, 3, 0.5),
        ),
    )


def test_short_steps_did_not_happen():
    found = reject_short_steps(alignment(), TEA)
    assert [span.happened for span in found.spans] == [True, False, False, True]
    assert found.best.tolist() == [0, NO_LINE, NO_LINE, 3]
    assert found.spans[1].confidence == pytest.approx(0.95)
    assert found.boundaries == ()


def test_what_lasts_long_enough_stays():
    assert reject_short_steps(alignment(), TEA, least=0.01) is not None
    assert reject_short_steps(alignment(), TEA, least=0.01).spans == SPANS


def test_nothing_found_stays_nothing():
    empty = tea_alignment(spans=())
    assert reject_short_steps(empty, TEA) is empty


def test_each_line_of_a_doubted_step_is_told_once():
    spans = (*SPANS[:2], LineSpan(1, 10.6, 10.7, 0.4), *SPANS[2:])
    found = reject_short_steps(tea_alignment(spans=spans), TEA)
    assert [span.line for span in found.spans] == [0, 1, 2, 3]
