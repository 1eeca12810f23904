r"""Weights of rules and the transition cost by the structured perceptron, never negative.

For every video whose inferred sequence is wrong,
:math:`c \leftarrow [c + V(\hat S) - V(S)]_+` and :math:`K \leftarrow [K + |\hat S| - |S|]_+`, where
:math:`V` counts violations of each rule and :math:`|S|` changes of state. Labels may be told in
order only. Violations are counted per frame and changes per video, so K learns with a larger step.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wordsight.progress import Progress, report
from wordsight.states.errors import StateError
from wordsight.states.training import TrainingVideo

__all__ = ["Learned", "PerceptronSettings", "learn_weights", "share_right"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PerceptronSettings:
    """How weights are learned.

    Attributes:
        iterations: How often to go through the videos.
        step: Size of a step of the weights.
        transition_step: How much larger a step of K is.
        margin: Discount per frame and wrong fact during learning, in units of cost; 0 for none.
        average: Whether each iteration's result is the mean over all steps so far.
        held_out: Share of the videos kept back to choose the iteration by; with 0 the last counts.
    """

    iterations: int = 10
    step: float = 1.0
    transition_step: float = 1.0
    margin: float = 0.0
    average: bool = True
    held_out: float = 0.0

    def __post_init__(self) -> None:
        if self.iterations < 0 or not self.step > 0 or not 0 <= self.held_out < 1:
            raise StateError(
                "iterations must be 0 or more, the step positive and the share held out in [0, 1), "
                f"got {self}."
            )


@dataclass(frozen=True, eq=False)
class Learned:
    """What the perceptron found.

    Attributes:
        weights: ``(R,)`` one per rule, infinite ones unchanged.
        transition_cost: K.
        iteration: Which iteration it is, 0 for the start.
        history: Per iteration, the start included: share of videos whose sequence is right, of
            those held out or else of those learned from.
        steps: ``(iterations + 1, R + 1)`` weights and K after each iteration.
    """

    weights: Array
    transition_cost: float
    iteration: int
    history: tuple[float, ...]
    steps: Array = field(repr=False)


def learn_weights(
    videos: Sequence[TrainingVideo],
    weights: Array,
    transition_cost: float,
    settings: PerceptronSettings | None = None,
    *,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Learned:
    """Learn from videos, starting from given weights.

    Args:
        videos: The videos, grounded.
        weights: ``(R,)`` where to start, infinity for hard rules.
        transition_cost: K to start from.
        settings: How to learn.
        random_state: Seed of the order of videos and of those held out.
        progress: Told after each iteration.
    """
    if not videos:
        raise StateError("there is no video to learn from; give at least one with its states.")
    chosen = settings or PerceptronSettings()
    random = np.random.default_rng(random_state)
    order = random.permutation(len(videos))
    count = round(chosen.held_out * len(videos))
    judged = [videos[k] for k in order[:count]] or list(videos)
    learner = _Learner([videos[k] for k in order[count:]], weights, transition_cost, chosen)
    steps, history = [learner.start], [share_right(judged, weights, transition_cost)]
    rounds = range(chosen.iterations)
    for _ in report(rounds, progress, "learning weights", chosen.iterations):
        mistakes = learner.iterate(random)
        steps.append(learner.result())
        history.append(share_right(judged, *learner.split(steps[-1])))
        if not mistakes:
            break
    best = int(np.argmax(history)) if count else len(history) - 1
    found, transition = learner.split(steps[best])
    return Learned(found, transition, best, tuple(history), np.stack(steps))


def share_right(videos: Sequence[TrainingVideo], weights: Array, transition_cost: float) -> float:
    """Return the share of videos whose inferred sequence of states is exactly right."""
    right = [video.is_right(video.predict(weights, transition_cost)) for video in videos]
    return float(np.mean(right))


class _Learner:
    """Weights and K as one vector, K last."""

    def __init__(
        self,
        videos: Sequence[TrainingVideo],
        weights: Array,
        transition_cost: float,
        settings: PerceptronSettings,
    ):
        self._videos, self._settings = videos, settings
        self._hard = np.isinf(weights)
        self.start = np.append(np.where(self._hard, 0.0, weights), transition_cost)
        self._now, self._sum, self._count = self.start.copy(), np.zeros(len(self.start)), 0

    def split(self, vector: Array) -> tuple[Array, float]:
        """Return weights and K of a vector."""
        return np.where(self._hard, np.inf, vector[:-1]), float(vector[-1])

    def result(self) -> Array:
        """Return the present vector, or the mean of all so far."""
        return self._sum / self._count if self._settings.average else self._now.copy()

    def iterate(self, random: np.random.Generator) -> int:
        """Go through all videos once; return how many were wrong."""
        mistakes = 0
        for k in random.permutation(len(self._videos)):
            mistakes += self._learn(self._videos[k])
            self._sum += self._now
            self._count += 1
        return mistakes

    def _learn(self, video: TrainingVideo) -> bool:
        weights, transition = self.split(self._now)
        found = video.predict(weights, transition, margin=self._settings.margin)
        if video.is_right(found) and not self._settings.margin:
            return False
        truth = video.aligned(weights)
        change = _counted(video, found) - _counted(video, truth)
        change[:-1][self._hard] = 0.0
        change[-1] *= self._settings.transition_step
        self._now = np.maximum(self._now + self._settings.step * change, 0.0)
        return bool(change.any())


def _counted(video: TrainingVideo, values: NDArray[np.bool_]) -> Array:
    """Return violations of each rule and, last, changes of state."""
    changes = (values[1:] != values[:-1]).any(axis=1).sum()
    return np.append(video.grounding.violations(values), changes).astype(np.float64)
