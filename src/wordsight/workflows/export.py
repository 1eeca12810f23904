"""``export`` and ``import``: films, boxes and sheets of videos, and annotations for other tools."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from wordsight.errors import WordsightError
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import Request, argument, setting
from wordsight.workflows.workflow import Result, as_json, refuse_existing, workflow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wordsight.language.captions import Caption
    from wordsight.library import ArtefactEntry, Library
    from wordsight.library.exchange import AnnotatedVideo, ImportedVideo
    from wordsight.progress import Progress

__all__ = [
    "BOX_SUFFIXES",
    "PROXY",
    "ExportRequest",
    "ExportResult",
    "ImportRequest",
    "ImportResult",
    "export",
    "import_annotations",
    "moment_sheet",
    "write_film",
    "write_proxy",
]

BOX_SUFFIXES = (".csv", ".txt", ".json", ".xml")
"""Suffixes of files of boxes."""

_SUFFIXES = {"film": (".mp4",), "boxes": BOX_SUFFIXES, "tracks": BOX_SUFFIXES, "sheet": (".png",)}


Tool = Literal["fiftyone", "cvat", "label-studio", "elan", "coco", "hf"]
"""The tools that annotations go to and come from."""


class ExportRequest(Request):
    """What is written of a video."""

    videos: tuple[str, ...] = argument(
        "Id of a video of the library, or the beginning of it; with --to any number, all if none.",
        metavar="ID",
        default=(),
    )
    output: Path = argument(
        "Film (.mp4), boxes (.csv .txt .json .xml) or sheet (.png); with --to a folder.",
        metavar="FILE",
    )
    to: Tool | None = setting(None, "Boxes and sentences for an annotation tool or data set.")
    what: Literal["film", "boxes", "tracks", "sheet"] | None = setting(
        None,
        "A film with boxes drawn, the boxes, boxes with identities, or a sheet of the shots.",
        default_text="film, with --to boxes",
    )
    show: Literal["boxes", "tracks", "nothing"] = setting(
        "boxes", "What a film shows: detections, what was tracked, or captions only."
    )
    captions: Path | None = setting(None, "Captions drawn into a film: .srt .vtt", metavar="FILE")
    start: float | None = setting(None, "A film begins at this second.", ge=0)
    end: float | None = setting(None, "A film ends at this second.", ge=0)
    force: bool = setting(False, "Replace the file if it exists.")


@dataclass(frozen=True)
class ExportResult(Result):
    """What was written.

    Attributes:
        output: The file.
        size: Its bytes.
    """

    output: Path
    size: int

    def to_json(self) -> Any:
        """Return what ``wordsight export --json`` prints."""
        return as_json({"output": self.output, "size": self.size})


@workflow(ExportRequest)
def export(
    library: "Library", request: ExportRequest, *, reporter: RecordingReporter
) -> ExportResult:
    """Write a film, boxes or a sheet of a video, or annotations for other tools."""
    from wordsight.language.captions import read_captions
    from wordsight.video import shot_sheet, write_image

    if request.to is not None:
        return _export_to(library, request, request.to, reporter)
    if len(request.videos) != 1:
        raise WordsightError(
            f"name one video, got {len(request.videos)}; with --to several are exported at once."
        )
    (video,), what = request.videos, request.what or "film"
    path, suffixes = request.output, _SUFFIXES[what]
    if path.suffix.lower() not in suffixes:
        raise WordsightError(
            f"{what} can be written as {', '.join(suffixes)}, not {path.suffix or path}."
        )
    refuse_existing(path, force=request.force)
    if what == "sheet":
        details = library.show(video)
        sheet = shot_sheet(details.video.path, details.shots, heading=details.video.name)
        write_image(path, sheet, overwrite=request.force)
    elif what == "film":
        captions = () if request.captions is None else read_captions(request.captions)
        with reporter.progress("Drawing") as progress:
            write_film(
                library,
                video,
                path,
                show=request.show,
                captions=captions,
                between=(request.start, request.end),
                progress=progress,
                overwrite=request.force,
            )
    else:
        _write_boxes(library, video, request)
    return ExportResult(path, path.stat().st_size)


def _export_to(
    library: "Library", request: ExportRequest, tool: Tool, reporter: RecordingReporter
) -> ExportResult:
    from wordsight.library.exchange import annotated, write_annotations

    if request.what in ("film", "sheet"):
        raise WordsightError(f"--to takes boxes or tracks, not a {request.what}.")
    refuse_existing(request.output, force=request.force)
    if request.output.exists() and not request.output.is_dir():
        raise WordsightError(f"{request.output} is a file; --to writes a folder.")
    ids = [library.resolve(name) for name in request.videos] or [v.id for v in library.videos()]
    if not ids:
        raise WordsightError("the library is empty; add videos first.")
    with reporter.progress("Exporting") as progress:

        def following() -> "Iterator[AnnotatedVideo]":
            for number, video_id in enumerate(ids):
                progress(number, len(ids), video_id)
                yield annotated(library, video_id, tracks=request.what == "tracks")

        write_annotations(request.output, following(), tool)
    if tool == "hf" and not (request.output / "parquet").exists():
        reporter.note("Parquet was left out: pip install 'wordsight[parquet]'.")
    files = [path for path in request.output.rglob("*") if path.is_file()]
    return ExportResult(request.output, sum(path.stat().st_size for path in files))


class ImportRequest(Request):
    """What comes back from a tool."""

    sources: tuple[Path, ...] = argument(
        "Files or folders as the tool exported them.", metavar="PATH..."
    )
    tool: Tool | None = setting(
        None, "Which tool wrote them.", "--from", default_text="recognised by the files"
    )


@dataclass(frozen=True)
class ImportResult(Result):
    """What was put back.

    Attributes:
        videos: What changed in each video.
        failures: What could not be used, and why.
    """

    videos: "tuple[ImportedVideo, ...]"
    failures: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all could be used."""
        return not self.failures

    def to_json(self) -> Any:
        """Return what ``wordsight import --json`` prints."""
        return as_json({"videos": self.videos, "failures": self.failures})


