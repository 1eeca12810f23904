"""Latent structured perceptron, one of the discriminative models of Naim et al. (NAACL 2015)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.models.crf import CrfExample, CrfModel, CrfTraining, CrfWeights
from wordsight.inference.chains.jumps import jump_path
from wordsight.progress import report

__all__ = ["LatentPerceptron", "averaged_updates", "best_difference"]

Array = NDArray[np.float64]


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
    actual_score, path = jump_path(example.tokens @ scores.T + timing, chain)
    # An observed token costs its margin when it is missing, any other one when it is present.
    worth = scores[None] + margin * (1.0 - 2.0 * example.tokens[:, None, :])
    lost = margin * example.tokens.sum(axis=1)
    free = np.maximum(worth, 0.0).sum(axis=2) + lost[:, None] + timing
    free_score, free_path = jump_path(free, chain)
    every = np.arange(len(path))
    free_tokens = (worth[every, free_path] > 0).astype(np.float64)
    here, there = _indicator(path, len(scores)), _indicator(free_path, len(scores))
    jumps = _jumps(path, example.offsets) - _jumps(free_path, example.offsets)
    gradient = example.gradient(
        here.T @ example.tokens - there.T @ free_tokens, jumps, here - there
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
