"""Files that are made of a video for download: overlays, boxes, sheets and tables.

Each is in a folder of its own beside a note of what it is; it stays until it is removed.
"""

import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.files import read_present, write_text
from wordsight.studio.jobs.align import ALIGNMENTS
from wordsight.studio.jobs.lexicon import require_words
from wordsight.studio.jobs.task import JobContext
from wordsight.workflows.detect import write_model_sheet
from wordsight.workflows.export import BOX_SUFFIXES, ExportRequest, export, write_film
from wordsight.workflows.rule_sets import settings_in_use
from wordsight.workflows.settings import make_request
from wordsight.workflows.states import (
    FindEventsRequest,
    FindEventsResult,
    InferStatesRequest,
    find_events,
    infer_states,
)
from wordsight.workflows.track import TrackRequest, track
from wordsight.workflows.workflow import open_library

if TYPE_CHECKING:
    from wordsight.language.captions import Caption
    from wordsight.library import Library

__all__ = [
    "EXPORTERS",
    "ExportedFile",
    "Exporter",
    "export_path",
    "exporting",
    "list_exports",
    "make_file",
    "read_export",
    "remove_export",
    "sweep_exports",
]


_FOLDER = "made"

_NOTE = "made.json"


@dataclass(frozen=True)
class ExportedFile:
    """A file that was made.

    Attributes:
        name: Twelve hexadecimal digits.
        video: Of which video.
        what: What kind of file it is.
        title: What it shows, for people.
        file: Its own name.
        time: When it was made, in seconds since 1970.
        size: Its bytes.
    """

    name: str
    video: str
    what: str
    title: str
    file: str
    time: float
    size: int


@contextmanager
def exporting(
    folder: Path, name: str, video: str, what: str, title: str, file: str
) -> Iterator[Path]:
    """Give a path to write a file to, and note what it is when it is whole."""
    place = folder / _FOLDER / Path(name).name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    try:
        yield place / file
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    made = ExportedFile(
        place.name, video, what, title, file, time.time(), (place / file).stat().st_size
    )
    write_text(place / _NOTE, json.dumps(vars(made)))


def list_exports(folder: Path, video: str | None = None) -> list[ExportedFile]:
    """Return what was made of a video, or of all, the newest first."""
    found = read_present((folder / _FOLDER).glob(f"*/{_NOTE}"), _read)
    wanted = [one for one in found if video is None or one.video == video]
    return sorted(wanted, key=lambda one: -one.time)


def read_export(folder: Path, name: str) -> ExportedFile:
    """Return the note of one file.

    Raises:
        WordsightError: If there is none of that name.
    """
    path = folder / _FOLDER / Path(name).name / _NOTE
    if not path.is_file():
        raise WordsightError(f"there is no file {name}; it may have been removed.")
    return _read(path)


def export_path(folder: Path, name: str) -> Path:
    """Return where a file is."""
    return folder / _FOLDER / Path(name).name / read_export(folder, name).file


def remove_export(folder: Path, name: str) -> None:
    """Remove a file."""
    read_export(folder, name)
    shutil.rmtree(folder / _FOLDER / Path(name).name)


def sweep_exports(folder: Path) -> int:
    """Remove what was begun and never finished, such as by a job that was stopped; say how many."""
    begun = [path for path in (folder / _FOLDER).glob("*") if not (path / _NOTE).is_file()]
    for path in begun:
        shutil.rmtree(path, ignore_errors=True)
    return len(begun)


def _read(path: Path) -> ExportedFile:
    return ExportedFile(**json.loads(path.read_text(encoding="utf-8")))


def make_file(arguments: Mapping[str, Any], context: JobContext) -> dict[str, Any]:
    """Make a file and keep it for downloading.

    Args:
        arguments: ``name`` of the folder it is kept in; ``video``; ``what``, as in
            :data:`EXPORTERS`; ``ending``; and what it takes, such as ``sentence``, ``start``,
            ``end`` or ``alignment``.
        context: Where to work.
    """
    what = arguments["what"]
    maker = EXPORTERS[what]
    ending = arguments.get("ending") or maker.endings[0]
    if ending not in maker.endings:
        raise WordsightError(
            f"{maker.title.lower()} can be written as {', '.join(maker.endings)}, not {ending}."
        )
    with open_library(context.library) as library:
        video = library.resolve(arguments["video"])
        asked = {**arguments, "video": video}
        file = f"{Path(library.video(video).name).stem}-{what}{ending}"
        title = f"{maker.title}: {asked['sentence']}" if asked.get("sentence") else maker.title
        with exporting(context.folder, arguments["name"], video, what, title, file) as path:
            maker.make(asked, library, context, path)
    size = export_path(context.folder, arguments["name"]).stat().st_size
    return {"made": arguments["name"], "file": file, "size": size}


Maker = Callable[[Mapping[str, Any], "Library", JobContext, Path], object]


@dataclass(frozen=True)
class Exporter:
    """How one kind of file is made, by the workflow of the command that writes such files.

    Attributes:
        title: What it shows.
        endings: The endings it may have, the usual one first.
        make: Writes it: from what was asked for, an open library, where to work, where to write.
    """

    title: str
    endings: tuple[str, ...]
    make: Maker


