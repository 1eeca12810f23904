"""Dictionaries of the bench: a small run from end to end."""

import json

import pytest

from experiments import workbench_dictionary as experiment
from wordsight.alignment.models import Ensemble


@pytest.mark.slow
def test_names_are_learned_from_touches(monkeypatch, capsys):
    monkeypatch.setattr(experiment, "Ensemble", lambda: Ensemble(hsmm=3, lcrf=0))
    experiment.main(["--groups", "1", "--steps", "5", "--seed", "41", "--json"])
    results = json.loads(capsys.readouterr().out)
    assert results["default"]["f1"] > max(0.8, results["hmm2"]["f1"])
    assert results["default"]["f1_by_group"] == [results["default"]["f1"]]
