"""One call from a text and its videos to alignments, with progress while models learn."""

import pytest

from tests.alignment.models.plays import play, plays
from wordsight.alignment import (
    AlignmentError,
    Constraint,
    ConstraintError,
    Ensemble,
    Observed,
    align_together,
    compare_models,
)
from wordsight.alignment.models import HSMM, MODELS, model_by_name


@pytest.mark.parametrize("name", sorted(MODELS))
def test_progress_is_reported_with_increasing_counts(name):
    options = {"Ensemble": {"hsmm": 2, "lcrf": 1}, "LHMM2": {"warm_up": (2, 2), "iterations": 2}}
    model = model_by_name(name)(**options.get(name, {}))
    for length in {"iterations", "rounds"} & set(model.settings()):
        setattr(model, length, 3)
    calls = []
    text, observed, _ = play()
    align_together(text, [observed], aligner=model, progress=lambda *call: calls.append(call))
    done = [call[0] for call in calls]
    total = calls[-1][1]
    assert len(done) > 1
    assert done == list(range(1, len(done) + 1))
    assert done[-1] <= total
    assert {call[2] for call in calls} == {"learning"}


def test_the_default_model_reports_progress(monkeypatch):
    monkeypatch.setattr(Ensemble, "__init__", lambda self: None)
    for name, value in {"hsmm": 2, "lcrf": 0, "least_evidence": None}.items():
        monkeypatch.setattr(Ensemble, name, value)
    calls = []
    films = plays(2)
    result = align_together(
        films[0][0],
        [observed for _, observed, _ in films],
        progress=lambda *call: calls.append(call),
    )
    assert [call[:2] for call in calls] == [(1, 2), (2, 2)]
    assert len(result.alignments) == 2


def test_a_fitted_model_is_used_unchanged():
    text, observed, _ = play()
    model = HSMM(iterations=2).fit([(text, observed)])
    before = model.table_.copy()
    calls = []
    align_together(text, [observed], aligner=model, fit=False, progress=lambda *c: calls.append(c))
    assert (model.table_ == before).all()
    assert not calls


def test_models_are_found_by_name():
    assert model_by_name("lcrf") is MODELS["LCRF"]
    assert model_by_name("drop-dtw") is MODELS["DropDTW"]
    assert model_by_name("perceptron") is MODELS["LatentPerceptron"]
    with pytest.raises(AlignmentError, match=r"unknown alignment model 'CRF'; known are Ensemble,"):
        model_by_name("CRF")


@pytest.mark.slow
def test_models_are_compared_with_the_default():
    text, observed, _ = play()
    steps = len(set(text.steps.tolist()))
    calls = []
    rows = compare_models(text, [observed], progress=lambda *call: calls.append(call))
    assert [row.model for row in rows] == list(MODELS) and calls[-1][:2] == (len(MODELS),) * 2
    assert rows[0].agreement == 1.0
    for row in rows:
        assert row.error is None and len(row.starts) == steps and 0 < row.confidence <= 1 + 1e-9
    short = Observed("short", observed.chunks[:2], 2.0)
    assert any("needs at least" in (row.error or "") for row in compare_models(text, [short]))


def test_contradictory_pins_are_refused_before_learning():
    text, observed, _ = play()
    calls = []
    pins = [Constraint(3, start=2.0), Constraint(1, start=9.0)]
    with pytest.raises(ConstraintError, match="lines follow the order of the text"):
        align_together(
            text,
            [observed],
            constraints={observed.video_id: pins},
            progress=lambda *call: calls.append(call),
        )
    assert not calls


def test_no_video_is_an_error():
    with pytest.raises(AlignmentError, match="at least one"):
        align_together(play()[0], [])
