"""Every choice of tracks and states one by one: the oracle for tiny lattices, and builders."""

from itertools import product

import numpy as np

from wordsight.inference import Lattice, WordChain


def random_lattice(
    random, participants, detections, frames, words, *, apart=False, holes=0.0, final=False
):
    """Draw a lattice; ``words`` are (participants, states), ``holes`` the share of zero weights."""

    def draw(*shape):
        values = random.random(shape)
        return np.where(random.random(shape) < holes, 0.0, values)

    lead = (participants,) if apart else ()
    chains = tuple(
        WordChain(
            axes,
            draw(states),
            draw(states, states),
            draw(frames, states, *(detections,) * len(axes)),
            draw(states) if final else None,
        )
        for axes, states in words
    )
    unary = draw(*lead, frames, detections)
    return Lattice(participants, unary, draw(*lead, frames - 1, detections, detections), chains)


def weight_of(lattice, tracks, states):
    """Return the weight of one choice, tracks (T, P) and states (T, L)."""
    weight = 1.0
    for p in range(lattice.num_participants):
        unary, steps = lattice.unary_of(p), lattice.coherence_of(p)
        for t, j in enumerate(tracks[:, p]):
            weight *= unary[t, j] * (steps[t - 1, tracks[t - 1, p], j] if t else 1.0)
    for number, word in enumerate(lattice.words):
        for t, q in enumerate(states[:, number]):
            before = states[t - 1, number] if t else None
            weight *= word.initial[q] if t == 0 else word.transition[before, q]
            weight *= word.emission[(t, q, *tracks[t, list(word.participants)])]
        if word.final is not None:
            weight *= word.final[states[-1, number]]
    return weight


def enumerate_all(lattice):
    """Return total and best weight, tables, transitions and participants by enumeration."""
    shape = [lattice.num_detections] * lattice.num_participants
    shape += [word.num_states for word in lattice.words]
    split = lattice.num_participants
    total, best = 0.0, 0.0
    tables = [np.zeros(word.emission.shape) for word in lattice.words]
    steps = [np.zeros(word.transition.shape) for word in lattice.words]
    tracks_posterior = np.zeros((split, lattice.num_frames, lattice.num_detections))
    nodes = list(np.ndindex(*shape))
    for choice in product(nodes, repeat=lattice.num_frames):
        path = np.array(choice).reshape(lattice.num_frames, -1)
        tracks, states = path[:, :split], path[:, split:]
        weight = weight_of(lattice, tracks, states)
        if weight == 0.0:
            continue
        total += weight
        best = max(best, weight)
        for t in range(lattice.num_frames):
            for number, word in enumerate(lattice.words):
                q = states[t, number]
                tables[number][(t, q, *tracks[t, list(word.participants)])] += weight
                if t:
                    steps[number][states[t - 1, number], q] += weight
            for p in range(split):
                tracks_posterior[p, t, tracks[t, p]] += weight
    scale = total or 1.0
    return (
        total,
        best,
        [table / scale for table in tables],
        [step / scale for step in steps],
        tracks_posterior / scale,
    )


def total_of_tracks(lattice):
    """Return the summed weight of all tracks without words, by enumeration."""
    bare = Lattice(lattice.num_participants, lattice.unary, lattice.coherence)
    return enumerate_all(bare)[0]
