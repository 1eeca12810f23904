"""Adding many videos: skip what is done, spread the rest over workers, go on past failures."""

from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from wordsight.engine import Engine, ItemOutcome
from wordsight.errors import LibraryError, WordsightError
from wordsight.library.catalog import schema
from wordsight.library.catalog.database import Database
from wordsight.library.catalog.entries import AddReport, Failure, Skipped
from wordsight.library.catalog.updates import (
    NewSentence,
    forget_failures,
    insert_sentences,
    note_place,
    record_failures,
)
from wordsight.library.files.store import ArtefactStore
from wordsight.library.files.verify import sweep_staging
from wordsight.library.ingest.plan import Done, IngestJob, Planner
from wordsight.library.ingest.sources import VideoSource
from wordsight.library.ingest.work import Ingested, enter, ingest
from wordsight.progress import Progress

__all__ = ["AddRun"]


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
            progress: Told how many are done, in fractions.
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
        # In the order of the files, whoever was done first.
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
