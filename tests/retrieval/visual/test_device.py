"""Pictures modelled and looked for on a device: the same answers as the processor's."""

import numpy as np
import pytest

from tests.retrieval.pictures import SETTINGS, make_index, picture, ranking, sources
from wordsight.inference.gpu import DeviceWarning
from wordsight.retrieval import Index, IndexWriter, VisualPart

pytest.importorskip("torch", reason="the extra 'gpu' (torch) is not installed")

VIDEOS = {"one": 5, "two": 4}


def test_a_search_on_a_device_gives_the_same_moments_with_the_same_scores(tmp_path):
    wanted = make_index(tmp_path, VIDEOS)
    found = Index(tmp_path, device="torch-cpu")
    for seed in range(3):
        names, scores = ranking(wanted, picture(seed))
        again, others = ranking(found, picture(seed))
        assert again == names
        # Those that may be among the best are scored again in double precision.
        np.testing.assert_array_equal(others, scores)


def test_mixtures_fitted_on_a_device_rank_alike(tmp_path):
    part = VisualPart(SETTINGS, device="torch-cpu")
    with IndexWriter(tmp_path / "there", [part], {"visual": SETTINGS.to_json()}) as writer:
        for name, shots in VIDEOS.items():
            writer.add(name, f"mark of {name}", sources(name, shots))
    here, there = make_index(tmp_path / "here", VIDEOS), Index(tmp_path / "there")
    # EM ends in one of many optima, and rounding may choose another now and then: a shot still
    # finds itself first.
    for source in sources("one", 5):
        (image,) = source.frames
        assert ranking(there, image)[0][0] == ranking(here, image)[0][0] == source.document.id


def test_a_device_that_is_not_there_is_said_and_the_processor_searches(tmp_path):
    wanted = make_index(tmp_path, VIDEOS)
    with pytest.warns(DeviceWarning, match="processor does the work"):
        names, _ = ranking(Index(tmp_path, device="cuda:93"), picture(0))
    assert names == ranking(wanted, picture(0))[0]
