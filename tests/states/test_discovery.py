import itertools

import numpy as np
import pytest

from tests.states.builders import HOLDING, carrying
from wordsight.states import (
    BoostingSettings,
    ClausalSettings,
    Fact,
    ObjectFeature,
    Predicate,
    StateError,
    StateLearningSettings,
    StateModel,
    StateObservations,
    StateSequence,
    StateVocabulary,
    TrackedObject,
    discover_constraints,
    discover_rules,
    format_rules,
    ground,
    parse_rules,
)
from wordsight.states.discovery import boosting
from wordsight.states.discovery.clausal import find_clauses, valid_conjunctions
from wordsight.states.discovery.literals import canonical, extended_table, plain_table
from wordsight.states.discovery.samples import UNKNOWN, SampleSettings, gather_samples

FILMS = [carrying(f"film{k}", k) for k in range(6)]
SEEN, TOLD = [film[0] for film in FILMS], [film[1] for film in FILMS]
ATTACHED = HOLDING.predicate("attached")


def test_constraints_of_holding_are_found():
    found = discover_constraints(SEEN, TOLD, HOLDING)
    text = format_rules(found.rules)
    assert "hard: attached(X,Y), grounded(Y) -> false" in text
    assert "hard: attached(X,Y), attached(X,Z) -> false" in text
    assert found.explained == ("grounded",)
    assert format_rules(found.defaults) == "0.01: block(X) -> grounded(X)\n"


def test_constraints_that_could_not_have_been_broken_are_not_claimed():
    assert discover_constraints(SEEN[:2], TOLD[:2], HOLDING).rules == ()


def test_thresholds_agree_with_grounding():
    """Where a condition holds in the table, the rule made of it applies, and nowhere else."""
    table = gather_samples(ATTACHED, SEEN[:1], TOLD[:1], HOLDING, SampleSettings(most_rows=10**6))
    rules = discover_rules(SEEN, TOLD, HOLDING, [ATTACHED], BoostingSettings(rounds=4))
    made = ground(rules, SEEN[0], HOLDING)
    assert table.bins.shape == (len(table.columns), 2 * 90)
    assert ((table.bins <= table.levels[:, None]) | (table.bins == UNKNOWN)).all()
    by_name = {(c.feature, c.arguments): k for k, c in enumerate(table.columns)}
    whole = gather_samples(ATTACHED, SEEN, TOLD, HOLDING, SampleSettings(most_rows=10**6))
    for column in whole.columns:
        assert (column.feature, column.arguments) in by_name
        values = SEEN[0].features[column.feature]
        known = values[~np.isnan(values)]
        assert not np.isin(column.thresholds, known).any()
    assert made.fired.any()


def test_frames_near_changes_are_kept_and_the_others_stand_for_those_left_out():
    thin = gather_samples(
        ATTACHED, SEEN, TOLD, HOLDING, SampleSettings(most_rows=200, around_changes=0.3)
    )
    evenly = gather_samples(ATTACHED, SEEN, TOLD, HOLDING, SampleSettings(most_rows=200))
    whole = gather_samples(ATTACHED, SEEN, TOLD, HOLDING, SampleSettings(most_rows=10**6))
    assert len(evenly) < len(thin) < len(whole)
    assert (whole.weight == 1).all() and len(np.unique(evenly.weight)) == 1
    near, rest = thin.weight == 1, thin.weight > 1
    assert near.any() and rest.any()
    step = thin.weight.max()
    assert abs(thin.weight.sum() - len(whole)) <= step * 2 * len(SEEN)


def test_boosted_rules_tell_held_from_free():
    rules = discover_rules(SEEN[:5], TOLD[:5], HOLDING, [ATTACHED], BoostingSettings(rounds=20))
    assert all(len([p for p in rule.body if hasattr(p, "value")]) <= 3 for rule in rules)
    made = ground(rules, SEEN[5], HOLDING)
    truth = TOLD[5].table(made.facts)
    wrong = (made.costs() * made.clauses.violated(truth)).sum()
    never = (made.costs() * made.clauses.violated(np.zeros_like(truth))).sum()
    always = (made.costs() * made.clauses.violated(np.ones_like(truth))).sum()
    assert wrong < 0.6 * min(never, always)


