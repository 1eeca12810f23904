"""The detector protocol, and loading detectors by name.

Detectors are entry points of the group ``wordsight.detectors``, so that installed packages can add
their own.
"""

import difflib
import inspect
from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from wordsight.errors import WordsightError
from wordsight.records import FrameDetections

if TYPE_CHECKING:
    from wordsight.video import Frame

__all__ = [
    "ENTRY_POINT_GROUP",
    "Detector",
    "DetectorError",
    "available_detectors",
    "create_detector",
    "detector_factory",
    "require_detector",
]

ENTRY_POINT_GROUP = "wordsight.detectors"
"""Entry point group of detectors: ``name = "module:Class"``."""

# Optional modules, and the extra of Wordsight that installs each.
_EXTRA_OF_MODULE = {"torch": "gpu"}


class DetectorError(WordsightError):
    """A detector is unknown, cannot be created with these options, or violates the protocol."""


@runtime_checkable
class Detector(Protocol):
    """Finds objects in frames.

    Attributes:
        name: The name of its entry point.
        label_names: Its classes; labels are indices into them.
    """

    name: str
    label_names: tuple[str, ...]

    def detect(self, frames: "Iterable[Frame]") -> Iterator[FrameDetections]:
        """Yield one result per frame, in order, keeping only a bounded number of frames.

        Args:
            frames: Frames of one video, in order of time.

        Yields:
            The detections of each frame; boxes in pixels of the given frame.
        """
        ...

    def settings(self) -> dict[str, Any]:
        """Return everything that affects the results, as JSON values."""
        ...


def require_detector(name: str) -> None:
    """Check that a detector of this name is installed, without loading it.

    Raises:
        DetectorError: If there is none.
    """
    _entry(name)


def detector_factory(name: str) -> Any:
    """Return the class of a detector.

    Raises:
        DetectorError: If there is none of that name, or a required package is missing.
    """
    return _load(_entry(name))


def create_detector(name: str, **options: Any) -> Detector:
    """Create one detector by name.

    Args:
        name: One of :func:`available_detectors`.
        **options: Arguments of the detector's class; see its ``help()``.

    Raises:
        DetectorError: If the name or an option is unknown, or a required package is missing.
    """
    factory = detector_factory(name)
    _check_options(name, factory, options)
    try:
        detector: Detector = factory(**options)
    except ImportError as error:
        raise _missing(name, error) from error
    except (TypeError, ValueError) as error:
        if isinstance(error, WordsightError):
            raise
        given = ", ".join(f"{option}={value!r}" for option, value in options.items())
        raise DetectorError(
            f"the detector {name!r} does not accept {given or 'its defaults'}: {error}."
        ) from error
    return detector


def available_detectors() -> dict[str, str]:
    """Return the names of all installed detectors with a one-line description."""
    return {entry.name: _one_line(entry) for entry in sorted(_entries(), key=lambda e: e.name)}


def _entries() -> list[EntryPoint]:
    return list(entry_points(group=ENTRY_POINT_GROUP))


def _entry(name: str) -> EntryPoint:
    known = {entry.name: entry for entry in _entries()}
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name.lower(), known, n=2, cutoff=0.5)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise DetectorError(
        f"there is no detector {name!r}.{hint} Installed detectors: "
        f"{', '.join(sorted(known)) or 'none; install Wordsight again'}."
    )


def _load(entry: EntryPoint) -> Any:
    try:
        return entry.load()
    except ImportError as error:
        raise _missing(entry.name, error) from error
    except AttributeError as error:
        raise DetectorError(
            f"the detector {entry.name!r} is declared as {entry.value}, which does not exist "
            f"({error}); reinstall its package."
        ) from error


def _missing(name: str, error: ImportError) -> DetectorError:
    module = (error.name or "").partition(".")[0]
    extra = _EXTRA_OF_MODULE.get(module)
    if extra:
        advice = f"it needs {module}: pip install 'wordsight[{extra}]'"
    else:
        advice = f"{error}; install the missing package"
    return DetectorError(f"the detector {name!r} cannot be loaded: {advice}.")


def _check_options(name: str, factory: Any, options: dict[str, Any]) -> None:
    signature = inspect.signature(factory)
    try:
        signature.bind(**options)
    except TypeError as error:
        known = ", ".join(str(parameter) for parameter in signature.parameters.values())
        raise DetectorError(
            f"the detector {name!r} does not accept these options: {error}. Its options: "
            f"{known or 'none'}."
        ) from error


def _one_line(entry: EntryPoint) -> str:
    # One broken plug-in must not hide the others.
    try:
        described = inspect.getdoc(_load(entry)) or ""
    except DetectorError as error:
        return str(error)
    return described.partition("\n")[0].rstrip(".") or entry.value
