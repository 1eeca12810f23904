"""LCRF: a conditional random field over what is touched, with the alignment as hidden variable.

Naim et al. (NAACL 2015), with the sums over unseen sets of things worked out exactly and a clock.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.models.crf_model import CrfModel
from wordsight.alignment.models.crf_scene import CrfScene, CrfWeights
from wordsight.alignment.models.free_sets import Sets, free_sets
from wordsight.inference.chains.jumps import jump_counts

__all__ = ["LCRF", "conditional_likelihood"]

Array = NDArray[np.float64]


def conditional_likelihood(
    scene: CrfScene, weights: CrfWeights, sets: Sets
) -> tuple[float, CrfWeights]:
    """Return the log probability of what was seen given the text, and its gradient.

    The forced sum goes over alignments of what was seen; the free one over alignments of anything
    that might have been seen.
    """
    scores, timing, chain = scene.scores(weights), scene.timing(weights), scene.chain(weights)
    forced = jump_counts(scene.tokens @ scores.T + timing, chain)
    anything = free_sets(scores, sets, scene.seen)
    free = jump_counts(anything.logs + timing, chain)
    expected = free.states.sum(axis=0)[:, None] * anything.means
    gradient = scene.gradient(
        forced.states.T @ scene.tokens - expected,
        forced.jumps - free.jumps,
        forced.states - free.states,
    )
    return forced.log_likelihood - free.log_likelihood, gradient


@dataclass
class LCRF(CrfModel):
    r"""A latent-variable conditional random field.

    Maximises :math:`\sum_i \log p(Y_i \mid X_i) - \frac{\lambda}{2}\lVert w - w_0\rVert^2` with
    :math:`p(Y \mid X) = \sum_h e^{w^T \Phi(X, Y, h)} / \sum_{Y', h} e^{w^T \Phi(X, Y', h)}`, where
    :math:`w_0` is the generative start. Inputs: chunks, lines, clock time.

    Args:
        sets: Which sets of things might have been seen: "all", "nonempty", "observed" (those of
            the video) or a number, at most that many things at once.
        penalty: :math:`\lambda`; being on time is not penalised, its weight is free.
        optimiser: "lbfgs" for all videos at once, "sgd" for one video after the other.
        iterations: Of L-BFGS, or rounds through all videos.
        rate: First step of SGD.
        random_state: Decides the order of videos in SGD.

    Attributes:
        weights_: The learned weights.
        objectives_: Penalised log likelihood after each iteration.
    """

    sets: Sets = "all"
    penalty: float = 0.2
    optimiser: Literal["lbfgs", "sgd"] = "lbfgs"
    iterations: int = 20
    rate: float = 0.1
    random_state: int = 0

    def _train(self, scenes: Sequence[CrfScene], start: CrfWeights, mask: Array) -> CrfWeights:
        free = np.ones(len(start.vector))
        free[: mask.size] = mask.ravel()
        origin = start.vector
        held = np.full(len(origin), self.penalty)
        held[len(origin) - len(start.linear)] = 0.0
        self.objectives_: list[float] = []

        def value(vector: Array, chosen: Sequence[CrfScene]) -> tuple[float, Array]:
            weights = start.like(vector)
            away = vector - origin
            share = len(chosen) / len(scenes)
            total = -0.5 * share * float(held @ away**2)
            gradient = -share * held * away
            for scene in chosen:
                score, slope = conditional_likelihood(scene, weights, self.sets)
                total += score
                gradient = gradient + slope.vector
            return total, gradient * free

        climb = self._climb if self.optimiser == "lbfgs" else self._wander
        return start.like(climb(origin, scenes, value, len(origin) - len(start.linear)))

    def _climb(
        self, origin: Array, scenes: Sequence[CrfScene], value: "_Value", clock: int
    ) -> Array:
        from scipy.optimize import minimize

        latest = 0.0

        def loss(vector: Array) -> tuple[float, Array]:
            nonlocal latest
            latest, gradient = value(vector, scenes)
            return -latest, -gradient

        # Being late may not be rewarded.
        bounds = [(0.0, None) if i == clock else (None, None) for i in range(len(origin))]
        found = minimize(
            loss,
            origin,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": self.iterations},
            callback=lambda _: self.objectives_.append(latest),
        )
        return np.asarray(found.x)

    def _wander(
        self, origin: Array, scenes: Sequence[CrfScene], value: "_Value", clock: int
    ) -> Array:
        chance = np.random.default_rng(self.random_state)
        vector = origin.copy()
        squares = np.full(len(origin), 1e-8)
        for _ in range(self.iterations):
            for number in chance.permutation(len(scenes)):
                _, gradient = value(vector, [scenes[number]])
                # Steps shrink where gradients were large, so that rare pairs are learned too.
                squares += gradient**2
                vector = vector + self.rate * gradient / np.sqrt(squares)
                vector[clock] = max(vector[clock], 0.0)
            self.objectives_.append(value(vector, scenes)[0])
        return vector


_Value = Callable[[Array, Sequence[CrfScene]], tuple[float, Array]]
