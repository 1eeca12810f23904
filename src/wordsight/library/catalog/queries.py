"""Reading and changing the catalogue: functions on a connection; callers choose the transaction."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from wordsight.library.catalog import schema
from wordsight.library.catalog.entries import (
    ORIGINAL,
    ArtefactEntry,
    Failure,
    SentenceEntry,
    VideoEntry,
)
from wordsight.library.files.store import StagedArtefact
from wordsight.records import Scene, Shot

__all__ = [
    "ORDERS",
    "NewSentence",
    "artefacts",
    "change_sentence",
    "count_videos",
    "delete_videos",
    "failures",
    "forget_failures",
    "ids_of_file",
    "insert_sentences",
    "insert_shots",
    "insert_video",
    "matching_ids",
    "note_place",
    "put_artefact",
    "put_setting",
    "record_failures",
    "replace_sentences",
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


_ROWS_AT_ONCE = 500  # databases limit the number of values in one statement


@dataclass(frozen=True)
class NewSentence:
    """A sentence on its way into the library.

    Attributes:
        text: What is said.
        start: From when on, in seconds; ``None`` if of the whole video.
        end: Until when, in seconds; ``None`` if of the whole video.
        source: Where it came from.
    """

    text: str
    start: float | None = None
    end: float | None = None
    source: str = "given"

    @property
    def fingerprint(self) -> str:
        """Equal for sentences that say the same of the same time."""
        text = f"{self.text}\n{self.start!r}\n{self.end!r}"
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def insert_video(connection: sa.Connection, row: Mapping[str, Any]) -> bool:
    """Insert a video unless one with the same content is there; say whether it was inserted."""
    values = {**row, "added_at": datetime.now(UTC)}
    return _insert_new(connection, schema.videos, [values]) == 1


def note_place(connection: sa.Connection, video_id: str, path: str, modified_ns: int) -> None:
    """Remember where a video is now, and when its file was last changed."""
    table = schema.videos
    values = {"path": path, "modified_ns": modified_ns}
    connection.execute(sa.update(table).where(table.c.id == video_id).values(values))


def insert_shots(
    connection: sa.Connection, video_id: str, shots: Sequence[Shot], scenes: Sequence[Scene]
) -> None:
    """Insert a video's shots, each with the number of the scene it belongs to."""
    scene_of = {n: i for i, s in enumerate(scenes) for n in range(s.first_shot, s.end_shot)}
    rows = [
        {
            "video_id": video_id,
            "number": number,
            "start": shot.start,
            "end": shot.end,
            "start_frame": shot.start_frame,
            "end_frame": shot.end_frame,
            "score": shot.score,
            "scene": scene_of.get(number, 0),
        }
        for number, shot in enumerate(shots)
    ]
    _insert_new(connection, schema.shots, rows)


def insert_sentences(
    connection: sa.Connection, video_id: str, sentences: Iterable[NewSentence]
) -> int:
    """Insert the sentences that are not yet said of the video; return how many were new."""
    # The dictionary drops repetitions inside one batch, which no constraint would count.
    rows = {
        said.fingerprint: {
            "video_id": video_id,
            "text": said.text,
            "start": said.start,
            "end": said.end,
            "source": said.source,
            "fingerprint": said.fingerprint,
        }
        for said in sentences
    }
    return _insert_new(connection, schema.sentences, list(rows.values()))


def change_sentence(connection: sa.Connection, number: int, said: NewSentence | None) -> bool:
    """Put a sentence in the place of another, or delete it; say whether there was one."""
    table = schema.sentences
    where = table.c.id == number
    before = connection.execute(sa.select(table.c.video_id).where(where)).first()
    if before is None:
        return False
    connection.execute(sa.delete(table).where(where))
    if said is not None:  # what is said already stands there once
        insert_sentences(connection, before.video_id, [said])
    return True


def replace_sentences(
    connection: sa.Connection, video_id: str, sentences: Sequence[NewSentence]
) -> tuple[int, int]:
    """Make these all that is said of a video; return how many were added and removed."""
    table = schema.sentences
    wanted = {said.fingerprint for said in sentences}
    query = sa.select(table.c.id, table.c.fingerprint).where(table.c.video_id == video_id)
    gone = [row.id for row in connection.execute(query) if row.fingerprint not in wanted]
    for number in gone:
        connection.execute(sa.delete(table).where(table.c.id == number))
    return insert_sentences(connection, video_id, sentences), len(gone)


def put_artefact(connection: sa.Connection, artefact: StagedArtefact) -> str | None:
    """Enter an artefact in its slot; return the path of a different one that was there."""
    table = schema.artefacts
    values = {
        "video_id": artefact.video_id,
        "kind": artefact.kind,
        "slot": artefact.slot,
        "settings": artefact.settings,
        "path": artefact.path,
        "sha256": artefact.sha256,
        "size": artefact.size,
        "created_at": _after_all(connection, artefact),
    }
    where = table.c.slot == artefact.slot
    before: str | None = connection.scalar(sa.select(table.c.path).where(where))
    if before is None:
        connection.execute(sa.insert(table).values(values))
        return None
    connection.execute(sa.update(table).where(where).values(values))
    return before if before != artefact.path else None


def _after_all(connection: sa.Connection, artefact: StagedArtefact) -> datetime:
    """Return the time, or one just after the newest entry of its kind if the clock was set back.

    The newest counts where there are several, and it must stay the one that was entered last.
    """
    table = schema.artefacts
    alike = (table.c.kind == artefact.kind) & (table.c.video_id == artefact.video_id)
    if artefact.video_id is None:
        alike = (table.c.kind == artefact.kind) & table.c.video_id.is_(None)
    newest = connection.scalar(sa.select(sa.func.max(table.c.created_at)).where(alike))
    now = datetime.now(UTC)
    return now if newest is None else max(now, newest + timedelta(microseconds=1))


def delete_videos(connection: sa.Connection, ids: Sequence[str]) -> list[str]:
    """Delete videos with all that belongs to them; return the paths of their artefacts."""
    table = schema.artefacts
    paths = connection.scalars(sa.select(table.c.path).where(table.c.video_id.in_(ids))).all()
    connection.execute(sa.delete(schema.videos).where(schema.videos.c.id.in_(ids)))
    return list(paths)


def record_failures(connection: sa.Connection, failures: Iterable[Failure]) -> None:
    """Remember what failed; a later failure of the same path takes the place of the earlier."""
    latest = {failure.path: failure.message for failure in failures}
    forget_failures(connection, latest)
    now = datetime.now(UTC)
    rows = [{"path": path, "message": said, "at": now} for path, said in latest.items()]
    if rows:
        connection.execute(sa.insert(schema.failures), rows)


def forget_failures(connection: sa.Connection, paths: Iterable[str]) -> None:
    """Forget the failures of paths that have gone well since."""
    table = schema.failures
    for path in paths:
        connection.execute(sa.delete(table).where(table.c.path == path))


def put_setting(connection: sa.Connection, key: str, value: str) -> None:
    """Remember something about the library itself."""
    table = schema.library
    connection.execute(sa.delete(table).where(table.c.key == key))
    connection.execute(sa.insert(table).values(key=key, value=value))


def _insert_new(connection: sa.Connection, table: sa.Table, rows: list[dict[str, Any]]) -> int:
    # Both databases know ON CONFLICT DO NOTHING, each under its own insert().
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    inserted = 0
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        batch = rows[first : first + _ROWS_AT_ONCE]
        statement = dialect.insert(table).values(batch).on_conflict_do_nothing()
        inserted += len(connection.execute(statement.returning(*table.primary_key)).all())
    return inserted
