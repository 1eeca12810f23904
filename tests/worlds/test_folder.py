"""What `write_world` leaves on disk, also after refusals and interruptions."""

import json
from dataclasses import replace

import pytest

from tests.worlds.toy import toy_film
from wordsight.video.read.reader import VideoReader
from wordsight.worlds import WorldError, write_world


def films(count, seed=0, **options):
    return [toy_film(index, seed, **options) for index in range(count)]


def test_a_world_has_videos_pairs_and_truth(tmp_path):
    folder = write_world(films(2), tmp_path / "new" / "world")
    assert sorted(path.name for path in folder.iterdir()) == [
        "metadata.jsonl",
        "toy-000.mp4",
        "toy-001.mp4",
        "truth.jsonl",
    ]
    rows = [json.loads(line) for line in (folder / "metadata.jsonl").read_text().splitlines()]
    assert rows[0] == {"file_name": "toy-000.mp4", "text": "The square 0 slid."}
    assert len(rows) == 4
    truth = [json.loads(line) for line in (folder / "truth.jsonl").read_text().splitlines()]
    assert [film["name"] for film in truth] == ["toy-000", "toy-001"]
    with VideoReader(folder / "toy-001.mp4") as video:
        assert [frame.size for frame in video.frames()] == [(64, 48)] * 6


def test_the_same_films_give_the_same_truth(tmp_path):
    one = write_world(films(2), tmp_path / "one")
    two = write_world(films(2), tmp_path / "two")
    assert (one / "truth.jsonl").read_bytes() == (two / "truth.jsonl").read_bytes()


def test_a_folder_in_use_is_refused_and_left_as_it_was(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(WorldError, match=r"notes\.txt"):
        write_world(films(1), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_force_replaces_a_world_but_not_the_files_of_others(tmp_path):
    write_world(films(3), tmp_path)
    (tmp_path / "holiday.mp4").write_text("mine")
    with pytest.raises(WorldError, match="not empty"):
        write_world(films(1, seed=1), tmp_path)
    write_world(films(1, seed=1), tmp_path, force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "holiday.mp4",
        "metadata.jsonl",
        "toy-000.mp4",
        "truth.jsonl",
    ]


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "world").write_text("")
    with pytest.raises(WorldError, match="is a file"):
        write_world(films(1), tmp_path / "world")


def test_no_films_is_an_error(tmp_path):
    with pytest.raises(WorldError, match="at least one film"):
        write_world([], tmp_path)


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path):
    broken = [*films(2), toy_film(2, fail_at=3)]
    with pytest.raises(KeyboardInterrupt):
        write_world(broken, tmp_path)
    assert not (tmp_path / "truth.jsonl").exists()
    before = {name: (tmp_path / name).stat().st_mtime_ns for name in ("toy-000.mp4", "toy-001.mp4")}
    told = []
    write_world(films(3), tmp_path, total=3, progress=lambda *news: told.append(news))
    after = {name: (tmp_path / name).stat().st_mtime_ns for name in before}
    assert before == after
    assert told[-1] == (3, 3, "toy-002")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "metadata.jsonl",
        "toy-000.mp4",
        "toy-001.mp4",
        "toy-002.mp4",
        "truth.jsonl",
    ]


def test_an_interrupted_run_of_another_world_is_not_overwritten(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        write_world([toy_film(0), toy_film(1, fail_at=0)], tmp_path)
    with pytest.raises(WorldError, match="another world"):
        write_world(films(1, seed=5), tmp_path)
    write_world(films(1), tmp_path)  # fewer films of the same world: complete ones are kept
    assert (tmp_path / "toy-000.mp4").exists()


def with_notes(count, seed=0, **options):
    notes = {".txt": f"Notes of world {seed}.\n"}
    return [replace(film, companions=notes) for film in films(count, seed, **options)]


def test_what_a_film_brings_along_is_written_beside_it(tmp_path):
    write_world(with_notes(2), tmp_path)
    assert (tmp_path / "toy-001.txt").read_text() == "Notes of world 0.\n"
    truth = [json.loads(line) for line in (tmp_path / "truth.jsonl").read_text().splitlines()]
    assert truth[1]["companions"] == ["toy-001.txt"]


def test_force_replaces_what_films_brought_along_but_not_the_files_of_others(tmp_path):
    write_world(with_notes(3), tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    write_world(with_notes(1, seed=1), tmp_path, force=True)
    texts = {path.name: path.read_text() for path in tmp_path.glob("*.txt")}
    assert texts == {"notes.txt": "mine", "toy-000.txt": "Notes of world 1.\n"}


def test_an_interrupted_run_leaves_no_texts_of_films_that_are_no_longer_wanted(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        write_world([*with_notes(2), toy_film(2, fail_at=0)], tmp_path)
    write_world(with_notes(1), tmp_path)
    assert sorted(path.name for path in tmp_path.glob("toy-*")) == ["toy-000.mp4", "toy-000.txt"]


@pytest.mark.parametrize("name", ["../other.txt", "holiday.txt", "toy-0000.txt/x"])
def test_only_files_of_the_film_itself_are_ever_removed(tmp_path, name):
    world = tmp_path / "world"
    write_world(films(1), world)
    (tmp_path / "other.txt").write_text("mine")
    (world / "holiday.txt").write_text("mine")
    row = json.loads((world / "truth.jsonl").read_text())
    (world / "truth.jsonl").write_text(json.dumps({**row, "companions": [name]}) + "\n")
    write_world(films(1, seed=1), world, force=True)
    assert (tmp_path / "other.txt").read_text() == (world / "holiday.txt").read_text() == "mine"
