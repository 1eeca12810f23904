"""From word models to the log weights inference adds up, and from posteriors back to counts.

A state's weight for what is seen is the ratio of the word's distribution to the background's: how
much better the word explains it than the corpus as a whole does. With a uniform background these
are the scores of the paper, Eqs. 9 and 10, but for a factor per state.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.chains.lookups import counted_rows, summed_rows
from wordsight.meaning.features import Observation, Vocabulary
from wordsight.meaning.features.observation import Layout
from wordsight.meaning.word import WordModel

__all__ = ["Background", "WordCounts", "WordTables", "word_tables"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Background = Mapping[str, Array]
"""Per feature the ``(Z,)`` distribution of its bins over the whole corpus."""

_FLOOR = 1e-12


@dataclass(frozen=True)
class WordTables:
    """One word, ready for inference.

    Attributes:
        word: The model the tables come from.
        singles: Per argument ``(length, I)`` log ratios of features of one thing; None where the
            word looks at none.
        pairs: Per two arguments ``(length, I)`` log ratios of features of two things.
        single_rows: Which rows of ``Observation.singles`` the word looks at.
        pair_rows: Which rows of ``Observation.pairs`` the word looks at.
        layouts: The layouts of both kinds of rows.
    """

    word: WordModel
    singles: dict[int, Array]
    pairs: dict[tuple[int, int], Array]
    single_rows: Ints
    pair_rows: Ints
    layouts: tuple[Layout, Layout]

    def logs(self, seen: Observation) -> Array:
        """Return ``(T, J, ..., J, I)``: the log ratio of each state for each choice of things."""
        shape = (seen.num_frames,) + (1,) * self.word.arity + (self.word.num_states,)
        total: Array = np.zeros(shape)
        for role, weights in self.singles.items():
            part = summed_rows(seen.singles[self.single_rows], weights)
            total = total + _spread(part, (role,), self.word.arity)
        for roles, weights in self.pairs.items():
            part = summed_rows(seen.pairs[self.pair_rows], weights)
            total = total + _spread(part, roles, self.word.arity)
        full = (seen.num_frames,) + (seen.num_things,) * self.word.arity + shape[-1:]
        return np.ascontiguousarray(np.broadcast_to(total, full))

    def add_counts(
        self, posterior: Array, steps: Array, seen: Observation, counts: "WordCounts"
    ) -> None:
        """Add what was seen in each state, and which states followed each other.

        Args:
            posterior: ``(T, J, ..., J, I)`` weight of each state and choice of things.
            steps: ``(I, I)`` expected steps.
            seen: The clip.
            counts: What to add to.
        """
        # A clip too short to show all states says nothing of how they follow each other.
        if seen.num_frames >= self.word.num_states:
            counts.transition += steps
            counts.initial += posterior[0].sum(axis=tuple(range(self.word.arity)))
        for role in self.singles:
            share = _gathered(posterior, (role,))
            places, table = seen.singles[self.single_rows], counts.singles[role]
            table += counted_rows(places, share, len(table))
        for roles in self.pairs:
            share = _gathered(posterior, roles)
            places, table = seen.pairs[self.pair_rows], counts.pairs[roles]
            table += counted_rows(places, share, len(table))

    def no_counts(self) -> "WordCounts":
        """Return counts of nothing, in the shape of the tables."""
        states = self.word.num_states
        return WordCounts(
            np.zeros(states),
            np.zeros((states, states)),
            {role: np.zeros_like(table) for role, table in self.singles.items()},
            {roles: np.zeros_like(table) for roles, table in self.pairs.items()},
        )

    def emission_counts(self, counts: "WordCounts") -> tuple[Array, ...]:
        """Return the counts of emissions per slot of the word, each ``(I, Z)``."""
        parts = []
        for slot in self.word.slots:
            if len(slot.roles) == 1:
                table, layout = counts.singles[slot.roles[0]], self.layouts[0]
            else:
                table, layout = counts.pairs[slot.roles[0], slot.roles[1]], self.layouts[1]
            parts.append(_speaking(self.word)[:, None] * table[layout.place(slot.feature)].T)
        return tuple(parts)


@dataclass
class WordCounts:
    """Expected counts of one word.

    Attributes:
        initial: ``(I,)`` first states.
        transition: ``(I, I)`` steps.
        singles: Per argument ``(length, I)`` bins of features of one thing.
        pairs: Per two arguments ``(length, I)`` bins of features of two things.
    """

    initial: Array
    transition: Array
    singles: dict[int, Array] = field(default_factory=dict)
    pairs: dict[tuple[int, int], Array] = field(default_factory=dict)

    def add(self, other: "WordCounts", factor: float = 1.0) -> None:
        """Add other counts, times a factor."""
        self.initial += factor * other.initial
        self.transition += factor * other.transition
        for role, table in other.singles.items():
            self.singles[role] += factor * table
        for roles, table in other.pairs.items():
            self.pairs[roles] += factor * table


def word_tables(
    word: WordModel, vocabulary: Vocabulary, background: Background, *, temper: float = 1.0
) -> WordTables:
    """Prepare a word.

    Args:
        word: The model.
        vocabulary: The bins of the observations it will meet.
        background: What to compare with.
        temper: Power of the ratios of words with several states: less than 1 lets nouns speak.
    """
    layouts = Layout.of(vocabulary.singles, vocabulary), Layout.of(vocabulary.pairs, vocabulary)
    power = temper if word.num_states > 1 else 1.0
    singles: dict[int, Array] = {}
    pairs: dict[tuple[int, int], Array] = {}
    used: tuple[set[str], set[str]] = (set(), set())
    for slot, table in zip(word.slots, word.emissions, strict=True):
        ratios = power * (np.log(table + _FLOOR) - np.log(background[slot.feature] + _FLOOR))
        ratios = _speaking(word)[:, None] * ratios
        kind = len(slot.roles) - 1
        rows = np.zeros((layouts[kind].length, word.num_states))
        if kind == 0:
            rows = singles.setdefault(slot.roles[0], rows)
        else:
            rows = pairs.setdefault((slot.roles[0], slot.roles[1]), rows)
        rows[layouts[kind].place(slot.feature)] = ratios.T
        used[kind].add(slot.feature)
    return WordTables(word, singles, pairs, *_rows(layouts, used), layouts)


def _speaking(word: WordModel) -> Array:
    """Return ``(I,)`` 1 for states that say something: of a word that follows the verb, the event.

    What was before and what comes after is the verb's to tell.
    """
    speaking = np.ones(word.num_states)
    if word.follows and word.num_states > 2:
        speaking[[0, -1]] = 0.0
    return speaking


def _rows(layouts: tuple[Layout, Layout], used: tuple[set[str], set[str]]) -> tuple[Ints, Ints]:
    first, second = (
        np.array([n for n, name in enumerate(layout.names) if name in names], dtype=np.int64)
        for layout, names in zip(layouts, used, strict=True)
    )
    return first, second


def _spread(part: Array, roles: tuple[int, ...], arity: int) -> Array:
    """Give ``(T, J[, J], I)`` an axis of length 1 for every argument it does not depend on."""
    shape = [part.shape[0], *([1] * arity), part.shape[-1]]
    for role, size in zip(roles, part.shape[1:-1], strict=True):
        shape[role + 1] = size
    return part.reshape(shape)


def _gathered(posterior: Array, roles: tuple[int, ...]) -> Array:
    """Sum ``(T, J, ..., J, I)`` over the arguments a feature does not depend on."""
    arity = posterior.ndim - 2
    rest = tuple(role + 1 for role in range(arity) if role not in roles)
    return np.asarray(posterior.sum(axis=rest))
