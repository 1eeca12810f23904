"""Decoding the outputs of detection networks.

The families differ in layout only: YOLO v5 has rows of box, objectness and classes; v8 and later
columns of box and classes; v10 final rows of corners, score and class; YOLOX one row for each cell;
NanoDet and PicoDet distributions of distances to the edges; SSD boxes and class scores of many
anchors; DETR logits and centred boxes relative to the image; many exports have separate boxes,
scores and labels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError

__all__ = [
    "STYLES",
    "Candidates",
    "decode",
    "distance_boxes",
    "grid_boxes",
    "grid_cells",
    "grid_strides",
    "has_no_object_class",
    "is_undecoded",
    "recognise",
]

_STRIDES = ((8, 16, 32), (8, 16, 32, 64))  # pixels between the cells of each grid
_LARGEST = 20.0  # of logarithms of sizes; more is no box
Array = NDArray[np.float64]


def grid_strides(rows: int, size: tuple[int, int]) -> tuple[int, ...] | None:
    """Return the strides of the grids that have so many cells together, if there are such.

    Examples:
        >>> [grid_strides(cells, (416, 416)) for cells in (3549, 3598, 5)]
        [(8, 16, 32), (8, 16, 32, 64), None]
    """
    for strides in _STRIDES:
        if sum(_cells(size, stride)[0] * _cells(size, stride)[1] for stride in strides) == rows:
            return strides
    return None


def grid_cells(size: tuple[int, int], strides: Sequence[int], offset: float) -> tuple[Array, Array]:
    """Return the ``(N, 2)`` places of cells in pixels, row by row, and their ``(N, 1)`` strides.

    Args:
        size: Width and height of the picture.
        strides: Pixels between the cells of each grid, in the order of the rows.
        offset: Where in a cell its place is, 0 for the corner, .5 for the middle.
    """
    places, steps = [], []
    for stride in strides:
        across, down = _cells(size, stride)
        y, x = np.meshgrid(np.arange(down), np.arange(across), indexing="ij")
        places.append((np.stack([x.ravel(), y.ravel()], axis=1) + offset) * stride)
        steps.append(np.full((across * down, 1), float(stride)))
    return np.concatenate(places), np.concatenate(steps)


def is_undecoded(centres: Array, size: tuple[int, int]) -> bool:
    """Return whether centres are counted from their cells: decoded ones spread over the picture."""
    return float(centres.std(axis=0).max()) < min(size) / 10


def grid_boxes(rows: Array, size: tuple[int, int]) -> Array:
    """Return centres and sizes in pixels from YOLOX's shifts in cells and logarithms of sizes."""
    strides = grid_strides(len(rows), size)
    if strides is None:
        raise ValueError(f"{len(rows)} rows are no grids of {size[0]} x {size[1]} pixels")
    places, steps = grid_cells(size, strides, 0.0)
    sides = np.exp(np.minimum(rows[:, 2:4], _LARGEST)) * steps
    return np.concatenate([rows[:, :2] * steps + places, sides], axis=1)


def distance_boxes(spread: Array, places: Array, steps: Array) -> Array:
    """Return corners from distributions over the distance of each edge, in strides.

    Args:
        spread: ``(N, 4 K)`` logits of K distances 0 to K - 1 to the left, upper, right, lower edge.
        places: ``(N, 2)`` places of the cells in pixels.
        steps: ``(N, 1)`` their strides.
    """
    logits = spread.reshape(len(spread), 4, -1)
    weights = np.exp(logits - logits.max(axis=2, keepdims=True))
    weights /= weights.sum(axis=2, keepdims=True)
    distances = weights @ np.arange(logits.shape[2]) * steps
    return np.concatenate([places - distances[:, :2], places + distances[:, 2:]], axis=1)


