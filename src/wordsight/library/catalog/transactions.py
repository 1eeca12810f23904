"""Entering files into the library: database row and rename in one transaction, or neither."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

import sqlalchemy as sa

from wordsight.errors import LibraryError
from wordsight.library.catalog import queries, schema
from wordsight.library.catalog.database import Database
from wordsight.library.catalog.entries import ORIGINAL, ArtefactEntry
from wordsight.library.catalog.queries import delete_videos, put_artefact
from wordsight.library.files.store import ArtefactStore, StagedArtefact

__all__ = [
    "entering",
    "is_entered",
    "keep",
    "place_all",
    "remove_artefact",
    "remove_orphans",
    "remove_videos",
    "unlink_unused",
]


# Taking things out: rows first and files after, so that the catalogue never promises too much.


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


@contextmanager
def entering(
    database: Database, store: ArtefactStore, staged: Sequence[StagedArtefact]
) -> Iterator[sa.Connection]:
    """Give a transaction in which to enter staged artefacts, and leave nothing half done.

    Whatever happens in the block, afterwards each artefact is in its place with a row, or gone.
    """
    try:
        with database.write() as connection:
            yield connection
    except BaseException:
        with suppress(LibraryError):  # what went wrong first is what people should hear of
            unlink_unused(database, store, [artefact.path for artefact in staged])
        raise
    finally:
        for artefact in staged:
            store.discard(artefact)


def place_all(
    connection: sa.Connection,
    store: ArtefactStore,
    staged: Sequence[StagedArtefact],
    *,
    replace: bool,
) -> list[str]:
    """Put artefacts in their places and enter them; those of a taken slot only if asked for.

    Returns:
        Paths of the artefacts whose slot was taken over, to be unlinked after the commit.
    """
    unused = []
    for artefact in staged:
        if replace or not is_entered(connection, artefact):
            store.place(artefact)
            unused.append(put_artefact(connection, artefact))
    return [path for path in unused if path is not None]


def is_entered(connection: sa.Connection, artefact: StagedArtefact) -> bool:
    """Say whether there is an artefact of this kind, settings and video already."""
    table = schema.artefacts
    found = sa.select(table.c.id).where(table.c.slot == artefact.slot)
    return connection.scalar(found) is not None


def keep(
    database: Database, store: ArtefactStore, stage: Callable[[], StagedArtefact]
) -> ArtefactEntry:
    """Stage an artefact and enter it; see :meth:`wordsight.library.Library.put_artefact`."""
    database.check_writable()
    with store.working():
        staged = stage()
        with entering(database, store, [staged]) as connection:
            unused = place_all(connection, store, [staged], replace=True)
        unlink_unused(database, store, unused)
    with database.read() as connection:
        entries = queries.artefacts(connection, kind=staged.kind, video_id=staged.video_id)
    for entry in entries:
        if entry.path == staged.path:
            return entry
    raise LibraryError(
        f"the {staged.kind} was removed by another process as soon as it was entered."
    )
