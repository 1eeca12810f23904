"""How names of tracks are judged, and that learning through regions alone runs from pixels on."""

from dataclasses import replace

import numpy as np
import pytest

from experiments.looks import measure, score_names, truly_named
from experiments.street_corpus import see_street
from wordsight.meaning import ON_FILM
from wordsight.worlds import street


class Namer:
    """Stands for a lexicon that names what its function says."""

    def __init__(self, name):
        self.named = name


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    return see_street(list(street(4)), "truth", tmp_path_factory.mktemp("unused"))


def test_true_boxes_are_named_right(items):
    assert score_names(Namer(lambda clip: clip), [truly_named(item) for item in items]) == {
        "recall": 1.0,
        "precision": 1.0,
        "macro_f1": 1.0,
    }
    again = truly_named(items[0]).clip.detections
    seen = items[0].clip.detections
    names, before = (np.array(d.label_names)[d.labels][seen.mask] for d in (again, seen))
    assert again.mask.sum() == seen.mask.sum()
    # Classes are numbers in the experiment: each has one name.
    assert len(set(zip(names, before, strict=True))) == len(set(before))


def test_what_is_not_named_counts_as_missed(items):
    def silent(clip):
        seen = clip.detections
        return replace(clip, detections=replace(seen, mask=np.zeros_like(seen.mask)))

    assert score_names(Namer(silent), items) == {"recall": 0.0, "precision": 0.0, "macro_f1": 0.0}


@pytest.mark.slow
def test_words_through_regions_from_pixels_on(tmp_path):
    quick = replace(ON_FILM, restarts=1, tempered_iterations=3, iterations=1, discriminative=None)
    results = measure(6, 2, 0, tmp_path, settings=quick)
    for name in ("NV", "ALL"):
        assert set(results[name]) == {"chance", "blind", "codebook", "looks", "names"}
    assert 0 <= results["nouns"]["recall"] <= 1
