"""The lattice of any shape on torch tensors, many clips of one shape at once.

The same recursions as in the compiled kernel, with scaled weights; clips shorter than the longest
of their batch stand still after their last frame. Used where the fused kernel does not fit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.lattice import Lattice
from wordsight.inference.lattice_results import LatticeCounts, LatticeScore

__all__ = ["counts_torch", "partitions_torch", "scores_torch"]

Array = NDArray[np.float64]
Tensor = Any  # torch.Tensor; torch itself is imported only where something is run


def scores_torch(lattices: Sequence[Lattice], device: Any, dtype: Any) -> list[LatticeScore]:
    """Score lattices of one shape; lengths may differ."""
    batch = _Batch.of(lattices, device, dtype)
    _, logs = batch.forward(kept=False)
    return [
        LatticeScore(joint + lattice.total_log_scale, partition + lattice.log_scale)
        for lattice, joint, partition in zip(
            lattices, _floats(logs), batch.partition(), strict=True
        )
    ]


def counts_torch(lattices: Sequence[Lattice], device: Any, dtype: Any) -> list[LatticeCounts]:
    """Compute scores and expected counts of lattices of one shape; lengths may differ."""
    batch = _Batch.of(lattices, device, dtype)
    arrived, logs = batch.forward(kept=True)
    tables, steps = batch.backward(arrived)
    scores = zip(_floats(logs), batch.partition(), strict=True)
    results = []
    for number, (lattice, (joint, partition)) in enumerate(zip(lattices, scores, strict=True)):
        frames = lattice.num_frames
        results.append(
            LatticeCounts(
                joint + lattice.total_log_scale,
                partition + lattice.log_scale,
                tuple(word[number] for word in steps),
                tuple(
                    _in_order(word[number, :frames], chain)
                    for word, chain in zip(tables, lattice.words, strict=True)
                ),
            )
        )
    return results


def partitions_torch(lattices: Sequence[Lattice], device: Any, dtype: Any) -> list[float]:
    """Return the logarithm of the sum over tracks alone, scales left out."""
    return _Batch.of(lattices, device, dtype).partition()


@dataclass
class _Batch:
    """Lattices of one shape as tensors, padded to the longest.

    Attributes:
        unary: ``(B, P, T, J)``.
        coherence: ``(B, P, T - 1, J, J)``.
        initial, final: Per word ``(B, I)``.
        transition: Per word ``(B, I, I)``.
        emission: Per word ``(B, T, J, ..., J, I)`` with participants in ascending order.
        axes: Per word its participants in ascending order.
        lengths: ``(B,)`` frames of each clip.
    """

    unary: Tensor
    coherence: Tensor
    initial: list[Tensor]
    final: list[Tensor]
    transition: list[Tensor]
    emission: list[Tensor]
    axes: list[tuple[int, ...]]
    lengths: Tensor

    @classmethod
    def of(cls, lattices: Sequence[Lattice], device: Any, dtype: Any) -> "_Batch":
        import torch

        people, frames = lattices[0].num_participants, max(each.num_frames for each in lattices)

        def tensor(arrays: Sequence[Array]) -> Tensor:
            return torch.as_tensor(np.stack(arrays), dtype=dtype, device=device)

        words = list(zip(*(each.words for each in lattices), strict=True))
        return cls(
            tensor(
                [
                    _padded(np.stack([each.unary_of(p) for p in range(people)]), 1, frames)
                    for each in lattices
                ]
            ),
            tensor(
                [
                    _padded(np.stack([each.coherence_of(p) for p in range(people)]), 1, frames - 1)
                    for each in lattices
                ]
            ),
            [tensor([word.initial for word in row]) for row in words],
            [
                tensor(
                    [np.ones(word.num_states) if word.final is None else word.final for word in row]
                )
                for row in words
            ],
            [tensor([word.transition for word in row]) for row in words],
            [
                tensor(
                    [_padded(_sorted(word.emission, word.participants), 0, frames) for word in row]
                )
                for row in words
            ],
            [tuple(sorted(row[0].participants)) for row in words],
            torch.as_tensor([each.num_frames for each in lattices], device=device),
        )

    @property
    def people(self) -> int:
        return int(self.unary.shape[1])

    @property
    def frames(self) -> int:
        return int(self.unary.shape[2])

    @property
    def ndim(self) -> int:
        return 1 + self.people + len(self.axes)

    def weights(self, frame: int) -> Tensor:
        """Return ``(B, J, ..., J, I, ..., I)`` the weight of every node of a frame."""
        nodes = self.unary[:, 0, frame].reshape(_shape(self.ndim, {0: -1, 1: self.unary.shape[3]}))
        for p in range(1, self.people):
            row = self.unary[:, p, frame]
            nodes = nodes * row.reshape(_shape(self.ndim, {0: len(row), 1 + p: row.shape[1]}))
        for number, table in enumerate(self.emission):
            here = table[:, frame]
            places = (0, *(1 + p for p in self.axes[number]), 1 + self.people + number)
            nodes = nodes * here.reshape(
                _shape(self.ndim, dict(zip(places, here.shape, strict=True)))
            )
        return nodes

    def spread(self, rows: Sequence[Tensor]) -> Tensor:
        """Return the product of one ``(B, I)`` row per word over the nodes."""
        import torch

        nodes = torch.ones(_shape(self.ndim, {}), dtype=self.unary.dtype, device=self.unary.device)
        for number, row in enumerate(rows):
            axis = 1 + self.people + number
            nodes = nodes * row.reshape(_shape(self.ndim, {0: len(row), axis: row.shape[1]}))
        return nodes

    def tracks_on(self, nodes: Tensor, frame: int, *, back: bool = False) -> Tensor:
        """Move the participants into ``frame`` from the one before, or back."""
        for p in range(self.people):
            matrix = self.coherence[:, p, frame - 1]
            nodes = _apply(nodes, matrix.mT if back else matrix, 1 + p)
        return nodes

    def words_on(self, nodes: Tensor, *, back: bool = False, but: int = -1) -> Tensor:
        """Move all words, but perhaps one, a step on, or back."""
        for number, matrix in enumerate(self.transition):
            if number != but and matrix.shape[1] > 1:
                nodes = _apply(nodes, matrix.mT if back else matrix, 1 + self.people + number)
            elif number != but:
                nodes = nodes * matrix.reshape(_shape(self.ndim, {0: len(matrix)}))
        return nodes

    def forward(self, *, kept: bool) -> tuple[list[tuple[Tensor, Tensor, Tensor]], Tensor]:
        """Run the forward recursion.

        Returns:
            Per frame what arrived in its nodes before the words moved, its nodes, and what they
            were divided by; and ``(B,)`` logarithms of the sums over everything.
        """
        nodes = self.spread(self.initial) * self.weights(0)
        scale = _sum(nodes)
        nodes = nodes / _safe(scale)
        logs = scale.log()
        steps = [(nodes, nodes, scale)]
        for frame in range(1, self.frames):
            arrived = self.tracks_on(nodes, frame)
            moved = self.words_on(arrived) * self.weights(frame)
            scale = _sum(moved)
            active = (frame < self.lengths).reshape(scale.shape)
            nodes = moved.div(_safe(scale)).where(active, nodes)
            logs = logs + scale.log().where(active, scale.new_zeros(()))
            if kept:
                steps.append((arrived, nodes, scale))
        logs = logs + _sum(nodes * self.spread(self.final)).log()
        return steps, logs.reshape(-1)

    def backward(
        self, steps: list[tuple[Tensor, Tensor, Tensor]]
    ) -> tuple[list[Array], list[Array]]:
        """Run the backward recursion and return every word's tables and expected steps."""
        import torch

        ends = self.spread(self.final)
        future = (ends / _safe(_sum(steps[-1][1] * ends))).expand_as(steps[-1][1])
        tables = [torch.zeros_like(table) for table in self.emission]
        counts = [torch.zeros_like(matrix) for matrix in self.transition]
        for frame in range(self.frames - 1, -1, -1):
            arrived, nodes, scale = steps[frame]
            active = (frame < self.lengths).reshape(scale.shape)
            posterior = (nodes * future).where(active, nodes.new_zeros(()))
            for number, axes in enumerate(self.axes):
                tables[number][:, frame] = self._marginal(posterior, number, axes)
            if frame:
                ahead = self.weights(frame) * future / _safe(scale)
                for number, total in enumerate(counts):
                    total += self._steps(arrived, ahead.where(active, ahead.new_zeros(())), number)
                back = self.tracks_on(self.words_on(ahead, back=True), frame, back=True)
                future = back.where(active, future)
        return [_numpy(table) for table in tables], [_numpy(count) for count in counts]

    def _marginal(self, nodes: Tensor, number: int, axes: tuple[int, ...]) -> Tensor:
        kept = {0, *(1 + p for p in axes), 1 + self.people + number}
        rest = [axis for axis in range(self.ndim) if axis not in kept]
        return nodes.sum(dim=rest) if rest else nodes

    def _steps(self, arrived: Tensor, ahead: Tensor, number: int) -> Tensor:
        axis = 1 + self.people + number
        states = self.transition[number].shape[1]
        left = self.words_on(arrived, but=number).movedim(axis, 1).reshape(len(arrived), states, -1)
        right = ahead.movedim(axis, 1).reshape(len(ahead), states, -1)
        return self.transition[number] * (left @ right.mT)

    def partition(self) -> list[float]:
        """Return the logarithm of the sum over tracks alone, all participants together."""
        nodes = self.unary[:, :, 0]
        logs = nodes.sum(-1).log()
        nodes = nodes / _safe(nodes.sum(-1, keepdim=True))
        for frame in range(1, self.frames):
            moved = (nodes[:, :, None] @ self.coherence[:, :, frame - 1])[:, :, 0]
            moved = moved * self.unary[:, :, frame]
            scale = moved.sum(-1, keepdim=True)
            active = (frame < self.lengths)[:, None]
            logs = logs + scale[..., 0].log().where(active, scale.new_zeros(()))
            nodes = moved.div(_safe(scale)).where(active[..., None], nodes)
        return _floats(logs.sum(dim=1))


