"""The best set of disjoint paths through a lattice of detections, exactly.

Many objects share the detections, each of which belongs to at most one of them: a minimum-cost
flow. Because every capacity is one it is also an assignment, "who follows whom", and scipy solves
sparse assignments in well under a second for a hundred thousand detections.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, min_weight_full_bipartite_matching

__all__ = ["best_path", "disjoint_paths"]


_BATCH_NODES = 1000


def disjoint_paths(
    node_gains: NDArray[np.float64],
    tails: NDArray[np.intp],
    heads: NDArray[np.intp],
    link_gains: NDArray[np.float64],
    *,
    entry_cost: float,
    exit_cost: float,
) -> tuple[list[NDArray[np.intp]], NDArray[np.float64]]:
    r"""Choose paths that share no node and together gain most.

    A path :math:`v_1 \dots v_n` gains
    :math:`\sum_k F(v_k) + \sum_k G(v_k, v_{k+1})` less the cost of entering and leaving. With a
    single path and links between neighbouring frames this is Eq. 1 of Yu & Siskind (2013).

    Args:
        node_gains: ``(N,)`` what each node adds; negative nodes are only used to reach others.
        tails: ``(L,)`` the node each link leaves; links must not form cycles.
        heads: ``(L,)`` the node each link enters.
        link_gains: ``(L,)`` what each link adds.
        entry_cost: What it costs to start a path.
        exit_cost: What it costs to end one.

    Returns:
        One array of node numbers per path, in the order of the first node, and what each path
        gains.
    """
    paths: list[NDArray[np.intp]] = []
    totals: list[float] = []
    for nodes, links in _independent_parts(len(node_gains), tails, heads):
        numbers = np.searchsorted(nodes, np.stack([tails[links], heads[links]]))
        found, gained = _solve(
            node_gains[nodes], numbers[0], numbers[1], link_gains[links], entry_cost, exit_cost
        )
        paths += [nodes[path] for path in found]
        totals += gained.tolist()
    order = sorted(range(len(paths)), key=lambda k: int(paths[k][0]))
    return [paths[k] for k in order], np.array([totals[k] for k in order], dtype=np.float64)


def _independent_parts(
    count: int, tails: NDArray[np.intp], heads: NDArray[np.intp]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield the nodes and links of parts no link connects, small ones gathered.

    The solver's time grows faster than the size of its problem, so that parts are worth it.
    """
    if count == 0:
        return
    graph = csr_matrix((np.ones(len(tails)), (tails, heads)), shape=(count, count))
    _, part = connected_components(graph, directed=False)
    sizes = np.bincount(part)
    batch = (np.cumsum(sizes) - sizes)[part] // _BATCH_NODES
    nodes = np.argsort(batch, kind="stable")
    links = np.argsort(batch[tails], kind="stable")
    borders = np.unique(batch)[1:]
    node_groups = np.split(nodes, np.searchsorted(batch[nodes], borders))
    link_groups = np.split(links, np.searchsorted(batch[tails][links], borders))
    yield from zip(node_groups, link_groups, strict=True)


def _solve(
    node_gains: NDArray[np.float64],
    tails: NDArray[np.intp],
    heads: NDArray[np.intp],
    link_gains: NDArray[np.float64],
    entry_cost: float,
    exit_cost: float,
) -> tuple[list[NDArray[np.intp]], NDArray[np.float64]]:
    count = len(node_gains)
    gains = _assignment_gains(node_gains, tails, heads, link_gains, entry_cost, exit_cost)
    # A full matching always has 2N edges, so that a constant added to all of them changes nothing;
    # it keeps every weight positive, since the solver takes a zero for a missing edge.
    above = gains.data.max() + 1.0
    gains.data = above - gains.data
    rows, columns = min_weight_full_bipartite_matching(gains)
    ways_out = rows < count
    successor, gained = np.empty(count, dtype=np.intp), np.empty(count)
    successor[rows[ways_out]] = columns[ways_out]
    gained[rows[ways_out]] = above - np.asarray(gains[rows[ways_out], columns[ways_out]]).ravel()
    paths = _follow(successor)
    firsts = np.array([path[0] for path in paths], dtype=np.intp)
    on_path = np.array([gained[path].sum() for path in paths], dtype=np.float64)
    return paths, on_path + node_gains[firsts] / 2.0 - entry_cost


def _assignment_gains(
    node_gains: NDArray[np.float64],
    tails: NDArray[np.intp],
    heads: NDArray[np.intp],
    link_gains: NDArray[np.float64],
    entry_cost: float,
    exit_cost: float,
) -> csr_matrix:
    """Build the ``(2N, 2N)`` matrix whose best full matching is the best set of paths.

    Rows are the way out of every node, then the entries; columns the way into every node, then the
    exits. A node matched with itself is unused. The mirrored block of zeros lets the entries and
    exits that no path needs match each other whatever the paths are.
    """
    count = len(node_gains)
    every = np.arange(count)
    half = node_gains / 2.0  # a node's gain is earned half on the way in, half on the way out
    rows = [tails, every, every, every + count, heads + count, every + count]
    columns = [heads, every, every + count, every, tails + count, every + count]
    gains = [
        link_gains + half[tails] + half[heads],
        np.zeros(count),
        half - exit_cost,
        half - entry_cost,
        np.zeros(len(tails)),
        np.zeros(count),
    ]
    shape = (2 * count, 2 * count)
    places = (np.concatenate(rows), np.concatenate(columns))
    return csr_matrix((np.concatenate(gains), places), shape=shape)


def _follow(successor: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Turn "who follows whom" into paths; a node that follows itself is unused."""
    count = len(successor)
    every = np.arange(count)
    used = successor != every
    linked = used & (successor < count)
    starts = used.copy()
    starts[successor[linked]] = False
    following = successor.tolist()
    paths = []
    for node in np.flatnonzero(starts).tolist():
        path = [node]
        while following[path[-1]] < count:
            path.append(following[path[-1]])
        paths.append(np.array(path, dtype=np.intp))
    return paths


# The best single path through a lattice, one node per frame, by dynamic programming.


def best_path(
    node_gains: Sequence[NDArray[np.float64]], link_gains: Sequence[NDArray[np.float64]]
) -> tuple[NDArray[np.intp], float]:
    r"""Maximise :math:`\sum_t F_t(j_t) + \sum_t G_t(j_{t-1}, j_t)` over :math:`j_1 \dots j_T`.

    Args:
        node_gains: T arrays; the t-th, ``(J_t,)``, holds F of every node of frame t, at least one.
        link_gains: T - 1 arrays; the t-th, ``(J_t, J_{t+1})``, holds G between neighbouring frames.

    Returns:
        The index of the node chosen in each frame, ``(T,)``, and the sum; ``-inf`` if no path is
        allowed, and no indices and 0 if there are no frames.

    Examples:
        >>> best_path([np.array([0., 1.]), np.array([2., 0.])], [np.array([[0., 0.], [-5., 0.]])])
        (array([0, 0]), 2.0)
    """
    if not node_gains:
        return np.zeros(0, dtype=np.intp), 0.0
    best = np.asarray(node_gains[0], dtype=np.float64)
    came_from: list[NDArray[np.intp]] = []
    for gains, links in zip(node_gains[1:], link_gains, strict=True):
        through = best[:, None] + links
        came_from.append(through.argmax(axis=0))
        best = through.max(axis=0) + gains
    path = [int(best.argmax())]
    for back in reversed(came_from):
        path.append(int(back[path[-1]]))
    return np.array(path[::-1], dtype=np.intp), float(best.max())
