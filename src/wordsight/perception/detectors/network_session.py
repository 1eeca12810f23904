"""Running an ONNX network with onnxruntime, here or in a process of its own.

This file is also the program of that process, so it imports nothing of Wordsight: the child starts
quickly, and a network that crashes or wants too much memory takes nothing else with it.
"""

import json
import struct
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

__all__ = ["LocalNetwork", "TensorInfo", "open_session", "read_message", "write_message"]

_QUIET = 3  # onnxruntime reports errors only
_CUDA = "CUDAExecutionProvider"
_LARGEST_ANSWER = 256 << 20  # bytes; boxes and scores of a frame take a few megabytes
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class TensorInfo:
    """An input of a network, as onnxruntime declares it."""

    name: str
    shape: list[Any]
    type: str


class LocalNetwork:
    """A network that runs in this process.

    Args:
        path: The ``.onnx`` file.
        threads: Processor threads; 0 leaves it to onnxruntime.
        device: ``cpu`` or ``cuda``.

    Attributes:
        inputs: What goes in.
        metadata: Texts that were written beside the network.
    """

    def __init__(self, path: str, threads: int = 1, device: str = "cpu") -> None:
        self._session = open_session(path, threads, device)
        self.inputs = [
            TensorInfo(i.name, list(i.shape), i.type) for i in self._session.get_inputs()
        ]
        self.metadata: dict[str, str] = dict(self._session.get_modelmeta().custom_metadata_map)
        self._outputs = [output.name for output in self._session.get_outputs()]

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> Arrays:
        """Return the outputs by name."""
        values = self._session.run(self._outputs, dict(inputs))
        return dict(zip(self._outputs, values, strict=True))


def open_session(path: str, threads: int, device: str) -> Any:
    """Open a network with onnxruntime.

    Raises:
        ValueError: If the device is not there.
        Exception: onnxruntime's own, if the file is no network that can be run.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = _QUIET
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    providers = ["CPUExecutionProvider"]
    if device == "cuda":
        providers.insert(0, _CUDA)
        known = onnxruntime.get_available_providers()
        session = _CUDA in known and onnxruntime.InferenceSession(path, options, providers)
        # Without a graphics card or its libraries onnxruntime goes on with the processor, unasked.
        if not session or _CUDA not in session.get_providers():
            raise ValueError(
                "onnxruntime cannot use CUDA here; it needs a graphics card of NVIDIA, its driver, "
                "and the package onnxruntime-gpu in place of onnxruntime"
            )
        return session
    return onnxruntime.InferenceSession(path, options, providers)


def write_message(stream: BinaryIO, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write values of JSON and arrays to a pipe."""
    values = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    kinds = {name: [array.dtype.str, list(array.shape)] for name, array in values.items()}
    text = json.dumps({**header, "arrays": kinds}).encode()
    stream.write(struct.pack("<I", len(text)) + text)
    for array in values.values():
        stream.write(array.tobytes())
    stream.flush()


def read_message(stream: BinaryIO) -> tuple[dict[str, Any], Arrays]:
    """Read what :func:`write_message` wrote.

    Raises:
        EOFError: If the other side is gone.
    """
    header = json.loads(_exactly(stream, struct.unpack("<I", _exactly(stream, 4))[0]))
    arrays = {}
    for name, (kind, shape) in header.pop("arrays").items():
        dtype = np.dtype(kind)
        data = _exactly(stream, dtype.itemsize * int(np.prod(shape, dtype=np.int64)))
        arrays[name] = np.frombuffer(data, dtype).reshape(shape)
    return header, arrays


def _exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _serve() -> None:
    """Open the network that is asked for, then run it on whatever comes, until nothing comes."""
    receive, send = sys.stdin.buffer, sys.stdout.buffer
    try:
        asked, _ = read_message(receive)
        _limit(asked.pop("memory"))
        network = LocalNetwork(**asked)
    except Exception as error:
        write_message(send, {"error": str(error) or type(error).__name__}, {})
        return
    write_message(
        send, {"inputs": [asdict(i) for i in network.inputs], "metadata": network.metadata}, {}
    )
    while True:
        try:
            _, inputs = read_message(receive)
        except EOFError:
            return
        try:
            outputs = network.run(inputs)
            _check_size(outputs)
        except Exception as error:  # onnxruntime has its own exception classes
            write_message(send, {"error": str(error) or type(error).__name__}, {})
        else:
            write_message(send, {}, outputs)


def _check_size(outputs: Mapping[str, NDArray[Any]]) -> None:
    """Refuse an answer that would fill the memory of the process that asked."""
    size = sum(array.nbytes for array in outputs.values())
    if size > _LARGEST_ANSWER:
        raise ValueError(
            f"its outputs take {size:,} bytes of memory, at most {_LARGEST_ANSWER:,} are taken"
        )


def _limit(memory: int | None) -> None:
    if memory is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


if __name__ == "__main__":
    _serve()