def _exporter(**settings: str) -> Maker:
    """Return what writes a file by :func:`wordsight.workflows.export.export`."""

    def make(
        asked: Mapping[str, Any], library: "Library", context: JobContext, path: Path
    ) -> object:
        between = {name: asked[name] for name in ("start", "end") if name in asked}
        request = {"videos": (asked["video"],), "output": path, **settings, **between}
        return export(library, make_request(ExportRequest, request), progress=context.progress)

    return make


def _models(
    asked: Mapping[str, Any], library: "Library", context: JobContext, path: Path
) -> object:
    video = asked["video"]
    write_model_sheet(path, Path(library.video(video).path), library.shots(video))
    return path


def _film_of_sentence(
    asked: Mapping[str, Any], library: "Library", context: JobContext, path: Path
) -> object:
    if not asked.get("sentence"):
        raise WordsightError("say which sentence the film is about.")
    require_words(library)
    names = ("video", "sentence", "start", "end", "whole", "prune")
    settings = {name: asked[name] for name in names if name in asked}
    settings |= {"overlay": path}
    return track(library, make_request(TrackRequest, settings), progress=context.progress)


def _film_of_lines(
    asked: Mapping[str, Any], library: "Library", context: JobContext, path: Path
) -> None:
    from wordsight.language.captions import Caption

    kept = context.folder / ALIGNMENTS / Path(asked.get("alignment") or "-").name / "studio.json"
    if not kept.is_file():
        raise WordsightError("there is no such alignment; align the text first.")
    captions = [
        Caption(span["start"], span["end"], f"{line['line']}. {line['text']}")
        for line in json.loads(kept.read_text(encoding="utf-8"))["result"]["lines"]
        for span in line["spans"]
    ]
    captions.sort(key=lambda one: one.start or 0.0)
    _film(asked, library, context, path, "nothing", captions)


def _film_of_facts(
    asked: Mapping[str, Any], library: "Library", context: JobContext, path: Path
) -> None:
    from wordsight.language.captions import Caption

    result = _find_events(asked, context)
    rows = result.sequences[0].intervals()
    captions = [Caption(row.start, row.end, str(row.fact)) for row in rows]
    captions += [Caption(event.start, event.end, str(event)) for event in result.events]
    _film(asked, library, context, path, "tracks", captions)


def _film(
    asked: Mapping[str, Any],
    library: "Library",
    context: JobContext,
    path: Path,
    show: str,
    captions: "list[Caption]",
) -> None:
    write_film(
        library,
        asked["video"],
        path,
        show=show,
        captions=captions,
        between=(asked.get("start"), asked.get("end")),
        progress=context.progress,
    )


def _state_settings(asked: Mapping[str, Any], context: JobContext) -> dict[str, Any]:
    where = {"inputs": (asked["video"],), "library": context.library, "force": True}
    return settings_in_use(context.folder) | where


def _find_events(asked: Mapping[str, Any], context: JobContext, **files: Path) -> FindEventsResult:
    """Infer states and events with the studio's rules, and write the files that are named."""
    settings = _state_settings(asked, context) | files
    settings["everything"] = bool(asked.get("everything"))
    return find_events(make_request(FindEventsRequest, settings), progress=context.progress)


def _facts(asked: Mapping[str, Any], library: "Library", context: JobContext, path: Path) -> object:
    settings = _state_settings(asked, context) | {"output": path}
    del settings["events"]
    return infer_states(make_request(InferStatesRequest, settings), progress=context.progress)


def _events(
    asked: Mapping[str, Any], library: "Library", context: JobContext, path: Path
) -> object:
    return _find_events(asked, context, output=path)


def _timeline(
    asked: Mapping[str, Any], library: "Library", context: JobContext, path: Path
) -> object:
    return _find_events(asked, context, plot=path)


_MP4 = (".mp4",)
_STATES = (".csv", ".json", ".eaf")
EXPORTERS: dict[str, Exporter] = {
    "film-boxes": Exporter("Film with the boxes that were seen", _MP4, _exporter(show="boxes")),
    "film-tracks": Exporter(
        "Film with the things that were followed", _MP4, _exporter(show="tracks")
    ),
    "film-sentence": Exporter("Film with who is who", _MP4, _film_of_sentence),
    "film-lines": Exporter("Film with the lines of the text", _MP4, _film_of_lines),
    "film-facts": Exporter("Film with the facts that hold", _MP4, _film_of_facts),
    "boxes": Exporter("Boxes that were seen", BOX_SUFFIXES, _exporter(what="boxes")),
    "tracks": Exporter(
        "Boxes of the things that were followed", BOX_SUFFIXES, _exporter(what="tracks")
    ),
    "sheet": Exporter("Sheet of the shots", (".png",), _exporter(what="sheet")),
    "models": Exporter("What models of the shots know", (".png",), _models),
    "facts": Exporter("Facts that hold", _STATES, _facts),
    "events": Exporter("Events", _STATES, _events),
    "timeline": Exporter("Timeline of facts and events", (".png", ".svg", ".pdf"), _timeline),
}
"""Everything that can be made of a video, by kind."""
