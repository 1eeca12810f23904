"""`StateModel`: learns weighted rules from labelled videos and infers states of others."""

import os
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from wordsight.engine import Engine
from wordsight.progress import Progress
from wordsight.states.checks import check_hard_rules, check_training
from wordsight.states.errors import StateError
from wordsight.states.facts import StateSequence
from wordsight.states.grounding import Grounder, Grounding
from wordsight.states.inference import Inference, infer
from wordsight.states.learning import Learning, Task, learn, learned_vocabulary
from wordsight.states.observations import Observations
from wordsight.states.perceptron import PerceptronSettings
from wordsight.states.rules import Rule
from wordsight.states.sequence import decode
from wordsight.states.vocabulary import Vocabulary

__all__ = ["StateModel", "sequence_of"]

_WEIGHING = PerceptronSettings(iterations=20, step=0.02, transition_step=50.0, held_out=0.25)
"""How weights of given rules are learned: a hundred frames amiss move a weight by 2."""


class StateModel:
    r"""States of videos by weighted Horn rules and a cost K of every change of state.

    The states of a video are those of least cost
    :math:`\sum_t \sum_r w_r [\text{rule } r \text{ broken at } t] + K \cdot \text{changes}`, found
    by dynamic programming over segments, each segment's state by best-first search over the rules
    to give up (A. Fern, IJCAI 2005), or over all states where hard rules leave few.

    Args:
        rules: Rules to start from; with :meth:`fit` their weights are learned, and hard ones kept.
            ``None`` to discover rules.
        transition_cost: K to start from.
        vocabulary: Predicates and features; predicates are taken from the labels if left out.
        learning: How rules, weights and K are learned.
        inference: How states are inferred.
        random_state: Seed of everything left to chance.

    Attributes:
        rules_: The rules in use, with their weights.
        transition_cost_: K.
        vocabulary_: Predicates and features the rules speak of.
        notes_: How they were learned.

    Examples:
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
        learning: Learning | None = None,
        inference: Inference | None = None,
        random_state: int = 0,
    ):
        if not (transition_cost >= 0 and np.isfinite(transition_cost)):
            raise StateError(f"the cost of a transition must be 0 or more, got {transition_cost}.")
        self.rules, self.transition_cost, self.vocabulary = rules, transition_cost, vocabulary
        # Rules that are found come with weights; those that somebody wrote have theirs learned.
        usual = Learning(perceptron=None if rules is None else _WEIGHING)
        self.learning, self.inference = learning or usual, inference or Inference()
        self.random_state = random_state
        self.rules_: tuple[Rule, ...] = tuple(rules or ())
        self.transition_cost_ = float(transition_cost)
        self.vocabulary_ = vocabulary or Vocabulary()
        self.notes_: dict[str, Any] = {}
        self._grounder: Grounder | None = None

    def fit(
        self,
        observations: Sequence[Observations],
        states: Sequence[StateSequence],
        *,
        groups: Sequence[object] | None = None,
        progress: Progress | None = None,
        engine: Engine | None = None,
    ) -> Self:
        """Learn from labelled videos.

        Args:
            observations: What is measured in each video.
            states: What holds when. Labels told in order only, one row per state, do where rules
                are given and K is not cross-fitted; to discover rules, every frame needs its own.
            groups: Which videos belong together, such as those of one person, so that K is chosen
                on people the rules have not seen.
            progress: Told how far the work has come.
            engine: Who discovers rules; this process if left out. The rules are the same.
        """
        discovers = self.rules is None
        check_training(observations, states, groups, timed=discovers)
        vocabulary = learned_vocabulary(observations, states, self.vocabulary)
        check_hard_rules(self.rules or (), observations, states, vocabulary)
        task = Task(
            tuple(observations),
            tuple(states),
            vocabulary,
            None if self.rules is None else tuple(self.rules),
            self.learning,
            self.inference,
            self.random_state,
        )
        found = learn(task, self.transition_cost, groups=groups, progress=progress, engine=engine)
        self.rules_, self.transition_cost_ = found.rules, found.transition_cost
        self.vocabulary_, self.notes_ = vocabulary, found.notes
        return self

    def ground(self, observations: Observations) -> Grounding:
        """Write the rules out over the objects of a video."""
        if not self.rules_:
            raise StateError("the model has no rules yet; call fit first, or give it rules.")
        known = self._grounder
        if (
            known is None
            or known.rules is not self.rules_
            or (known.vocabulary is not self.vocabulary_)
        ):
            self._grounder = known = Grounder(self.rules_, self.vocabulary_)
        return known.ground(observations)

    def predict(self, observations: Observations) -> StateSequence:
        """Infer which facts hold when."""
        grounding = self.ground(observations)
        _, values = infer(grounding, self.transition_cost_, self.inference)
        return sequence_of(grounding, values)

    def predict_online(self, observations: Observations) -> StateSequence:
        """Infer for every moment what would be said at that moment, knowing nothing later.

        Only as free of foresight as the observations: measure them with ``causal=True``.
        """
        grounding = self.ground(observations)
        found = decode(
            grounding.clauses, grounding.costs(), self.transition_cost_, self.inference.search
        )
        return sequence_of(grounding, found.online)

    def score(self, observations: Sequence[Observations], states: Sequence[StateSequence]) -> float:
        """Return the share of videos whose compressed sequence of states is exactly right."""
        check_training(observations, states, None, timed=False)
        pairs = zip(observations, states, strict=True)
        return float(np.mean([self.predict(o).states() == s.states() for o, s in pairs]))

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the model to a folder: the rules as text, the rest as JSON, and a card."""
        from wordsight.states.storage import save_model

        save_model(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that :meth:`save` wrote; it infers the same."""
        from wordsight.states.storage import load_model

        return load_model(cls, path)


def sequence_of(grounding: Grounding, values: NDArray[np.bool_]) -> StateSequence:
    """Return inferred values ``(T, F)`` as a sequence; nothing holds of objects not seen."""
    seen = grounding.observations
    place = {thing.name: k for k, thing in enumerate(seen.objects)}
    shown = np.array(values)
    for column, fact in enumerate(grounding.facts):
        for name in fact.arguments:
            shown[:, column] &= seen.present[:, place[name]]
    return StateSequence(seen.video_id, seen.times, grounding.facts, shown)
