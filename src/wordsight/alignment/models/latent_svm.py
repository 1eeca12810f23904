"""Latent structural SVM by subgradient steps, after Naim et al. (NAACL 2015)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.models.crf import CrfModel, CrfScene, CrfWeights
from wordsight.alignment.models.latent_perceptron import best_difference

__all__ = ["LatentSVM"]

Array = NDArray[np.float64]


@dataclass
class LatentSVM(CrfModel):
    """The latent structural SVM with Hamming loss.

    Args:
        margin: Loss of each token imagined or left out wrongly.
        penalty: Weight of the squared distance from the start.
        rounds: Times through all videos.
        rate: First step, as a share of one chunk; falls with the square root of the rounds.
        random_state: Decides the order of videos.

    Attributes:
        losses_: Hinge loss of all videos in each round.
    """

    margin: float = 1.0
    penalty: float = 0.2
    rounds: int = 20
    rate: float = 0.1
    random_state: int = 0

    def _train(self, scenes: Sequence[CrfScene], start: CrfWeights, mask: Array) -> CrfWeights:
        chance = np.random.default_rng(self.random_state)
        free = np.ones(len(start.vector))
        free[: mask.size] = mask.ravel()
        origin, clock = start.vector, len(start.vector) - len(start.linear)
        vector, total = origin.copy(), np.zeros(len(free))
        self.losses_ = [0.0] * self.rounds
        for turn in range(self.rounds):
            for number in chance.permutation(len(scenes)):
                scene = scenes[number]
                loss, gradient = best_difference(scene, start.like(vector), self.margin)
                self.losses_[turn] += loss
                slope = gradient.vector - self.penalty * (vector - origin)
                step = self.rate / len(scene.tokens) / np.sqrt(1.0 + turn)
                vector = vector + step * slope * free
                vector[clock] = max(vector[clock], 0.0)
                total += vector
        return start.like(total / max(self.rounds * len(scenes), 1))
