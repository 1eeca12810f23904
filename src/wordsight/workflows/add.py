"""``add``: videos with what is said of them and what a detector sees in them."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.files import BOX_SUFFIXES
from wordsight.workflows.compute import engine_setting, using_engine
from wordsight.workflows.detect import DetectorSettings, report_first_look
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import argument, setting
from wordsight.workflows.workflow import Result, workflow

if TYPE_CHECKING:
    from wordsight.library import AddReport, Failure, Library

__all__ = ["AddRequest", "AddResult", "add", "artefacts_setting"]


def artefacts_setting() -> Any:
    """Declare the setting that says where a new library keeps its files."""
    return setting(
        None,
        "Where a new library keeps its files: a shared folder, or a bucket such as "
        "s3://bucket/folder. It is remembered.",
        metavar="FOLDER|URL",
        default_text="beside its catalogue",
    )


class AddRequest(DetectorSettings):
    """What is added, and how it is looked at."""

    sources: tuple[Path, ...] = argument(
        "Video files, files of boxes without a video, folders, or a metadata.jsonl of "
        "video-sentence pairs. Captions (.srt, .vtt, or .json of a speech recogniser) and boxes "
        "(.boxes.csv and others) beside a video are added with it.",
        metavar="PATH...",
    )
    sentences: tuple[str, ...] = setting(
        (),
        "A sentence about the one video given; may be repeated.",
        "--sentence",
        "-s",
        label="What happens in it",
    )
    captions: Path | None = setting(
        None, "Captions of the one video given, with times.", metavar="FILE", hidden=True
    )
    boxes: Path | None = setting(
        None, "Boxes of the one video given, instead of a detector.", metavar="FILE"
    )
    rate: float = setting(
        10.0,
        "Look for things in at most this many frames a second.",
        label="Frames looked at per second",
        ge=0.1,
        le=1000,
    )
    fps: float | None = setting(
        None,
        "Frames per second of boxes without a video.",
        default_text="those in the file",
        label="Frames per second of boxes without a video",
        gt=0,
        le=1000,
    )
    size: str | None = setting(
        None,
        "Width and height in pixels of boxes without a video.",
        metavar="WIDTHxHEIGHT",
        default_text="those in the file, else what holds all boxes",
        label="Width and height of boxes without a video",
        pattern=r"^[1-9][0-9]{0,4}x[1-9][0-9]{0,4}$",
    )
    copy_videos: bool = setting(False, "Copy the videos into the library.", "--copy")
    force: bool = setting(
        False,
        "Look again at videos that are in the library.",
        label="Look again at videos that are in the library",
    )
    workers: int | None = setting(
        None, "Number of processes.", "--workers", "-j", default_text="one per core", ge=1
    )
    engine: str | None = engine_setting()
    artefacts: str | None = artefacts_setting()


@dataclass(frozen=True)
class AddResult(Result):
    """What was added.

    Attributes:
        report: Videos that were added, that were there, and that failed.
    """

    report: "AddReport"

    @property
    def ok(self) -> bool:
        """Whether no video failed."""
        return not self.report.failed


@workflow(AddRequest, create=True)
def add(library: "Library", request: AddRequest, *, reporter: RecordingReporter) -> AddResult:
    """Add videos to a library, which is made if it does not exist.

    Videos that are there already are skipped, so that an interrupted run resumes when it is called
    again. A video that fails is part of the result, and all others are added.
    """
    if request.workers is not None and request.engine is not None:
        raise WordsightError("give --workers or --engine, not both: processes:4 is four processes.")
    said: list[Any] = list(request.sentences)
    if request.captions is not None:
        from wordsight.language.captions import read_captions

        said += read_captions(request.captions)
    options = request.detector_options()
    if request.boxes is None and any(p.suffix.lower() not in BOX_SUFFIXES for p in request.sources):
        report_first_look(request.detector, reporter)
    with (
        using_engine(request.engine, reporter) as engine,
        reporter.progress("Adding") as progress,
    ):
        report = library.add(
            request.sources,
            sentences=said,
            boxes=request.boxes,
            detector=request.detector,
            options=options,
            rate=request.rate,
            fps=request.fps,
            size=_size(request.size),
            copy=request.copy_videos,
            force=request.force,
            workers=request.workers,
            engine=engine,
            progress=progress,
        )
    for failure in report.warnings:
        reporter.warn(_sentence(failure))
    for failure in report.failed:
        reporter.warn(f"not added: {_sentence(failure)}")
    return AddResult(report)


def _sentence(failure: "Failure") -> str:
    named = failure.path in failure.message
    return failure.message if named else f"{failure.path}: {failure.message}"


def _size(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    width, height = text.split("x")
    return int(width), int(height)
