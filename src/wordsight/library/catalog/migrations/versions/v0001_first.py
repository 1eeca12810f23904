"""The first tables. Frozen: it must go on making what it made, so it uses nothing of ours."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables of version 1."""
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "library",
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_library"),
    )
    op.create_table(
        "videos",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("modified_ns", sa.BigInteger, nullable=False),
        sa.Column("duration", sa.Double, nullable=False),
        sa.Column("width", sa.Integer, nullable=False),
        sa.Column("height", sa.Integer, nullable=False),
        sa.Column("frame_rate", sa.Double, nullable=False),
        sa.Column("num_frames", sa.Integer, nullable=False),
        sa.Column("codec", sa.Text, nullable=False),
        sa.Column("added_at", moment, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_videos"),
        sa.UniqueConstraint("sha256", name="uq_videos_sha256"),
    )
    for column in ("name", "path", "added_at"):
        op.create_index(f"ix_videos_{column}", "videos", [column])
    _make_tables_of_a_video(moment)
    op.create_table(
        "failures",
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("at", moment, nullable=False),
        sa.PrimaryKeyConstraint("path", name="pk_failures"),
    )


def _make_tables_of_a_video(moment: sa.DateTime) -> None:
    op.create_table(
        "sentences",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("video_id", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("start", sa.Double),
        sa.Column("end", sa.Double),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sentences"),
        sa.UniqueConstraint("video_id", "fingerprint", name="uq_sentences_video_id_fingerprint"),
        _belongs_to_video("sentences"),
    )
    op.create_table(
        "shots",
        sa.Column("video_id", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("start", sa.Double, nullable=False),
        sa.Column("end", sa.Double, nullable=False),
        sa.Column("start_frame", sa.Integer, nullable=False),
        sa.Column("end_frame", sa.Integer, nullable=False),
        sa.Column("score", sa.Double, nullable=False),
        sa.Column("scene", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("video_id", "number", name="pk_shots"),
        _belongs_to_video("shots"),
    )
    op.create_table(
        "artefacts",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("video_id", sa.Text),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("slot", sa.Text, nullable=False),
        sa.Column("settings", sa.JSON, nullable=False),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("created_at", moment, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_artefacts"),
        sa.UniqueConstraint("slot", name="uq_artefacts_slot"),
        _belongs_to_video("artefacts"),
    )
    for column in ("video_id", "kind", "path"):
        op.create_index(f"ix_artefacts_{column}", "artefacts", [column])


def _belongs_to_video(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["video_id"], ["videos.id"], name=f"fk_{table}_video_id", ondelete="CASCADE"
    )
