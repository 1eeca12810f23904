"""The inner loops of the compiled lattice: stepping tracks, stepping word states, summing up.

Imports numba; see :mod:`wordsight.inference.lattice.kernels.recursions`.
"""

from numba import njit

from wordsight.inference.lattice.kernels.options import INNER_OPTIONS
from wordsight.inference.lattice.kernels.products import (
    matrix_times_rows,
    rows_times_matrix,
    sum_rows,
)

__all__ = [
    "step_counts",
    "step_matrices",
    "step_states",
    "step_tracks",
    "sum_posteriors",
]

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
