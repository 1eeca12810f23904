"""From videos to an index: one document per shot, only what changed, failures told."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from wordsight.library import Library
from wordsight.records import Shot
from wordsight.retrieval import Index, RetrievalError, VisualSettings, build_index
from wordsight.video import VideoReader, VideoWriter

COLOURS = {"red": (200, 40, 40), "green": (40, 180, 40), "blue": (40, 40, 200)}
SMALL = VisualSettings(num_components=2, longest=64)


def write_video(path, *colours, seconds=1.0):
    """Write shots of one colour each, with a moving square so that something happens."""
    with VideoWriter(path, (64, 48), 10.0) as writer:
        for colour in colours:
            for n in range(round(10 * seconds)):
                image = np.full((48, 64, 3), COLOURS[colour], dtype=np.uint8)
                image[20:30, 4 * n : 4 * n + 10] = 250
                writer.write(image)
    return path


@dataclass(frozen=True)
class Video:
    id: str
    path: str
    sha256: str


@dataclass(frozen=True)
class Said:
    text: str
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True)
class Details:
    video: Video
    sentences: tuple[Said, ...] = ()
    shots: tuple[Shot, ...] = ()
    scenes: tuple[int, ...] = ()


class Shelf:
    """A collection in memory."""

    def __init__(self, *details):
        self.all = {each.video.id: each for each in details}

    def videos(self):
        return [each.video for each in self.all.values()]

    def show(self, video_id):
        return self.all[video_id]


def described(path, *sentences, shots=1):
    video = Video(Path(path).stem, str(path), Path(path).name)
    parts = tuple(Shot(video.id, float(n), n + 1.0, 1.0, 10 * n, 10 * n + 10) for n in range(shots))
    return Details(video, sentences, parts, tuple(range(shots)))


@pytest.fixture
def shelf(tmp_path):
    one = write_video(tmp_path / "one.mp4", "red", "green", "blue")
    two = write_video(tmp_path / "two.mp4", "blue")
    said = (
        Said("whole"),
        Said("first", 0.2, 0.8),
        Said("over the cut", 0.9, 1.1),
        Said("now", 2.5),
    )
    return Shelf(described(one, *said, shots=3), described(two))


def found(folder, colour):
    index = Index(folder)
    image = np.full((48, 64, 3), COLOURS[colour], dtype=np.uint8)
    values = index.visual.features.samples(image).values
    return [hit.document.id for hit in index.visual.search(values, 2)]


def test_every_shot_is_a_document_with_what_is_said_meanwhile(shelf, tmp_path):
    report = build_index(tmp_path / "index", shelf, visual=SMALL)
    assert report.added == ("one", "two") and not report.failed
    index = Index(tmp_path / "index")
    documents = list(index.documents)
    assert [d.id for d in documents] == ["one:0000", "one:0001", "one:0002", "two:0000"]
    assert [d.key_time for d in documents] == pytest.approx([0.5, 1.5, 2.5, 0.5], abs=0.11)
    assert [d.scene for d in documents] == [0, 1, 2, 0]
    texts = [index.documents.text_of(n) for n in range(4)]
    assert texts == ["first over the cut", "over the cut", "now", ""]
    assert found(tmp_path / "index", "green")[0] == "one:0001"
    assert set(found(tmp_path / "index", "blue")) == {"one:0002", "two:0000"}


def test_building_again_does_only_what_changed(shelf, tmp_path):
    folder = tmp_path / "index"
    build_index(folder, shelf, visual=SMALL)
    before = Index(folder).generation
    seen = []
    report = build_index(folder, shelf, progress=lambda done, total, what: seen.append(what))
    assert report.unchanged == ("one", "two") and not report.added
    assert Index(folder).generation == before and seen == ["one", "two"]
    # A sentence more, a video less, a video more.
    one = replace(shelf.all["one"], sentences=(Said("something else", 1.2, 1.6),))
    three = described(write_video(tmp_path / "three.mp4", "green"))
    report = build_index(folder, Shelf(one, three))
    assert report.added == ("one", "three") and report.removed == ("two",)
    index = Index(folder)
    assert index.documents.text_of(index.documents.position_of("one:0001")) == "something else"
    assert sorted(index.videos()) == ["one", "three"]
    assert set(found(folder, "green")) == {"one:0001", "three:0000"}


def test_what_cannot_be_read_is_told_and_the_rest_indexed(shelf, tmp_path):
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no video")
    shelf.all["broken"] = described(broken)
    report = build_index(tmp_path / "index", shelf, visual=SMALL)
    assert report.added == ("one", "two")
    assert report.failed[0][0] == "broken" and "broken.mp4" in report.failed[0][1]
    assert len(Index(tmp_path / "index")) == 4


def test_a_video_without_shots_is_one_document(tmp_path):
    path = write_video(tmp_path / "whole.mp4", "red", "blue")
    build_index(tmp_path / "index", Shelf(described(path, shots=0)), visual=SMALL)
    (document,) = Index(tmp_path / "index").documents
    assert (document.start, document.end) == pytest.approx((0.0, 2.0))


def test_nothing_readable_makes_no_index(tmp_path):
    with pytest.raises(RetrievalError, match="nothing to index"):
        build_index(tmp_path / "index", Shelf(), visual=SMALL)
    assert not (tmp_path / "index").exists()


def test_other_settings_need_another_index(shelf, tmp_path):
    build_index(tmp_path / "index", shelf, visual=SMALL)
    with pytest.raises(RetrievalError, match="other visual settings"):
        build_index(tmp_path / "index", shelf, visual=replace(SMALL, num_components=3))


def test_the_dynamic_model_knows_when_things_happen(tmp_path):
    # In one clip a bright half comes late, in the other early; a single frame cannot tell which.
    def half(path, late):
        with VideoWriter(path, (64, 48), 20.0) as writer:
            for n in range(20):
                image = np.full((48, 64, 3), 60, dtype=np.uint8)
                if (n >= 10) == late:
                    image[:, 32:] = 220
                writer.write(image)
        return path

    settings = replace(SMALL, dynamic=True, num_components=6, restarts=3, floor=0.02)
    shelf = Shelf(*(described(half(tmp_path / f"{k}.mp4", k == "late")) for k in ("early", "late")))
    build_index(tmp_path / "index", shelf, visual=settings)
    index = Index(tmp_path / "index").visual
    for name in ("early", "late"):
        with VideoReader(tmp_path / f"{name}.mp4") as reader:
            frames = list(reader.frames(rate=5))
        clip = index.features.clip_samples([f.image for f in frames], [f.time for f in frames], 0.5)
        assert index.search(clip.values, 1)[0].document.video_id == name
    still = index.features.samples(frames[0].image).values
    assert np.isfinite(index.score(still)).all()


def test_a_library_is_a_collection(tmp_path):
    write_video(tmp_path / "clip.mp4", "red", "blue")
    with Library.create(tmp_path / "library") as library:
        library.add(tmp_path / "clip.mp4", sentences=["a square moves"], workers=1, rate=2.0)
        report = build_index(tmp_path / "index", library, visual=SMALL)
        assert len(report.added) == 1
        index = Index(tmp_path / "index")
        assert len(index) == len(library.shots(report.added[0]))
        assert build_index(tmp_path / "index", library).unchanged == report.added


def test_a_long_video_is_looked_at_piece_by_piece(shelf, tmp_path, monkeypatch):
    from wordsight.retrieval.index import video

    build_index(tmp_path / "one", shelf, visual=SMALL)
    seen = []
    build = video.DocumentsPart.build
    monkeypatch.setattr(video, "_BATCH_SHOTS", 2)
    monkeypatch.setattr(
        video.DocumentsPart, "build", lambda self, s: seen.append(list(s)) or build(self, s)
    )
    build_index(tmp_path / "two", shelf, visual=SMALL)
    assert [source.frames for sources in seen for source in sources] == [()] * 4
    one, two = (Index(tmp_path / name) for name in ("one", "two"))
    for mine, theirs in zip(one.segments, two.segments, strict=True):
        for name, array in mine.segment.arrays("visual").items():
            np.testing.assert_array_equal(array, theirs.segment.array("visual", name))
