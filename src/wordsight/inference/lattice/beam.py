"""A beam through the lattice: nodes that cannot matter are dropped on the way, within a budget.

What dropping a node loses is what has arrived in it times its future. The first is known exactly;
the second is bounded by the future in a small lattice in which most detections are joined, as in
:mod:`wordsight.inference.lattice.prune`. Nodes are dropped, the least first, as long as the
bounds of all that was dropped stay under the loss that is allowed.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.lattice.model import Lattice, LatticeCounts, LatticeError
from wordsight.inference.lattice.prune import PrunedLattice, prune
from wordsight.inference.lattice.run import log_scores
from wordsight.inference.lattice.stream import log_partition

__all__ = ["BeamCounts", "beam_bytes", "beam_counts"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_AREAS = 8
"""Arrays of all nodes of a frame that are there at once, their order among them."""


@dataclass(frozen=True)
class BeamCounts(LatticeCounts):
    """Expected counts over the nodes a beam kept.

    Attributes:
        nodes_kept: ``(T,)`` how many nodes of each frame were kept.
    """

    nodes_kept: Ints = field(kw_only=True)


@dataclass
class _Frame:
    """The kept nodes of a frame: which, what arrived in them, and its logarithmic scale."""

    nodes: Ints
    values: Array
    log_scale: float


def beam_bytes(lattice: Lattice) -> int:
    """Return about how many bytes a beam needs at least: all nodes of one frame, and tables."""
    tables = sum(word.emission.size for word in lattice.words)
    return 8 * (_AREAS * lattice.num_nodes + tables)


def beam_counts(
    lattice: Lattice,
    *,
    loss: float = 1e-6,
    guide: int = 3,
    groups: int = 2,
    participants: bool = False,
) -> BeamCounts:
    """Compute expected counts over few nodes, such that at most a given share is lost.

    One frame of all nodes must fit the memory; of all frames together only kept nodes are held.

    Args:
        lattice: The clip and sentence.
        loss: Share of the summed weight that may be lost; 0 keeps every node that is possible.
        guide: Detections that the lattice of the bound keeps apart.
        groups: Into how many it joins the others.
        participants: Whether to return the posterior of every participant's detections too.

    Returns:
        The counts; ``lost_mass`` is the bound, never above ``loss``.
    """
    if not 0 <= loss < 1:
        raise LatticeError(f"a loss is a share from 0 to under 1, got {loss}.")
    bound = prune(lattice, guide, groups=groups)
    futures, scales = _futures(bound.upper)
    places = _places(bound, futures[0].shape[0])
    (least,) = log_scores([bound.kept])
    floor = least.log_joint - lattice.total_log_scale
    budget = np.log(loss / lattice.num_frames) + floor if loss > 0 else -np.inf
    kept: list[_Frame] = []
    lost = -np.inf
    for frame in range(lattice.num_frames):
        nodes, log_scale = _arrived(lattice, kept, frame)
        bounds = nodes * futures[frame][np.ix_(*places[:, frame], *_states(lattice))]
        allowed = np.exp(min(budget - log_scale - scales[frame], 700.0))
        chosen, dropped = _chosen(bounds.ravel(), allowed)
        if dropped > 0:
            lost = float(np.logaddexp(lost, np.log(dropped) + log_scale + scales[frame]))
        kept.append(_Frame(chosen, nodes.ravel()[chosen], log_scale))
    return _counted(lattice, kept, lost, participants)


def _chosen(bounds: Array, allowed: float) -> tuple[Ints, float]:
    """Return the nodes to keep, and the sum of the bounds of those dropped, at most ``allowed``."""
    order = np.argsort(bounds, kind="stable")
    sums = np.cumsum(bounds[order])
    # What cannot be reached, or leads nowhere, is dropped for nothing.
    first = int(np.searchsorted(sums, min(allowed, sums[-1]), side="right"))
    first = min(first, int(np.searchsorted(sums, sums[-1] * (1 - 1e-15))))
    dropped = float(sums[first - 1]) if first else 0.0
    return np.sort(order[first:]), dropped


def _arrived(lattice: Lattice, kept: list[_Frame], frame: int) -> tuple[Array, float]:
    """Return the weights of all nodes of a frame, scaled to a largest of 1, and their log scale."""
    weights = _weights(lattice, frame)
    if not frame:
        nodes, log_scale = weights * _spread(lattice, [w.initial for w in lattice.words]), 0.0
    else:
        before = _whole(kept[-1], weights.shape)
        nodes = _moved(before, _matrices(lattice, frame)) * weights
        log_scale = kept[-1].log_scale
    if frame == lattice.num_frames - 1:
        nodes = nodes * _ends(lattice)
    top = float(nodes.max())
    return (nodes / top, log_scale + np.log(top)) if top > 0 else (nodes, log_scale)


def _counted(lattice: Lattice, kept: list[_Frame], lost: float, participants: bool) -> BeamCounts:
    """Walk back over the kept nodes."""
    people = (lattice.num_participants, lattice.num_frames, lattice.num_detections)
    mass, last = float(kept[-1].values.sum()), kept[-1].log_scale
    total = float(np.log(mass)) + last if mass > 0 else -np.inf
    scale = lattice.total_log_scale
    counts = BeamCounts(
        total + scale,
        log_partition(lattice),
        tuple(np.zeros((word.num_states,) * 2) for word in lattice.words),
        tuple(np.zeros(word.emission.shape) for word in lattice.words),
        np.zeros(people) if participants else None,
        nodes_kept=np.array([len(each.nodes) for each in kept]),
        log_upper=float(np.logaddexp(total, lost)) + scale,
    )
    if total == -np.inf:
        return replace(counts, log_joint=-np.inf)
    shape = _weights(lattice, 0).shape
    # Futures are scaled so that, times what arrived, they are posteriors; the ends are in already.
    future = np.full(shape, 1.0 / mass)
    for frame in range(lattice.num_frames - 1, -1, -1):
        here = _whole(kept[frame], shape)
        _add_tables(lattice, here * future, frame, counts)
        if not frame:
            break
        before = kept[frame - 1]
        ahead = future * _weights(lattice, frame) * (here > 0)
        ahead *= np.exp(before.log_scale - kept[frame].log_scale)
        if frame == lattice.num_frames - 1:
            ahead = ahead * _ends(lattice)
        matrices = _matrices(lattice, frame)
        _add_steps(lattice, _whole(before, shape), ahead, matrices, counts)
        future = _moved(ahead, [matrix.T for matrix in matrices])
    return counts


def _futures(lattice: Lattice) -> tuple[list[Array], Array]:
    """Return per frame the future of every node, scaled, and ``(T,)`` the scales' logarithms.

    In the last frame it is 1: there the final weights are counted as arrived.
    """
    future = np.ones(_weights(lattice, 0).shape)
    futures, scales = [future], [0.0]
    for frame in range(lattice.num_frames - 1, 0, -1):
        ahead = future * _weights(lattice, frame)
        if frame == lattice.num_frames - 1:
            ahead = ahead * _ends(lattice)
        future = _moved(ahead, [matrix.T for matrix in _matrices(lattice, frame)])
        top = max(float(future.max()), 1e-300)
        future = future / top
        futures.append(future)
        scales.append(scales[-1] + float(np.log(top)))
    return futures[::-1], np.array(scales[::-1])


def _places(bound: PrunedLattice, size: int) -> Ints:
    """Return ``(P, T, J)`` which detection of the bound's lattice each detection is joined to."""
    places = np.full((*bound.places.shape[:2], bound.num_detections), size - 1, dtype=np.int64)
    for r, members in enumerate(np.moveaxis(bound.groups, 2, 0)):
        places[members] = bound.places.shape[2] + r
    np.put_along_axis(places, bound.places, np.arange(bound.places.shape[2])[None, None], axis=2)
    return places


