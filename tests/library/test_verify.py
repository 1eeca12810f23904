"""Verify finds everything that is not as the catalogue says, and clears away what is left over."""

import os
import sqlite3
import subprocess
import sys

import pytest
import sqlalchemy as sa

from wordsight.library import Library
from wordsight.library.files.store import ArtefactStore


@pytest.fixture
def library(place, videos):
    with Library.create(**place) as library:
        library.add(videos[:2], workers=1)
        yield library


def problems_of(library, **options):
    return [(problem.kind, problem.video_id) for problem in library.verify(**options).problems]


def artefact_file(library, kind="detections"):
    entry = library.artefacts(kind)[0]
    return library.path_of(entry), entry.video_id


@pytest.mark.slow
def test_a_whole_library(library):
    told = []
    report = library.verify(progress=lambda done, total, what: told.append((done, total)))
    assert report.clean and report.ok
    assert (report.num_videos, report.num_artefacts) == (2, 4)
    assert told[-1] == (6, 6)


@pytest.mark.slow
def test_a_missing_artefact(library):
    file, video_id = artefact_file(library)
    file.unlink()
    assert problems_of(library) == [("missing", video_id)]


@pytest.mark.slow
def test_one_changed_bit(library):
    file, video_id = artefact_file(library)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    assert problems_of(library) == [("changed", video_id)]
    assert problems_of(library, hashes=False) == []  # the size is the same


@pytest.mark.slow
def test_a_truncated_artefact_is_seen_without_reading(library):
    file, video_id = artefact_file(library, "thumbnail")
    file.write_bytes(file.read_bytes()[:-1])
    assert problems_of(library, hashes=False) == [("changed", video_id)]


@pytest.mark.slow
def test_a_source_that_is_gone_or_changed(library, videos):
    ids = {entry.path: entry.id for entry in library.videos()}
    videos[0].unlink()
    videos[1].write_bytes(videos[1].read_bytes() + b"x")
    assert problems_of(library) == [
        ("missing", ids[str(videos[0])]),
        ("changed", ids[str(videos[1])]),
    ]


@pytest.mark.slow
def test_a_problem_says_what_to_do(library):
    file, _ = artefact_file(library)
    file.unlink()
    (problem,) = library.verify().problems
    assert str(file) in problem.message and "add its video again with force" in problem.message
    assert library.add(library.video(problem.video_id).path, force=True, workers=1).ok
    assert library.verify().clean


@pytest.mark.slow
def test_files_the_catalogue_does_not_know_are_listed_and_swept(library, tmp_path):
    store = ArtefactStore(library.folder)
    stray = store.stage("notes", lambda p: p.write_text("x"), suffix=".txt", settings={})
    store.place(stray)
    copied = store.stage(
        "original", lambda p: p.write_text("x"), suffix=".mp4", settings={}, video_id="lost-1"
    )
    store.place(copied)
    own = library.folder / "videos" / "holiday.mp4"
    own.write_text("the user's own")
    report = library.verify()
    assert report.ok and not report.clean
    assert set(report.orphans) == {stray.path, copied.path}
    assert library.sweep() == (stray.path,)
    assert library.verify().orphans == (copied.path,)  # perhaps the last copy there is
    assert own.exists()


@pytest.mark.slow
def test_leftovers_are_cleared_away(library):
    partial = library.folder / "staging" / "detections.partial-1-abc.npz"
    partial.write_text("half")
    report = library.verify()
    assert report.removed == (partial.name,) and report.clean
    assert not partial.exists()


@pytest.mark.slow
def test_nothing_is_swept_while_another_process_works(library):
    program = (
        "import sys; from pathlib import Path\n"
        "from wordsight.library.files.store import ArtefactStore\n"
        "with ArtefactStore(Path(sys.argv[1])).working(): print('x', flush=True); input()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(library.folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    process.stdout.readline()
    store = ArtefactStore(library.folder)
    stray = store.stage("notes", lambda p: p.write_text("x"), suffix=".txt", settings={})
    assert library.verify().removed == ()
    store.place(stray)
    assert library.sweep() == ()
    process.communicate(b"\n")
    assert library.sweep() == (stray.path,)


@pytest.mark.slow
def test_a_catalogue_that_names_a_place_outside_is_not_followed(library):
    with library._database.write() as connection:
        connection.execute(sa.text("UPDATE artefacts SET path = '../../etc/passwd' WHERE id = 1"))
    report = library.verify()
    assert [p.kind for p in report.problems] == ["catalogue"]


def test_a_damaged_sqlite_file_is_found(tmp_path, videos):
    with Library.create(tmp_path / "library") as library:
        library.add(videos[0], workers=1, sentences=[f"Sentence {n}." for n in range(500)])
    file = tmp_path / "library" / "catalogue.sqlite"
    with sqlite3.connect(file) as connection:
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'uq_sentences_video_id_fingerprint' "
            "OR name = 'sqlite_autoindex_sentences_1'"
        ).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with file.open("r+b") as data:
        data.seek((root - 1) * size)
        data.write(os.urandom(size))
    with Library.open(tmp_path / "library") as library:
        assert "catalogue" in {problem.kind for problem in library.verify().problems}
