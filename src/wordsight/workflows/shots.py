"""``shots``: the shots of one video."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import Request, argument, setting
from wordsight.workflows.workflow import Result, as_json, refuse_existing, workflow

if TYPE_CHECKING:
    from wordsight.records import Shot

__all__ = ["ShotsRequest", "ShotsResult", "shots"]


class ShotsRequest(Request):
    """Which video is cut into shots."""

    video: Path = argument("A video file.", metavar="VIDEO")
    sheet: Path | None = setting(None, "Also write a contact sheet of the shots.", metavar="PNG")
    force: bool = setting(False, "Replace files that exist.")


@dataclass(frozen=True)
class ShotsResult(Result):
    """The shots of a video.

    Attributes:
        shots: The shots, in order.
    """

    shots: tuple["Shot", ...]

    def to_json(self) -> Any:
        """Return what ``wordsight shots --json`` prints."""
        return as_json(self.shots)


@workflow(ShotsRequest)
def shots(request: ShotsRequest, *, reporter: RecordingReporter) -> ShotsResult:
    """Find the cuts and fades of a video file."""
    from wordsight.video import detect_shots, shot_sheet, write_image

    refuse_existing(request.sheet, force=request.force)
    with reporter.progress("Finding shots") as progress:
        found = detect_shots(request.video, progress=progress)
    if request.sheet is not None:
        image = shot_sheet(request.video, found, heading=request.video.name)
        write_image(request.sheet, image, overwrite=request.force)
        reporter.note(f"Contact sheet: {request.sheet}")
    return ShotsResult(tuple(found), warnings=tuple(reporter.notes))