def _apply(nodes: Tensor, matrix: Tensor, axis: int) -> Tensor:
    """Multiply one axis of ``nodes`` by a matrix per clip."""
    last = nodes.movedim(axis, -1)
    moved = last.reshape(len(last), -1, last.shape[-1]) @ matrix
    return moved.reshape(last.shape).movedim(-1, axis)


def _shape(ndim: int, sizes: dict[int, int]) -> list[int]:
    return [sizes.get(axis, 1) for axis in range(ndim)]


def _sum(nodes: Tensor) -> Tensor:
    return nodes.sum(dim=tuple(range(1, nodes.ndim)), keepdim=True)


def _safe(scale: Tensor) -> Tensor:
    """Divide nothing by zero: what is impossible stays 0 and its logarithm says so."""
    return scale.where(scale > 0, scale.new_ones(()))


def _padded(array: Array, axis: int, frames: int) -> Array:
    widths = [(0, 0)] * array.ndim
    widths[axis] = (0, frames - array.shape[axis])
    return np.pad(array, widths)


def _sorted(emission: Array, participants: tuple[int, ...]) -> Array:
    """Return ``(T, J, ..., J, I)`` with the participants in ascending order."""
    order = np.argsort(participants)
    return emission.transpose(0, *(2 + order), 1)


def _in_order(table: Array, chain: Any) -> Array:
    """Undo :func:`_sorted`: ``(T, I, J, ..., J)`` in the order of the word's roles."""
    places = np.argsort(np.argsort(chain.participants))
    return np.ascontiguousarray(table.transpose(0, table.ndim - 1, *(1 + places)))


def _floats(values: Tensor) -> list[float]:
    return [float(value) for value in values.double().cpu()]


def _numpy(values: Tensor) -> Array:
    return np.asarray(values.double().cpu().numpy())
