"""The entry points of the compiled lattice, whose machine code is kept on disk between runs.

numba trusts code on disk as long as the one file it was written in is unchanged. The kernel spans
several, so a digest of them all is part of every entry point: a change of one compiles all again.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from wordsight.inference import numba_support
from wordsight.inference.lattice.kernels import products, recursions, steps
from wordsight.inference.numba_support import KERNEL_OPTIONS

__all__ = ["count_back", "counts", "kernel_digest", "move_on", "move_on_best", "paths", "trace"]


backward_counts = recursions.backward_counts
begin = recursions.begin
best_scores = recursions.best_scores
ended = recursions.ended
forward = recursions.forward
partition = recursions.partition
read_clip = recursions.read_clip
space_for = recursions.space_for
start_and_end = steps.start_and_end
trace_back = recursions.trace_back


KERNEL_MODULES = (numba_support, products, recursions, steps)


def kernel_digest() -> str:
    """Return a digest of the source files of the kernel."""
    digest = hashlib.sha256()
    for module in KERNEL_MODULES:
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()


def _counts_made_from(digest: str) -> Callable[..., None]:
    # Whatever a function closes over is part of the key under which numba keeps its code.
    @njit(cache=True, nogil=True, error_model="numpy")
    def counts(  # type: ignore[no-untyped-def]
        frames,
        rows,
        steps,
        emission,
        unary,
        coherence,
        params,
        plan,
        arrivals,
        scores,
        tables,
        transitions,
    ):
        """Score the clips of a batch and, where there are tables, count what is expected."""
        made_from = digest  # noqa: F841
        space, arena = space_for(arrivals, frames.max(), plan), np.empty(plan.arena)
        for n in range(len(frames)):
            scores[n, 1] = partition(unary, coherence, rows[n], steps[n], frames[n], plan)
            initial, final = start_and_end(params[n], plan)
            clip = read_clip(n, frames, rows, steps, emission, unary, coherence, params, plan)
            mass = 0.0
            begin(clip, initial, plan, space)
            if forward(clip, plan, space):
                mass = ended(space.nodes, final, plan)
            scores[n, 0] = -np.inf
            if mass > 0.0:
                scores[n, 0] = np.log(mass)
                for t in range(frames[n] - 1):
                    scores[n, 0] += np.log(space.masses[t])
            if len(tables) and mass > 0.0:
                for x in range(len(space.nodes)):
                    space.nodes[x] = final[x // plan.tracks] / mass
                own = tables[rows[n] : rows[n] + frames[n]]
                backward_counts(clip, plan, space, arena, own, transitions[n])

    return counts


def _paths_made_from(digest: str) -> Callable[..., None]:
    @njit(cache=True, nogil=True, error_model="numpy")
    def paths(  # type: ignore[no-untyped-def]
        frames, rows, steps, emission, unary, coherence, params, plan, best, scores, nodes
    ):
        """Find the best path of every clip of a batch and its score."""
        made_from = digest  # noqa: F841
        total = plan.tracks * plan.states
        work, weights, into = np.empty((2, total)), np.empty(total), np.empty(total)
        matrices = np.empty((plan.people, plan.detections, plan.detections))
        for n in range(len(frames)):
            clip = read_clip(n, frames, rows, steps, emission, unary, coherence, params, plan)
            scores[n] = best_scores(clip, plan, best, weights, work, matrices)
            if scores[n] > -np.inf:
                path = nodes[rows[n] : rows[n] + frames[n]]
                trace_back(clip, best, into, matrices, plan, path)

    return paths


counts: Callable[..., Any] = _counts_made_from(kernel_digest())
"""Scores of all clips of a pack, and with ``tables`` also the expected counts.

Arguments are the arrays of a pack; ``arrivals`` (T or 1, nodes), work area; and the results:
``scores`` (N, 2) log sums over all choices and over tracks alone; ``tables`` (rows, entries) of
posteriors, or (0, entries) where only scores are wanted; ``transitions`` (N, ...), added to.
Impossible clips are left out of both.
"""

paths: Callable[..., Any] = _paths_made_from(kernel_digest())
"""The heaviest path of every clip of a pack.

Arguments are the arrays of a pack; ``best`` (T, nodes), work area; and the results: ``scores``
(N,) and ``nodes`` (rows,), which impossible clips leave as they are.
"""


# Parts of a clip: the recursions start in the middle from given nodes. They are made of the same
# inner loops, so that a clip in parts gives the same numbers as the whole clip.

best_step = recursions._best_step
first_nodes = steps.first_nodes
frame_weights = steps.frame_weights
origin = recursions._origin
step_matrices = steps.step_matrices


@njit(**KERNEL_OPTIONS)
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
