"""Reference implementation of the lattice in plain numpy and logarithms: slow and robust.

Nodes are arrays with one axis per participant and then one per word; a step applies one small
matrix to each axis in turn.
"""

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.lattice.model import Lattice, LatticeCounts, LatticePath, LatticeScore

__all__ = ["counts_reference", "path_reference", "score_reference"]

Array = NDArray[np.float64]


def score_reference(lattice: Lattice) -> LatticeScore:
    """Sum over all choices by the forward recursion."""
    nodes = _initial(lattice)
    for frame in range(1, lattice.num_frames):
        nodes = _advance(lattice, nodes, frame)
    joint = _log_sum(nodes + _final(lattice)) + lattice.total_log_scale
    return LatticeScore(joint, _partition(lattice) + lattice.log_scale)


def counts_reference(lattice: Lattice) -> LatticeCounts:
    """Compute expected counts by the forward and backward recursions."""
    forward = [_initial(lattice)]
    for frame in range(1, lattice.num_frames):
        forward.append(_advance(lattice, forward[-1], frame))
    total = _log_sum(forward[-1] + _final(lattice))
    shapes = [word.emission.shape for word in lattice.words]
    tables = [np.zeros(shape) for shape in shapes]
    steps = [np.zeros((shape[1], shape[1])) for shape in shapes]
    tracks = np.zeros((lattice.num_participants, lattice.num_frames, lattice.num_detections))
    score = LatticeScore(total + lattice.total_log_scale, 0.0)
    backward = _final(lattice) + np.zeros_like(forward[-1])
    for frame in range(lattice.num_frames - 1, -1, -1):
        if total == -np.inf:
            break
        _add_tables(lattice, np.exp(forward[frame] + backward - total), frame, tables, tracks)
        if frame:
            ahead = backward + _frame_weights(lattice, frame)
            _add_steps(lattice, forward[frame - 1] - total, ahead, frame, steps)
            backward = _retreat(lattice, ahead, frame)
    partition = _partition(lattice) + lattice.log_scale
    return LatticeCounts(score.log_joint, partition, tuple(steps), tuple(tables), tracks)


def path_reference(lattice: Lattice) -> LatticePath:
    """Find the heaviest choice by the Viterbi recursion."""
    best = [_initial(lattice)]
    for frame in range(1, lattice.num_frames):
        best.append(_advance(lattice, best[-1], frame, heaviest=True))
    last = best[-1] + _final(lattice)
    size = (lattice.num_frames, last.ndim)
    if np.max(last) == -np.inf:
        nowhere = np.full(size, -1, dtype=np.int64)
        split = lattice.num_participants
        return LatticePath(-np.inf, nowhere[:, :split], nowhere[:, split:])
    nodes = np.empty(size, dtype=np.int64)
    nodes[-1] = np.unravel_index(np.argmax(last), last.shape)
    for frame in range(lattice.num_frames - 1, 0, -1):
        arriving = best[frame - 1].copy()
        for axis, matrix in enumerate(_step_matrices(lattice, frame)):
            arriving += _along(matrix[:, nodes[frame, axis]], axis, arriving.ndim)
        nodes[frame - 1] = np.unravel_index(np.argmax(arriving), arriving.shape)
    score = float(np.max(last)) + lattice.total_log_scale
    split = lattice.num_participants
    return LatticePath(score, nodes[:, :split], nodes[:, split:])


def _initial(lattice: Lattice) -> Array:
    nodes = _frame_weights(lattice, 0)
    for number, word in enumerate(lattice.words):
        axis = lattice.num_participants + number
        nodes = nodes + _along(_log(word.initial), axis, nodes.ndim)
    return nodes


def _final(lattice: Lattice) -> Array:
    ndim = lattice.num_participants + len(lattice.words)
    weights = np.zeros((1,) * ndim)
    for number, word in enumerate(lattice.words):
        if word.final is not None:
            axis = lattice.num_participants + number
            weights = weights + _along(_log(word.final), axis, ndim)
    return weights


