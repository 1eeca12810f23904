"""Tables are made and brought up to date by one process at a time, all of it or nothing."""

import shutil
import subprocess
import sys
import textwrap

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from wordsight.errors import LibraryError
from wordsight.library.catalog import queries, schema
from wordsight.library.catalog.database import Database
from wordsight.library.catalog.opening import MIGRATIONS, make_or_upgrade, version_of


@pytest.fixture
def database(location):
    database = Database(location, create=True)
    yield database
    database.close()


@pytest.fixture
def later_migrations(tmp_path):
    """Our migrations and one more, which changes a table others refer to."""
    folder = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS, folder)
    text = """
        import sqlalchemy as sa
        from alembic import op

        revision = "9999"
        down_revision = "HEAD"

        def upgrade():
            with op.batch_alter_table("videos") as table:
                table.add_column(sa.Column("camera", sa.Text, server_default="unknown"))
                table.alter_column("codec", new_column_name="coding")
    """.replace("HEAD", schema.SCHEMA_VERSION)
    (folder / "versions" / "v9999_camera.py").write_text(textwrap.dedent(text))
    return folder


def fill(database):
    with database.write() as connection:
        assert queries.insert_video(connection, video_row())
        queries.insert_sentences(connection, "walk-1", [queries.NewSentence("She walked.")])


def video_row(video_id="walk-1", sha256="a" * 64):
    return {
        "id": video_id,
        "sha256": sha256,
        "name": "walk.mp4",
        "path": "/videos/walk.mp4",
        "size": 5_000_000_000,
        "modified_ns": 1_700_000_000_000_000_000,
        "duration": 1.5,
        "width": 64,
        "height": 48,
        "frame_rate": 29.97,
        "num_frames": 45,
        "codec": "h264",
    }


def test_an_empty_database_has_no_version_and_then_the_newest(database):
    assert version_of(database) is None
    make_or_upgrade(database)
    assert version_of(database) == schema.SCHEMA_VERSION


def test_the_newest_migration_is_the_version_the_program_knows():
    assert ScriptDirectory(str(MIGRATIONS)).get_heads() == [schema.SCHEMA_VERSION]


@pytest.mark.slow
def test_migrations_make_exactly_the_tables_of_the_schema(database):
    make_or_upgrade(database)
    with database.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []


def test_making_twice_changes_nothing(database):
    make_or_upgrade(database)
    fill(database)
    make_or_upgrade(database)
    with database.read() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(schema.sentences)) == 1


def test_an_upgrade_keeps_what_refers_to_a_table_made_anew(database, later_migrations):
    make_or_upgrade(database)
    fill(database)
    make_or_upgrade(database, later_migrations)
    with database.read() as connection:
        assert connection.execute(sa.text("SELECT coding, camera FROM videos")).one() == (
            "h264",
            "unknown",
        )
        assert connection.scalar(sa.select(schema.sentences.c.text)) == "She walked."


def test_a_failed_upgrade_leaves_everything_as_it_was(database, later_migrations):
    make_or_upgrade(database)
    fill(database)
    file = later_migrations / "versions" / "v9999_camera.py"
    file.write_text(file.read_text() + "\n    op.execute('THIS IS NOT SQL')\n")
    with pytest.raises(LibraryError):
        make_or_upgrade(database, later_migrations)
    assert version_of(database) == schema.SCHEMA_VERSION
    with database.read() as connection:
        assert connection.scalar(sa.select(schema.videos.c.codec)) == "h264"


def test_a_newer_catalogue_is_refused(database, later_migrations):
    make_or_upgrade(database, later_migrations)
    with pytest.raises(LibraryError, match=r"newer Wordsight.*9999.*update Wordsight"):
        version_of(database)


@pytest.mark.slow
def test_processes_that_come_together_make_the_tables_once(location):
    program = textwrap.dedent(f"""
        from pathlib import Path
        from wordsight.library.catalog.database import Database
        from wordsight.library.catalog.database import Location
        from wordsight.library.catalog.opening import make_or_upgrade, version_of
        url = {location.url.render_as_string(hide_password=False)!r}
        parsed = Location.parse(url)
        database = Database(Location(parsed.url, Path({str(location.folder)!r})), create=True)
        make_or_upgrade(database)
        print(version_of(database))
    """)
    processes = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    answers = [process.communicate(timeout=300)[0].strip() for process in processes]
    assert answers == [schema.SCHEMA_VERSION] * 3
