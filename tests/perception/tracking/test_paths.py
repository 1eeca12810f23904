"""The best disjoint paths, against enumeration, linear programming and Viterbi."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

from experiments.baselines.best_path import best_path
from wordsight.perception.tracking import disjoint_paths

ENTRY, EXIT = 1.0, 0.5


def solve(node_gains, links, link_gains, entry=ENTRY, exit_=EXIT):
    ends = np.array(links, dtype=np.intp).reshape(-1, 2)
    return disjoint_paths(
        np.asarray(node_gains, float),
        ends[:, 0],
        ends[:, 1],
        np.asarray(link_gains, float),
        entry_cost=entry,
        exit_cost=exit_,
    )


def random_lattice(rng, frames, boxes, chance=0.7, reach=2):
    """Nodes in frames, links up to ``reach`` frames onward, gains of either sign."""
    frame = np.repeat(np.arange(frames), boxes)
    links = [
        (i, j)
        for i, j in combinations(range(len(frame)), 2)
        if 0 < frame[j] - frame[i] <= reach and rng.random() < chance
    ]
    return rng.normal(0.5, 1.5, len(frame)), links, rng.normal(-0.5, 1.0, len(links))


def enumerated_optimum(node_gains, links, link_gains):
    """Try every set of links in which no node has two successors or two predecessors."""
    best = -np.inf
    for size in range(len(links) + 1):
        for chosen in combinations(range(len(links)), size):
            tails = [links[k][0] for k in chosen]
            heads = [links[k][1] for k in chosen]
            if len(set(tails)) < size or len(set(heads)) < size:
                continue
            linked = set(tails) | set(heads)
            ends = len(linked) - size  # every chain has one node more than links
            gain = sum(node_gains[n] for n in linked) + sum(link_gains[k] for k in chosen)
            gain -= ends * (ENTRY + EXIT)
            gain += sum(
                max(0.0, node_gains[n] - ENTRY - EXIT)
                for n in range(len(node_gains))
                if n not in linked
            )
            best = max(best, gain)
    return best


def flow_optimum(node_gains, links, link_gains):
    """The same maximum as a linear programme over flows: nodes, links, entries, exits."""
    nodes, count = len(node_gains), len(links)
    gains = np.concatenate([node_gains, link_gains, np.full(nodes, -ENTRY), np.full(nodes, -EXIT)])
    rows, columns, signs = [], [], []
    for n in range(nodes):  # what comes in goes through the node and out again
        rows += [n, n, nodes + n, nodes + n]
        columns += [n, nodes + count + n, n, nodes + count + nodes + n]
        signs += [-1, 1, 1, -1]
    for k, (tail, head) in enumerate(links):
        rows += [head, nodes + tail]
        columns += [nodes + k, nodes + k]
        signs += [1, -1]
    balance = csr_matrix((signs, (rows, columns)), shape=(2 * nodes, len(gains)))
    return -linprog(-gains, A_eq=balance, b_eq=np.zeros(2 * nodes), bounds=(0, 1)).fun


def check_valid(paths, totals, node_gains, links, link_gains):
    used = np.concatenate([np.zeros(0, int), *paths])
    assert len(set(used.tolist())) == len(used)
    gain_of = dict(zip(links, link_gains, strict=True))
    for path, total in zip(paths, totals, strict=True):
        steps = list(zip(path[:-1].tolist(), path[1:].tolist(), strict=True))
        assert all(step in gain_of for step in steps)
        expected = node_gains[path].sum() + sum(gain_of[s] for s in steps) - ENTRY - EXIT
        assert total == pytest.approx(expected)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 2))
@settings(max_examples=60, deadline=None)
def test_no_set_of_paths_gains_more_by_enumeration(seed, frames, boxes):
    node_gains, links, link_gains = random_lattice(np.random.default_rng(seed), frames, boxes)
    links, link_gains = links[:11], link_gains[:11]
    paths, totals = solve(node_gains, links, link_gains)
    check_valid(paths, totals, node_gains, links, link_gains)
    assert totals.sum() == pytest.approx(enumerated_optimum(node_gains, links, link_gains))


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_no_set_of_paths_gains_more_by_linear_programming(seed):
    node_gains, links, link_gains = random_lattice(np.random.default_rng(seed), 12, 6, 0.4, 3)
    paths, totals = solve(node_gains, links, link_gains)
    check_valid(paths, totals, node_gains, links, link_gains)
    assert totals.sum() == pytest.approx(flow_optimum(node_gains, links, link_gains))


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_with_a_single_object_it_is_viterbi(seed):
    """When ends cost so much that just one path pays, it is that of Eq. 1."""
    rng = np.random.default_rng(seed)
    frames, boxes = 6, 3
    # Every further box gains something, so that no path pays more than one from end to end.
    gains = rng.uniform(1.0, 4.0, (frames, boxes))
    steps = rng.uniform(-1.0, 1.0, (frames - 1, boxes, boxes))
    links = [
        (t * boxes + i, (t + 1) * boxes + j)
        for t in range(frames - 1)
        for i in range(boxes)
        for j in range(boxes)
    ]
    expected, score = best_path(list(gains), list(steps))
    paths, totals = solve(gains.ravel(), links, steps.ravel(), score - 1e-6, 0.0)
    assert [(path % boxes).tolist() for path in paths] == [expected.tolist()]
    assert totals[0] == pytest.approx(1e-6)


def test_many_small_parts_are_solved_as_one():
    """More nodes than one batch holds, in parts of three."""
    count = 4000
    links = [(3 * k, 3 * k + 1) for k in range(count)] + [
        (3 * k + 1, 3 * k + 2) for k in range(count)
    ]
    paths, totals = solve(np.full(3 * count, 1.0), links, np.zeros(len(links)))
    assert [path.tolist() for path in paths] == [
        [3 * k, 3 * k + 1, 3 * k + 2] for k in range(count)
    ]
    np.testing.assert_allclose(totals, 1.5)


@pytest.mark.parametrize(
    ("node_gains", "links", "link_gains", "expected"),
    [
        ([], [], [], []),  # nothing there
        ([1.0], [], [], []),  # does not pay for entry and exit
        ([2.0], [], [], [[0]]),  # pays on its own
        ([2.0, -1.0, 2.0], [(0, 1), (1, 2)], [0.0, 0.0], [[0, 1, 2]]),  # bad one worth crossing
        ([2.0, -4.0, 2.0], [(0, 1), (1, 2)], [0.0, 0.0], [[0], [2]]),  # too bad to cross
        ([2.0, 2.0], [(0, 1)], [-9.0], [[0], [1]]),  # an incoherent link is cut
        ([0.0, 0.0], [(0, 1)], [0.0], []),  # no gain at all
    ],
)
def test_cases_worked_out_by_hand(node_gains, links, link_gains, expected):
    paths, _ = solve(node_gains, links, link_gains)
    assert [path.tolist() for path in paths] == expected
