"""Pruning of lattices with too many detections, with a bound on what is lost.

Keeping K detections per participant and frame leaves out part of the sum. How much at most is given
by a second lattice of nearly the same size, in which all dropped detections of a frame are one that
is as good as the best of them in every way, and as many as all of them: its sum is never less than
the whole one. The truth lies between the two.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.lattice.model import Lattice, LatticeError, WordChain
from wordsight.inference.lattice.run import expected_counts

__all__ = ["PrunedLattice", "prune", "rank_detections"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class PrunedLattice:
    """A lattice with few detections, and one whose sum bounds that of the lattice it came from.

    Attributes:
        kept: The lattice of the detections that were kept; its sum is a lower bound.
        upper: The same with one more detection per group of dropped ones; an upper bound.
        places: ``(P, T, K)`` which detections of the whole lattice were kept, ascending.
        groups: ``(P, T, R, J)`` which of the others each further detection of ``upper`` joins.
        num_detections: How many there were.
    """

    kept: Lattice
    upper: Lattice
    places: Ints
    groups: Flags
    num_detections: int

    def whole_table(self, table: Array, word: int) -> Array:
        """Spread a word's ``(T, I, K, ..., K)`` table over all detections, 0 for the dropped."""
        participants = self.kept.words[word].participants
        frames, states = table.shape[:2]
        whole = np.zeros((frames, states) + (self.num_detections,) * len(participants))
        whole[_index(self.places, participants, states)] = table
        return whole

    def whole_participants(self, posterior: Array) -> Array:
        """Spread a ``(P, T, K)`` posterior over all detections, 0 for the dropped."""
        whole = np.zeros((*posterior.shape[:2], self.num_detections))
        np.put_along_axis(whole, self.places, posterior, axis=2)
        return whole

    def whole_tracks(self, tracks: Ints) -> Ints:
        """Name the detections of ``(T, P)`` tracks as the whole lattice does; -1 stays."""
        found = np.take_along_axis(self.places, np.maximum(tracks.T, 0)[..., None], axis=2)[..., 0]
        return np.where(tracks < 0, -1, found.T)


def prune(
    lattice: Lattice, most: int, *, groups: int = 2, ranks: Array | None = None
) -> PrunedLattice:
    """Keep the best detections of every frame, for each participant its own.

    Args:
        lattice: The whole lattice.
        most: Detections to keep per frame and participant; all if there are no more.
        groups: Into how many the dropped ones are joined for the upper bound: more make it
            tighter, and its lattice larger.
        ranks: ``(P, T, J)`` how good each detection is; :func:`rank_detections` if not given.

    Returns:
        The two lattices and which detections they are made of.
    """
    if most < 1 or groups < 1:
        raise LatticeError(f"keep 1 detection or more, in 1 group or more, got {most}, {groups}.")
    most = min(most, lattice.num_detections)
    ranks = rank_detections(lattice) if ranks is None else ranks
    order = np.argsort(-ranks, axis=2, kind="stable")
    places = np.sort(order[..., :most], axis=2)
    joined = _groups(order[..., most:], groups, lattice.num_detections)
    upper = _upper(lattice, places, joined)
    return PrunedLattice(_kept(lattice, places), upper, places, joined, lattice.num_detections)


def rank_detections(lattice: Lattice) -> Array:
    """Return ``(P, T, J)`` how likely each detection could be, if all others were at their best.

    For each participant alone, the tracks and the words that watch it are summed over exactly;
    what a word thinks of the other participants is taken at its best.
    """
    alone = [_alone(lattice, p) for p in range(lattice.num_participants)]
    ranks = np.stack([_posterior(each) for each in alone])
    # Where a participant has no track at all, single frames must do.
    for p, each in enumerate(alone):
        if not ranks[p].any():
            ranks[p] = each.unary
            for word in each.words:
                ranks[p] *= word.emission.max(axis=1)
    return ranks


def _posterior(lattice: Lattice) -> Array:
    (counted,) = expected_counts([lattice], participants=True, max_bytes=1 << 62)
    assert counted.participants is not None  # asked for just now
    return np.asarray(counted.participants[0])


def _alone(lattice: Lattice, participant: int) -> Lattice:
    """Return the lattice of one participant, whatever it shares with others at its best."""
    words = []
    for word in lattice.words:
        if participant not in word.participants:
            continue
        own = 2 + word.participants.index(participant)
        others = tuple(axis for axis in range(2, word.emission.ndim) if axis != own)
        best = word.emission.max(axis=others) if others else word.emission
        words.append(WordChain((0,), word.initial, word.transition, best, word.final))
    unary, coherence = lattice.unary_of(participant), lattice.coherence_of(participant)
    return Lattice(1, unary, coherence, tuple(words))


def _kept(lattice: Lattice, places: Ints) -> Lattice:
    people = range(lattice.num_participants)
    unary = np.stack([np.take_along_axis(lattice.unary_of(p), places[p], 1) for p in people])
    frames = np.arange(lattice.num_frames - 1)[:, None, None]
    coherence = np.stack(
        [
            lattice.coherence_of(p)[frames, places[p, :-1, :, None], places[p, 1:, None, :]]
            for p in people
        ]
    )
    words = tuple(
        _with_emission(word, word.emission[_index(places, word.participants, word.num_states)])
        for word in lattice.words
    )
    return Lattice(lattice.num_participants, unary, coherence, words, lattice.log_scale)


