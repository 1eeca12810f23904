"""Errors put into detections, and the tables of the noise experiment."""

import numpy as np
import pytest

from experiments import noise
from experiments.detector_noise import DetectorNoise, noisy_clips
from experiments.street_corpus import true_clip
from experiments.street_sentences import exchanged_sentences
from wordsight.perception import tracked_clip
from wordsight.worlds import street

QUIET = DetectorNoise(misses=0.0, false_boxes=0, confusion=0.0, jitter=0.0)


@pytest.fixture(scope="module")
def true():
    return [true_clip(film) for film in street(3, 0)]


def test_no_errors_change_nothing_but_scores_and_identities(true):
    for clip, spoilt in zip(true, noisy_clips(true, QUIET, 0), strict=True):
        assert spoilt.detections.ids is None
        assert spoilt.boxes[spoilt.mask] == pytest.approx(clip.boxes[clip.mask])
        names = [[c.detections.label_names[n] for n in c.labels[c.mask]] for c in (clip, spoilt)]
        assert names[0] == names[1]


def test_errors_are_as_frequent_as_asked_for(true):
    boxes = sum(int(clip.mask.sum()) for clip in true)
    frames = sum(map(len, true))

    def count(**errors):
        given = DetectorNoise(**({"misses": 0.0, "false_boxes": 0, "confusion": 0.0} | errors))
        return sum(int(clip.mask.sum()) for clip in noisy_clips(true, given, 1))

    assert count(misses=0.5) == pytest.approx(boxes / 2, rel=0.15)
    assert count(false_boxes=2) == boxes + 2 * frames
    same = [noisy_clips(true, DetectorNoise(), seed)[0].detections for seed in (1, 1, 2)]
    assert same[0] == same[1] and same[0] != same[2]


def test_controls_are_tracks_that_are_not_joined(true):
    (clip, *_) = noisy_clips(true, DetectorNoise(misses=0.5), 3)
    linked = tracked_clip(clip, for_words=True)
    views = {name: view.view(linked) for name, view in noise._VIEWS.items()}
    for name in ("smoothed", "carried"):
        assert (views[name].overlap[:-1, :-1] == np.eye(len(views[name].overlap) - 1)).all()
    assert not views["smoothed"].carried.any()
    assert np.array_equal(views["smoothed"].present, views["linked"].present)
    assert views["joint"].present.shape[1] >= views["carried"].present.shape[1]


def test_curves_hold_the_usual_noise_and_means_of_folds(monkeypatch):
    monkeypatch.setattr(
        noise,
        "_run",
        lambda jobs, workers: {
            job: {"NV": job.noise.misses, "ALL": float(job.method == "joint")} for job in jobs
        },
    )
    found = noise.measure([1, 2], ("courtyard", "park"), 1, 1)
    assert found["linked"] == {"NV": 0.2, "ALL": 0.0} and found["joint"]["ALL"] == 1.0
    assert [point["misses"] for point in found["curves"]["misses"]] == [0.2, 0.4]
    assert set(found["curves"]) == set(noise.CURVES)
    assert found["controls"]["heavy"]["joint"]["NV"] == 0.4
    assert len(found["by_fold"]) == len({tuple(row.items()) for row in found["by_fold"]})
    parts = [noise.measure([seed], ("courtyard", "park"), 0, 1) for seed in (1, 2)]
    whole = noise.measure([1, 2], ("courtyard", "park"), 0, 1)
    assert noise.pool(parts)["linked"] == whole["linked"]
    assert set(noise.measure([1], ("park",), 0, 1)) == {"linked", "joint", "curves", "by_fold"}


def test_wrong_sentences_are_those_of_other_clips():
    class Film:
        def __init__(self, number):
            self.sentences = (f"sentence {number}",)

    said = exchanged_sentences([Film(n) for n in range(10)], 0.3, 0)
    changed = [n for n, own in enumerate(said) if own != [f"sentence {n}"]]
    assert len(changed) == 3
    assert sorted(said) == sorted([f"sentence {n}"] for n in range(10))
