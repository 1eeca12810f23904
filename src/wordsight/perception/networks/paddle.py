"""Networks in PaddlePaddle's inference format (``.pdmodel`` and ``.pdiparams``) as ONNX models.

PaddleDetection publishes small detectors under Apache-2.0 in this format. Its own converter needs a
native package that exists for few versions of Python, while the networks use two dozen plain
operators; so the two files, which are protocol buffers, are read and written here directly.
"""

import json
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError
from wordsight.perception.networks.onnx_graph import OnnxGraph

__all__ = ["PaddleError", "picodet_to_onnx"]

_PADDLE_FLOAT = 5
_MOST_PARAMETERS = 1 << 28  # bytes: a declared size beyond it is damage, not a detector
_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of the pictures it was trained on


class PaddleError(FormatError):
    """A file is not a PaddlePaddle network that can be converted."""


def picodet_to_onnx(
    program: bytes, parameters: bytes, names: Sequence[str], *, size: int = 416
) -> bytes:
    """Convert a PicoDet detector; returns an ONNX model in the layout of YOLOv8.

    Suppression of overlapping boxes is left out (the detector does it for all networks), and the
    normalisation of pictures is made a part of the network: RGB pictures from 0 to 1 of shape
    ``(1, 3, size, size)`` give ``(1, 4 + classes, boxes)``, boxes as centre, width and height.

    Args:
        program: Contents of the ``.pdmodel`` file.
        parameters: Contents of the ``.pdiparams`` file.
        names: Names of the classes, in the network's order.
        size: Width and height of its pictures.

    Raises:
        PaddleError: If the files are damaged or the network has operators that are not known.
    """
    try:
        operators, persistent = _read_program(program)
        weights = dict(zip(persistent, _read_parameters(parameters, len(persistent)), strict=True))
        graph = OnnxGraph(weights)
        _normalise(graph, "image", _MEAN, _STD)
        last = next(one for one in operators if one.type == "multiclass_nms3")
        # Boxes are divided by the scale of the original picture last: not here.
        made = {name: one for one in operators for slot in one.outputs.values() for name in slot}
        boxes, scores = made[last.input("BBoxes")].input("X"), last.input("Scores")
        for operator in _needed(operators, {boxes, scores}):
            if operator.type not in _CONVERTERS:
                raise ValueError(f"the operator {operator.type}")
            _CONVERTERS[operator.type](graph, operator)
        return _as_yolov8(graph, boxes, scores, names, size)
    except (IndexError, KeyError, StopIteration, struct.error, UnicodeDecodeError, ValueError) as e:
        raise PaddleError(
            f"this is not a PicoDet network as PaddleDetection exports it ({e!r})."
        ) from e


# --- reading protocol buffers ---


@dataclass(frozen=True)
class _Operator:
    type: str
    inputs: Mapping[str, Sequence[str]]
    outputs: Mapping[str, Sequence[str]]
    attributes: Mapping[str, Any]

    def input(self, name: str) -> str:
        return self.inputs[name][0]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number is too long")


def _fields(data: bytes) -> dict[int, list[Any]]:
    """Return the values of a message by field number; numbers as they are, the rest as bytes."""
    found: dict[int, list[Any]] = {}
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        wire = key & 7
        value: Any
        if wire == 0:
            value, at = _varint(data, at)
        else:
            if wire == 2:
                length, at = _varint(data, at)
            else:
                length = {1: 8, 5: 4}[wire]
            if at + length > len(data):
                raise ValueError("the file is cut off")
            value, at = data[at : at + length], at + length
        found.setdefault(key >> 3, []).append(value)
    return found


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _integers(values: Sequence[Any]) -> list[int]:
    """Return repeated integers, packed or not."""
    found = []
    for value in values:
        if isinstance(value, int):
            found.append(_signed(value))
            continue
        at = 0
        while at < len(value):
            number, at = _varint(value, at)
            found.append(_signed(number))
    return found


def _floats(values: Sequence[bytes]) -> list[float]:
    return [float(x) for value in values for x in np.frombuffer(value, "<f4")]


# The kinds of attribute that such networks use, by paddle's number: field, and how it is read.
_ATTRIBUTES: dict[int, tuple[int, Callable[[list[Any]], Any]]] = {
    0: (3, lambda v: _integers(v)[0]),
    1: (4, lambda v: _floats(v)[0]),
    2: (5, lambda v: v[0].decode()),
    3: (6, _integers),
    4: (7, _floats),
    6: (10, lambda v: bool(v[0])),
    9: (13, lambda v: _integers(v)[0]),
    11: (15, _integers),
}


