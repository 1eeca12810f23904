"""Entering files into the library: row and rename in one transaction, or neither."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from wordsight.errors import LibraryError
from wordsight.library import lookup, schema
from wordsight.library.catalogue import put_artefact
from wordsight.library.database import Database
from wordsight.library.entries import ArtefactEntry
from wordsight.library.removal import unlink_unused
from wordsight.library.store import ArtefactStore, StagedArtefact

__all__ = ["entering", "is_entered", "keep", "place_all"]


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
    """Put artefacts in their places and enter them; those of a taken slot only if told.

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
    database: Database,
    store: ArtefactStore,
    kind: str,
    write: Callable[[Path], None],
    *,
    suffix: str,
    settings: Mapping[str, Any],
    video_id: str | None = None,
) -> ArtefactEntry:
    """Write an artefact and enter it; see :meth:`wordsight.library.Library.put_artefact`."""
    database.check_writable()
    with store.working():
        staged = store.stage(kind, write, suffix=suffix, settings=settings, video_id=video_id)
        with entering(database, store, [staged]) as connection:
            unused = place_all(connection, store, [staged], replace=True)
        unlink_unused(database, store, unused)
    with database.read() as connection:
        entries = lookup.artefacts(connection, kind=kind, video_id=video_id)
    for entry in entries:
        if entry.path == staged.path:
            return entry
    raise LibraryError(f"the {kind} was removed by another process as soon as it was entered.")
