"""How fast states are inferred, beside an exact solver for weighted clauses.

Run with ``python -m benchmarks.states [--json] [--quick]``. A made-up tabletop, one hand and some
blocks with the facts attached, contacts and grounded, and hand-written rules over noisy features.
In processor time of one core:

- ``fps``: frames a second of sequence inference with 4, 6 and 10 objects, by the dynamic program
  with the dual search (clause weights given), and ``ground_fps`` of grounding the rules.
- ``rc2``: the same segments given to python-sat's RC2: time of both, and how much dearer the
  bounded search's states are than the cheapest, as a share of their cost.
- ``discovery_seconds``: boosted and clausal discovery from ``frames`` labelled frames.
"""

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.states import (
    BoostingSettings,
    ClausalSettings,
    ClauseSet,
    Fact,
    Grounding,
    Predicate,
    SegmentSearchSettings,
    StateObservations,
    StateSequence,
    StateVocabulary,
    TrackedObject,
    decode,
    discover_rules,
    ground,
    minimise,
    parse_rules,
)

__all__ = ["main", "make_scene", "measure"]

VOCABULARY = StateVocabulary(
    (
        Predicate("attached", ("hand", "block")),
        Predicate("contacts", ("block", "block")),
        Predicate("grounded", ("block",)),
    )
)
RULES = parse_rules(
    """
    2.0: distance(X,Y) <= 6, speed(Y) >= 20 -> attached(X,Y)
    1.2: drift(X,Y) <= 15, travel(Y) >= 20, hand(X) -> attached(X,Y)
    1.5: distance(X,Y) >= 12, attached(X,Y) -> false
    0.8: still(Y) >= 0.5, attached(X,Y) -> false
    1.1: distance(X,Y) <= 3, block(X), block(Y) -> contacts(X,Y)
    1.4: distance(X,Y) >= 6, contacts(X,Y) -> false
    0.9: elevation(X) <= 10 -> grounded(X)
    1.3: elevation(X) >= 20, grounded(X) -> false
    1.0: attached(X,Y), grounded(Y) -> false
    0.7: contacts(X,Y) -> contacts(Y,X)
    hard: attached(X,Y), attached(X,Z) -> false
    """
)
TRANSITION_COST = 15.0
GOAL_FPS = 10_000
BOUND = 1000
JITTER = 6.0  # pixels; rules then often contradict each other


def make_scene(
    num_objects: int, frames: int, random: np.random.Generator
) -> tuple[StateObservations, StateSequence]:
    """Make a hand that carries one block after the other about, seen by a jittery tracker."""
    count = num_objects - 1
    home = np.stack([60.0 + 36 * np.arange(count), np.full(count, 300.0)], axis=1)
    place = np.tile(home, (frames, 1, 1))
    hand = np.tile([300.0, 100.0], (frames, 1))
    held = np.full(frames, -1)
    length = 60
    for start in range(length, frames - length, 2 * length):
        block = int(random.integers(count))
        span = np.arange(start, start + length)
        swing = np.sin(np.linspace(0, np.pi, length))[:, None]
        place[span, block] += swing * [40.0, -120.0]
        hand[span] = place[span, block] - [0, 18]
        held[span] = block
    points = np.concatenate([hand[:, None], place], axis=1)
    points = points + random.normal(0, JITTER, points.shape)
    boxes = np.concatenate([points - 15, points + 15], axis=-1)
    names = [f"b{k}" for k in range(count)]
    things = [TrackedObject("hand", "hand"), *(TrackedObject(name, "block") for name in names)]
    times = np.arange(frames) / 30
    seen = StateObservations.from_boxes("scene", times, things, boxes)
    facts = [Fact("attached", ("hand", n)) for n in names] + [Fact("grounded", (n,)) for n in names]
    carried = held[:, None] == np.arange(count)
    truth = np.concatenate([carried, ~carried], axis=1)
    return seen, StateSequence("scene", times, tuple(facts), truth)