def _states(lattice: Lattice) -> list[Ints]:
    return [np.arange(word.num_states) for word in lattice.words]


def _whole(frame: _Frame, shape: tuple[int, ...]) -> Array:
    nodes = np.zeros(shape)
    nodes.ravel()[frame.nodes] = frame.values
    return nodes


def _moved(nodes: Array, matrices: list[Array]) -> Array:
    """Apply one matrix to each axis: the first axis goes last each time, until all are round."""
    for matrix in matrices:
        nodes = np.tensordot(nodes, matrix, axes=(0, 0))
    return nodes


def _matrices(lattice: Lattice, frame: int) -> list[Array]:
    tracks = [lattice.coherence_of(p)[frame - 1] for p in range(lattice.num_participants)]
    return tracks + [word.transition for word in lattice.words]


def _weights(lattice: Lattice, frame: int) -> Array:
    """Return the weight of every node of a frame, ``(J, ..., J, I_1, ..., I_L)``."""
    ndim = lattice.num_participants + len(lattice.words)
    shape = (lattice.num_detections,) * lattice.num_participants
    nodes = np.ones(shape + tuple(word.num_states for word in lattice.words))
    for p in range(lattice.num_participants):
        nodes *= _laid(lattice.unary_of(p)[frame], (p,), ndim)
    for number, word in enumerate(lattice.words):
        axes = (lattice.num_participants + number, *word.participants)
        nodes *= _laid(word.emission[frame], axes, ndim)
    return nodes


def _spread(lattice: Lattice, rows: list[Array]) -> Array:
    """Return the product of one ``(I,)`` row per word over the nodes."""
    ndim = lattice.num_participants + len(lattice.words)
    nodes = np.ones((1,) * ndim)
    for number, row in enumerate(rows):
        nodes = nodes * _laid(row, (lattice.num_participants + number,), ndim)
    return nodes


def _ends(lattice: Lattice) -> Array:
    rows = [np.ones(w.num_states) if w.final is None else w.final for w in lattice.words]
    return _spread(lattice, rows)


def _add_tables(lattice: Lattice, posterior: Array, frame: int, counts: LatticeCounts) -> None:
    for number, word in enumerate(lattice.words):
        axes = (lattice.num_participants + number, *word.participants)
        rest = tuple(axis for axis in range(posterior.ndim) if axis not in axes)
        order = np.argsort(np.argsort(axes))
        counts.tables[number][frame] = posterior.sum(axis=rest).transpose(order)
    if counts.participants is not None:
        for p, own in enumerate(counts.participants):
            rest = tuple(axis for axis in range(posterior.ndim) if axis != p)
            own[frame] = posterior.sum(axis=rest)


def _add_steps(
    lattice: Lattice, before: Array, ahead: Array, matrices: list[Array], counts: LatticeCounts
) -> None:
    for number, word in enumerate(lattice.words):
        own = lattice.num_participants + number
        others = [
            np.eye(len(matrix)) if axis == own else matrix.T for axis, matrix in enumerate(matrices)
        ]
        carried = np.moveaxis(_moved(ahead, others), own, 0).reshape(word.num_states, -1)
        left = np.moveaxis(before, own, 0).reshape(word.num_states, -1)
        counts.transitions[number][:] += word.transition * (left @ carried.T)


def _laid(table: Array, axes: tuple[int, ...], ndim: int) -> Array:
    """Line a table's axes up with the nodes' and leave the others to broadcasting."""
    shape = [1] * ndim
    for axis, size in zip(axes, table.shape, strict=True):
        shape[axis] = size
    return table.transpose(np.argsort(axes)).reshape(shape)
