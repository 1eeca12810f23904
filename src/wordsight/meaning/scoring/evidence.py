"""What speaks for each word of a sentence, once it is chosen who is who.

The log ratio of a word over the whole clip hides what people look at: a long walk that fits makes
up for a lift that never comes, and a chair that stands aside later for one that did not when it
mattered. So a verb brings evidence for the clip and for each of its phases, and words that go with
a verb bring evidence for the time of the event alone: on average, where they fit best and worst.
They do so twice, since both what is usual and what else might be said make a poor measure alone:
who bends down slowly moves more than is usual, and yet hardly at all beside who does so quickly.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.chains.hmm import chain_counts, chain_scores
from wordsight.language import PartOfSpeech
from wordsight.meaning.model.word import WordModel
from wordsight.meaning.scoring.tables import Compound, CompoundTables, JoinedSentence, WordTables
from wordsight.records import Word

__all__ = ["NUM_EVIDENCE", "is_judged_in_event", "num_evidence", "word_evidence"]

Array = NDArray[np.float64]
LogsOf = Callable[[WordTables, tuple[int, ...]], Array]

NUM_EVIDENCE = 7
"""Kinds of evidence a word brings, all log ratios per frame. The first is that of the clip. Then
for words with states of their own: while it begins, goes on and ends. For words that go with an
event: its mean there, where it fits best and where worst; and the same three once more, beside the
words that might stand in its place. For the rest: nothing."""

_SHARPNESS = 3.0  # how much more the best, or the worst, frames count than the others


def is_judged_in_event(word: WordModel) -> bool:
    """Tell whether a word is judged while the verb's event lasts: manner, direction, relation."""
    return word.follows or (word.num_states == 1 and word.arity > 1)


def num_evidence(word: WordModel) -> int:
    """Return how many kinds of evidence a word brings."""
    if is_judged_in_event(word):
        return NUM_EVIDENCE
    return 4 if word.num_states > 1 else 1


def word_evidence(joined: JoinedSentence, words: CompoundTables, logs_of: LogsOf) -> Array:
    """Gather the evidence of all words of a sentence.

    Args:
        joined: The sentence as compounds.
        words: The words.
        logs_of: Given a word and whom it speaks of, returns ``(T, C, I)``: the log ratios of its
            states on C choices of things.

    Returns:
        ``(C, L, TRAITS)``; times the number of frames, the first of all words add up to the log
        ratio of the sentence on that choice.
    """
    solved = [_solve(word, words[word.entry], logs_of) for word in joined.words]
    event = _event(solved)
    rows = [row for one in solved for row in _rows(one, event, words, logs_of)]
    return np.stack(joined.ordered(rows), axis=1)


@dataclass(frozen=True)
class _Solved:
    """A compound on C choices of things.

    Attributes:
        compound: The compound.
        people: Per member whom it speaks of.
        logs: Per member ``(T, C, I)`` log ratios.
        totals: ``(C, members)`` log ratios of the clip: those that follow have their expected sum
            over frames, the leading one all the rest.
        states: ``(T, C, I)`` posteriors of states.
    """

    compound: Compound
    people: list[tuple[int, ...]]
    logs: list[Array]
    totals: Array
    states: Array


def _solve(word: Word, compound: Compound, logs_of: LogsOf) -> _Solved:
    people = [tuple(word.participants[place] for place in places) for places in compound.places]
    logs = [logs_of(member, who) for member, who in zip(compound.members, people, strict=True)]
    chain = compound.word.chain(len(logs[0]))
    whole = np.ascontiguousarray(np.sum(logs, axis=0))
    total = chain_scores(whole, *chain)
    if whole.shape[2] == 1:
        return _Solved(compound, people, logs, total[:, None], np.ones_like(whole))
    states = chain_counts(whole, *chain, np.ones(whole.shape[1])).states
    others = [(states * part).sum(axis=(0, 2)) for part in logs[1:]]
    totals = np.stack([total - np.sum(others, axis=0), *others], axis=1)
    return _Solved(compound, people, logs, totals, states)


def _event(solved: Sequence[_Solved]) -> Array:
    """Return ``(T, C)`` how likely the verb's event goes on; 1 where no verb has phases."""
    for one in solved:
        if one.compound.word.part is PartOfSpeech.VERB and one.states.shape[2] > 2:
            return np.asarray(one.states[:, :, 1:-1].sum(axis=2))
    return np.ones(solved[0].states.shape[:2])


def _rows(one: _Solved, event: Array, words: CompoundTables, logs_of: LogsOf) -> Iterator[Array]:
    """Return per member ``(C, TRAITS)``."""
    for number, member in enumerate(one.compound.members):
        row = np.zeros((event.shape[1], NUM_EVIDENCE))
        row[:, 0] = one.totals[:, number] / len(event)
        if is_judged_in_event(member.word):
            said = _in_frames(one.logs[number], one.states)
            others = [
                _in_frames(logs_of(other, one.people[number]), one.states)
                for other in words.instead(member.word.entry)
            ]
            row[:, 1:4] = _during(said, event)
            row[:, 4:7] = _during(_beside(said, others), event)
        elif member.word.num_states > 1:
            row[:, 1:4] = _phases(one.logs[number], one.states)
        yield row


def _beside(said: Array, others: Sequence[Array]) -> Array:
    """Return ``(T, C)`` how much better a word fits than the mean of all in its place."""
    if not others:
        return said
    return np.asarray(said - np.logaddexp.reduce([said, *others], axis=0) + np.log(1 + len(others)))


def _in_frames(logs: Array, states: Array) -> Array:
    """Return ``(T, C)`` what a word says in each frame, should the event be going on."""
    if logs.shape[2] < 3:
        return np.asarray((states * logs).sum(axis=2))
    inner = states[:, :, 1:-1]
    shares = inner / np.maximum(inner.sum(axis=2, keepdims=True), 1e-300)
    return np.asarray((shares * logs[:, :, 1:-1]).sum(axis=2))


def _phases(logs: Array, states: Array) -> Array:
    """Return ``(C, 3)`` mean log ratios while a word begins, goes on and ends."""
    told, stayed = (states * logs).sum(axis=0), states.sum(axis=0)
    parts = (slice(0, 1), slice(1, -1), slice(-1, None))
    means = [told[:, p].sum(axis=1) / np.maximum(stayed[:, p].sum(axis=1), 1.0) for p in parts]
    return np.stack(means, axis=1)


def _during(logs: Array, event: Array) -> Array:
    """Return ``(C, 3)`` the mean of ``(T, C)`` log ratios in an event, near its best and worst."""
    mean = (logs * event).sum(axis=0) / np.maximum(event.sum(axis=0), 1.0)
    best, worst = _leaning(logs, event, _SHARPNESS), _leaning(logs, event, -_SHARPNESS)
    return np.stack([mean, best, worst], axis=1)


def _leaning(logs: Array, event: Array, sharpness: float) -> Array:
    """Return a mean over frames that leans towards the highest, or the lowest, values."""
    weights, raised = event + 1e-6, sharpness * logs
    top = raised.max(axis=0)
    total = (weights * np.exp(raised - top)).sum(axis=0) / weights.sum(axis=0)
    return np.asarray((np.log(total) + top) / sharpness)