def _read_program(data: bytes) -> tuple[list[_Operator], list[str]]:
    """Return the operators of a program and the names of its parameters, in the file's order."""
    block = _fields(_fields(data)[1][0])
    operators = [_read_operator(_fields(one)) for one in block[4]]
    variables = [_fields(one) for one in block[3]]
    kept = (one for one in variables if one.get(3) == [1])  # persistable
    names = sorted(one[1][0].decode() for one in kept)
    return operators, [name for name in names if name not in ("feed", "fetch")]


def _read_operator(message: dict[int, list[Any]]) -> _Operator:
    def slots(values: list[bytes]) -> dict[str, list[str]]:
        messages = map(_fields, values)
        return {m[1][0].decode(): [one.decode() for one in m.get(2, [])] for m in messages}

    attributes = {}
    for one in map(_fields, message.get(4, [])):
        place, read = _ATTRIBUTES.get(one[2][0], (0, list))
        attributes[one[1][0].decode()] = read(one.get(place, []))
    return _Operator(
        message[3][0].decode(), slots(message.get(1, [])), slots(message.get(2, [])), attributes
    )


def _read_parameters(data: bytes, count: int) -> Iterator[NDArray[np.float32]]:
    """Yield tensors one after the other, each behind its versions, levels and description."""
    at = 0
    for _ in range(count):
        _, levels = struct.unpack_from("<IQ", data, at)
        if levels:
            raise ValueError("parameters with levels of detail")
        _, length = struct.unpack_from("<Ii", data, at + 12)
        at += 20
        described = _fields(data[at : at + length])
        at += length
        if described[1] != [_PADDLE_FLOAT]:
            raise ValueError("parameters that are not single-precision numbers")
        shape = _integers(described.get(2, []))
        size = 4 * int(np.prod(shape, dtype=np.int64))
        if not 0 <= size <= _MOST_PARAMETERS or at + size > len(data):
            raise ValueError("the parameters are cut off")
        yield np.frombuffer(data, "<f4", size // 4, at).reshape(shape)
        at += size
    if at != len(data):
        raise ValueError("more parameters than the network has")


def _needed(operators: Sequence[_Operator], wanted: set[str]) -> list[_Operator]:
    """Return the operators that some outputs depend on, in order."""
    kept, wanted = [], set(wanted)
    for operator in reversed(operators):
        if operator.type in ("feed", "fetch"):
            continue
        if wanted & {name for names in operator.outputs.values() for name in names}:
            kept.append(operator)
            wanted |= {name for names in operator.inputs.values() for name in names}
    return kept[::-1]


# --- writing ONNX ---


def _normalise(graph: OnnxGraph, name: str, mean: Sequence[float], std: Sequence[float]) -> None:
    shape = (1, len(mean), 1, 1)
    graph.node("Sub", [name, graph.constant(np.reshape(mean, shape))], ["centred"])
    graph.node("Div", ["centred", graph.constant(np.reshape(std, shape))], ["normalised"])
    graph.renamed[name] = "normalised"


def _as_yolov8(graph: OnnxGraph, boxes: str, scores: str, names: Sequence[str], size: int) -> bytes:
    """Return the model; corners become centre and size, below them the scores of classes."""
    graph.node("Split", [boxes], ["first", "second"], axis=2)
    graph.node("Add", ["first", "second"], ["sum"])
    graph.node("Mul", ["sum", graph.constant(0.5)], ["centre"])
    graph.node("Sub", ["second", "first"], ["extent"])
    graph.node("Concat", ["centre", "extent"], ["placed"], axis=2)
    graph.node("Transpose", ["placed"], ["rows"], perm=[0, 2, 1])
    graph.node("Concat", ["rows", scores], ["output0"], axis=1)
    cells = sum((-(-size // stride)) ** 2 for stride in (8, 16, 32, 64))
    listed = json.dumps({str(number): name for number, name in enumerate(names)})
    return graph.to_bytes(
        {"image": (1, 3, size, size)},
        {"output0": (1, 4 + len(names), cells)},
        {"names": listed},
    )


def _convolution(graph: OnnxGraph, one: _Operator) -> None:
    a = one.attributes
    weights = graph.constants[one.input("Filter")]
    pads = list(a["paddings"])
    graph.node(
        "Conv",
        [one.input("Input"), one.input("Filter")],
        one.outputs["Output"],
        dilations=a["dilations"],
        group=a["groups"],
        kernel_shape=weights.shape[2:],
        pads=pads * 2 if len(pads) == 2 else [pads[0], pads[2], pads[1], pads[3]],
        strides=a["strides"],
    )


def _normalisation(graph: OnnxGraph, one: _Operator) -> None:
    slots = ("X", "Scale", "Bias", "Mean", "Variance")
    graph.node(
        "BatchNormalization",
        [one.input(slot) for slot in slots],
        one.outputs["Y"],
        epsilon=float(one.attributes["epsilon"]),
    )


def _pooling(graph: OnnxGraph, one: _Operator) -> None:
    a = one.attributes
    if not (a["pooling_type"] == "avg" and a["adaptive"] and list(a["ksize"]) == [1, 1]):
        raise ValueError("pooling that is not global")
    graph.node("GlobalAveragePool", one.inputs["X"], one.outputs["Out"])


def _pairwise(kind: str) -> Callable[[OnnxGraph, _Operator], None]:
    def convert(graph: OnnxGraph, one: _Operator) -> None:
        second = one.input("Y")
        if second in graph.constants and one.attributes["axis"] == 1:  # a bias per channel
            second = graph.constant(graph.constants[second].reshape(1, -1, 1, 1))
        graph.node(kind, [one.input("X"), second], one.outputs["Out"])

    return convert


def _simple(kind: str, **attributes: str) -> Callable[[OnnxGraph, _Operator], None]:
    """Convert an operator of one input whose attributes only have other names."""

    def convert(graph: OnnxGraph, one: _Operator) -> None:
        values = {ours: one.attributes[theirs] for ours, theirs in attributes.items()}
        graph.node(kind, one.inputs["X"], one.outputs["Out"], **values)

    return convert


def _hard_swish(graph: OnnxGraph, one: _Operator) -> None:
    # x * clip(x / 6 + 1/2, 0, 1); the operator itself is younger than the set of 13.
    (output,) = one.outputs["Out"]
    graph.node("HardSigmoid", one.inputs["X"], [f"{output}.gate"], alpha=1 / 6, beta=0.5)
    graph.node("Mul", [one.input("X"), f"{output}.gate"], [output])


def _scale(graph: OnnxGraph, one: _Operator) -> None:
    (output,) = one.outputs["Out"]
    graph.node("Mul", [one.input("X"), graph.constant(one.attributes["scale"])], [f"{output}.m"])
    graph.node("Add", [f"{output}.m", graph.constant(one.attributes["bias"])], [output])


def _reshape(graph: OnnxGraph, one: _Operator) -> None:
    shape = graph.constant(one.attributes["shape"], np.int64)
    graph.node("Reshape", [one.input("X"), shape], one.outputs["Out"])


def _nearest(graph: OnnxGraph, one: _Operator) -> None:
    scales = graph.constant([1, 1, *one.attributes["scale"]])
    graph.node(
        "Resize",
        [one.input("X"), "", scales],
        one.outputs["Out"],
        coordinate_transformation_mode="asymmetric",
        mode="nearest",
        nearest_mode="floor",
    )


_CONVERTERS: dict[str, Callable[[OnnxGraph, _Operator], None]] = {
    "batch_norm": _normalisation,
    "concat": _simple("Concat", axis="axis"),
    "conv2d": _convolution,
    "depthwise_conv2d": _convolution,
    "elementwise_add": _pairwise("Add"),
    "elementwise_div": _pairwise("Div"),
    "elementwise_mul": _pairwise("Mul"),
    "elementwise_sub": _pairwise("Sub"),
    "hard_sigmoid": _simple("HardSigmoid", alpha="slope", beta="offset"),
    "hard_swish": _hard_swish,
    "matmul_v2": lambda graph, one: graph.node(
        "MatMul", [one.input("X"), one.input("Y")], one.outputs["Out"]
    ),
    "nearest_interp_v2": _nearest,
    "pool2d": _pooling,
    "relu": _simple("Relu"),
    "reshape2": _reshape,
    "scale": _scale,
    "sigmoid": _simple("Sigmoid"),
    "softmax": _simple("Softmax", axis="axis"),
    "split": _simple("Split", axis="axis"),
    "sqrt": _simple("Sqrt"),
    "transpose2": _simple("Transpose", perm="axis"),
}
