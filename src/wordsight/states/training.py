"""Videos made ready for learning: grounded once, with their states written out and their truth.

Rounds of learning differ only in weights, so everything else is kept. The table of states holds all
consistent ones and those of the truth; where they are too many to write out, inference searches.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.states.enumeration import best_path, consistent_states
from wordsight.states.errors import StateError
from wordsight.states.facts import StateSequence
from wordsight.states.grounding import Grounder, Grounding
from wordsight.states.inference import Inference, infer
from wordsight.states.observations import Observations
from wordsight.states.rules import Rule
from wordsight.states.vocabulary import Vocabulary

__all__ = ["TrainingVideo", "prepare_video", "prepare_videos"]

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
    inference: Inference

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
        from wordsight.states.path_kernel import order_path

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
    grounder: Grounder, seen: Observations, told: StateSequence, inference: Inference
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
    observations: Sequence[Observations],
    states: Sequence[StateSequence],
    vocabulary: Vocabulary,
    inference: Inference | None = None,
) -> list[TrainingVideo]:
    """Ground videos for learning; see :class:`TrainingVideo`."""
    chosen, grounder = inference or Inference(), Grounder(rules, vocabulary)
    return [
        prepare_video(grounder, seen, told, chosen)
        for seen, told in zip(observations, states, strict=True)
    ]
