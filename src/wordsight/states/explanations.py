"""Explanation of an inferred state: the rules that apply at a time, and their costs."""

from dataclasses import dataclass

import numpy as np

from wordsight.errors import StateError
from wordsight.states.grounding.grounder import HARD_WEIGHT, Grounding
from wordsight.states.grounding.observations import StateObservations
from wordsight.states.model import StateModel
from wordsight.states.rules.facts import Fact, StateSequence
from wordsight.states.rules.rule import Atom, FeatureComparison, FeatureTerm, Rule, is_variable

__all__ = ["RuleUse", "StateExplanation", "explain"]


@dataclass(frozen=True)
class RuleUse:
    """One rule applied to certain objects at one frame.

    Attributes:
        rule: The rule.
        objects: The object assigned to each of its variables.
        text: The rule with the names of the objects and the values of the features it compares.
        violated: Whether the state violates it.
        cost: Cost of the violation, 0 if it is satisfied.
        spared: Cost that would arise if its head, or one fact of a body that must not hold, were
            changed: its weight if it is satisfied, else 0.
    """

    rule: Rule
    objects: dict[str, str]
    text: str
    violated: bool
    cost: float
    spared: float


@dataclass(frozen=True)
class StateExplanation:
    """Why a state was inferred at one frame.

    Attributes:
        video_id: The video.
        time: Time of the frame, in seconds.
        facts: The facts that hold.
        kept: Rules that are satisfied and would be violated by changing one fact, by decreasing
            weight, hard ones last.
        violated: Rules that are violated, by decreasing cost.
        cost: Cost of the violated rules at this frame.
        changes: Number of changes of state in the whole video.
        transition_cost: Cost of each change.
    """

    video_id: str
    time: float
    facts: tuple[Fact, ...]
    kept: tuple[RuleUse, ...]
    violated: tuple[RuleUse, ...]
    cost: float
    changes: int
    transition_cost: float


def explain(
    model: StateModel,
    observations: StateObservations,
    time: float,
    states: StateSequence | None = None,
) -> StateExplanation:
    """Return the rules for and against the state at a time.

    Args:
        model: The model.
        observations: The video.
        time: Time in seconds; the frame shown then is explained.
        states: The states to explain, such as labels; by default the inferred ones.

    Raises:
        StateError: If the time is outside the video.
    """
    times = observations.times
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    if not len(times) or not times[0] - 1e-9 <= time <= times[-1] + step:
        span = f"from {times[0]:g} to {times[-1] + step:g} s" if len(times) else "no time at all"
        raise StateError(f"{observations.video_id} runs {span}; {time:g} s is outside it.")
    row = max(int(np.searchsorted(times, time + 1e-9, side="right")) - 1, 0)
    grounding = model.ground(observations)
    sequence = model.predict(observations) if states is None else states
    values = sequence.table(grounding.facts)
    uses = _uses(grounding, values, row)
    violated = sorted((u for u in uses if u.violated), key=lambda use: -use.cost)
    # Hard rules are always satisfied, so the weighted ones come first.
    kept = sorted(
        (use for use in uses if not use.violated), key=lambda use: (use.rule.hard, -use.spared)
    )
    return StateExplanation(
        observations.video_id,
        float(times[row]),
        tuple(f for f, holds in zip(grounding.facts, values[row], strict=True) if holds),
        tuple(kept),
        tuple(violated),
        sum(use.cost for use in violated),
        int((values[1:] != values[:-1]).any(axis=1).sum()),
        model.transition_cost_,
    )


def _uses(grounding: Grounding, values: np.ndarray, row: int) -> list[RuleUse]:
    """Return the rules whose body holds at a frame, or lacks one fact that must not hold."""
    here = values[row]
    uses = []
    for instance in np.flatnonzero(grounding.fired[row]).tolist():
        clause = int(grounding.clause_of[instance])
        body, head = grounding.clauses.bodies[clause], int(grounding.clauses.heads[clause])
        missing = [fact for fact in body if not here[fact]]
        if missing and not (head < 0 and len(missing) == 1):
            continue
        violated = not missing and (head < 0 or not here[head])
        rule = grounding.rules[int(grounding.rule_of[instance])]
        weight = HARD_WEIGHT if rule.hard else rule.weight
        objects = grounding.bindings[instance]
        text = _rule_text(rule, objects, grounding.observations, row)
        cost, spared = (weight, 0.0) if violated else (0.0, weight)
        uses.append(RuleUse(rule, objects, text, violated, cost, spared))
    return uses


def _rule_text(rule: Rule, objects: dict[str, str], video: StateObservations, row: int) -> str:
    parts = [_part(part, objects, video, row) for part in rule.body]
    head = "false" if rule.head is None else _part(rule.head, objects, video, row)
    return f"{', '.join(parts)}{' ' * bool(parts)}-> {head}"


def _part(
    part: Atom | FeatureComparison, objects: dict[str, str], video: StateObservations, row: int
) -> str:
    if isinstance(part, Atom):
        return f"{part.predicate}({','.join(_named(part.arguments, objects))})"
    text, value = _measured(FeatureTerm(part.feature, part.arguments), objects, video, row)
    if isinstance(part.value, FeatureTerm):
        other, known = _measured(part.value, objects, video, row)
        return f"{text} {part.operator} {other} [{value:.4g}, {known:.4g}]"
    return f"{text} {part.operator} {part.value:.4g} [{value:.4g}]"


def _named(arguments: tuple[str, ...], objects: dict[str, str]) -> list[str]:
    return [objects[t] if is_variable(t) else t.strip('"') for t in arguments]


def _measured(
    term: FeatureTerm, objects: dict[str, str], video: StateObservations, row: int
) -> tuple[str, float]:
    names, order = _named(term.arguments, objects), [thing.name for thing in video.objects]
    value = video.features[term.feature][(row, *(order.index(name) for name in names))]
    return f"{term.feature}({','.join(names)})", float(value)
