"""Parts of a clip, compiled: the recursions begin in the middle, from nodes that are given.

Imports numba. Made of the same inner loops as :mod:`wordsight.inference.lattice_kernel`, so that a
clip in parts gives what it gives whole.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from wordsight.inference import lattice_kernel, lattice_steps, lattice_viterbi, lattice_weights
from wordsight.inference.lattice_compiled import kernel_digest
from wordsight.inference.lattice_options import INNER

__all__ = ["count_back", "move_on", "move_on_best", "trace"]

backward_counts = lattice_kernel.backward_counts
begin = lattice_kernel.begin
best_step = lattice_viterbi._best_step
ended = lattice_kernel.ended
first_nodes = lattice_weights.first_nodes
forward = lattice_kernel.forward
frame_weights = lattice_weights.frame_weights
origin = lattice_viterbi._origin
read_clip = lattice_kernel.read_clip
space_for = lattice_kernel.space_for
start_and_end = lattice_weights.start_and_end
step_matrices = lattice_steps.step_matrices


@njit(**INNER)
def _weigh_first(clip, plan, spare, weights, nodes):  # type: ignore[no-untyped-def]
    initial, _ = start_and_end(clip.params, plan)
    frame_weights(clip.tables[0], plan, spare, weights)
    first_nodes(initial, clip.singles, plan, weights, nodes)


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
            begin(clip, start_and_end(clip.params, plan)[0], plan, space)
        else:
            space.nodes[:] = nodes
        possible = forward(clip, plan, space)
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


move_on: Callable[..., Any] = _move_on_made_from(kernel_digest())
count_back: Callable[..., Any] = _count_back_made_from(kernel_digest())
move_on_best: Callable[..., Any] = _move_on_best_made_from(kernel_digest())
trace: Callable[..., Any] = _trace_made_from(kernel_digest())
