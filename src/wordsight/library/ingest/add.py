"""Adding videos: the work of one, then many: skip what is done, spread the rest over workers."""

import errno
import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from wordsight.engine import Engine, ItemOutcome
from wordsight.errors import FormatError, LibraryError, VideoError, VideoWarning, WordsightError
from wordsight.library.catalog import schema
from wordsight.library.catalog.database import Database
from wordsight.library.catalog.entries import (
    DETECTIONS,
    ORIGINAL,
    THUMBNAIL,
    AddReport,
    Failure,
    Skipped,
)
from wordsight.library.catalog.queries import (
    NewSentence,
    forget_failures,
    insert_sentences,
    insert_shots,
    insert_video,
    note_place,
    record_failures,
)
from wordsight.library.catalog.transactions import entering, is_entered, place_all, unlink_unused
from wordsight.library.files.remote_store import store_at
from wordsight.library.files.store import ArtefactStore, StagedArtefact
from wordsight.library.files.verify import sweep_staging
from wordsight.library.ingest.scan import THUMBNAIL_SIDE, Done, IngestJob, Planner, ScanResult, scan
from wordsight.library.ingest.sources import VideoSource
from wordsight.perception import load_detector
from wordsight.perception.formats import read_table
from wordsight.progress import Progress
from wordsight.records import Detections, Scene, Shot
from wordsight.video import VideoInfo, VideoReader, write_image
from wordsight.video.draw.boxes import draw_detections

__all__ = ["CODEC", "AddRun", "Ingested", "enter", "ingest", "scan_boxes"]


CODEC = "boxes"
"""What stands in the place of a codec where there are no pictures."""

_CANVAS = 48  # gray of the blank picture


def scan_boxes(
    path: Path, *, fps: float | None, size: tuple[int, int] | None, video_id: str
) -> ScanResult:
    """Read a file of boxes as if it were a video: one shot, and a picture of boxes alone.

    Args:
        path: The file, in any format of boxes.
        fps: Frames per second; needed where the file has frame numbers alone.
        size: Width and height in pixels; by default those in the file, else the smallest that
            contains all boxes.
        video_id: Given to the shot.

    Raises:
        FormatError: If the file is no file of boxes, has no box, or its times are unknown.
    """
    table = read_table(path)
    if fps is None and table.times is None and table.frame_rate is None:
        raise FormatError(
            f"{path.name} has frame numbers but no times; give its frames per second with --fps "
            "(fps= in Python)."
        )
    seen = table.to_detections(path.name, frame_rate=fps, frame_size=size)
    if not seen.mask.any():
        raise FormatError(f"{path.name} has no boxes; there is nothing to add.")
    times = seen.times
    step = float(np.median(np.diff(times))) if len(times) > 1 else 1.0 / (fps or 1.0)
    start, end = float(times[0]), float(times[-1]) + step
    info = VideoInfo(
        path=path,
        width=seen.frame_size[0],
        height=seen.frame_size[1],
        duration=end - start,
        frame_rate=fps or table.frame_rate or 1.0 / step,
        num_frames=len(seen),
        codec=CODEC,
        variable_rate=False,
        start_time=start,
    )
    return ScanResult(
        info=info,
        num_frames=len(seen),
        detections=seen,
        shots=(Shot(video_id, start, end, 1.0, 0, len(seen)),),
        scenes=(Scene(video_id, start, end, 1.0, 0, 1),),
        thumbnail=_picture(seen),
    )


def _picture(seen: Detections) -> NDArray[np.uint8]:
    """Draw the frame with the most boxes on a blank canvas."""
    frame = seen.frame(int(seen.mask.sum(axis=1).argmax()))
    width, height = seen.frame_size
    scale = min(1.0, THUMBNAIL_SIDE / max(width, height))
    shape = (max(1, round(height * scale)), max(1, round(width * scale)), 3)
    blank = np.full(shape, _CANVAS, dtype=np.uint8)
    scaled = replace(frame, boxes=frame.boxes * scale)
    return draw_detections(blank, scaled, seen.label_names, show_scores=False)


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
                sight = _seen(job)
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


def _seen(job: IngestJob) -> ScanResult:
    if not job.plan.has_pictures:
        return scan_boxes(Path(job.path), **job.plan.options, video_id=job.video_id)
    detector = load_detector(job.plan.detector, **job.plan.options)
    with VideoReader(job.path) as video:
        return scan(video, detector, rate=job.plan.rate, video_id=job.video_id)


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


