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

from wordsight.alignment.models.crf import CrfExample, CrfModel, CrfTraining, CrfWeights
from wordsight.inference.chains.jumps import jump_counts

__all__ = ["LCRF", "FreeSets", "Sets", "conditional_likelihood", "free_sets"]

Array = NDArray[np.float64]

Sets = Literal["all", "nonempty", "observed"] | int
"""Which sets are summed over; a number k means all sets of at most k things."""

_Objective = Callable[[Array, Sequence[CrfExample]], tuple[float, Array]]
_CEILING = 60.0  # nats; products of a few larger scores would overflow


@dataclass(frozen=True)
class FreeSets:
    """Sums over sets for each line.

    Attributes:
        logs: ``(N,)`` log of the summed weight of all sets.
        means: ``(N, V)`` probability that a set has each token.
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
    """Sum over sets of at most so many tokens by elementary symmetric polynomials."""
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
    # Sets with token b: b itself, r others before it, and up to most - 1 - r others after it.
    up_to = np.cumsum(after[1:], axis=2)[:, :, :most][:, :, ::-1]
    others = (before[:tokens, :, :most] * up_to).sum(axis=2)
    return FreeSets(np.log(total), weights * others.T / total[:, None])


def conditional_likelihood(
    example: CrfExample, weights: CrfWeights, sets: Sets
) -> tuple[float, CrfWeights]:
    """Return the log probability of the observations given the text, and its gradient.

    The forced sum is over alignments of the actual observations, the free one over alignments of
    all observations that were possible.
    """
    scores, timing, chain = example.scores(weights), example.timing(weights), example.chain(weights)
    forced = jump_counts(example.tokens @ scores.T + timing, chain)
    possible = free_sets(scores, sets, example.seen)
    free = jump_counts(possible.logs + timing, chain)
    expected = free.states.sum(axis=0)[:, None] * possible.means
    gradient = example.gradient(
        forced.states.T @ example.tokens - expected,
        forced.jumps - free.jumps,
        forced.states - free.states,
    )
    return forced.log_likelihood - free.log_likelihood, gradient


@dataclass
class LCRF(CrfModel):
    r"""A latent-variable conditional random field.

    Maximises :math:`\sum_i \log p(Y_i \mid X_i) - \frac{\lambda}{2}\lVert w - w_0\rVert^2` with
    :math:`p(Y \mid X) = \sum_h e^{w^T \Phi(X, Y, h)} / \sum_{Y', h} e^{w^T \Phi(X, Y', h)}`, where
    :math:`w_0` are the weights of the generative initialisation.

    Args:
        sets: Which sets of things were possible: "all", "nonempty", "observed" (those of the
            video) or a number, at most that many things at once.
        penalty: :math:`\lambda`; the weight of being on time is not penalised.
        optimiser: "lbfgs" for all videos at once, "sgd" for one video after the other.
        iterations: Iterations of L-BFGS, or passes of SGD through all videos.
        rate: First step of SGD.
        random_state: Seed of the order of videos in SGD.

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

    def _train(self, task: CrfTraining) -> CrfWeights:
        start, origin = task.start, task.start.vector
        penalty = np.full(len(origin), self.penalty)
        penalty[start.clock] = 0.0
        self.objectives_: list[float] = []

        def objective(vector: Array, batch: Sequence[CrfExample]) -> tuple[float, Array]:
            weights = start.like(vector)
            change = vector - origin
            share = len(batch) / len(task.examples)
            total = -0.5 * share * float(penalty @ change**2)
            gradient = -share * penalty * change
            for example in batch:
                score, slope = conditional_likelihood(example, weights, self.sets)
                total += score
                gradient = gradient + slope.vector
            return total, gradient * task.free

        def record(value: float) -> None:
            self.objectives_.append(value)
            if task.progress is not None:
                task.progress(len(self.objectives_), self.iterations, "learning")

        optimise = self._lbfgs if self.optimiser == "lbfgs" else self._sgd
        return start.like(optimise(task, objective, record))

    def _lbfgs(
        self, task: CrfTraining, objective: _Objective, record: Callable[[float], None]
    ) -> Array:
        from scipy.optimize import minimize

        latest = 0.0

        def loss(vector: Array) -> tuple[float, Array]:
            nonlocal latest
            latest, gradient = objective(vector, task.examples)
            return -latest, -gradient

        # Lateness must not be rewarded.
        origin = task.start.vector
        bounds: list[tuple[float | None, None]] = [(None, None)] * len(origin)
        bounds[task.start.clock] = (0.0, None)
        result = minimize(
            loss,
            origin,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": self.iterations},
            callback=lambda _: record(latest),
        )
        return np.asarray(result.x)

    def _sgd(
        self, task: CrfTraining, objective: _Objective, record: Callable[[float], None]
    ) -> Array:
        random = np.random.default_rng(self.random_state)
        vector, clock, examples = task.start.vector, task.start.clock, task.examples
        squares = np.full(len(vector), 1e-8)
        for _ in range(self.iterations):
            for number in random.permutation(len(examples)):
                _, gradient = objective(vector, [examples[number]])
                # Steps shrink where gradients were large, so that rare pairs are learned too.
                squares += gradient**2
                vector = vector + self.rate * gradient / np.sqrt(squares)
                vector[clock] = max(vector[clock], 0.0)
            record(objective(vector, examples)[0])
        return vector
