"""Making files of a video: a film with drawings, its boxes, a sheet of its shots, its facts.

Every maker calls what the command line calls for the same file, on what the library has seen.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.language.captions import Caption
from wordsight.library import Library
from wordsight.studio.jobs.learn import LEXICON
from wordsight.studio.jobs.task import JobContext
from wordsight.video import render_overlay
from wordsight.workflows.settings import make_request

if TYPE_CHECKING:
    from wordsight.records import Detections, Track
    from wordsight.workflows.states import FindEventsResult

__all__ = ["EXPORTERS", "Exporter", "tracked"]


@dataclass(frozen=True)
class Exporter:
    """How one kind of file is made.

    Attributes:
        title: What it shows.
        endings: The endings it may have, the usual one first.
        make: Writes it: from what was asked for, an open library, where to work, where to write.
    """

    title: str
    endings: tuple[str, ...]
    make: Callable[[Mapping[str, Any], Library, JobContext, Path], object]


def _film_of_boxes(
    asked: Mapping[str, Any], library: Library, workplace: JobContext, path: Path
) -> None:
    seen = library.detections(asked["video"])
    _draw(asked, library, workplace, path, detections=seen)


def _film_of_tracks(
    asked: Mapping[str, Any], library: Library, workplace: JobContext, path: Path
) -> None:
    tracks, _ = tracked(library, asked["video"])
    _draw(asked, library, workplace, path, tracks=tracks)


def _film_of_sentence(
    asked: Mapping[str, Any], library: Library, workplace: JobContext, path: Path
) -> None:
    from wordsight.meaning import best_moment
    from wordsight.workflows.annotator import load_annotator
    from wordsight.workflows.clips import clip_between
    from wordsight.workflows.compute import pruning
    from wordsight.workflows.lexicon import load_lexicon

    if not asked.get("sentence"):
        raise WordsightError("say which sentence the film is about.")
    folder = workplace.folder / LEXICON
    if not folder.exists():
        raise WordsightError("no words were learned yet; learn some on the Lexicon page first.")
    words, start, end = load_lexicon(folder), asked.get("start"), asked.get("end")
    clip = clip_between(library, asked["video"], start, end, load_annotator(folder))
    with pruning(asked.get("prune")):
        moment = clip if asked.get("whole") else best_moment(words, clip, asked["sentence"])
        found = words.track(moment, asked["sentence"])
    if moment is not clip:
        start, end = moment.start, moment.end
    said = [Caption(moment.start, moment.end, found.sentence.text)]
    seconds = {**asked, "start": start, "end": end}
    _draw(seconds, library, workplace, path, tracks=found.tracks, captions=said)


def _film_of_lines(
    asked: Mapping[str, Any], library: Library, workplace: JobContext, path: Path
) -> None:
    import json

    from wordsight.studio.jobs.align import ALIGNMENTS

    kept = workplace.folder / ALIGNMENTS / Path(asked.get("alignment") or "-").name / "studio.json"
    if not kept.is_file():
        raise WordsightError("there is no such alignment; align the text first.")
    lines = json.loads(kept.read_text(encoding="utf-8"))["result"]["lines"]
    said = [
        Caption(span["start"], span["end"], f"{line['line']}. {line['text']}")
        for line in lines
        for span in line["spans"]
    ]
    _draw(asked, library, workplace, path, captions=sorted(said, key=lambda one: one.start or 0.0))


def _film_of_facts(
    asked: Mapping[str, Any], library: Library, workplace: JobContext, path: Path
) -> None:
    result = _infer(asked, workplace)
    rows = result.sequences[0].intervals()
    said = [Caption(row.start, row.end, str(row.fact)) for row in rows]
    said += [Caption(event.start, event.end, str(event)) for event in result.events]
    tracks, _ = tracked(library, asked["video"])
    _draw(asked, library, workplace, path, tracks=tracks, captions=said)


def _draw(
    asked: Mapping[str, Any], library: Library, workplace: JobContext, path: Path, **drawn: Any
) -> None:
    render_overlay(
        library.video(asked["video"]).path,
        path,
        start=asked.get("start"),
        end=asked.get("end"),
        progress=workplace.progress,
        **drawn,
    )


def _boxes(asked: Mapping[str, Any], library: Library, workplace: JobContext, path: Path) -> None:
    _write_boxes(library, asked["video"], library.detections(asked["video"]), path)


def _tracks(asked: Mapping[str, Any], library: Library, workplace: JobContext, path: Path) -> None:
    _, seen = tracked(library, asked["video"])
    _write_boxes(library, asked["video"], seen, path)


def _write_boxes(library: Library, video: str, seen: "Detections", path: Path) -> None:
    from wordsight.perception import write_boxes
    from wordsight.video import VideoReader

    with VideoReader(library.video(video).path) as reader:
        write_boxes(path, seen, times=reader.times)


def tracked(library: Library, video: str) -> tuple[list["Track"], "Detections"]:
    """Track what was detected in a video, unless its boxes have identities already."""
    from wordsight.perception.tracking.tracks import track_detections

    return track_detections(library.detections(video), video)


def _sheet(asked: Mapping[str, Any], library: Library, workplace: JobContext, path: Path) -> None:
    from wordsight.video import shot_sheet, write_image

    details = library.show(asked["video"])
    write_image(path, shot_sheet(details.video.path, details.shots, heading=details.video.name))


def _state_settings(asked: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    from wordsight.studio.states import read_rules

    where = {"inputs": (asked["video"],), "library": workplace.library, "force": True}
    return read_rules(workplace.folder).settings() | where


def _infer(asked: Mapping[str, Any], workplace: JobContext, **files: Path) -> "FindEventsResult":
    """Infer states and events with the studio's rules, and write the files that are named."""
    from wordsight.workflows.states import FindEventsRequest, find_events

    settings = _state_settings(asked, workplace) | files
    settings["everything"] = bool(asked.get("everything"))
    return find_events(make_request(FindEventsRequest, settings), progress=workplace.progress)


