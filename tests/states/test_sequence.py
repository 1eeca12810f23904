import numpy as np
import pytest

from tests.states.builders import all_states, cheapest, random_clauses
from wordsight.states import (
    EXACT,
    ClauseSet,
    SegmentDecoder,
    SegmentSearchSettings,
    StateError,
    decode,
)
from wordsight.states.search.inference import best_path, best_path_between, consistent_states


def random_problem(random):
    clauses = random_clauses(random, 5, 14)
    frames = int(random.integers(1, 28))
    sparse = random.random((frames, len(clauses))) < 0.5
    costs = random.integers(0, 6, sparse.shape) * sparse
    return clauses, costs.astype(float), float(random.integers(0, 9))


def cost_of(clauses, costs, values, transition):
    changes = (values[1:] != values[:-1]).any(axis=1).sum()
    return (costs * clauses.violated(values)).sum() + transition * changes


@pytest.mark.parametrize("reduce", [True, False], ids=["reduced", "as published"])
def test_segments_equal_viterbi_over_all_states(reduce):
    random = np.random.default_rng(0)
    settings = SegmentSearchSettings(bound=EXACT, reduce=reduce)
    searches = naive = 0
    for _ in range(300):
        clauses, costs, transition = random_problem(random)
        table = costs @ clauses.violated(all_states(clauses.num_facts)).T
        found = decode(clauses, costs, transition, settings)
        assert found.cost == pytest.approx(cheapest(table, transition))
        assert cost_of(clauses, costs, found.values, transition) <= found.cost + 1e-9
        searches, naive = searches + found.searches, naive + len(costs) * (len(costs) + 1) // 2
    assert searches < naive / 2  # the sound rule prunes all the same


def published_rule_cost(sigma, transition):
    """SSM-DP with the rule as printed, which treats the first segment like all others."""
    frames = len(sigma) - 1
    best, alive = np.zeros(frames + 1), [0]
    for t in range(1, frames + 1):
        totals = {j: best[j] + transition * (j > 0) + sigma[j][t] for j in alive}
        best[t] = min(totals.values())
        alive = [j for j in alive if best[j] + sigma[j][t] < best[t]] + [t]
    return best[frames]


def test_the_rule_as_printed_would_fail_here():
    """Without transitions' price in it, the first segment is dropped too early."""
    random = np.random.default_rng(1)
    wrong = 0
    for _ in range(100):
        clauses, costs, transition = random_problem(random)
        table = costs @ clauses.violated(all_states(clauses.num_facts)).T
        sums = np.concatenate([np.zeros((1, table.shape[1])), np.cumsum(table, axis=0)])
        sigma = [[(sums[t] - sums[j]).min() for t in range(len(sums))] for j in range(len(sums))]
        right = cheapest(table, transition)
        wrong += published_rule_cost(sigma, transition) > right + 1e-9
        assert decode(clauses, costs, transition).cost == pytest.approx(right)
    assert wrong > 10


def test_feeding_in_pieces_gives_the_same_and_settles_early():
    random = np.random.default_rng(2)
    early = 0
    for _ in range(60):
        clauses, costs, transition = random_problem(random)
        decoder, parts = SegmentDecoder(clauses, transition, SegmentSearchSettings(bound=EXACT)), []
        for start in range(0, len(costs), 5):
            parts += decoder.feed(costs[start : start + 5])
        early += len(parts)
        parts += decoder.finish()
        values = np.concatenate([np.repeat(p.state[None], p.end - p.start, axis=0) for p in parts])
        whole = decode(clauses, costs, transition, SegmentSearchSettings(bound=EXACT))
        assert [p.start for p in parts[1:]] == [p.end for p in parts[:-1]]
        assert cost_of(clauses, costs, values, transition) == pytest.approx(whole.cost)
    assert early > 5


def test_a_long_video_is_settled_as_it_comes():
    clauses = ClauseSet.of(1, [((), 0), ((0,), None)])
    asserts = (np.arange(3000) // 50) % 2 == 0  # the fact holds for 50 frames, then not for 50
    costs = np.stack([asserts, ~asserts], axis=1).astype(float)
    decoder, settled = SegmentDecoder(clauses, 5.0), 0
    for start in range(0, 3000, 100):
        settled += len(decoder.feed(costs[start : start + 100]))
        assert settled >= start // 50 - 1
    assert settled + len(decoder.finish()) == 60
    assert decoder.searches < 3000 * 60  # not each with each


def test_a_least_length_is_kept_and_exact():
    random = np.random.default_rng(6)
    for _ in range(80):
        clauses, costs, transition = random_problem(random)
        least = int(random.integers(2, 5))
        found = decode(clauses, costs, transition, SegmentSearchSettings(EXACT, least_frames=least))
        plain = decode(
            clauses,
            costs,
            transition,
            SegmentSearchSettings(EXACT, least_frames=least, prune=False),
        )
        assert found.cost == pytest.approx(plain.cost)
        starts = np.flatnonzero((found.values[1:] != found.values[:-1]).any(axis=1)) + 1
        assert (np.diff([*starts, len(costs)]) >= least).all()


def test_online_states_know_nothing_of_what_comes():
    random = np.random.default_rng(7)
    clauses, costs, transition = random_problem(random)
    whole = decode(clauses, costs, transition)
    for cut in range(1, len(costs) + 1):
        part = decode(clauses, costs[:cut], transition)
        assert np.array_equal(part.values[-1], whole.online[cut - 1])


def test_uniform_and_general_paths_agree():
    random = np.random.default_rng(8)
    for _ in range(50):
        costs = random.random((int(random.integers(1, 20)), 4))
        even = best_path(costs, 0.7)
        other = best_path_between(costs, 0.7 * (1 - np.eye(4)))
        assert even[0] == pytest.approx(other[0])
        assert even[0] == pytest.approx(cheapest(costs, 0.7))


def test_consistent_states_keep_hard_clauses():
    clauses = ClauseSet.of(3, [((), 0), ((), 1), ((), 2), ((0, 1), None), ((2,), 0)])
    states = consistent_states(clauses, np.array([False, False, False, True, True]))
    assert {tuple(row) for row in states.tolist()} == {
        (False, False, False),
        (True, False, False),
        (False, True, False),
        (True, False, True),
    }
    assert consistent_states(clauses, np.zeros(5, bool), limit=7) is None


def test_an_empty_video_and_bad_settings():
    clauses = ClauseSet.of(1, [((), 0)])
    assert decode(clauses, np.zeros((0, 1)), 1.0).values.shape == (0, 1)
    with pytest.raises(StateError, match="transition"):
        SegmentDecoder(clauses, -1.0)
    with pytest.raises(StateError, match="least_frames"):
        SegmentSearchSettings(least_frames=0)
