"""The E-step wherever it runs: the same digits, also when a worker dies; a device comes close."""

import numpy as np
import pytest

from tests.meaning.plays import LEXICON, troupe
from wordsight.engine import Processes, Serial
from wordsight.meaning import WordLearner

QUICK = {"restarts": 1, "tempered_iterations": 2, "iterations": 2, "discriminative": None}


def learned(clips, sentences, discriminative=None, **where):
    quick = QUICK | {"discriminative": discriminative}
    learner = WordLearner(**quick, **where).fit(clips, sentences, lexicon=LEXICON)
    return learner.histories_, learner.lexicon_


def largest_gap(one, other):
    return max(
        float(np.abs(a - b).max())
        for word in one.words
        for a, b in zip(one[word].emissions, other[word].emissions, strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("tracked", [True, False], ids=["tracks", "loose"])
def test_engines_learn_the_same(tracked):
    clips, sentences = troupe(36, tracked=tracked)
    history, lexicon = learned(clips, sentences)
    for engine in (Serial(), Processes(2)):
        found, other = learned(clips, sentences, engine=engine)
        assert found == history
        assert largest_gap(lexicon, other) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("by", ["gradient", "growth"])
def test_engines_train_against_false_sentences_with_the_same_digits(by):
    clips, sentences = troupe(36)
    _, start = learned(clips, sentences)
    _, lexicon = learned(clips, sentences, by)
    assert largest_gap(start, lexicon) > 1e-3  # it was trained
    _, other = learned(clips, sentences, by, engine=Processes(2))
    assert largest_gap(lexicon, other) == 0.0
    assert lexicon.calibration.scales == other.calibration.scales


@pytest.mark.slow
def test_a_cluster_learns_the_same():
    pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    from wordsight.engine.cluster import Cluster

    clips, sentences = troupe(36)
    history, lexicon = learned(clips, sentences)
    _, sharper = learned(clips, sentences, "gradient")
    with Cluster(workers=2) as cluster:
        found, other = learned(clips, sentences, engine=cluster)
        _, sharp = learned(clips, sentences, "gradient", engine=cluster)
    assert found == history and largest_gap(lexicon, other) == 0.0
    assert largest_gap(sharper, sharp) == 0.0


def test_a_device_learns_nearly_the_same():
    pytest.importorskip("torch", reason="the extra 'gpu' (torch) is not installed")
    clips, sentences = troupe(12, tracked=False)
    history, lexicon = learned(clips, sentences)
    found, other = learned(clips, sentences, device="torch-cpu")
    np.testing.assert_allclose(found[0], history[0], rtol=1e-3)
    assert largest_gap(lexicon, other) < 1e-2
