"""Finding a picture, a region of it, or a cut-out in the small frames of shots."""

import numpy as np
import pytest

from tests.retrieval.pictures import SETTINGS, picture
from wordsight.retrieval import (
    Analyser,
    Document,
    DocumentSource,
    Index,
    IndexWriter,
    JointQuery,
    JointSearch,
    RetrievalError,
    TextPart,
    VisualPart,
)
from wordsight.retrieval.visual.stills import (
    STILLS,
    Sighting,
    SoughtPicture,
    StillsPart,
    shrunk,
    still_times,
)


def film(seed, moments=3):
    """A shot of a few seconds in whose frames other things are seen each second."""
    frames = [picture([seed, at], 240, 320) for at in range(moments)]
    document = Document(f"film{seed}:0000", f"film{seed}", 0.0, float(moments), moments / 2)
    stills = tuple(shrunk(each) for each in frames)
    return frames, DocumentSource(document, (), (), (frames[moments // 2],), (), stills)


def written(folder, sources, *, stills=True):
    analyser = Analyser()
    parts = [VisualPart(SETTINGS), *([StillsPart()] if stills else []), TextPart(analyser)]
    settings = {"visual": SETTINGS.to_json(), "text": analyser.to_json()}
    with IndexWriter(folder, parts, settings) as writer:
        for source in sources:
            writer.add(source.document.video_id, "mark", [source])
    return Index(folder)


@pytest.fixture
def films(tmp_path):
    made = [film(seed) for seed in range(9)]  # so many that segments are merged
    return [frames for frames, _ in made], written(tmp_path / "index", [one for _, one in made])


def ask(index, image, region=None):
    features = index.visual.features
    samples = features.samples(image)
    query = JointQuery(None, samples, frozenset(), SoughtPicture.of(image, region))
    return JointSearch(index).search(query, 3)


def test_stills_are_spread_over_a_shot():
    assert still_times(10.0, 12.0) == [10.25, 10.75, 11.25, 11.75]
    assert still_times(0.0, 0.1) == [0.05]
    assert len(still_times(0.0, 3600.0)) == 32


@pytest.mark.parametrize("at", [0, 1, 2])
def test_any_frame_finds_its_own_shot_and_moment(films, at):
    frames, index = films
    for number in (0, 4, 8):
        best = ask(index, frames[number][at])[0]
        assert best.document.video_id == f"film{number}"
        assert best.sighting.likeness > 0.95
        assert best.sighting.time == pytest.approx(at + 0.5)


def test_a_cut_out_is_found_where_it_was(films):
    frames, index = films
    cut = frames[6][2][60:160, 80:200]
    best = ask(index, cut)[0]
    assert best.document.video_id == "film6"
    np.testing.assert_allclose(best.sighting.box, (80, 60, 200, 160), atol=4)


def test_a_region_is_found_at_the_scale_of_its_picture(films):
    frames, index = films
    large = np.kron(frames[2][0], np.ones((2, 2, 1), np.uint8))
    best = ask(index, large, (160.0, 120.0, 240.0, 200.0))[0]
    assert best.document.video_id == "film2"
    np.testing.assert_allclose(best.sighting.box, (80, 60, 200, 160), atol=4)


def test_pictures_of_one_colour_are_not_looked_for(films):
    _, index = films
    hits = ask(index, np.full((240, 320, 3), 90, np.uint8))
    assert [hit.sighting for hit in hits] == [None] * 3


def test_with_words_the_models_alone_speak_for_the_picture(films):
    frames, index = films
    search = JointSearch(index)
    text = search.text.query("word")
    samples = index.visual.features.samples(frames[0][0])
    part = SoughtPicture.of(frames[0][0])
    hits = search.search(JointQuery(text, samples, frozenset(), part), 3)
    assert all(hit.sighting is None for hit in hits)


def test_an_index_without_stills_is_searched_and_grows(tmp_path):
    made = [film(seed) for seed in range(10)]
    old = written(tmp_path, [one for _, one in made[:5]], stills=False)
    assert ask(old, made[1][0][1])[0].sighting is None
    new = written(tmp_path, [one for _, one in made[5:]])
    assert ask(new, made[8][0][0])[0].document.video_id == "film8"
    assert any(live.segment.has(STILLS) for live in new.segments)


def test_what_a_sighting_tells_grows_without_breaking():
    values = [Sighting(r, 0.0, (0, 0, 1, 1)).evidence for r in (-0.5, 0.0, 0.5, 0.9, 1.0)]
    assert values[:2] == [0.0, 0.0]
    assert values == sorted(values) and np.isfinite(values).all()


def test_a_region_outside_the_picture_is_refused():
    with pytest.raises(RetrievalError, match="outside the picture of 64 x 48"):
        SoughtPicture.of(picture(0), (100.0, 0.0, 10.0, 10.0))
