r"""Beliefs: how probable every fact and event is at each moment, and each state behind them.

With a temperature :math:`\theta` costs become probabilities,
:math:`P(S) \propto \prod_t e^{-c_t(s_t)/\theta}\, q^{[s_t \ne s_{t-1}]}`, where :math:`q` is how
much less probable each change is than none. Forward-backward sums over all sequences of the
states that hard rules leave; where these are too many, over the best ones of every part of the
video. Both numbers are fitted to videos held out, since costs of neighbouring frames are dependent
and would otherwise be far too certain.

Where neither yes nor no is probable enough, the answer is that it is unsure. How far to trust the
probabilities is measured by calibration: of all that is said with 70 %, 70 % should be true.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import StateError
from wordsight.files import atomic_path
from wordsight.states.events.definitions import EventDefinition
from wordsight.states.events.find import StateEvent, find_events
from wordsight.states.grounding.clauses import ClauseSet
from wordsight.states.grounding.grounder import HARD_WEIGHT, Grounding
from wordsight.states.rules.facts import Fact, FactInterval, StateSequence
from wordsight.states.rules.rule import FeatureComparison
from wordsight.states.search.inference import affordable_states
from wordsight.states.search.segments import decode, minimise

__all__ = [
    "UNSURE",
    "BeliefCalibration",
    "BeliefSettings",
    "FactBelief",
    "StateBeliefs",
    "StatePosterior",
    "best_states",
    "calibration",
    "candidate_states",
    "draw_reliability",
    "posterior",
]

Array = NDArray[np.float64]
States = NDArray[np.bool_]

_PART = 8  # frames whose best states are looked for together
_FIXED = 1e9  # outweighs all rules together, those of hard ones too

Answer = Literal["yes", "unsure"]

UNSURE = (0.2, 0.8)
"""Between these probabilities neither yes nor no is answered."""

_DRAWS = 200  # sequences in which events are looked for; a share is then known to about 3 %
_AROUND = 0.5  # seconds by which an event may begin earlier or later and still be the same


@dataclass(frozen=True)
class BeliefSettings:
    """How costs become probabilities.

    Attributes:
        temperature: The cost per frame that makes a state e times less probable.
        change: How much less probable a change is than none, as a negative logarithm; ``None`` for
            the transition cost over the temperature.
        best: Best states of each part of a video that are considered where all are too many.
        most_states: Most states to consider.
    """

    temperature: float = 1.0
    change: float | None = None
    best: int = 8
    most_states: int = 512

    def __post_init__(self) -> None:
        positive = np.isfinite(self.temperature) and self.temperature > 0
        if not positive or min(self.best, self.most_states) < 1 or (self.change or 0.0) < 0:
            raise StateError(
                "the temperature must be positive, change 0 or more, and the numbers of states 1 "
                f"or more, got {self}."
            )


@dataclass(frozen=True, eq=False)
class StatePosterior:
    """Probabilities of the states of a video.

    Attributes:
        states: ``(S, F)`` the states considered.
        shares: ``(T, S)`` their probabilities at every frame.
        forward: ``(T, S)`` the same, given that frame and earlier ones only.
        change: How much less probable a change is than none, at most 1.
    """

    states: States
    shares: Array
    forward: Array
    change: float

    def facts(self, *, online: bool = False) -> Array:
        """Return ``(T, F)`` the probability of every fact, with ``online`` given no later frame."""
        shares = self.forward if online else self.shares
        return np.asarray(np.clip(shares @ self.states.astype(np.float64), 0.0, 1.0))

    def draw(self, count: int, random_state: int = 0) -> States:
        """Return ``(count, T, F)`` sequences of states drawn by their probability."""
        from wordsight.states.kernels.loops import draw_paths

        random = np.random.default_rng(random_state)
        paths = np.zeros((count, len(self.forward)), dtype=np.int64)
        draw_paths(self.forward, self.change, random.random(paths.shape), paths)
        return np.asarray(self.states[paths])


def posterior(
    grounding: Grounding,
    transition_cost: float,
    settings: BeliefSettings | None = None,
    *,
    weights: Array | None = None,
    states: States | None = None,
) -> StatePosterior:
    """Find how probable the states of a video are.

    Args:
        grounding: The video with its rules.
        transition_cost: K, used where the settings have no change of their own.
        settings: How costs become probabilities.
        weights: ``(R,)`` weights to use instead of those of the rules.
        states: ``(S, F)`` states to consider; by default :func:`candidate_states`.
    """
    from wordsight.states.kernels.loops import forward_backward

    chosen = settings or BeliefSettings()
    costs = grounding.costs(weights)
    if states is None:
        states = candidate_states(grounding, costs, transition_cost, chosen)
    states = states[~_lacks_default(grounding, states)]
    table = costs @ grounding.clauses.violated(states).T.astype(np.float64)
    table -= table.min(axis=1, keepdims=True)
    kappa = transition_cost / chosen.temperature if chosen.change is None else chosen.change
    change = float(np.exp(-kappa))
    forward, shares = np.zeros_like(table), np.zeros_like(table)
    forward_backward(np.exp(-table / chosen.temperature), change, forward, shares)
    return StatePosterior(states, shares, forward, change)


def _lacks_default(grounding: Grounding, states: States) -> NDArray[np.bool_]:
    """Return ``(S,)`` which states lack a default fact that no hard rule forbids there.

    A default is a fact of which only a rule without conditions and hard rules speak. Its weight
    decides where nothing else does, and says nothing of how certain it is.
    """
    clauses, hard = grounding.clauses, grounding.hard_clauses()
    compares = [any(isinstance(p, FeatureComparison) for p in r.body) for r in grounding.rules]
    conditional = set(
        grounding.clause_of[np.array(compares, dtype=np.bool_)[grounding.rule_of]].tolist()
    )
    lacks = np.zeros(len(states), dtype=np.bool_)
    for fact, (unit, _) in enumerate(clauses.units[: clauses.num_facts].tolist()):
        spoken = [
            k
            for k, (body, head) in enumerate(zip(clauses.bodies, clauses.heads, strict=True))
            if k != unit and (fact in body or head == fact)
        ]
        if unit < 0 or unit in conditional or not spoken or not hard[spoken].all():
            continue
        raised = states.copy()
        raised[:, fact] = True
        broken = [clauses.violated(table)[:, hard].any(axis=1) for table in (states, raised)]
        lacks |= ~states[:, fact] & ~broken[1] & ~broken[0]
    return lacks


def candidate_states(
    grounding: Grounding, costs: Array, transition_cost: float, settings: BeliefSettings
) -> States:
    """Return ``(S, F)`` all states that hard rules leave, or the best ones if they are too many.

    Args:
        grounding: The video with its rules.
        costs: ``(T, C)`` the weights of its clauses.
        transition_cost: K.
        settings: How many states are too many, and how many are the best.
    """
    every = affordable_states(grounding, settings.most_states)
    if every is not None:
        return every
    decoded = decode(grounding.clauses, costs, transition_cost)
    kept = {state.tobytes(): state for state in np.unique(decoded.values, axis=0)}
    ranked: list[tuple[float, int, States]] = []
    for start in range(0, len(costs), _PART):
        found = best_states(grounding.clauses, costs[start : start + _PART].sum(0), settings.best)
        ranked += [(cost - found[0][0], len(ranked) + k, s) for k, (cost, s) in enumerate(found)]
    for _, _, state in sorted(ranked, key=lambda row: row[:2]):
        if len(kept) < settings.most_states:
            kept.setdefault(state.tobytes(), state)
    return np.stack(list(kept.values()))


def best_states(clauses: ClauseSet, weights: Array, count: int) -> list[tuple[float, States]]:
    """Return the cheapest states and their costs, cheapest first, none that breaks a hard rule.

    The best state is found by search; what is left of all states is split by the first fact in
    which it differs from that one, and each part is searched in turn (Lawler's method).

    Args:
        clauses: The C clauses.
        weights: ``(C,)`` their weights.
        count: How many states to return, fewer if there are no more.
    """
    facts = sorted(set(clauses.heads[clauses.heads >= 0].tolist()))
    units: list[tuple[tuple[int, ...], int | None]] = [((), fact) for fact in facts]
    units += [((fact,), None) for fact in facts]
    rows = [(b, None if h < 0 else h) for b, h in zip(clauses.bodies, clauses.heads, strict=True)]
    # Known units take further weight, because each clause occurs once.
    place = {row: k for k, row in enumerate([*rows, *(u for u in units if u not in rows)])}
    wider = ClauseSet.of(clauses.num_facts, place)
    base = np.zeros(len(wider))
    base[: len(rows)] = weights

    def solved(fixed: tuple[bool, ...]) -> tuple[float, States]:
        costs = base.copy()
        for k, holds in enumerate(fixed):
            costs[place[units[k if holds else len(facts) + k]]] += _FIXED
        found = minimise(wider, costs, bound=1000)
        return found.cost, found.state

    cost, state = solved(())
    queue: list[tuple[float, int, tuple[bool, ...], States]] = [(cost, 0, (), state)]
    made = 1
    found: list[tuple[float, States]] = []
    while queue and len(found) < count:
        cost, _, fixed, state = heapq.heappop(queue)
        if found and cost >= found[0][0] + HARD_WEIGHT / 2:
            break
        found.append((cost, state))
        for k in range(len(fixed), len(facts)):
            other = (*(bool(state[fact]) for fact in facts[:k]), not state[facts[k]])
            next_cost, next_state = solved(other)
            heapq.heappush(queue, (next_cost, made, other, next_state))
            made += 1
    return found


@dataclass(frozen=True)
class FactBelief(FactInterval):
    """When a fact holds, or may hold.

    Attributes:
        probability: Mean over the interval.
        answer: ``yes``, or ``unsure`` where the probability is too low for that.
    """

    probability: float
    answer: Answer


@dataclass(frozen=True, eq=False)
class StateBeliefs:
    """The probabilities of the facts of a video, and its cheapest states.

    Attributes:
        sequence: The cheapest states.
        probabilities: ``(T, F)`` of its facts, 0 where an object is not visible.
        posterior: Probabilities of whole states, their facts in the same order.
        visible: ``(T, F)`` whether all objects of a fact are visible.
        calibrated: Whether the temperature was fitted to videos held out.
    """

    sequence: StateSequence
    probabilities: Array
    posterior: "StatePosterior"
    visible: NDArray[np.bool_]
    calibrated: bool

    def rows(self, *, doubts: bool = False) -> tuple[FactBelief, ...]:
        """Return when facts hold, with their probability, by start, then fact.

        Args:
            doubts: Whether to add when facts of the cheapest states that do not hold may do so
                after all: where they are unsure.
        """
        rows = [self._row(interval) for interval in self.sequence.intervals()]
        if doubts:
            low, high = UNSURE
            perhaps = (self.probabilities > low) & (self.probabilities < high)
            doubtful = self._with(perhaps & ~self.sequence.values)
            rows += [self._row(interval, "unsure") for interval in doubtful.intervals()]
        return tuple(sorted(rows, key=lambda row: (row.start, row.fact)))

    def _with(self, values: NDArray[np.bool_]) -> StateSequence:
        known = self.sequence
        return StateSequence(known.video_id, known.times, known.facts, values, known.end)

    def _row(self, interval: FactInterval, answer: Answer | None = None) -> FactBelief:
        times, column = self.sequence.times, self.sequence.facts.index(interval.fact)
        inside = (times >= interval.start - 1e-9) & (times < interval.end - 1e-9)
        mean = float(self.probabilities[inside, column].mean())
        told = answer or ("yes" if mean >= UNSURE[1] else "unsure")
        return FactBelief(
            interval.video_id, interval.start, interval.end, interval.fact, round(mean, 4), told
        )

    def moments(
        self, fact: Fact, start: float = -np.inf, end: float = np.inf
    ) -> list[tuple[float, float]]:
        """Return times and probabilities of a fact from start to end, where they change by .01."""
        times, column = self.sequence.times, self.sequence.facts.index(fact)
        inside = np.flatnonzero((times >= start - 1e-9) & (times < end - 1e-9))
        shares = np.round(self.probabilities[inside, column], 2)
        kept = np.flatnonzero(np.diff(shares, prepend=-1.0))
        return [(round(float(times[inside[k]]), 4), float(shares[k])) for k in kept]

    def event_probabilities(
        self,
        events: Sequence[StateEvent],
        definitions: Sequence[EventDefinition],
        *,
        random_state: int = 0,
    ) -> list[float]:
        """Return the probability of each event.

        Sequences of states are drawn by their probability, and the share in which the same event
        happens to the same objects at about the same time is the answer.

        Args:
            events: Events of the cheapest states.
            definitions: The definitions they were found with.
            random_state: Seed of the draws.
        """
        if not events:
            return []
        counts = np.zeros(len(events))
        for drawn in self.posterior.draw(_DRAWS, random_state):
            one = self._with(drawn & self.visible)
            found: dict[str, list[StateEvent]] = {}
            for event in find_events(one.compress(), definitions):
                found.setdefault(str(event), []).append(event)
            counts += [
                any(
                    other.start <= event.end + _AROUND and event.start <= other.end + _AROUND
                    for other in found.get(str(event), ())
                )
                for event in events
            ]
        return [round(float(share), 4) for share in counts / _DRAWS]


@dataclass(frozen=True)
class BeliefCalibration:
    """How far probabilities are those of the truth.

    Attributes:
        error: Expected calibration error: mean distance of said and true shares, weighted by how
            often each was said.
        log_loss: Mean negative logarithm of what was said of the truth.
        bins: Per bin how many facts at how many moments, their mean probability, and the share
            that is true; empty bins are left out.
        unsure: Share of all that is neither yes nor no.
    """

    error: float
    log_loss: float
    bins: tuple[tuple[int, float, float], ...]
    unsure: float


def calibration(
    probabilities: Array, truth: NDArray[np.bool_], num_bins: int = 10
) -> BeliefCalibration:
    """Compare probabilities ``(N,)`` with what is true ``(N,)``.

    Examples:
        >>> calibration(np.array([0.5, 0.5, 1.0]), np.array([True, False, True])).error
        0.0
    """
    if probabilities.shape != truth.shape or not probabilities.size:
        raise StateError(
            f"there must be as many truths as probabilities, and one or more; got {truth.shape} "
            f"and {probabilities.shape}."
        )
    said, true = probabilities.ravel(), truth.ravel()
    which = np.minimum((said * num_bins).astype(np.int64), num_bins - 1)
    counts = np.bincount(which, minlength=num_bins)
    means = np.bincount(which, said, num_bins) / np.maximum(counts, 1)
    shares = np.bincount(which, true, num_bins) / np.maximum(counts, 1)
    safe = np.clip(said, 1e-6, 1 - 1e-6)
    return BeliefCalibration(
        float((counts * np.abs(means - shares)).sum() / counts.sum()),
        float(-np.log(np.where(true, safe, 1 - safe)).mean()),
        tuple(
            (int(counts[k]), round(float(means[k]), 4), round(float(shares[k]), 4))
            for k in np.flatnonzero(counts)
        ),
        float(((said > UNSURE[0]) & (said < UNSURE[1])).mean()),
    )


def draw_reliability(
    path: str | PathLike[str], measured: BeliefCalibration, *, heading: str, overwrite: bool = False
) -> None:
    """Draw the share that is true over the probability said into a PNG, SVG or PDF file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2, 4.2), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color="#999999", lw=1)
    said, true = [row[1] for row in measured.bins], [row[2] for row in measured.bins]
    axes.plot(said, true, marker="o", color="#0072b2")
    for count, x, y in measured.bins:
        axes.annotate(f"{count:,}", (x, y), (4, -10), textcoords="offset points", fontsize=7)
    axes.set(xlabel="probability said", ylabel="share that is true", xlim=(0, 1), ylim=(0, 1))
    axes.set_title(f"{heading}: error {measured.error:.3f}", loc="left", fontsize=9)
    with atomic_path(path, overwrite=overwrite) as temporary:
        figure.savefig(temporary, dpi=130)
