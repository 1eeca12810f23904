"""Parts of a clip, compiled: the recursions begin in the middle, from nodes that are given.

Imports numba. Made of the same inner loops as :mod:`wordsight.inference.lattice_kernel`, so that a
clip in parts gives what it gives whole.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from wordsight.inference import (
    lattice_borrowing,
    lattice_kernel,
    lattice_steps,
    lattice_viterbi,
    lattice_weights,
)

__all__ = ["count_back", "move_on", "move_on_best", "trace"]

backward_counts = lattice_kernel.backward_counts
best_step = lattice_viterbi._best_step
ended = lattice_kernel.ended
first_nodes = lattice_weights.first_nodes
frame_weights = lattice_weights.frame_weights
origin = lattice_viterbi._origin
read_clip = lattice_kernel.read_clip
space_for = lattice_kernel.space_for
start_and_end = lattice_weights.start_and_end
step_matrices = lattice_steps.step_matrices
step_states = lattice_steps.step_states
step_tracks = lattice_steps.step_tracks
total_of = lattice_weights.total_of
views = lattice_steps.views


@njit(**lattice_weights.INNER)
def _on(clip, plan, space):  # type: ignore[no-untyped-def]
    """Run the forward recursion from the nodes and the mass of the first frame."""
    nodes, masses = space.nodes, space.masses
    seen, spare = views(nodes, plan), views(space.work, plan)
    kept = space.arrivals.reshape((len(space.arrivals), *seen[1].shape))
    kept_rows = space.arrivals.reshape((len(space.arrivals), *seen[3].shape))
    for x in range(len(nodes)):
        space.arrivals[0, x] = nodes[x]
    for t in range(1, len(clip.tables)):
        frame_weights(clip.tables[t], plan, space.stages[0], space.weights)
        at = t % len(space.arrivals)
        step_matrices(clip, t, False, space.matrices)
        step_tracks(seen, spare, kept[at], kept_rows[at], space.matrices, plan, space.scratch)
        moved = space.arrivals[at]
        for m in range(len(plan.many)):
            step_states(moved, space.stages[m], clip.params, plan.many[m], False)
            moved = space.stages[m]
        factor = 1.0 / masses[t - 1]
        for x in range(len(nodes)):
            nodes[x] = moved[x] * space.weights[x] * factor
        masses[t] = total_of(nodes)
        if not masses[t] > 0.0:
            return False
    return True


@njit(**lattice_weights.INNER)
def _weigh_first(clip, plan, spare, weights, nodes):  # type: ignore[no-untyped-def]
    initial, _ = start_and_end(clip.params, plan)
    frame_weights(clip.tables[0], plan, spare, weights)
    first_nodes(initial, clip.singles, plan, weights, nodes)


def _digest() -> str:
    digest = hashlib.sha256()
    for module in (
        lattice_borrowing,
        lattice_kernel,
        lattice_steps,
        lattice_viterbi,
        lattice_weights,
    ):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()


def _move_on_made_from(digest: str) -> Callable[..., float]:
    # Whatever a function closes over is part of the key under which numba keeps its code.
    @njit(cache=True, nogil=True, error_model="numpy")
    def move_on(  # type: ignore[no-untyped-def]
        frames,
        rows,
        steps,
        emission,
        unary,
        coherence,
        params,
        plan,
        arrivals,
        masses,
        nodes,
        is_first,
    ):
        """Take ``nodes`` of a part's first frame to its last; return the last sum, 0 if none."""
        made_from = digest  # noqa: F841
        clip = read_clip(0, frames, rows, steps, emission, unary, coherence, params, plan)
        space = space_for(arrivals, frames[0], plan)
        if is_first:
            _weigh_first(clip, plan, space.stages[0], space.weights, space.nodes)
        else:
            space.nodes[:] = nodes
        space.masses[0] = total_of(space.nodes)
        possible = space.masses[0] > 0.0 and _on(clip, plan, space)
        masses[:] = space.masses
        nodes[:] = space.nodes
        _, final = start_and_end(params[0], plan)
        return ended(space.nodes, final, plan) if possible else -1.0

    return move_on


def _count_back_made_from(digest: str) -> Callable[..., None]:
    @njit(cache=True, nogil=True, error_model="numpy")
    def count_back(  # type: ignore[no-untyped-def]
        frames,
        rows,
        steps,
        emission,
        unary,
        coherence,
        params,
        plan,
        arrivals,
        masses,
        future,
        tables,
        transitions,
    ):
        """Take the future of a part's last frame to its first, and count what is expected."""
        made_from = digest  # noqa: F841
        clip = read_clip(0, frames, rows, steps, emission, unary, coherence, params, plan)
        space = space_for(arrivals, frames[0], plan)
        space.masses[:] = masses
        space.nodes[:] = future
        backward_counts(clip, plan, space, np.empty(plan.arena), tables, transitions)
        future[:] = space.nodes

    return count_back


def _move_on_best_made_from(digest: str) -> Callable[..., float]:
    @njit(cache=True, nogil=True, error_model="numpy")
    def move_on_best(  # type: ignore[no-untyped-def]
        frames, rows, steps, emission, unary, coherence, params, plan, best, is_first, is_last
    ):
        """Fill ``best`` (T, nodes) from its first row on; return the log of what was divided out.

        Each frame is scaled to a largest of 1; with one row instead of T only the last is kept.
        """
        made_from = digest  # noqa: F841
        clip = read_clip(0, frames, rows, steps, emission, unary, coherence, params, plan)
        _, final = start_and_end(params[0], plan)
        total = plan.tracks * plan.states
        work, weights = np.empty((2, total)), np.empty(total)
        matrices = np.empty((plan.people, plan.detections, plan.detections))
        log_score = 0.0
        for t in range(frames[0]):
            here = best[t % len(best)]
            if t == 0 and is_first:
                _weigh_first(clip, plan, work[0], weights, here)
            elif t > 0:
                frame_weights(clip.tables[t], plan, work[0], weights)
                step_matrices(clip, t, False, matrices)
                moved = best_step(best[(t - 1) % len(best)], work, matrices, params[0], plan)
                for x in range(total):
                    here[x] = moved[x] * weights[x]
            if t == frames[0] - 1 and is_last:
                for x in range(total):
                    here[x] *= final[x // plan.tracks]
            if t > 0 or is_first or (is_last and frames[0] == 1):
                largest = here.max()
                if not largest > 0.0:
                    return -np.inf
                log_score += np.log(largest)
                for x in range(total):
                    here[x] /= largest
        return log_score

    return move_on_best


def _trace_made_from(digest: str) -> Callable[..., None]:
    @njit(cache=True, nogil=True, error_model="numpy")
    def trace(  # type: ignore[no-untyped-def]
        frames, rows, steps, emission, unary, coherence, params, plan, best, path
    ):
        """Fill ``path`` (T,) from its last node, which is given, to its first."""
        made_from = digest  # noqa: F841
        clip = read_clip(0, frames, rows, steps, emission, unary, coherence, params, plan)
        into = np.empty(plan.tracks * plan.states)
        matrices = np.empty((plan.people, plan.detections, plan.detections))
        for t in range(len(path) - 1, 0, -1):
            step_matrices(clip, t, False, matrices)
            path[t - 1] = origin(path[t], best[t - 1], into, matrices, params[0], plan)

    return trace


move_on: Callable[..., Any] = _move_on_made_from(_digest())
count_back: Callable[..., Any] = _count_back_made_from(_digest())
move_on_best: Callable[..., Any] = _move_on_best_made_from(_digest())
trace: Callable[..., Any] = _trace_made_from(_digest())
