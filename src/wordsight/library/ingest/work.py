"""One video into the library: look at it, write what was found aside, enter all of it at once."""

import errno
import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from wordsight.errors import LibraryError, VideoError, VideoWarning
from wordsight.library.catalog import schema
from wordsight.library.catalog.database import Database
from wordsight.library.catalog.entries import DETECTIONS, ORIGINAL, THUMBNAIL
from wordsight.library.catalog.transactions import entering, is_entered, place_all, unlink_unused
from wordsight.library.catalog.updates import (
    NewSentence,
    forget_failures,
    insert_sentences,
    insert_shots,
    insert_video,
    note_place,
)
from wordsight.library.files.remote_store import store_at
from wordsight.library.files.store import ArtefactStore, StagedArtefact
from wordsight.library.ingest.plan import IngestJob
from wordsight.library.ingest.scan import ScanResult, scan
from wordsight.perception import load_detector
from wordsight.records import Scene, Shot
from wordsight.video import VideoReader, write_image

__all__ = ["Ingested", "enter", "ingest"]


@dataclass(frozen=True)
class Ingested:
    """What was found in a video and waits to be entered.

    Attributes:
        row: The video's columns; ``None`` if nothing of it was decoded, because it was known.
        shots: Its shots.
        scenes: Its scenes.
        artefacts: What was staged.
        warnings: What was wrong with the video without preventing it.
    """

    row: dict[str, Any] | None
    shots: tuple[Shot, ...]
    scenes: tuple[Scene, ...]
    artefacts: tuple[StagedArtefact, ...]
    warnings: tuple[str, ...]


def ingest(job: IngestJob) -> Ingested:
    """Do the work on one video; runs in a worker process and touches no catalogue.

    Raises:
        VideoError: If it is no video, or changed meanwhile.
        LibraryError: If what was found cannot be written.
    """
    store = store_at(Path(job.folder), job.bucket)
    staged: list[StagedArtefact] = []
    sight: ScanResult | None = None
    try:
        with store.working(), _video_warnings() as said, _disk_errors_in_plain_words(job):
            if DETECTIONS in job.kinds or THUMBNAIL in job.kinds:
                detector = load_detector(job.plan.detector, **job.plan.options)
                with VideoReader(job.path) as video:
                    sight = scan(video, detector, rate=job.plan.rate, video_id=job.video_id)
            for kind, suffix, write in _writers(job, sight):
                staged.append(
                    store.stage(
                        kind,
                        write,
                        suffix=suffix,
                        settings=job.plan.settings[kind],
                        video_id=job.video_id,
                    )
                )
            _check_unchanged(job)
    except BaseException:
        for artefact in staged:
            store.discard(artefact)
        raise
    return Ingested(
        row=_row(job, sight) if sight else None,
        shots=sight.shots if sight else (),
        scenes=sight.scenes if sight else (),
        artefacts=tuple(staged),
        warnings=tuple(said),
    )


def enter(
    database: Database,
    store: ArtefactStore,
    job: IngestJob,
    found: Ingested,
    sentences: Sequence[NewSentence],
) -> tuple[bool, int]:
    """Make the video appear with everything, in one transaction.

    Returns:
        Whether anything of it was new, and how many sentences were.
    """
    unused: list[str] = []
    with entering(database, store, found.artefacts) as connection:
        is_new = found.row is not None and insert_video(connection, found.row)
        # Another process may have entered it meanwhile, perhaps under another name.
        video_id, known_as = _entry_of(connection, job)
        if known_as != job.path and not Path(known_as).exists():
            note_place(connection, video_id, job.path, job.modified_ns)
        if video_id == job.video_id:
            is_new |= job.again or not all(is_entered(connection, a) for a in found.artefacts)
            unused = place_all(connection, store, found.artefacts, replace=job.again)
            insert_shots(connection, video_id, found.shots, found.scenes)
        number = insert_sentences(connection, video_id, sentences)
        forget_failures(connection, [job.path])
    unlink_unused(database, store, unused)
    return is_new, number


def _entry_of(connection: sa.Connection, job: IngestJob) -> tuple[str, str]:
    table = schema.videos
    query = sa.select(table.c.id, table.c.path).where(table.c.sha256 == job.sha256)
    entry = connection.execute(query).first()
    if entry is None:
        raise LibraryError(f"{job.path} was removed while it was being added; add it again.")
    return entry.id, entry.path


def _row(job: IngestJob, sight: ScanResult) -> dict[str, Any]:
    info = sight.info
    return {
        "id": job.video_id,
        "sha256": job.sha256,
        "name": Path(job.path).name,
        "path": job.path,
        "size": job.size,
        "modified_ns": job.modified_ns,
        "duration": info.duration,
        "width": info.width,
        "height": info.height,
        "frame_rate": info.frame_rate,
        "num_frames": sight.num_frames,
        "codec": info.codec,
    }


def _writers(
    job: IngestJob, sight: ScanResult | None
) -> Iterator[tuple[str, str, Callable[[Path], None]]]:
    if sight is not None and DETECTIONS in job.kinds:
        yield DETECTIONS, ".npz", sight.detections.save
    if sight is not None and THUMBNAIL in job.kinds:
        yield THUMBNAIL, ".jpg", lambda path: write_image(path, sight.thumbnail)
    if ORIGINAL in job.kinds:
        suffix = Path(job.path).suffix.lower()
        yield ORIGINAL, suffix, lambda path: _copy(job.path, path)


def _copy(source: str, target: Path) -> None:
    shutil.copyfile(source, target)


def _check_unchanged(job: IngestJob) -> None:
    status = Path(job.path).stat()
    if (status.st_size, status.st_mtime_ns) != (job.size, job.modified_ns):
        raise VideoError(f"{job.path} changed while it was read; add it when it is complete.")


@contextmanager
def _video_warnings() -> Iterator[list[str]]:
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", VideoWarning)
        yield said
    for warning in caught:
        if issubclass(warning.category, VideoWarning):
            said.append(str(warning.message))
        else:  # not ours to keep
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


@contextmanager
def _disk_errors_in_plain_words(job: IngestJob) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise LibraryError(
                f"there is no room left in {job.folder} ({error.strerror}); free some space and "
                "add the video again."
            ) from error
        raise LibraryError(f"{error.filename or job.path}: {error.strerror or error}.") from error
