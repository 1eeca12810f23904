"""Decoding the outputs of detection networks, and reading the names of their classes.

The families differ in layout only: YOLO v5 has rows of box, objectness and classes; v8 and later
columns of box and classes; v10 final rows of corners, score and class; DETR logits and centred
boxes relative to the image; many exports have separate boxes, scores and labels.
"""

import ast
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError

__all__ = [
    "STYLES",
    "Candidates",
    "decode",
    "has_no_object_class",
    "parse_names",
    "read_labels",
    "recognise",
]


STYLES = ("yolov5", "yolov8", "yolov10", "detr", "boxes")
"""The supported families of outputs."""

Outputs = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Detections of a network in one image.

    Attributes:
        boxes: ``(N, 4)`` corners x1, y1, x2, y2 in pixels of the network's input.
        scores: ``(N,)`` 0 to 1.
        labels: ``(N,)`` index of the class.
        final: Whether the network has removed duplicate boxes.
    """

    boxes: NDArray[np.float64]
    scores: NDArray[np.float64]
    labels: NDArray[np.int32]
    final: bool = False


def recognise(outputs: Outputs, num_labels: int) -> str:
    """Return the style, one of :data:`STYLES`, of the outputs of a network.

    Args:
        outputs: Its outputs for one image, by name.
        num_labels: Number of classes.

    Raises:
        FormatError: If no style matches.
    """
    roles = _roles(outputs)
    if {"boxes", "scores", "labels"} <= roles.keys():
        return "boxes"
    if {"boxes", "logits"} <= roles.keys():
        return "detr"
    tables = [array for array in outputs.values() if array.ndim == 3 and array.shape[0] == 1]
    if len(tables) == 1:
        style = _yolo_style(tables[0].shape, num_labels)
        if style:
            return style
    raise FormatError(
        f"the model's outputs are not recognised: {_shapes(outputs)}, with {num_labels} labels. "
        f"Expected (1, N, 5 + labels), (1, 4 + labels, N), logits with pred_boxes, or boxes, "
        f"scores and labels. Check that the labels belong to the model, or name one of the styles "
        f"{', '.join(STYLES)}."
    )


def decode(style: str, outputs: Outputs, num_labels: int, size: tuple[int, int]) -> Candidates:
    """Decode the outputs of a network into boxes.

    Args:
        style: One of :data:`STYLES`.
        outputs: The outputs for one image, by name.
        num_labels: Number of classes.
        size: Width and height of the network's input.

    Raises:
        FormatError: If the outputs do not have the shape of the style, or contain a class without
            a name.
    """
    try:
        candidates = _READERS[style](outputs, num_labels, size)
    except (KeyError, IndexError, ValueError, StopIteration) as error:
        raise FormatError(
            f"the model's outputs {_shapes(outputs)} cannot be read in the style {style!r} "
            f"({error}); choose another of {', '.join(STYLES)}."
        ) from error
    unnamed = candidates.labels >= num_labels
    if unnamed.any():
        raise FormatError(
            f"the model has class {int(candidates.labels[unnamed][0])}, but there are only "
            f"{num_labels} labels; pass the labels that belong to the model."
        )
    return candidates


def _yolo_style(shape: tuple[int, ...], num_labels: int) -> str | None:
    _, rows, columns = shape
    if columns == 5 + num_labels:
        return "yolov5"
    if columns == 6:
        return "yolov10"
    if num_labels + 4 in (rows, columns):
        return "yolov8"
    return None


def _yolov5(outputs: Outputs, num_labels: int, size: tuple[int, int]) -> Candidates:
    table = _table(outputs)
    classes = table[:, 5:] * table[:, 4:5]
    return _classified(_corners(_in_pixels(table[:, :4], size)), classes)


def _yolov8(outputs: Outputs, num_labels: int, size: tuple[int, int]) -> Candidates:
    table = _table(outputs)
    if table.shape[1] != num_labels + 4:
        table = table.T
    if table.shape[1] != num_labels + 4:
        raise ValueError(f"{num_labels} labels need {num_labels + 4} values for each box")
    return _classified(_corners(_in_pixels(table[:, :4], size)), table[:, 4:])


def _yolov10(outputs: Outputs, num_labels: int, size: tuple[int, int]) -> Candidates:
    table = _table(outputs)
    labels = table[:, 5].round().astype(np.int32)
    return Candidates(_in_pixels(table[:, :4], size), table[:, 4], labels, final=True)


def _detr(outputs: Outputs, num_labels: int, size: tuple[int, int]) -> Candidates:
    roles = _roles(outputs)
    logits = np.asarray(roles["logits"], np.float64).reshape(-1, roles["logits"].shape[-1])
    boxes = np.asarray(roles["boxes"], np.float64).reshape(-1, 4)
    if has_no_object_class(outputs, num_labels):
        shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
        classes = (shifted / shifted.sum(axis=1, keepdims=True))[:, :-1]
    else:
        classes = 1 / (1 + np.exp(-np.clip(logits, -60, 60)))
    found = _classified(_corners(boxes * (size * 2)), classes)
    return Candidates(found.boxes, found.scores, found.labels, final=True)


def has_no_object_class(outputs: Outputs, num_labels: int) -> bool:
    """Return whether DETR logits end with a class for "no object", so that softmax applies."""
    logits = _roles(outputs).get("logits")
    return logits is not None and logits.shape[-1] == num_labels + 1


def _boxes(outputs: Outputs, num_labels: int, size: tuple[int, int]) -> Candidates:
    roles = _roles(outputs)
    boxes = np.asarray(roles["boxes"], np.float64).reshape(-1, 4)
    scores = np.asarray(roles["scores"], np.float64).reshape(-1)
    labels = np.asarray(roles["labels"]).reshape(-1).round().astype(np.int32)
    if not len(boxes) == len(scores) == len(labels):
        raise ValueError(f"{len(boxes)} boxes, {len(scores)} scores, {len(labels)} labels")
    return Candidates(_in_pixels(boxes, size), scores, labels, final=True)


_READERS = {
    "yolov5": _yolov5,
    "yolov8": _yolov8,
    "yolov10": _yolov10,
    "detr": _detr,
    "boxes": _boxes,
}


def _roles(outputs: Outputs) -> dict[str, NDArray[Any]]:
    """Find boxes, logits, scores and labels among the outputs by name, the first of each."""
    roles: dict[str, NDArray[Any]] = {}
    for name, array in outputs.items():
        lower = name.lower()
        if "logit" in lower or lower in ("pred_cls", "class_logits"):
            roles.setdefault("logits", array)
        elif "box" in lower and array.ndim >= 2 and array.shape[-1] == 4:
            roles.setdefault("boxes", array)
        elif "score" in lower or "conf" in lower:
            roles.setdefault("scores", array)
        elif "label" in lower or "class" in lower:
            roles.setdefault("labels", array)
    return roles


def _table(outputs: Outputs) -> NDArray[np.float64]:
    array = next(array for array in outputs.values() if array.ndim == 3)
    return np.asarray(array[0], np.float64)


def _in_pixels(boxes: NDArray[np.float64], size: tuple[int, int]) -> NDArray[np.float64]:
    # Some exports use relative coordinates; boxes in pixels are never all this small.
    shares = len(boxes) > 0 and float(np.abs(boxes).max()) <= 1.5
    return boxes * (size * 2) if shares else boxes


def _corners(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert centre and size into corners."""
    half = boxes[:, 2:] / 2
    return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], axis=1)


def _classified(boxes: NDArray[np.float64], classes: NDArray[np.float64]) -> Candidates:
    if classes.shape[1] == 0:
        raise ValueError("there is no class in the outputs")
    labels = classes.argmax(axis=1).astype(np.int32)
    return Candidates(boxes, np.take_along_axis(classes, labels[:, None], 1)[:, 0], labels)


def _shapes(outputs: Outputs) -> str:
    return ", ".join(f"{name} {tuple(array.shape)}" for name, array in outputs.items())


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
                f"the labels in the model cannot be parsed ({text[:60]!r}); pass labels=FILE."
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
