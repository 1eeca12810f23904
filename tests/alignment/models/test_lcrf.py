"""The conditional models: gradients by finite differences, sums by brute force."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from tests.alignment.models.plays import accuracy, play, plays
from wordsight.alignment import AlignmentError, Chunk, Instructions, Line, Observed
from wordsight.alignment.models import LCRF, LatentPerceptron, LatentSVM
from wordsight.alignment.models.crf import CrfWeights, crf_example, pair_mask
from wordsight.alignment.models.encoding import (
    AlignmentVocabulary,
    Channel,
    encode,
    vocabulary_of,
)
from wordsight.alignment.models.latent import best_difference, conditional_likelihood, free_sets
from wordsight.alignment.models.set_features import FeatureGrid

FAMILIES = ["all", "nonempty", "observed", 1, 2]


def small_scene(chunks=4, names_of=vocabulary_of):
    """Return a example of three lines, four chunks and three things, with verbs and moves."""
    chance = np.random.default_rng(7)
    names = ["A", "B", "C"]
    lines = (
        Line("a", 1, ("x", "y"), ("do",)),
        Line("b", 1, ("y",), ("go",)),
        Line("c", 2, ("z", "x"), ("do",)),
    )
    text = Instructions("t", lines)
    seen = [
        Chunk(
            float(t),
            t + 0.8,
            frozenset(n for n in names if chance.random() < 0.6),
            frozenset({"up"} if chance.random() < 0.5 else set()),
        )
        for t in range(chunks)
    ]
    pair = (text, Observed("v", tuple(seen), float(chunks)))
    encoded = encode(*pair, names_of([pair]))
    return encoded, crf_example(encoded, offsets=(0, 1, -1), growth=0.7, shape="centre")


def random_weights(example, seed=0):
    chance = np.random.default_rng(seed)
    words, tokens = example.words.shape[1], example.tokens.shape[1]
    return CrfWeights(
        chance.normal(size=(words, tokens)),
        chance.normal(size=tokens),
        chance.normal(size=3),
        chance.normal(size=1) + 2,
    )


def sets_of(family, tokens, seen):
    if family == "observed":
        return [set(np.flatnonzero(row)) for row in np.unique(seen, axis=0)]
    most = family if isinstance(family, int) else tokens
    least = 1 if family == "nonempty" else 0
    return [
        set(group) for size in range(least, most + 1) for group in combinations(range(tokens), size)
    ]


@pytest.mark.parametrize("family", FAMILIES)
def test_free_sums_agree_with_listing_the_sets(family):
    chance = np.random.default_rng(0)
    scores, seen = chance.normal(size=(3, 5)), (chance.random((4, 5)) < 0.4).astype(float)
    found = free_sets(scores, family, np.unique(seen, axis=0))
    for line, row in enumerate(scores):
        sets = sets_of(family, 5, seen)
        weights = np.array([np.exp(sum(row[b] for b in group)) for group in sets])
        means = [sum(w for w, g in zip(weights, sets, strict=True) if b in g) for b in range(5)]
        assert found.logs[line] == pytest.approx(np.log(weights.sum()), abs=1e-10)
        np.testing.assert_allclose(found.means[line], np.array(means) / weights.sum(), atol=1e-10)


@pytest.mark.parametrize("family", FAMILIES)
def test_likelihood_agrees_with_all_alignments_and_all_sets(family):
    _, example = small_scene(chunks=3)
    weights = random_weights(example)
    scores, timing = example.scores(weights), example.timing(weights)
    jumps = dict(zip(example.offsets.tolist(), weights.jumps, strict=True))
    sets = sets_of(family, example.tokens.shape[1], example.tokens)
    totals = {"forced": 0.0, "free": 0.0}
    for path in product(range(3), repeat=3):
        moves = np.diff(path).tolist()
        ends = example.initial[path[0]] + example.final[path[-1]]
        if not all(move in jumps for move in moves) or ends == -np.inf:
            continue
        way = np.exp(sum(jumps[m] for m in moves) + sum(timing[t, m] for t, m in enumerate(path)))
        shown = [np.exp(example.tokens[t] @ scores[m]) for t, m in enumerate(path)]
        anything = [sum(np.exp(sum(scores[m, b] for b in g)) for g in sets) for m in path]
        totals["forced"] += way * np.prod(shown)
        totals["free"] += way * np.prod(anything)
    found, _ = conditional_likelihood(example, weights, family)
    assert found == pytest.approx(np.log(totals["forced"] / totals["free"]), abs=1e-10)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_gradient_agrees_with_finite_differences(family):
    _, example = small_scene(chunks=6)
    weights = random_weights(example, seed=1)
    _, gradient = conditional_likelihood(example, weights, family)
    step = 1e-5
    for place in range(len(weights.vector)):
        sides = []
        for sign in (1, -1):
            vector = weights.vector.copy()
            vector[place] += sign * step
            sides.append(conditional_likelihood(example, weights.like(vector), family)[0])
        slope = (sides[0] - sides[1]) / (2 * step)
        assert gradient.vector[place] == pytest.approx(slope, abs=1e-6)


def crowded(text, grid):
    """Return how many things are touched, for lines with verb "do": words with the whole set."""
    doing = np.array(["do" in line.verbs for line in text.lines], dtype=float)
    sizes = np.array([len(things) ** 1.5 for things in grid.sets])
    return sizes[:, None, None, None] * doing[None, None, :, None]


def repeated(text, grid):
    """Return 1 where an odd number of things is touched and the line was changed, late."""
    odd = np.array([len(things) % 2 for things in grid.sets])[:, None, None, None]
    changed = np.array([offset != 0 for offset in grid.offsets])[None, None, None, :]
    return odd * changed * np.sqrt(grid.times[:, :1])[None, :, :, None]


def general_scene(family, chunks, tokens=None):
    """Return an example with features of sets and jumps, and weights."""
    names = AlignmentVocabulary(("x", "y", "z"), ("A", "B", "C"), ("do", "go"), ("up",))
    encoded, _ = small_scene(chunks, lambda _: names)
    text = Instructions(
        "t",
        (
            Line("a", 1, ("x", "y"), ("do",)),
            Line("b", 1, ("y",), ("go",)),
            Line("c", 2, ("z", "x"), ("do",)),
        ),
    )
    if tokens is not None:
        things = Channel(encoded.things.words, tokens[:, :3])
        moves = Channel(encoded.moves.words, tokens[:, 3:])
        encoded = replace(encoded, things=things, moves=moves)
    example = crf_example(
        replace(encoded, source=(text, None)),
        offsets=(0, 1, -1),
        growth=0.7,
        shape="centre",
        features=(crowded, repeated),
        vocabulary=names,
        sets=family,
    )
    weights = random_weights(example, seed=3)
    return text, example, replace(weights, linear=np.array([2.0, 0.7, -1.3]))


def brute_force(text, example, weights, family):
    """Return log p(Y | X) by listing every alignment with every set of every chunk."""
    names = ("A", "B", "C", "up")
    scores, timing = example.scores(weights), example.timing(weights)
    jumps = dict(zip(example.offsets.tolist(), weights.jumps, strict=True))
    times = np.array([[t, t + 0.8] for t in range(len(example.tokens))])

    def weight(path, shown):
        total = sum(jumps[m] for m in np.diff(path).tolist())
        for t, (m, group) in enumerate(zip(path, shown, strict=True)):
            jump = path[t] - path[t - 1] if t else 0
            grid = FeatureGrid(times[t : t + 1], (frozenset(names[b] for b in group),), (jump,))
            total += timing[t, m] + sum(scores[m, b] for b in group)
            for place, feature in enumerate((crowded, repeated), start=1):
                value = np.broadcast_to(feature(text, grid), (1, 1, 3, 1))
                total += weights.linear[place] * value[0, 0, m, 0]
        return np.exp(total)

    actual = [set(np.flatnonzero(row)) for row in example.tokens]
    sets = sets_of(family, 4, example.tokens)
    paths = [
        path
        for path in product(range(3), repeat=len(actual))
        if all(move in jumps for move in np.diff(path).tolist())
        and example.initial[path[0]] + example.final[path[-1]] == 0
    ]
    forced = sum(weight(path, actual) for path in paths)
    free = sum(weight(path, shown) for path in paths for shown in product(sets, repeat=len(actual)))
    return np.log(forced / free)


@pytest.mark.parametrize("family", ["all", "observed", 1])
def test_features_of_sets_and_jumps_agree_with_listing_everything(family):
    text, example, weights = general_scene(family, chunks=2)
    found, _ = conditional_likelihood(example, weights, family)
    assert found == pytest.approx(brute_force(text, example, weights, family), abs=1e-10)


def test_probabilities_of_all_observations_sum_to_one():
    rows = np.array(list(product((0.0, 1.0), repeat=4)))
    total = 0.0
    for first, second in product(rows, repeat=2):
        _, example, weights = general_scene("all", 2, np.stack([first, second]))
        total += np.exp(conditional_likelihood(example, weights, "all")[0])
    assert total == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize("family", ["all", "nonempty", "observed", 2])
def test_the_gradient_of_features_of_sets_and_jumps_agrees(family):
    _, example, weights = general_scene(family, chunks=5)
    _, gradient = conditional_likelihood(example, weights, family)
    step = 1e-5
    for place in range(len(weights.vector)):
        sides = []
        for sign in (1, -1):
            vector = weights.vector.copy()
            vector[place] += sign * step
            sides.append(conditional_likelihood(example, weights.like(vector), family)[0])
        slope = (sides[0] - sides[1]) / (2 * step)
        assert gradient.vector[place] == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_the_best_observation_with_features_of_sets_is_the_best_of_all(margin):
    _, example, weights = general_scene("all", chunks=3)
    loss, gradient = best_difference(example, weights, margin)
    assert loss >= -1e-10
    step = 1e-6
    for place in range(len(weights.vector)):
        vector = weights.vector.copy()
        vector[place] += step
        moved = best_difference(example, weights.like(vector), margin)[0]
        # The loss is piecewise linear, and features are compared with the actual ones.
        assert -(moved - loss) / step == pytest.approx(gradient.vector[place], abs=1e-4)


@pytest.mark.parametrize("model", [LCRF(iterations=3, sets="observed"), LatentPerceptron(rounds=2)])
def test_models_learn_features_of_sets_and_jumps(model):
    films = plays(2, noise=0.05)
    fitted = replace(model, features=(crowded, repeated)).fit([film[:2] for film in films])
    assert min(accuracy(fitted, *film) for film in films) > 0.85


def test_too_many_sets_for_a_feature_are_refused():
    seen = [Chunk(t, t + 1.0, frozenset({f"thing {t}"})) for t in range(14)]
    text = Instructions("t", (Line("a", 1, ("x",)), Line("b", 2, ("y",))))
    with pytest.raises(AlignmentError, match="sets='observed'"):
        LCRF(features=(repeated,)).fit([(text, Observed("v", tuple(seen), 14.0))])


@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_the_best_imagined_observation_is_the_best_of_all(margin):
    _, example = small_scene(chunks=3)
    weights = random_weights(example, seed=2)
    scores, timing = example.scores(weights), example.timing(weights)
    jumps = dict(zip(example.offsets.tolist(), weights.jumps, strict=True))
    tokens = example.tokens.shape[1]
    best = {"seen": -np.inf, "any": -np.inf}
    for path in product(range(3), repeat=3):
        moves = np.diff(path).tolist()
        ends = example.initial[path[0]] + example.final[path[-1]]
        if not all(move in jumps for move in moves) or ends == -np.inf:
            continue
        way = sum(jumps[m] for m in moves) + sum(timing[t, m] for t, m in enumerate(path))
        seen = way + sum(example.tokens[t] @ scores[m] for t, m in enumerate(path))
        best["seen"] = max(best["seen"], seen)
        dream = way
        for t, m in enumerate(path):
            rows = product((0.0, 1.0), repeat=tokens)
            dream += max(
                np.dot(row, scores[m]) + margin * np.abs(np.array(row) - example.tokens[t]).sum()
                for row in rows
            )
        best["any"] = max(best["any"], dream)
    found, _ = best_difference(example, weights, margin)
    assert found == pytest.approx(best["any"] - best["seen"], abs=1e-10)


@pytest.mark.parametrize(
    "model",
    [
        LCRF(iterations=8),
        LCRF(iterations=8, optimiser="sgd"),
        LCRF(iterations=8, optimiser="adagrad"),
        LCRF(iterations=5, sets=2, verbs=True, shape="widths"),
        LatentPerceptron(rounds=5),
        LatentSVM(rounds=5),
    ],
    ids=["lbfgs", "sgd", "adagrad", "verbs", "lsp", "lssvm"],
)
def test_clear_plays_are_aligned(model):
    films = plays(2, noise=0.05)
    model.fit([(text, seen) for text, seen, _ in films])
    assert min(accuracy(model, *film) for film in films) > 0.85
    posterior = model.posterior(*films[0][:2])
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0, atol=1e-9)
    for row in model.dictionary_.values():
        assert sum(row.values()) == pytest.approx(1.0, abs=1e-4)


def test_climbing_never_falls_and_wandering_repeats_itself():
    films = [(text, seen) for text, seen, _ in plays(2, noise=0.3)]
    climbing = LCRF(iterations=10).fit(films)
    assert (np.diff(climbing.objectives_) > -1e-6).all()
    first, again = (LCRF(iterations=3, optimiser="sgd").fit(films) for _ in range(2))
    assert np.array_equal(first.weights_.vector, again.weights_.vector)


def test_a_feature_of_the_users_decides_where_nothing_else_does():
    # All chunks look alike; only the feature knows that the second line begins late.
    text = Instructions("t", (Line("a", 1, ("x",)), Line("b", 2, ("x",))))
    seen = [Chunk(float(t), t + 1.0, frozenset({"A"})) for t in range(10)]
    video = Observed("v", tuple(seen), 10.0)

    def late(_, grid):
        column = (grid.times[:, 0] >= 7).astype(float)
        return 20 * np.stack([1 - column, column], axis=1)[None, :, :, None]

    model = LCRF(features=(late,), iterations=0, clock=0.0).fit([(text, video)])
    model.weights_ = model.weights_.like(np.append(model.weights_.vector[:-1], 1.0))
    assert model.predict(text, video).tolist() == [0] * 7 + [1] * 3

    def wrong(_, grid):
        return np.zeros((1, 2, 2, 1))

    with pytest.raises(AlignmentError, match="wrong must return"):
        LCRF(features=(wrong,)).fit([(text, video)])


def test_more_lines_than_chunks_lengthen_the_jumps():
    text, seen, _ = play(length=1, lines_per_step=6)
    short = Observed("short", seen.chunks[:6], 9.0)
    posterior = LCRF(iterations=2).fit([(text, short)]).posterior(text, short)
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0, atol=1e-9)


def test_masked_pairs_keep_no_weight():
    encoded, _ = small_scene()
    mask = pair_mask(encoded, verbs=False)
    nouns, things = encoded.things.words.shape[1], encoded.things.tokens.shape[1]
    assert mask[:nouns, :things].all() and not mask[nouns:, :things].any()
    assert not mask[:nouns, things:].any() and mask[nouns:, things:].all()
