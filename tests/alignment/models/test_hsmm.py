"""Steps with durations: an objective that never falls, order and disorder, drops and pins."""

import tracemalloc

import numpy as np
import pytest

from tests.alignment.models.plays import accuracy, play, plays
from wordsight.alignment import (
    AlignmentError,
    Chunk,
    Constraint,
    Instructions,
    Line,
    Observed,
    PoorEvidenceError,
)
from wordsight.alignment.models import HSMM, DropDTW
from wordsight.alignment.models.clock import duration_weights, num_ticks, order_weights
from wordsight.alignment.models.decoding import step_posterior

SETTINGS = [
    {},
    {"temperature": 1.0, "dependence": 1.0},  # plain EM
    {"temperature": 0.3, "dependence": 0.0, "drop": 0.2},
    {"disorder": 0.0, "null": 0.3, "smoothing": 1.0},
]


def with_moves(films):
    """Let things of even steps go up and of odd ones go down, and let texts say so."""
    told = []
    for text, seen, gold in films:
        lines = tuple(
            Line(line.text, line.step, line.nouns, ("lift",) if line.step % 2 else ("lower",))
            for line in text.lines
        )
        chunks = tuple(
            Chunk(c.start, c.end, c.things, frozenset({"up" if step % 2 == 0 else "down"}))
            for c, step in zip(seen.chunks, gold, strict=True)
        )
        told.append((Instructions(text.name, lines), Observed(seen.video_id, chunks, 99.0), gold))
    return told


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_objective_never_falls(settings):
    films = with_moves(plays(3, noise=0.3))
    model = HSMM(iterations=12, **settings).fit([(text, seen) for text, seen, _ in films])
    assert (np.diff(model.objectives_) > -1e-8).all()


@pytest.mark.parametrize("settings", SETTINGS)
def test_posteriors_and_what_belongs_to_no_line_sum_to_one(settings):
    text, seen, _ = play(noise=0.3)
    posterior = HSMM(iterations=3, **settings).fit([(text, seen)]).posterior(text, seen)
    assert (posterior >= 0).all() and (posterior.sum(axis=1) <= 1 + 1e-9).all()
    strict = HSMM(iterations=3, **(settings | {"drop": 0.0})).fit([(text, seen)])
    np.testing.assert_allclose(strict.posterior(text, seen).sum(axis=1), 1.0, atol=1e-9)


def test_plays_are_aligned_and_verbs_help():
    films = plays(3, noise=0.05)
    model = HSMM().fit([(text, seen) for text, seen, _ in films])
    assert min(accuracy(model, *film) for film in films) > 0.95
    told = with_moves(films)
    moving = HSMM().fit([(text, seen) for text, seen, _ in told])
    assert min(accuracy(moving, *film) for film in told) > 0.95
    lift = moving.verb_table_[moving.vocabulary_.verbs.index("lift")]
    assert lift[moving.vocabulary_.moves.index("up")] > 0.9


DISORDERS = [
    (0, 1, 3, 4, 5),  # one step left out
    (0, 2, 1, 3, 4, 5),  # two steps swapped
    (0, 1, 2, 1, 3, 4, 5),  # one step repeated
]
WORDS = tuple(f"n{number}" for number in range(12))


@pytest.mark.parametrize("order", DISORDERS)
def test_disorder_is_found_among_orderly_videos(order):
    orderly = [play((0, 1, 2, 3, 4, 5), seed=s, noise=0.02, words=WORDS) for s in range(3)]
    text, seen, gold = play(order, seed=9, noise=0.02, words=WORDS)
    odd = Observed("odd", seen.chunks, seen.duration)
    model = HSMM(temperature=1.0).fit([(t, s) for t, s, _ in orderly] + [(text, odd)])
    sums = step_posterior(model.posterior(text, odd), text.steps)
    assert (sums.argmax(axis=1) == gold).mean() > 0.9
    strict = HSMM(temperature=1.0, disorder=0.0)
    strict.fit([(t, s) for t, s, _ in orderly] + [(text, odd)])
    blind = step_posterior(strict.posterior(text, odd), text.steps).argmax(axis=1)
    assert (blind == gold).mean() < (sums.argmax(axis=1) == gold).mean()