def test_few_boosted_rules_come_near_to_what_all_of_them_say():
    def odds(most):
        settings = BoostingSettings(rounds=40, most_rules=most)
        rules = discover_rules(SEEN, TOLD, HOLDING, [ATTACHED], settings)
        made = ground(rules, SEEN[5], HOLDING)
        none, every = (np.full((1, len(made.facts)), holds) for holds in (False, True))
        violated = made.clauses.violated(none).astype(float) - made.clauses.violated(every)
        return len(rules), made.costs() @ violated.T

    (count, full), (four, near), (two, far) = odds(None), odds(4), odds(2)
    assert count > four == 4 and two == 2
    assert np.abs(near - full).mean() < np.abs(far - full).mean() < np.abs(full).mean()
    learning = StateLearningSettings(BoostingSettings(rounds=12, least_videos=2), most_rules=8)
    assert len(StateModel(vocabulary=HOLDING, learning=learning).fit(SEEN, TOLD).rules_) <= 8


def test_weights_of_few_rules_are_fitted_to_the_labels_together(monkeypatch):
    def loss():
        settings = BoostingSettings(rounds=40, most_rules=4)
        rules = discover_rules(SEEN, TOLD, HOLDING, [ATTACHED], settings)
        total = 0.0
        for seen, told in zip(SEEN, TOLD, strict=True):
            made = ground(rules, seen, HOLDING)
            truth = told.table(made.facts)
            for k in range(len(made.facts)):
                one = np.arange(len(made.facts)) == k
                costs = made.costs() @ made.clauses.violated(np.stack([one & False, one])).T
                odds = (costs[:, 0] - costs[:, 1]) * np.where(truth[:, k], -1, 1)
                total += np.logaddexp(0.0, odds).sum()
        return total

    fitted = loss()
    monkeypatch.setattr(boosting, "_NEWTON_STEPS", 0)
    assert fitted < loss()


def test_bags_are_deterministic_given_their_seed():
    settings = BoostingSettings(rounds=5, bags=3, least_videos=2)
    one, same, other = (
        discover_rules(SEEN, TOLD, HOLDING, [ATTACHED], settings, random_state=seed)
        for seed in (1, 1, 2)
    )
    assert one == same
    assert one != other


def test_support_is_counted_in_videos():
    settings = BoostingSettings(rounds=10, least_videos=7)  # there are only six
    rules = discover_rules(SEEN, TOLD, HOLDING, [ATTACHED], settings)
    assert len(rules) == 1  # how common it is, and nothing else


@pytest.mark.slow
def test_clauses_found_are_valid_general_and_not_redundant():
    settings = ClausalSettings(accuracy=0.97, coverage=0.2, most_rows=10**6)
    rules = discover_rules(SEEN, TOLD, HOLDING, [ATTACHED], settings)
    assert any(rule.head is None for rule in rules) and any(rule.head for rule in rules)
    broken, applied = np.zeros(len(rules)), np.zeros(len(rules))
    for seen, told in FILMS:
        made = ground(rules, seen, HOLDING)
        broken += made.violations(told.table(made.facts))
        applied += np.bincount(made.rule_of, made.fired.sum(axis=0), minlength=len(rules))
    assert (broken <= 0.03 * applied + 1e-9).all()
    bodies = [set(map(str, rule.body)) for rule in rules]
    assert not any(a < b for a in bodies for b in bodies)


@pytest.mark.slow
def test_clauses_that_must_always_be_right_are_right_near_changes_too():
    rare = {"accuracy": 1.0, "most_rows": 60, "num_thresholds": 4}
    broken = []
    for seconds in (0.0, 1.0):
        settings = ClausalSettings(**rare, around_changes=seconds)
        rules = discover_rules(SEEN, TOLD, HOLDING, [ATTACHED], settings)
        made = [ground(rules, seen, HOLDING) for seen in SEEN]
        wrong = [g.violations(told.table(g.facts)) for g, told in zip(made, TOLD, strict=True)]
        broken.append(int(np.sum(wrong)))
    assert broken[1] <= broken[0]
    assert broken[1] == 0


@pytest.mark.slow
def test_clausal_discovery_is_the_same_on_any_number_of_threads():
    one, two = (
        discover_rules(SEEN, TOLD, HOLDING, [ATTACHED], ClausalSettings(workers=workers))
        for workers in (1, 2)
    )
    assert one == two


TINY = StateVocabulary(
    (Predicate("on", ("block", "block")), Predicate("held", ("block",))),
    (ObjectFeature("height", ("block",)), ObjectFeature("gap", ("block", "block"))),
)
COMPLETE = {"beam": None, "least_videos": 1, "most_rules": 10**6, "num_thresholds": 2}


