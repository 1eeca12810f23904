"""Networks in TensorFlow Lite's format as ONNX models.

MediaPipe's wheels carry small networks for hands under Apache-2.0 in this format. They use ten
plain operators, so the file, which is a flat buffer, is read here directly.
"""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError
from wordsight.perception.networks.onnx_graph import OnnxGraph

__all__ = ["TfliteError", "tflite_to_onnx"]

_TYPES = {0: "<f4", 1: "<f2", 2: "<i4"}
_SAME = 0  # TensorFlow's padding that keeps the size, unlike VALID
_RELU, _RELU6 = 1, 3


class TfliteError(FormatError):
    """A file is not a TensorFlow Lite network that can be converted."""


def tflite_to_onnx(data: bytes, metadata: dict[str, str] | None = None) -> bytes:
    """Convert a network of convolutions; pictures become channels-first.

    Args:
        data: Contents of the ``.tflite`` file. Inputs and outputs of four dimensions are
            ``(1, height, width, channels)`` in it and ``(1, channels, height, width)`` in ONNX;
            others stay as they are.
        metadata: Texts to write beside the network.

    Raises:
        TfliteError: If the file is damaged or has operators that are not known.
    """
    try:
        return _Converter(data).convert(metadata or {})
    except (IndexError, KeyError, struct.error, UnicodeDecodeError, ValueError) as error:
        raise TfliteError(
            f"this TensorFlow Lite network cannot be converted ({error!r})."
        ) from error


@dataclass(frozen=True)
class _Table:
    """A table of a flat buffer: fields by number, each behind an offset."""

    data: bytes
    at: int

    def place(self, number: int) -> int:
        start = self.at - struct.unpack_from("<i", self.data, self.at)[0]
        if 4 + 2 * number >= struct.unpack_from("<H", self.data, start)[0]:
            return 0
        offset: int = struct.unpack_from("<H", self.data, start + 4 + 2 * number)[0]
        return self.at + offset if offset else 0

    def number(self, number: int, code: str = "i", default: int = 0) -> int:
        place = self.place(number)
        return int(struct.unpack_from("<" + code, self.data, place)[0]) if place else default

    def _follow(self, place: int) -> int:
        return place + int(struct.unpack_from("<I", self.data, place)[0])

    def table(self, number: int) -> "_Table":
        place = self.place(number)
        if not place:
            raise ValueError("a part is missing")
        return _Table(self.data, self._follow(place))

    def array(self, number: int, dtype: str) -> NDArray[Any]:
        place = self.place(number)
        if not place:
            return np.zeros(0, dtype)
        start = self._follow(place)
        (count,) = struct.unpack_from("<I", self.data, start)
        return np.frombuffer(self.data, dtype, count, start + 4)

    def tables(self, number: int) -> list["_Table"]:
        place = self.place(number)
        if not place:
            return []
        start = self._follow(place)
        (count,) = struct.unpack_from("<I", self.data, start)
        if count > len(self.data) // 4:
            raise ValueError("the file is cut off")
        return [_Table(self.data, self._follow(start + 4 + 4 * i)) for i in range(count)]


@dataclass(frozen=True)
class _Operator:
    inputs: list[int]
    output: int
    options: _Table | None


