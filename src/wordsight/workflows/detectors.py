"""``detectors`` and ``doctor``: which detectors and packages there are, and fetching networks."""

import contextlib
import json
import platform
import re
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight import __version__
from wordsight.files import write_text
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import Request, argument, setting
from wordsight.workflows.workflow import Result, as_json, workflow

if TYPE_CHECKING:
    from wordsight.perception.networks import NetworkEntry

__all__ = [
    "DetectorInfo",
    "DetectorsRequest",
    "DetectorsResult",
    "DoctorRequest",
    "DoctorResult",
    "GetDetectorRequest",
    "GetDetectorResult",
    "InstalledPackage",
    "detectors",
    "doctor",
    "get_detector",
]

_REQUIREMENT = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)[^;]*(?:;.*extra\s*==\s*['\"](?P<extra>\w+))?"
)


@dataclass(frozen=True)
class InstalledPackage:
    """A package Wordsight can use.

    Attributes:
        package: Its name.
        extra: The extra it belongs to, or ``None`` if it is always needed.
        version: The version installed, or ``None``.
    """

    package: str
    extra: str | None
    version: str | None


class DoctorRequest(Request):
    """Nothing can be set."""


@dataclass(frozen=True)
class DoctorResult(Result):
    """What is installed.

    Attributes:
        packages: The packages Wordsight can use.
        detectors: The detectors, each with what it is.
        h264_encoder: Whether videos can be written as H.264.
    """

    packages: tuple[InstalledPackage, ...]
    detectors: dict[str, str]
    h264_encoder: bool

    @property
    def ok(self) -> bool:
        """Whether everything that is always needed is there."""
        missing = [one for one in self.packages if one.extra is None and one.version is None]
        return not missing and self.h264_encoder

    def to_json(self) -> Any:
        """Return what ``wordsight doctor --json`` prints."""
        extras = sorted({one.extra for one in self.packages if one.extra})
        return {
            "wordsight": __version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
            "core": self._versions(None),
            "extras": {extra: self._versions(extra) for extra in extras},
            "detectors": self.detectors,
            "h264_encoder": self.h264_encoder,
            "ok": self.ok,
        }

    def _versions(self, extra: str | None) -> dict[str, str | None]:
        return {one.package: one.version for one in self.packages if one.extra == extra}


@workflow(DoctorRequest)
def doctor(request: DoctorRequest, *, reporter: RecordingReporter) -> DoctorResult:
    """Report what is installed and which extras are missing."""
    return DoctorResult(tuple(_packages()), _detectors(), _has_encoder())


def _packages() -> list[InstalledPackage]:
    parts = []
    for requirement in metadata.requires("wordsight") or []:
        found = _REQUIREMENT.match(requirement)
        if found:
            parts.append(InstalledPackage(found["name"], found["extra"], _version(found["name"])))
    return parts


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _detectors() -> dict[str, str]:
    try:
        from wordsight.perception import available_detectors
    except ImportError:  # a core package is missing; the table above says which
        return {}
    return available_detectors()


def _has_encoder() -> bool:
    try:
        import av
    except ImportError:
        return False
    return "libx264" in av.codecs_available or "h264" in av.codecs_available


_SPEED_FRAMES = 5
_SPEED_SIZE = (480, 640)  # height and width of the picture that speed is measured on


class DetectorsRequest(Request):
    """What to say of the detectors."""

    speed: bool = setting(
        False,
        "Measure frames per second on this machine, one thread, 640x480; takes seconds, and is "
        "remembered.",
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
        speed: Frames per second on this machine, if it was ever measured.
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
        from wordsight.perception.networks import with_parts

        entry = self.entry
        return as_json(
            {
                "detector": entry.name,
                "path": self.path,
                "size": sum(one.size for one in with_parts(entry)),
                "licence": entry.licence,
                "classes": len(entry.classes),
            }
        )


@workflow(DetectorsRequest)
def detectors(request: DetectorsRequest, *, reporter: RecordingReporter) -> DetectorsResult:
    """List the detectors: built in, installed by other packages, and those to be fetched."""
    from wordsight.perception import available_detectors
    from wordsight.perception.networks import installed_network, network_catalog, with_parts

    catalog, rows = network_catalog(), []
    speeds = _remembered()
    for name, finds in available_detectors().items():
        entry = catalog.get(name)
        if entry is not None:
            state = "installed" if installed_network(name) else "to be fetched"
        else:
            state = "built in"
        if request.speed and state != "to be fetched":
            speeds[name] = _speed(name)
        speed = speeds.get(name)
        if entry is None:
            rows.append(DetectorInfo(name, state, finds, speed=speed))
        else:
            rows.append(
                DetectorInfo(
                    name,
                    state,
                    entry.title,
                    len(entry.classes),
                    sum(one.size for one in with_parts(entry)),
                    entry.licence,
                    speed,
                )
            )
    if request.speed:
        _remember(speeds)
    return DetectorsResult(tuple(rows))


@workflow(GetDetectorRequest)
def get_detector(request: GetDetectorRequest, *, reporter: RecordingReporter) -> GetDetectorResult:
    """Fetch the network of a detector into the user's cache."""
    from wordsight.perception.networks import fetch_network, find_network

    entry = find_network(request.name)
    with reporter.progress(f"Fetching {entry.name}") as progress:
        path = fetch_network(entry, source=request.source, progress=progress)
    _remember(_remembered() | {entry.name: _speed(entry.name)})
    return GetDetectorResult(entry, path)


def _remembered() -> dict[str, float | None]:
    """Return the speeds that were measured on this machine."""
    try:
        speeds: dict[str, float | None] = json.loads(_speed_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return speeds if isinstance(speeds, dict) else {}


def _remember(speeds: dict[str, float | None]) -> None:
    # A cache that cannot be written costs nothing but measuring again.
    with contextlib.suppress(OSError):
        _speed_file().parent.mkdir(parents=True, exist_ok=True)
        write_text(_speed_file(), json.dumps(speeds))


def _speed_file() -> Path:
    from wordsight.perception.networks import network_path

    return network_path("objects").parent / "speeds.json"


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
    begun = time.process_time()  # other programs do not count
    list(detector.detect(frames))
    return round(_SPEED_FRAMES / (time.process_time() - begun), 1)
