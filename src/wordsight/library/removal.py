"""Taking things out: rows first and files after, so that the catalogue never promises too much."""

from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from wordsight.library import schema
from wordsight.library.catalogue import delete_videos
from wordsight.library.database import Database
from wordsight.library.kinds import ORIGINAL
from wordsight.library.store import ArtefactStore

__all__ = ["remove_artefact", "remove_orphans", "remove_videos", "unlink_unused"]


def remove_videos(database: Database, store: ArtefactStore, ids: Sequence[str]) -> None:
    """Take videos out of the library; source files outside its folder are left alone."""
    with database.write() as connection:
        paths = delete_videos(connection, ids)
    unlink_unused(database, store, paths)


def remove_artefact(database: Database, store: ArtefactStore, number: int) -> None:
    """Take one artefact out of the library."""
    table = schema.artefacts
    with database.write() as connection:
        wanted = table.c.id == number
        paths = connection.scalars(sa.select(table.c.path).where(wanted)).all()
        connection.execute(sa.delete(table).where(wanted))
    unlink_unused(database, store, paths)


def unlink_unused(database: Database, store: ArtefactStore, paths: Iterable[str]) -> list[str]:
    """Delete those files that no row names (any more); return which."""
    removed = []
    # Inside the lock, since another process may be about to enter the very same file again.
    with database.write() as connection:
        for path in paths:
            named = sa.select(schema.artefacts.c.id).where(schema.artefacts.c.path == path)
            if connection.scalar(named.limit(1)) is None:
                store.remove(path)
                removed.append(path)
    return removed


def remove_orphans(database: Database, store: ArtefactStore) -> list[str]:
    """Delete artefacts the catalogue does not know, unless someone is making files just now.

    Copies of videos stay: if the catalogue was lost, such a copy may be the last.
    """
    with store.alone() as alone:
        if not alone:
            return []
        derived = [
            path for path in store.ours() if not path.rpartition("/")[2].startswith(f"{ORIGINAL}-")
        ]
        return unlink_unused(database, store, derived)
