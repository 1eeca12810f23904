"""New words on real photos and speech: most join their attribute, strange colours get no word."""

import json

import pytest

from experiments.new_words import main, measure
from wordsight.errors import FormatError


@pytest.fixture
def places(shared_data):
    return shared_data("cards", "crops"), shared_data("spoken")


@pytest.mark.slow
def test_most_new_words_join_their_own_attribute(places, capsys):
    images, speech = map(str, places)
    main(["--images", images, "--speech", speech, "--seeds", "3", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["no_word"]["new colour: no colour"] > 0.3
    assert found["no_word"]["named colours: no colour"] < 0.1
    assert found["no_word"]["named colours: no digit"] < 0.1
    assert [len(row["later"]) for row in found["added"]] == [1, 1, 2]
    assert min(row["later_recordings_right"] for row in found["added"]) > 0.85
    new = sum(len(row["new_words"]) for row in found["added"])
    assert sum(row["in_the_right_attribute"] for row in found["added"]) >= new - 1


def test_a_colour_that_no_photo_has(places):
    with pytest.raises(FormatError, match="no photo is mauve; there are"):
        measure(*places, colour="mauve")
