"""A network as an ONNX model, written without the onnx package.

ONNX files are protocol buffers of a few kinds of message; the converters beside this module add
nodes and constants, and :meth:`OnnxGraph.to_bytes` writes the model.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["OnnxGraph"]

_OPSET = 13
_IR_VERSION = 7
_FLOAT, _INT64 = 1, 7  # ONNX's numbers of types


@dataclass
class OnnxGraph:
    """Nodes and constants of a network under construction.

    Attributes:
        constants: Arrays by name; only those that nodes use are written.
        renamed: Names of values that have been replaced by others.
    """

    constants: dict[str, NDArray[Any]] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    _nodes: list[bytes] = field(default_factory=list)
    _used: dict[str, NDArray[Any]] = field(default_factory=dict)

    def node(
        self, kind: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any
    ) -> None:
        """Add a node; attributes are integers, floats, texts or sequences of integers."""
        inputs = [self.renamed.get(name, name) for name in inputs]
        self._used |= {name: self.constants[name] for name in inputs if name in self.constants}
        self._nodes.append(
            _message(
                *((1, name) for name in inputs),
                *((2, name) for name in outputs),
                (4, kind),
                *((5, _attribute(name, value)) for name, value in attributes.items()),
            )
        )

    def constant(self, values: Any, dtype: type = np.float32) -> str:
        """Add a constant; returns its name."""
        name = f"constant.{len(self.constants)}"
        self.constants[name] = np.asarray(values, dtype)
        return name

    def to_bytes(
        self,
        inputs: Mapping[str, Sequence[int]],
        outputs: Mapping[str, Sequence[int]],
        metadata: Mapping[str, str],
    ) -> bytes:
        """Return the model.

        Args:
            inputs: Shape of each input, single precision.
            outputs: Shape of each output, single precision.
            metadata: Texts to write beside the network.
        """
        graph = _message(
            *((1, one) for one in self._nodes),
            (2, "network"),
            *((5, _tensor(name, values)) for name, values in sorted(self._used.items())),
            *((11, _value(name, shape)) for name, shape in inputs.items()),
            *((12, _value(name, shape)) for name, shape in outputs.items()),
        )
        return _message(
            (1, _IR_VERSION),
            (2, "wordsight"),
            (7, graph),
            (8, _message((1, ""), (2, _OPSET))),
            *((14, _message((1, key), (2, value))) for key, value in metadata.items()),
        )


def _encoded(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _message(*pairs: tuple[int, Any]) -> bytes:
    """Return a message of ``(field, value)`` pairs: integers, floats, texts and bytes."""
    parts = []
    for number, value in pairs:
        if isinstance(value, int):
            parts += [_encoded(number << 3), _encoded(value)]
        elif isinstance(value, float):
            parts += [_encoded(number << 3 | 5), struct.pack("<f", value)]
        else:
            data = value.encode() if isinstance(value, str) else value
            parts += [_encoded(number << 3 | 2), _encoded(len(data)), data]
    return b"".join(parts)


def _attribute(name: str, value: Any) -> bytes:
    if isinstance(value, int):
        return _message((1, name), (3, value), (20, 2))
    if isinstance(value, float):
        return _message((1, name), (2, value), (20, 1))
    if isinstance(value, str):
        return _message((1, name), (4, value), (20, 3))
    return _message((1, name), *((8, int(one)) for one in value), (20, 7))


def _tensor(name: str, values: NDArray[Any]) -> bytes:
    kind = _INT64 if values.dtype == np.int64 else _FLOAT
    return _message(
        *((1, int(n)) for n in values.shape), (2, kind), (8, name), (9, values.tobytes())
    )


def _value(name: str, shape: Sequence[int]) -> bytes:
    dimensions = _message(*((1, _message((1, int(n)))) for n in shape))
    return _message((1, name), (2, _message((1, _message((1, _FLOAT), (2, dimensions))))))
