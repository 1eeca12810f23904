"""`Onnx`: any usual detection network in an ONNX file."""

import ast
import json
import os
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError, WordsightError
from wordsight.files import sha256_of
from wordsight.perception.detectors.network_input import (
    VALUES,
    InputFormat,
    Placement,
    Preparation,
    preparations,
)
from wordsight.perception.detectors.network_output import (
    STYLES,
    Candidates,
    decode,
    has_no_object_class,
    recognise,
)
from wordsight.perception.detectors.network_process import open_network, running_error
from wordsight.perception.detectors.network_session import TensorInfo
from wordsight.perception.detectors.registry import DetectorError
from wordsight.perception.detectors.suppression import suppress
from wordsight.records import FrameDetections
from wordsight.video import Frame

__all__ = ["Onnx", "parse_names", "read_labels"]

_MOST_BYTES = 10_000_000  # larger files are not lists of labels


def read_labels(source: str | os.PathLike[str] | Sequence[str]) -> tuple[str, ...]:
    """Read the names of classes in the order of their index.

    Args:
        source: The names themselves; or a ``.json`` file with a list, an object from index to name,
            or an object with either under ``names`` or ``id2label``; or a text file with one name
            per line.

    Raises:
        FormatError: If the file is missing or has no such names.
    """
    if not isinstance(source, str | os.PathLike):
        return _checked([str(name) for name in source], "the labels given")
    path = Path(source)
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise FormatError(f"{path} is too large for a list of labels; check the file name.")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FormatError(f"the labels {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{path} is not text; expected one label per line, or JSON with the names."
        ) from error
    if path.suffix.lower() == ".json":
        return _from_json(text, path)
    names = [line.strip() for line in text.splitlines()]
    while names and not names[-1]:  # blank lines in between keep their index
        names.pop()
    return _checked(names, str(path))


def parse_names(text: str) -> tuple[str, ...]:
    """Parse the class names in a model's metadata, ``{0: 'person', 1: 'cup'}`` or JSON.

    Raises:
        FormatError: If the text is something else.
    """
    try:
        value = json.loads(text)
    except ValueError:
        try:
            value = ast.literal_eval(text)  # literals only, executes nothing
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            raise FormatError(
                f"the labels in the model cannot be parsed ({text[:60]!r}); give --labels FILE."
            ) from error
    return _ordered(value, "the model's metadata")


def _from_json(text: str, path: Path) -> tuple[str, ...]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path} is not valid JSON: {error}.") from error
    for key in ("names", "id2label"):
        if isinstance(value, dict) and isinstance(value.get(key), dict | list):
            value = value[key]
    return _ordered(value, str(path))


def _ordered(value: Any, source: str) -> tuple[str, ...]:
    if isinstance(value, dict):
        try:
            by_index = {int(index): str(name) for index, name in value.items()}
        except (TypeError, ValueError):
            by_index = {}
        # Indices may have gaps, such as COCO's 91 numbers for 80 classes.
        if by_index and min(by_index) >= 0 and max(by_index) < 100_000:
            return _checked([by_index.get(i, "") for i in range(max(by_index) + 1)], source)
    elif isinstance(value, list | tuple):
        return _checked([str(name) for name in value], source)
    raise FormatError(
        f"{source} has no labels; expected a list of names or an object from index to name."
    )


def _checked(names: list[str], source: str) -> tuple[str, ...]:
    if not any(names):
        raise FormatError(f"{source} has no labels; expected one name per class.")
    return tuple(name or f"class-{index}" for index, name in enumerate(names))


_MOST_CANDIDATES = 1000  # for suppression; networks yield thousands of weak ones
_TRIES = 5  # frames on which ways to prepare pictures are compared while nothing is found
_CONFIDENT = 0.5  # score from which the usual way is right
_BETTER = 1.15  # how much surer another way must be to be taken instead
_MARGIN = 0.15  # by how much scores must rise over those in an empty picture


