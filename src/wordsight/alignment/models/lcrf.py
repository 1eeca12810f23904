"""LCRF: a conditional random field over touched things, with the alignment as latent variable.

Naim et al. (NAACL 2015), with a clock and with exact sums over the sets of things that might have
been touched. Since features add over things, these sums factorise. There are four families of sets:
all, all but the empty one, at most k things, and those observed in the video.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.models.crf import CrfModel, CrfScene, CrfWeights
from wordsight.inference.chains.jumps import jump_counts

__all__ = ["LCRF", "FreeSets", "Sets", "conditional_likelihood", "free_sets"]

Array = NDArray[np.float64]


Sets = Literal["all", "nonempty", "observed"] | int
"""Which sets are summed over; a number k means all sets of at most k things."""

_CEILING = 60.0  # nats; scores beyond it would overflow products of a few


@dataclass(frozen=True)
class FreeSets:
    """Sums over sets for each line.

    Attributes:
        logs: ``(N,)`` log of the summed weight of all sets.
        means: ``(N, V)`` probability that a set holds each token.
    """

    logs: Array
    means: Array


def free_sets(scores: Array, sets: Sets, seen: Array) -> FreeSets:
    """Sum over sets of tokens whose weight is the exponential of the sum of their scores.

    Args:
        scores: ``(N, V)`` score of each token under each line.
        sets: Which sets to sum over.
        seen: ``(S, V)`` the distinct sets of the video, used by "observed".
    """
    if sets == "observed":
        return _observed(scores, seen)
    if isinstance(sets, int):
        return _at_most(np.minimum(scores, _CEILING), sets)
    logs = np.logaddexp(0.0, scores).sum(axis=1)
    means = 1.0 / (1.0 + np.exp(-np.clip(scores, -500.0, 500.0)))
    if sets == "nonempty":
        without = logs + np.log1p(-np.exp(-np.maximum(logs, 1e-12)))
        return FreeSets(without, means * np.exp(logs - without)[:, None])
    return FreeSets(logs, means)


def _observed(scores: Array, seen: Array) -> FreeSets:
    weights = scores @ seen.T
    top = weights.max(axis=1, keepdims=True)
    shares = np.exp(weights - top)
    sums = shares.sum(axis=1, keepdims=True)
    return FreeSets((np.log(sums) + top)[:, 0], (shares / sums) @ seen)


def _at_most(scores: Array, most: int) -> FreeSets:
    """Use elementary symmetric polynomials, with the tokens before and after each one."""
    lines, tokens = scores.shape
    weights = np.exp(scores)
    before = np.zeros((tokens + 1, lines, most + 1))
    after = np.zeros((tokens + 1, lines, most + 1))
    before[0, :, 0] = after[tokens, :, 0] = 1.0
    for b in range(tokens):
        before[b + 1] = before[b]
        before[b + 1, :, 1:] += weights[:, b, None] * before[b, :, :-1]
    for b in range(tokens - 1, -1, -1):
        after[b] = after[b + 1]
        after[b, :, 1:] += weights[:, b, None] * after[b + 1, :, :-1]
    total = before[tokens].sum(axis=1)
    # Sets that hold b: it, r others before it, and up to most - 1 - r others after it.
    up_to = np.cumsum(after[1:], axis=2)[:, :, :most][:, :, ::-1]
    others = (before[:tokens, :, :most] * up_to).sum(axis=2)
    return FreeSets(np.log(total), weights * others.T / total[:, None])


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
