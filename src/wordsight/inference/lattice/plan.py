"""Plans: what the compiled kernel has to do for one shape of lattice, as numbers.

Two lattices with the same numbers of detections, participants and states, and words on the same
participants, share a plan; the kernel is one program for all of them.

Inside the kernel, nodes are ordered word states first, then participants, both counted from the
left; tables of words have their participants in ascending order.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.lattice.model import Lattice

__all__ = ["KernelPlan", "Topology", "plan_of", "topology_of"]

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Topology:
    """The shape of a lattice without its length.

    Attributes:
        num_participants: Number of participants.
        num_detections: Detections per frame.
        words: Per word its participants in ascending order and its number of states.
        shared_unary: Whether all participants have the same detection weights.
        shared_coherence: Whether all participants have the same step weights.
    """

    num_participants: int
    num_detections: int
    words: tuple[tuple[tuple[int, ...], int], ...]
    shared_unary: bool
    shared_coherence: bool

    @property
    def num_tracks(self) -> int:
        """Number of joint choices of detections."""
        return int(self.num_detections**self.num_participants)

    @property
    def num_word_states(self) -> int:
        """Number of joint word states."""
        return math.prod(states for _, states in self.words)

    @property
    def table_sizes(self) -> list[int]:
        """Number of entries of each word's table in one frame."""
        return [states * self.num_detections ** len(axes) for axes, states in self.words]


def topology_of(lattice: Lattice) -> Topology:
    """Return the shape of a lattice."""
    return Topology(
        lattice.num_participants,
        lattice.num_detections,
        tuple((tuple(sorted(word.participants)), word.num_states) for word in lattice.words),
        lattice.unary.ndim == 2,
        lattice.coherence.ndim == 3,
    )


class KernelPlan(NamedTuple):
    """Instructions for the kernel; all arrays hold integers.

    Attributes:
        people: Number P of participants.
        detections: Number J of detections per frame.
        tracks: Number of joint detections.
        states: Number of joint word states.
        entries: Entries of all tables of a frame.
        arena: Size of the area where posteriors are summed: tables, nodes, then partial sums.
        joint: Where in it the nodes' posteriors lie: among the tables, if one of them is just that.
        direct: First entry of the table that is just the nodes' weights, or -1 if none is.
        words: ``(L, 4)`` states, first entry in the tables of a frame, entries per state, first
            entry in ``maps``: which table entry each joint detection reads.
        singles: ``(S, 2)`` words of one state and one participant: participant, first entry.
        targets: ``(G, 5)`` tables that take in smaller ones: first entry, states, entries per
            state, first and last + 1 row of ``folds``.
        folds: ``(F, 2)`` what they take in: first entry of a table, first entry in ``maps``.
        bases: ``(B, 2)`` tables of one state that no other covers, as in ``folds``.
        many: ``(M, 5)`` words with more than one state, in order: the word, its states, the
            entries before and behind its axis of the nodes, first entry of its transition among
            the parameters.
        sums: ``(N, 5)`` sums that turn joint posteriors into tables: first entry of the source
            and of the target in the arena, and A, N, B of ``(A, N, B) -> (A, B)``.
        maps: All index maps, one after another.
    """

    people: int
    detections: int
    tracks: int
    states: int
    entries: int
    arena: int
    joint: int
    direct: int
    words: Ints
    singles: Ints
    targets: Ints
    folds: Ints
    bases: Ints
    many: Ints
    sums: Ints
    maps: Ints


@lru_cache(maxsize=256)
def plan_of(topology: Topology) -> KernelPlan:
    """Work out the plan of a topology; the last few are kept."""
    planner = _Planner(topology)
    planner.fold_tables()
    planner.sum_posteriors()
    return KernelPlan(
        topology.num_participants,
        topology.num_detections,
        topology.num_tracks,
        topology.num_word_states,
        sum(topology.table_sizes),
        planner.arena,
        planner.joint,
        -1 if planner.bases else planner.direct,
        _rows(planner.words, 4),
        _rows(planner.singles, 2),
        _rows(planner.targets, 5),
        _rows(planner.folds, 2),
        _rows(planner.bases, 2),
        _rows(_words_with_states(topology), 5),
        _rows(planner.sums, 5),
        np.concatenate([*planner.maps, np.zeros(1, dtype=np.int64)]),
    )


