"""What a detector is, and how one is found by its name.

Detectors are entry points of the group ``wordsight.detectors``, so that another installed package
can bring its own; nothing here knows which ones there are.
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

__all__ = ["ENTRY_POINT_GROUP", "Detector", "DetectorError", "available_detectors", "load_detector"]

ENTRY_POINT_GROUP = "wordsight.detectors"
"""Where packages announce their detectors: ``name = "module:Class"``."""

# Modules that a detector may need, and the extra of Wordsight that brings each.
_EXTRA_OF_MODULE = {"torch": "gpu"}


class DetectorError(WordsightError):
    """A detector that is unknown, cannot be set up as asked, or breaks the protocol."""


@runtime_checkable
class Detector(Protocol):
    """Looks at frames one after the other and says what is where.

    Attributes:
        name: The name of its entry point.
        label_names: The classes it tells apart; labels index them.
    """

    name: str
    label_names: tuple[str, ...]

    def detect(self, frames: "Iterable[Frame]") -> Iterator[FrameDetections]:
        """Yield one result per frame, in order, holding only a bounded number of frames.

        Args:
            frames: Frames in order of time, from one video.

        Yields:
            The detections of each frame; boxes in pixels of the frame as it came.
        """
        ...

    def settings(self) -> dict[str, Any]:
        """Return everything that shapes the results, as JSON can hold it."""
        ...


def load_detector(name: str, **options: Any) -> Detector:
    """Make the detector of that name.

    Args:
        name: One of :func:`available_detectors`.
        **options: Passed to the detector; ``help()`` on its class explains them.

    Returns:
        The detector, ready to use.

    Raises:
        DetectorError: If there is none of that name, an option is unknown to it, or something it
            needs is not installed.
    """
    factory = _load(_entry(name))
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
            f"the detector {name!r} cannot use {given or 'its defaults'}: {error}."
        ) from error
    return detector


def available_detectors() -> dict[str, str]:
    """Return the name of every installed detector with one line on what it does."""
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
            f"the detector {entry.name!r} is announced as {entry.value}, which does not exist "
            f"({error}); install the package that brings it again."
        ) from error


def _missing(name: str, error: ImportError) -> DetectorError:
    module = (error.name or "").partition(".")[0]
    extra = _EXTRA_OF_MODULE.get(module)
    if extra:
        advice = f"it needs {module}: pip install 'wordsight[{extra}]'"
    else:
        advice = f"{error}; install what it needs and try again"
    return DetectorError(f"the detector {name!r} cannot be loaded: {advice}.")


def _check_options(name: str, factory: Any, options: dict[str, Any]) -> None:
    signature = inspect.signature(factory)
    try:
        signature.bind(**options)
    except TypeError as error:
        known = ", ".join(str(parameter) for parameter in signature.parameters.values())
        raise DetectorError(
            f"the detector {name!r} cannot take these options: {error}. It takes: "
            f"{known or 'none'}."
        ) from error


def _one_line(entry: EntryPoint) -> str:
    # One broken plug-in must not hide the others from the list.
    try:
        described = inspect.getdoc(_load(entry)) or ""
    except DetectorError as error:
        return str(error)
    return described.partition("\n")[0].rstrip(".") or entry.value
