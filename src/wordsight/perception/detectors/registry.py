"""The detector protocol, and loading detectors by name: one, or several pooled as one.

Detectors are entry points of the group ``wordsight.detectors``, so that installed packages can add
their own. A network that another package's catalogue lists is one as well.
"""

import difflib
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from itertools import tee
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import WordsightError
from wordsight.perception.detectors.suppression import box_iou
from wordsight.records import NAMELESS, FrameDetections
from wordsight.video import Frame

if TYPE_CHECKING:
    from wordsight.video import Frame

__all__ = [
    "ENTRY_POINT_GROUP",
    "Detector",
    "DetectorError",
    "Pooled",
    "available_detectors",
    "create_detector",
    "detector_factory",
    "detector_names",
    "load_detector",
    "require_detector",
]

ENTRY_POINT_GROUP = "wordsight.detectors"
"""Entry point group of detectors: ``name = "module:Class"``."""

# Optional modules, and the extra of Wordsight that installs each.
_EXTRA_OF_MODULE = {"torch": "gpu"}

_SAME_THING = 0.5  # intersection over union from which two boxes are one thing
_SURE = 0.5  # score from which a box stays, however many there are
_ROOM, _NAMELESS_ROOM = 8, 7  # boxes in a frame beyond which doubtful, or nameless ones give way


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


class Pooled:
    """Several detectors on the same frames, or one whose boxes are limited by class.

    Of two boxes of one thing from different detectors, that of the detector named first is kept;
    they are of one thing if they overlap by half and have the same name, or one has no name of its
    own as those of ``regions``, which always give way. Several detectors see more than there is:
    boxes without a name fill a frame up to seven, doubtful ones (scores below .5) up to eight.

    Args:
        detectors: The detectors, the most trusted first.
        per_class: Largest number of boxes of a class in a frame, the surest; ``None`` for as many
            as the detectors report.

    Raises:
        DetectorError: If ``per_class`` is out of range.
    """

    def __init__(self, detectors: Sequence[Detector], *, per_class: int | None = None) -> None:
        if per_class is not None and per_class < 1:
            raise DetectorError(f"per_class must be 1 or more, got {per_class}.")
        self._detectors, self._per_class = tuple(detectors), per_class
        self.name = ",".join(one.name for one in detectors)
        names = dict.fromkeys(name for one in detectors for name in one.label_names)
        self.label_names: tuple[str, ...] = tuple(names)

    def detect(self, frames: Iterable[Frame]) -> Iterator[FrameDetections]:
        """Yield the boxes of all detectors in each frame, in order."""
        index = {name: number for number, name in enumerate(self.label_names)}
        codes = [
            np.array([index[name] for name in one.label_names], np.int32) for one in self._detectors
        ]
        streams = tee(frames, len(self._detectors))
        seen = (one.detect(stream) for one, stream in zip(self._detectors, streams, strict=True))
        for found in zip(*seen, strict=True):
            yield self._merged(found, codes)

    def settings(self) -> dict[str, Any]:
        """Return the settings of each detector, and how many boxes of a class are kept."""
        return {
            "detectors": {one.name: one.settings() for one in self._detectors},
            "per_class": self._per_class,
            "room": [_ROOM, _NAMELESS_ROOM] if len(self._detectors) > 1 else None,
        }

    def explain_nothing(self) -> str:
        """Say why nothing may have been found, as far as the detectors can."""
        said = [(one.name, getattr(one, "explain_nothing", None)) for one in self._detectors]
        return "; ".join(f"{name}: {explain()}" for name, explain in said if explain)

    def _merged(
        self, found: Sequence[FrameDetections], codes: Sequence[NDArray[np.int32]]
    ) -> FrameDetections:
        boxes = np.concatenate([np.reshape(one.boxes, (-1, 4)) for one in found])
        scores = np.concatenate([one.scores for one in found])
        labels = np.concatenate([c[one.labels] for one, c in zip(found, codes, strict=True)])
        source = np.repeat(np.arange(len(found)), [len(one.boxes) for one in found])
        kept = self._kept(boxes, scores, labels.astype(np.int32), source)
        # Only some of several detectors say how things look and which is which.
        alone = found[0] if len(found) == 1 else None
        return FrameDetections(
            found[0].time,
            boxes[kept],
            scores[kept],
            labels[kept].astype(np.int32),
            appearance=None if alone is None else _rows(alone.appearance, kept),
            ids=None if alone is None else _rows(alone.ids, kept),
        )

    def _kept(
        self,
        boxes: NDArray[np.float64],
        scores: NDArray[np.float64],
        labels: NDArray[np.int32],
        source: NDArray[np.intp],
    ) -> NDArray[np.intp]:
        """Return the places of the boxes that stay, in the order they came in."""
        nameless = np.array([self.label_names[label] in NAMELESS for label in labels], bool)
        same = box_iou(boxes, boxes) >= _SAME_THING
        same &= (labels[:, None] == labels) | nameless[:, None] | nameless
        same &= source[:, None] != source
        kept: list[int] = []
        counts = np.zeros(len(self.label_names), int)
        for place in np.lexsort((-scores, source, nameless)).tolist():
            if self._per_class is not None and counts[labels[place]] >= self._per_class:
                continue
            if not same[place, kept].any():
                kept.append(place)
                counts[labels[place]] += 1
        if len(self._detectors) > 1:
            kept = _with_room(kept, scores, nameless)
        return np.sort(np.array(kept, np.intp))


