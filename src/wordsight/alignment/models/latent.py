"""Structured learners of the CRF with hidden alignments: LCRF, latent perceptron and latent SVM.

Naim et al. (NAACL 2015), with a clock and with exact sums over the sets of things that might have
been touched. Where features add over things, these sums factorise; features of the user that look
at whole sets, or at the previous line, are summed set by set.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.models.crf import CrfExample, CrfModel, CrfTraining, CrfWeights
from wordsight.alignment.models.encoding import Encoded
from wordsight.alignment.models.set_features import SetFeatures, Sets
from wordsight.inference.chains.segments import jump_counts, jump_path
from wordsight.progress import report

__all__ = [
    "LCRF",
    "FreeSets",
    "LatentPerceptron",
    "LatentSVM",
    "averaged_updates",
    "best_difference",
    "conditional_likelihood",
    "free_sets",
]

Array = NDArray[np.float64]

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
    if example.set_features is not None:
        return _likelihood_by_sets(example, weights, example.set_features)
    scores, timing, chain = example.scores(weights), example.timing(weights), example.chain(weights)
    forced = jump_counts(example.observed_logs(weights), chain)
    possible = free_sets(scores, sets, example.seen)
    free = jump_counts(possible.logs + timing, chain)
    expected = free.states.sum(axis=0)[:, None] * possible.means
    gradient = example.gradient(
        forced.states.T @ example.tokens - expected,
        forced.jumps - free.jumps,
        forced.states - free.states,
    )
    return forced.log_likelihood - free.log_likelihood, gradient


def _likelihood_by_sets(
    example: CrfExample, weights: CrfWeights, further: SetFeatures
) -> tuple[float, CrfWeights]:
    """Sum over every possible set of every chunk, as features of whole sets and jumps need it."""
    timing, chain = example.timing(weights), example.chain(weights)
    forced = jump_counts(example.observed_logs(weights), chain)
    own = np.tensordot(weights.linear[further.places], further.values, axes=1)
    each = (further.sets @ example.scores(weights).T)[:, None, :, None] + own  # (S, T, N, D)
    summed = np.logaddexp.reduce(each, axis=0)
    free = jump_counts(summed + timing[:, :, None], chain)
    assert forced.arcs is not None and free.arcs is not None
    expected = np.exp(each - summed) * free.arcs
    gradient = example.gradient(
        forced.states.T @ example.tokens - expected.sum(axis=(1, 3)).T @ further.sets,
        forced.jumps - free.jumps,
        forced.states - free.states,
        np.tensordot(further.actual, forced.arcs, axes=3)
        - np.tensordot(further.values, expected, axes=4),
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
            video) or a number, at most that many things at once. "auto" is "nonempty" where every
            chunk of every video shows something, as when others were left out, else "all".
        penalty: :math:`\lambda`; the weight of being on time is not penalised.
        optimiser: "lbfgs" for all videos at once, "sgd" for one video after the other with falling
            steps, as the paper has it, "adagrad" with steps that fall where gradients were large.
        iterations: Iterations of L-BFGS, or passes through all videos.
        rate: First step of SGD, as a share of one chunk, or of AdaGrad.
        random_state: Seed of the order of videos.

    Attributes:
        weights_: The learned weights.
        sets_: Which sets of things were summed over.
        objectives_: Penalised log likelihood after each iteration.
    """

    sets: Sets | Literal["auto"] = "auto"
    penalty: float = 0.2
    optimiser: Literal["lbfgs", "sgd", "adagrad"] = "lbfgs"
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
                score, slope = conditional_likelihood(example, weights, self.sets_)
                total += score
                gradient = gradient + slope.vector
            return total, gradient * task.free

        def record(value: float) -> None:
            self.objectives_.append(value)
            if task.progress is not None:
                task.progress(len(self.objectives_), self.iterations, "learning")

        optimise = self._lbfgs if self.optimiser == "lbfgs" else self._one_by_one
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

    def _one_by_one(
        self, task: CrfTraining, objective: _Objective, record: Callable[[float], None]
    ) -> Array:
        random = np.random.default_rng(self.random_state)
        vector, clock, examples = task.start.vector, task.start.clock, task.examples
        squares, visits = np.full(len(vector), 1e-8), 0
        for _ in range(self.iterations):
            for number in random.permutation(len(examples)):
                example = examples[number]
                _, gradient = objective(vector, [example])
                if self.optimiser == "sgd":
                    step = self.rate / len(example.tokens) / (1.0 + visits / len(examples))
                    vector = vector + step * gradient
                else:
                    # Steps shrink where gradients were large, so that rare pairs are learned too.
                    squares += gradient**2
                    vector = vector + self.rate * gradient / np.sqrt(squares)
                vector[clock] = max(vector[clock], 0.0)
                visits += 1
            record(objective(vector, examples)[0])
        return vector

    def _possible_sets(self, pairs: Sequence[Encoded]) -> Sets:
        self.sets_: Sets = "all"
        if self.sets != "auto":
            self.sets_ = self.sets
        elif all((p.things.tokens.any(axis=1) | p.moves.tokens.any(axis=1)).all() for p in pairs):
            self.sets_ = "nonempty"
        return self.sets_


