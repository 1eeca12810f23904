"""The compiled lattice, forward, backward and best path: one program for every shape of sentence.

Importing this module imports numba, which takes a second or two: import it where it is needed. The
machine code is kept on disk after the first call. All functions release the interpreter lock.

Nodes of a frame lie word states first, so for each joint word state there is one block of joint
detections. A step applies one small matrix per participant and per word.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wordsight.inference.lattice.kernels.steps import (
    first_nodes,
    fold_tables,
    frame_weights,
    single_weights,
    start_and_end,
    step_counts,
    step_matrices,
    step_states,
    step_tracks,
    sum_posteriors,
    total_of,
)
from wordsight.inference.lattice.pack import aligned_array
from wordsight.inference.numba_support import INNER_OPTIONS, KERNEL_OPTIONS

__all__ = [
    "ClipArrays",
    "Workspace",
    "backward_counts",
    "begin",
    "best_scores",
    "ended",
    "forward",
    "partition",
    "read_clip",
    "space_for",
    "trace_back",
]


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


Array = NDArray[np.float64]


class ClipArrays(NamedTuple):
    """What the recursions read of one clip.

    Attributes:
        tables: (T, entries) folded tables.
        singles: (P, T, J) factors of single participants.
        coherence: (P or 1, steps, J, J) steps of the tracks of all clips; a part of it would not
            be contiguous, and the compiler would read it number by number.
        step: Which of them is the clip's first.
        params: Initial, final and transition weights of the words.
    """

    tables: Array
    singles: Array
    coherence: Array
    step: int
    params: Array


class Workspace(NamedTuple):
    """Work areas, reused from clip to clip.

    Attributes:
        arrivals: (T or 1, nodes) the tracks' step into each frame, before the words' step and the
            frame's weights; the first row holds the first frame's nodes. With one row, only the
            last is kept.
        masses: (T,) sum of each frame's nodes, scaled by the sum before.
        nodes: (nodes,) the frame at hand.
        weights: (nodes,) its weights.
        work: (nodes,) spare.
        stages: (words + 1, nodes) what has arrived, after the step of each word.
        matrices: (P, J, J) the frame's step matrices.
        flat: The same memory as one row.
        one: (1,) the number 1.
    """

    arrivals: Array
    masses: Array
    nodes: Array
    weights: Array
    work: Array
    stages: Array
    matrices: Array
    flat: Array
    one: Array


_aligned = njit(**KERNEL_OPTIONS)(aligned_array)


@njit(**KERNEL_OPTIONS)
def space_for(arrivals, longest, plan):  # type: ignore[no-untyped-def]
    """Return work areas for clips of up to ``longest`` frames."""
    total = plan.tracks * plan.states
    matrices = _aligned(plan.people * plan.detections**2)
    stages = _aligned((len(plan.many) + 1) * total)
    return Workspace(
        arrivals,
        np.empty(longest),
        _aligned(total),
        _aligned(total),
        _aligned(total),
        stages.reshape(len(plan.many) + 1, total),
        matrices.reshape(plan.people, plan.detections, plan.detections),
        matrices,
        np.ones(1),
    )


@njit(**KERNEL_OPTIONS)
def partition(unary, coherence, row, step, frames, plan):  # type: ignore[no-untyped-def]
    """Return the log sum over all choices of tracks alone."""
    different = max(len(unary), len(coherence))
    count = plan.detections
    total = 0.0
    now = np.empty(count)
    new = np.empty(count)
    for p in range(different):
        own, steps = min(p, len(unary) - 1), min(p, len(coherence) - 1)
        for t in range(frames):
            for k in range(count):
                new[k] = 0.0 if t else 1.0
            if t:
                for j in range(count):
                    for k in range(count):
                        new[k] += now[j] * coherence[steps, step + t - 1, j, k]
            for k in range(count):
                now[k] = new[k] * unary[own, row + t, k]
            mass = total_of(now)
            if not mass > 0.0:
                return -np.inf
            total += np.log(mass)
            for k in range(count):
                now[k] /= mass
    return total * plan.people if different == 1 else total


@njit(**INNER_OPTIONS, inline="always")
def weights_at(clip, frame, plan, space):  # type: ignore[no-untyped-def]
    """Return the (nodes,) weights of a frame: a table itself, or computed into ``space``."""
    table = clip.tables[frame]
    weights = space.weights
    if plan.direct >= 0:
        weights = table[plan.direct : plan.direct + len(space.nodes)]
    else:
        frame_weights(table, plan, space.stages[0], weights)
    return weights


@njit(**INNER_OPTIONS)
def begin(clip, initial, plan, space):  # type: ignore[no-untyped-def]
    """Fill ``nodes`` with those of the clip's first frame."""
    weights = weights_at(clip, 0, plan, space)
    first_nodes(initial, clip.singles, plan, weights, space.nodes)