@workflow(ImportRequest)
def import_annotations(
    library: "Library", request: ImportRequest, *, reporter: RecordingReporter
) -> ImportResult:
    """Put annotations that were corrected in another tool in the place of the library's.

    Videos are found by id, name or path. What comes back unchanged stays as it is.
    """
    from wordsight.library.exchange import put_back, read_annotations

    done, failures = [], []
    with reporter.progress("Importing") as progress:
        for number, path in enumerate(request.sources):
            progress(number, len(request.sources), path.name)
            try:
                for read in read_annotations(path, request.tool):
                    try:
                        done.append(put_back(library, read, path.name))
                    except WordsightError as error:
                        failures.append(f"{path.name}: {error}")
            except WordsightError as error:
                failures.append(str(error))
    for text in [*(one.note for one in done if one.note), *failures]:
        reporter.warn(text)
    return ImportResult(tuple(done), tuple(failures))


def write_film(
    library: "Library",
    video: str,
    path: Path,
    *,
    show: str = "tracks",
    captions: "Sequence[Caption]" = (),
    between: tuple[float | None, float | None] = (None, None),
    progress: "Progress | None" = None,
    overwrite: bool = False,
) -> None:
    """Draw what was seen in a video, and captions, into a copy of it.

    Args:
        library: The library.
        video: Its id, or the beginning of it.
        path: The film to write.
        show: ``boxes``, ``tracks`` or ``nothing``.
        captions: Texts with times.
        between: From when to when, in seconds; all where ``None``.
        progress: Called with how far it is.
        overwrite: Whether a file that exists is replaced.
    """
    from wordsight.perception import track_detections
    from wordsight.video import render_overlay

    entry = library.video(library.resolve(video))
    drawn: dict[str, Any] = {}
    if show == "boxes":
        drawn = {"detections": library.detections(entry.id)}
    elif show == "tracks":
        drawn = {"tracks": track_detections(library.detections(entry.id), entry.id)[0]}
    start, end = between
    render_overlay(
        entry.path,
        path,
        captions=captions,
        start=start,
        end=end,
        overwrite=overwrite,
        progress=progress,
        **drawn,
    )


PROXY = "proxy"
"""The kind of artefact that is a copy of a video which every browser plays."""

_PROXY_WIDTH = 1280


def write_proxy(
    library: "Library", video: str, progress: "Progress | None" = None
) -> "ArtefactEntry":
    """Make a copy of a video in H.264, which every browser plays, and keep it with the video.

    Args:
        library: The library.
        video: Its id, or the beginning of it.
        progress: Called with how far it is.

    Raises:
        WordsightError: If the file of the video is gone.
    """
    from wordsight.video import render_overlay

    entry = library.video(library.resolve(video))
    if not Path(entry.path).is_file():
        raise WordsightError(f"the file of {entry.name} is not where it was when it was added.")
    width = None if entry.width <= _PROXY_WIDTH else _PROXY_WIDTH

    def write(path: Path) -> None:
        render_overlay(entry.path, path, width=width, overwrite=True, progress=progress)

    return library.put_artefact(
        PROXY, write, suffix=".mp4", settings={"width": width}, video_id=entry.id
    )


def moment_sheet(
    library: "Library", video: str, start: float, end: float, pictures: int
) -> "NDArray[np.uint8]":
    """Draw frames of a moment of a video side by side, each with its time.

    Args:
        library: The library.
        video: Its id, or the beginning of it.
        start: The first second of the moment.
        end: The last.
        pictures: How many frames, evenly spaced.

    Raises:
        WordsightError: If there is no such moment.
    """
    from wordsight.video import VideoReader, contact_sheet

    if not 0 <= start <= end:
        raise WordsightError(f"a moment starts at 0 s or later, got {start} to {end} s.")
    entry = library.video(library.resolve(video))
    times = [start + (end - start) * (n + 0.5) / pictures for n in range(pictures)]
    with VideoReader(entry.path) as reader:
        images = [reader.frame_at(reader.info.start_time + time).image for time in times]
    return contact_sheet(images, [f"{time:.1f} s" for time in times], heading=entry.name)


def _write_boxes(library: "Library", video: str, request: ExportRequest) -> None:
    from wordsight.perception import track_detections, write_boxes
    from wordsight.video import VideoReader

    entry = library.video(library.resolve(video))
    seen = library.detections(entry.id)
    if request.what == "tracks":
        _, seen = track_detections(seen, entry.id)
    with VideoReader(entry.path) as reader:
        write_boxes(request.output, seen, times=reader.times, overwrite=request.force)
