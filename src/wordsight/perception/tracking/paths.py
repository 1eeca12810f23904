"""Optimal paths through a lattice: the best set of disjoint paths.

Each detection belongs to at most one object, so the best tracks are a minimum-cost flow. With unit
capacities this is an assignment of each detection to its successor, and scipy solves sparse
assignments of a hundred thousand detections in well under a second.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["disjoint_paths"]


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
    r"""Return the node-disjoint paths with the largest total gain.

    A path :math:`v_1 \dots v_n` gains
    :math:`\sum_k F(v_k) + \sum_k G(v_k, v_{k+1})` minus the costs of entry and exit. For a single
    path and links between neighbouring frames this is Eq. 1 of Yu & Siskind (2013).

    Args:
        node_gains: ``(N,)`` gain of each node; may be negative.
        tails: ``(L,)`` first node of each link; links must not form cycles.
        heads: ``(L,)`` second node of each link.
        link_gains: ``(L,)`` gain of each link.
        entry_cost: Cost of starting a path.
        exit_cost: Cost of ending a path.

    Returns:
        One array of node indices per path, in the order of the first node, and the gain of each.
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
    """Yield the nodes and links of unconnected components, small ones in batches.

    The solver's time grows faster than linearly, so that solving components separately is faster.
    """
    if count == 0:
        return
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components  # slow to import

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
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    count = len(node_gains)
    gains = _assignment_gains(node_gains, tails, heads, link_gains, entry_cost, exit_cost)
    # A full matching always has 2N edges, so a constant added to all weights changes nothing; it
    # keeps every weight positive, since the solver reads a zero as a missing edge.
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
) -> "csr_matrix":
    """Return the ``(2N, 2N)`` matrix whose best full matching is the best set of paths.

    Rows are the outputs of every node, then the entries; columns the inputs of every node, then the
    exits. A node matched with itself is unused. The mirrored block of zeros lets unused entries and
    exits match each other.
    """
    from scipy.sparse import csr_matrix

    count = len(node_gains)
    every = np.arange(count)
    half = node_gains / 2.0  # half of a node's gain on its input, half on its output
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
    """Convert successors into paths; a node that is its own successor is unused."""
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
