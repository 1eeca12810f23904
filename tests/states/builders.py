"""Small problems and scenes that several tests share."""

import numpy as np

from wordsight.states import (
    ClauseSet,
    Fact,
    Predicate,
    StateObservations,
    StateSequence,
    StateVocabulary,
    TrackedObject,
)

HOLDING = StateVocabulary(
    (Predicate("attached", ("hand", "block")), Predicate("grounded", ("block",)))
)


def random_clauses(random, most_facts=6, most_clauses=14):
    """Draw different Horn clauses, units and integrity constraints among them."""
    facts = int(random.integers(1, most_facts + 1))
    rows = set()
    for _ in range(int(random.integers(1, most_clauses + 1))):
        size = int(random.integers(0, min(3, facts) + 1))
        body = tuple(sorted(random.choice(facts, size, replace=False).tolist()))
        head = int(random.integers(-1, facts))
        if head not in body:
            rows.add((body, None if head < 0 else head))
    rows = rows or {((), 0)}
    return ClauseSet.of(facts, sorted(rows, key=str))


def all_states(count):
    """Every state of so many facts, (2**count, count)."""
    return ((np.arange(2**count)[:, None] >> np.arange(count)) & 1).astype(bool)


def cheapest(costs, transition):
    """Viterbi's cost through a table (T, S) where every change costs the same."""
    total = costs[0].copy()
    for row in costs[1:]:
        total = np.minimum(total, total.min() + transition) + row
    return total.min()


def carrying(video_id="film", seed=0, frames=90, names=("hand", "red", "green")):
    """A hand fetches the first block at frame 30 and lets go of it at frame 60."""
    random = np.random.default_rng(seed)
    times = np.arange(frames) / 30
    place = np.zeros((frames, 3, 2))
    start = random.uniform(20, 60)
    place[:, 1], place[:, 2] = (200 + start, 300), (400, 300)
    pull = np.clip((np.arange(frames) - frames // 3) / (frames // 3), 0, 1)
    place[:, 1, 0] += 120 * pull
    away = np.clip(1 - np.arange(frames) / (frames // 3), 0, 1)
    away += np.clip(np.arange(frames) / (frames // 3) - 2, 0, 1)
    place[:, 0] = place[:, 1] - [0, 20] - away[:, None] * [90, 60]
    place += random.normal(0, 0.3, place.shape)
    boxes = np.concatenate([place - 15, place + 15], axis=-1)
    things = [
        TrackedObject(names[0], "hand"),
        TrackedObject(names[1], "block"),
        TrackedObject(names[2], "block"),
    ]
    seen = StateObservations.from_boxes(video_id, times, things, boxes)
    held = [Fact("attached", names[:2]), Fact("grounded", names[2:])]
    free = [Fact("grounded", (name,)) for name in names[1:]]
    a, b = times[frames // 3], times[2 * frames // 3]
    stretches = [(0.0, a, free), (a, b, held), (b, times[-1] + 1, free)]
    return seen, StateSequence.from_segments(video_id, times, stretches)
