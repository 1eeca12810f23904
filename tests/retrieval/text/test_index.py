"""Words in an index on disk: built, merged, shortened, and always the same scores."""

import numpy as np
import pytest

from wordsight.retrieval.documents import Document, DocumentSource
from wordsight.retrieval.index.segments import LiveSegment, PartData, write_segment
from wordsight.retrieval.text import (
    TEXT,
    Analyser,
    LanguageModel,
    TextIndex,
    TextPart,
    TwoStage,
    text_shards,
)

PART = TextPart(Analyser())
SMOOTHING = TwoStage(20.0, 0.5, (0.3, 0.2))


def sources(video, shots, *, whole=(), scenes=None):
    scenes = scenes or [0] * len(shots)
    return [
        DocumentSource(
            Document(f"{video}:{n}", video, n, n + 1, n, scene), tuple(said), tuple(whole)
        )
        for n, (said, scene) in enumerate(zip(shots, scenes, strict=True))
    ]


FILMS = {
    "a": sources("a", [["a red cup"], ["the cup falls"], []], whole=["kitchen film"]),
    "b": sources("b", [["blue car"], ["red car"]], scenes=[0, 1]),
    "c": sources("c", [["Чашка и 茶碗"]], whole=["cup"]),
}


@pytest.fixture
def written(tmp_path):
    def write(name, *films):
        some = [source for film in films for source in FILMS[film]]
        return write_segment(tmp_path, name, {TEXT: PART.build(some)})

    return write


def whole(segment):
    return LiveSegment(segment, np.arange(len(segment.array(TEXT, "shot_of"))))


def scores(segments, text):
    model = LanguageModel(text_shards(segments), SMOOTHING, "documents")
    index = TextIndex(segments, PART.analyser)
    return model.scores(index.query(text))[0]


QUERIES = ["red cup", "kitchen", "car", "чашка", "茶碗", "nobody says this"]


@pytest.mark.slow
@pytest.mark.parametrize("text", QUERIES)
def test_segments_merges_and_removals_change_no_score(written, tmp_path, text):
    together = scores([whole(written("one", "a", "b"))], text)
    apart = [whole(written("two", "a")), whole(written("three", "b"))]
    assert scores(apart, text) == pytest.approx(together)
    merged = write_segment(tmp_path, "four", {TEXT: PART.merge(apart)})
    assert scores([whole(merged)], text) == pytest.approx(together)
    # With a third film taken out again.
    more = LiveSegment(written("five", "a", "c", "b"), np.array([0, 1, 2, 4, 5]))
    assert scores([more], text) == pytest.approx(together)
    clean = write_segment(tmp_path, "six", {TEXT: PART.merge([more])})
    assert scores([whole(clean)], text) == pytest.approx(together)


@pytest.mark.parametrize("text", [*QUERIES, "red red car falls blue"])
def test_large_shards_are_scored_alike_by_compiled_loops(written, monkeypatch, text):
    segments = [
        whole(written("one", "a", "b")),
        LiveSegment(written("two", "b", "c"), np.arange(2)),
    ]
    query = TextIndex(segments, PART.analyser).query(text)
    found = []
    for least in (20_000, 1):
        monkeypatch.setattr("wordsight.retrieval.text.model.COMPILED_FROM", least)
        model = LanguageModel(text_shards(segments), SMOOTHING, "documents")
        found.append(model.scores(query))
    np.testing.assert_allclose(found[1][0], found[0][0], atol=1e-12)
    np.testing.assert_array_equal(found[1][1], found[0][1])


def test_what_is_said_of_a_film_reaches_all_its_shots(written):
    found = scores([whole(written("one", "a", "b"))], "kitchen")
    assert (found[:3] > 0).all()
    assert (found[3:] <= 0).all()


def test_neighbours_count_in_either_order_but_not_across_captions(tmp_path):
    shots = sources("n", [["red cup"], ["cup red"], ["red", "cup"]])
    segment = write_segment(tmp_path, "one", {TEXT: PART.build(shots)})
    found = scores([whole(segment)], "a red cup")
    assert found[0] == pytest.approx(found[1])
    assert found[0] > found[2]


def test_an_index_without_neighbours_is_read_as_before(tmp_path):
    data = PART.build(FILMS["a"] + FILMS["b"])
    older = {name: each for name, each in data.arrays.items() if not name.startswith("pair_")}
    segment = write_segment(tmp_path, "old", {TEXT: PartData(older)})
    live = whole(segment)
    assert scores([live], "red")[0] > 0
    merged = write_segment(tmp_path, "new", {TEXT: PART.merge([live, live])})
    assert len(scores([whole(merged)], "red cup")) == 10


def test_a_scene_is_no_other_scene(written):
    found = scores([whole(written("one", "a", "b"))], "blue")
    assert found[3] > found[4] > max(found[:3])  # the second shot only through its video


def test_shares_are_learned_kept_and_learned_again(written, tmp_path):
    segments = [whole(written("one", "a", "b"))]
    first = TextIndex(segments, PART.analyser, tmp_path, 1).smoothing
    notes = (tmp_path / "text-shares.json").read_text()
    assert '"generation": 1' in notes
    assert TextIndex(segments, PART.analyser, tmp_path, 1).smoothing == first
    (tmp_path / "text-shares.json").write_text("broken")
    assert TextIndex(segments, PART.analyser, tmp_path, 1).smoothing == first
    TextIndex(segments, PART.analyser, tmp_path, 2).smoothing  # noqa: B018
    assert '"generation": 2' in (tmp_path / "text-shares.json").read_text()


def test_films_without_a_word(tmp_path):
    silent = sources("s", [[], []])
    segment = write_segment(tmp_path, "silent", {TEXT: PART.build(silent)})
    index = TextIndex([whole(segment)], PART.analyser)
    assert len(index.model.search(index.query("cup"))) == 0
    merged = PART.merge([whole(segment), whole(segment)])
    assert merged.arrays["shot_of"].tolist() == [0, 1, 2, 3]