def _with_room(
    kept: list[int], scores: NDArray[np.float64], nameless: NDArray[np.bool_]
) -> list[int]:
    """Return the boxes that stay in a crowded frame; the least sure go first, nameless before."""
    left = len(kept)
    gone = set()
    for place in sorted(kept, key=lambda n: (not nameless[n], scores[n])):
        room = _NAMELESS_ROOM if nameless[place] else _ROOM
        if left > room and (nameless[place] or scores[place] < _SURE):
            gone.add(place)
            left -= 1
    return [place for place in kept if place not in gone]


def detector_names(text: str) -> list[str]:
    """Return the detectors in a text such as ``objects,hands``.

    Raises:
        DetectorError: If none is named, or one twice.
    """
    names = [name.strip() for name in text.split(",")]
    if not all(names) or len(set(names)) < len(names):
        raise DetectorError(
            f"expected detectors separated by commas, each once, such as objects,hands; got "
            f"{text!r}."
        )
    return names


def load_detector(name: str, *, per_class: int | None = None, **options: Any) -> Detector:
    """Create a detector by name, or several that are pooled.

    Args:
        name: One of :func:`available_detectors`, or several separated by commas, the most trusted
            first.
        per_class: Largest number of boxes of a class in a frame; as many as the detector reports
            if None.
        **options: Arguments of the detector's class; see its ``help()``. Of several detectors, an
            option goes to each that has it; ``{"hands.confidence": 0.5}`` to one.

    Raises:
        DetectorError: If the name or an option is unknown, or a required package is missing.

    Examples:
        >>> load_detector("people,regions", per_class=4).label_names
        ('person', 'region')
    """
    names = detector_names(name)
    chosen = _shared_out(names, options) if len(names) > 1 else {name: options}
    detectors = [create_detector(one, **chosen[one]) for one in names]
    if len(detectors) == 1 and per_class is None:
        return detectors[0]
    return Pooled(detectors, per_class=per_class)


# What makes the class of a detector from the name of a listed network.
_LISTED_GROUP, _LISTED = "wordsight.networks", "wordsight.perception.detectors.listed:listed_class"


def _entries() -> list[EntryPoint]:
    from wordsight.perception.networks.catalog import listed_networks

    entries = list(entry_points(group=ENTRY_POINT_GROUP))
    known = {entry.name for entry in entries}
    listed = [name for name in listed_networks() if name not in known]
    return entries + [EntryPoint(name, _LISTED, _LISTED_GROUP) for name in listed]


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
        loaded = entry.load()
        return loaded(entry.name) if entry.group == _LISTED_GROUP else loaded
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


def _shared_out(names: Sequence[str], options: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the options of each detector."""
    takes = {name: inspect.signature(detector_factory(name)).parameters for name in names}
    chosen: dict[str, dict[str, Any]] = {name: {} for name in names}
    # What is meant for one detector comes after what is meant for all, and so takes its place.
    for option in sorted(options, key=lambda one: "." in one):
        one, dot, own = option.partition(".")
        to = [one] if dot else [name for name in names if option in takes[name]]
        if not to or to[0] not in chosen:
            known = sorted({known for parameters in takes.values() for known in parameters})
            raise DetectorError(
                f"none of the detectors {', '.join(names)} has an option {option!r}; they have "
                f"{', '.join(known)}, and DETECTOR.OPTION is that of one of them."
            )
        for name in to:
            chosen[name][own if dot else option] = options[option]
    return chosen


def _rows(values: NDArray[Any] | None, kept: NDArray[np.intp]) -> NDArray[Any] | None:
    return None if values is None else values[kept]
