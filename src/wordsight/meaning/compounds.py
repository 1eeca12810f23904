"""Words that share their time: an adverb says how the verb's event goes, not how the clip goes.

A verb and the words that follow it ("quickly", "towards the chair") go through their states
together. Inference sees them as one compound word: its states are the verb's, what it looks at is
what all of them look at.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from wordsight.language import PartOfSpeech
from wordsight.meaning.features import Observation
from wordsight.meaning.tables import WordCounts, WordTables
from wordsight.meaning.word import WordModel
from wordsight.records import Sentence, Word

__all__ = ["Compound", "Compounds", "Joined"]

Array = NDArray[np.float64]
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
            total = total + _spread(member.logs(seen), places, self.word.arity)
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
        return [_gathered(posterior, places, self.word.arity) for places in self.places]


@dataclass(frozen=True)
class Joined:
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


class Compounds:
    """The words of a lexicon, and their compounds as sentences need them.

    Args:
        tables: The single words.
    """

    def __init__(self, tables: Mapping[str, WordTables]) -> None:
        self.tables = tables
        self._known: dict[str, Compound] = {}
        self._joined: dict[tuple[Word, ...], Joined] = {}

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

    def joined(self, sentence: Sentence) -> Joined:
        """Join every word that follows to the verb of its sentence."""
        found = self._joined.get(sentence.words)
        if found is None:
            groups = tuple(self._groups(sentence.words))
            words = tuple(self._compound([sentence.words[n] for n in group]) for group in groups)
            found = self._joined[sentence.words] = Joined(words, groups)
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


def _spread(logs: Array, places: tuple[int, ...], arity: int) -> Array:
    """Lay ``(T, J, .., J, I)`` with one axis per argument along the given ones of ``arity``."""
    order = np.argsort(places)
    moved = logs.transpose(0, *(1 + order), logs.ndim - 1)
    shape = [len(logs), *([1] * arity), logs.shape[-1]]
    for place in places:
        shape[1 + place] = logs.shape[1]
    return moved.reshape(shape)


def _gathered(posterior: Array, places: tuple[int, ...], arity: int) -> Array:
    """Sum over the arguments a member does not speak of, and put its own in its order."""
    rest = tuple(1 + place for place in range(arity) if place not in places)
    total = posterior.sum(axis=rest) if rest else posterior
    ranks = [sorted(places).index(place) for place in places]
    return np.ascontiguousarray(total.transpose(0, *(1 + rank for rank in ranks), total.ndim - 1))
