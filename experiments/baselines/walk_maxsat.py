r"""WalkMaxSAT for the counting-transition model, where each fact that changes costs K; a baseline.

The model charges :math:`K \sum_f [s_t(f) \ne s_{t-1}(f)]`. Finding its optimum is NP-hard even
where single states are easy, so all frames become one large weighted MAX-SAT problem, which a
random walk with restarts solves approximately.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import StateError
from wordsight.states.grounding.clauses import ClauseSet
from wordsight.states.grounding.grounder import Grounding, ground
from wordsight.states.grounding.observations import StateObservations
from wordsight.states.model import check_pairs, state_sequence
from wordsight.states.rules.facts import StateSequence
from wordsight.states.rules.rule import Rule
from wordsight.states.rules.vocabulary import StateVocabulary

__all__ = [
    "CountingTransition",
    "WalkSettings",
    "compiled_clauses",
    "walk_from",
    "walk_max_sat",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class WalkSettings:
    """How WalkMaxSAT walks.

    Attributes:
        flips: Steps of one walk.
        restarts: How often to start anew, from states drawn at random.
        noise: Share of steps that go anywhere instead of where it costs least.
    """

    flips: int = 20_000
    restarts: int = 5
    noise: float = 0.1

    def __post_init__(self) -> None:
        if self.flips < 1 or self.restarts < 1 or not 0.0 <= self.noise <= 1.0:
            raise StateError(
                f"flips and restarts must be 1 or more and noise from 0 to 1, got {self}."
            )


def walk_max_sat(
    grounding: Grounding,
    transition_cost: float,
    settings: WalkSettings | None = None,
    *,
    weights: Array | None = None,
    random_state: int = 0,
) -> tuple[float, NDArray[np.bool_]]:
    """Look for the states of least cost under the counting-transition model.

    Args:
        grounding: A video with its rules.
        transition_cost: K, what every fact that changes costs.
        settings: How to walk.
        weights: ``(R,)`` other weights than those of the rules.
        random_state: Seed.

    Returns:
        The least cost met, and ``(T, F)`` the states there.
    """
    clauses, costs = grounding.clauses, np.ascontiguousarray(grounding.costs(weights))
    # The first walk begins where nothing holds: rules are mostly silent.
    first = np.zeros((len(costs), clauses.num_facts), dtype=np.bool_)
    chosen = settings or WalkSettings()
    return walk_from(clauses, costs, transition_cost, first, chosen, random_state=random_state)


def walk_from(
    clauses: ClauseSet,
    costs: Array,
    transition_cost: float,
    first: NDArray[np.bool_],
    settings: WalkSettings,
    *,
    random_state: int = 0,
) -> tuple[float, NDArray[np.bool_]]:
    """Walk from given states ``(T, F)``, then from others drawn at random; return the best met."""
    from experiments.baselines.walk_maxsat_kernel import walk

    random, compiled = np.random.default_rng(random_state), compiled_clauses(clauses)
    best, states = np.inf, first
    for number in range(settings.restarts):
        start = first if number == 0 else random.random(first.shape) < 0.5
        cost, found = walk(
            *compiled, costs, float(transition_cost), start, settings.flips, settings.noise, random
        )
        if cost < best:
            best, states = cost, found
    return float(best), states


def compiled_clauses(clauses: ClauseSet) -> tuple[NDArray[np.int64], ...]:
    """Return bodies and their starts, heads, and the clauses of each fact and their starts."""
    uses = _uses(clauses.bodies, clauses.heads, clauses.num_facts)
    return (*_compressed(clauses.bodies), clauses.heads, *uses)


@dataclass
class CountingTransition:
    """The counting-transition model with weights from the perceptron, all inference by walking.

    Args:
        rules: The rules.
        vocabulary: Predicates and features they speak of.
        walk: How to walk.
        iterations: How often to go through the videos.
        transition_step: How much larger a step of K is than one of a weight.
        random_state: Seed.

    Attributes:
        weights_: ``(R,)`` weights of the rules.
        transition_cost_: K.
        history_: Per iteration the weights and K after it, ``(R + 1,)``.
    """

    rules: Sequence[Rule]
    vocabulary: StateVocabulary
    walk: WalkSettings = WalkSettings()
    iterations: int = 8
    transition_step: float = 1.0
    random_state: int = 0

    def __post_init__(self) -> None:
        self.weights_: Array = np.array([rule.weight for rule in self.rules])
        self.transition_cost_ = 1.0
        self.history_: list[Array] = []

    def fit(
        self, observations: Sequence[StateObservations], states: Sequence[StateSequence]
    ) -> "CountingTransition":
        """Learn weights and K; each iteration's result is the mean over all steps so far."""
        check_pairs(observations, states)
        pairs = []
        for video, labels in zip(observations, states, strict=True):
            grounding = ground(self.rules, video, self.vocabulary)
            pairs.append((grounding, labels.table(grounding.facts)))
        random = np.random.default_rng(self.random_state)
        now = np.append(self.weights_, self.transition_cost_)
        total, count = np.zeros_like(now), 0
        self.history_ = []
        for _ in range(self.iterations):
            for k in random.permutation(len(pairs)):
                now = self._step(now, *pairs[k], seed=int(random.integers(2**31)))
                total, count = total + now, count + 1
            self.history_.append(total / count)
        if self.history_:
            self.use(self.history_[-1])
        return self

    def use(self, vector: Array) -> None:
        """Take weights and, last, K from an iteration."""
        self.weights_, self.transition_cost_ = vector[:-1], float(vector[-1])

    def predict(self, observations: StateObservations) -> StateSequence:
        """Look for the states of a video."""
        grounding = ground(self.rules, observations, self.vocabulary)
        _, values = walk_max_sat(
            grounding,
            self.transition_cost_,
            self.walk,
            weights=self.weights_,
            random_state=self.random_state,
        )
        return state_sequence(grounding, values)

    def _step(
        self, now: Array, grounding: Grounding, truth: NDArray[np.bool_], *, seed: int
    ) -> Array:
        _, found = walk_max_sat(
            grounding, float(now[-1]), self.walk, weights=now[:-1], random_state=seed
        )
        change = _counted(grounding, found) - _counted(grounding, truth)
        change[-1] *= self.transition_step
        return np.maximum(now + change, 0.0)


def _counted(grounding: Grounding, values: NDArray[np.bool_]) -> Array:
    """Return violations of each rule and, last, how many facts change."""
    return np.append(grounding.violations(values), (values[1:] != values[:-1]).sum()).astype(float)


def _compressed(
    rows: Sequence[tuple[int, ...]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows of numbers one behind the other, and where each begins."""
    flat = np.array([number for row in rows for number in row], dtype=np.int64)
    starts = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
    return flat, starts


def _uses(
    bodies: Sequence[tuple[int, ...]], heads: NDArray[np.int64], facts: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the clauses that speak of each fact."""
    users: list[set[int]] = [set() for _ in range(facts)]
    for clause, (body, head) in enumerate(zip(bodies, heads.tolist(), strict=True)):
        for fact in (*body, *((head,) if head >= 0 else ())):
            users[fact].add(clause)
    return _compressed([tuple(sorted(user)) for user in users])