class AddRun:
    """One run of :meth:`wordsight.library.Library.add`.

    Args:
        database: The catalogue.
        store: The library's files.
        planner: Says what is to be done for each video.
        engine: Where the work runs.
    """

    def __init__(self, database: Database, store: ArtefactStore, planner: Planner, engine: Engine):
        self._database, self._store = database, store
        self._planner, self._engine = planner, engine
        self._added: dict[str, str] = {}  # by id, the path
        self._skipped: list[Skipped] = []
        self._failed: list[Failure] = []
        self._warnings: list[Failure] = []
        self._num_sentences = 0
        # By hash, those that are being worked on: the same video may come under two names.
        self._in_work: dict[str, list[VideoSource]] = {}

    def run(
        self,
        sources: Sequence[VideoSource],
        failures: Sequence[Failure],
        progress: Progress | None,
    ) -> AddReport:
        """Add everything and report.

        Args:
            sources: The videos.
            failures: What went wrong in finding them.
            progress: Called with how many are done, in fractions.
        """
        self._failed = list(failures)
        sweep_staging(self._store)
        tally = _Tally(len(sources), progress)
        try:
            jobs = self._jobs(sources, tally)
            with (
                self._store.working(),
                closing(self._engine.map(ingest, jobs, on_note=tally.note)) as outcomes,
            ):
                for outcome in outcomes:
                    self._take(outcome)
                    tally.finish(outcome.item)
        finally:
            self._remember_failures()
        sweep_staging(self._store)
        # In the order of the files, not of their completion.
        order = {str(source.path): number for number, source in enumerate(sources)}

        def place(path: str) -> int:
            return order.get(path, -1)

        return AddReport(
            tuple(sorted(self._added, key=lambda name: place(self._added[name]))),
            tuple(sorted(self._skipped, key=lambda each: place(each.path))),
            tuple(sorted(self._failed, key=lambda each: place(each.path))),
            tuple(sorted(self._warnings, key=lambda each: place(each.path))),
            self._num_sentences,
        )

    def _jobs(self, sources: Sequence[VideoSource], tally: "_Tally") -> Iterator[IngestJob]:
        for source in sources:
            try:
                decided = self._planner.decide(source)
                if isinstance(decided, Done):
                    self._skip(source, decided)
                elif decided.sha256 in self._in_work:
                    self._in_work[decided.sha256].append(source)
                else:
                    self._in_work[decided.sha256] = [source]
                    tally.start(decided)
                    yield decided
                    continue
            except WordsightError as error:
                self._failed.append(Failure(str(source.path), str(error)))
            tally.finish(None)

    def _take(self, outcome: ItemOutcome[IngestJob, Ingested]) -> None:
        job, result = outcome.item, outcome.result
        sources = self._in_work.pop(job.sha256)
        said = [sentence for source in sources for sentence in source.sentences]
        try:
            if result is None:
                raise LibraryError(outcome.error or "it failed without a word.")
            is_new, number = enter(self._database, self._store, job, result, said)
        except WordsightError as error:
            self._failed += [Failure(str(source.path), str(error)) for source in sources]
            return
        self._num_sentences += number
        self._warnings += [Failure(job.path, said) for said in result.warnings]
        if is_new:
            self._added[job.video_id] = job.path
        else:  # another process was faster
            self._skipped.append(Skipped(job.path, job.video_id, "unchanged"))
        for twin in sources[1:]:
            self._skipped.append(Skipped(str(twin.path), job.video_id, "same content"))

    def _skip(self, source: VideoSource, done: Done) -> None:
        path, reason = str(source.path), "unchanged"
        if done.known_as != path:
            reason = "same content" if Path(done.known_as).exists() else "moved"
        new = self._unknown(done.video_id, source.sentences)
        if new or reason == "moved" or self._is_touched(done, path):
            with self._database.write() as connection:
                if reason != "same content":
                    note_place(connection, done.video_id, path, done.modified_ns)
                self._num_sentences += insert_sentences(connection, done.video_id, new)
        self._skipped.append(Skipped(path, done.video_id, reason))

    def _unknown(self, video_id: str, said: Sequence[NewSentence]) -> list[NewSentence]:
        # Looked up first, so that running again over a large collection writes nothing.
        if not said:
            return []
        column, of = schema.sentences.c.fingerprint, schema.sentences.c.video_id
        with self._database.read() as connection:
            known = set(connection.scalars(sa.select(column).where(of == video_id)))
        return [sentence for sentence in said if sentence.fingerprint not in known]

    def _is_touched(self, done: Done, path: str) -> bool:
        table = schema.videos
        query = sa.select(table.c.modified_ns).where(table.c.id == done.video_id)
        with self._database.read() as connection:
            return done.known_as == path and connection.scalar(query) != done.modified_ns

    def _remember_failures(self) -> None:
        fine = [skipped.path for skipped in self._skipped]
        # The report counts; a catalogue that cannot be written to has been reported by now.
        with suppress(LibraryError), self._database.write() as connection:
            known = set(connection.scalars(sa.select(schema.failures.c.path)))
            forget_failures(connection, known.intersection(fine))
            record_failures(connection, self._failed)


class _Tally:
    """Counts videos that are done, and how far the others have come."""

    def __init__(self, total: int, progress: Progress | None):
        self._total, self._progress = total, progress
        self._done = 0
        self._parts: dict[str, float] = {}

    def start(self, job: IngestJob) -> None:
        self._parts[job.path] = 0.0
        self._tell(Path(job.path).name)

    def note(self, job: IngestJob, part: Any) -> None:
        self._parts[job.path] = float(part)
        self._tell(Path(job.path).name)

    def finish(self, job: IngestJob | None) -> None:
        if job is not None:
            self._parts.pop(job.path, None)
        self._done += 1
        self._tell(Path(job.path).name if job else "")

    def _tell(self, what: str) -> None:
        if self._progress is not None:
            self._progress(self._done + sum(self._parts.values()), self._total, what)
