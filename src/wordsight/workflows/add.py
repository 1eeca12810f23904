"""``add``: videos with what is said of them and what a detector sees in them."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.workflows.compute import engine_setting, using_engine
from wordsight.workflows.detector import DetectorSettings, report_first_look
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import argument, setting
from wordsight.workflows.workflow import Result, as_json, workflow

if TYPE_CHECKING:
    from wordsight.library import AddReport, Library

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
        "Video files, folders, or a metadata.jsonl of video-sentence pairs. Captions (.srt, .vtt) "
        "and boxes (.boxes.csv and others) beside a video are added with it.",
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

    def to_json(self) -> Any:
        """Return what ``wordsight add --json`` prints."""
        return as_json(self.report)


@workflow(AddRequest, create=True)
def add(library: "Library", request: AddRequest, *, reporter: RecordingReporter) -> AddResult:
    """Add videos to a library, which is made if it does not exist.

    Videos that are there already are skipped, so that an interrupted run goes on when it is called
    again. A video that fails is part of the result, and all others are added.
    """
    if request.workers is not None and request.engine is not None:
        raise WordsightError("give --workers or --engine, not both: processes:4 is four processes.")
    said: list[Any] = list(request.sentences)
    if request.captions is not None:
        from wordsight.language.captions import read_captions

        said += read_captions(request.captions)
    options = request.detector_options()
    if request.boxes is None:
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
            copy=request.copy_videos,
            force=request.force,
            workers=request.workers,
            engine=engine,
            progress=progress,
        )
    return AddResult(report, warnings=tuple(reporter.notes))
