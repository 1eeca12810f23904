"""What people name becomes videos with their sentences and boxes; what makes no sense is told."""

import json

import pytest

from wordsight.errors import LibraryError
from wordsight.language.captions import Caption
from wordsight.library.catalog.entries import Failure
from wordsight.library.ingest.sources import MetadataRow, gather, read_metadata


def touch(folder, *names):
    files = [folder / name for name in names]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x")
    return files


def describe(folder, *rows):
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    file = folder / "metadata.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def names_of(sources):
    return [source.path.name for source in sources]


def said_of(source):
    return [(s.text, s.start, s.end) for s in source.sentences]


def test_files_and_folders_each_video_once(tmp_path):
    touch(tmp_path, "b.mp4", "a.MOV", "sub/c 🎬.webm", "notes.txt", ".hidden.mp4", ".git/d.mp4")
    sources, failures = gather([tmp_path, tmp_path / "b.mp4"])
    assert names_of(sources) == ["a.MOV", "b.mp4", "c 🎬.webm"]
    assert failures == []


def test_a_file_named_on_its_own_may_have_any_suffix(tmp_path):
    touch(tmp_path, "clip.xyz")
    assert names_of(gather([tmp_path / "clip.xyz"])[0]) == ["clip.xyz"]


def test_a_library_inside_a_folder_is_left_out(tmp_path):
    touch(tmp_path, "a.mp4", "library/catalogue.sqlite", "library/videos/a-1/original.mp4")
    assert names_of(gather([tmp_path])[0]) == ["a.mp4"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing.mp4", "no such file"),
        ("empty folder", "holds no videos"),
        ("clip.srt", "name the video instead"),
    ],
)
def test_what_cannot_be_used_is_told(tmp_path, name, words):
    (tmp_path / "empty folder").mkdir()
    touch(tmp_path, "clip.srt")
    sources, failures = gather([tmp_path / name])
    assert sources == []
    assert words in failures[0].message and failures[0].path.endswith(name)


def test_metadata_gives_many_sentences_per_video(tmp_path):
    touch(tmp_path, "a.mp4", "train/b.mp4", "c.mp4")
    describe(
        tmp_path,
        {"file_name": "a.mp4", "text": "She picked up the cup."},
        {"file_name": "a.mp4", "caption": "She put it down.", "start": 1, "end": 2.5},
        {"video": "train/b.mp4", "sentence": "  He\nleft. "},
        "",
        {"file_name": "a.mp4", "text": ["One.", "Two."]},
        {"file_name": "c.mp4"},
    )
    sources, failures = gather([tmp_path])
    assert failures == []
    assert {s.path.name: said_of(s) for s in sources} == {
        "a.mp4": [
            ("She picked up the cup.", None, None),
            ("She put it down.", 1.0, 2.5),
            ("One.", None, None),
            ("Two.", None, None),
        ],
        "b.mp4": [("He left.", None, None)],
        "c.mp4": [],
    }
    assert sources[0].sentences[1].source == "metadata.jsonl:2"


def test_metadata_named_on_its_own_brings_only_its_videos(tmp_path):
    touch(tmp_path, "a.mp4", "b.mp4")
    file = describe(tmp_path, {"file_name": "a.mp4", "text": "Hello."})
    assert names_of(gather([file])[0]) == ["a.mp4"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{not json", "not JSON"),
        ('["a.mp4", "text"]', "expected an object"),
        ('{"text": "Nobody."}', "names no video"),
        ('{"file_name": 7, "text": "x"}', "names no video"),
        ('{"file_name": "a.mp4", "text": 7}', "must be text"),
        ('{"file_name": "a.mp4", "text": "  "}', "needs some text"),
        ('{"file_name": "a.mp4", "text": "x", "start": 3, "end": 2}', "before it starts"),
        ('{"file_name": "a.mp4", "text": "x", "start": 3}', "both a start and an end"),
        ('{"file_name": "a.mp4", "text": "x", "start": "3", "end": 4}', "number of seconds"),
        ('{"file_name": "a.mp4", "text": "x", "start": NaN, "end": 4}', "0 s or later"),
        ('{"file_name": "a.mp4", "text": "x\\u0000y"}', "NUL"),
        ('{"file_name": "a.mp4\\u0000", "text": "x"}', "NUL"),
        ('{"file_name": "gone.mp4", "text": "x"}', "which is not there"),
        ('{"file_name": "a.mp4", "text": "x", "boxes": "gone.csv"}', "which is not there"),
    ],
)
def test_a_bad_line_is_told_with_its_number_and_the_rest_is_used(tmp_path, line, words):
    touch(tmp_path, "a.mp4")
    file = describe(tmp_path, {"file_name": "a.mp4", "text": "Fine."}, line)
    sources, failures = gather([file])
    assert said_of(sources[0]) == [("Fine.", None, None)]
    assert [failure.path for failure in failures] == [f"{file}:2"]
    assert words in failures[0].message


