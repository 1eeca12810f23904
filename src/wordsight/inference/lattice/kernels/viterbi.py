"""The heaviest path through the lattice, compiled.

Scores of all frames are kept, and which node a best score came from is found again on the way back:
that costs one pass over a frame instead of remembering an origin for every node.
"""

import numpy as np
from numba import njit

from wordsight.inference.lattice.kernels.options import INNER_OPTIONS, KERNEL_OPTIONS
from wordsight.inference.lattice.kernels.steps import step_matrices
from wordsight.inference.lattice.kernels.weights import first_nodes, frame_weights, start_and_end

__all__ = ["best_scores", "trace_back"]


@njit(**INNER_OPTIONS)
def _heaviest(source, target, matrix, outer, inner):  # type: ignore[no-untyped-def]
    """(outer, n, inner) -> (outer, m, inner): the best of the middle axis under ``matrix``."""
    n, m = matrix.shape
    for a in range(outer):
        for k in range(m):
            out = target[(a * m + k) * inner : (a * m + k + 1) * inner]
            for b in range(inner):
                out[b] = 0.0
            for j in range(n):
                step = matrix[j, k]
                part = source[(a * n + j) * inner : (a * n + j + 1) * inner]
                for b in range(inner):
                    out[b] = max(out[b], part[b] * step)


@njit(**KERNEL_OPTIONS)
def _best_step(nodes, work, matrices, params, plan):  # type: ignore[no-untyped-def]
    """Take best scores one frame on, before the new frame's weights; ``work`` is (2, nodes)."""
    here, side = nodes, 0
    for m in range(len(plan.many)):
        _, n, outer, inner, offset = plan.many[m]
        matrix = params[offset : offset + n * n].reshape(n, n)
        _heaviest(here, work[side], matrix, outer, inner)
        here, side = work[side], 1 - side
    outer, inner = plan.states, plan.tracks
    for p in range(plan.people):
        inner //= plan.detections
        _heaviest(here, work[side], matrices[p], outer, inner)
        outer *= plan.detections
        here, side = work[side], 1 - side
    return here


@njit(**INNER_OPTIONS)
def _origin(node, nodes, into, matrices, params, plan):  # type: ignore[no-untyped-def]
    """Return which node of the frame before the best score of ``node`` came from."""
    into[0] = 1.0
    filled = 1
    for m in range(len(plan.many)):
        _, n, _, inner, offset = plan.many[m]
        matrix = params[offset : offset + n * n].reshape(n, n)
        filled = _spread_column(into, filled, matrix, node // inner % n)
    inner = plan.tracks
    for p in range(plan.people):
        inner //= plan.detections
        filled = _spread_column(into, filled, matrices[p], node // inner % plan.detections)
    best, where = -1.0, 0
    for x in range(len(nodes)):
        value = nodes[x] * into[x]
        if value > best:
            best, where = value, x
    return where


@njit(**INNER_OPTIONS)
def _spread_column(into, filled, matrix, column):  # type: ignore[no-untyped-def]
    n = len(matrix)
    for a in range(filled - 1, -1, -1):
        value = into[a]
        for j in range(n - 1, -1, -1):
            into[a * n + j] = value * matrix[j, column]
    return filled * n


@njit(**KERNEL_OPTIONS)
def best_scores(clip, plan, best, weights, work, matrices):  # type: ignore[no-untyped-def]
    """Fill ``best`` (T, nodes), each frame scaled to a largest of 1; return the log score."""
    initial, final = start_and_end(clip.params, plan)
    frames = len(clip.tables)
    log_score = 0.0
    for t in range(frames):
        frame_weights(clip.tables[t], plan, work[0], weights)
        if t == 0:
            first_nodes(initial, clip.singles, plan, weights, best[0])
        else:
            step_matrices(clip, t, False, matrices)
            moved = _best_step(best[t - 1], work, matrices, clip.params, plan)
            for x in range(len(weights)):
                best[t, x] = moved[x] * weights[x]
        if t == frames - 1:
            for x in range(len(weights)):
                best[t, x] *= final[x // plan.tracks]
        largest = best[t].max()
        if not largest > 0.0:
            return -np.inf
        log_score += np.log(largest)
        for x in range(len(weights)):
            best[t, x] /= largest
    return log_score


@njit(**KERNEL_OPTIONS)
def trace_back(clip, best, into, matrices, plan, path):  # type: ignore[no-untyped-def]
    """Fill ``path`` (T,) with the nodes of the best path, from the last frame to the first."""
    path[-1] = best[len(path) - 1].argmax()
    for t in range(len(path) - 1, 0, -1):
        step_matrices(clip, t, False, matrices)
        path[t - 1] = _origin(path[t], best[t - 1], into, matrices, clip.params, plan)
