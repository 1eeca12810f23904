"""Lattices to try things on: at random, and like those of films."""

import numpy as np

from wordsight.inference import Lattice, WordChain


def random_lattice(shape, frames, seed, *, sharpness=1.0, apart=None):
    """A lattice of a shape (participants, detections, words as participants and states).

    The larger ``sharpness``, the more its weights differ.
    """
    people, seen, words = shape
    rng = np.random.default_rng(seed)
    apart = bool(seed % 3 == 0) if apart is None else apart
    lead = (people,) if apart else ()
    chains = []
    for participants, states in words:
        transition = np.triu(rng.random((states, states)) + 0.1)
        chains.append(
            WordChain(
                participants,
                rng.dirichlet(np.ones(states)),
                transition / transition.sum(axis=1, keepdims=True),
                rng.random((frames, states) + (seen,) * len(participants)) ** sharpness,
                rng.random(states) + 0.1 if seed % 2 else None,
                log_scale=0.5,
            )
        )
    masked = rng.random((*lead, frames, seen)) < 0.9
    unary = rng.random((*lead, frames, seen)) ** sharpness * masked
    coherence = rng.random((*lead, max(frames - 1, 0), seen, seen)) ** sharpness
    return Lattice(people, unary, coherence, tuple(chains), log_scale=-0.25)


def like_a_film(seed, *, frames=20, things=4, clutter=4, people=2, states=3):
    """A few things that last, clutter that comes and goes, nouns for each thing, and a verb."""
    rng = np.random.default_rng(seed)
    seen = things + clutter
    where = rng.uniform(0, 10, (frames, seen))
    where[:, :things] = rng.uniform(0, 10, things) + 0.1 * rng.normal(size=(frames, things)).cumsum(
        0
    )
    unary = np.concatenate(
        [rng.uniform(0.7, 1.0, (frames, things)), rng.uniform(0.05, 0.4, (frames, clutter))], axis=1
    )
    apart = np.abs(where[1:, None] - where[:-1, :, None])
    coherence = 1 / (1 + np.exp((apart - 1.0) / 0.2))
    words = []
    for p in range(people):
        likes = np.exp(rng.normal(-2.0, 0.7, (frames, 1, seen)))
        likes[:, 0, p] = np.exp(rng.normal(0.0, 0.3, frames))
        words.append(WordChain((p,), np.ones(1), np.ones((1, 1)), likes / likes.max()))
    transition = np.triu(np.full((states, states), 0.1)) + 0.8 * np.eye(states)
    transition /= transition.sum(axis=1, keepdims=True)
    initial = np.r_[1.0, np.zeros(states - 1)]
    verb = np.exp(rng.normal(-0.7, 0.4, (frames, states, seen, seen)))
    words.append(WordChain((0, 1), initial, transition, verb / verb.max()))
    return Lattice(people, unary, coherence, tuple(words))
