"""The factored lattice on torch tensors, for batches of clips of one shape.

The same recursions as in the compiled kernel, with scaled weights. Used where the fused kernel does
not fit.
"""

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.gpu.device import GraphRecorder
from wordsight.inference.gpu.lattice_batch import (
    BatchShape,
    for_each,
    pack_batch,
    split_steps,
    split_table,
)
from wordsight.inference.lattice.model import Lattice, LatticeCounts, LatticeScore
from wordsight.inference.lattice.pack import log_constant
from wordsight.inference.lattice.plan import topology_of

__all__ = [
    "batch_bytes",
    "count_batch",
    "counts_torch",
    "padded_shape",
    "partition_batch",
    "partitions_torch",
    "score_batch",
    "scores_torch",
]


# The forward and backward recursions on torch tensors, few operations to a frame.
#
# A frame costs one small matrix product per participant and one for all words together; whatever
# needs no order in time (weights, tables of counts, the tracks' own sum) is done for all frames at
# once. Nothing here waits for the device, so the whole can be recorded and replayed.

Tensor = Any  # torch.Tensor; torch itself is imported only where something is run

_LEAST = 1e-37
"""What sums are divided by at least: nothing stays nothing, which the last sum tells."""


def score_batch(shape: BatchShape, *inputs: Tensor) -> list[Tensor]:
    """Return ``(B,)`` log sums over everything and over tracks alone, scales left out.

    Args:
        shape: The sizes.
        inputs: What :func:`wordsight.inference.gpu.lattice_batch.pack_batch` gives, as tensors.
    """
    inputs = _frames_first(inputs)
    return [_forward(shape, inputs, kept=False)[0], _partitions(inputs, shape)]


def count_batch(shape: BatchShape, *inputs: Tensor) -> list[Tensor]:
    """Return what :func:`score_batch` does, ``(B, Q, Q)`` expected steps, and a table per word.

    Tables are ``(B, T, I, J, ..., J)`` with participants ascending.
    """
    inputs = _frames_first(inputs)
    logs, nodes, weights, share = _forward(shape, inputs, kept=True)
    steps = _backward(shape, inputs, nodes, weights, share)
    sizes = (shape.topology.num_detections,) * shape.topology.num_participants
    posterior = nodes.reshape(shape.frames, shape.clips, *sizes, *shape.moving_states)
    tables = [_marginal(posterior, shape, number) for number in range(len(shape.topology.words))]
    return [logs, _partitions(inputs, shape), steps, *tables]


def partition_batch(inputs: tuple[Tensor, ...], shape: BatchShape) -> Tensor:
    """Return ``(B,)`` log sums over tracks alone."""
    return _partitions(_frames_first(inputs), shape)


