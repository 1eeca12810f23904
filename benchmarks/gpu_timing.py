"""Timing on a device or on the processor, by the same words."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["seconds_of"]


def seconds_of(work: Callable[[], Any], device: Any, turns: int) -> float:
    """Return the median seconds of several turns after two first ones that do not count.

    The first sets libraries up, the second lets a device record what it will replay.
    """
    for _ in range(2):
        work()
    return float(np.median([_one(work, device) for _ in range(turns)]))


def _one(work: Callable[[], Any], device: Any) -> float:
    import torch

    if device.type != "cuda":
        start = time.perf_counter()
        work()
        return time.perf_counter() - start
    torch.cuda.synchronize(device)
    start = time.perf_counter()
    work()
    torch.cuda.synchronize(device)
    return time.perf_counter() - start
