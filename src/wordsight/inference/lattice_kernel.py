"""The compiled lattice: one program for every shape of sentence, driven by a plan.

Importing this module imports numba, which takes a second or two: import it where it is needed. The
machine code is kept on disk after the first call. All functions release the interpreter lock.

Nodes of a frame lie word states first, so for each joint word state there is one block of joint
detections. A step applies one small matrix per participant and per word.
"""

import numpy as np
from numba import njit

from wordsight.inference.lattice_steps import (
    FAST,
    SCRATCH,
    step_counts,
    step_matrices,
    step_states,
    step_tracks,
    sum_posteriors,
    views,
)

__all__ = [
    "counts_batch",
    "ended",
    "first_nodes",
    "fold_tables",
    "frame_weights",
    "scores_batch",
    "start_and_end",
]


@njit(cache=True, nogil=True, fastmath=FAST)
def fold_tables(emission, unary, row, frames, plan, tables):  # type: ignore[no-untyped-def]
    """Fill ``tables`` (T, entries): small tables multiplied into those that cover them."""
    targets, folds, index = plan[2], plan[3], plan[7]
    factors = np.empty(max(1, tables.shape[1]))
    for t in range(frames):
        here = tables[t]
        here[:] = emission[row + t]
        for g in range(len(targets)):
            start, states, length, first, last = targets[g]
            factors[:length] = 1.0
            for f in range(first, last):
                source, at = folds[f]
                if source < 0:
                    single = unary[min(-1 - source, len(unary) - 1), row + t]
                    for x in range(length):
                        factors[x] *= single[index[at + x]]
                else:
                    for x in range(length):
                        factors[x] *= here[source + index[at + x]]
            for i in range(states):
                for x in range(length):
                    here[start + i * length + x] *= factors[x]


@njit(cache=True, nogil=True, fastmath=FAST)
def frame_weights(tables, unary, row, plan, spare, weights):  # type: ignore[no-untyped-def]
    """Fill ``weights`` (nodes,) with the weight of every node of a frame.

    Args:
        tables: (entries,) folded tables of the frame.
        unary: (P or 1, rows, J).
        row: Which row of ``unary``.
        plan: The plan.
        spare: (nodes,) work area.
        weights: The result.
    """
    sizes, words, _, _, bases, many, _, index = plan
    tracks = sizes[3]
    base = weights[:tracks] if len(many) == 0 else spare[:tracks]
    base[:] = 1.0
    for b in range(len(bases)):
        source, at = bases[b]
        map_ = index[at : at + tracks]
        factor = unary[min(-1 - source, len(unary) - 1), row] if source < 0 else tables[source:]
        for x in range(tracks):
            base[x] *= factor[map_[x]]
    filled = 1
    for m in range(len(many)):
        states, start, length, at = words[many[m, 0]]
        map_ = index[at : at + tracks]
        if m == 0:
            for i in range(states):
                table = tables[start + i * length : start + (i + 1) * length]
                out = weights[i * tracks : (i + 1) * tracks]
                for x in range(tracks):
                    out[x] = base[x] * table[map_[x]]
        else:
            _spread_word(tables, start, length, map_, states, filled, tracks, spare, weights)
        filled *= states


@njit(cache=True, nogil=True, fastmath=FAST)
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


