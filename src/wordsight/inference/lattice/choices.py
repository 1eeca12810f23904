"""Joint choices of one thing per participant, weighed by factors of a few participants each.

Where tracks are given, a sentence is such a choice and no lattice is needed: a table with one axis
per participant. Where that table is too large, the best things of each participant are kept, with
the bound of :mod:`wordsight.inference.lattice.prune`: a choice is a lattice of one frame.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.lattice.limits import current_limits, report_loss
from wordsight.inference.lattice.model import Lattice, LatticeTooLargeError, WordChain
from wordsight.inference.lattice.prune import PrunedLattice, prune
from wordsight.inference.lattice.run import best_paths, log_scores

__all__ = ["Choices", "weigh_choices"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Factor = tuple[tuple[int, ...], Array]
"""Participants, and ``(J, ..., J)`` log weights with one axis for each of them."""

_MOST_CHOICES = 1 << 26
"""Joint choices that are still enumerated: half a gigabyte."""

_MOST_PRUNED = 1 << 22
"""Joint choices of those that were kept, where not all are: their bound takes some copies."""


@dataclass(frozen=True)
class Choices:
    """Log weights of joint choices.

    Attributes:
        logs: ``(K, ..., K)`` log weight of each choice of one thing per participant.
        places: ``(P, K)`` which things they are; all, in order, if None.
        num_things: How many there are.
    """

    logs: Array
    places: Ints | None
    num_things: int

    def things(self, flat: Ints) -> tuple[Ints, ...]:
        """Return per participant the things of choices that are named by their flat index."""
        cast = np.unravel_index(flat, self.logs.shape)
        if self.places is None:
            return tuple(np.asarray(each, dtype=np.int64) for each in cast)
        return tuple(place[each] for place, each in zip(self.places, cast, strict=True))

    def whole(self, table: Array, participants: tuple[int, ...]) -> Array:
        """Spread a ``(K, ..., K)`` table of some participants over all things, 0 for the others."""
        if self.places is None:
            return table
        spread = np.zeros((self.num_things,) * len(participants))
        spread[np.ix_(*(self.places[p] for p in participants))] = table
        return spread


def weigh_choices(
    prior: Array, factors: Sequence[Factor], people: int, *, heaviest: bool = False
) -> Choices:
    """Weigh every choice of one thing per participant, or of the best where there are too many.

    Args:
        prior: ``(J,)`` log weight of each thing for every participant.
        factors: What else weighs them.
        people: Number of participants.
        heaviest: Whether the best choice is asked for; the bound is then on its weight, else on
            the sum.

    Returns:
        The choices; what is lost at most is noted, or warned of.

    Raises:
        LatticeTooLargeError: If there are too many participants for even a few things of each.
    """
    count = len(prior)
    most = min(current_limits().most_detections or count, count)
    if most == count and count**people <= _MOST_CHOICES:
        return Choices(_total(prior, factors, people, None), None, count)
    few = prune(_lattice(prior, factors, people), _fitting(most, count, people), groups=1)
    places = few.places[:, 0]
    found = Choices(_total(prior, factors, people, places), places, count)
    _note(few, people, heaviest)
    return found


def _fitting(most: int, count: int, people: int) -> int:
    largest = int(_MOST_PRUNED ** (1 / people) + 1e-9) - 1
    if largest < 1:
        raise LatticeTooLargeError(
            f"a sentence of {people} participants over {count} tracks has {count**people:,} "
            "choices, too many even of the best few; cut the sentence into parts."
        )
    return min(most, largest)


def _note(few: PrunedLattice, people: int, heaviest: bool) -> None:
    pair = [few.kept, few.upper]
    if heaviest:
        lower, upper = (path.log_score for path in best_paths(pair))
    else:
        lower, upper = (score.log_joint for score in log_scores(pair))
    lost = 0.0 if upper == -np.inf else max(0.0, float(-np.expm1(lower - upper)))
    report_loss(lost, people, few.num_detections, few.places.shape[2], "tracks")


def _lattice(prior: Array, factors: Sequence[Factor], people: int) -> Lattice:
    """Return the choices as a lattice of one frame."""
    one = np.ones(1)
    words = []
    for participants, logs in factors:
        top = float(np.max(logs, initial=-np.inf))
        top = top if np.isfinite(top) else 0.0
        emission = np.exp(logs - top)[None, None]
        words.append(WordChain(participants, one, one[None], emission, None, top))
    return Lattice(people, np.exp(prior)[None], np.ones((0, *prior.shape * 2)), tuple(words))


def _total(prior: Array, factors: Sequence[Factor], people: int, places: Ints | None) -> Array:
    parts = [
        _along(prior if places is None else prior[places[p]], (p,), people) for p in range(people)
    ]
    for participants, logs in factors:
        kept = logs if places is None else logs[np.ix_(*(places[p] for p in participants))]
        parts.append(_along(kept, participants, people))
    # From the left, one after the other: the order of additions decides the last digit.
    return np.asarray(reduce(np.add, parts, np.zeros((1,) * people)))


def _along(table: Array, axes: tuple[int, ...], count: int) -> Array:
    """Lay a table with one axis per argument along the given ones of ``count`` axes."""
    order, places = _order(axes, count)
    return (table if order is None else table.transpose(order))[places]


@lru_cache(maxsize=1024)
def _order(
    axes: tuple[int, ...], count: int
) -> tuple[tuple[int, ...] | None, tuple[slice | None, ...]]:
    """Return how to sort a table's axes, if at all, and where to put axes of length 1."""
    order = tuple(int(place) for place in np.argsort(axes))
    places = tuple(slice(None) if axis in axes else None for axis in range(count))
    return (None if order == tuple(range(len(axes))) else order), places
