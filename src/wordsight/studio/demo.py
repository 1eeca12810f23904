"""The studio's sample: films of a street with words to learn, and a workbench to align a text with.

It must be there within a minute on two quiet cores, so two processes render, films have twenty
frames a second, and what is left (words, an alignment, an index) are the studio's first jobs.
"""

from contextlib import closing
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING

from wordsight.errors import WordsightError
from wordsight.workflows.reporter import Reporter

if TYPE_CHECKING:
    from wordsight.worlds.workbench import WorkbenchFilm

__all__ = ["FILMS", "FOLDER", "demo_library"]

FILMS = 30
"""How many films of the street the sample has."""

FOLDER = Path("studio-demo")
"""Where the sample is made; the demo of the command line, which needs more films, has its own."""

_DEMO = Path("demo")
_RATE = 20.0  # frames per second
_PARTS = 2  # processes that render
_ALIGNMENT = "00000000d340"


def demo_library(reporter: Reporter, folder: Path | None = None, films: int = FILMS) -> Path:
    """Make the sample library, or find it again.

    Where ``wordsight demo`` has learned its words, its library is opened instead.

    Args:
        reporter: Draws the bars.
        folder: Where to make it.
        films: How many films of the street.

    Returns:
        The library.
    """
    from wordsight.workflows.lexicon import LEXICON

    shown = (_DEMO / "library" / LEXICON).exists()
    place = folder or (_DEMO if shown else FOLDER)
    library = place / "library"
    bench = _render(reporter, place, 0 if folder is None and shown else films)
    number = _look(reporter, place, library)
    _begin_jobs(library, number, bench, learn=not (library / LEXICON).exists())
    return library


def render_part(order: tuple[Path, int, int]) -> None:
    """Render every so manieth film of the street, or the workbench where the part is -1.

    Args:
        order: The folder, how many films there are in all, and which part of them.
    """
    from wordsight.engine import send_note
    from wordsight.worlds import street, write_world

    folder, films, part = order
    if part < 0:
        _bench().write(folder / "workbench.mp4")
        send_note("workbench")
        return
    mine = islice(street(films, frame_rate=_RATE), part, None, _PARTS)
    write_world(mine, folder / f"street-{part + 1}", progress=lambda _, __, name: send_note(name))


def _bench() -> "WorkbenchFilm":
    from wordsight.worlds import workbench

    films = workbench(1, 3, noise=0.0, steps=3, videos_per_protocol=1, frame_rate=10.0)
    return next(iter(films))


def _render(reporter: Reporter, folder: Path, films: int) -> str:
    """Render what is not there yet; return the instructions that the workbench follows."""
    from wordsight.worlds.folder import METADATA_NAME

    parts = [
        part
        for part in range(min(_PARTS, films))
        if not (folder / f"street-{part + 1}" / METADATA_NAME).exists()
    ]
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "workbench.mp4").exists():
        parts.append(-1)
    if parts:
        _render_parts(reporter, [(folder, films, part) for part in parts])
    sentences = _bench().sentences
    return "\n".join(f"{number}. {text}" for number, text in enumerate(sentences, start=1))


def _render_parts(reporter: Reporter, orders: list[tuple[Path, int, int]]) -> None:
    from wordsight.engine import Processes

    total = sum(len(range(part, films, _PARTS)) if part >= 0 else 1 for _, films, part in orders)
    number = count(1)
    with (
        reporter.progress("Rendering videos") as progress,
        closing(
            Processes(_PARTS).map(
                render_part, orders, on_note=lambda *_: progress(next(number), total, "films")
            )
        ) as outcomes,
    ):
        for outcome in outcomes:
            if not outcome.ok:
                raise WordsightError(f"rendering failed: {outcome.error}")


def _look(reporter: Reporter, folder: Path, place: Path) -> str:
    """Add all films to the library; return the id of the workbench's."""
    from wordsight.library import Library

    with Library.open(place, create=True) as library:
        films = [*sorted(folder.glob("street-[0-9]*")), folder / "workbench.mp4"]
        with reporter.progress("Looking at videos") as progress:
            library.add(films, detector="rendered", progress=progress)
        return next(video.id for video in library.videos() if video.name == "workbench.mp4")


def _begin_jobs(library: Path, video: str, text: str, *, learn: bool) -> None:
    """Put what is not there yet into the studio's queue, each once."""
    from wordsight.studio.jobs import JOB_KINDS
    from wordsight.studio.jobs.store import JobStore

    store = JobStore(library / "studio" / "jobs.sqlite")
    begun = {job.kind for job in store.list(limit=1000)}
    asked: dict[str, dict[str, object]] = {
        "align": {"video": video, "text": text, "name": _ALIGNMENT, "pins": [], "others": []},
        "index": {},
    }
    if learn:
        how = {"restarts": 2, "quick": True, "seed": 0, "grammar": "street", "threads": 2}
        asked["learn"] = how
    for kind in sorted(asked.keys() - begun):
        store.add(kind, JOB_KINDS[kind].title, asked[kind])
