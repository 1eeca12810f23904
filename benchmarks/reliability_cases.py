"""The commands of the crash matrix: what is there before each, and how it is called."""

import hashlib
import json
import re
import shutil
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from benchmarks.reliability_places import Place
from benchmarks.reliability_process import Ending, call_command, run
from wordsight.errors import WordsightError
from wordsight.files import TEMPORARY_MARK, sha256_of
from wordsight.library.catalog import schema
from wordsight.library.catalog.database import Database, Location

__all__ = [
    "CASES",
    "Case",
    "Content",
    "content_of",
    "in_next_release",
    "leftovers",
    "lost",
    "make_films",
    "must",
]

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


_OLD_TEXT = "1. Walk to the chair.\n2. Put down the backpack.\n"
_NEW_TEXT = "1. Approach the backpack.\n2. Pick up the backpack.\n"
_MANY_SENTENCES = 3000
_NEXT_VERSION = "9999"
_NEXT_MIGRATION = """
    import sqlalchemy as sa
    from alembic import op

    revision = "9999"
    down_revision = "HEAD"

    def upgrade():
        for name in ("videos", "sentences", "artefacts"):
            with op.batch_alter_table(name, recreate="ANEW") as table:
                table.add_column(sa.Column("camera", sa.Text, server_default="unknown"))
        op.create_table("cameras", sa.Column("name", sa.Text, primary_key=True))
        op.execute("INSERT INTO cameras SELECT DISTINCT camera FROM videos")
        op.execute("UPDATE sentences SET camera = 'told'")
"""


@dataclass(frozen=True)
class Case:
    """A command of the matrix.

    Attributes:
        name: The command.
        prepare: Makes what is there before it, in an empty place; gets the films' folder.
        command: Returns the call.
        finished: Returns calls whose answers must be the same after any history.
    """

    name: str
    prepare: Callable[[Place, Path], None]
    command: Callable[[Place, Path], Callable[[], None]]
    finished: Callable[[Place, Path], list[Callable[[], None]]]


def make_films(folder: Path, seed: int = 5) -> None:
    """Render four short films with sentences, half of them to be there before."""
    from wordsight.worlds import street, write_world

    films = list(street(4, seed, noise=0.0, frame_rate=5.0))
    write_world(films[:2], folder / "old")
    write_world(films[2:], folder / "new")
    (folder / "old.txt").write_text(_OLD_TEXT, encoding="utf-8")
    (folder / "new.txt").write_text(_NEW_TEXT, encoding="utf-8")


def must(place: Place, call: Callable[[], None]) -> Ending:
    """Run a call undisturbed.

    Raises:
        WordsightError: If it fails.
    """
    ending = run(call, place.work)
    if ending.status:
        raise WordsightError(f"an undisturbed command failed ({ending.status}): {ending.said}")
    return ending


def in_next_release(call: Callable[[], None], migrations: Path) -> Callable[[], None]:
    """Return a call as the next release of Wordsight would answer it, with one migration more."""

    def later() -> None:
        from wordsight.library.catalog import opening

        opening.SCHEMA_VERSION = opening.SCHEMA_VERSION = _NEXT_VERSION
        opening.make_or_upgrade = partial(opening.make_or_upgrade, migrations=migrations)
        call()

    return later


def _add(place: Place, *folders: Path) -> Callable[[], None]:
    looking = ("--detector", "rendered", "--rate", "5", "--workers", "1")
    return call_command("add", *map(str, folders), *looking, "--library", place.library)


def _made(place: Place, films: Path, *halves: str) -> None:
    must(
        place,
        call_command("init", place.library, "--artefacts", str(place.work / "library"))
        if "://" in place.library
        else call_command("init", place.library),
    )
    must(place, _add(place, *(films / half for half in halves)))


def _learn(place: Place, seed: int) -> Callable[[], None]:
    few = ("--quick", "--restarts", "1", "--threads", "1", "--seed", str(seed))
    return call_command("learn", "--words", "words", *few, "--force", "--library", place.library)


def _align(place: Place, text: Path) -> Callable[[], None]:
    # Pinned, since films this short do not tell lines apart.
    pins = ("--constraint", "1=0.5", "--constraint", "2=2", "--with", "street-002")
    kept = ("--output", "timed.vtt", "--format", "all", "--save", "aligner", "--force")
    return call_command("align", "street-001", str(text), *pins, *kept, "-L", place.library)


def _index(place: Place) -> Callable[[], None]:
    return call_command("index", "--library", place.library)


def _before_learn(place: Place, films: Path) -> None:
    _made(place, films, "old", "new")
    must(place, _learn(place, seed=1))


def _before_index(place: Place, films: Path) -> None:
    _made(place, films, "old")
    must(place, _index(place))
    must(place, _add(place, films / "new"))


def _before_align(place: Place, films: Path) -> None:
    _made(place, films, "old", "new")
    must(place, _align(place, films / "old.txt"))


def _before_migrate(place: Place, films: Path) -> None:
    from wordsight.library import Library
    from wordsight.library.catalog.opening import MIGRATIONS
    from wordsight.library.catalog.queries import NewSentence, insert_sentences
    from wordsight.library.catalog.schema import SCHEMA_VERSION

    _made(place, films, "old")
    with Library.open(place.library) as library, library._database.write() as connection:
        said = [NewSentence(f"Sentence {n} was said.", float(n)) for n in range(_MANY_SENTENCES)]
        insert_sentences(connection, library.videos()[0].id, said)
    anew = "always" if place.name == "sqlite" else "never"
    migrations = _migrations(place)
    shutil.rmtree(migrations, ignore_errors=True)
    shutil.copytree(MIGRATIONS, migrations, ignore=shutil.ignore_patterns("__pycache__"))
    text = _NEXT_MIGRATION.replace("HEAD", SCHEMA_VERSION).replace("ANEW", anew)
    (migrations / "versions" / "v9999_camera.py").write_text(textwrap.dedent(text))


def _migrations(place: Place) -> Path:
    return place.home / "migrations"


def _migrate(place: Place) -> Callable[[], None]:
    listing = call_command("list", "--json", "--library", place.library)
    return in_next_release(listing, _migrations(place))


def _searches(place: Place, films: Path) -> list[Callable[[], None]]:
    told = ("--json", "--by", "said", "--all", "--library", place.library)
    like = ("--json", "--like", "street-000@1", "--all", "--library", place.library)
    return [call_command("search", "chair", *told), call_command("search", *like)]


CASES = (
    Case("add", lambda p, f: _made(p, f, "old"), lambda p, f: _add(p, f / "new"), lambda p, f: []),
    Case("learn", _before_learn, lambda p, f: _learn(p, seed=0), lambda p, f: []),
    Case("index", _before_index, lambda p, f: _index(p), _searches),
    Case("align", _before_align, lambda p, f: _align(p, f / "new.txt"), lambda p, f: []),
    Case("migrate", _before_migrate, lambda p, f: _migrate(p), lambda p, f: []),
)
"""The commands, in the order in which a collection meets them."""