def _cells(size: tuple[int, int], stride: int) -> tuple[int, int]:
    return -(-size[0] // stride), -(-size[1] // stride)


STYLES = ("yolov5", "yolov8", "yolov10", "yolox", "nanodet", "ssd", "detr", "boxes")
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


def recognise(outputs: Outputs, num_labels: int, size: tuple[int, int]) -> str:
    """Return the style, one of :data:`STYLES`, of the outputs of a network.

    Args:
        outputs: Its outputs for one image, by name.
        num_labels: Number of classes.
        size: Width and height of the network's input.

    Raises:
        FormatError: If no style matches.
    """
    roles = _roles(outputs)
    if {"boxes", "scores", "labels"} <= roles.keys():
        return "boxes"
    if {"boxes", "logits"} <= roles.keys():
        return "detr"
    if _heads(outputs, num_labels, size) is not None:
        return "nanodet"
    tables = [array for array in outputs.values() if array.ndim == 3 and array.shape[0] == 1]
    if _anchor_outputs(tables, num_labels) is not None:
        return "ssd"
    if len(tables) == 1:
        style = _yolo_style(tables[0], num_labels, size)
        if style:
            return style
    raise FormatError(
        f"the model's outputs are not recognised: {_shapes(outputs)}, with {num_labels} labels and "
        f"an input of {size[0]} x {size[1]} pixels. {_guess(outputs)}Check that the labels belong "
        f"to the model, or name one of the styles {', '.join(STYLES)} (--option style=NAME)."
    )


def _guess(outputs: Outputs) -> str:
    """Say what outputs that cannot be read may be."""
    if any(array.ndim == 5 for array in outputs.values()):
        return "They look like YOLO's grids by anchor; export the model with its boxes decoded. "
    if len(outputs) > 1 and all(array.ndim == 4 for array in outputs.values()):
        return "They look like maps of features; export the model with its boxes decoded. "
    if any(array.ndim == 2 for array in outputs.values()):
        return "They look like classes of a whole picture; a detector reports boxes. "
    return (
        "Known are (1, N, 5 + labels), (1, 4 + labels, N), (1, N, 6), grids with 5 + labels or "
        "labels + distances, logits with pred_boxes, boxes with class scores, and boxes, scores "
        "and labels. "
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


def _yolo_style(table: NDArray[Any], num_labels: int, size: tuple[int, int]) -> str | None:
    _, rows, columns = table.shape
    if columns == 5 + num_labels:
        raw = grid_strides(rows, size) is not None and is_undecoded(table[0, :, :2], size)
        return "yolox" if raw else "yolov5"
    if columns == 6:
        return "yolov10"
    if num_labels + 4 in (rows, columns):
        return "yolov8"
    return None


def _yolov5(outputs: Outputs, num_labels: int, size: tuple[int, int]) -> Candidates:
    table = _table(outputs)
    classes = table[:, 5:] * table[:, 4:5]
    return _classified(_corners(_in_pixels(table[:, :4], size)), classes)


def _yolox(outputs: Outputs, num_labels: int, size: tuple[int, int]) -> Candidates:
    table = _table(outputs)
    return _classified(_corners(grid_boxes(table, size)), table[:, 5:] * table[:, 4:5])


def _nanodet(outputs: Outputs, num_labels: int, size: tuple[int, int]) -> Candidates:
    heads = _heads(outputs, num_labels, size)
    if heads is None:
        raise ValueError("they are no classes and distances for the cells of grids")
    classes, spread = (np.asarray(part, np.float64) for part in heads)
    strides = grid_strides(len(classes), size)
    assert strides is not None
    # NanoDet-Plus, with one output and four grids, counts from the corners of cells.
    corner = len(outputs) == 1 and len(strides) == 4
    places, steps = grid_cells(size, strides, 0.0 if corner else 0.5)
    return _classified(distance_boxes(spread, places, steps), _shares_of(classes))


def _heads(
    outputs: Outputs, num_labels: int, size: tuple[int, int]
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return ``(N, C)`` classes and ``(N, 4 K)`` distances of all cells, in one output or many."""
    parts = [a[0] for a in outputs.values() if a.ndim == 3 and a.shape[0] == 1]
    if len(parts) != len(outputs) or not parts:
        return None
    if len(parts) == 1:
        cut = [parts[0][:, :num_labels]], [parts[0][:, num_labels:]]
    else:
        cut = (
            [part for part in parts if part.shape[1] == num_labels],
            [part for part in parts if part.shape[1] != num_labels],
        )
    if len(cut[0]) != len(cut[1]) or not cut[0]:
        return None
    if len({part.shape[1] for part in cut[1]}) > 1:
        return None
    # The finest grid, with most cells, comes first.
    classes, spread = (np.concatenate(sorted(side, key=len, reverse=True)) for side in cut)
    enough = spread.shape[1] % 4 == 0 and spread.shape[1] >= 16
    fits = len(classes) == len(spread) and grid_strides(len(classes), size) is not None
    return (classes, spread) if enough and fits else None


def _ssd(outputs: Outputs, num_labels: int, size: tuple[int, int]) -> Candidates:
    found = _anchor_outputs([a for a in outputs.values() if a.ndim == 3], num_labels)
    if found is None:
        raise ValueError("they are no boxes with the scores of each class")
    boxes, classes = (np.asarray(part, np.float64) for part in found)
    right = (boxes[:, 2:] >= boxes[:, :2]).all(axis=1)
    if right.mean() < 0.9:
        raise ValueError("the boxes are no corners; export the model with its boxes decoded")
    if classes.shape[1] > num_labels:  # the first class is the background
        if classes.min() < 0 or classes.max() > 1:
            classes = np.exp(classes - classes.max(axis=1, keepdims=True))
            classes /= classes.sum(axis=1, keepdims=True)
        classes = classes[:, 1:]
    return _classified(_in_pixels(boxes, size), _shares_of(classes))


def _anchor_outputs(
    tables: Sequence[NDArray[Any]], num_labels: int
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return ``(N, 4)`` boxes and ``(N, C)`` class scores, if there are just these."""
    if len(tables) != 2 or tables[0].shape[:2] != tables[1].shape[:2]:
        return None
    for boxes, classes in (tables, tables[::-1]):
        if boxes.shape[2] == 4 and classes.shape[2] in (num_labels, num_labels + 1):
            return boxes[0], classes[0]
    return None


def _shares_of(classes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores from 0 to 1; logits, which go beyond, are squashed."""
    if classes.min(initial=0) >= 0 and classes.max(initial=0) <= 1:
        return classes
    return np.asarray(1 / (1 + np.exp(-np.clip(classes, -60, 60))))


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
        classes = 1 / (1 + np.exp(-np.clip(logits, -60, 60)))  # always logits, however small
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
    if "detection_boxes" in ",".join(outputs):  # TensorFlow: y before x, classes from 1 on
        boxes, labels = boxes[:, [1, 0, 3, 2]], np.maximum(labels - 1, 0)
    if not len(boxes) == len(scores) == len(labels):
        raise ValueError(f"{len(boxes)} boxes, {len(scores)} scores, {len(labels)} labels")
    return Candidates(_in_pixels(boxes, size), scores, labels, final=True)


_READERS = {
    "yolov5": _yolov5,
    "yolov8": _yolov8,
    "yolov10": _yolov10,
    "yolox": _yolox,
    "nanodet": _nanodet,
    "ssd": _ssd,
    "detr": _detr,
    "boxes": _boxes,
}


def _roles(outputs: Outputs) -> dict[str, NDArray[Any]]:
    """Find boxes, logits, scores and labels among the outputs by name, the first of each."""
    roles: dict[str, NDArray[Any]] = {}
    for name, array in outputs.items():
        lower = name.lower()
        if lower.startswith("raw_") or "multiclass" in lower:
            continue  # what TensorFlow's SSD saw before it chose
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
    # Some exports use relative coordinates. Single boxes may reach far beyond the picture, and rows
    # of zeros fill up a table; half of the others in pixels are never this small.
    largest = np.abs(boxes).max(axis=1, initial=0.0)
    filled = largest[largest > 0]
    return boxes * (size * 2) if len(filled) and np.median(filled) <= 1.5 else boxes


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
