"""Verification of a library: is every file of the catalogue there, unchanged to the byte?"""

import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import sqlalchemy as sa

from wordsight.errors import LibraryError
from wordsight.files import TEMPORARY_MARK, sha256_of
from wordsight.library.catalog import queries
from wordsight.library.catalog.database import Database
from wordsight.library.catalog.entries import (
    ArtefactEntry,
    LibraryProblem,
    VerifyReport,
    VideoEntry,
)
from wordsight.library.files.store import ArtefactStore, remove_path
from wordsight.progress import Progress, report

__all__ = ["sweep_staging", "verify_library"]


# Clearing away what interrupted work left behind, without disturbing work that goes on.

_STALE_SECONDS = 600.0
"""A file that a living process writes is younger; its process may run on another machine."""

_WRITER = re.compile(re.escape(TEMPORARY_MARK) + r"(\d+)-")


def sweep_staging(store: ArtefactStore) -> tuple[str, ...]:
    """Delete unfinished files that no process will finish.

    If no process is making files, all of them; otherwise only old ones whose process is dead.

    Returns:
        Names of the files that were deleted.
    """
    removed = []
    with store.alone() as alone:
        for path in store.unfinished():
            if alone or _is_stale(path):
                remove_path(path)
                removed.append(path.name)
    return (*removed, *store.sweep())


def _is_stale(path: Path) -> bool:
    writer = _WRITER.search(path.name)
    try:
        age = time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return False  # its writer has just finished
    return age > _STALE_SECONDS and writer is not None and not _is_alive(int(writer[1]))


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is someone else's, so there is one
        return True
    return True


@dataclass(frozen=True)
class _Check:
    """A file and what the catalogue says of it."""

    path: str
    sha256: str
    size: int
    video_id: str | None
    advice: str
    digest: Callable[[bool], tuple[str | None, int] | None]
    astray: bool = False


def verify_library(
    database: Database, store: ArtefactStore, *, hashes: bool, progress: Progress | None
) -> VerifyReport:
    """Compare every artefact and source video with the catalogue.

    Args:
        database: The catalogue.
        store: The library's files.
        hashes: Whether to read the files; otherwise only presence and size are compared.
        progress: Called after each file.

    Returns:
        What was checked and what is wrong.
    """
    removed = () if database.read_only else sweep_staging(store)
    problems = list(_catalogue_problems(database))
    try:
        artefacts, videos = _entries(database)
    except LibraryError:
        if problems:  # what else there is cannot be known from a catalogue that cannot be read
            return VerifyReport(0, 0, tuple(problems), (), removed)
        raise
    checks = list(_checks(store, artefacts, videos))
    for check in report(checks, progress, "verifying", len(checks)):
        problems += _problems_of(check, hashes)
    orphans = _orphans(database, store, {artefact.path for artefact in artefacts})
    return VerifyReport(len(videos), len(artefacts), tuple(problems), orphans, removed)


def _entries(database: Database) -> tuple[list[ArtefactEntry], list[VideoEntry]]:
    with database.read() as connection:
        videos = [entry for entry, copy in queries.videos(connection) if copy is None]
        return queries.artefacts(connection), videos


def _checks(
    store: ArtefactStore, artefacts: list[ArtefactEntry], videos: list[VideoEntry]
) -> Iterator[_Check]:
    for made in artefacts:
        advice = "add its video again with force" if made.video_id else "make it again"
        astray = not store.holds(store.folder / made.path)
        digest = partial(_digest_in, store, made.path)
        path = store.shown(made.path)
        yield _Check(path, made.sha256, made.size, made.video_id, advice, digest, astray)
    for video in videos:
        advice = "add it from where it is now, or remove it"
        digest = partial(_digest_of, Path(video.path))
        yield _Check(video.path, video.sha256, video.size, video.id, advice, digest)


def _digest_in(store: ArtefactStore, relative: str, hashes: bool) -> tuple[str | None, int] | None:
    return store.digest(relative, hashes=hashes)


def _digest_of(path: Path, hashes: bool) -> tuple[str | None, int] | None:
    if not path.exists():
        return None
    return (sha256_of(path) if hashes else None), path.stat().st_size


def _orphans(database: Database, store: ArtefactStore, known: set[str]) -> tuple[str, ...]:
    unknown = [path for path in store.ours() if path not in known]
    if unknown and not database.read_only:
        # Another process puts files in place and enters them under this lock; once we hold it,
        # what is still unknown will remain so.
        with database.write() as connection:
            known = {artefact.path for artefact in queries.artefacts(connection)}
    return tuple(path for path in unknown if path not in known)


def _problems_of(check: _Check, hashes: bool) -> Iterator[LibraryProblem]:
    path, video = check.path, check.video_id
    if check.astray:
        said = f"the catalogue names {path}, which is outside the library; {check.advice}."
        yield LibraryProblem("catalogue", path, video, said)
        return
    try:
        # A size that differs settles it, and spares reading the file.
        found = check.digest(False)
        if hashes and found is not None and found[0] is None and found[1] == check.size:
            found = check.digest(True)
    except OSError as error:
        yield LibraryProblem("unreadable", path, video, f"{path} cannot be read: {error.strerror}.")
    except LibraryError as error:
        yield LibraryProblem("unreadable", path, video, str(error))
    else:
        if found is None:
            yield LibraryProblem("missing", path, video, f"{path} is missing; {check.advice}.")
        elif found[1] != check.size or found[0] not in (None, check.sha256):
            said = f"{path} is not what it was when it was entered; {check.advice}."
            yield LibraryProblem("changed", path, video, said)


def _catalogue_problems(database: Database) -> Iterator[LibraryProblem]:
    if database.location.file is None:
        return
    try:
        with database.read() as connection:
            found = list(connection.scalars(sa.text("PRAGMA integrity_check(10)")))
            found += [
                f"broken reference in {row[0]}"
                for row in connection.execute(sa.text("PRAGMA foreign_key_check"))
            ]
    except LibraryError as error:
        found = [str(error)]
    for said in found:
        if said != "ok":
            yield LibraryProblem(
                "catalogue", str(database.location.file), None, f"the catalogue: {said}"
            )