def test_a_step_left_out_did_not_happen():
    films = [play((0, 1, 2, 3, 4, 5), seed=s, noise=0.02, words=WORDS) for s in range(3)]
    text, seen, _ = play((0, 1, 3, 4, 5), seed=9, noise=0.02, words=WORDS)
    odd = Observed("odd", seen.chunks, seen.duration)
    model = HSMM(temperature=1.0).fit([(t, s) for t, s, _ in films] + [(text, odd)])
    spans = model.align(text, odd).spans
    missing = {text.lines[span.line].step for span in spans if not span.happened}
    assert missing == {3}


def test_a_thing_of_no_line_is_left_to_none():
    text, seen, _ = play(noise=0.0, length=8)
    # A stranger's hands, four times amid things that many lines name.
    strange = [
        Chunk(c.start, c.end, frozenset({"pizza", "phone"})) if t % 9 == 4 else c
        for t, c in enumerate(seen.chunks)
    ]
    video = Observed("v", tuple(strange), seen.duration)
    found = HSMM(drop=0.2, null=0.01, smoothing=2.0).fit([(text, video)])
    none = 1 - found.posterior(text, video).sum(axis=1)
    here = np.arange(len(strange)) % 9 == 4
    assert none[here].min() > none[~here].max()


def test_pins_are_kept():
    text, seen, _ = play(noise=0.4)
    model = HSMM().fit([(text, seen)])
    line = 4  # the first of the third step
    moment = seen.chunks[5].start
    found = model.align(text, seen, constraints=[Constraint(line, start=moment)])
    steps = text.steps[found.best]
    assert (steps[:5] < 3).all() and steps[5] == 3 and (steps[5:] >= 3).all()


def test_an_empty_video_and_too_many_steps_are_refused():
    text, seen, _ = play()
    nothing = Observed("idle", tuple(Chunk(t, t + 1.0, frozenset()) for t in range(9)), 9.0)
    with pytest.raises(PoorEvidenceError, match="idle"):
        HSMM().fit([(text, nothing)])
    with pytest.raises(AlignmentError, match="void"):
        HSMM().fit([(text, seen)]).posterior(text, Observed("void", (), 0.0))
    with pytest.raises(AlignmentError, match="fit first"):
        HSMM().posterior(text, seen)
    brief = Observed("brief", seen.chunks[:1], 1.0)
    with pytest.raises(AlignmentError, match="chunks"):
        HSMM(disorder=0.0).fit([(text, brief)])


def test_durations_follow_the_shares_and_orders_sum_to_one():
    shares = np.array([0.2, 0.5, 0.3])
    weights = duration_weights(shares, 6.0, 1)
    lengths = np.arange(weights.shape[1]) / num_ticks(3)
    means = (weights * lengths).sum(axis=1) / weights.sum(axis=1)
    np.testing.assert_allclose(means, shares, atol=0.02)
    np.testing.assert_allclose(weights.sum(axis=1) / num_ticks(3), 1.0, atol=0.02)
    transition, first, last = order_weights(8, 0.1, 0.05)
    np.testing.assert_allclose(np.exp(transition[3]).sum(), 1.0)
    assert first.argmax() == 0 and last.argmax() == 7
    strict, _, _ = order_weights(4, 0.0, 0.0)
    assert np.array_equal(np.exp(strict), np.eye(4, k=1))


def test_the_baseline_drops_what_fits_no_line():
    films = plays(2, noise=0.0, lines_per_step=1)
    model = DropDTW().fit([(text, seen) for text, seen, _ in films])
    text, seen, gold = films[0]
    lines = model.predict(text, seen)
    assert (lines[lines >= 0] == gold[lines >= 0]).mean() > 0.9
    assert set(model.posterior(text, seen).sum(axis=1)) <= {0.0, 1.0}


def test_durations_of_thousands_of_steps_need_little_memory():
    """A clock of 64 ticks a step, times as many steps, would be 4 GB for 3,000 of them."""
    tracemalloc.start()
    weights = duration_weights(np.full(3000, 1 / 3000), 4.0, 60)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3e8
    # Nothing likely is cut off: every step lasts as long as a gamma distribution says.
    lengths = np.arange(weights.shape[1])
    np.testing.assert_allclose(weights @ lengths / weights.sum(axis=1), 64.0, rtol=1e-3)
