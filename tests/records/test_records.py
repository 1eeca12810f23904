"""Clip, sentence and results: what they refuse, and that they survive the disk."""

import json
import zipfile

import numpy as np
import pytest
from hypothesis import given

from tests.records.builders import detections
from wordsight.errors import FormatError, RecordError
from wordsight.records import Clip, Detections, Moment, Scene, Sentence, Shot, Track, Word
from wordsight.records.arrays import load_npz, save_npz

SENTENCE = Sentence(
    "The person picked up the backpack.",
    (Word("person", (0,)), Word("picked-up", (0, 1)), Word("backpack", (1,))),
)
TRACK = Track("v", 0.0, 0.2, 1.5, [0.0, 0.1], np.ones((2, 4)), [1, 0], [True, False], "person", 3)
RESULTS = [
    Moment("v", 0, 1, 0.5),
    Shot("v", 0, 1, 0.5, 0, 30),
    Scene("v", 0, 1, 0.5, 0, 2),
    TRACK,
    SENTENCE,
]


@pytest.mark.slow
@given(detections())
def test_a_clip_survives_the_disk(tmp_path_factory, seen):
    clip = Clip.cut("street 1", seen, 0.1, 0.5)
    path = tmp_path_factory.mktemp("npz") / "clip.npz"
    clip.save(path)
    assert Clip.load(path) == clip
    assert np.array_equal(clip.boxes, clip.detections.boxes)
    assert all(0.1 <= time < 0.5 for time in clip.times)


@pytest.mark.parametrize("record", RESULTS, ids=lambda record: type(record).__name__)
def test_a_result_survives_the_disk(tmp_path, record):
    record.save(tmp_path / "record.npz")
    assert type(record).load(tmp_path / "record.npz") == record


def test_clip_refuses_frames_outside_itself():
    seen = Detections(
        [0.0, 1.0],
        np.zeros((2, 0, 4)),
        np.zeros((2, 0)),
        np.zeros((2, 0)),
        np.zeros((2, 0)),
        (),
        (8, 8),
    )
    with pytest.raises(RecordError, match="between"):
        Clip("v", 0, 1, seen)
    with pytest.raises(RecordError, match="start before"):
        Clip("v", 2, 1, seen)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Word("", (0,)), "empty"),  # no name
        (lambda: Word("person", ()), "numbered from 0"),  # nobody
        (lambda: Word("person", (-1,)), "numbered from 0"),  # a negative participant
        (lambda: Sentence("x", (Word("person", (1,)),)), "without a gap"),  # p1 but no p0
        (lambda: Moment("v", 2, 1, 0), "start before"),  # backwards
        (lambda: Track("v", 0, 1, 0, [0.0], np.ones((2, 4)), [1], [1], "a", 0), "boxes"),
    ],
)
def test_bad_records_are_refused(make, message):
    with pytest.raises(RecordError, match=message):
        make()


def test_meaning_is_readable():
    assert SENTENCE.meaning == "person(p0) picked-up(p0,p1) backpack(p1)"
    assert SENTENCE.num_participants == 2


class TestNpz:
    def test_a_record_of_another_kind_is_refused(self, tmp_path):
        SENTENCE.save(tmp_path / "s.npz")
        with pytest.raises(FormatError, match="holds Sentence, but a Detections"):
            Detections.load(tmp_path / "s.npz")

    def test_a_newer_layout_is_refused(self, tmp_path):
        save_npz(tmp_path / "s.npz", "Sentence", 99, {}, {"text": "", "words": []})
        with pytest.raises(FormatError, match="newer Wordsight"):
            Sentence.load(tmp_path / "s.npz")

    @pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 broken"])
    def test_a_damaged_file_is_refused(self, tmp_path, content):
        (tmp_path / "s.npz").write_bytes(content)
        with pytest.raises(FormatError, match="not a readable Sentence"):
            Sentence.load(tmp_path / "s.npz")

    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(FormatError, match="does not exist"):
            Sentence.load(tmp_path / "none.npz")

    def test_a_missing_part_is_named(self, tmp_path):
        save_npz(tmp_path / "m.npz", "Moment", 1, {}, {"video_id": "v", "start": 0})
        with pytest.raises(FormatError, match="lacks a part of Moment"):
            Moment.load(tmp_path / "m.npz")

    def test_a_bomb_is_refused_before_it_is_unpacked(self, tmp_path):
        path = tmp_path / "bomb.npz"
        save_npz(path, "Bomb", 1, {"zeros": np.zeros(1 << 22)}, {})
        assert path.stat().st_size < 1 << 20
        with pytest.raises(FormatError, match="would unpack to"):
            load_npz(path, "Bomb", 1, max_bytes=1 << 20)

    def test_arrays_of_objects_are_never_read(self, tmp_path):
        path = tmp_path / "evil.npz"
        np.savez(path, evil=np.array([{"run": "me"}], dtype=object))
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(
                "record.json", json.dumps({"kind": "Moment", "version": 1, "values": {}})
            )
        with pytest.raises(FormatError, match="not a readable Moment"):
            Moment.load(path)

    def test_objects_are_never_written(self, tmp_path):
        with pytest.raises(ValueError, match="allow_pickle"):
            save_npz(tmp_path / "o.npz", "O", 1, {"o": np.array([{}], dtype=object)}, {})
        assert list(tmp_path.iterdir()) == []
