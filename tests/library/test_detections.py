"""Regions are read in the words of the library's own codebook."""

import shutil

import numpy as np
import pytest

from wordsight.errors import LibraryError
from wordsight.library import Library
from wordsight.records import Detections


@pytest.fixture
def library(place, videos):
    with Library.create(**place) as library:
        library.add(videos, workers=1)
        yield library


def stored(library, video_id):
    (entry,) = library.artefacts("detections", video_id=video_id)
    return Detections.load(library.path_of(entry))


@pytest.mark.slow
def test_regions_get_labels_when_they_are_read(library):
    assert library.artefacts("codebook") == []
    video_id = library.videos()[0].id
    seen, raw = library.detections(video_id), stored(library, video_id)
    assert raw.label_names == ("region",)
    assert seen.label_names[0] == "look-0"
    assert np.array_equal(seen.boxes, raw.boxes)
    (codebook,) = library.artefacts("codebook")
    assert codebook.video_id is None
    assert library.detections(video_id) == seen
    assert library.artefacts("codebook") == [codebook]  # learned once
    assert library.verify().clean


@pytest.mark.slow
def test_the_same_videos_give_the_same_codebook(library, videos, tmp_path):
    with Library.create(tmp_path / "other") as other:
        for video in reversed(videos):
            other.add(video, workers=1)
        assert other.fit_codebook().sha256 == library.fit_codebook().sha256


@pytest.mark.slow
def test_a_new_codebook_serves_at_once(library):
    video_id = library.videos()[0].id
    library.fit_codebook(words=1)
    assert library.detections(video_id).label_names == ("look-0",)
    with Library.open(library.folder) if library._database.location.file else library as other:
        other.fit_codebook(words=2)
        assert len(library.detections(video_id).label_names) == 2
    assert len(library.artefacts("codebook")) == 1


def test_without_regions_there_is_no_codebook(tmp_path):
    with (
        Library.create(tmp_path / "library") as library,
        pytest.raises(LibraryError, match="no region to learn"),
    ):
        library.fit_codebook()


@pytest.mark.slow
def test_pairs_come_for_every_sentence(library, videos):
    library.add(videos[0], sentences=["One.", "Two."], workers=1)
    library.add(videos[1], sentences=["Three."], workers=1)
    pairs = list(library.pairs())
    assert {sentence.text for _, sentence in pairs} == {"One.", "Two.", "Three."}
    assert all(clip.detections.label_names[0] == "look-0" for clip, _ in pairs)
    assert all(len(clip) == 10 for clip, _ in pairs)


@pytest.mark.slow
def test_a_read_only_library_is_read_in_words_too(library, tmp_path):
    if library._database.location.file is None:
        pytest.skip("a server's rights are its own affair")
    expected = library.detections(library.videos()[0].id)
    copy = shutil.copytree(library.folder, tmp_path / "copy")
    with Library.open(copy) as other:
        other.remove_artefact(other.artefacts("codebook")[0])
        other._database.read_only = True
        assert other.detections(other.videos()[0].id) == expected
        assert other.artefacts("codebook") == []
