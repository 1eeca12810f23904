"""Little procedures whose truth is known, and texts at random."""

import numpy as np

from wordsight.alignment import Chunk, Instructions, Line, Observed

NAMES = ("cup", "jug", "tea", "pan", "egg", "box", "pen", "lid")


def play(order=(0, 1, 2, 3), *, seed=0, lines_per_step=2, noise=0.1, length=6, words=NAMES):
    """Return a text of four or more steps, a video that carries it out, and the true steps.

    Every step handles two things of its own; ``order`` tells which steps happen, and when.
    """
    chance = np.random.default_rng(seed)
    steps = max(*order, 3) + 1
    lines = tuple(
        Line(f"Do {words[2 * step]} {part}", step + 1, (words[2 * step], words[2 * step + 1]))
        for step in range(steps)
        for part in range(lines_per_step)
    )
    chunks, gold, clock = [], [], 0.0
    for step in order:
        for _ in range(length + int(chance.integers(0, 3))):
            mine = words[2 * step + int(chance.integers(0, 2))]
            if chance.random() < noise:
                mine = words[int(chance.integers(0, 2 * steps))]
            chunks.append(Chunk(clock, clock + 1.0, frozenset({f"{mine}-thing"})))
            gold.append(step)
            clock += 1.0
        clock += 1.5  # a pause between steps
    text = Instructions("play", lines)
    return text, Observed(f"film{seed}", tuple(chunks), clock), np.array(gold)


def plays(count=3, **options):
    """Return several plays of one text."""
    return [play(seed=seed, **options) for seed in range(count)]


def accuracy(model, text, seen, gold):
    """Return the share of chunks whose line is of the right step."""
    lines = model.predict(text, seen)
    return float((text.steps[lines] - 1 == gold).mean())
