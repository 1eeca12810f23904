"""Checking a library: is everything there that the catalogue promises, unchanged to the byte?"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from wordsight.errors import LibraryError
from wordsight.files import sha256_of
from wordsight.library import lookup
from wordsight.library.database import Database
from wordsight.library.entries import ArtefactEntry, Problem, VerifyReport, VideoEntry
from wordsight.library.store import ArtefactStore, digest_of
from wordsight.library.sweep import sweep_staging
from wordsight.progress import Progress, report

__all__ = ["verify_library"]


@dataclass(frozen=True)
class _Check:
    """A file and what the catalogue says of it."""

    path: Path
    sha256: str
    size: int
    video_id: str | None
    advice: str
    astray: bool = False


def verify_library(
    database: Database, store: ArtefactStore, *, hashes: bool, progress: Progress | None
) -> VerifyReport:
    """Compare every artefact and source video with the catalogue.

    Args:
        database: The catalogue.
        store: The library's files.
        hashes: Whether to read the files; otherwise only presence and size are compared.
        progress: Told after each file.

    Returns:
        What was checked and what is wrong.
    """
    removed = () if database.read_only else sweep_staging(store)
    problems = list(_catalogue_problems(database))
    try:
        artefacts, videos = _entries(database)
    except LibraryError:
        if problems:  # what else there is cannot be told from a catalogue that cannot be read
            return VerifyReport(0, 0, tuple(problems), (), removed)
        raise
    checks = list(_checks(store, artefacts, videos))
    for check in report(checks, progress, "verifying", len(checks)):
        problems += _problems_of(check, hashes)
    orphans = _orphans(database, store, {artefact.path for artefact in artefacts})
    return VerifyReport(len(videos), len(artefacts), tuple(problems), orphans, removed)


def _entries(database: Database) -> tuple[list[ArtefactEntry], list[VideoEntry]]:
    with database.read() as connection:
        videos = [entry for entry, copy in lookup.videos(connection) if copy is None]
        return lookup.artefacts(connection), videos


def _checks(
    store: ArtefactStore, artefacts: list[ArtefactEntry], videos: list[VideoEntry]
) -> Iterator[_Check]:
    for made in artefacts:
        advice = "add its video again with force" if made.video_id else "make it again"
        path = store.folder / made.path
        yield _Check(path, made.sha256, made.size, made.video_id, advice, not store.holds(path))
    for video in videos:
        advice = "add it from where it is now, or remove it"
        yield _Check(Path(video.path), video.sha256, video.size, video.id, advice)


def _orphans(database: Database, store: ArtefactStore, known: set[str]) -> tuple[str, ...]:
    unknown = [path for path in store.ours() if path not in known]
    if unknown and not database.read_only:
        # Another process puts files in place and enters them under this lock; once we hold it,
        # what is still unknown will remain so.
        with database.write() as connection:
            known = {artefact.path for artefact in lookup.artefacts(connection)}
    return tuple(path for path in unknown if path not in known)


def _problems_of(check: _Check, hashes: bool) -> Iterator[Problem]:
    path, video = str(check.path), check.video_id
    try:
        if check.astray:
            said = f"the catalogue names {path}, which is outside the library; {check.advice}."
            yield Problem("catalogue", path, video, said)
        elif not check.path.exists():
            yield Problem("missing", path, video, f"{path} is missing; {check.advice}.")
        elif not _is_same(check, hashes):
            said = f"{path} is not what it was when it was entered; {check.advice}."
            yield Problem("changed", path, video, said)
    except OSError as error:
        yield Problem("unreadable", path, video, f"{path} cannot be read: {error.strerror}.")


def _is_same(check: _Check, hashes: bool) -> bool:
    if check.path.is_dir():
        return digest_of(check.path) == (check.sha256, check.size)
    if check.path.stat().st_size != check.size:
        return False
    return not hashes or sha256_of(check.path) == check.sha256


def _catalogue_problems(database: Database) -> Iterator[Problem]:
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
            yield Problem("catalogue", str(database.location.file), None, f"the catalogue: {said}")
