"""Where discriminative training begins: what a generative chain with a clock makes of the videos.

From zero weights the conditional models end in poor optima; from a few iterations of HMM1 that
knows when lines are due they do not.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.errors import AlignmentError
from wordsight.alignment.models.crf_scene import CrfScene, CrfWeights
from wordsight.inference.chains.jumps import JumpChain, jump_counts

__all__ = ["generative_start"]

Array = NDArray[np.float64]

_LARGEST = 6.0  # nats; log ratios beyond it say no more than "never" or "always"


def generative_start(
    scenes: Sequence[CrfScene],
    mask: Array,
    *,
    iterations: int,
    null: float,
    smoothing: float,
    clock: float,
    scale: float,
) -> CrfWeights:
    """Return weights that score pairs by how much more often they meet than chance.

    Args:
        scenes: The texts and videos.
        mask: ``(X, V)`` 1 for pairs that have a weight.
        iterations: Of EM.
        null: Probability that a token is named by no word.
        smoothing: Pseudo-counts of each word.
        clock: Weight of being on time, both here and as a start.
        scale: Share of the log ratio that becomes the weight; below one because the scores of a
            line's words add up.
    """
    tokens = np.sum([scene.tokens.sum(axis=0) for scene in scenes], axis=0)
    chunks = sum(len(scene.tokens) for scene in scenes)
    background = np.maximum(tokens / max(tokens.sum(), 1.0), 1e-9)
    prior = mask / np.maximum(mask.sum(axis=1, keepdims=True), 1.0)
    table, jumps = prior.copy(), np.full(len(scenes[0].offsets), 1.0 / len(scenes[0].offsets))
    for _ in range(iterations):
        counts, moved = smoothing * prior, np.zeros(len(jumps))
        for scene in scenes:
            found = _expected(scene, table, mask, background, null, clock, np.log(jumps))
            counts = counts + found[0]
            moved += found[1]
        table = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
        jumps = np.maximum(moved, 1e-3) / np.maximum(moved, 1e-3).sum()
    ratios = np.log(np.maximum(table, 1e-9) / background)
    often = np.clip(tokens / chunks, 1e-3, 1 - 1e-3)
    return CrfWeights(
        scale * np.clip(ratios, -_LARGEST, _LARGEST) * mask,
        np.log(often / (1 - often)),
        np.log(jumps),
        np.concatenate([[clock], np.zeros(len(scenes[0].linear) - 1)]),
    )


def _expected(
    scene: CrfScene,
    table: Array,
    mask: Array,
    background: Array,
    null: float,
    clock: float,
    jumps: Array,
) -> tuple[Array, Array]:
    """Return expected counts of words naming tokens, and of jumps."""
    able = scene.words @ mask  # how many words of a line may name a token
    named = np.where(able > 0, scene.words @ table / np.maximum(able, 1.0), background)
    rates = (1 - null) * named + null * background
    logs = scene.tokens @ np.log(np.maximum(rates, 1e-40)).T + clock * scene.linear[0]
    counts = jump_counts(logs, JumpChain(scene.offsets, jumps, scene.initial, scene.final))
    if counts.log_likelihood == -np.inf:
        raise AlignmentError(
            f"there is no way through {len(scene.words)} lines in {len(scene.tokens)} chunks; cut "
            "the video into shorter chunks or allow longer jumps."
        )
    shown = counts.states.T @ scene.tokens / rates / np.maximum(able, 1.0)
    return (1 - null) * table * (scene.words.T @ shown) * mask, counts.jumps
