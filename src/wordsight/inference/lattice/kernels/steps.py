"""The inner loops of the compiled lattice: stepping tracks, stepping word states, summing up.

Imports numba; see :mod:`wordsight.inference.lattice.kernels.recursions`.
"""

import numpy as np
from numba import njit

from wordsight.inference.lattice.kernels.products import (
    matrix_times_rows,
    rows_times_matrix,
    scale_rows,
    sum_rows,
)
from wordsight.inference.numba_support import INNER_OPTIONS, KERNEL_OPTIONS

__all__ = [
    "first_nodes",
    "fold_tables",
    "frame_weights",
    "single_weights",
    "start_and_end",
    "step_counts",
    "step_matrices",
    "step_states",
    "step_tracks",
    "sum_posteriors",
    "total_of",
]


@njit(**KERNEL_OPTIONS)
def single_weights(emission, unary, row, frames, plan):  # type: ignore[no-untyped-def]
    """Return the (P, T, J) product of all factors that watch one participant and have one state."""
    singles = np.empty((plan.people, frames, plan.detections))
    for p in range(plan.people):
        own = min(p, len(unary) - 1)
        for t in range(frames):
            for j in range(plan.detections):
                singles[p, t, j] = unary[own, row + t, j]
    for s in range(len(plan.singles)):
        p, start = plan.singles[s]
        for t in range(frames):
            for j in range(plan.detections):
                singles[p, t, j] *= emission[row + t, start + j]
    return singles


@njit(**KERNEL_OPTIONS)
def fold_tables(emission, row, frames, plan):  # type: ignore[no-untyped-def]
    """Return the (T, entries) tables of a clip, one-state ones multiplied into their covers."""
    tables = emission[row : row + frames]
    if len(plan.targets) == 0:
        return tables
    tables = tables.copy()
    factors = np.empty(plan.entries)
    for t in range(frames):
        here = tables[t]
        for g in range(len(plan.targets)):
            start, states, length, first, last = plan.targets[g]
            for x in range(length):
                factors[x] = 1.0
            for f in range(first, last):
                source, at = plan.folds[f]
                for x in range(length):
                    factors[x] *= here[source + plan.maps[at + x]]
            for i in range(states):
                for x in range(length):
                    here[start + i * length + x] *= factors[x]
    return tables


# Inlined, because handing over the arrays of a plan costs more than the weights of a small frame.
@njit(**INNER_OPTIONS, inline="always")
def frame_weights(tables, plan, spare, weights):  # type: ignore[no-untyped-def]
    """Fill ``weights`` (nodes,) with the weights of a frame's nodes, single factors left out.

    Args:
        tables: (entries,) folded tables of the frame.
        plan: The plan.
        spare: (nodes,) work area.
        weights: The result.
    """
    tracks = plan.tracks
    base = spare if len(plan.many) else weights
    for b in range(len(plan.bases)):
        source, at = plan.bases[b]
        map_ = plan.maps[at : at + tracks]
        if b == 0:
            for x in range(tracks):
                base[x] = tables[source + map_[x]]
        else:
            for x in range(tracks):
                base[x] *= tables[source + map_[x]]
    if len(plan.bases) == 0:
        for x in range(tracks):
            base[x] = 1.0
    filled = 1
    for m in range(len(plan.many)):
        states, start, length, at = plan.words[plan.many[m, 0]]
        map_ = plan.maps[at : at + tracks]
        if m == 0:
            for i in range(states):
                table = tables[start + i * length : start + (i + 1) * length]
                out = weights[i * tracks : (i + 1) * tracks]
                if plan.detections > 1 and map_[0] == map_[1]:
                    # The last participant is not the word's: all its detections weigh the same.
                    scale_rows(out, base, table, map_, plan.detections)
                else:
                    for x in range(tracks):
                        out[x] = base[x] * table[map_[x]]
        else:
            _spread_word(tables, start, length, map_, states, filled, tracks, spare, weights)
        filled *= states


