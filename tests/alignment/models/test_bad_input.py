"""Texts and videos at the edge of sense: an alignment, or an error in plain words."""

import numpy as np
import pytest

from wordsight.alignment import AlignmentError, Chunk, Ensemble, Instructions, Line, Observed
from wordsight.alignment.models import (
    HMM1,
    HMM2,
    HSMM,
    LCRF,
    LHMM2,
    DropDTW,
    LatentPerceptron,
    LatentSVM,
)

pytestmark = pytest.mark.slow

MODELS = [
    Ensemble(hsmm=2, lcrf=1),
    HMM1(3),
    HMM2(2, 2),
    LHMM2((1, 1), 2),
    HSMM(iterations=3),
    LCRF(iterations=2),
    LatentPerceptron(rounds=2),
    LatentSVM(rounds=2),
    DropDTW(rounds=1),
]


def text(lines, per_step=1, nouns=True):
    return Instructions(
        "t", tuple(Line(f"l{n}", n // per_step, (f"n{n}",) if nouns else ()) for n in range(lines))
    )


def video(chunks, seconds=1.0):
    rows = [(n * max(seconds, 1e-9), frozenset({"AB"[n % 2]})) for n in range(chunks)]
    return Observed("v", tuple(Chunk(t, t + seconds, things) for t, things in rows), 99.0)


WITH_IDLE = Observed(
    "idle",
    (
        Chunk(0, 1, frozenset({"A"})),
        Chunk(1, 2, frozenset()),
        Chunk(2, 3, frozenset({"B"})),
    ),
    3.0,
)

CASES = {
    "a text without nouns": (text(3, nouns=False), video(9)),
    "one line": (text(1), video(9)),
    "one line and one chunk": (text(1), video(1)),
    "three lines and one chunk": (text(3), video(1)),
    "three lines of one step and one chunk": (text(3, 3), video(1)),
    "chunks without length": (text(2), video(6, 0.0)),
    "more lines than chunks": (text(24, 6), video(6)),
    "more steps than chunks": (text(24), video(6)),
    "one step": (text(6, 6), video(20)),
    "as many lines as chunks": (text(2), video(2)),
    "a chunk without things": (text(2), WITH_IDLE),
}
MUST_WORK = {"a text without nouns", "one line", "one step", "a chunk without things"}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_an_alignment_or_plain_words(model, case):
    pair = CASES[case]
    try:
        found = model.fit([pair]).align(*pair)
    except AlignmentError as error:
        assert case not in MUST_WORK
        assert "chunks" in str(error) or "touch" in str(error)
        return
    assert np.isfinite(found.posterior).all()
    assert (found.posterior.sum(axis=1) <= 1 + 1e-9).all()
    assert {span.line for span in found.spans} == set(range(len(pair[0].lines)))