def _facts(asked: Mapping[str, Any], library: Library, workplace: JobContext, path: Path) -> None:
    from wordsight.workflows.states import InferStatesRequest, infer_states

    settings = _state_settings(asked, workplace) | {"output": path}
    del settings["events"]
    infer_states(make_request(InferStatesRequest, settings), progress=workplace.progress)


def _events(asked: Mapping[str, Any], library: Library, workplace: JobContext, path: Path) -> None:
    _infer(asked, workplace, output=path)


def _timeline(
    asked: Mapping[str, Any], library: Library, workplace: JobContext, path: Path
) -> None:
    _infer(asked, workplace, plot=path)


_BOXES = (".csv", ".txt", ".json", ".xml")
_STATES = (".csv", ".json", ".eaf")
EXPORTERS: dict[str, Exporter] = {
    "film-boxes": Exporter("Film with the boxes that were seen", (".mp4",), _film_of_boxes),
    "film-tracks": Exporter("Film with the things that were followed", (".mp4",), _film_of_tracks),
    "film-sentence": Exporter("Film with who is who", (".mp4",), _film_of_sentence),
    "film-lines": Exporter("Film with the lines of the text", (".mp4",), _film_of_lines),
    "film-facts": Exporter("Film with the facts that hold", (".mp4",), _film_of_facts),
    "boxes": Exporter("Boxes that were seen", _BOXES, _boxes),
    "tracks": Exporter("Boxes of the things that were followed", _BOXES, _tracks),
    "sheet": Exporter("Sheet of the shots", (".png",), _sheet),
    "facts": Exporter("Facts that hold", _STATES, _facts),
    "events": Exporter("Events", _STATES, _events),
    "timeline": Exporter("Timeline of facts and events", (".png", ".svg", ".pdf"), _timeline),
}
"""Everything that can be made of a video, by kind."""