@njit(cache=True, nogil=True, fastmath=FAST)
def start_and_end(params, many, joint_states):  # type: ignore[no-untyped-def]
    """Return the joint initial and final weights of all words, each (joint_states,)."""
    initial, final = np.ones(joint_states), np.ones(joint_states)
    behind = joint_states
    first = 0
    last = many[:, 1].sum()
    for m in range(len(many)):
        states = many[m, 1]
        behind //= states
        for q in range(joint_states):
            initial[q] *= params[first + q // behind % states]
            final[q] *= params[last + q // behind % states]
        first += states
        last += states
    return initial, final


@njit(cache=True, nogil=True, fastmath=FAST)
def _partition(unary, coherence, row, step, frames, sizes):  # type: ignore[no-untyped-def]
    """Return the log sum over all choices of tracks alone."""
    people, count, flags = sizes[0], sizes[1], sizes[7]
    different = 1 if flags == 3 else people
    total = 0.0
    now = np.empty(count)
    new = np.empty(count)
    for p in range(different):
        single = unary[min(p, len(unary) - 1)]
        steps = coherence[min(p, len(coherence) - 1)]
        now[:] = single[row]
        for t in range(frames):
            if t:
                new[:] = 0.0
                for j in range(count):
                    for k in range(count):
                        new[k] += now[j] * steps[step + t - 1, j, k]
                for k in range(count):
                    now[k] = new[k] * single[row + t, k]
            mass = now.sum()
            if not mass > 0.0:
                return -np.inf
            total += np.log(mass)
            for k in range(count):
                now[k] /= mass
    return total * people if different == 1 else total


@njit(cache=True, nogil=True, fastmath=FAST)
def _total(nodes):  # type: ignore[no-untyped-def]
    # Never summed in the loop that writes them: whether the compiler uses vectors there depends
    # on where the arrays lie in memory, and with it the order of the sum and its last bit.
    mass = 0.0
    for x in range(len(nodes)):
        mass += nodes[x]
    return mass


@njit(cache=True, nogil=True, fastmath=FAST)
def _weighted(moved, weights, factor, target):  # type: ignore[no-untyped-def]
    """Fill ``target`` with moved nodes times the frame's weights and a factor; return the sum."""
    for x in range(len(target)):
        target[x] = moved[x] * weights[x] * factor
    return _total(target)


@njit(cache=True, nogil=True, fastmath=FAST)
def first_nodes(initial, weights, tracks, target):  # type: ignore[no-untyped-def]
    """Fill ``target`` with the nodes of the first frame; return their sum."""
    for q in range(len(initial)):
        for x in range(q * tracks, (q + 1) * tracks):
            target[x] = initial[q] * weights[x]
    return _total(target)


@njit(cache=True, nogil=True, fastmath=FAST)
def ended(nodes, final, tracks):  # type: ignore[no-untyped-def]
    """Return the sum of the last frame's nodes under the final weights."""
    mass = 0.0
    for q in range(len(final)):
        mass += final[q] * _total(nodes[q * tracks : (q + 1) * tracks])
    return mass


@njit(cache=True, nogil=True, fastmath=FAST)
def _forward(  # type: ignore[no-untyped-def]
    frames,
    row,
    step,
    tables,
    unary,
    coherence,
    params,
    initial,
    plan,
    arrivals,
    masses,
    nodes,
    weights,
    stages,
    work,
    matrices,
    scratch,
):
    """Run the forward recursion, leave the last frame in ``nodes``, tell whether it is possible.

    ``arrivals`` (T, nodes) receives the tracks' step into each frame, before the words' step and
    the frame's weights; its first row is the first frame's nodes. With a single row, nothing is
    kept. ``masses`` (T,) receives the sum of each frame's nodes, scaled by the sum before.
    """
    sizes, many = plan[0], plan[5]
    nodes_seen, work_seen = views(nodes, sizes), views(work, sizes)
    kept = arrivals.reshape((len(arrivals), *nodes_seen[1].shape))
    kept_rows = arrivals.reshape((len(arrivals), *nodes_seen[2].shape))
    for t in range(frames):
        frame_weights(tables[t], unary, row + t, plan, stages[0], weights)
        if t == 0:
            masses[0] = first_nodes(initial, weights, sizes[3], nodes)
            arrivals[0] = nodes
        else:
            place = t % len(arrivals)
            step_matrices(coherence, step + t - 1, False, matrices)
            step_tracks(
                nodes_seen, work_seen, kept[place], kept_rows[place], matrices, sizes, scratch
            )
            moved = arrivals[place]
            for m in range(len(many)):
                step_states(moved, stages[m], params, many[m], False)
                moved = stages[m]
            masses[t] = _weighted(moved, weights, 1.0 / masses[t - 1], nodes)
        if not masses[t] > 0.0:
            return False
    return True


@njit(cache=True, nogil=True, fastmath=FAST)
def scores_batch(  # type: ignore[no-untyped-def]
    frames, rows, steps, emission, unary, coherence, params, plan, scores
):
    """Fill ``scores`` (N, 2) with the log sums over all choices and over tracks alone."""
    sizes, many = plan[0], plan[5]
    tracks, joint_states = sizes[3], sizes[4]
    total = tracks * joint_states
    arrivals, masses = np.empty((1, total)), np.empty(frames.max())
    nodes, weights, work = np.empty(total), np.empty(total), np.empty(total)
    stages = np.empty((len(many) + 1, total))
    tables, scratch = np.empty((frames.max(), sizes[5])), np.empty(SCRATCH)
    matrices = np.empty((len(coherence), sizes[1], sizes[1]))
    for clip in range(len(frames)):
        row, step, length = rows[clip], steps[clip], frames[clip]
        scores[clip, 1] = _partition(unary, coherence, row, step, length, sizes)
        initial, final = start_and_end(params[clip], many, joint_states)
        fold_tables(emission, unary, row, length, plan, tables)
        possible = _forward(
            length,
            row,
            step,
            tables,
            unary,
            coherence,
            params[clip],
            initial,
            plan,
            arrivals,
            masses,
            nodes,
            weights,
            stages,
            work,
            matrices,
            scratch,
        )
        mass = ended(nodes, final, tracks) if possible else 0.0
        scores[clip, 0] = -np.inf
        if mass > 0.0:
            scores[clip, 0] = np.log(masses[: length - 1]).sum() + np.log(mass)


@njit(cache=True, nogil=True, fastmath=FAST)
def _posterior(arrived, beta, weights, factor, ahead, joint):  # type: ignore[no-untyped-def]
    """Fill ``ahead`` with the weighted future and ``joint`` with the posterior of the nodes."""
    for x in range(len(joint)):
        value = beta[x] * weights[x] * factor
        ahead[x] = value
        joint[x] = arrived[x] * value


@njit(cache=True, nogil=True, fastmath=FAST)
def _backward(  # type: ignore[no-untyped-def]
    frames,
    row,
    step,
    tables,
    unary,
    coherence,
    params,
    plan,
    arrivals,
    masses,
    beta,
    weights,
    stages,
    work,
    matrices,
    scratch,
    arena,
    counts,
    transitions,
):
    """Walk back from ``beta`` of the last frame; fill ``counts`` rows, add to ``transitions``."""
    sizes, many, sums = plan[0], plan[5], plan[6]
    total, entries = sizes[3] * sizes[4], sizes[5]
    joint = arena[entries : entries + total]
    offset = many[0, 4] if len(many) else 0
    beta_seen = views(beta, sizes)
    # Each word's step changes sides, so where the last one ends is known beforehand.
    ahead_seen, other_seen = views(work, sizes), views(weights, sizes)
    if len(many) % 2 == 1:
        ahead_seen, other_seen = other_seen, ahead_seen
    for t in range(frames - 1, 0, -1):
        frame_weights(tables[t], unary, row + t, plan, stages[0], weights)
        # The forward pass kept what arrived before the words' step: each word's transition counts
        # need the stage just before its own step, and the future just behind it.
        moved = arrivals[t]
        for m in range(len(many)):
            step_states(moved, stages[m], params, many[m], False)
            moved = stages[m]
        ahead, other = work, weights
        _posterior(moved, beta, weights, 1.0 / masses[t - 1], ahead, joint)
        sum_posteriors(arena, sums)
        counts[row + t] = arena[:entries]
        for m in range(len(many) - 1, -1, -1):
            before = stages[m - 1] if m else arrivals[t]
            step_counts(before, ahead, params, many[m], transitions[many[m, 4] - offset :])
            step_states(ahead, other, params, many[m], True)
            ahead, other = other, ahead
        step_matrices(coherence, step + t - 1, True, matrices)
        step_tracks(ahead_seen, other_seen, beta_seen[1], beta_seen[2], matrices, sizes, scratch)
    for x in range(total):
        joint[x] = arrivals[0, x] * beta[x]
    sum_posteriors(arena, sums)
    counts[row] = arena[:entries]


@njit(cache=True, nogil=True, fastmath=FAST)
def counts_batch(  # type: ignore[no-untyped-def]
    frames, rows, steps, emission, unary, coherence, params, plan, scores, counts, transitions
):
    """Fill scores (N, 2), posterior tables (rows, entries) and transition counts (N, ...)."""
    sizes, many = plan[0], plan[5]
    tracks, joint_states = sizes[3], sizes[4]
    total = tracks * joint_states
    longest = frames.max()
    arrivals, masses = np.empty((longest, total)), np.empty(longest)
    nodes, weights, work = np.empty(total), np.empty(total), np.empty(total)
    stages = np.empty((len(many) + 1, total))
    tables, scratch = np.empty((longest, sizes[5])), np.empty(SCRATCH)
    arena = np.empty(sizes[6])
    matrices = np.empty((len(coherence), sizes[1], sizes[1]))
    for clip in range(len(frames)):
        row, step, length = rows[clip], steps[clip], frames[clip]
        scores[clip, 1] = _partition(unary, coherence, row, step, length, sizes)
        initial, final = start_and_end(params[clip], many, joint_states)
        fold_tables(emission, unary, row, length, plan, tables)
        possible = _forward(
            length,
            row,
            step,
            tables,
            unary,
            coherence,
            params[clip],
            initial,
            plan,
            arrivals,
            masses,
            nodes,
            weights,
            stages,
            work,
            matrices,
            scratch,
        )
        mass = ended(nodes, final, tracks) if possible else 0.0
        transitions[clip] = 0.0
        if not mass > 0.0:
            scores[clip, 0] = -np.inf
            counts[row : row + length] = 0.0
            continue
        scores[clip, 0] = np.log(masses[: length - 1]).sum() + np.log(mass)
        beta = nodes
        for q in range(joint_states):
            beta[q * tracks : (q + 1) * tracks] = final[q] / mass
        _backward(
            length,
            row,
            step,
            tables,
            unary,
            coherence,
            params[clip],
            plan,
            arrivals,
            masses,
            beta,
            weights,
            stages,
            work,
            matrices,
            scratch,
            arena,
            counts,
            transitions[clip],
        )
