"""The inner loops of the compiled lattice: stepping tracks, stepping word states, summing up.

Imports numba; see :mod:`wordsight.inference.lattice_kernel`.
"""

import numpy as np
from numba import njit

from wordsight.inference.lattice_weights import INNER

__all__ = [
    "SCRATCH",
    "step_counts",
    "step_matrices",
    "step_states",
    "step_tracks",
    "sum_posteriors",
    "views",
]

# BLAS libraries start threads of their own above about 262,144 multiplications. Staying below
# keeps results the same for any number of threads, and our threads from waiting for theirs.
_MOST_PRODUCTS = 200_000
SCRATCH = 65_536
_CHUNK = 128
# Up to this many nodes, few large products beat many small ones.
_SMALL = 2048


@njit(**INNER)
def _turn(source, target, matrix, scratch):  # type: ignore[no-untyped-def]
    """(n, rest) -> (rest, n): sum the first axis against the rows of ``matrix`` (n, n).

    The axis comes out last, so going round all axes restores their order, and every product is
    one call to BLAS on contiguous memory.
    """
    n, rest = source.shape
    block = max(1, min(_MOST_PRODUCTS // (n * n), SCRATCH // n))
    if rest <= block:
        np.dot(source.T, matrix, target)
        return
    for first in range(0, rest, block):
        last = min(rest, first + block)
        part = scratch[: n * (last - first)].reshape(n, last - first)
        for j in range(n):
            for x in range(first, last):
                part[j, x - first] = source[j, x]
        np.dot(part.T, matrix, target[first:last])


@njit(**INNER)
def views(nodes, plan):  # type: ignore[no-untyped-def]
    """Return the (nodes,) array as products see it: in blocks and whole, by first and last axis.

    Reshaping costs as much as a small product, so it is done once and not in every frame.
    """
    rest = plan.tracks // plan.detections
    return (
        nodes.reshape(plan.states, plan.detections, rest),
        nodes.reshape(plan.states, rest, plan.detections),
        nodes.reshape(plan.detections, plan.states * rest),
        nodes.reshape(plan.states * rest, plan.detections),
        nodes,
    )


# Inlined, because handing over so many arrays costs more than a small product.
@njit(**INNER, inline="always")
def step_tracks(source, spare, target, target_rows, matrices, plan, scratch):  # type: ignore[no-untyped-def]
    """Apply every participant's step matrix.

    Args:
        source: Views of what to step; overwritten.
        spare: Views of a work area; overwritten.
        target: (states, rest, J) the result.
        target_rows: (states * rest, J) the same memory.
        matrices: (P, J, J) one matrix per participant.
        plan: The plan.
        scratch: Work area of ``SCRATCH`` numbers.
    """
    last = plan.people - 1
    if last == 0 and target_rows.size * plan.detections <= _MOST_PRODUCTS:
        np.dot(source[3], matrices[0], target_rows)
        return
    if target_rows.size <= _SMALL and target_rows.size * plan.detections <= _MOST_PRODUCTS:
        _states_last(source[4], spare[4], plan)
        for p in range(last):
            if p % 2 == 0:
                np.dot(spare[2].T, matrices[p], source[3])
            else:
                np.dot(source[2].T, matrices[p], spare[3])
        if last % 2 == 0:
            np.dot(spare[2].T, matrices[last], target_rows)
        else:
            np.dot(source[2].T, matrices[last], target_rows)
        return
    # One block of joint detections at a time, small enough to stay in the nearest cache.
    for q in range(plan.states):
        for p in range(last):
            if p % 2 == 0:
                _turn(source[0][q], spare[1][q], matrices[p], scratch)
            else:
                _turn(spare[0][q], source[1][q], matrices[p], scratch)
        if last % 2 == 0:
            _turn(source[0][q], target[q], matrices[last], scratch)
        else:
            _turn(spare[0][q], target[q], matrices[last], scratch)


@njit(**INNER)
def _states_last(source, target, plan):  # type: ignore[no-untyped-def]
    """(states, tracks) -> (tracks, states), so that going round the tracks brings states first."""
    tracks, states = plan.tracks, plan.states
    if states == 3:
        for x in range(tracks):
            a, b, c = source[x], source[tracks + x], source[2 * tracks + x]
            target[3 * x] = a
            target[3 * x + 1] = b
            target[3 * x + 2] = c
        return
    for q in range(states):
        for x in range(tracks):
            target[x * states + q] = source[q * tracks + x]


@njit(**INNER, inline="always")
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


@njit(**INNER)
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


@njit(**INNER)
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


@njit(**INNER)
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


@njit(**INNER)
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


@njit(**INNER)
def sum_posteriors(arena, sums):  # type: ignore[no-untyped-def]
    """Carry out the planned sums (A, N, B) -> (A, B) inside the arena."""
    for s in range(len(sums)):
        source, target, outer, summed, inner = sums[s]
        old = arena[source : source + outer * summed * inner]
        new = arena[target : target + outer * inner]
        if inner == 1:
            for a in range(outer):
                value = 0.0
                for n in range(summed):
                    value += old[a * summed + n]
                new[a] = value
        elif inner < 32:
            # Short rows: one number at a time beats starting a vector loop for each.
            for a in range(outer):
                for b in range(inner):
                    value = 0.0
                    for n in range(summed):
                        value += old[(a * summed + n) * inner + b]
                    new[a * inner + b] = value
        else:
            _sum_rows(old, new, outer, summed, inner)


@njit(**INNER)
def _sum_rows(old, new, outer, summed, inner):  # type: ignore[no-untyped-def]
    for a in range(outer):
        out = new[a * inner : (a + 1) * inner]
        for b in range(inner):
            out[b] = 0.0
        for n in range(summed):
            part = old[(a * summed + n) * inner : (a * summed + n + 1) * inner]
            for b in range(inner):
                out[b] += part[b]
