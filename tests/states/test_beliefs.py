import itertools

import numpy as np
import pytest

from tests.states.builders import HOLDING, all_states, carrying, random_clauses
from wordsight.states import (
    Predicate,
    StateError,
    StateModel,
    StateVocabulary,
    find_events,
    ground,
    parse_events,
    parse_rules,
)
from wordsight.states.beliefs import (
    BeliefSettings,
    best_states,
    calibration,
    candidate_states,
    draw_reliability,
    posterior,
)
from wordsight.states.grounding.grounder import Grounder
from wordsight.states.grounding.observations import StateObservations

RULES = parse_rules(
    """
    2: distance(X,Y) <= 8, speed(Y) >= 20, hand(X) -> attached(X,Y)
    1: speed(Y) <= 20, attached(X,Y) -> false
    0.7: speed(Y) <= 5 -> grounded(Y)
    0.4: speed(Y) >= 10, grounded(Y) -> false
    hard: attached(X,Y), grounded(Y) -> false
    """
)


def few_frames(frames):
    """Some frames of a hand that fetches a block."""
    seen, _ = carrying(seed=3)
    features = {name: values[frames] for name, values in seen.features.items()}
    return StateObservations(
        seen.video_id, seen.times[frames], seen.objects, features, seen.present[frames]
    )


def by_enumeration(grounding, transition, temperature):
    """The probability of every fact from all sequences of all consistent states, one by one.

    Facts that no rule asserts in the video are false.
    """
    states = all_states(len(grounding.facts))
    asserted = np.isin(np.arange(len(grounding.facts)), grounding.clauses.heads)
    states = states[~states[:, ~asserted].any(axis=1)]
    table = grounding.costs() @ grounding.clauses.violated(states).T.astype(float)
    allowed = np.flatnonzero(table.min(axis=0) < 1e5)
    total, facts = 0.0, np.zeros((len(table), len(grounding.facts)))
    for path in itertools.product(allowed, repeat=len(table)):
        cost = table[np.arange(len(path)), path].sum()
        cost += transition * sum(a != b for a, b in itertools.pairwise(path))
        weight = np.exp(-cost / temperature)
        total += weight
        facts += weight * states[list(path)]
    return facts / total


@pytest.mark.parametrize(("transition", "temperature"), [(0.0, 1.0), (2.0, 1.0), (3.0, 4.0)])
def test_probabilities_are_those_of_all_sequences(transition, temperature):
    grounding = ground(RULES, few_frames(slice(28, 32)), HOLDING)
    found = posterior(grounding, transition, BeliefSettings(temperature))
    expected = by_enumeration(grounding, transition, temperature)
    np.testing.assert_allclose(found.facts(), expected, atol=1e-9)


def test_online_probabilities_are_those_of_the_frames_so_far():
    whole = ground(RULES, few_frames(slice(28, 34)), HOLDING)
    states = candidate_states(whole, whole.costs(), 2.0, BeliefSettings())
    so_far = posterior(whole, 2.0, states=states).facts(online=True)
    part = ground(RULES, few_frames(slice(28, 31)), HOLDING)
    np.testing.assert_allclose(so_far[2], posterior(part, 2.0, states=states).facts()[-1])


def test_the_best_states_are_those_of_least_cost():
    random = np.random.default_rng(0)
    for _ in range(60):
        clauses = random_clauses(random)
        weights = random.uniform(0.1, 3.0, len(clauses))
        asserted = set(clauses.heads[clauses.heads >= 0].tolist())
        unasserted = [k for k in range(clauses.num_facts) if k not in asserted]
        states = all_states(clauses.num_facts)
        states = states[~states[:, unasserted].any(axis=1)]
        costs = np.sort(clauses.violated(states) @ weights)
        found = best_states(clauses, weights, 5)
        np.testing.assert_allclose([cost for cost, _ in found], costs[:5], atol=1e-6)
        assert len({state.tobytes() for _, state in found}) == len(found)


def test_best_states_of_parts_give_nearly_the_same_probabilities():
    grounding = ground(RULES, carrying(seed=3)[0], HOLDING)
    exact = posterior(grounding, 4.0).facts()
    few = BeliefSettings(best=3, most_states=5)  # there are nine
    rough = posterior(grounding, 4.0, few)
    assert len(rough.states) == 5
    assert np.abs(rough.facts() - exact).max() < 0.05


def test_draws_have_the_probabilities():
    grounding = ground(RULES, carrying(seed=3)[0], HOLDING)
    found = posterior(grounding, 2.0, BeliefSettings(4.0))
    shares = found.draw(4000, random_state=1).mean(axis=0)
    assert np.abs(shares - found.facts()).max() < 0.04


def test_a_learned_model_is_calibrated_and_events_are_probable():
    films = [carrying(f"film-{k}", seed=k) for k in range(12)]
    seen, truth = [film[0] for film in films], [film[1] for film in films]
    model = StateModel(vocabulary=HOLDING).fit(seen[:8], truth[:8])
    assert model.notes_["held_out"]["sequences"] > 0.7
    said, true = [], []
    for video, labels in zip(seen[8:], truth[8:], strict=True):
        beliefs = model.believe(video)
        assert beliefs.calibrated
        said.append(beliefs.probabilities.ravel())
        true.append(labels.table(beliefs.sequence.facts).ravel())
    assert calibration(np.concatenate(said), np.concatenate(true)).error < 0.05
    definitions = parse_events("PICKUP(x,y) = [not attached(x,y)] ; [attached(x,y)]")
    events = find_events(beliefs.sequence, definitions)
    assert [str(event) for event in events] == ["PICKUP(hand,red)"]
    assert beliefs.event_probabilities(events, definitions)[0] > 0.9
    assert {row.answer for row in beliefs.rows()} == {"yes"}


def test_what_is_neither_probable_nor_improbable_is_unsure():
    rules = parse_rules(
        "0.1: speed(X) >= 0 -> moves(X)\n0.08: moves(X) -> false\n"
        "0.1: speed(X) <= 20, moves(X) -> false"
    )
    vocabulary = StateVocabulary((Predicate("moves", ("block",)),))
    beliefs = StateModel(rules, 0.0, vocabulary).believe(few_frames(slice(35, 40)))
    assert not beliefs.calibrated
    red, *_ = beliefs.rows()
    assert str(red.fact) == "moves(red)"
    assert red.answer == "unsure"
    assert red.probability == pytest.approx(1 / (1 + np.exp(-0.02)), abs=1e-3)
    doubts = {str(row.fact) for row in beliefs.rows(doubts=True)}
    assert doubts == {"moves(red)", "moves(green)"}


def test_calibration_measures_and_draws(tmp_path):
    said = np.repeat([0.1, 0.9], 100)
    true = np.concatenate([np.arange(100) < 10, np.arange(100) < 60])
    measured = calibration(said, true)
    assert measured.error == pytest.approx(0.15)
    assert measured.bins == ((100, 0.1, 0.1), (100, 0.9, 0.6))
    draw_reliability(tmp_path / "reliability.png", measured, heading="films")
    assert (tmp_path / "reliability.png").stat().st_size > 1000
    with pytest.raises(StateError, match="as many truths"):
        calibration(np.zeros(0), np.zeros(0, dtype=bool))


def test_without_rules_nothing_is_known():
    seen, _ = carrying("film", seed=0, frames=12)
    found = posterior(Grounder((), HOLDING).ground(seen), 3.0, BeliefSettings())
    assert found.facts().shape == (12, len(found.states[0]))
    assert np.isfinite(found.facts()).all()
