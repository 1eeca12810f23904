"""The commands of the crash matrix: what is there before each, and how it is called."""

import shutil
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.reliability_places import Place
from benchmarks.reliability_process import Ending, call_command, run
from wordsight.errors import WordsightError

__all__ = ["CASES", "Case", "in_next_release", "make_films", "must"]

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
    from wordsight.library.catalog.schema import SCHEMA_VERSION
    from wordsight.library.catalog.updates import NewSentence, insert_sentences

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
