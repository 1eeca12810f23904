r"""A fair field: other ways to infer states from the same clauses, each given the same film.

All but ours solve the counting-transition model, :math:`\sum_t \sum_c w_{tc} + K \sum_f
[s_t(f) \ne s_{t-1}(f)]`, with all frames of a film as one problem, as the paper's competitor did.
Opposite unit clauses are set off against each other first, for all of them, as our own search does:
of a fact that is asserted with 5 and forbidden with 3, only 2 are left. All get the rules, weights
and K of the same learned model, and none knows how short a state may be. Facts that no measurement
speaks of, such as that a thing rests unless it is held, follow from the others frame by frame: K
would be charged for them a second time, which ours, where a change of state costs K once, is not.

- ``walkmaxsat``: random walks with restarts, the first from what the unit clauses say.
- ``gibbs``: Gibbs sampling while the temperature falls; the cheapest states met.
- ``bp``: loopy belief propagation (sum-product, damped); the more probable value of every fact.
- ``rc2``: python-sat's exact solver, for films that it solves within a time limit.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.baselines.walk_maxsat import WalkSettings, walk_from
from wordsight.states import (
    Atom,
    ClauseSet,
    FeatureComparison,
    Grounding,
    StateModel,
    StateObservations,
    StateSequence,
)
from wordsight.states.model import state_sequence

__all__ = ["FieldFilm", "by_length", "completed", "field_results", "set_off"]

Array = NDArray[np.float64]
Values = NDArray[np.bool_]
_WALK = WalkSettings(flips=60_000, restarts=3)
_SWEEPS = 60
_HOT, _COLD = 4.0, 0.1  # temperatures of Gibbs sampling, in units of the median weight
_ROUNDS, _DAMPING = 40, 0.5
_SECONDS = 5.0  # for one film, of the exact solver
_MOST_FILMS = 30
_MOST_TRIED = 9  # films given to the exact solver, the shortest


@dataclass(frozen=True)
class FieldFilm:
    """One film of the field: what is measured, what is true, and the model learned on others."""

    seen: StateObservations
    truth: StateSequence
    model: StateModel


def set_off(clauses: ClauseSet, costs: Array) -> Array:
    """Return ``(T, C)`` weights in which no fact is both asserted and forbidden by unit clauses."""
    left = costs.copy()
    for yes, no in clauses.units[: clauses.num_facts].tolist():
        if yes >= 0 and no >= 0:
            both = np.minimum(left[:, yes], left[:, no])
            left[:, yes] -= both
            left[:, no] -= both
    return left


def by_units(clauses: ClauseSet, costs: Array) -> Values:
    """Return ``(T, F)`` what the unit clauses say, frame by frame."""
    says = np.zeros((len(costs), clauses.num_facts), dtype=np.bool_)
    for fact, (yes, _) in enumerate(clauses.units[: clauses.num_facts].tolist()):
        if yes >= 0:
            says[:, fact] = costs[:, yes] > 0
    return says


def walked(clauses: ClauseSet, costs: Array, transition: float) -> Values:
    """Walk from what unit clauses say, then from states drawn at random."""
    return walk_from(clauses, costs, transition, by_units(clauses, costs), _WALK)[1]


def sampled(clauses: ClauseSet, costs: Array, transition: float) -> Values:
    """Sample with a falling temperature; return the cheapest states met."""
    from experiments.baselines.walk_maxsat import compiled_clauses
    from experiments.baselines.walk_maxsat_kernel import anneal

    typical = float(np.median(costs[costs > 0])) if (costs > 0).any() else 1.0
    heats = typical * np.geomspace(_HOT, _COLD, _SWEEPS)
    first, random = by_units(clauses, costs), np.random.default_rng(0)
    _, states = anneal(*compiled_clauses(clauses), costs, float(transition), first, heats, random)
    return np.asarray(states, dtype=np.bool_)


def propagated(clauses: ClauseSet, costs: Array, transition: float) -> Values:
    """Infer by loopy belief propagation.

    A clause forbids one assignment of its facts, so its message to one of them is known in closed
    form: 1 but for the forbidden value, which loses by how probable the rest of it is.
    """
    frames, facts = len(costs), clauses.num_facts
    wide = [k for k, body in enumerate(clauses.bodies) if len(body) + (clauses.heads[k] >= 0) > 1]
    members = [
        [(fact, True) for fact in clauses.bodies[k]]
        + ([(int(clauses.heads[k]), False)] if clauses.heads[k] >= 0 else [])
        for k in wide
    ]
    # Log-odds of true: from units, from each wide clause to its members, and along time.
    units = np.zeros((frames, facts))
    for fact, (yes, no) in enumerate(clauses.units[:facts].tolist()):
        units[:, fact] += (costs[:, yes] if yes >= 0 else 0.0) - (costs[:, no] if no >= 0 else 0.0)
    inward = [np.zeros((frames, len(row))) for row in members]
    forth, back = np.zeros((frames, facts)), np.zeros((frames, facts))
    for _ in range(_ROUNDS):
        belief = units + forth + back
        for row, messages in zip(members, inward, strict=True):
            for place, (fact, _) in enumerate(row):
                belief[:, fact] += messages[:, place]
        for k, row, messages in zip(wide, members, inward, strict=True):
            loses = 1.0 - np.exp(-costs[:, k])
            odds = np.stack([belief[:, f] - messages[:, p] for p, (f, _) in enumerate(row)], axis=1)
            share = _share(np.where([holds for _, holds in row], odds, -odds))
            for place, (_, holds) in enumerate(row):
                others = np.prod(np.delete(share, place, axis=1), axis=1)
                against = np.log(np.maximum(1.0 - loses * others, 1e-12))
                new = against if holds else -against
                messages[:, place] += _DAMPING * (new - messages[:, place])
        forth[1:] += _DAMPING * (_along((belief - back)[:-1], transition) - forth[1:])
        back[:-1] += _DAMPING * (_along((belief - forth)[1:], transition) - back[:-1])
    return np.asarray(belief > 0)


def _share(odds: Array) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds, -40, 40))))


def _along(odds: Array, transition: float) -> Array:
    """Return log-odds after a step at which a change costs so much."""
    stay, change = _share(odds), np.exp(-transition)
    return np.asarray(np.log((stay + change * (1 - stay)) / ((1 - stay) + change * stay)))


def solved(clauses: ClauseSet, costs: Array, transition: float) -> Values | None:
    """Solve a film exactly by RC2; ``None`` if that takes too long or it is not installed."""
    try:
        from pysat.examples.rc2 import RC2Stratified
        from pysat.formula import WCNF
    except ImportError:
        return None
    frames, facts = len(costs), clauses.num_facts
    problem, scale, changes = WCNF(), 1000.0, frames * facts
    for t, row in enumerate(costs):
        for k in np.flatnonzero(row >= 0.5 / scale).tolist():
            literals = [-(t * facts + fact + 1) for fact in clauses.bodies[k]]
            literals += [t * facts + int(clauses.heads[k]) + 1] if clauses.heads[k] >= 0 else []
            if literals:  # an empty clause is broken in any case
                problem.append(literals, weight=round(scale * min(row[k], 1e5)))
        for fact in range(facts) if t else ():
            here, before = t * facts + fact + 1, (t - 1) * facts + fact + 1
            changes += 1
            problem.append([-here, before, changes])
            problem.append([here, -before, changes])
            problem.append([-changes], weight=round(scale * transition))
    with RC2Stratified(problem, solver="g3") as solver:
        timer = threading.Timer(_SECONDS, solver.interrupt)
        timer.start()
        try:
            model = solver.compute(expect_interrupt=True)
        finally:
            timer.cancel()
    if model is None:
        return None
    true = np.zeros(frames * facts, dtype=np.bool_)
    true[[v - 1 for v in model if 0 < v <= frames * facts]] = True
    return true.reshape(frames, facts)


def field_results(films: Sequence[FieldFilm]) -> dict[str, Any]:
    """Infer films by ours and by every other way; of many films some, evenly by their length.

    Returns:
        ``walkmaxsat_fair``, ``rc2``, ``bp``, ``gibbs``: percent of films whose sequence is not
        exactly right, of those that were solved; and ``by_length``: the same with seconds for the
        shortest, middle and longest third of the films.
    """
    every = sorted(films, key=lambda film: len(film.seen))
    places = np.linspace(0, len(every) - 1, min(len(every), _MOST_FILMS)).round().astype(int)
    ordered = [every[k] for k in places]
    ways: dict[str, Callable[[ClauseSet, Array, float], Values | None]] = {
        "walkmaxsat_fair": walked,
        "gibbs": sampled,
        "bp": propagated,
    }
    judged: dict[str, list[tuple[bool, float] | None]] = {}
    for compile_first in (lambda f: f.model.predict(f.seen), *(_by(way) for way in ways.values())):
        compile_first(ordered[0])
    judged["ours"] = [_timed(film, lambda f: f.model.predict(f.seen)) for film in ordered]
    for name, way in ways.items():
        judged[name] = [_timed(film, _by(way)) for film in ordered]
    rc2 = [_timed(film, _by(solved)) for film in ordered[:_MOST_TRIED]]
    judged["rc2"] = [*rc2, *[None] * (len(ordered) - len(rc2))]
    errors = {name: _error(rows) for name, rows in judged.items()}
    return {
        **{name: errors[name] for name in ("walkmaxsat_fair", "rc2", "bp", "gibbs")},
        "rc2_films": sum(row is not None for row in judged["rc2"]),
        "by_length": by_length(judged, [len(film.seen) for film in ordered]),
    }


def _by(
    way: Callable[[ClauseSet, Array, float], Values | None],
) -> Callable[[FieldFilm], StateSequence | None]:
    return lambda film: _told(film, way)


def _told(
    film: FieldFilm, way: Callable[[ClauseSet, Array, float], Values | None]
) -> StateSequence | None:
    grounding: Grounding = film.model.ground(film.seen)
    clauses = grounding.clauses
    costs = np.ascontiguousarray(set_off(clauses, grounding.costs()))
    following = _following(grounding)
    measured = costs.copy()
    for k, body in enumerate(clauses.bodies):
        if following & {*body, int(clauses.heads[k])}:
            measured[:, k] = 0.0
    values = way(clauses, measured, film.model.transition_cost_)
    if values is None:
        return None
    return state_sequence(grounding, completed(clauses, costs, values, sorted(following)))


def _following(grounding: Grounding) -> set[int]:
    """Return the facts that no rule with a measurement speaks of."""
    measured = {
        part.predicate
        for rule in grounding.rules
        if any(isinstance(part, FeatureComparison) for part in rule.body)
        for part in (*rule.body, rule.head)
        if isinstance(part, Atom)
    }
    return {k for k, fact in enumerate(grounding.facts) if fact.predicate not in measured}


def completed(clauses: ClauseSet, costs: Array, values: Values, facts: Sequence[int]) -> Values:
    """Return states in which the given facts are as the others make it cheapest at each frame."""
    found = values.copy()
    for fact in facts:
        either = []
        for holds in (False, True):
            found[:, fact] = holds
            either.append((costs * clauses.violated(found)).sum(axis=1))
        found[:, fact] = either[1] < either[0]
    return found


def _timed(
    film: FieldFilm, infer: Callable[[FieldFilm], StateSequence | None]
) -> tuple[bool, float] | None:
    begin = time.process_time()
    found = infer(film)
    seconds = time.process_time() - begin
    return None if found is None else (found.states() != film.truth.states(), seconds)


def _error(rows: Sequence[tuple[bool, float] | None]) -> float | None:
    known = [row[0] for row in rows if row is not None]
    return round(100 * float(np.mean(known)), 2) if known else None


def by_length(
    judged: dict[str, list[tuple[bool, float] | None]], frames: Sequence[int]
) -> list[dict[str, Any]]:
    """Return error and seconds a film of every way for thirds of films ordered by length."""
    rows = []
    for part in np.array_split(np.arange(len(frames)), min(3, len(frames))):
        row: dict[str, Any] = {"frames": [frames[part[0]], frames[part[-1]]], "films": len(part)}
        for name, every in judged.items():
            some = [every[k] for k in part]
            times = [one[1] for one in some if one is not None]
            row[name] = {
                "error": _error(some),
                "seconds": round(float(np.mean(times)), 4) if times else None,
            }
        rows.append(row)
    return rows