class _Converter:
    def __init__(self, data: bytes) -> None:
        if data[4:8] != b"TFL3":
            raise ValueError("the file does not begin as such files do")
        model = _Table(data, struct.unpack_from("<I", data, 0)[0])
        self.codes = [max(one.number(0, "b"), one.number(3)) for one in model.tables(1)]
        self.buffers = model.tables(4)
        self.network = model.tables(2)[0]
        self.tensors = self.network.tables(0)
        self.graph = OnnxGraph()
        self.values: dict[int, NDArray[Any]] = {}  # constants by tensor
        for index, tensor in enumerate(self.tensors):
            raw = self.buffers[tensor.number(2, "I")].array(0, "u1")
            if raw.size:
                values = raw.view(_TYPES[tensor.number(1, "b")]).reshape(self.shape(index))
                self.values[index] = values

    def shape(self, index: int) -> list[int]:
        return [int(n) for n in self.tensors[index].array(0, "<i4")]

    def onnx_shape(self, index: int) -> list[int]:
        shape = self.shape(index)
        return [shape[0], shape[3], shape[1], shape[2]] if len(shape) == 4 else shape

    def convert(self, metadata: dict[str, str]) -> bytes:
        for table in self.network.tables(3):
            code = self.codes[table.number(0, "I")]
            inputs = [int(i) for i in table.array(1, "<i4")]
            options = table.table(4) if table.place(4) else None
            operator = _Operator(inputs, int(table.array(2, "<i4")[0]), options)
            if code not in _CONVERTERS:
                raise ValueError(f"the operator {code}")
            _CONVERTERS[code](self, operator)
        ends = [[int(i) for i in self.network.array(n, "<i4")] for n in (1, 2)]
        shapes = [{str(i): self.onnx_shape(i) for i in indices} for indices in ends]
        return self.graph.to_bytes(shapes[0], shapes[1], metadata)

    def name(self, index: int) -> str:
        """Return the name of a value; a constant is added in ONNX's order of axes."""
        if index not in self.values:
            return str(index)
        values = np.asarray(self.values[index], np.float32)
        if values.ndim == 4:
            values = values.transpose(0, 3, 1, 2)
        elif values.ndim == 3:  # slopes of PReLU: height, width, channels
            values = values.transpose(2, 0, 1)
        return self.graph.constant(np.ascontiguousarray(values))

    def activated(self, kind: int, output: int) -> str:
        """Return what a node should call its output so that the activation comes after it."""
        return str(output) if kind == 0 else f"{output}.plain"

    def activate(self, kind: int, output: int) -> None:
        plain = f"{output}.plain"
        if kind == _RELU:
            self.graph.node("Relu", [plain], [str(output)])
        elif kind == _RELU6:
            bounds = [self.graph.constant(0.0), self.graph.constant(6.0)]
            self.graph.node("Clip", [plain, *bounds], [str(output)])
        elif kind:
            raise ValueError(f"the activation {kind}")

    def pads(self, operator: _Operator, kernel: Sequence[int], strides: Sequence[int]) -> list[int]:
        """Return what TensorFlow's SAME adds before and after, which depends on the size."""
        assert operator.options is not None
        if operator.options.number(0, "b") != _SAME:
            return [0, 0, 0, 0]
        before, after = [], []
        for size, k, stride in zip(
            self.shape(operator.inputs[0])[1:3], kernel, strides, strict=True
        ):
            total = max((-(-size // stride) - 1) * stride + k - size, 0)
            before.append(total // 2)
            after.append(total - total // 2)
        return before + after


def _dequantise(c: _Converter, one: _Operator) -> None:
    c.values[one.output] = np.asarray(c.values[one.inputs[0]], np.float32)


def _convolution(c: _Converter, one: _Operator) -> None:
    _convolve(c, one, c.values[one.inputs[1]].transpose(0, 3, 1, 2), group=1, activation=3)


def _depthwise(c: _Converter, one: _Operator) -> None:
    weights = c.values[one.inputs[1]].transpose(3, 0, 1, 2)
    _convolve(c, one, weights, group=c.shape(one.inputs[0])[3], activation=4)


def _convolve(
    c: _Converter, one: _Operator, weights: NDArray[Any], *, group: int, activation: int
) -> None:
    assert one.options is not None
    strides = [one.options.number(2), one.options.number(1)]
    kernel = weights.shape[2:]
    kind = one.options.number(activation, "b")
    inputs = [c.name(one.inputs[0]), c.graph.constant(np.ascontiguousarray(weights))]
    if len(one.inputs) > 2:
        inputs.append(c.name(one.inputs[2]))
    c.graph.node(
        "Conv",
        inputs,
        [c.activated(kind, one.output)],
        group=group,
        kernel_shape=kernel,
        pads=c.pads(one, kernel, strides),
        strides=strides,
    )
    c.activate(kind, one.output)


def _pool(c: _Converter, one: _Operator) -> None:
    assert one.options is not None
    kernel = [one.options.number(4), one.options.number(3)]
    strides = [one.options.number(2), one.options.number(1)]
    c.graph.node(
        "MaxPool",
        [c.name(one.inputs[0])],
        [str(one.output)],
        kernel_shape=kernel,
        pads=c.pads(one, kernel, strides),
        strides=strides,
    )


def _add(c: _Converter, one: _Operator) -> None:
    kind = one.options.number(0, "b") if one.options else 0
    names = [c.name(index) for index in one.inputs]
    c.graph.node("Add", names, [c.activated(kind, one.output)])
    c.activate(kind, one.output)


def _prelu(c: _Converter, one: _Operator) -> None:
    c.graph.node("PRelu", [c.name(index) for index in one.inputs], [str(one.output)])


def _pad(c: _Converter, one: _Operator) -> None:
    before, after = c.values[one.inputs[1]].T
    order = [0, 3, 1, 2]
    pads = c.graph.constant(np.concatenate([before[order], after[order]]), np.int64)
    c.graph.node("Pad", [c.name(one.inputs[0]), pads], [str(one.output)])


def _reshape(c: _Converter, one: _Operator) -> None:
    name = c.name(one.inputs[0])
    if len(c.shape(one.inputs[0])) == 4:  # the order of values is that of channels-last
        c.graph.node("Transpose", [name], [f"{one.output}.last"], perm=[0, 2, 3, 1])
        name = f"{one.output}.last"
    if len(c.shape(one.output)) == 4:
        raise ValueError("a reshape into a picture")
    shape = c.graph.constant(c.shape(one.output), np.int64)
    c.graph.node("Reshape", [name, shape], [str(one.output)])


def _concatenate(c: _Converter, one: _Operator) -> None:
    assert one.options is not None
    axis, dimensions = one.options.number(0), len(c.shape(one.output))
    axis %= dimensions
    if dimensions == 4:
        axis = [0, 2, 3, 1][axis]
    c.graph.node("Concat", [c.name(i) for i in one.inputs], [str(one.output)], axis=axis)


def _resize(c: _Converter, one: _Operator) -> None:
    assert one.options is not None
    size = c.graph.constant(c.onnx_shape(one.output), np.int64)
    half = one.options.number(3, "b")
    if one.options.number(2, "b"):
        raise ValueError("resizing with aligned corners")
    c.graph.node(
        "Resize",
        [c.name(one.inputs[0]), "", "", size],
        [str(one.output)],
        coordinate_transformation_mode="half_pixel" if half else "asymmetric",
        mode="linear",
    )


def _mean(c: _Converter, one: _Operator) -> None:
    assert one.options is not None
    keep = one.options.number(0, "b")
    axes = sorted(int(axis) % 4 for axis in np.atleast_1d(c.values[one.inputs[1]]))
    if axes != [1, 2] or len(c.shape(one.inputs[0])) != 4:
        raise ValueError(f"a mean over the axes {axes}")
    c.graph.node(
        "ReduceMean", [c.name(one.inputs[0])], [str(one.output)], axes=[2, 3], keepdims=keep
    )


def _fully_connected(c: _Converter, one: _Operator) -> None:
    assert one.options is not None
    kind = one.options.number(0, "b")
    if len(c.shape(one.inputs[0])) != 2:
        raise ValueError("a full connection of a picture")
    names = [c.name(index) for index in one.inputs]
    c.graph.node("Gemm", names, [c.activated(kind, one.output)], transB=1)
    c.activate(kind, one.output)


def _logistic(c: _Converter, one: _Operator) -> None:
    c.graph.node("Sigmoid", [c.name(one.inputs[0])], [str(one.output)])


_CONVERTERS: dict[int, Callable[[_Converter, _Operator], None]] = {
    0: _add,
    2: _concatenate,
    3: _convolution,
    4: _depthwise,
    6: _dequantise,
    9: _fully_connected,
    14: _logistic,
    17: _pool,
    22: _reshape,
    23: _resize,
    34: _pad,
    40: _mean,
    54: _prelu,
}
