"""The baselines: forward greedy merge and WalkMaxSAT, beside brute force on small problems."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.baselines.walk_maxsat import CountingTransition, WalkSettings, walk_max_sat
from wordsight.states import (
    InferenceSettings,
    Predicate,
    StateError,
    StateModel,
    StateObservations,
    StateSequence,
    StateVocabulary,
    TrackedObject,
    ground,
    parse_fact,
    parse_rules,
)
from wordsight.states.discovery.selection import MergeSettings, select_for_merging
from wordsight.states.rules.vocabulary import ObjectFeature
from wordsight.states.search.inference import greedy_merge

WORDS = StateVocabulary(
    (Predicate("on", ("thing",)), Predicate("off", ("thing",))),
    (ObjectFeature("signal", ("thing",)), ObjectFeature("noise", ("thing",))),
)
RULES = parse_rules(
    "1: signal(X) >= 1 -> on(X)\n1: signal(X) <= -1 -> off(X)\n1: on(X), off(X) -> false\n"
)


def film(signal, name="film"):
    values = np.array(signal, dtype=float)[:, None]
    return StateObservations(
        name,
        np.arange(len(values)) / 10,
        (TrackedObject("lamp"),),
        {"signal": values, "noise": np.zeros_like(values)},
        np.ones_like(values, dtype=bool),
    )


def held(values):
    return "".join(".+-x"[int(on) + 2 * int(off)] for on, off in values)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signal", "plain", "cleaned"),
    [
        # a steady lamp, then the other state; what is not said does not hold
        ((1, 1, 0, 1, -1, -1), "++++--", "++++--"),
        # one wrong moment cuts the pool in three; cleaning leaves it out
        ((1, 1, -1, 1, 1), "++-++", "+++++"),
        # two in a row are more than a patience of one
        ((1, -1, -1, 1), "+--+", "+--+"),
        ((0, 0), "..", ".."),
        ((), "", ""),
    ],
)
def test_moments_are_pooled_while_they_agree(signal, plain, cleaned):
    grounding = ground(RULES, film(signal), WORDS)
    order = [str(fact) for fact in grounding.facts]
    columns = [order.index("on(lamp)"), order.index("off(lamp)")]
    assert held(greedy_merge(grounding)[:, columns]) == plain
    assert held(greedy_merge(grounding, patience=1)[:, columns]) == cleaned


def test_a_moment_that_contradicts_itself_says_nothing_or_is_cleaned_away():
    both = parse_rules(
        "1: signal(X) >= 1 -> on(X)\n1: noise(X) >= 1 -> off(X)\n1: on(X), off(X) -> false"
    )
    seen = film((1, 1, 1)).with_feature("noise", np.array([[0.0], [1.0], [0.0]]))
    grounding = ground(both, seen, WORDS)
    on = [str(fact) for fact in grounding.facts].index("on(lamp)")
    assert greedy_merge(grounding)[:, on].tolist() == [True, False, True]
    assert greedy_merge(grounding, patience=2)[:, on].tolist() == [True, True, True]


def labelled(signal):
    facts = (parse_fact("off(lamp)"), parse_fact("on(lamp)"))
    values = np.array([[s < 0, s > 0] for s in signal], dtype=bool)
    return StateSequence("film", np.arange(len(signal)) / 10, facts, values)


def test_pruning_drops_what_is_wrong_and_what_is_not_needed():
    rules = parse_rules(
        "1: signal(X) >= 1 -> on(X)\n"
        "1: signal(X) >= 0.5 -> on(X)\n"  # says the same
        "1: signal(X) <= 5 -> off(X)\n"  # wrong half of the time
        "1: signal(X) <= -1 -> off(X)\n"
        "1: on(X), off(X) -> false\n"
    )
    signal = (1, 1, 1, -1, -1)
    kept, patience = select_for_merging(rules, [film(signal)], [labelled(signal)], WORDS)
    assert (len(kept), patience) == (3, 0)
    model = StateModel(kept, 0.0, WORDS, inference=InferenceSettings(method="merge"))
    assert model.predict(film(signal)).states() == labelled(signal).states()
    whole, _ = select_for_merging(
        rules, [film(signal)], [labelled(signal)], WORDS, MergeSettings(prune=False)
    )
    assert len(whole) == 4  # what is wrong goes in any case


def test_pruning_keeps_rules_that_help_although_no_video_comes_out_right():
    rules = parse_rules("1: signal(X) >= 1 -> on(X)\n1: on(X), off(X) -> false\n")
    signal = (1, 1, 1, -1, -1)  # nothing can tell that it is off
    kept, _ = select_for_merging(rules, [film(signal)], [labelled(signal)], WORDS)
    assert str(rules[0]) in [str(rule) for rule in kept]


def test_no_videos_are_refused():
    with pytest.raises(StateError, match="at least one"):
        CountingTransition(RULES, WORDS).fit([], [])


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.integers(-1, 1), min_size=1, max_size=3),
    st.floats(0, 3),
    st.lists(st.floats(0.1, 3), min_size=3, max_size=3),
)
def test_a_long_walk_finds_the_optimum_of_small_problems(signal, transition, weights):
    grounding = ground(RULES, film(signal), WORDS)
    given_weights = np.array(weights)
    cost, states = walk_max_sat(
        grounding, transition, WalkSettings(3000, 4, 0.2), weights=given_weights
    )
    assert cost == pytest.approx(total(grounding, states, transition, given_weights))
    count = 2 * len(signal)
    everything = (
        np.array(bits, dtype=bool).reshape(len(signal), 2) for bits in product((0, 1), repeat=count)
    )
    least = min(total(grounding, some, transition, given_weights) for some in everything)
    assert cost == pytest.approx(least)


def total(grounding, states, transition, weights):
    violations = grounding.violations(states) @ weights
    return violations + transition * (states[1:] != states[:-1]).sum()


@pytest.mark.slow
def test_walking_is_repeatable_and_learning_gets_separable_videos_right():
    signals = [(1, 1, 1, 1, -1, -1, -1, -1), (-1, -1, -1, 1, 1, 1), (1, 1, -1, 1, 1, 1)]
    truths = [labelled(s) for s in signals[:2]] + [labelled((1,) * 6)]
    model = CountingTransition(RULES, WORDS, WalkSettings(2000, 3))
    model.fit([film(s) for s in signals], truths)
    again = CountingTransition(RULES, WORDS, WalkSettings(2000, 3))
    again.fit([film(s) for s in signals], truths)
    assert np.array_equal(np.stack(model.history_), np.stack(again.history_))
    found = [model.predict(film(s)).states() for s in signals]
    assert found == [truth.states() for truth in truths]
    assert (model.weights_ >= 0).all()
    assert model.transition_cost_ >= 0
