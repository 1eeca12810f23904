"""``detect`` and ``shots`` of one video file; and the settings of all that uses a detector."""

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import field_validator

from wordsight.errors import VideoWarning, WordsightError
from wordsight.workflows.reporter import RecordingReporter, Reporter
from wordsight.workflows.settings import Request, argument, setting
from wordsight.workflows.workflow import Result, as_json, refuse_existing, workflow

if TYPE_CHECKING:
    from wordsight.records import Detections, Shot, Track

__all__ = [
    "FIRST_LOOK",
    "DetectRequest",
    "DetectResult",
    "DetectorSettings",
    "ShotsRequest",
    "ShotsResult",
    "default_detector",
    "detect",
    "detector_choices",
    "detector_labels_setting",
    "detector_model_setting",
    "detector_options",
    "detector_options_setting",
    "detector_setting",
    "report_first_look",
    "shots",
    "write_model_sheet",
]


class ShotsRequest(Request):
    """Which video is cut into shots."""

    video: Path = argument("A video file.", metavar="VIDEO")
    sheet: Path | None = setting(None, "Also write a contact sheet of the shots.", metavar="PNG")
    draw_model: Path | None = setting(
        None,
        "Also draw what the visual model of each shot knows of it, beside its middle frame.",
        metavar="PNG",
    )
    force: bool = setting(False, "Replace files that exist.")


@dataclass(frozen=True)
class ShotsResult(Result):
    """The shots of a video.

    Attributes:
        shots: The shots, in order.
    """

    shots: tuple["Shot", ...]


@workflow(ShotsRequest)
def shots(request: ShotsRequest, *, reporter: RecordingReporter) -> ShotsResult:
    """Find the cuts and fades of a video file."""
    from wordsight.video import detect_shots, shot_sheet, write_image

    refuse_existing(request.sheet, force=request.force)
    refuse_existing(request.draw_model, force=request.force)
    with reporter.progress("Finding shots") as progress:
        found = detect_shots(request.video, progress=progress)
    if request.sheet is not None:
        image = shot_sheet(request.video, found, heading=request.video.name)
        write_image(request.sheet, image, overwrite=request.force)
        reporter.note(f"Contact sheet: {request.sheet}")
    if request.draw_model is not None:
        write_model_sheet(request.draw_model, request.video, found, overwrite=request.force)
        reporter.note(f"What models of the shots know: {request.draw_model}")
    return ShotsResult(tuple(found))


_MOST_DRAWN = 24  # shots of which more than enough can be seen
_DRAWN_WIDTH = 352


