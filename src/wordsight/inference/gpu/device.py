"""Which device to compute on, and what to say where the one asked for is not there."""

import warnings
from typing import Any

__all__ = ["DeviceWarning", "find_device"]


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
