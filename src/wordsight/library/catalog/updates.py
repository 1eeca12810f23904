"""Changing the catalogue: functions on a connection, so that callers choose the transaction."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from wordsight.library.catalog import schema
from wordsight.library.catalog.entries import Failure
from wordsight.library.files.store import StagedArtefact
from wordsight.records import Scene, Shot

__all__ = [
    "NewSentence",
    "change_sentence",
    "delete_videos",
    "forget_failures",
    "insert_sentences",
    "insert_shots",
    "insert_video",
    "note_place",
    "put_artefact",
    "put_setting",
    "record_failures",
    "replace_sentences",
]

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