@njit(**INNER_OPTIONS)
def forward(clip, plan, space):  # type: ignore[no-untyped-def]
    """Go on from the first frame's ``nodes`` to the last; tell whether that is possible."""
    nodes, masses = space.nodes, space.masses
    people, count = plan.people, plan.detections
    for x in range(len(nodes)):
        space.arrivals[0, x] = nodes[x]
    masses[0] = total_of(nodes)
    if not masses[0] > 0.0:
        return False
    for t in range(1, len(clip.tables)):
        weights = weights_at(clip, t, plan, space)
        at = t % len(space.arrivals)
        step_matrices(clip, t, False, space.matrices)
        moved = space.arrivals[at]
        step_tracks(nodes, space.work, moved, space.flat, people, count, plan.states)
        for m in range(len(plan.many)):
            step_states(moved, space.stages[m], clip.params, plan.many[m], False)
            moved = space.stages[m]
        factor = 1.0 / masses[t - 1]
        for x in range(len(nodes)):
            nodes[x] = moved[x] * weights[x] * factor
        masses[t] = total_of(nodes)
        if not masses[t] > 0.0:
            return False
    return True


@njit(**INNER_OPTIONS)
def ended(nodes, final, plan):  # type: ignore[no-untyped-def]
    """Return the sum of the last frame's nodes under the final weights."""
    mass = 0.0
    for q in range(len(final)):
        mass += final[q] * total_of(nodes[q * plan.tracks : (q + 1) * plan.tracks])
    return mass


@njit(**KERNEL_OPTIONS)
def read_clip(number, frames, rows, steps, emission, unary, coherence, params, plan):  # type: ignore[no-untyped-def]
    """Return one clip of a batch, ready for the recursions."""
    row, step, length = rows[number], steps[number], frames[number]
    return ClipArrays(
        fold_tables(emission, row, length, plan),
        single_weights(emission, unary, row, length, plan),
        coherence,
        step,
        params[number],
    )


@njit(**INNER_OPTIONS)
def _posterior(arrived, beta, weights, factor, ahead, joint):  # type: ignore[no-untyped-def]
    """Fill ``ahead`` with the weighted future and ``joint`` with the posterior of the nodes."""
    for x in range(len(joint)):
        value = beta[x] * weights[x] * factor
        ahead[x] = value
        joint[x] = arrived[x] * value


@njit(**INNER_OPTIONS)
def backward_counts(clip, plan, space, arena, counts, transitions):  # type: ignore[no-untyped-def]
    """Walk back from the future of the last frame, which ``space.nodes`` holds.

    Fills ``counts`` (T, entries) and adds to ``transitions``; ``arena`` is where posteriors are
    summed into tables.
    """
    beta, stages, many = space.nodes, space.stages, plan.many
    people, count = plan.people, plan.detections
    one = space.one
    joint = arena[plan.joint : plan.joint + len(beta)]
    offset = many[0, 4] if len(many) else 0
    for t in range(len(counts) - 1, 0, -1):
        weights = weights_at(clip, t, plan, space)
        # The forward pass kept what arrived before the words' step: each word's transition counts
        # need the stage just before its own step, and the future just behind it.
        moved = space.arrivals[t]
        for m in range(len(many)):
            step_states(moved, stages[m], clip.params, many[m], False)
            moved = stages[m]
        ahead, other = space.work, space.weights
        _posterior(moved, beta, weights, 1.0 / space.masses[t - 1], ahead, joint)
        sum_posteriors(arena, plan.sums, one)
        for x in range(plan.entries):
            counts[t, x] = arena[x]
        for m in range(len(many) - 1, -1, -1):
            before = stages[m - 1] if m else space.arrivals[t]
            step_counts(before, ahead, clip.params, many[m], transitions[many[m, 4] - offset :])
            step_states(ahead, other, clip.params, many[m], True)
            ahead, other = other, ahead
        step_matrices(clip, t, True, space.matrices)
        step_tracks(ahead, other, beta, space.flat, people, count, plan.states)
    for x in range(len(beta)):
        joint[x] = space.arrivals[0, x] * beta[x]
    sum_posteriors(arena, plan.sums, one)
    for x in range(plan.entries):
        counts[0, x] = arena[x]
