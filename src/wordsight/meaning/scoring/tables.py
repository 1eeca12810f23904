"""Words as tables of log weights for inference, and their expected counts.

The weight of a state for an observation is the ratio of the word's distribution to the background
distribution. With a uniform background these are the scores of Eqs. 9 and 10 of the paper, but for
a factor per state.

A verb and the words that follow it ("quickly", "towards the chair") share their states: an adverb
qualifies the event of the verb, not the whole clip. Inference sees them as one compound word that
has the states of the verb and the features of all its members.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.chains.hmm import counted_rows, summed_rows
from wordsight.language import PartOfSpeech
from wordsight.meaning.features import FeatureVocabulary, Observation, PartFeatures
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
Item = TypeVar("Item")

_FLOOR = 1e-12


@dataclass
class WordCounts:
    """Expected counts of one word.

    Attributes:
        initial: ``(I,)`` first states.
        transition: ``(I, I)`` transitions.
        singles: Per argument ``(length, I)`` bins of features of one object.
        pairs: Per pair of arguments ``(length, I)`` bins of features of two objects.
    """

    initial: Array
    transition: Array
    singles: dict[int, Array] = field(default_factory=dict)
    pairs: dict[tuple[int, int], Array] = field(default_factory=dict)

    def add(self, other: "WordCounts") -> None:
        """Add other counts in place."""
        self.initial += other.initial
        self.transition += other.transition
        for role, table in other.singles.items():
            self.singles[role] += table
        for roles, table in other.pairs.items():
            self.pairs[roles] += table


@dataclass(frozen=True)
class WordTables:
    """One word, ready for inference.

    Attributes:
        word: The model the tables come from.
        singles: Per argument ``(length, I)`` log ratios of features of one object; missing where
            the word uses none.
        pairs: Per pair of arguments ``(length, I)`` log ratios of features of two objects.
        single_rows: Rows of ``Observation.singles`` that the word uses.
        pair_rows: Rows of ``Observation.pairs`` that the word uses.
        layouts: The layouts of both kinds of rows.
    """

    word: WordModel
    singles: dict[int, Array]
    pairs: dict[tuple[int, int], Array]
    single_rows: Ints
    pair_rows: Ints
    layouts: tuple[Layout, Layout]

    def logs(self, observation: Observation) -> Array:
        """Return ``(T, J, ..., J, I)`` log ratios of each state for each choice of objects."""
        arity = self.word.arity
        shape = (observation.num_frames,) + (1,) * arity + (self.word.num_states,)
        total: Array = np.zeros(shape)
        for role, weights in self.singles.items():
            part = summed_rows(observation.singles[self.single_rows], weights)
            total = total + _laid_along(part, (role,), arity)
        for roles, weights in self.pairs.items():
            part = summed_rows(observation.pairs[self.pair_rows], weights)
            total = total + _laid_along(part, roles, arity)
        full = (observation.num_frames,) + (observation.num_objects,) * arity + shape[-1:]
        return np.ascontiguousarray(np.broadcast_to(total, full))

    def add_counts(
        self, posterior: Array, steps: Array, observation: Observation, counts: WordCounts
    ) -> None:
        """Add the bins observed in each state, and the transitions, to ``counts``.

        Args:
            posterior: ``(T, J, ..., J, I)`` weight of each state and choice of objects.
            steps: ``(I, I)`` expected transitions.
            observation: The clip.
            counts: What to add to.
        """
        # A clip too short to show all states says nothing about how they follow each other.
        if observation.num_frames >= self.word.num_phases:
            counts.transition += steps
            counts.initial += posterior[0].sum(axis=tuple(range(self.word.arity)))
        for role in self.singles:
            share = _summed_to(posterior, (role,))
            rows, table = observation.singles[self.single_rows], counts.singles[role]
            table += counted_rows(rows, share, len(table))
        for roles in self.pairs:
            share = _summed_to(posterior, roles)
            rows, table = observation.pairs[self.pair_rows], counts.pairs[roles]
            table += counted_rows(rows, share, len(table))

    def zero_counts(self) -> WordCounts:
        """Return counts of zero, in the shape of the tables."""
        states = self.word.num_states
        return WordCounts(
            np.zeros(states),
            np.zeros((states, states)),
            {role: np.zeros_like(table) for role, table in self.singles.items()},
            {roles: np.zeros_like(table) for roles, table in self.pairs.items()},
        )

    def emission_counts(self, counts: WordCounts) -> tuple[Array, ...]:
        """Return the counts of emissions per slot of the word, each ``(I, Z)``."""
        parts = []
        for slot in self.word.slots:
            if len(slot.roles) == 1:
                table, layout = counts.singles[slot.roles[0]], self.layouts[0]
            else:
                table, layout = counts.pairs[slot.roles[0], slot.roles[1]], self.layouts[1]
            parts.append(_active_states(self.word)[:, None] * table[layout.place(slot.feature)].T)
        return tuple(parts)


def word_tables(
    word: WordModel,
    vocabulary: FeatureVocabulary,
    background: Background,
    *,
    temper: float = 1.0,
    features: PartFeatures | None = None,
) -> WordTables:
    """Prepare a word for inference.

    Args:
        word: The model.
        vocabulary: The bins of the observations.
        background: The background distributions.
        temper: Power of the ratios of words with several states: below 1, nouns weigh more.
        features: The features of its part of speech, which may weigh some less; if None, all alike.
    """
    layouts = Layout.of(vocabulary.singles, vocabulary), Layout.of(vocabulary.pairs, vocabulary)
    power = temper if word.num_states > 1 else 1.0
    singles: dict[int, Array] = {}
    pairs: dict[tuple[int, int], Array] = {}
    used: tuple[set[str], set[str]] = (set(), set())
    for slot, table in zip(word.slots, word.emissions, strict=True):
        weight = power if features is None else power * features.weight(slot.feature)
        ratios = weight * (np.log(table + _FLOOR) - np.log(background[slot.feature] + _FLOOR))
        ratios = _active_states(word)[:, None] * ratios
        kind = len(slot.roles) - 1
        rows = np.zeros((layouts[kind].length, word.num_states))
        if kind == 0:
            rows = singles.setdefault(slot.roles[0], rows)
        else:
            rows = pairs.setdefault((slot.roles[0], slot.roles[1]), rows)
        rows[layouts[kind].place(slot.feature)] = ratios.T
        used[kind].add(slot.feature)
    single_rows, pair_rows = (
        np.array([n for n, name in enumerate(layout.names) if name in names], dtype=np.int64)
        for layout, names in zip(layouts, used, strict=True)
    )
    return WordTables(word, singles, pairs, single_rows, pair_rows, layouts)


def _active_states(word: WordModel) -> Array:
    """Return ``(I,)`` 1 for states with evidence, else 0.

    A word that follows a verb describes its event only, not what is before and after.
    """
    active = np.ones(word.num_states)
    if word.follows and word.num_states > 2:
        active[[0, -1]] = 0.0
    return active


@dataclass(frozen=True)
class Compound:
    """A word of a sentence, alone or with those that share its states.

    Attributes:
        members: The tables of the words, the leading one first.
        places: For each of them the arguments of the compound it is about.
    """

    members: tuple[WordTables, ...]
    places: tuple[tuple[int, ...], ...]

    @cached_property
    def word(self) -> WordModel:
        """The leading word with the arguments of all members; its states are theirs."""
        arity = 1 + max(place for places in self.places for place in places)
        return replace(self.members[0].word, arity=arity)

    def logs(self, observation: Observation) -> Array:
        """Return ``(T, J, ..., J, I)`` log ratios of each state for each choice of objects."""
        if len(self.members) == 1:
            return self.members[0].logs(observation)
        arity = self.word.arity
        total: Array = np.zeros((1,) * (arity + 2))
        for member, places in zip(self.members, self.places, strict=True):
            total = total + _laid_along(self.for_senses(member.logs(observation)), places, arity)
        full = (*total.shape[:1], *(observation.num_objects,) * arity, total.shape[-1])
        return np.ascontiguousarray(np.broadcast_to(total, full))

    def for_senses(self, logs: Array) -> Array:
        """Return log ratios of a member for all states: followers hold in each sense of a verb."""
        times = self.word.num_states // logs.shape[-1]
        return logs if times == 1 else np.tile(logs, times)

    def add_counts(
        self,
        posterior: Array,
        steps: Array,
        observation: Observation,
        counts: Mapping[str, WordCounts],
    ) -> None:
        """Add the counts of every member; only the leading one has transitions.

        Args:
            posterior: ``(T, J, ..., J, I)`` weight of each state and choice of objects.
            steps: ``(I, I)`` expected transitions.
            observation: The clip.
            counts: What to add to.
        """
        for number, (member, share) in enumerate(
            zip(self.members, self.member_posteriors(posterior), strict=True)
        ):
            states = member.word.num_states
            own = np.zeros((states, states)) if number else steps
            member.add_counts(share, own, observation, counts[member.word.entry])

    def member_posteriors(self, posterior: Array) -> list[Array]:
        """Return per member ``(T, J, ..., J, I)`` its part of a posterior of the compound."""
        shares = [posterior] + [self.word.by_phase(posterior)] * (len(self.members) - 1)
        return [
            np.ascontiguousarray(_summed_to(share, places))
            for share, places in zip(shares, self.places, strict=True)
        ]

    def member_states(self, states: Ints) -> list[Ints]:
        """Return per member the states of a path: those of followers are the phases of a verb."""
        return [states % member.word.num_states for member in self.members]


@dataclass(frozen=True)
class JoinedSentence:
    """A sentence as compounds.

    Attributes:
        words: One word per compound, with the participants of all its members.
        members: Per compound the indices of its members among the words of the sentence.
    """

    words: tuple[Word, ...]
    members: tuple[tuple[int, ...], ...]

    def ordered(self, items: Sequence[Item]) -> list[Item]:
        """Sort items, one per member and given compound by compound, by the sentence's order."""
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

    def alternatives(self, entry: str) -> list[WordTables]:
        """Return the words that could replace a word: others with the same features."""
        word = self.tables[entry].word
        return [
            table
            for name, table in self.tables.items()
            if name != entry and table.word.part is word.part and table.word.slots == word.slots
        ]

    def joined(self, sentence: Sentence) -> JoinedSentence:
        """Join the words that follow the verb of a sentence to the verb."""
        joined = self._joined.get(sentence.words)
        if joined is None:
            groups = tuple(self._groups(sentence.words))
            words = tuple(self._compound([sentence.words[n] for n in group]) for group in groups)
            joined = self._joined[sentence.words] = JoinedSentence(words, groups)
        return joined

    def _groups(self, words: Sequence[Word]) -> Iterator[tuple[int, ...]]:
        models = [self.tables[word.entry].word for word in words]
        verbs = [n for n, model in enumerate(models) if model.part is PartOfSpeech.VERB]
        followers: list[int] = []
        if verbs:
            states = models[verbs[0]].num_phases
            followers = [n for n, m in enumerate(models) if m.follows and m.num_states == states]
        for number in range(len(words)):
            if verbs and number == verbs[0]:
                yield (number, *followers)
            elif number not in followers:
                yield (number,)

    def _compound(self, words: Sequence[Word]) -> Word:
        if len(words) == 1:
            return words[0]
        participants = tuple(dict.fromkeys(p for word in words for p in word.participants))
        places = tuple(tuple(participants.index(p) for p in word.participants) for word in words)
        name = "+".join(f"{w.entry}{list(p)}" for w, p in zip(words, places, strict=True))
        if name not in self._known:
            members = tuple(self.tables[word.entry] for word in words)
            self._known[name] = Compound(members, places)
        return Word(name, participants)


def _laid_along(logs: Array, places: tuple[int, ...], arity: int) -> Array:
    """Lay ``(T, J, .., J, I)`` with one axis per argument along the given ones of ``arity``."""
    shape = [len(logs), *([1] * arity), logs.shape[-1]]
    for place in places:
        shape[1 + place] = logs.shape[1]
    if len(places) > 1:
        logs = logs.transpose(0, *(1 + np.argsort(places)), logs.ndim - 1)
    return logs.reshape(shape)


def _summed_to(posterior: Array, places: tuple[int, ...]) -> Array:
    """Sum ``(T, J, .., J, I)`` over all arguments but the given ones, and order those."""
    rest = tuple(1 + place for place in range(posterior.ndim - 2) if place not in places)
    total = np.asarray(posterior.sum(axis=rest) if rest else posterior)
    if len(places) > 1:
        ranks = np.argsort(np.argsort(places))
        total = total.transpose(0, *(1 + ranks), total.ndim - 1)
    return total