class _Planner:
    """Collects the instructions of one topology."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.maps: list[Ints] = []
        self.map_starts: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        self.singles: list[list[int]] = []
        self.targets: list[list[int]] = []
        self.folds: list[list[int]] = []
        self.bases: list[list[int]] = []
        self.sums: list[list[int]] = []
        everyone = tuple(range(topology.num_participants))
        starts = np.cumsum([0, *topology.table_sizes])
        self.starts = [int(start) for start in starts]
        self.words = [
            [states, self.starts[number], size // states, self._map(everyone, axes)]
            for number, ((axes, states), size) in enumerate(
                zip(topology.words, topology.table_sizes, strict=True)
            )
        ]
        # The arena of the kernel: tables of the frame, then joint posteriors, then partial sums.
        nodes = topology.num_tracks * topology.num_word_states
        self.arena = self.starts[-1] + nodes
        self.joint = self.starts[-1]
        self.direct = -1
        for number, (axes, states) in enumerate(topology.words):
            if axes == everyone and states == topology.num_word_states and states > 1:
                self.joint = self.direct = self.starts[number]

    def fold_tables(self) -> None:
        """Multiply what has one state into the smallest table that covers its participants."""
        words = self.topology.words
        one_state = [n for n, (_, states) in enumerate(words) if states == 1]
        self.singles = [
            [words[n][0][0], self.starts[n]] for n in one_state if len(words[n][0]) == 1
        ]
        pending = [n for n in one_state if len(words[n][0]) > 1]
        pending.sort(key=lambda n: len(words[n][0]))
        taken: dict[int, list[tuple[tuple[int, ...], int]]] = {n: [] for n in range(len(words))}
        everyone = tuple(range(self.topology.num_participants))
        done: set[int] = set()
        for number in pending:
            done.add(number)
            axes, source = words[number][0], self.starts[number]
            target = self._smallest_cover(axes, done)
            if target is None:
                self.bases.append([source, self._map(everyone, axes)])
            else:
                taken[target].append((axes, source))
        # A table of one state is taken in after everything it takes in itself.
        many = [n for n in range(len(words)) if words[n][1] > 1]
        for target in [*pending, *many]:
            self._add_target(target, taken[target])

    def _add_target(self, target: int, taken: list[tuple[tuple[int, ...], int]]) -> None:
        if not taken:
            return
        axes, states = self.topology.words[target]
        first = len(self.folds)
        self.folds += [[source, self._map(axes, part)] for part, source in taken]
        length = self.topology.num_detections ** len(axes)
        self.targets.append([self.starts[target], states, length, first, len(self.folds)])

    def sum_posteriors(self) -> None:
        """Sum the joint posterior down to every word's table, reusing sums on the way."""
        words = self.topology.words
        # Axes are numbered word states first (negative), then participants.
        states = [-1 - n for n, (_, count) in enumerate(words) if count > 1]
        everything = (*states, *range(self.topology.num_participants))
        nodes: dict[tuple[int, ...], int] = {everything: self.joint}
        order = sorted(range(len(words)), key=lambda n: -self.topology.table_sizes[n])
        for number in order:
            axes, count = words[number]
            wanted = ((-1 - number,) if count > 1 else ()) + axes
            self._derive(wanted, self.starts[number], nodes)

    def _derive(
        self, wanted: tuple[int, ...], target: int, nodes: dict[tuple[int, ...], int]
    ) -> None:
        covers = [axes for axes in nodes if set(wanted) <= set(axes)]
        axes = min(covers, key=self._size)
        place = nodes[axes]
        if axes == wanted and place != target:
            self.sums.append([place, target, 1, 1, self._size(axes)])
        while axes != wanted:
            first, last = _first_run(axes, wanted)
            left = axes[:first] + axes[last:]
            goal = target
            if left != wanted:
                goal, self.arena = self.arena, self.arena + self._size(left)
            dims = [self._size(part) for part in (axes[:first], axes[first:last], axes[last:])]
            self.sums.append([place, goal, *dims])
            axes, place = left, goal
            nodes.setdefault(axes, place)

    def _size(self, axes: tuple[int, ...]) -> int:
        return math.prod(
            self.topology.num_detections if axis >= 0 else self.topology.words[-1 - axis][1]
            for axis in axes
        )

    def _smallest_cover(self, axes: tuple[int, ...], done: set[int]) -> int | None:
        covers = [
            number
            for number, (cover, _) in enumerate(self.topology.words)
            if set(axes) <= set(cover) and number not in done
        ]
        return min(covers, key=lambda n: self.topology.table_sizes[n], default=None)

    def _map(self, whole: tuple[int, ...], part: tuple[int, ...]) -> int:
        """Return where the map from joint detections of ``whole`` to those of ``part`` begins."""
        if (whole, part) not in self.map_starts:
            count = self.topology.num_detections
            strides = [count ** (len(part) - 1 - part.index(a)) if a in part else 0 for a in whole]
            index = np.zeros((1,), dtype=np.int64)
            for stride in strides:
                index = (index[:, None] + stride * np.arange(count)).reshape(-1)
            self.map_starts[whole, part] = sum(map(len, self.maps))
            self.maps.append(index)
        return self.map_starts[whole, part]


def _first_run(axes: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, int]:
    """Return the first run of neighbouring axes that are not wanted."""
    first = next(place for place, axis in enumerate(axes) if axis not in wanted)
    last = first
    # Word states go together but apart from participants: the sum over states alone is of use
    # to every word of one state.
    while last < len(axes) and axes[last] not in wanted and (axes[last] < 0) == (axes[first] < 0):
        last += 1
    return first, last


def _words_with_states(topology: Topology) -> list[list[int]]:
    many = [(n, states) for n, (_, states) in enumerate(topology.words) if states > 1]
    before, behind = 1, topology.num_tracks * topology.num_word_states
    # Parameters hold the initial and the final weights of all words first.
    offset = 2 * sum(states for _, states in many)
    rows = []
    for number, states in many:
        behind //= states
        rows.append([number, states, before, behind, offset])
        before *= states
        offset += states**2
    return rows


def _rows(rows: list[list[int]], width: int) -> Ints:
    return np.array(rows, dtype=np.int64).reshape(-1, width)