def tiny(seed, frames=12):
    """Three blocks with random features and facts."""
    random = np.random.default_rng(seed)
    things = tuple(TrackedObject(name, "block") for name in "abc")
    features = {
        "height": random.integers(0, 4, (frames, 3)).astype(float),
        "gap": random.integers(0, 4, (frames, 3, 3)).astype(float),
    }
    features["height"][random.random((frames, 3)) < 0.1] = np.nan
    present = random.random((frames, 3)) < 0.9
    times = np.arange(frames) / 10
    seen = StateObservations(f"tiny{seed}", times, things, features, present)
    facts = [Fact("held", (a,)) for a in "abc"]
    facts += [Fact("on", pair) for pair in itertools.permutations("abc", 2)]
    values = random.random((frames, len(facts))) < 0.4
    return seen, StateSequence(seen.video_id, times, tuple(facts), values)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["held", "on"])
@pytest.mark.parametrize("side", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_the_clausal_search_is_complete(name, side, seed):
    """Every valid conjunction of two literals holds only where one that was found holds."""
    films = [tiny(10 * seed + k) for k in range(2)]
    seen, told = [f[0] for f in films], [f[1] for f in films]
    settings = ClausalSettings(accuracy=0.8, coverage=0.1, most_conditions=2, **COMPLETE)
    samples = gather_samples(TINY.predicate(name), seen, told, TINY, settings)
    plain = plain_table(samples, seen, told, TINY, atoms=True, comparisons=True)
    wider = extended_table(plain, "block", seen, told, TINY, comparisons=True, num_thresholds=2)
    general = valid_conjunctions(plain, side, settings)
    for table, found in (
        (plain, general),
        (wider, general + valid_conjunctions(wider, side, settings, general)),
    ):
        bits = np.unpackbits(table.covers, axis=1, count=len(table.base)).astype(bool)
        right = (samples.truth == side)[table.base]
        least = 0.1 * (samples.truth == side).sum()
        covers = [bits[list(body)].all(axis=0) for body in found]
        count = len(table.literals)
        bodies = [*((k,) for k in range(count)), *itertools.combinations(range(count), 2)]
        for body in bodies:
            names = [table.variables[k] for k in body]
            if table.kinds and not any(n & table.new and n - table.new for n in names):
                continue
            cover = bits[list(body)].all(axis=0)
            support = len(np.unique(table.base[cover & right]))
            valid = support >= max(1, least) and right[cover].mean() >= 0.8
            if valid:
                assert any((cover <= known).all() for known in covers), body
        # what the table says of a rule is what grounding says
        fresh = found if table is plain else found[len(general) :]
        rules = [table.rule(body, 1.0, positive=side) for body in fresh]
        broken = np.zeros(len(rules))
        for one, labels in films:
            made = ground(rules, one, TINY)
            broken += made.violations(labels.table(made.facts))
        for rule, cover, lost in zip(rules, covers[-len(fresh) :], broken, strict=True):
            assert (cover & ~right).sum() == lost, rule
            assert right[cover].mean() >= 0.8


def test_rules_that_chain_are_found_once():
    """Held is what stands on something held: found although no feature tells."""
    films = []
    for seed in range(4):
        seen, told = tiny(seed, 40)
        values = told.values.copy()
        place = {fact: k for k, fact in enumerate(told.facts)}
        for a, b in itertools.permutations("abc", 2):
            both = values[:, place[Fact("on", (a, b))]] & values[:, place[Fact("held", (b,))]]
            values[:, place[Fact("held", (a,))]] |= both
        for a, b in itertools.permutations("abc", 2):  # once more, for towers of three
            both = values[:, place[Fact("on", (a, b))]] & values[:, place[Fact("held", (b,))]]
            values[:, place[Fact("held", (a,))]] |= both
        films.append((seen, StateSequence(seen.video_id, told.times, told.facts, values)))
    seen, told = [f[0] for f in films], [f[1] for f in films]
    settings = ClausalSettings(
        accuracy=1.0, coverage=0.02, state_atoms=True, new_variables=True, **COMPLETE
    )
    rules = discover_rules(seen, told, TINY, TINY.predicates, settings)
    chained = parse_rules("on(X,Y), held(Y) -> held(X)")[0]
    forms = [canonical(rule) for rule in rules]
    assert canonical(chained) in forms
    assert len(set(forms)) == len(forms)
    again = find_clauses(
        [gather_samples(TINY.predicate("held"), seen, told, TINY, settings)],
        seen,
        told,
        TINY,
        settings,
    )
    assert canonical(chained) in [canonical(rule) for rule in again]


@pytest.mark.parametrize(
    "make",
    [
        lambda: BoostingSettings(rounds=0),
        lambda: BoostingSettings(step=0.0),
        lambda: BoostingSettings(most_rules=1),
        lambda: ClausalSettings(accuracy=1.5),
        lambda: ClausalSettings(beam=0),
    ],
)
def test_settings_that_make_no_sense(make):
    with pytest.raises(StateError):
        make()
