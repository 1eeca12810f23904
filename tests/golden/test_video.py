"""One video looked into: shots, detect, convert; and a small library of it."""

import pytest

from tests.golden.harness import wordsight
from tests.golden.sample import SUBTITLES, ids_of, write_footage


@pytest.fixture
def footage(tmp_path):
    write_footage(tmp_path / "film.mp4")
    (tmp_path / "film.srt").write_text(SUBTITLES, encoding="utf-8")
    return tmp_path


def test_shots_boxes_and_captions(golden, footage):
    with golden("video", footage) as book:
        book.run("shots", "shots", "film.mp4", "--sheet", "sheet.png")
        book.run("detect", "detect", "film.mp4", "-o", "boxes.csv", "--overlay", "drawn.mp4")
        book.file("boxes.csv", footage / "boxes.csv")
        follow = ("--follow", "--rate", 10, "-o", "tracks.csv")
        book.run("follow", "detect", "film.mp4", *follow)
        book.file("tracks.csv", footage / "tracks.csv")
        for name in ("tracks.txt", "tracks.json", "tracks.xml"):
            book.run(f"to {name}", "convert", "tracks.csv", name)
            book.file(name, footage / name)
            book.run(f"back from {name}", "convert", name, f"back-{name}.csv")
            book.file(f"back {name}", footage / f"back-{name}.csv")
        for name in ("film.vtt", "film.jsonl", "film.txt"):
            book.run(f"to {name}", "convert", "film.srt", name)
            book.file(name, footage / name)


def test_a_library(golden, footage):
    with golden("library", footage) as book:
        book.run("init", "init", "empty")
        said = ("-s", "A red square crosses a grey place.", "-j", 1, "-L", "library")
        added = wordsight(footage, "add", "film.mp4", *said, "--json").json
        book.ids |= ids_of(footage, "library")
        book.keep("add", added)
        book.run("add-again", "add", "film.mp4", "-L", "library")
        book.run("list", "list", "-L", "library")
        book.run("list-none", "list", "giraffe", "-L", "library")
        book.run("show", "show", "film", "-L", "library")
        book.run("verify", "verify", "-L", "library")
        book.folder("files", footage / "library")
        boxes = "frame,time,id,label,score,x1,y1,x2,y2\n0,0,1,square,1,10,40,40,80\n"
        (footage / "mine.csv").write_text(boxes, encoding="utf-8")
        own = ("--boxes", "mine.csv", "--copy", "-L", "copied")
        book.run("add-boxes", "add", "film.mp4", *own)
        book.run("show-boxes", "show", "film", "-L", "copied")
        book.run("remove", "remove", "film", "-L", "library")
        book.run("list-after", "list", "-L", "library")
        book.run("show-after", "show", "film", "-L", "library", code=1)
