"""The tables of the catalogue in the newest version; migrations/ has their history."""

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

__all__ = [
    "NAMING",
    "SCHEMA_VERSION",
    "UtcTime",
    "artefacts",
    "failures",
    "library",
    "metadata",
    "sentences",
    "shots",
    "videos",
]

SCHEMA_VERSION = "0001"
"""The newest migration; a catalogue with a higher number was made by a newer Wordsight."""

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
"""Every constraint has a name of our choice, so that later migrations can change it anywhere."""

metadata = sa.MetaData(naming_convention=NAMING)


class UtcTime(sa.types.TypeDecorator[datetime]):
    """A moment, kept in UTC by every database and always given back with its time zone."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> datetime | None:
        """Convert to UTC on the way in."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Any) -> datetime | None:
        """Put the time zone back where the database (SQLite) has dropped it."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _video_id(**options: Any) -> sa.Column[str]:
    reference = sa.ForeignKey("videos.id", ondelete="CASCADE")
    return sa.Column("video_id", sa.Text, reference, **options)


library = sa.Table(
    "library",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

videos = sa.Table(
    "videos",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("sha256", sa.Text, nullable=False, unique=True),
    sa.Column("name", sa.Text, nullable=False, index=True),
    sa.Column("path", sa.Text, nullable=False, index=True),
    sa.Column("size", sa.BigInteger, nullable=False),
    sa.Column("modified_ns", sa.BigInteger, nullable=False),
    sa.Column("duration", sa.Double, nullable=False),
    sa.Column("width", sa.Integer, nullable=False),
    sa.Column("height", sa.Integer, nullable=False),
    sa.Column("frame_rate", sa.Double, nullable=False),
    sa.Column("num_frames", sa.Integer, nullable=False),
    sa.Column("codec", sa.Text, nullable=False),
    sa.Column("added_at", UtcTime, nullable=False, index=True),
)

sentences = sa.Table(
    "sentences",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    _video_id(nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("start", sa.Double),
    sa.Column("end", sa.Double),
    sa.Column("source", sa.Text, nullable=False),
    # Text and times in one value, because a database takes two missing times for different ones.
    sa.Column("fingerprint", sa.Text, nullable=False),
    sa.UniqueConstraint("video_id", "fingerprint"),
)

shots = sa.Table(
    "shots",
    metadata,
    _video_id(primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("start", sa.Double, nullable=False),
    sa.Column("end", sa.Double, nullable=False),
    sa.Column("start_frame", sa.Integer, nullable=False),
    sa.Column("end_frame", sa.Integer, nullable=False),
    sa.Column("score", sa.Double, nullable=False),
    sa.Column("scene", sa.Integer, nullable=False),
)

artefacts = sa.Table(
    "artefacts",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    _video_id(index=True),
    sa.Column("kind", sa.Text, nullable=False, index=True),
    # Video (or none), kind and settings in one value: there is one artefact for each.
    sa.Column("slot", sa.Text, nullable=False, unique=True),
    sa.Column("settings", sa.JSON, nullable=False),
    sa.Column("path", sa.Text, nullable=False, index=True),
    sa.Column("sha256", sa.Text, nullable=False),
    sa.Column("size", sa.BigInteger, nullable=False),
    sa.Column("created_at", UtcTime, nullable=False),
)

failures = sa.Table(
    "failures",
    metadata,
    sa.Column("path", sa.Text, primary_key=True),
    sa.Column("message", sa.Text, nullable=False),
    sa.Column("at", UtcTime, nullable=False),
)