def _frame_weights(lattice: Lattice, frame: int) -> Array:
    """Return the log weight of every node of a frame, ``(J, ..., J, I_1, ..., I_L)``."""
    ndim = lattice.num_participants + len(lattice.words)
    shape = (lattice.num_detections,) * lattice.num_participants
    shape += tuple(word.num_states for word in lattice.words)
    weights = np.zeros(shape)
    for p in range(lattice.num_participants):
        weights = weights + _along(_log(lattice.unary_of(p)[frame]), p, ndim)
    for number, word in enumerate(lattice.words):
        axes = (lattice.num_participants + number, *word.participants)
        weights = weights + _spread(_log(word.emission[frame]), axes, ndim)
    return weights


def _step_matrices(lattice: Lattice, frame: int) -> list[Array]:
    tracks = [_log(lattice.coherence_of(p)[frame - 1]) for p in range(lattice.num_participants)]
    return tracks + [_log(word.transition) for word in lattice.words]


def _advance(lattice: Lattice, nodes: Array, frame: int, heaviest: bool = False) -> Array:
    for axis, matrix in enumerate(_step_matrices(lattice, frame)):
        nodes = _apply(nodes, matrix, axis, heaviest)
    return nodes + _frame_weights(lattice, frame)


def _retreat(lattice: Lattice, ahead: Array, frame: int) -> Array:
    for axis, matrix in enumerate(_step_matrices(lattice, frame)):
        ahead = _apply(ahead, matrix.T, axis)
    return ahead


def _apply(nodes: Array, matrix: Array, axis: int, heaviest: bool = False) -> Array:
    """Take a log matrix from one axis to the next frame's, summing or maximising over the old."""
    moved = np.moveaxis(nodes, axis, -1)[..., :, None] + matrix
    result = np.max(moved, axis=-2) if heaviest else np.logaddexp.reduce(moved, axis=-2)
    return np.moveaxis(result, -1, axis)


def _add_tables(
    lattice: Lattice, nodes: Array, frame: int, tables: list[Array], tracks: Array
) -> None:
    for number, word in enumerate(lattice.words):
        axes = (lattice.num_participants + number, *word.participants)
        tables[number][frame] = _gather(nodes, axes)
    for p in range(lattice.num_participants):
        tracks[p, frame] = _gather(nodes, (p,))


def _add_steps(
    lattice: Lattice, before: Array, ahead: Array, frame: int, steps: list[Array]
) -> None:
    matrices = _step_matrices(lattice, frame)
    for number, word in enumerate(lattice.words):
        own = lattice.num_participants + number
        carried = ahead
        for axis, matrix in enumerate(matrices):
            if axis != own:
                carried = _apply(carried, matrix.T, axis)
        # Everything but this word's own step is summed; its two ends stay apart.
        rows = np.moveaxis(before, own, 0).reshape(word.num_states, 1, -1)
        columns = np.moveaxis(carried, own, 0).reshape(1, word.num_states, -1)
        steps[number] += np.exp(_log(word.transition) + np.logaddexp.reduce(rows + columns, -1))


def _partition(lattice: Lattice) -> float:
    return sum(_track_partition(lattice, p) for p in range(lattice.num_participants))


def _track_partition(lattice: Lattice, participant: int) -> float:
    unary, steps = lattice.unary_of(participant), lattice.coherence_of(participant)
    nodes = _log(unary[0])
    for frame in range(1, lattice.num_frames):
        nodes = _apply(nodes, _log(steps[frame - 1]), 0) + _log(unary[frame])
    return _log_sum(nodes)


def _gather(nodes: Array, axes: tuple[int, ...]) -> Array:
    others = tuple(axis for axis in range(nodes.ndim) if axis not in axes)
    kept = [axis for axis in range(nodes.ndim) if axis in axes]
    return np.asarray(nodes.sum(axis=others).transpose([kept.index(axis) for axis in axes]))


def _spread(table: Array, axes: tuple[int, ...], ndim: int) -> Array:
    """Line a table's axes up with the nodes' and leave the others to broadcasting."""
    order = np.argsort(axes)
    shape = [1] * ndim
    for axis, size in zip(axes, table.shape, strict=True):
        shape[axis] = size
    return table.transpose(order).reshape(shape)


def _along(row: Array, axis: int, ndim: int) -> Array:
    return row.reshape([-1 if other == axis else 1 for other in range(ndim)])


def _log(weights: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.log(weights)


def _log_sum(logs: Array) -> float:
    return float(np.logaddexp.reduce(logs, axis=None))
