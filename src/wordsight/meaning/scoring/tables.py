"""From word models to the log weights inference adds up, and from posteriors back to counts.

A state's weight for what is seen is the ratio of the word's distribution to the background's: how
much better the word explains it than the corpus as a whole does. With a uniform background these
are the scores of the paper, Eqs. 9 and 10, but for a factor per state.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.chains.lookups import counted_rows, summed_rows
from wordsight.language import PartOfSpeech
from wordsight.meaning.features import FeatureVocabulary, Observation
from wordsight.meaning.features.observation import Layout
from wordsight.meaning.model.word import WordModel
from wordsight.records import Sentence, Word

__all__ = [
    "Background",
    "Compound",
    "CompoundTables",
    "JoinedSentence",
    "WordCounts",
    "WordTables",
    "word_tables",
]


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
    word: WordModel, vocabulary: FeatureVocabulary, background: Background, *, temper: float = 1.0
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


# Words that share their time: an adverb says how the verb's event goes, not how the clip goes.
#
# A verb and the words that follow it ("quickly", "towards the chair") go through their states
# together. Inference sees them as one compound word: its states are the verb's, what it looks at is
# what all of them look at.


Item = TypeVar("Item")


@dataclass(frozen=True)
class Compound:
    """A word of a sentence, alone or with those that follow it.

    Attributes:
        members: The tables of the words, the leading one first.
        places: For each of them which arguments of the compound it speaks of.
    """

    members: tuple[WordTables, ...]
    places: tuple[tuple[int, ...], ...]

    @cached_property
    def word(self) -> WordModel:
        """The leading word with the arguments of all; its states are theirs."""
        arity = 1 + max(place for places in self.places for place in places)
        return replace(self.members[0].word, arity=arity)

    def logs(self, seen: Observation) -> Array:
        """Return ``(T, J, ..., J, I)``: the log ratio of each state for each choice of things."""
        if len(self.members) == 1:
            return self.members[0].logs(seen)
        total: Array = np.zeros((1,) * (self.word.arity + 2))
        for member, places in zip(self.members, self.places, strict=True):
            total = total + _laid_along(member.logs(seen), places, self.word.arity)
        full = (*total.shape[:1], *(seen.num_things,) * self.word.arity, total.shape[-1])
        return np.ascontiguousarray(np.broadcast_to(total, full))

    def add_counts(
        self, posterior: Array, steps: Array, seen: Observation, counts: Mapping[str, WordCounts]
    ) -> None:
        """Give every member its counts; only the leading one has steps.

        Args:
            posterior: ``(T, J, ..., J, I)`` weight of each state and choice of things.
            steps: ``(I, I)`` expected steps.
            seen: The clip.
            counts: What to add to.
        """
        for number, (member, share) in enumerate(
            zip(self.members, self.parted(posterior), strict=True)
        ):
            own = np.zeros_like(steps) if number else steps
            member.add_counts(share, own, seen, counts[member.word.entry])

    def parted(self, posterior: Array) -> list[Array]:
        """Return per member ``(T, J, ..., J, I)`` its part of a posterior of the compound."""
        return [_summed_to(posterior, places, self.word.arity) for places in self.places]


@dataclass(frozen=True)
class JoinedSentence:
    """A sentence as compounds.

    Attributes:
        words: One word per compound, with the participants of all its members.
        members: Per compound the places of its members among the words of the sentence.
    """

    words: tuple[Word, ...]
    members: tuple[tuple[int, ...], ...]

    def ordered(self, items: Sequence[Item]) -> list[Item]:
        """Put one item per member, given compound by compound, into the order of the sentence."""
        numbers = [number for group in self.members for number in group]
        return [items[place] for place in np.argsort(numbers)]


class CompoundTables:
    """The words of a lexicon, and their compounds as sentences need them.

    Args:
        tables: The single words.
    """

    def __init__(self, tables: Mapping[str, WordTables]) -> None:
        self.tables = tables
        self._known: dict[str, Compound] = {}
        self._joined: dict[tuple[Word, ...], JoinedSentence] = {}

    def __getitem__(self, entry: str) -> Compound:
        if entry not in self._known:
            table = self.tables[entry]
            self._known[entry] = Compound((table,), (tuple(range(table.word.arity)),))
        return self._known[entry]

    def instead(self, entry: str) -> list[WordTables]:
        """Return the words that might stand in a word's place: others that look at the same."""
        word = self.tables[entry].word
        return [
            table
            for name, table in self.tables.items()
            if name != entry and table.word.part is word.part and table.word.slots == word.slots
        ]

    def joined(self, sentence: Sentence) -> JoinedSentence:
        """Join every word that follows to the verb of its sentence."""
        found = self._joined.get(sentence.words)
        if found is None:
            groups = tuple(self._groups(sentence.words))
            words = tuple(self._compound([sentence.words[n] for n in group]) for group in groups)
            found = self._joined[sentence.words] = JoinedSentence(words, groups)
        return found

    def _groups(self, words: Sequence[Word]) -> Iterator[tuple[int, ...]]:
        models = [self.tables[word.entry].word for word in words]
        verbs = [n for n, model in enumerate(models) if model.part is PartOfSpeech.VERB]
        led: list[int] = []
        if verbs:
            states = models[verbs[0]].num_states
            led = [n for n, m in enumerate(models) if m.follows and m.num_states == states]
        for number in range(len(words)):
            if verbs and number == verbs[0]:
                yield (number, *led)
            elif number not in led:
                yield (number,)

    def _compound(self, words: Sequence[Word]) -> Word:
        if len(words) == 1:
            return words[0]
        people = tuple(dict.fromkeys(p for word in words for p in word.participants))
        places = tuple(tuple(people.index(p) for p in word.participants) for word in words)
        name = "+".join(f"{w.entry}{list(p)}" for w, p in zip(words, places, strict=True))
        if name not in self._known:
            members = tuple(self.tables[word.entry] for word in words)
            self._known[name] = Compound(members, places)
        return Word(name, people)


def _laid_along(logs: Array, places: tuple[int, ...], arity: int) -> Array:
    """Lay ``(T, J, .., J, I)`` with one axis per argument along the given ones of ``arity``."""
    order = np.argsort(places)
    moved = logs.transpose(0, *(1 + order), logs.ndim - 1)
    shape = [len(logs), *([1] * arity), logs.shape[-1]]
    for place in places:
        shape[1 + place] = logs.shape[1]
    return moved.reshape(shape)


def _summed_to(posterior: Array, places: tuple[int, ...], arity: int) -> Array:
    """Sum over the arguments a member does not speak of, and put its own in its order."""
    rest = tuple(1 + place for place in range(arity) if place not in places)
    total = posterior.sum(axis=rest) if rest else posterior
    ranks = [sorted(places).index(place) for place in places]
    return np.ascontiguousarray(total.transpose(0, *(1 + rank for rank in ranks), total.ndim - 1))