def best_difference(
    example: CrfExample, weights: CrfWeights, margin: float = 0.0
) -> tuple[float, CrfWeights]:
    """Compare the best-scoring observations with those that were made.

    Args:
        example: A text and a video.
        weights: The weights.
        margin: What each wrong token adds to the score of other observations (Hamming loss).

    Returns:
        The score of the best-scoring observations minus that of the actual ones, at least 0 up to
        rounding; and the features of the actual ones minus those of the best-scoring ones.
    """
    scores, timing, chain = example.scores(weights), example.timing(weights), example.chain(weights)
    actual_score, path = jump_path(example.observed_logs(weights), chain)
    every, further = np.arange(len(path)), example.set_features
    lost = margin * example.tokens.sum(axis=1)
    # An observed token costs its margin when it is missing, any other one when it is present.
    if further is None:
        worth = scores[None] + margin * (1.0 - 2.0 * example.tokens[:, None, :])
        free = np.maximum(worth, 0.0).sum(axis=2) + lost[:, None] + timing
        free_score, free_path = jump_path(free, chain)
        free_tokens, by_sets = (worth[every, free_path] > 0).astype(np.float64), None
    else:
        own = np.tensordot(weights.linear[further.places], further.values, axes=1)
        wrong = margin * (further.sets @ (1.0 - 2.0 * example.tokens.T)) + lost
        each = (further.sets @ scores.T)[:, None, :, None] + wrong[:, :, None, None] + own
        free_score, free_path = jump_path(each.max(axis=0) + timing[:, :, None], chain)
        kinds = _kinds(free_path, example.offsets)
        chosen = each[:, every, free_path, kinds].argmax(axis=0)
        free_tokens = further.sets[chosen]
        own_path = further.actual[:, every, path, _kinds(path, example.offsets)]
        by_sets = (own_path - further.values[:, chosen, every, free_path, kinds]).sum(axis=1)
    here, there = _indicator(path, len(scores)), _indicator(free_path, len(scores))
    jumps = _jumps(path, example.offsets) - _jumps(free_path, example.offsets)
    gradient = example.gradient(
        here.T @ example.tokens - there.T @ free_tokens, jumps, here - there, by_sets
    )
    return free_score - actual_score, gradient


def averaged_updates(
    task: CrfTraining,
    *,
    rounds: int,
    rate: float,
    random_state: int,
    margin: float = 0.0,
    penalty: float = 0.0,
    decay: bool = False,
) -> tuple[CrfWeights, list[float]]:
    """Update weights example by example towards the actual observations.

    Args:
        task: The examples and the weights to start from.
        rounds: Passes through all examples.
        rate: Size of an update, as a share of one chunk.
        random_state: Seed of the order of examples.
        margin: Loss of each wrong token.
        penalty: Weight of the squared distance from the start.
        decay: Whether the rate falls with the square root of the rounds.

    Returns:
        The mean weights over all updates, and the loss of each round.
    """
    random = np.random.default_rng(random_state)
    examples, start = task.examples, task.start
    origin = vector = start.vector
    total, losses = np.zeros(len(vector)), [0.0] * rounds
    for turn in report(range(rounds), task.progress, "learning", rounds):
        for number in random.permutation(len(examples)):
            example = examples[number]
            loss, gradient = best_difference(example, start.like(vector), margin)
            losses[turn] += loss
            slope = gradient.vector - penalty * (vector - origin)
            step = rate / len(example.tokens) / np.sqrt(1.0 + turn * decay)
            vector = vector + step * slope * task.free
            vector[start.clock] = max(vector[start.clock], 0.0)
            total += vector
    return start.like(total / max(rounds * len(examples), 1)), losses


@dataclass
class LatentPerceptron(CrfModel):
    """The latent structured perceptron with averaged weights.

    Args:
        rounds: Passes through all videos.
        rate: Size of an update, as a share of one chunk.
        random_state: Seed of the order of videos.
    """

    rounds: int = 20
    rate: float = 0.1
    random_state: int = 0

    def _train(self, task: CrfTraining) -> CrfWeights:
        weights, _ = averaged_updates(
            task, rounds=self.rounds, rate=self.rate, random_state=self.random_state
        )
        return weights


def _indicator(path: NDArray[np.int64], lines: int) -> Array:
    matrix = np.zeros((len(path), lines))
    matrix[np.arange(len(path)), path] = 1.0
    return matrix


def _jumps(path: NDArray[np.int64], offsets: NDArray[np.int64]) -> Array:
    return np.asarray((np.diff(path)[:, None] == offsets).sum(axis=0), dtype=np.float64)


def _kinds(path: NDArray[np.int64], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return ``(T,)`` the kind of jump that leads to each chunk; a jump of 0 to the first."""
    moves = np.diff(path, prepend=path[:1])
    return np.asarray((moves[:, None] == offsets).argmax(axis=1))


@dataclass
class LatentSVM(CrfModel):
    """The latent structural SVM with Hamming loss.

    Args:
        margin: Loss of each wrong token.
        penalty: Weight of the squared distance from the start.
        rounds: Passes through all videos.
        rate: First step, as a share of one chunk; falls with the square root of the rounds.
        random_state: Seed of the order of videos.

    Attributes:
        losses_: Hinge loss of all videos in each round.
    """

    margin: float = 1.0
    penalty: float = 0.2
    rounds: int = 20
    rate: float = 0.1
    random_state: int = 0

    def _train(self, task: CrfTraining) -> CrfWeights:
        weights, self.losses_ = averaged_updates(
            task,
            rounds=self.rounds,
            rate=self.rate,
            random_state=self.random_state,
            margin=self.margin,
            penalty=self.penalty,
            decay=True,
        )
        return weights