def test_a_line_that_is_no_text_is_told(tmp_path):
    touch(tmp_path, "a.mp4")
    file = tmp_path / "metadata.jsonl"
    file.write_bytes(b'\xef\xbb\xbf{"file_name": "a.mp4", "text": "Fine."}\n\xff\xfe\x00\n')
    first, second = read_metadata(file)
    assert isinstance(first, MetadataRow) and isinstance(second, Failure)
    assert second.path == f"{file}:2"


def test_subtitles_and_boxes_beside_a_video_are_found(tmp_path):
    touch(tmp_path, "a.mp4", "b.mp4", "b.boxes.csv")
    (tmp_path / "a.srt").write_text("1\n00:00:01,000 --> 00:00:02,500\nShe waved\nat him.\n")
    sources, failures = gather([tmp_path])
    assert failures == []
    assert said_of(sources[0]) == [("She waved at him.", 1.0, 2.5)]
    assert sources[0].sentences[0].source == "a.srt"
    assert sources[0].boxes is None
    assert sources[1].boxes == tmp_path / "b.boxes.csv"


def test_a_transcript_beside_a_video_takes_the_place_of_its_subtitles(tmp_path):
    touch(tmp_path, "a.mp4", "b.mp4")
    words = [{"word": " Hi.", "start": 1.0, "end": 1.5}, {"word": " Bye.", "start": 4, "end": 4.5}]
    segment = {"start": 0.5, "end": 5.0, "text": " Hi. Bye.", "words": words}
    (tmp_path / "a.json").write_text(json.dumps({"segments": [segment]}))
    (tmp_path / "b.json").write_text('{"annotations": []}')  # something else
    for name in ("a.srt", "b.srt"):
        (tmp_path / name).write_text("1\n00:00:01,000 --> 00:00:05,000\nHi. Bye.\n")
    sources, failures = gather([tmp_path])
    assert failures == []
    assert said_of(sources[0]) == [("Hi.", 1.0, 1.5), ("Bye.", 4.0, 4.5)]
    assert said_of(sources[1]) == [("Hi. Bye.", 1.0, 5.0)]


def test_bad_subtitles_are_told_and_the_video_is_kept(tmp_path):
    touch(tmp_path, "a.mp4")
    (tmp_path / "a.srt").write_text("1\n00:00:xx --> nonsense\nHello\n")
    sources, failures = gather([tmp_path / "a.mp4"])
    assert names_of(sources) == ["a.mp4"]
    assert failures[0].path.endswith("a.srt")


def test_sentences_and_boxes_given_for_one_video(tmp_path):
    touch(tmp_path, "a.mp4", "b.mp4", "det.txt")
    (source,), _ = gather(
        [tmp_path / "a.mp4"],
        sentences=["She waved.", Caption(1.0, 2.0, "He waved.")],
        boxes=tmp_path / "det.txt",
    )
    assert said_of(source) == [("She waved.", None, None), ("He waved.", 1.0, 2.0)]
    assert source.boxes == tmp_path / "det.txt"
    with pytest.raises(LibraryError, match="one video at a time, but there are 2"):
        gather([tmp_path], sentences=["She waved."])
    sources, _ = gather([tmp_path], boxes={str(tmp_path / "b.mp4"): str(tmp_path / "det.txt")})
    assert [source.boxes for source in sources] == [None, tmp_path / "det.txt"]


def test_what_is_wrong_with_a_line_is_one_sentence(tmp_path):
    (film,) = touch(tmp_path, "a.mp4")
    file = describe(tmp_path, {"file_name": film.name, "text": "half a\x00 character"}, "{")
    for row in read_metadata(file):
        assert isinstance(row, Failure)
        assert row.message.endswith(".") and not row.message.endswith("..")
