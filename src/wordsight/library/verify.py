"""Checking a library: is everything there that the catalogue promises, unchanged to the byte?"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import sqlalchemy as sa

from wordsight.errors import LibraryError
from wordsight.files import sha256_of
from wordsight.library import lookup
from wordsight.library.database import Database
from wordsight.library.entries import ArtefactEntry, Problem, VerifyReport, VideoEntry
from wordsight.library.store import ArtefactStore
from wordsight.library.sweep import sweep_staging
from wordsight.progress import Progress, report

__all__ = ["verify_library"]


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
            known = {artefact.path for artefact in lookup.artefacts(connection)}
    return tuple(path for path in unknown if path not in known)


def _problems_of(check: _Check, hashes: bool) -> Iterator[Problem]:
    path, video = check.path, check.video_id
    if check.astray:
        said = f"the catalogue names {path}, which is outside the library; {check.advice}."
        yield Problem("catalogue", path, video, said)
        return
    try:
        # A size that differs settles it, and spares reading the file.
        found = check.digest(False)
        if hashes and found is not None and found[0] is None and found[1] == check.size:
            found = check.digest(True)
    except OSError as error:
        yield Problem("unreadable", path, video, f"{path} cannot be read: {error.strerror}.")
    except LibraryError as error:
        yield Problem("unreadable", path, video, str(error))
    else:
        if found is None:
            yield Problem("missing", path, video, f"{path} is missing; {check.advice}.")
        elif found[1] != check.size or found[0] not in (None, check.sha256):
            said = f"{path} is not what it was when it was entered; {check.advice}."
            yield Problem("changed", path, video, said)


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