class Onnx:
    """Objects found by a network in an ONNX file: YOLO, NanoDet, SSD, DETR and their relatives.

    The family is recognised from the outputs, and the input size is read from the model. Whether
    pictures are stretched, in which order colours come and which range values have is as usual for
    the family, unless the first frames with something in them show that another way finds more.
    The network runs in a process of its own, which may take a limited amount of memory and time.

    Args:
        model: The ``.onnx`` file.
        labels: Names of the classes: a text file with one per line, a JSON file, or the names
            themselves; by default from the model's metadata.
        style: One of ``yolov5``, ``yolov8``, ``yolov10``, ``yolox``, ``nanodet``, ``ssd``,
            ``detr``, ``boxes``; recognised if None.
        confidence: Least score of reported objects.
        overlap: Largest intersection over union of two objects of one class.
        max_boxes: Largest number of objects in a frame.
        letterbox: Whether to keep the frame's aspect ratio; found out if None.
        values: Range of the pictures' values, ``0-1``, ``0-255`` or ``imagenet``; found out if
            None.
        bgr: Whether blue comes before red; found out if None.
        input_size: Side in pixels for a network with a variable input size.
        threads: Number of CPU threads; 0 for onnxruntime's default.
        device: ``cpu`` or ``cuda``.
        memory: Gigabytes of memory the network may use; ``None`` runs it in this process, without
            a limit.

    Raises:
        DetectorError: If onnxruntime is not installed, an option is out of range, or the model
            takes too much memory or time.
        FormatError: If the file is not such a model, or its labels are missing.
    """

    name: ClassVar[str] = "onnx"

    def __init__(
        self,
        model: str | os.PathLike[str],
        labels: str | os.PathLike[str] | Sequence[str] | None = None,
        *,
        style: str | None = None,
        confidence: float = 0.25,
        overlap: float = 0.5,
        max_boxes: int = 50,
        letterbox: bool | None = None,
        values: str | None = None,
        bgr: bool | None = None,
        input_size: int | None = None,
        threads: int = 1,
        device: str = "cpu",
        memory: float | None = 4.0,
    ) -> None:
        for what, value, known in (("style", style, STYLES), ("values", values, VALUES)):
            if value is not None and value not in known:
                raise DetectorError(f"{what} must be one of {', '.join(known)}, got {value!r}.")
        if not 0 <= confidence <= 1 or not 0 <= overlap <= 1 or max_boxes < 1:
            raise DetectorError(
                "confidence and overlap must lie between 0 and 1 and max_boxes be 1 or more, got "
                f"{confidence}, {overlap} and {max_boxes}."
            )
        self._path = Path(model)
        self._confidence, self._overlap, self._max_boxes = confidence, overlap, max_boxes
        self._network = open_network(self._path, threads, device, memory)
        self.label_names: tuple[str, ...] = _labels(labels, self._network.metadata, self._path)
        self._num_classes = len(self.label_names)
        image, *others = self._network.inputs
        self._format = InputFormat.of(image, input_size)
        self._others = _other_inputs(others, self._format.size)
        width, height = self._format.size
        self._blank = Frame.from_array(np.full((height, width, 3), 114, np.uint8), 0.0)
        self._style, usual = self._try_out(style)
        self._given = {"letterbox": letterbox, "values": values, "bgr": bgr}
        self._ways = preparations(usual, letterbox, values, bgr)
        self._tries, self._surest = 0, 0.0
        self._base: list[float] = []
        self._sha256 = sha256_of(self._path)

    def detect(self, frames: Iterable[Frame]) -> Iterator[FrameDetections]:
        """Yield the objects in each frame, in order."""
        for frame in frames:
            if len(self._ways) > 1:
                self._compare_ways(frame)
            found, placement = self._look(frame, self._ways[0])
            boxes = placement.to_frame(found.boxes, frame.size)
            visible = (boxes[:, 2:] - boxes[:, :2]).min(axis=1, initial=np.inf) > 0
            yield FrameDetections(
                frame.time, boxes[visible], found.scores[visible], found.labels[visible]
            )

    def settings(self) -> dict[str, Any]:
        """Return the model's file name and hash, and everything that affects the results."""
        return {
            "model": self._path.name,
            "sha256": self._sha256,
            "labels": list(self.label_names),
            "style": self._style,
            "confidence": self._confidence,
            "overlap": self._overlap,
            "max_boxes": self._max_boxes,
            **self._given,
            "input_size": list(self._format.size),
        }

    def explain_nothing(self) -> str:
        """Say why nothing may have been found."""
        way = self._ways[0]
        return (
            f"{self._explain_scores()}. It was read as {self._style}, with "
            f"{'blue' if way.bgr else 'red'} first, values {way.values} and "
            f"{'kept' if way.letterbox else 'stretched'} proportions; if it was trained otherwise, "
            "give --option style, bgr, values or letterbox"
        )

    def _explain_scores(self) -> str:
        return (
            f"its surest box had a score of {self._surest:.2f}, and boxes from "
            f"{self._confidence:g} on are reported (--option confidence=0.1 reports more). It "
            f"knows {textwrap.shorten(', '.join(self.label_names), 60)}"
        )

    def _compare_ways(self, frame: Frame) -> None:
        """Keep the way of preparing pictures that finds confident boxes, once there are some.

        What a way finds in an empty picture does not count.
        """
        if not self._tries:
            self._base = [self._strength(self._blank, way) for way in self._ways]
        strength = [self._strength(frame, way) for way in self._ways]
        gain = np.subtract(strength, np.abs(self._base))
        best = int(np.argmax(gain))
        if (
            strength[0] >= _CONFIDENT
        ):  # a wrong range of values is never so sure of the right things
            same = [way.values == self._ways[0].values for way in self._ways]
            best = int(np.argmax(np.where(same, strength, 0.0)))
            best = best if strength[best] > _BETTER * strength[0] else 0
        elif gain[best] < gain[0] + _MARGIN:
            best = 0
        self._tries += 1
        if gain[best] >= _MARGIN or self._tries >= _TRIES:
            self._ways = [self._ways[best]]

    def _strength(self, frame: Frame, way: Preparation) -> float:
        """Return the mean score of the three surest objects, -1 where scores make no sense."""
        scores = self._look(frame, way)[0].scores
        if scores.max(initial=0.0) > 1.001:
            return -1.0
        sure = np.sort(scores[scores >= self._confidence])[::-1][:3]
        return float(sure.mean()) if len(sure) else 0.0

    def _look(self, frame: Frame, way: Preparation) -> tuple[Candidates, Placement]:
        image, placement = self._format.prepare(frame, way)
        found = decode(self._style, self._run(image), self._num_classes, self._format.size)
        if way is self._ways[0]:
            self._surest = max(self._surest, float(found.scores.max(initial=0.0)))
        return self._chosen(found), placement

    def _run(self, image: NDArray[Any]) -> dict[str, NDArray[Any]]:
        try:
            return self._network.run({self._format.name: image, **self._others})
        except WordsightError:
            raise
        except Exception as error:  # onnxruntime has its own exception classes
            brief = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
            raise running_error(self._path.name, brief) from error

    def _try_out(self, style: str | None) -> tuple[str, Preparation]:
        """Run the model once, so that a wrong model, style or label file fails here."""
        outputs = self._run(self._format.prepare(self._blank, Preparation())[0])
        count = self._num_classes
        style = style or recognise(outputs, count, self._format.size)
        decode(style, outputs, count, self._format.size)
        if style == "yolox":
            return style, Preparation(letterbox=True, values="0-255", bgr=True)
        if style == "detr" and has_no_object_class(outputs, count):
            return style, Preparation(values="imagenet")
        return style, Preparation(letterbox=style.startswith("yolo"))

    def _chosen(self, found: Candidates) -> Candidates:
        sure = np.flatnonzero(found.scores >= self._confidence)
        finite = np.isfinite(found.boxes[sure]).all(axis=1)
        best = sure[finite][np.argsort(-found.scores[sure[finite]], kind="stable")]
        best = best[:_MOST_CANDIDATES]
        boxes, scores, labels = found.boxes[best], found.scores[best], found.labels[best]
        if found.final:
            kept = np.arange(min(len(best), self._max_boxes))
        else:
            kept = suppress(boxes, scores, self._overlap, labels=labels, limit=self._max_boxes)
        return Candidates(boxes[kept], scores[kept], labels[kept], found.final)


def _labels(
    labels: str | os.PathLike[str] | Sequence[str] | None, metadata: dict[str, str], path: Path
) -> tuple[str, ...]:
    if labels is not None:
        return read_labels(labels)
    names = metadata.get("names")
    if not names:
        raise FormatError(
            f"{path.name} has no class names in its metadata; give a text file with one name per "
            "line, or a JSON file, by --labels FILE (labels=FILE in Python)."
        )
    return parse_names(names)


def _other_inputs(declared: list[TensorInfo], size: tuple[int, int]) -> dict[str, NDArray[Any]]:
    """Return the image size as the one additional input that some DETR exports require."""
    filled: dict[str, NDArray[Any]] = {}
    for other in declared:
        if "size" not in other.name.lower() or "int" not in other.type:
            raise FormatError(
                f"the model requires an unknown input {other.name!r} of shape {other.shape}; "
                "export it with the image as its only input."
            )
        dtype = np.int32 if "int32" in other.type else np.int64
        filled[other.name] = np.array([size], dtype)
    return filled
