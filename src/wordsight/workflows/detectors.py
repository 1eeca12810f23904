"""``detectors``: which detectors there are, and fetching the networks of some."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import Request, argument, setting
from wordsight.workflows.workflow import Result, as_json, workflow

if TYPE_CHECKING:
    from wordsight.perception.networks import NetworkEntry

__all__ = [
    "DetectorInfo",
    "DetectorsRequest",
    "DetectorsResult",
    "GetDetectorRequest",
    "GetDetectorResult",
    "detectors",
    "get_detector",
]

_SPEED_FRAMES = 5
_SPEED_SIZE = (480, 640)  # height and width of the picture that speed is measured on


class DetectorsRequest(Request):
    """What to say of the detectors."""

    speed: bool = setting(
        False, "Measure frames per second on this machine, one thread, 640x480; takes seconds."
    )


class GetDetectorRequest(Request):
    """Which network to fetch, and from where."""

    name: str = argument("The detector, such as objects.", metavar="NAME")
    source: Path | None = setting(
        None,
        "A file that was downloaded before, so that no network is needed.",
        "--from",
        metavar="FILE",
    )


@dataclass(frozen=True)
class DetectorInfo:
    """A detector.

    Attributes:
        name: What ``--detector`` calls it.
        state: ``built in``, ``installed`` or ``to be fetched``.
        finds: What it finds.
        classes: Number of classes it tells apart; ``None`` where that depends on its model.
        size: Bytes of its network, where it has one to be fetched.
        licence: The licence of that network.
        speed: Frames per second on this machine, if it was measured.
    """

    name: str
    state: str
    finds: str
    classes: int | None = None
    size: int | None = None
    licence: str | None = None
    speed: float | None = None


@dataclass(frozen=True)
class DetectorsResult(Result):
    """The detectors there are.

    Attributes:
        detectors: The detectors by name.
    """

    detectors: tuple[DetectorInfo, ...]

    def to_json(self) -> Any:
        """Return what ``wordsight detectors list --json`` prints."""
        return as_json(self.detectors)


@dataclass(frozen=True)
class GetDetectorResult(Result):
    """A network that was fetched.

    Attributes:
        entry: What was fetched.
        path: Where it is kept.
    """

    entry: "NetworkEntry"
    path: Path

    def to_json(self) -> Any:
        """Return what ``wordsight detectors get --json`` prints."""
        entry = self.entry
        return as_json(
            {
                "detector": entry.name,
                "path": self.path,
                "size": entry.size,
                "licence": entry.licence,
                "classes": len(entry.classes),
            }
        )


@workflow(DetectorsRequest)
def detectors(request: DetectorsRequest, *, reporter: RecordingReporter) -> DetectorsResult:
    """List the detectors: built in, installed by other packages, and those to be fetched."""
    from wordsight.perception import available_detectors
    from wordsight.perception.networks import installed_network, network_catalog

    catalog, rows = network_catalog(), []
    for name, finds in available_detectors().items():
        entry = catalog.get(name)
        speed = None
        if entry is not None:
            state = "installed" if installed_network(name) else "to be fetched"
        else:
            state = "built in"
        if request.speed and state != "to be fetched":
            speed = _speed(name)
        if entry is None:
            rows.append(DetectorInfo(name, state, finds, speed=speed))
        else:
            rows.append(
                DetectorInfo(
                    name,
                    state,
                    entry.title,
                    len(entry.classes),
                    entry.size,
                    entry.licence,
                    speed,
                )
            )
    return DetectorsResult(tuple(rows), warnings=tuple(reporter.notes))


@workflow(GetDetectorRequest)
def get_detector(request: GetDetectorRequest, *, reporter: RecordingReporter) -> GetDetectorResult:
    """Fetch the network of a detector into the user's cache."""
    from wordsight.perception.networks import fetch_network, find_network

    entry = find_network(request.name)
    with reporter.progress(f"Fetching {entry.name}") as progress:
        path = fetch_network(entry, source=request.source, progress=progress)
    return GetDetectorResult(entry, path, warnings=tuple(reporter.notes))


def _speed(name: str) -> float | None:
    """Return frames per second, or ``None`` for detectors that need a model or a file."""
    import numpy as np

    from wordsight.errors import WordsightError
    from wordsight.perception import load_detector
    from wordsight.video import Frame

    noise = np.random.default_rng(0).integers(0, 255, (*_SPEED_SIZE, 3), np.uint8)
    frames = [Frame.from_array(noise, t / 10) for t in range(_SPEED_FRAMES)]
    try:
        detector = load_detector(name)
        list(detector.detect(frames[:1]))
    except WordsightError:
        return None
    begun = time.perf_counter()
    list(detector.detect(frames))
    return _SPEED_FRAMES / (time.perf_counter() - begun)