def measure(quick: bool = False) -> dict[str, Any]:
    """Measure everything; ``quick`` uses fewer frames."""
    random = np.random.default_rng(0)
    frames = 600 if quick else 6000
    results: dict[str, Any] = {"fps": {}, "ground_fps": {}, "facts": {}, "searches_per_frame": {}}
    results["rc2"] = {}
    for count in (4, 6, 10):
        seen, _ = make_scene(count, frames, random)
        _ground(seen)  # compiles, and warms caches
        seconds, made = _timed(lambda seen=seen: _ground(seen))
        costs = made.costs()
        settings = SegmentSearchSettings(bound=BOUND)
        decode(made.clauses, costs[:50], TRANSITION_COST, settings)
        elapsed, found = _timed(
            lambda made=made, costs=costs: decode(
                made.clauses, costs, TRANSITION_COST, SegmentSearchSettings(bound=BOUND)
            )
        )
        results["fps"][str(count)] = round(frames / elapsed)
        results["ground_fps"][str(count)] = round(frames / seconds)
        results["facts"][str(count)] = len(made.facts)
        results["searches_per_frame"][str(count)] = round(found.searches / frames, 2)
        results["rc2"][str(count)] = _beside_rc2(made.clauses, costs, 40 if quick else 400, random)
    results["discovery_seconds"] = _discovery(quick, random)
    results["goal_fps"] = GOAL_FPS
    return results


def _ground(seen: StateObservations) -> Grounding:
    return ground(RULES, seen, VOCABULARY)


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return max(time.process_time() - start, 1e-9), result


def _beside_rc2(
    clauses: ClauseSet, costs: NDArray[np.float64], count: int, random: np.random.Generator
) -> dict[str, Any] | None:
    """Solve random segments by our search, bounded and greedy, and by RC2."""
    try:
        from pysat.examples.rc2 import RC2
        from pysat.formula import WCNF
    except ImportError:
        return None
    starts = random.integers(0, len(costs) - 90, count)
    lengths = random.integers(5, 90, count)
    segments = [
        np.round(costs[s : s + n].sum(axis=0) * 10) for s, n in zip(starts, lengths, strict=True)
    ]
    minimise(clauses, segments[0], bound=BOUND)  # compiles
    ours, found = _timed(lambda: [minimise(clauses, w, bound=BOUND).cost for w in segments])
    greedy = [minimise(clauses, w, bound=0, reduce=False).cost for w in segments]

    def solve(weights: NDArray[np.float64]) -> float:
        problem = WCNF()
        for body, head, weight in zip(clauses.bodies, clauses.heads, weights, strict=True):
            if weight > 0:
                literals = [-(f + 1) for f in body] + ([int(head) + 1] if head >= 0 else [])
                problem.append(literals, weight=int(weight))
        with RC2(problem) as solver:
            solver.compute()
            return float(solver.cost)

    theirs, best = _timed(lambda: [solve(weights) for weights in segments])
    total = max(sum(best), 1.0)
    return {
        "segments": count,
        "microseconds_ours": round(ours / count * 1e6, 1),
        "microseconds_rc2": round(theirs / count * 1e6, 1),
        "ratio": round(theirs / ours, 1),
        "gap": round(sum(found) / total - 1, 6),
        "greedy_gap": round(sum(greedy) / total - 1, 6),
    }


def _discovery(quick: bool, random: np.random.Generator) -> dict[str, Any]:
    scenes = [make_scene(4, 600, random) for _ in range(4 if quick else 12)]
    seen, told = [scene[0] for scene in scenes], [scene[1] for scene in scenes]
    predicates = VOCABULARY.predicates[:1]
    rounds = BoostingSettings(rounds=10 if quick else 60)
    boosted, rules = _timed(lambda: discover_rules(seen, told, VOCABULARY, predicates, rounds))
    clausal, clauses = _timed(
        lambda: discover_rules(seen, told, VOCABULARY, predicates, ClausalSettings())
    )
    return {
        "frames": sum(map(len, seen)),
        "boosted": round(boosted, 2),
        "boosted_rules": len(rules),
        "clausal": round(clausal, 2),
        "clausal_rules": len(clauses),
    }


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.states", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="fewer frames")
    options = parser.parse_args(arguments)
    results = measure(options.quick)
    if options.json:
        print(json.dumps(results, indent=2))
        return
    for count, fps in results["fps"].items():
        print(
            f"{count} objects ({results['facts'][count]} facts): {fps:,} frames/s, grounding "
            f"{results['ground_fps'][count]:,} frames/s, "
            f"{results['searches_per_frame'][count]} searches a frame"
        )
    for count, beside in results["rc2"].items():
        print(f"beside RC2, {count} objects: {beside or 'python-sat is not installed'}")
    print(f"discovery: {results['discovery_seconds']}")
    met = results["fps"]["4"] >= GOAL_FPS
    print(f"goal {GOAL_FPS:,} frames/s with 4 objects: {'met' if met else 'missed'}")


if __name__ == "__main__":
    main()
