"""The heaviest path through the lattice, compiled.

Scores of all frames are kept, and which node a best score came from is found again on the way back:
that costs one pass over a frame instead of remembering an origin for every node.
"""

import numpy as np
from numba import njit

from wordsight.inference.lattice_kernel import (
    first_nodes,
    fold_tables,
    frame_weights,
    start_and_end,
)
from wordsight.inference.lattice_steps import FAST

__all__ = ["paths_batch"]


@njit(cache=True, nogil=True, fastmath=FAST)
def _heaviest(source, target, matrix, outer, inner):  # type: ignore[no-untyped-def]
    """(outer, n, inner) -> (outer, m, inner): the best of the middle axis under ``matrix``."""
    n, m = matrix.shape
    for a in range(outer):
        for k in range(m):
            out = target[(a * m + k) * inner : (a * m + k + 1) * inner]
            out[:] = 0.0
            for j in range(n):
                step = matrix[j, k]
                part = source[(a * n + j) * inner : (a * n + j + 1) * inner]
                for b in range(inner):
                    out[b] = max(out[b], part[b] * step)


@njit(cache=True, nogil=True, fastmath=FAST)
def _best_step(nodes, work, coherence, at, params, many, sizes):  # type: ignore[no-untyped-def]
    """Take best scores one frame on, before the new frame's weights; ``work`` is (2, nodes)."""
    people, count = sizes[0], sizes[1]
    here, side = nodes, 0
    for m in range(len(many)):
        _, n, outer, inner, offset = many[m]
        matrix = params[offset : offset + n * n].reshape(n, n)
        _heaviest(here, work[side], matrix, outer, inner)
        here, side = work[side], 1 - side
    outer, inner = sizes[4], sizes[3]
    for p in range(people):
        inner //= count
        _heaviest(here, work[side], coherence[min(p, len(coherence) - 1), at], outer, inner)
        outer *= count
        here, side = work[side], 1 - side
    return here


@njit(cache=True, nogil=True, fastmath=FAST)
def _origin(node, nodes, into, coherence, at, params, many, sizes):  # type: ignore[no-untyped-def]
    """Return which node of the frame before the best score of ``node`` came from."""
    people, count = sizes[0], sizes[1]
    into[0] = 1.0
    filled = 1
    for m in range(len(many)):
        _, n, _, inner, offset = many[m]
        matrix = params[offset : offset + n * n].reshape(n, n)
        filled = _spread_column(into, filled, matrix, node // inner % n)
    inner = sizes[3]
    for p in range(people):
        inner //= count
        matrix = coherence[min(p, len(coherence) - 1), at]
        filled = _spread_column(into, filled, matrix, node // inner % count)
    best, where = -1.0, 0
    for x in range(len(nodes)):
        value = nodes[x] * into[x]
        if value > best:
            best, where = value, x
    return where


@njit(cache=True, nogil=True, fastmath=FAST)
def _spread_column(into, filled, matrix, column):  # type: ignore[no-untyped-def]
    n = len(matrix)
    for a in range(filled - 1, -1, -1):
        value = into[a]
        for j in range(n - 1, -1, -1):
            into[a * n + j] = value * matrix[j, column]
    return filled * n


@njit(cache=True, nogil=True, fastmath=FAST)
def _best_scores(  # type: ignore[no-untyped-def]
    frames,
    row,
    step,
    emission,
    unary,
    coherence,
    params,
    plan,
    best,
    weights,
    spare,
    tables,
    work,
):
    """Fill ``best`` (T, nodes), each frame scaled to a largest of 1; return the log score."""
    sizes, many = plan[0], plan[5]
    tracks = sizes[3]
    initial, final = start_and_end(params, many, sizes[4])
    fold_tables(emission, unary, row, frames, plan, tables)
    log_score = 0.0
    for t in range(frames):
        frame_weights(tables[t], unary, row + t, plan, spare, weights)
        if t == 0:
            first_nodes(initial, weights, tracks, best[0])
        else:
            moved = _best_step(best[t - 1], work, coherence, step + t - 1, params, many, sizes)
            for x in range(len(weights)):
                best[t, x] = moved[x] * weights[x]
        if t == frames - 1:
            for x in range(len(weights)):
                best[t, x] *= final[x // tracks]
        largest = best[t].max()
        if not largest > 0.0:
            return -np.inf
        log_score += np.log(largest)
        for x in range(len(weights)):
            best[t, x] /= largest
    return log_score


@njit(cache=True, nogil=True, fastmath=FAST)
def paths_batch(  # type: ignore[no-untyped-def]
    frames, rows, steps, emission, unary, coherence, params, plan, scores, nodes
):
    """Fill ``scores`` (N,) with the best log weight and ``nodes`` (rows,) with the best path."""
    sizes, many = plan[0], plan[5]
    total = sizes[3] * sizes[4]
    best = np.empty((frames.max(), total))
    weights, spare, into = np.empty(total), np.empty(total), np.empty(total)
    tables, work = np.empty((frames.max(), sizes[5])), np.empty((2, total))
    for clip in range(len(frames)):
        row, step, length = rows[clip], steps[clip], frames[clip]
        scores[clip] = _best_scores(
            length,
            row,
            step,
            emission,
            unary,
            coherence,
            params[clip],
            plan,
            best,
            weights,
            spare,
            tables,
            work,
        )
        nodes[row : row + length] = -1
        if scores[clip] == -np.inf:
            continue
        nodes[row + length - 1] = best[length - 1].argmax()
        for t in range(length - 1, 0, -1):
            nodes[row + t - 1] = _origin(
                nodes[row + t],
                best[t - 1],
                into,
                coherence,
                step + t - 1,
                params[clip],
                many,
                sizes,
            )
