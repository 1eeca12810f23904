"""The lattice of any shape on torch tensors, many clips of one shape at once.

The same recursions as in the compiled kernel, with scaled weights. Used where the fused kernel does
not fit.
"""

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.gpu.graphs import Recorder
from wordsight.inference.gpu.lattice_batch import (
    Shape,
    for_each,
    log_constant,
    pack_batch,
    split_steps,
    split_table,
)
from wordsight.inference.gpu.lattice_passes import count_batch, partition_batch, score_batch
from wordsight.inference.lattice import Lattice
from wordsight.inference.lattice_plan import topology_of
from wordsight.inference.lattice_results import LatticeCounts, LatticeScore

__all__ = ["batch_bytes", "counts_torch", "padded_shape", "partitions_torch", "scores_torch"]

Tensor = Any

_FRAMES_STEP = 16
"""Clips are padded to multiples of so many frames, so that few sizes are recorded."""


def scores_torch(lattices: Sequence[Lattice], device: Any, dtype: Any) -> list[LatticeScore]:
    """Score lattices of one shape; lengths may differ."""
    logs, partitions = (_floats(found) for found in _run(score_batch, lattices, device, dtype))
    return [
        LatticeScore(*_scaled(lattice, logs[n], partitions[n]))
        for n, lattice in enumerate(lattices)
    ]


def counts_torch(lattices: Sequence[Lattice], device: Any, dtype: Any) -> list[LatticeCounts]:
    """Compute scores and expected counts of lattices of one shape; lengths may differ."""
    logs, partitions, steps, *tables = _run(count_batch, lattices, device, dtype)
    joint, alone = _floats(logs), _floats(partitions)
    moves, counted = _numpy(steps), [_numpy(table) for table in tables]

    def split(n: int) -> LatticeCounts:
        lattice, possible = lattices[n], joint[n] > -np.inf
        return LatticeCounts(
            *_scaled(lattice, joint[n], alone[n]),
            split_steps(moves[n], lattice, possible=possible),
            tuple(
                split_table(table[n, : lattice.num_frames], word)
                for table, word in zip(counted, lattice.words, strict=True)
            ),
        )

    return for_each(split, len(lattices))


def partitions_torch(lattices: Sequence[Lattice], device: Any, dtype: Any) -> list[float]:
    """Return the logarithm of the sum over tracks alone, scales left out."""
    return _floats(_run(_partitions, lattices, device, dtype)[0])[: len(lattices)]


def padded_shape(lattices: Sequence[Lattice], device: Any) -> Shape:
    """Return the sizes a batch is filled up to: rounded up where recordings are worth it."""
    frames = max(lattice.num_frames for lattice in lattices)
    clips = len(lattices)
    if device.type == "cuda":
        frames = -(-frames // _FRAMES_STEP) * _FRAMES_STEP
        clips = 1 << (clips - 1).bit_length()
    return Shape(topology_of(lattices[0]), frames, clips)


def batch_bytes(device: Any) -> int:
    """Return how many bytes of nodes a batch may have: a part of what is free."""
    import torch

    if device.type != "cuda":
        return 1 << 30
    free, _ = torch.cuda.mem_get_info(device)
    return int(min(4 << 30, max(free // 32, 1 << 28)))


def _run(work: Any, lattices: Sequence[Lattice], device: Any, dtype: Any) -> list[Tensor]:
    import torch

    device = torch.device(device)
    shape = padded_shape(lattices, device)
    plain = np.float64 if dtype == torch.float64 else np.float32
    inputs = [torch.from_numpy(array) for array in pack_batch(lattices, shape, plain)]
    key = (work.__name__, shape, dtype)
    found: list[Tensor] = _recorder(str(device)).run(key, partial(work, shape), inputs)
    return found


def _partitions(shape: Shape, *inputs: Tensor) -> list[Tensor]:
    return [partition_batch(inputs, shape)]


@lru_cache(maxsize=8)
def _recorder(device: str) -> Recorder:
    import torch

    return Recorder(torch.device(device))


def _scaled(lattice: Lattice, joint: float, partition: float) -> tuple[float, float]:
    whole = joint + log_constant(lattice) + lattice.total_log_scale
    return whole, partition + lattice.log_scale


def _floats(values: Tensor) -> list[float]:
    return [float(value) for value in values.double().cpu().numpy()]


def _numpy(values: Tensor) -> NDArray[Any]:
    # Torch doubles all clips at once, by all cores; each result is then a view.
    return np.asarray(values.cpu().double().numpy())
