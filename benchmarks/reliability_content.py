"""What a place holds, in values that can be compared: rows, files and the search index."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from benchmarks.reliability_places import Place
from wordsight.files import TEMPORARY_MARK, sha256_of
from wordsight.library.catalog import schema
from wordsight.library.catalog.database import Database, Location

__all__ = ["Content", "content_of", "leftovers", "lost"]

# Moments at which something came, and numbers given in the order of coming.
_INCIDENTAL = {"added_at", "created_at", "at"}
_NUMBERED = {"sentences", "artefacts"}
_UNCOUNTED = ("library",)


@dataclass(frozen=True)
class Content:
    """All that counts in a place.

    Attributes:
        rows: By table, how often each row is there.
        files: Hash of every file beside the library, by path.
        indexed: Fingerprint of every video in the search index.
    """

    rows: Mapping[str, Counter[str]]
    files: Mapping[str, str]
    indexed: Mapping[str, str]


def content_of(place: Place) -> Content:
    """Read a place without changing it."""
    from wordsight.retrieval import Index
    from wordsight.retrieval.index.segments import MANIFEST
    from wordsight.workflows.index import FOLDER

    index = place.work / "library" / FOLDER
    indexed = dict(Index(index).videos()) if (index / MANIFEST).exists() else {}
    files = {
        path.relative_to(place.work).as_posix(): _mark(path)
        for path in sorted(place.work.rglob("*"))
        if path.is_file() and not _is_aside(path.relative_to(place.work))
    }
    return Content(_rows(place), files, indexed)


def leftovers(place: Place) -> list[str]:
    """Name the unfinished files that killed work left."""
    return [
        path.relative_to(place.work).as_posix()
        for path in sorted(place.work.rglob(f"*{TEMPORARY_MARK}*"))
    ]


def lost(before: Content, now: Content, done: Content) -> list[str]:
    """Say what was there before and is not there now, nor replaced by what the command makes.

    Args:
        before: What was there when the command began.
        now: What is there after it was killed.
        done: What is there when it runs undisturbed.
    """
    gone = [
        f"{table}: {row}"
        for table, rows in before.rows.items()
        for row in rows - _narrowed(now.rows.get(table, Counter()), rows)
    ]
    gone += [f"index: {v}" for v, mark in before.indexed.items() if now.indexed.get(v) != mark]
    for group in {_group(path) for path in before.files}:
        old, new, found = (_members(each.files, group) for each in (before, done, now))
        if found not in (old, new):
            gone.append(f"file: {group}")
    return gone


def _rows(place: Place) -> dict[str, Counter[str]]:
    location = Location.parse(place.library)
    database = Database(Location(location.url, place.work / "library"))
    found: dict[str, Counter[str]] = {}
    try:
        with database.read() as connection:
            if not sa.inspect(connection).has_table("videos"):
                return {}
            for name in schema.metadata.tables:
                query = sa.text(f'SELECT * FROM "{name}"')
                rows = connection.execute(query).mappings()
                found[name] = Counter(_told(name, dict(row)) for row in rows)
    finally:
        database.close()
    return found


def _told(table: str, row: dict[str, Any]) -> str:
    kept = {name: value for name, value in row.items() if name not in _INCIDENTAL}
    if table in _NUMBERED:
        kept.pop("id")
    if table == "library" and row["key"].endswith("_at"):
        kept["value"] = "some time"
    if isinstance(kept.get("settings"), str):  # SQLite keeps JSON as text
        kept["settings"] = json.loads(kept["settings"])
    return json.dumps(kept, sort_keys=True, default=str)


def _narrowed(rows: Counter[str], like: Counter[str]) -> Counter[str]:
    """Leave out columns that came with a newer version of the tables."""
    if not like:
        return rows
    known = set(json.loads(next(iter(like))))
    narrow: Counter[str] = Counter()
    for row, times in rows.items():
        values = json.loads(row)
        narrow[json.dumps({k: values[k] for k in sorted(known & set(values))})] += times
    return narrow


def _mark(path: Path) -> str:
    if path.suffix != ".eaf":
        return sha256_of(path)
    timeless = re.sub(rb'DATE="[^"]*"', b"", path.read_bytes())  # ELAN asks for when it was made
    return hashlib.sha256(timeless).hexdigest()


def _is_aside(relative: Path) -> bool:
    return relative.parts[0] in _UNCOUNTED or any(TEMPORARY_MARK in part for part in relative.parts)


def _group(path: str) -> str:
    """A model is a folder of files that belong together; any other file stands for itself."""
    return path.partition("/")[0] if path.startswith(("words/", "aligner/")) else path


def _members(files: Mapping[str, str], group: str) -> str:
    told = [(path, mark) for path, mark in sorted(files.items()) if _group(path) == group]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest() if told else ""
