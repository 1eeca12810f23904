"""`StateModel`: learns weighted rules from labelled videos and infers states of others."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.states.errors import StateError
from wordsight.states.facts import StateSequence
from wordsight.states.grounding import Grounding, ground
from wordsight.states.inference import Inference, infer
from wordsight.states.observations import Observations
from wordsight.states.rules import Rule
from wordsight.states.vocabulary import Vocabulary

__all__ = ["StateModel"]


class StateModel:
    r"""States of videos by weighted Horn rules and a cost K of every change of state.

    The states of a video are those of least cost
    :math:`\sum_t \sum_r w_r [\text{rule } r \text{ broken at } t] + K \cdot \text{changes}`.

    Args:
        rules: Rules to start from; with :meth:`fit` their weights are learned, and hard ones kept.
            ``None`` to discover rules.
        transition_cost: K to start from.
        vocabulary: Predicates and features; predicates are taken from the labels if left out.
        inference: How states are inferred.
        random_state: Seed of everything left to chance.

    Attributes:
        rules_: The rules in use, with their weights.
        transition_cost_: K.
        vocabulary_: Predicates and features the rules speak of.

    Example:
        >>> from wordsight.states import Predicate, Thing, parse_rules
        >>> boxes = np.zeros((20, 1, 4)) + [0, 0, 10, 10]
        >>> boxes[10:, 0, [0, 2]] += 9 * np.arange(10)[:, None]
        >>> seen = Observations.from_boxes("film", np.arange(20) / 10, [Thing("cup")], boxes)
        >>> rules = parse_rules("2: speed(X) >= 20 -> moves(X)\n1: moves(X) -> false")
        >>> model = StateModel(rules, 1.0, Vocabulary((Predicate("moves", ("thing",)),)))
        >>> [str(row.fact) for row in model.predict(seen).intervals()]
        ['moves(cup)']
    """

    def __init__(
        self,
        rules: Sequence[Rule] | None = None,
        transition_cost: float = 10.0,
        vocabulary: Vocabulary | None = None,
        *,
        inference: Inference | None = None,
        random_state: int = 0,
    ):
        self.rules, self.transition_cost, self.vocabulary = rules, transition_cost, vocabulary
        self.inference, self.random_state = inference or Inference(), random_state
        self.rules_: tuple[Rule, ...] = tuple(rules or ())
        self.transition_cost_ = float(transition_cost)
        self.vocabulary_ = vocabulary or Vocabulary()

    def ground(self, observations: Observations) -> Grounding:
        """Write the rules out over the objects of a video."""
        if not self.rules_:
            raise StateError("the model has no rules yet; call fit first, or give it rules.")
        return ground(self.rules_, observations, self.vocabulary_)

    def predict(self, observations: Observations) -> StateSequence:
        """Infer which facts hold when."""
        grounding = self.ground(observations)
        _, values = infer(grounding, self.transition_cost_, self.inference)
        return sequence_of(grounding, values)


def sequence_of(grounding: Grounding, values: NDArray[np.bool_]) -> StateSequence:
    """Return inferred values ``(T, F)`` as a sequence; nothing holds of objects not seen."""
    seen = grounding.observations
    place = {thing.name: k for k, thing in enumerate(seen.objects)}
    shown = np.array(values)
    for column, fact in enumerate(grounding.facts):
        for name in fact.arguments:
            shown[:, column] &= seen.present[:, place[name]]
    return StateSequence(seen.video_id, seen.times, grounding.facts, shown)
