"""What the nodes of a frame weigh, compiled: from small tables to the product of everything.

Factors of a single participant are not in the nodes' weights at all: they go into its step matrix,
where they cost nothing.
"""

import numpy as np
from numba import njit

from wordsight.inference.lattice.kernels.options import INNER_OPTIONS, KERNEL_OPTIONS
from wordsight.inference.lattice.kernels.products import scale_rows

__all__ = [
    "first_nodes",
    "fold_tables",
    "frame_weights",
    "single_weights",
    "start_and_end",
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
