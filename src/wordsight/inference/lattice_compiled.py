"""The entry points of the compiled lattice, whose machine code is kept on disk between runs.

numba trusts code on disk as long as the one file it was written in is unchanged. The kernel spans
several, so a digest of them all is part of every entry point: change one, and all compile anew.
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
    lattice_options,
    lattice_products,
    lattice_steps,
    lattice_viterbi,
    lattice_weights,
)

__all__ = ["counts", "kernel_digest", "paths"]

backward_counts = lattice_kernel.backward_counts
begin = lattice_kernel.begin
best_scores = lattice_viterbi.best_scores
ended = lattice_kernel.ended
forward = lattice_kernel.forward
keep = lattice_borrowing.keep
partition = lattice_kernel.partition
read_clip = lattice_kernel.read_clip
space_for = lattice_kernel.space_for
start_and_end = lattice_weights.start_and_end
trace_back = lattice_viterbi.trace_back
uncounted = lattice_borrowing.uncounted


def kernel_digest() -> str:
    """Return what changes whenever a file of the kernel does."""
    digest = hashlib.sha256()
    for module in (
        lattice_borrowing,
        lattice_kernel,
        lattice_options,
        lattice_products,
        lattice_steps,
        lattice_viterbi,
        lattice_weights,
    ):
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
        owned = space_for(arrivals, frames.max(), plan), np.empty(plan.arena), plan
        space, arena, plan = uncounted(owned)
        for n in range(len(frames)):
            scores[n, 1] = partition(unary, coherence, rows[n], steps[n], frames[n], plan)
            initial, final = start_and_end(params[n], plan)
            read = read_clip(n, frames, rows, steps, emission, unary, coherence, params, plan)
            clip = uncounted(read)
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
                own = uncounted(tables[rows[n] : rows[n] + frames[n]])
                backward_counts(clip, plan, space, arena, own, uncounted(transitions[n]))
            keep(read)
        keep(owned, tables, transitions)

    return counts


def _paths_made_from(digest: str) -> Callable[..., None]:
    @njit(cache=True, nogil=True, error_model="numpy")
    def paths(  # type: ignore[no-untyped-def]
        frames, rows, steps, emission, unary, coherence, params, plan, best, scores, nodes
    ):
        """Find the best path of every clip of a batch and its score."""
        made_from = digest  # noqa: F841
        total = plan.tracks * plan.states
        owned = (
            np.empty((2, total)),
            np.empty(total),
            np.empty(total),
            np.empty((plan.people, plan.detections, plan.detections)),
            best,
            plan,
        )
        work, weights, into, matrices, best, plan = uncounted(owned)
        for n in range(len(frames)):
            read = read_clip(n, frames, rows, steps, emission, unary, coherence, params, plan)
            clip = uncounted(read)
            scores[n] = best_scores(clip, plan, best, weights, work, matrices)
            if scores[n] > -np.inf:
                path = nodes[rows[n] : rows[n] + frames[n]]
                trace_back(clip, best, into, matrices, plan, path)
            keep(read)
        keep(owned)

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
