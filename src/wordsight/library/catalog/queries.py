"""Reading the catalogue: functions on a connection that return records."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from wordsight.library.catalog import schema
from wordsight.library.catalog.entries import (
    ORIGINAL,
    ArtefactEntry,
    Failure,
    SentenceEntry,
    VideoEntry,
)
from wordsight.records import Shot

__all__ = [
    "ORDERS",
    "artefacts",
    "count_videos",
    "failures",
    "ids_of_file",
    "matching_ids",
    "sentences",
    "setting",
    "shots",
    "videos",
]

ORDERS = {
    "name": (schema.videos.c.name, schema.videos.c.id),
    "added": (schema.videos.c.added_at, schema.videos.c.id),
    "duration": (schema.videos.c.duration, schema.videos.c.id),
}
"""The orders videos can be listed in; the id at the end makes pages meet without overlap."""

_BATCH = 1000


def videos(
    connection: sa.Connection,
    *,
    text: str | None = None,
    said: bool | None = None,
    ids: Sequence[str] | None = None,
    order: str = "name",
    descending: bool = False,
    limit: int | None = None,
    offset: int = 0,
) -> list[tuple[VideoEntry, str | None]]:
    """Return entries with the relative path of the library's own copy, where there is one."""
    table, artefact = schema.videos, schema.artefacts
    own_copy = (
        sa.select(artefact.c.path)
        .where(artefact.c.video_id == table.c.id, artefact.c.kind == ORIGINAL)
        .limit(1)
        .scalar_subquery()
    )
    columns = [table.c[each.name] for each in fields(VideoEntry) if each.name in table.c]
    counted = [_count_of(schema.sentences), _count_of(schema.shots), own_copy]
    by = [column.desc() if descending else column for column in ORDERS[order]]
    query = sa.select(*columns, *counted).order_by(*by).limit(limit).offset(offset)
    rows = connection.execute(_restricted(query, text, ids, said))
    return [(VideoEntry(*row[:-1]), row[-1]) for row in rows]


def count_videos(
    connection: sa.Connection, text: str | None = None, said: bool | None = None
) -> int:
    """Return how many videos there are, or how many match."""
    query = sa.select(sa.func.count()).select_from(schema.videos)
    return int(connection.scalar(_restricted(query, text, None, said)) or 0)


def matching_ids(connection: sa.Connection, beginning: str) -> list[str]:
    """Return the ids that begin like this, a few at most."""
    column = schema.videos.c.id
    query = sa.select(column).where(column.startswith(beginning, autoescape=True))
    return list(connection.scalars(query.order_by(column).limit(5)))


def ids_of_file(connection: sa.Connection, file: str) -> list[str]:
    """Return the ids of the videos that came from a file of this path or name, a few at most."""
    table = schema.videos
    came_from = (table.c.name == file) | (table.c.path == str(Path(file).absolute()))
    return list(connection.scalars(sa.select(table.c.id).where(came_from).order_by("id").limit(5)))


_OF_TABLE = schema.sentences.c
_SENTENCES = (
    sa.select(*(_OF_TABLE[name] for name in ("video_id", "start", "end", "text", "source", "id")))
    .order_by(_OF_TABLE.video_id, sa.func.coalesce(_OF_TABLE.start, -1.0), _OF_TABLE.id)
    .execution_options(yield_per=_BATCH)
)
# Made once: to make it takes as long as to run it, and every search by words does.
_SENTENCES_OF = _SENTENCES.where(_OF_TABLE.video_id.in_(sa.bindparam("ids", expanding=True)))


def sentences(
    connection: sa.Connection, ids: Sequence[str] | None = None
) -> Iterator[SentenceEntry]:
    """Yield sentences of some videos or all, by video and time, those of whole videos first."""
    if ids is None:
        rows = connection.execute(_SENTENCES)
    else:
        rows = connection.execute(_SENTENCES_OF, {"ids": list(ids)})
    for row in rows:
        yield SentenceEntry(*row)


def shots(connection: sa.Connection, video_id: str) -> list[tuple[Shot, int]]:
    """Return a video's shots in order, each with the number of its scene."""
    table = schema.shots
    rows = connection.execute(
        sa.select(table).where(table.c.video_id == video_id).order_by(table.c.number)
    )
    return [
        (Shot(video_id, r.start, r.end, r.score, r.start_frame, r.end_frame), r.scene) for r in rows
    ]


def artefacts(
    connection: sa.Connection,
    *,
    kind: str | None = None,
    video_id: str | None = None,
    of_library: bool = False,
) -> list[ArtefactEntry]:
    """Return artefacts, oldest first: of all kinds, one kind, one video, or the library itself."""
    table = schema.artefacts
    names = ("id", "video_id", "kind", "path", "sha256", "size", "settings", "created_at")
    query = sa.select(*(table.c[name] for name in names)).order_by(table.c.created_at, table.c.id)
    if kind is not None:
        query = query.where(table.c.kind == kind)
    if video_id is not None:
        query = query.where(table.c.video_id == video_id)
    if of_library:
        query = query.where(table.c.video_id.is_(None))
    return [ArtefactEntry(*row) for row in connection.execute(query)]


def failures(connection: sa.Connection) -> list[Failure]:
    """Return what failed and has not gone well since, by path."""
    table = schema.failures
    rows = connection.execute(sa.select(table).order_by(table.c.path))
    return [Failure(row.path, row.message, row.at) for row in rows]


def setting(connection: sa.Connection, key: str) -> str | None:
    """Return something remembered about the library itself."""
    table = schema.library
    found: str | None = connection.scalar(sa.select(table.c.value).where(table.c.key == key))
    return found


def _restricted(
    query: sa.Select[Any], text: str | None, ids: Sequence[str] | None, described: bool | None
) -> Any:
    table, said = schema.videos, schema.sentences
    if described is not None:
        some = table.c.id.in_(sa.select(said.c.video_id))
        query = query.where(some if described else ~some)
    if ids is not None:
        query = query.where(table.c.id.in_(ids))
    if text:
        about = sa.select(said.c.video_id).where(said.c.text.icontains(text, autoescape=True))
        named = table.c.name.icontains(text, autoescape=True)
        query = query.where(sa.or_(named, table.c.id.in_(about)))
    return query


def _count_of(table: sa.Table) -> Any:
    belongs = table.c.video_id == schema.videos.c.id
    return sa.select(sa.func.count()).select_from(table).where(belongs).scalar_subquery()
