"""From posteriors to lines, spans and boundaries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.alignment import Chunk, Instructions, Line, Observed
from wordsight.alignment.models.decoding import alignment_from, best_lines, step_posterior

TEXT = Instructions("t", tuple(Line(str(n), s) for n, s in enumerate((1, 1, 2, 4, 4))))


def video(chunks, gap=0.0):
    return Observed(
        "v",
        tuple(Chunk(t * (1 + gap), t * (1 + gap) + 1.0, frozenset({"A"})) for t in range(chunks)),
        chunks * (1 + gap),
    )


def sure(lines, share=0.9):
    """Return a posterior that is nearly sure of each chunk's line."""
    posterior = np.full((len(lines), 5), (1 - share) / 4)
    posterior[np.arange(len(lines)), lines] = share
    return posterior


def test_steps_gather_their_lines():
    posterior = np.random.default_rng(0).dirichlet(np.ones(5), size=7)
    sums = step_posterior(posterior, TEXT.steps)
    np.testing.assert_allclose(sums[:, 0], posterior[:, :2].sum(axis=1))
    np.testing.assert_allclose(sums[:, 2], posterior[:, 3:].sum(axis=1))


CASES = [
    ([0, 0, 1, 2, 2, 3, 4], [0, 0, 1, 2, 2, 3, 4]),  # what is clear stays
    ([0, 0, 2, 2, 2, 2, 4], [0, 0, 2, 2, 2, 2, 4]),  # lines may be passed over
    ([2, 2, 2, 2, 0, 0, 0, 0, 3, 3], [2, 2, 2, 2, 0, 0, 0, 0, 3, 3]),  # a return that lasts
    ([0, 0, 0, 2, 0, 0, 0], [0] * 7),  # a flicker is not a step
]


@pytest.mark.parametrize(("lines", "expected"), CASES)
def test_the_line_of_each_chunk(lines, expected):
    assert best_lines(sure(lines), TEXT.steps).tolist() == expected


def test_chunks_that_likely_belong_to_none_get_none():
    posterior = sure([0, 0, 2, 2])
    posterior[2] *= 0.3
    assert best_lines(posterior, TEXT.steps).tolist() == [0, 0, -1, 2]


@given(st.integers(1, 40), st.integers(0, 10**6))
def test_lines_within_a_stretch_of_a_step_never_fall(chunks, seed):
    posterior = np.random.default_rng(seed).dirichlet(np.ones(5), size=chunks)
    lines = best_lines(posterior, TEXT.steps)
    steps = TEXT.steps[lines]
    same = steps[1:] == steps[:-1]
    assert (np.diff(lines)[same] >= 0).all()


def test_spans_tell_when_and_how_sure():
    posterior = sure([0] * 5 + [2] * 6 + [0] * 6 + [4] * 2)
    found = alignment_from(TEXT, video(19), posterior, best_lines(posterior, TEXT.steps))
    first, again = (span for span in found.spans if span.line == 0)
    assert (first.start, first.end) == (0.0, 5.0) and (again.start, again.end) == (11.0, 17.0)
    assert first.confidence == pytest.approx(0.925)  # of the step: its other line counts
    # The other lines of these steps happened somewhere in them, but where is not sure.
    within = [span for span in found.spans if span.line in {1, 3}]
    assert all(span.happened and span.confidence < 0.1 for span in within)
    assert [(span.start, span.end) for span in within] == [(0.0, 1.0), (17.0, 18.0)]


def test_a_line_did_not_happen_if_no_line_of_its_step_did():
    posterior = sure([0] * 5 + [4] * 6)
    found = alignment_from(TEXT, video(11), posterior, best_lines(posterior, TEXT.steps))
    (missing,) = [span for span in found.spans if not span.happened]
    assert missing.line == 2
    assert missing.start == missing.end == 5.0
    assert missing.confidence > 0.9


def test_boundaries_tell_where_and_how_sure():
    posterior = sure([0] * 6 + [2] * 6, share=1.0)
    found = alignment_from(TEXT, video(12), posterior, best_lines(posterior, TEXT.steps))
    (boundary,) = found.boundaries
    assert (boundary.time, boundary.before, boundary.after) == (6.0, 0, 2)
    assert boundary.confidence == pytest.approx(1.0)
    # A change smeared over the whole film is hardly within two seconds of anywhere.
    slope = np.linspace(1, 0, 30)
    vague = np.zeros((30, 5))
    vague[:, 0], vague[:, 2] = slope, 1 - slope
    found = alignment_from(TEXT, video(30), vague, best_lines(vague, TEXT.steps))
    assert found.boundaries[0].confidence < 0.3
