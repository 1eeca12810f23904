"""Selection of the device to compute on, and the warning where it is missing."""

import warnings
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

__all__ = ["DeviceWarning", "GraphRecorder", "find_device"]


class DeviceWarning(UserWarning):
    """The device asked for is not there; the processor does the work."""


def find_device(name: str) -> Any | None:
    """Return the torch device of that name, or ``None`` if the processor's own kernels must do.

    Args:
        name: ``cpu``, ``cuda`` or ``cuda:1``; ``torch-cpu`` runs torch on the processor, which is
            of use for comparing only.

    Returns:
        A ``torch.device``, or ``None`` after a :class:`DeviceWarning` that says why.
    """
    if name == "cpu":
        return None
    try:
        import torch
    except ImportError:
        _warn(f"{name!r} needs torch: pip install 'wordsight[gpu]'")
        return None
    if name == "torch-cpu":
        return torch.device("cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        _warn(f"{name!r} is not the name of a device, such as cuda or cuda:1")
        return None
    count = torch.cuda.device_count() if device.type == "cuda" else 0
    if (device.index or 0) >= count:
        _warn(f"{name!r} is not there: torch finds {count} CUDA devices")
        return None
    return device


def _warn(problem: str) -> None:
    warnings.warn(f"{problem}. The processor does the work instead.", DeviceWarning, stacklevel=3)


# Recorded work: a row of small operations that the device replays in one go.
#
# Handing a device thousands of operations one by one takes longer than doing them. What comes again
# with the same sizes is recorded the second time and replayed from then on.

Tensor = Any
Work = Callable[..., list[Tensor]]


class GraphRecorder:
    """Runs functions of tensors on a device, recorded from the second time on.

    Args:
        device: A ``torch.device``; only CUDA can record, others run the function each time.
        most: Recordings to keep; the one not used for longest goes first, with its memory.
    """

    def __init__(self, device: Any, most: int = 4) -> None:
        self.device, self.most = device, most
        self._seen: Counter[Hashable] = Counter()
        self._recordings: OrderedDict[Hashable, tuple[Any, list[Tensor], list[Tensor]]]
        self._recordings = OrderedDict()
        self._records = device.type == "cuda"

    def run(self, key: Hashable, work: Work, inputs: Sequence[Tensor]) -> list[Tensor]:
        """Return ``work(*inputs)``.

        Args:
            key: The same for the same function with inputs of the same sizes.
            work: Must only use tensors on the device and never wait for it.
            inputs: Tensors, here or on the device.

        Returns:
            Tensors on the device, good until the next run with the same key.
        """
        self._seen[key] += 1
        if self._records and self._seen[key] > 1 and key not in self._recordings:
            self._record(key, work, inputs)
        if key not in self._recordings:
            return work(*(tensor.to(self.device) for tensor in inputs))
        self._recordings.move_to_end(key)
        graph, kept, outputs = self._recordings[key]
        for there, tensor in zip(kept, inputs, strict=True):
            there.copy_(tensor)
        graph.replay()
        return outputs

    def _record(self, key: Hashable, work: Work, inputs: Sequence[Tensor]) -> None:
        import torch

        cuda: Any = torch.cuda
        while len(self._recordings) >= self.most:
            self._recordings.popitem(last=False)
        try:
            with cuda.device(self.device):
                kept = [tensor.to(self.device, copy=True) for tensor in inputs]
                side = cuda.Stream()
                side.wait_stream(cuda.current_stream())
                with cuda.stream(side):
                    work(*kept)  # libraries set themselves up in the first call, which would fail
                cuda.current_stream().wait_stream(side)
                graph = cuda.CUDAGraph()
                with cuda.graph(graph):
                    outputs = work(*kept)
        except RuntimeError as problem:
            self._records = False
            cuda.empty_cache()
            warnings.warn(
                f"the device cannot record its work ({str(problem).splitlines()[0]}); it goes on "
                "step by step, slower.",
                DeviceWarning,
                stacklevel=3,
            )
            return
        self._recordings[key] = (graph, kept, outputs)