def write_model_sheet(
    path: Path, video: Path, found: "Sequence[Shot]", *, overwrite: bool = False
) -> None:
    """Write the middle frame of each shot (24 at most) beside what its visual model expects."""
    from wordsight.retrieval.visual import model_picture
    from wordsight.video import VideoReader, write_contact_sheet

    step = -(-len(found) // _MOST_DRAWN)
    images, titles = [], []
    with VideoReader(video) as reader:
        height = _DRAWN_WIDTH * reader.info.height / reader.info.width
        size = (_DRAWN_WIDTH, max(8, 8 * round(height / 8)))  # whole blocks
        for number in range(0, len(found), step):
            middle = (found[number].start + found[number].end) / 2
            frame = reader.frame_at(middle).scaled(*size)
            images += [frame, model_picture(frame)]
            titles += [f"shot {number + 1}", "what its model expects"]
    write_contact_sheet(
        path, images, titles, 2, heading=video.name, cell_width=_DRAWN_WIDTH, overwrite=overwrite
    )


FIRST_LOOK = "regions"
"""The detector that needs nothing to be fetched."""


def default_detector() -> str:
    """Return what looks at videos unless detectors are named: those fetched, else a first look."""
    from wordsight.perception.networks import installed_network

    if installed_network("objects") is None:
        return FIRST_LOOK
    return "objects" if installed_network("hands") is None else "objects,hands"


def detector_choices() -> list[str]:
    """Return what ``--detector`` may be where nothing more is fetched, the default first."""
    from wordsight.perception import available_detectors
    from wordsight.perception.networks import installed_network, network_catalog

    catalog, default = network_catalog(), default_detector()
    single = [one for one in available_detectors() if one != "boxes"]
    usable = [one for one in single if one not in catalog or installed_network(one)]
    pools = [] if default == FIRST_LOOK else [f"{default},{FIRST_LOOK}"]
    return list(dict.fromkeys([default, *pools, *usable]))


def report_first_look(detector: str, reporter: Reporter) -> None:
    """Say once what the detector that needs nothing is good for, and how to get more."""
    if detector == FIRST_LOOK and default_detector() == FIRST_LOOK:
        reporter.note(
            "The detector regions is a first look: it finds what moves or stands out, without "
            "names. `wordsight detectors get objects` fetches one that knows 80 kinds of things."
        )


def detector_setting() -> Any:
    """Declare the setting that chooses a detector."""
    return setting(
        default_detector,
        "The detector that finds things, or several with commas, the most trusted first: "
        "objects,hands,regions. `wordsight detectors list` shows them.",
        "--detector",
        "-d",
        default_text="objects, and hands, if fetched; else regions",
    )


def detector_model_setting(*flags: str) -> Any:
    """Declare the setting that names the network of the onnx detector."""
    return setting(None, "The model of the onnx detector.", *flags, metavar="FILE")


def detector_labels_setting(*flags: str) -> Any:
    """Declare the setting that names the classes of that network."""
    return setting(None, "Names of the onnx model's classes.", *flags, metavar="FILE")


def detector_options_setting() -> Any:
    """Declare the setting for any other option of the detector."""
    return setting(
        (),
        "Any other option of the detector; of one of several: hands.confidence=0.5.",
        "--option",
        metavar="NAME=VALUE",
    )


class DetectorSettings(Request):
    """Which detector looks at videos, and with which options."""

    detector: str = detector_setting()
    model: Path | None = detector_model_setting()
    labels: Path | None = detector_labels_setting()
    options: tuple[str, ...] = detector_options_setting()
    per_class: int | None = setting(
        None,
        "Keep at most so many boxes of each class in a frame, the surest.",
        default_text="as many as the detector reports",
        ge=1,
    )

    device: str | None = setting(
        None,
        "Run the detector's network on this device; an error where there is none.",
        metavar="cuda",
        default_text="the processor",
    )

    @field_validator("options", mode="before")
    @classmethod
    def _written(cls, value: Any) -> Any:
        """Take options by name as well."""
        if isinstance(value, Mapping):
            return tuple(f"{name}={json.dumps(one)}" for name, one in value.items())
        return value

    def detector_options(self) -> dict[str, Any]:
        """Return the options by name, the files of a model among them."""
        options = detector_options(self.detector, self.model, self.labels, self.options)
        own = {"per_class": self.per_class, "device": self.device}
        return options | {name: value for name, value in own.items() if value is not None}


def detector_options(
    detector: str,
    model: Path | None,
    labels: Path | None,
    settings: Sequence[str],
    *,
    model_option: str = "--model",
) -> dict[str, Any]:
    """Return the options of a detector.

    Raises:
        WordsightError: If a setting is not NAME=VALUE, or the onnx detector has no model.
    """
    options: dict[str, Any] = {}
    for one in settings:
        name, equals, value = one.partition("=")
        if not (name and equals):
            raise WordsightError(f"--option takes NAME=VALUE, got {one!r}.")
        options[name.replace("-", "_")] = _value(value)
    # As text: the library writes options as JSON and passes them to worker processes.
    paths = {"model": model, "labels": labels}
    options |= {name: str(path) for name, path in paths.items() if path is not None}
    if "onnx" in detector.split(",") and "model" not in options:
        raise WordsightError(f"the onnx detector needs a model: {model_option} FILE.onnx")
    return options


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


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


@contextmanager
def _warnings_noted(reporter: RecordingReporter) -> Iterator[None]:
    """Report what is said of the video meanwhile."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", VideoWarning)
        yield
    for warning in caught:
        reporter.note(str(warning.message))


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
        with reporter.progress("Detecting") as progress, _warnings_noted(reporter):
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
    return DetectResult(request.video, request.detector, seen, tracks)