@njit(**INNER_OPTIONS)
def _spread_word(  # type: ignore[no-untyped-def]
    tables, start, length, map_, states, filled, tracks, spare, weights
):
    """Give every block of ``weights`` one block per state of a further word."""
    for i in range(states):
        table = tables[start + i * length : start + (i + 1) * length]
        out = spare[i * tracks : (i + 1) * tracks]
        for x in range(tracks):
            out[x] = table[map_[x]]
    # From the last to the first, so that nothing is overwritten before it has been read.
    for a in range(filled - 1, -1, -1):
        block = weights[a * tracks : (a + 1) * tracks]
        for i in range(states - 1, -1, -1):
            factor = spare[i * tracks : (i + 1) * tracks]
            out = weights[(a * states + i) * tracks : (a * states + i + 1) * tracks]
            for x in range(tracks):
                out[x] = block[x] * factor[x]


@njit(**KERNEL_OPTIONS)
def start_and_end(params, plan):  # type: ignore[no-untyped-def]
    """Return the joint initial and final weights of all words, each (joint states,)."""
    initial, final = np.empty(plan.states), np.empty(plan.states)
    for q in range(plan.states):
        initial[q] = final[q] = 1.0
    behind = plan.states
    first = last = 0
    for m in range(len(plan.many)):
        last += plan.many[m, 1]
    for m in range(len(plan.many)):
        states = plan.many[m, 1]
        behind //= states
        for q in range(plan.states):
            initial[q] *= params[first + q // behind % states]
            final[q] *= params[last + q // behind % states]
        first += states
        last += states
    return initial, final


@njit(**INNER_OPTIONS)
def first_nodes(initial, singles, plan, weights, target):  # type: ignore[no-untyped-def]
    """Fill ``target`` with the nodes of the first frame; ``singles`` are all frames' (P, T, J)."""
    for q in range(plan.states):
        for x in range(q * plan.tracks, (q + 1) * plan.tracks):
            target[x] = initial[q] * weights[x]
    inner = plan.tracks
    for p in range(plan.people):
        inner //= plan.detections
        place = 0
        while place < len(target):
            for j in range(plan.detections):
                single = singles[p, 0, j]
                for x in range(place, place + inner):
                    target[x] *= single
                place += inner


@njit(**INNER_OPTIONS)
def total_of(nodes):  # type: ignore[no-untyped-def]
    """Return the sum of an array.

    Never summed in the loop that writes it: whether the compiler uses vectors there depends on
    where the arrays lie in memory, and with it the order of the sum and its last bit.
    """
    mass = 0.0
    for x in range(len(nodes)):
        mass += nodes[x]
    return mass


_CHUNK = 128
# Numbers of which three areas stay in the nearest cache.
_NEAR = 1024


@njit(**INNER_OPTIONS)
def step_tracks(source, spare, target, matrices, people, count, states):  # type: ignore[no-untyped-def]
    """Apply every participant's step matrix.

    Args:
        source: (nodes,) what to step; overwritten.
        spare: (nodes,) work area; overwritten.
        target: (nodes,) the result.
        matrices: (P * J * J,) one matrix per participant.
        people: Number of participants.
        count: Number of detections.
        states: Number of joint word states.
    """
    square, last = count * count, people - 1
    if last == 0:
        rows_times_matrix(target, 0, source, 0, states, matrices, 0, count)
        return
    # As much at a time as stays in the nearest cache, or one block of joint detections. What is
    # spare then stays there as well, because only its beginning is used.
    size = len(target) if len(target) <= _NEAR else len(target) // states
    for start in range(0, len(target), size):
        # The last participant's detections lie side by side; any other's in rows of those behind.
        rows = size // count
        rows_times_matrix(spare, 0, source, start, rows, matrices, last * square, count)
        inner, is_spare = count, True
        for p in range(last - 1, -1, -1):
            old, old_at = (spare, 0) if is_spare else (source, start)
            new, new_at = (source, start) if is_spare else (spare, 0)
            if p == 0:
                new, new_at = target, start
            blocks = size // (count * inner)
            matrix_times_rows(new, new_at, old, old_at, blocks, inner, matrices, p * square, count)
            inner, is_spare = inner * count, not is_spare


@njit(**INNER_OPTIONS, inline="always")
def step_matrices(clip, frame, backward, matrices):  # type: ignore[no-untyped-def]
    """Fill ``matrices`` (P, J, J) with the steps into a frame times its single factors.

    Turned around if backward.
    """
    people, count, _ = matrices.shape
    for p in range(people):
        own = min(p, len(clip.coherence) - 1)
        step = clip.step + frame - 1
        for j in range(count):
            for k in range(count):
                weight = clip.coherence[own, step, j, k] * clip.singles[p, frame, k]
                if backward:
                    matrices[p, k, j] = weight
                else:
                    matrices[p, j, k] = weight


@njit(**INNER_OPTIONS)
def step_states(source, target, params, word, backward):  # type: ignore[no-untyped-def]
    """Apply one word's transition to its axis of the nodes; ``word`` is a row of the plan."""
    n, outer, inner, offset = word[1], word[2], word[3], word[4]
    down, right = (1, n) if backward else (n, 1)
    if n == 3:
        _step_three(source, target, params[offset:], down, right, outer, inner)
        return
    for a in range(outer):
        for first in range(0, inner, _CHUNK):
            width = min(_CHUNK, inner - first)
            for k in range(n):
                place = (a * n + k) * inner + first
                out = target[place : place + width]
                for x in range(width):
                    out[x] = 0.0
                for i in range(n):
                    place = (a * n + i) * inner + first
                    part = source[place : place + width]
                    weight = params[offset + i * down + k * right]
                    for x in range(width):
                        out[x] += weight * part[x]


@njit(**INNER_OPTIONS)
def _step_three(source, target, matrix, down, right, outer, inner):  # type: ignore[no-untyped-def]
    # Three states are the common case; each number is then read once and written once.
    a, b, c = matrix[0], matrix[right], matrix[2 * right]
    d, e, f = matrix[down], matrix[down + right], matrix[down + 2 * right]
    g, h, i = matrix[2 * down], matrix[2 * down + right], matrix[2 * down + 2 * right]
    for block in range(outer):
        old = source[block * 3 * inner : (block + 1) * 3 * inner]
        new = target[block * 3 * inner : (block + 1) * 3 * inner]
        for x in range(inner):
            u, v, w = old[x], old[inner + x], old[2 * inner + x]
            new[x] = u * a + v * d + w * g
            new[inner + x] = u * b + v * e + w * h
            new[2 * inner + x] = u * c + v * f + w * i


@njit(**INNER_OPTIONS)
def step_counts(before, ahead, params, word, target):  # type: ignore[no-untyped-def]
    """Add a word's expected steps: what was there before, times the step, times what is ahead."""
    n, outer, inner, offset = word[1], word[2], word[3], word[4]
    if n == 3:
        _count_three(before, ahead, params[offset:], outer, inner, target)
        return
    for i in range(n):
        for k in range(n):
            total = 0.0
            for a in range(outer):
                left = before[(a * n + i) * inner : (a * n + i + 1) * inner]
                right = ahead[(a * n + k) * inner : (a * n + k + 1) * inner]
                for x in range(inner):
                    total += left[x] * right[x]
            target[i * n + k] += total * params[offset + i * n + k]


@njit(**INNER_OPTIONS)
def _count_three(before, ahead, matrix, outer, inner, target):  # type: ignore[no-untyped-def]
    a = b = c = d = e = f = g = h = i = 0.0
    for block in range(outer):
        left = before[block * 3 * inner : (block + 1) * 3 * inner]
        right = ahead[block * 3 * inner : (block + 1) * 3 * inner]
        for x in range(inner):
            l0, l1, l2 = left[x], left[inner + x], left[2 * inner + x]
            r0, r1, r2 = right[x], right[inner + x], right[2 * inner + x]
            a += l0 * r0
            b += l0 * r1
            c += l0 * r2
            d += l1 * r0
            e += l1 * r1
            f += l1 * r2
            g += l2 * r0
            h += l2 * r1
            i += l2 * r2
    for place, total in enumerate((a, b, c, d, e, f, g, h, i)):
        target[place] += total * matrix[place]


@njit(**INNER_OPTIONS)
def sum_posteriors(arena, sums, one):  # type: ignore[no-untyped-def]
    """Carry out the planned sums (A, N, B) -> (A, B) inside the arena."""
    for s in range(len(sums)):
        source, target, outer, summed, inner = sums[s]
        if inner == 1:
            old = arena[source : source + outer * summed]
            new = arena[target : target + outer]
            for a in range(outer):
                value = 0.0
                for n in range(summed):
                    value += old[a * summed + n]
                new[a] = value
        else:
            for a in range(outer):
                sum_rows(
                    arena,
                    target + a * inner,
                    arena,
                    source + a * summed * inner,
                    summed,
                    inner,
                    one,
                )
