"""``detect``: things in one video, frame by frame, and followed if asked for."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.workflows.detector import DetectorSettings
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import argument, setting
from wordsight.workflows.workflow import Result, as_json, refuse_existing, workflow

if TYPE_CHECKING:
    from wordsight.records import Detections, Track

__all__ = ["DetectRequest", "DetectResult", "detect"]


class DetectRequest(DetectorSettings):
    """Which video is looked at, how, and what is written."""

    video: Path = argument("A video file.", metavar="VIDEO")
    output: Path | None = setting(
        None, "Write boxes: .csv .txt .json .xml", "--output", "-o", metavar="FILE"
    )
    overlay: Path | None = setting(None, "Write the video with boxes drawn on it.", metavar="MP4")
    rate: float | None = setting(
        None, "Look at at most this many frames a second.", default_text="all", gt=0
    )
    follow: bool = setting(False, "Follow objects from frame to frame.")
    force: bool = setting(False, "Replace files that exist.")


@dataclass(frozen=True)
class DetectResult(Result):
    """What was detected.

    Attributes:
        video: The video.
        detector: The detector.
        detections: Boxes per frame; with identities where things were followed.
        tracks: What was followed; ``None`` where nothing was to be.
    """

    video: Path
    detector: str
    detections: "Detections"
    tracks: "list[Track] | None"

    def to_json(self) -> Any:
        """Return what ``wordsight detect --json`` prints."""
        return as_json(
            {
                "video": self.video,
                "detector": self.detector,
                "frames": len(self.detections),
                "boxes": int(self.detections.mask.sum()),
                "tracks": self.tracks,
            }
        )


@workflow(DetectRequest)
def detect(request: DetectRequest, *, reporter: RecordingReporter) -> DetectResult:
    """Find things in a video file frame by frame."""
    from wordsight.perception import (
        load_detector,
        observe,
        track_detections,
        write_boxes,
    )
    from wordsight.video import VideoReader, render_overlay

    refuse_existing(request.output, request.overlay, force=request.force)
    detector = load_detector(request.detector, **request.detector_options())
    tracks = None
    with VideoReader(request.video) as reader:
        with reporter.progress("Detecting") as progress:
            seen = observe(reader, detector, rate=request.rate, progress=progress)
        if request.follow:
            tracks, seen = track_detections(seen, request.video.stem, keep_ids=False)
        if request.output is not None:
            write_boxes(request.output, seen, times=reader.times, overwrite=request.force)
            reporter.note(f"Boxes: {request.output}")
        if request.overlay is not None:
            drawn: dict[str, Any] = {"detections": seen} if tracks is None else {"tracks": tracks}
            with reporter.progress("Drawing") as progress:
                render_overlay(
                    reader, request.overlay, **drawn, overwrite=request.force, progress=progress
                )
            reporter.note(f"Overlay: {request.overlay}")
    warnings = tuple(reporter.notes)
    return DetectResult(request.video, request.detector, seen, tracks, warnings=warnings)
