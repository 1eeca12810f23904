"""Latent structured perceptron, one of the discriminative models of Naim et al. (NAACL 2015)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.models.crf import CrfModel, CrfScene, CrfWeights
from wordsight.inference.chains.jumps import jump_path

__all__ = ["LatentPerceptron", "best_difference"]

Array = NDArray[np.float64]


def best_difference(
    scene: CrfScene, weights: CrfWeights, margin: float = 0.0
) -> tuple[float, CrfWeights]:
    """Return how much better the best imagined observations score, and the features of both.

    Args:
        scene: A text and a video.
        weights: The weights.
        margin: What each wrong token adds to the score of an imagined observation (Hamming loss).

    Returns:
        The difference of the scores, imagined less seen, at least 0 up to rounding; and the
        features of what was seen less those of what was imagined.
    """
    scores, timing, chain = scene.scores(weights), scene.timing(weights), scene.chain(weights)
    seen, path = jump_path(scene.tokens @ scores.T + timing, chain)
    # A token that was seen costs its margin when left out, one that was not when put in.
    worth = scores[None] + margin * (1.0 - 2.0 * scene.tokens[:, None, :])
    lost = margin * scene.tokens.sum(axis=1)
    dreamt, dream = jump_path(np.maximum(worth, 0.0).sum(axis=2) + lost[:, None] + timing, chain)
    every = np.arange(len(path))
    imagined = (worth[every, dream] > 0).astype(np.float64)
    here, there = _indicator(path, len(scores)), _indicator(dream, len(scores))
    jumps = _jumps(path, scene.offsets) - _jumps(dream, scene.offsets)
    gradient = scene.gradient(here.T @ scene.tokens - there.T @ imagined, jumps, here - there)
    return dreamt - seen, gradient


@dataclass
class LatentPerceptron(CrfModel):
    """The latent structured perceptron with averaged weights.

    Args:
        rounds: Times through all videos.
        rate: Size of an update, as a share of one chunk.
        random_state: Decides the order of videos.
    """

    rounds: int = 20
    rate: float = 0.1
    random_state: int = 0

    def _train(self, scenes: Sequence[CrfScene], start: CrfWeights, mask: Array) -> CrfWeights:
        chance = np.random.default_rng(self.random_state)
        free = np.ones(len(start.vector))
        free[: mask.size] = mask.ravel()
        vector, total = start.vector, np.zeros(len(free))
        for _ in range(self.rounds):
            for number in chance.permutation(len(scenes)):
                scene = scenes[number]
                _, gradient = best_difference(scene, start.like(vector))
                vector = vector + self.rate / len(scene.tokens) * gradient.vector * free
                clock = len(vector) - len(start.linear)
                vector[clock] = max(vector[clock], 0.0)
                total += vector
        return start.like(total / max(self.rounds * len(scenes), 1))


def _indicator(path: NDArray[np.int64], lines: int) -> Array:
    matrix = np.zeros((len(path), lines))
    matrix[np.arange(len(path)), path] = 1.0
    return matrix


def _jumps(path: NDArray[np.int64], offsets: NDArray[np.int64]) -> Array:
    return np.asarray((np.diff(path)[:, None] == offsets).sum(axis=0), dtype=np.float64)
