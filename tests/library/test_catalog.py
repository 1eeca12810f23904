"""Rows in and out, the same on both databases."""

import sqlite3
import threading
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from tests.library.test_migrate import video_row
from wordsight.errors import LibraryError
from wordsight.library.catalog import queries, schema
from wordsight.library.catalog.database import Database, Location
from wordsight.library.catalog.entries import Failure
from wordsight.library.catalog.opening import make_or_upgrade
from wordsight.library.catalog.queries import NewSentence
from wordsight.library.files.store import StagedArtefact
from wordsight.records import Scene, Shot


@pytest.fixture
def database(location):
    database = Database(location, create=True)
    make_or_upgrade(database)
    yield database
    database.close()


def add_videos(database, number, name="clip {n} of the lab.mp4"):
    with database.write() as connection:
        for n in range(number):
            row = video_row(f"clip-{n:05d}", f"{n:064x}") | {"name": name.format(n=n)}
            assert queries.insert_video(connection, row)


def artefact(video_id="clip-00000", sha256="b" * 64, settings=None, kind="detections"):
    home = f"videos/{video_id}" if video_id else "shared"
    path = f"{home}/{kind}-{sha256[:12]}.npz"
    return StagedArtefact(kind, video_id, settings or {}, "/staged", path, sha256, 7)


def count(connection, table):
    return connection.scalar(sa.select(sa.func.count()).select_from(table))


def test_a_video_comes_back_as_it_went_in(database):
    before = datetime.now(UTC)
    with database.write() as connection:
        queries.insert_video(connection, video_row())
    with database.read() as connection:
        ((entry, copy),) = queries.videos(connection)
    row = video_row()
    assert copy is None
    assert {name: getattr(entry, name) for name in row if name != "modified_ns"} == {
        name: value for name, value in row.items() if name != "modified_ns"
    }
    assert entry.added_at.utcoffset() == timedelta(0)
    assert before <= entry.added_at <= datetime.now(UTC)


def test_the_same_content_is_inserted_once(database):
    with database.write() as connection:
        assert queries.insert_video(connection, video_row())
        assert not queries.insert_video(connection, video_row("other-name"))
        assert count(connection, schema.videos) == 1


def test_sentences_are_new_by_text_and_time(database):
    said = [
        NewSentence("She walked."),
        NewSentence("She walked."),
        NewSentence("She walked.", 1.0, 2.0),
        NewSentence("She walked.", 1.0, 2.5, "other source"),
        NewSentence("Ünïcödé 🎉 'quoted' \"twice\" %_"),
    ]
    add_videos(database, 2)
    with database.write() as connection:
        assert queries.insert_sentences(connection, "clip-00000", said) == 4
        assert queries.insert_sentences(connection, "clip-00000", said) == 0
        assert queries.insert_sentences(connection, "clip-00001", said[:1]) == 1
        assert queries.insert_sentences(connection, "clip-00001", []) == 0
    with database.read() as connection:
        found = list(queries.sentences(connection, ["clip-00000"]))
    assert [(s.text, s.start, s.end) for s in found] == [
        ("She walked.", None, None),
        (said[4].text, None, None),
        ("She walked.", 1.0, 2.0),
        ("She walked.", 1.0, 2.5),
    ]


def test_many_sentences_at_once(database):
    add_videos(database, 1)
    said = [NewSentence(f"Sentence {n}.", n / 10, n / 10 + 1) for n in range(1201)]
    with database.write() as connection:
        assert queries.insert_sentences(connection, "clip-00000", said) == 1201


def test_shots_keep_their_scene(database):
    add_videos(database, 1)
    shots = [Shot("clip-00000", n, n + 1, 0.5, 10 * n, 10 * n + 10) for n in range(4)]
    scenes = [Scene("clip-00000", 0, 3, 1, 0, 3), Scene("clip-00000", 3, 4, 1, 3, 4)]
    with database.write() as connection:
        queries.insert_shots(connection, "clip-00000", shots, scenes)
    with database.read() as connection:
        found = queries.shots(connection, "clip-00000")
    assert [shot for shot, _ in found] == shots
    assert [scene for _, scene in found] == [0, 0, 0, 1]


def test_an_artefact_takes_the_place_of_one_of_its_slot(database):
    add_videos(database, 1)
    old, new = artefact(), artefact(sha256="c" * 64)
    other = artefact(sha256="d" * 64, settings={"rate": 5, "name": "x"})
    with database.write() as connection:
        assert queries.put_artefact(connection, old) is None
        assert queries.put_artefact(connection, other) is None
        assert queries.put_artefact(connection, new) == old.path
        assert queries.put_artefact(connection, new) is None
    with database.read() as connection:
        found = queries.artefacts(connection, kind="detections", video_id="clip-00000")
    assert {(a.sha256, tuple(a.settings)) for a in found} == {
        (new.sha256, ()),
        (other.sha256, ("rate", "name")),
    }


@pytest.mark.parametrize("video_id", ["clip-00000", None], ids=["of a video", "of the library"])
def test_the_last_one_entered_is_the_newest_even_if_the_clock_was_set_back(database, video_id):
    add_videos(database, 1)
    with database.write() as connection:
        queries.put_artefact(connection, artefact(video_id, "a" * 64, {"n": 1}))
        ahead = datetime.now(UTC) + timedelta(days=400)  # entered before somebody set it right
        connection.execute(sa.update(schema.artefacts).values(created_at=ahead))
        queries.put_artefact(connection, artefact(video_id, "c" * 64, {"n": 2}))
        queries.put_artefact(connection, artefact(video_id, "d" * 64, {"n": 1}))
    with database.read() as connection:
        entries = queries.artefacts(connection, kind="detections")
    assert [entry.settings["n"] for entry in entries] == [2, 1]


