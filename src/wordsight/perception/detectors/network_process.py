"""`IsolatedNetwork`: a network of unknown origin in a process of its own, with limits."""

import importlib.util
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from numpy.typing import NDArray

from wordsight.errors import FormatError
from wordsight.perception.detectors import network_session
from wordsight.perception.detectors.network_session import (
    LocalNetwork,
    TensorInfo,
    read_message,
    write_message,
)
from wordsight.perception.detectors.registry import DetectorError

__all__ = ["IsolatedNetwork", "open_network"]

_PATIENCE = 120.0  # seconds for opening the network, and for each run of it
_GIGABYTE = 1 << 30


class IsolatedNetwork:
    """A network that runs in a child process, which is ended if it takes too much.

    Args:
        path: The ``.onnx`` file.
        threads: Processor threads; 0 leaves it to onnxruntime.
        device: ``cpu`` or ``cuda``.
        memory: Gigabytes it may use; not limited on a graphics card, whose driver reserves far
            more than it uses.
        patience: Seconds that opening it and each run may take.

    Attributes:
        inputs: What goes in.
        metadata: Texts that were written beside the network.

    Raises:
        FormatError: If the file is no network that can be run.
        DetectorError: If it takes more memory or time than it may.
    """

    def __init__(
        self,
        path: Path,
        threads: int = 1,
        device: str = "cpu",
        *,
        memory: float = 4.0,
        patience: float = _PATIENCE,
    ) -> None:
        self._name, self._memory, self._patience = path.name, memory, patience
        command = [sys.executable, "-P", network_session.__file__]
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        weakref.finalize(self, _end, self._child)
        limit = int(memory * _GIGABYTE) if device == "cpu" else None
        asked = {"path": str(path), "threads": threads, "device": device, "memory": limit}
        opened, _ = self._answer(asked, {}, opening=True)
        self.inputs = [TensorInfo(**one) for one in opened["inputs"]]
        self.metadata: dict[str, str] = opened["metadata"]

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return the outputs by name.

        Raises:
            DetectorError: If the network fails, or takes more memory or time than it may.
        """
        return self._answer({}, inputs)[1]

    def _answer(
        self, header: Mapping[str, Any], arrays: Mapping[str, Any], *, opening: bool = False
    ) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        late = threading.Event()
        timer = threading.Timer(self._patience, _stop, [self._child, late])
        timer.start()
        try:
            write_message(_pipe(self._child.stdin), header, arrays)
            answer, outputs = read_message(_pipe(self._child.stdout))
        except (EOFError, OSError) as error:
            if late.is_set():
                raise DetectorError(
                    f"the model {self._name} took more than {self._patience:g} seconds and was "
                    "stopped; use a smaller one, or a smaller input_size."
                ) from error
            raise self._too_large("it ended without an answer") from error
        finally:
            timer.cancel()
        if "error" in answer:
            raise self._problem(answer["error"], opening)
        return answer, outputs

    def _problem(self, text: str, opening: bool) -> Exception:
        brief = (text.strip().splitlines() or ["no reason given"])[0][:200].rstrip(".")
        if "alloc" in text.lower() or "memory" in text.lower():
            return self._too_large(brief)
        return opening_error(self._name, brief) if opening else running_error(self._name, brief)

    def _too_large(self, why: str) -> DetectorError:
        return DetectorError(
            f"the model {self._name} could not be run with {self._memory:g} GB of memory ({why}); "
            "use a smaller one, or allow more with --option memory=GIGABYTES."
        )


def open_network(
    path: Path, threads: int, device: str, memory: float | None
) -> LocalNetwork | IsolatedNetwork:
    """Open a network here or, with a limit of memory in gigabytes, in a process of its own.

    Raises:
        DetectorError: If onnxruntime or the device is not there, or the network takes too much.
        FormatError: If the file is no network that can be run.
    """
    if device not in ("cpu", "cuda"):
        raise DetectorError(f"device must be cpu or cuda, got {device!r}.")
    if memory is not None and not memory > 0:
        raise DetectorError(f"memory must be above 0 gigabytes, got {memory}.")
    if importlib.util.find_spec("onnxruntime") is None:
        raise DetectorError("networks need onnxruntime: pip install onnxruntime.")
    if not path.is_file():
        raise FormatError(f"{path} is not a file; expected an ONNX model.")
    if memory is not None:
        return IsolatedNetwork(path, threads, device, memory=memory)
    try:
        return LocalNetwork(str(path), threads, device)
    except Exception as error:  # onnxruntime has its own exception classes
        brief = (str(error).strip().splitlines() or [type(error).__name__])[0][:200].rstrip(".")
        raise opening_error(path.name, brief) from error


def opening_error(name: str, brief: str) -> Exception:
    """Return the error for a network that cannot be opened."""
    if "cannot use CUDA" in brief:
        return DetectorError(f"{brief}. Leave out --device cuda to use the processor.")
    return FormatError(
        f"{name} is not an ONNX model that can be run ({brief}); export the network again as .onnx."
    )


def running_error(name: str, brief: str) -> DetectorError:
    """Return the error for a network that failed on a picture."""
    return DetectorError(f"the model {name} failed: {brief}.")


def _pipe(stream: Any) -> BinaryIO:
    pipe: BinaryIO = stream
    return pipe


def _stop(child: "subprocess.Popen[bytes]", late: threading.Event) -> None:
    late.set()
    child.kill()


def _end(child: "subprocess.Popen[bytes]") -> None:
    child.kill()
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            try:
                stream.close()
            except OSError:  # what was to be sent is of no use any more
                continue
    child.wait()
