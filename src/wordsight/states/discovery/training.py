r"""Learning of rule weights and transition cost by the structured perceptron.

For every video whose inferred sequence is wrong,
:math:`c \leftarrow [c + V(\hat S) - V(S)]_+` and :math:`K \leftarrow [K + |\hat S| - |S|]_+`,
where :math:`V` counts violations of each rule and :math:`|S|` changes of state. Labels may give the
order of states only. Violations are counted per frame and changes per video, so K learns with a
larger step. Rounds differ only in weights, so videos are grounded once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wordsight.progress import Progress, report
from wordsight.states.errors import StateError
from wordsight.states.grounding.grounder import Grounder, Grounding
from wordsight.states.grounding.observations import StateObservations
from wordsight.states.rules.facts import StateSequence
from wordsight.states.rules.rule import Rule
from wordsight.states.rules.vocabulary import StateVocabulary
from wordsight.states.search.inference import InferenceSettings, best_path, consistent_states, infer

__all__ = [
    "LearnedWeights",
    "PerceptronSettings",
    "TrainingVideo",
    "learn_weights",
    "prepare_video",
    "prepare_videos",
    "share_right",
]


Array = NDArray[np.float64]
Values = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TrainingVideo:
    """One video to learn from.

    Attributes:
        grounding: The rules written out.
        truth: ``(T, F)`` what holds when, or ``(N, F)`` the states in their order if the labels are
            compressed.
        order: ``(N, F)`` the truth with runs of equal states made one.
        timed: Whether the truth is told for every frame.
        states: ``(S, F)`` the states written out, or ``None`` if they are too many.
        broken: ``(C, S)`` 1 where a state violates a clause; empty without states.
        inference: How to infer where states are not written out.
    """

    grounding: Grounding
    truth: Values
    order: Values
    timed: bool
    states: Values | None
    broken: Array
    inference: InferenceSettings

    def predict(self, weights: Array, transition_cost: float, *, margin: float = 0.0) -> Values:
        """Return ``(T, F)`` the cheapest states under given weights ``(R,)``.

        Args:
            weights: One per rule.
            transition_cost: K.
            margin: Discount, per frame and wrong fact, for states that differ from the truth; what
                still wins is then better by less than it is wrong.
        """
        if self.states is None:
            return infer(self.grounding, transition_cost, self.inference, weights=weights)[1]
        table = self.grounding.costs(weights) @ self.broken
        if margin and self.timed:
            bits = self.states.astype(np.float64)
            told = self.truth.astype(np.float64)
            table -= margin * (told @ (1 - bits).T + (1 - told) @ bits.T)
        path = best_path(table, transition_cost)[1]
        return np.asarray(self.states[path], dtype=np.bool_)

    def aligned(self, weights: Array) -> Values:
        """Return ``(T, F)`` the truth; told only in order, it is laid out where it costs least."""
        from wordsight.states.kernels.paths import order_path

        if self.timed:
            return self.truth
        costs = self.grounding.costs(weights)
        steps = costs @ self.grounding.clauses.violated(self.order).T.astype(np.float64)
        path = np.zeros(len(steps), dtype=np.int64)
        order_path(np.ascontiguousarray(steps), path)
        return self.order[path]

    def is_right(self, values: Values) -> bool:
        """Whether states ``(T, F)`` pass through the same sequence as the truth."""
        return np.array_equal(compressed(values), self.order)


def compressed(values: Values) -> Values:
    """Return the rows with runs of equal ones made one."""
    if not len(values):
        return values
    changed = np.any(values[1:] != values[:-1], axis=1)
    return np.asarray(values[np.concatenate([[True], changed])], dtype=np.bool_)


def prepare_video(
    grounder: Grounder, seen: StateObservations, told: StateSequence, inference: InferenceSettings
) -> TrainingVideo:
    """Ground one video and write its states out."""
    grounding = grounder.ground(seen)
    unknown = set(told.facts) - set(grounding.facts)
    named = [fact for fact in unknown if told.table([fact]).any()]
    if named:
        raise StateError(
            f"the labels of {told.video_id} say {min(named)}, which the vocabulary and the objects "
            f"of the video do not allow; objects: {', '.join(t.name for t in seen.objects)}."
        )
    truth = told.table(grounding.facts)
    timed = len(told) == len(seen) and np.array_equal(told.times, seen.times)
    order = compressed(truth)
    if not timed and len(order) > len(seen):
        raise StateError(
            f"{told.video_id} has {len(order)} states in its labels but only {len(seen)} frames."
        )
    states = None
    if inference.method != "search":
        found = consistent_states(
            grounding.clauses, grounding.hard_clauses(), min(inference.most_states, 512)
        )
        states = None if found is None else np.unique(np.concatenate([found, order]), axis=0)
    broken = np.zeros((len(grounding.clauses), 0))
    if states is not None:
        broken = grounding.clauses.violated(states).T.astype(np.float64)
    return TrainingVideo(grounding, truth, order, timed, states, broken, inference)


def prepare_videos(
    rules: Sequence[Rule],
    observations: Sequence[StateObservations],
    states: Sequence[StateSequence],
    vocabulary: StateVocabulary,
    inference: InferenceSettings | None = None,
) -> list[TrainingVideo]:
    """Ground videos for learning; see :class:`TrainingVideo`."""
    chosen, grounder = inference or InferenceSettings(), Grounder(rules, vocabulary)
    return [
        prepare_video(grounder, seen, told, chosen)
        for seen, told in zip(observations, states, strict=True)
    ]


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
class LearnedWeights:
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
) -> LearnedWeights:
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
    return LearnedWeights(found, transition, best, tuple(history), np.stack(steps))


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