def _frames_first(inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Return unary (T, B, P, J), coherence (T - 1, B, P, J, J) and tables (T, B, J, ..., J, I)."""
    unary, coherence = inputs[:2]
    tables = (table.movedim(2, -1).transpose(0, 1) for table in inputs[7:])
    return (
        unary.permute(2, 0, 1, 3).contiguous(),
        coherence.permute(2, 0, 1, 3, 4).contiguous(),
        *inputs[2:7],
        *tables,
    )


def _forward(shape: BatchShape, inputs: tuple[Tensor, ...], *, kept: bool) -> tuple[Tensor, ...]:
    """Run the forward recursion.

    Returns:
        ``(B,)`` logs; and where they are kept ``(T, B, X, Q)`` nodes that sum to 1 in each frame,
        the weights divided by each frame's sum, and ``(B, 1, 1)`` one over the last nodes' sum
        under the final weights.
    """
    import torch

    _, coherence, initial, final, transition, alive, last = inputs[:7]
    weights = _weights(shape, inputs)
    sums = weights.new_empty(*weights.shape[:2], weights.shape[3])
    scales = sums.new_empty(*sums.shape[:2], 1, 1)
    nodes = torch.empty_like(weights) if kept else weights
    now = initial[:, None] * weights[0]
    for frame in range(shape.frames):
        if frame:
            now = _moved(now, coherence[frame - 1], shape)
            now = (now @ transition if len(shape.moving) else now).mul_(weights[frame])
        torch.sum(now, dim=1, out=sums[frame])
        torch.clamp(sums[frame].sum(-1)[:, None, None], min=_LEAST, out=scales[frame])
        now = torch.div(now, scales[frame], out=nodes[frame])
    ended = (sums / scales[..., 0] * last[..., None]).sum(0) * final
    mass = ended.sum(-1)
    logs = (scales[..., 0, 0].double().log() * alive).sum(0) + mass.double().log()
    if not kept:
        return (logs,)
    share = 1.0 / mass.where(mass > 0, mass.new_full((), torch.inf))
    return logs, nodes, weights.div_(scales), share[:, None, None]


def _backward(
    shape: BatchShape, inputs: tuple[Tensor, ...], nodes: Tensor, weights: Tensor, share: Tensor
) -> Tensor:
    """Turn ``nodes`` into posteriors in place; return the ``(B, Q, Q)`` expected steps."""
    _, coherence, _, final, transition, _, last = inputs[:7]
    # A clip's future begins at its last frame: what comes after it is 0 and counts nothing.
    begins = last[:, :, None, None] * (final[:, None] * share)
    steps = transition.new_zeros(transition.shape)
    back_step = transition.mT.contiguous()
    future = begins[-1].expand_as(nodes[-1])
    for frame in range(shape.frames - 1, -1, -1):
        ahead = future * weights[frame]
        nodes[frame].mul_(future)
        if not frame:
            break
        back = _moved(ahead, coherence[frame - 1].mT, shape)
        if len(shape.moving):
            steps = steps.baddbmm(nodes[frame - 1].mT, back)
            future = begins[frame - 1].expand_as(back).baddbmm(back, back_step)
        else:
            future = begins[frame - 1] + back
    return steps * transition


def _moved(nodes: Tensor, matrices: Tensor, shape: BatchShape) -> Tensor:
    """Move all participants of ``(B, X, Q)`` nodes by ``(B, P or 1, J, J)`` matrices.

    Each product takes the first axis and puts it last, so that after all of them and one turn of
    the words' axis the order is as before, and nothing was ever copied to be sorted.
    """
    clips, _, states = nodes.shape
    size, shared = matrices.shape[-1], matrices.shape[1] == 1
    for p in range(shape.topology.num_participants):
        nodes = nodes.reshape(clips, size, -1).mT @ matrices[:, 0 if shared else p]
    return nodes.reshape(clips, states, -1).mT


def _weights(shape: BatchShape, inputs: tuple[Tensor, ...]) -> Tensor:
    """Return ``(T, B, X, Q)`` the weight of every node of every frame."""
    unary, tables = inputs[0], inputs[7:]
    people, moving = shape.topology.num_participants, shape.moving
    ndim = 2 + people + len(moving)
    parts = []
    for p in range(people):
        row = unary[:, :, 0 if shape.topology.shared_unary else p]
        parts.append(row.reshape(_sizes(ndim, {0: row.shape[0], 1: row.shape[1], 2 + p: -1})))
    for number, (axes, states) in enumerate(shape.topology.words):
        places = [0, 1, *(2 + p for p in axes)]
        table = tables[number]
        if states > 1:
            places.append(2 + people + moving.index(number))
        else:
            table = table[..., 0]
        parts.append(table.reshape(_sizes(ndim, dict(zip(places, table.shape, strict=True)))))
    # The smallest first: products stay small as long as they can.
    parts.sort(key=lambda part: part.numel())
    product = parts[0]
    for part in parts[1:]:
        product = product * part
    full = (shape.topology.num_detections,) * people + tuple(shape.moving_states)
    whole = product.expand(shape.frames, shape.clips, *full)
    return whole.reshape(shape.frames, shape.clips, shape.topology.num_tracks, -1).contiguous()


def _marginal(posterior: Tensor, shape: BatchShape, number: int) -> Tensor:
    """Sum ``(T, B, J, ..., J, I, ..., I)`` posteriors to the ``(B, T, I, J, ..., J)`` of a word."""
    axes, states = shape.topology.words[number]
    kept = {0, 1, *(2 + p for p in axes)}
    if states > 1:
        kept.add(2 + shape.topology.num_participants + shape.moving.index(number))
    rest = [axis for axis in range(posterior.ndim) if axis not in kept]
    table = posterior.sum(dim=rest) if rest else posterior
    table = table if states > 1 else table[..., None]
    return table.movedim(-1, 2).transpose(0, 1).contiguous()


def _partitions(inputs: tuple[Tensor, ...], shape: BatchShape) -> Tensor:
    """Return ``(B,)`` log sums over tracks alone, by products of neighbouring steps in pairs."""
    import torch

    unary, coherence = inputs[:2]
    first = unary[0]
    steps = coherence * unary[1:, :, :, None]
    logs = first.new_zeros((len(first), steps.shape[2]), dtype=torch.float64)
    while len(steps) > 1:
        odd = steps[len(steps) // 2 * 2 :]
        steps = torch.cat([steps[0 : len(steps) // 2 * 2 : 2] @ steps[1::2], odd])
        top = steps.amax(dim=(-2, -1), keepdim=True).clamp(min=_LEAST)
        steps = steps / top
        logs = logs + top[..., 0, 0].double().log().sum(0)
    first = first.expand(-1, steps.shape[2], -1)
    ended = (first[:, :, None] @ steps[0])[:, :, 0] if len(steps) else first
    logs = logs + ended.double().sum(-1).log()
    return logs.sum(1) * (shape.topology.num_participants if logs.shape[1] == 1 else 1)


def _sizes(ndim: int, sizes: dict[int, int]) -> list[int]:
    return [sizes.get(axis, 1) for axis in range(ndim)]


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
    return _floats(_run(_partition_work, lattices, device, dtype)[0])[: len(lattices)]


def padded_shape(lattices: Sequence[Lattice], device: Any) -> BatchShape:
    """Return the sizes a batch is filled up to: rounded up where recordings are worth it."""
    frames = max(lattice.num_frames for lattice in lattices)
    clips = len(lattices)
    if device.type == "cuda":
        frames = -(-frames // _FRAMES_STEP) * _FRAMES_STEP
        clips = 1 << (clips - 1).bit_length()
    return BatchShape(topology_of(lattices[0]), frames, clips)


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


def _partition_work(shape: BatchShape, *inputs: Tensor) -> list[Tensor]:
    return [partition_batch(inputs, shape)]


@lru_cache(maxsize=8)
def _recorder(device: str) -> GraphRecorder:
    import torch

    return GraphRecorder(torch.device(device))


def _scaled(lattice: Lattice, joint: float, partition: float) -> tuple[float, float]:
    whole = joint + log_constant(lattice) + lattice.total_log_scale
    return whole, partition + lattice.log_scale


def _floats(values: Tensor) -> list[float]:
    return [float(value) for value in values.double().cpu().numpy()]


def _numpy(values: Tensor) -> NDArray[Any]:
    # Torch doubles all clips at once, by all cores; each result is then a view.
    return np.asarray(values.cpu().double().numpy())
