"""Learning as it goes, on real recordings: two words in one breath."""

import json

import pytest

from experiments.attribute_streams import main


@pytest.mark.slow
def test_real_phrases_are_split_and_single_words_are_not(shared_data, capsys):
    images, speech = shared_data("cards") / "crops", shared_data("spoken")
    options = ["--seeds", "1", "--first-seed", "1", "--parts", "phrases", "--json"]
    main(["--images", str(images), "--speech", str(speech), *options])
    (row,) = json.loads(capsys.readouterr().out)["phrases"]
    assert row["phrases"] > 0.7
    assert row["known"] == 0 and row["new"] < 0.1