def test_an_artefact_of_the_library_has_one_slot_too(database):
    with database.write() as connection:
        for letter in "ef":
            made = artefact(None, letter * 64, kind="codebook")
            queries.put_artefact(connection, made)
        assert count(connection, schema.artefacts) == 1
        (found,) = queries.artefacts(connection, of_library=True)
    assert (found.video_id, found.sha256) == (None, "f" * 64)


def test_deleting_a_video_takes_everything_of_it_along(database):
    add_videos(database, 2)
    with database.write() as connection:
        for video_id in ("clip-00000", "clip-00001"):
            queries.insert_sentences(connection, video_id, [NewSentence("Hello.")])
            queries.insert_shots(connection, video_id, [Shot(video_id, 0, 1, 1, 0, 10)], [])
            queries.put_artefact(connection, artefact(video_id))
    with database.write() as connection:
        assert queries.delete_videos(connection, ["clip-00000"]) == [artefact().path]
    with database.read() as connection:
        for table in (schema.videos, schema.sentences, schema.shots, schema.artefacts):
            assert count(connection, table) == 1


def test_failures_are_remembered_once_and_forgotten(database):
    with database.write() as connection:
        queries.record_failures(connection, [Failure("a", "one"), Failure("b", "two")])
        queries.record_failures(connection, [Failure("a", "three")])
        queries.forget_failures(connection, ["b", "unknown"])
    with database.read() as connection:
        (failure,) = queries.failures(connection)
    assert (failure.path, failure.message) == ("a", "three")
    assert failure.at.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("CLIP", 6),  # in names, whatever the case
        ("clip 1", 1),
        ("wave", 1),  # in a sentence
        ("100%", 1),  # signs that mean something to SQL mean themselves
        ("0_0", 0),
        ("nothing like it", 0),
        ("'; DROP TABLE videos; --", 0),
    ],
)
def test_videos_are_found_by_name_or_sentence(database, text, found):
    add_videos(database, 5)
    with database.write() as connection:
        queries.insert_sentences(connection, "clip-00003", [NewSentence("They wave.")])
        row = video_row("full-1", "9" * 64) | {"name": "100% clip.mp4"}
        queries.insert_video(connection, row)
    with database.read() as connection:
        entries = queries.videos(connection, text=text)
        assert len(entries) == found == queries.count_videos(connection, text)


@pytest.mark.parametrize("order", queries.ORDERS)
def test_pages_meet_without_gap_or_overlap(database, order):
    add_videos(database, 25, name="all the same.mp4")
    with database.read() as connection:
        pages = [
            queries.videos(connection, order=order, limit=10, offset=offset)
            for offset in (0, 10, 20)
        ]
        whole = queries.videos(connection, order=order)
    assert [len(page) for page in pages] == [10, 10, 5]
    assert [entry for page in pages for entry, _ in page] == [entry for entry, _ in whole]


def test_an_id_may_be_shortened(database):
    add_videos(database, 3)
    with database.read() as connection:
        assert queries.matching_ids(connection, "clip-00001") == ["clip-00001"]
        assert len(queries.matching_ids(connection, "clip-0")) == 3
        assert queries.matching_ids(connection, "%") == []


def test_a_failing_block_changes_nothing(database):
    with pytest.raises(ZeroDivisionError), database.write() as connection:
        queries.insert_video(connection, video_row())
        raise ZeroDivisionError
    with database.read() as connection:
        assert queries.count_videos(connection) == 0


def test_writers_wait_for_each_other(database):
    add_videos(database, 1)

    def add_one_to_size():
        for _ in range(10):
            with database.write() as connection:
                size = connection.scalar(sa.select(schema.videos.c.size))
                connection.execute(sa.update(schema.videos).values(size=size + 1))

    threads = [threading.Thread(target=add_one_to_size) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.read() as connection:
        assert connection.scalar(sa.select(schema.videos.c.size)) == video_row()["size"] + 30


def test_readers_read_while_someone_writes(database):
    add_videos(database, 1)
    with database.write() as writer:
        queries.insert_video(writer, video_row())
        with database.read() as reader:
            assert queries.count_videos(reader) == 1
    with database.read() as reader:
        assert queries.count_videos(reader) == 2


def test_a_broken_reference_is_refused_in_plain_words(database):
    with pytest.raises(LibraryError), database.write() as connection:
        queries.insert_sentences(connection, "nobody", [NewSentence("Hello.")])


def test_a_server_that_does_not_answer_is_told_without_the_password():
    location = Location.parse("postgresql://ann:secret@127.0.0.1:1/lab")
    with pytest.raises(LibraryError, match="does not answer") as caught, Database(location).read():
        pass
    assert "secret" not in str(caught.value)
    assert "postgresql://ann:***@127.0.0.1:1/lab" in str(caught.value)


@pytest.mark.parametrize(
    ("said", "told"),
    [  # what SQLite says of a full disk, and PostgreSQL when it is stopped
        ("disk I/O error", "full or fails; free some space and run the same command again"),
        ("database or disk is full", "no room left .* free some space"),
        ("server closed the connection unexpectedly", "in the middle .* nothing is lost: run the"),
    ],
)
def test_what_a_database_says_is_told_with_what_to_do(database, said, told):
    with pytest.raises(LibraryError, match=told), database.read():
        raise sa.exc.OperationalError("select", {}, sqlite3.OperationalError(said))
