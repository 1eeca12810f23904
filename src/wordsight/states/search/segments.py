r"""The cheapest state of ground clauses, and the cheapest sequence of lasting states (SSM-DP).

:math:`C^*(1{:}t) = \min_{j<t} C^*(1{:}j) + K\,[j>0] + \sigma(j{+}1{:}t)`, with each segment's
:math:`\sigma` found by the search for a single state. Frames may be fed as they arrive; segments
that no later frame can change are returned at once.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.errors import StateError
from wordsight.states.grounding.clauses import ClauseSet, unpack_bits

__all__ = [
    "EXACT",
    "DecodedSegment",
    "Decoding",
    "Minimum",
    "SegmentDecoder",
    "SegmentSearchSettings",
    "decode",
    "minimise",
]


EXACT = -1
"""As the bound of a search: expand as many nodes as needed for an exact result."""


@dataclass(frozen=True, eq=False)
class Minimum:
    """The cheapest state found.

    Attributes:
        cost: Weight of the clauses it violates.
        state: ``(F,)`` truth values.
        proved: Whether no state is cheaper.
    """

    cost: float
    state: NDArray[np.bool_]
    proved: bool


def minimise(
    clauses: ClauseSet, weights: ArrayLike, *, bound: int = EXACT, reduce: bool = True
) -> Minimum:
    r"""Find a state of least cost, :math:`\sigma = \min_s \sum_c w_c [s \not\models c]`.

    Best-first search over sets of clauses to give up, tested by unit propagation, branching only on
    clauses in the derivation of the conflict; beyond the bound, the result of a greedy search.

    Args:
        clauses: C ground clauses.
        weights: ``(C,)`` cost of violating each clause, not negative.
        bound: Most nodes to expand; 0 for greedy search only, :data:`EXACT` for no limit.
        reduce: Whether to cancel opposite unit clauses first and to search unconnected parts one by
            one. The result stays exact; without this the search is as published.

    Examples:
        >>> either = ClauseSet.of(2, [((), 0), ((), 1), ((0, 1), None)])
        >>> minimise(either, [1.0, 2.0, 9.0]).cost
        1.0
    """
    from wordsight.states.kernels.search import minimise_clauses

    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (len(clauses),) or not (array >= 0).all() or not np.isfinite(array).all():
        raise StateError(
            f"weights must be {len(clauses)} finite numbers of 0 or more, got {array.shape}."
        )
    state = np.zeros(clauses.body_words.shape[1], dtype=np.uint64)
    cost, proved = minimise_clauses(
        clauses.body_words,
        clauses.heads,
        array,
        clauses.units,
        bound,
        reduce,
        np.inf,
        state,
    )
    return Minimum(float(cost), unpack_bits(state, clauses.num_facts), bool(proved))


@dataclass(frozen=True)
class SegmentSearchSettings:
    """How sequences are searched.

    Attributes:
        bound: Most nodes to expand in the search for each segment's state, 0 for greedy search
            only, :data:`wordsight.states.EXACT` for no limit.
        reduce: Whether that search simplifies the clauses first; otherwise it is as published.
        prune: Whether starts of segments that can no longer be optimal are dropped.
        least_frames: Least length of a segment, except the first, which may have begun earlier.
    """

    bound: int = 1000
    reduce: bool = True
    prune: bool = True
    least_frames: int = 1

    def __post_init__(self) -> None:
        if self.bound < EXACT or self.least_frames < 1:
            raise StateError(
                f"bound must be {EXACT} or more and least_frames 1 or more, got {self.bound} and "
                f"{self.least_frames}."
            )


@dataclass(frozen=True, eq=False)
class DecodedSegment:
    """Frames ``start`` to ``end`` (exclusive) in one ``state`` ``(F,)``."""

    start: int
    end: int
    state: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Decoding:
    """The cheapest sequence of states of a video.

    Attributes:
        cost: Its cost.
        values: ``(T, F)`` the state of every frame.
        online: ``(T, F)`` the state of each frame when it was the last one.
        searches: Number of searches for a single state.
        unproved: Number of them that reached their bound.
    """

    cost: float
    values: NDArray[np.bool_]
    online: NDArray[np.bool_]
    searches: int
    unproved: int


class SegmentDecoder:
    """Decodes a video given in pieces.

    Args:
        clauses: The C ground clauses.
        transition_cost: K, the cost of a change of state.
        settings: Settings of the search.

    Examples:
        >>> decoder = SegmentDecoder(ClauseSet.of(1, [((), 0), ((0,), None)]), 2.0)
        >>> early = decoder.feed(np.array([[1.0, 0.0]] * 5 + [[0.0, 1.0]] * 5))
        >>> [(part.start, part.end) for part in early + decoder.finish()]
        [(0, 5), (5, 10)]
    """

    def __init__(
        self,
        clauses: ClauseSet,
        transition_cost: float,
        settings: SegmentSearchSettings | None = None,
    ):
        if not (transition_cost >= 0 and np.isfinite(transition_cost)):
            raise StateError(f"the transition cost must be 0 or more, got {transition_cost}.")
        self._clauses, self._transition = clauses, float(transition_cost)
        self._settings = settings or SegmentSearchSettings()
        self._count, self.cost = 0, 0.0
        self.searches, self.unproved = 0, 0
        self._starts, self._ends = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._bases, self._gathered = np.zeros(0), np.zeros((0, len(clauses)))
        self._froms: list[NDArray[np.int64]] = []
        self._words: list[NDArray[np.uint64]] = []
        self._frames, self._settled = 0, 0

    def feed(self, costs: NDArray[np.float64]) -> list[DecodedSegment]:
        """Process the clause weights ``(T, C)`` of further frames; return segments now final."""
        from wordsight.states.kernels.search import advance

        frames = len(costs)
        self._make_room(frames)
        best, froms = np.zeros(frames), np.zeros(frames, np.int64)
        states = np.zeros((frames, self._clauses.body_words.shape[1]), np.uint64)
        chosen = self._settings
        self._count, searches, unproved = advance(
            self._clauses.body_words,
            self._clauses.heads,
            self._clauses.units,
            np.ascontiguousarray(costs, dtype=np.float64),
            self._frames,
            self.cost,
            self._transition,
            chosen.least_frames,
            chosen.bound,
            chosen.reduce,
            chosen.prune,
            self._starts,
            self._bases,
            self._gathered,
            self._ends,
            self._count,
            best,
            froms,
            states,
        )
        self.searches, self.unproved = self.searches + searches, self.unproved + unproved
        if frames:
            self.cost = float(best[-1])
            self._froms.append(froms)
            self._words.append(states)
            self._frames += frames
        return self._settle()

    def finish(self) -> list[DecodedSegment]:
        """Return the remaining segments of the cheapest sequence of all frames."""
        path = self._path(self._frames)
        self._settled = self._frames
        return [self._segment(*ends) for ends in path]

    def last_states(self) -> NDArray[np.bool_]:
        """Return ``(T, F)`` the state of each frame when it was the last one."""
        words = [np.zeros((0, self._clauses.body_words.shape[1]), np.uint64), *self._words]
        return unpack_bits(np.concatenate(words), self._clauses.num_facts)

    def _make_room(self, frames: int) -> None:
        room = self._count + frames
        for name in ("_starts", "_ends", "_bases", "_gathered"):
            old = getattr(self, name)
            grown = np.zeros((room, *old.shape[1:]), old.dtype)
            grown[: self._count] = old[: self._count]
            setattr(self, name, grown)

    def _path(self, end: int) -> list[tuple[int, int]]:
        """Return the segments of the best sequence from what is settled to a frame."""
        self._froms = [np.concatenate(self._froms)] if len(self._froms) > 1 else self._froms
        path = []
        while end > self._settled:
            start = int(self._froms[0][end - 1])
            path.append((max(start, self._settled), end))
            end = start
        return path[::-1]

    def _settle(self) -> list[DecodedSegment]:
        """Return the segments on which all candidates agree."""
        paths = [self._path(int(start)) for start in self._starts[: self._count]]
        agreed = []
        for rows in zip(*paths, strict=False):
            if any(row != rows[0] for row in rows):
                break
            agreed.append(rows[0])
        segments = [self._segment(*ends) for ends in agreed]
        if agreed:
            self._settled = agreed[-1][1]
        return segments

    def _segment(self, start: int, end: int) -> DecodedSegment:
        self._words = [np.concatenate(self._words)] if len(self._words) > 1 else self._words
        return DecodedSegment(
            start, end, unpack_bits(self._words[0][end - 1], self._clauses.num_facts)
        )


def decode(
    clauses: ClauseSet,
    costs: NDArray[np.float64],
    transition_cost: float,
    settings: SegmentSearchSettings | None = None,
) -> Decoding:
    """Decode a whole video.

    Args:
        clauses: The C ground clauses.
        costs: ``(T, C)`` their weights at every frame.
        transition_cost: K.
        settings: Settings of the search.
    """
    decoder = SegmentDecoder(clauses, transition_cost, settings)
    segments = decoder.feed(costs) + decoder.finish()
    values = np.zeros((len(costs), clauses.num_facts), dtype=np.bool_)
    for part in segments:
        values[part.start : part.end] = part.state
    online = decoder.last_states()
    return Decoding(decoder.cost, values, online, decoder.searches, decoder.unproved)