def _upper(lattice: Lattice, places: Ints, groups: Flags) -> Lattice:
    """Return the lattice whose sum bounds the whole one.

    With a(j) the forward weights of a group's members, whose sum its one detection stands for: what
    enters is summed over members, what leaves is at most the sum of a(j) times the most any member
    gives, and so is what a word thinks of them.
    """
    people = range(lattice.num_participants)
    weights = [_single_weights(lattice, p) for p in people]
    groups = groups & (np.stack(weights)[:, :, None] > 0)  # the impossible are never the best
    steps = [
        _joined_steps(lattice.coherence_of(p), weights[p], places[p], groups[p]) for p in people
    ]
    unary = [_joined_unary(weights[p], places[p], groups[p]) for p in people]
    words = []
    for word in lattice.words:
        if word.num_states == 1 and word.num_participants == 1:
            shape = (lattice.num_frames, 1, unary[0].shape[1])
            words.append(_with_emission(word, np.ones(shape)))  # it is among the weights
            continue
        table = word.emission
        for axis, p in enumerate(word.participants, start=2):
            table = _joined_axis(table, axis, places[p], groups[p])
        words.append(_with_emission(word, table))
    return Lattice(
        lattice.num_participants,
        np.stack(unary),
        np.stack(steps),
        tuple(words),
        lattice.log_scale,
    )


def _single_weights(lattice: Lattice, participant: int) -> Array:
    """Return ``(T, J)`` the product of all factors that depend on one detection alone."""
    weights = lattice.unary_of(participant).copy()
    for word in lattice.words:
        if word.num_states == 1 and word.participants == (participant,):
            weights *= word.emission[:, 0]
    return weights


def _joined_unary(weights: Array, places: Ints, groups: Flags) -> Array:
    """Return ``(T, K + R)``: a group is weighed where it is entered, or in the first frame."""
    kept = np.take_along_axis(weights, places, axis=1)
    joined = np.ones((len(weights), groups.shape[1]))
    joined[0] = groups[0] @ weights[0]
    return np.concatenate([kept, joined], axis=1)


def _joined_steps(coherence: Array, weights: Array, places: Ints, groups: Flags) -> Array:
    """Return ``(T - 1, K + R, K + R)`` steps among kept detections and groups."""
    # Into detections that were kept, and into all members of a group together.
    into = np.take_along_axis(coherence, places[1:, None, :], axis=2)
    members = groups[1:] * weights[1:, None]
    into = np.concatenate([into, coherence @ members.swapaxes(1, 2)], axis=2)
    kept = np.take_along_axis(into, places[:-1, :, None], axis=1)
    joined = [
        np.where(groups[:-1, r, :, None], into, 0.0).max(axis=1) for r in range(groups.shape[1])
    ]
    return np.concatenate([kept, *(row[:, None] for row in joined)], axis=1)


def _joined_axis(table: Array, axis: int, places: Ints, groups: Flags) -> Array:
    """Replace an axis of detections by the kept ones and the best of every group."""
    last = np.moveaxis(table, axis, -1)
    between = (1,) * (last.ndim - 2)
    kept = np.take_along_axis(last, places.reshape(len(places), *between, -1), axis=-1)
    joined = [
        np.where(groups[:, r].reshape(len(places), *between, -1), last, 0.0).max(axis=-1)
        for r in range(groups.shape[1])
    ]
    whole = np.concatenate([kept, *(best[..., None] for best in joined)], axis=-1)
    return np.moveaxis(whole, -1, axis)


def _groups(dropped: Ints, count: int, num_detections: int) -> Flags:
    """Return ``(P, T, R, J)`` which detections are in which group: like ranks together."""
    people, frames, number = dropped.shape
    flags = np.zeros((people, frames, min(count, number), num_detections), dtype=bool)
    for r, ranks in enumerate(np.array_split(np.arange(number), max(flags.shape[2], 1))):
        if len(ranks):
            np.put_along_axis(flags[:, :, r], dropped[..., ranks], True, axis=2)
    return flags


def _index(places: Ints, participants: tuple[int, ...], states: int) -> tuple[Ints, ...]:
    """Return what picks ``(T, I, K, ..., K)`` out of ``(T, I, J, ..., J)``."""
    count = len(participants)
    index = [
        np.arange(places.shape[1]).reshape(-1, 1, *(1,) * count),
        np.arange(states).reshape(1, -1, *(1,) * count),
    ]
    for axis, p in enumerate(participants):
        shape = [places.shape[1], 1, *(1,) * count]
        shape[2 + axis] = places.shape[2]
        index.append(places[p].reshape(shape))
    return tuple(index)


def _with_emission(word: WordChain, emission: Array) -> WordChain:
    return WordChain(
        word.participants, word.initial, word.transition, emission, word.final, word.log_scale
    )
