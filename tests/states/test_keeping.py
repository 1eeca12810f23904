"""Facts of which nothing is seen for a while persist, and what follows from them with them."""

import numpy as np
import pytest

from experiments.towers import VOCABULARY, tower_films
from wordsight.states import InferenceSettings, StateModel, parse_rules
from wordsight.states.methods import with_bound

RULES = parse_rules(
    """
    hard: attached(X,Y), attached(X,Z) -> false
    hard: on(X,Y), on(X,Z) -> false
    hard: on(X,Y), on(Y,X) -> false
    1: overlap(X,Y) >= 0.1, relative_speed(X,Y) <= 60, hand(X) -> attached(X,Y)
    1: overlap(X,Y) <= 0.1, attached(X,Y) -> false
    1: distance(X,Y) <= 3, vertical_gap(X,Y) >= -8, block(X), block(Y) -> on(X,Y)
    1: distance(X,Y) >= 3, on(X,Y) -> false
    1: dash(X) >= 1.2, dash_next(X) >= 10, block(X) -> carried(X)
    1: speed(X) <= 30, carried(X) -> false
    1: dash_next(X) <= 10, carried(X) -> false
    """
)
CHAIN = parse_rules("1: on(X,Y), carried(Y) -> carried(X)")


@pytest.fixture(scope="module")
def film():
    return next(film for film in tower_films(8, 3) if film.hidden)


def carried(film, rules, keep):
    model = StateModel(rules, 4.0, VOCABULARY, inference=InferenceSettings(keep=keep))
    found = model.predict(film.seen)
    return {str(row.fact) for row in found.intervals() if row.fact.predicate == "carried"}


def test_hidden_blocks_are_carried_only_by_rules_that_chain_and_facts_that_persist(film):
    truth = {str(f) for f in film.truth.facts if f.predicate == "carried"}
    assert len(truth) >= 2
    assert carried(film, RULES + CHAIN, keep=True) == truth
    assert len(carried(film, RULES, keep=True)) == 1
    assert len(carried(film, RULES + CHAIN, keep=False)) == 1


def test_keeping_facts_costs_nothing(film):
    model = StateModel(RULES + CHAIN, 4.0, VOCABULARY)
    grounding = model.ground(film.seen)
    totals = []
    for keep in (False, True):
        model.inference = InferenceSettings(keep=keep)
        values = model.predict(film.seen).table(grounding.facts)
        changes = int((values[1:] != values[:-1]).any(axis=1).sum())
        broken = (grounding.costs() * grounding.clauses.violated(values)).sum()
        totals.append(broken + 4.0 * changes)
    assert totals[1] == pytest.approx(totals[0])
    assert np.isfinite(totals[0])


def test_a_film_without_changes_stays_as_it_is(film):
    model = StateModel(RULES, 1e6, VOCABULARY, inference=InferenceSettings(keep=True))
    assert len(model.predict(film.seen).states()) == 1


def test_a_bound_of_the_search_leaves_other_ways_of_inference_as_they_are():
    model = StateModel(RULES, 4.0, VOCABULARY, inference=InferenceSettings(keep=True))
    bounded = with_bound(model, 10).inference
    assert (bounded.keep, bounded.method, bounded.search.bound) == (True, "search", 10)
