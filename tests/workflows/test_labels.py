"""Labels find their film by its id, its file, or its file without the ending."""

import numpy as np
import pytest

from wordsight.errors import WordsightError
from wordsight.library import Library
from wordsight.video import VideoWriter
from wordsight.workflows.clips import names_of, noted


@pytest.fixture
def library(tmp_path):
    film = tmp_path / "Film 1.mp4"
    with VideoWriter(film, (64, 48), 10) as writer:
        for shade in range(0, 200, 40):
            writer.write(np.full((48, 64, 3), shade, np.uint8))
    with Library.create(tmp_path / "library") as library:
        library.add([film])
        yield library


def test_a_film_is_found_under_each_of_its_names(library):
    (video,) = library.videos()
    names = names_of(library, video.id)
    assert names == (video.id, "Film 1.mp4", "Film 1")
    for name in names:
        assert noted({"other": 1, name: 2}, names, "labels.csv") == 2
    assert noted({"Film 1": 1, video.id: 2}, names, "labels.csv") == 2  # the id is the surest


def test_a_film_that_nobody_noted_anything_of():
    with pytest.raises(WordsightError, match=r"labels.csv says nothing of a; it knows b, c\."):
        noted({"c": 1, "b": 2}, ("a", "a.mp4"), "labels.csv")
