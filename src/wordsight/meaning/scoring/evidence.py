"""Evidence for each word of a sentence, given an assignment of objects to participants.

The log ratio of a word over the whole clip hides what matters: a long walk that fits makes up for
a lift that never comes. So a verb has evidence for the clip and for each of its phases, and words
that qualify a verb have evidence for the time of the event only: its mean, and near the best and
the worst frames. The latter is measured twice, against the background and against the words that
could take its place: bending down slowly is more motion than the background has, and yet hardly
any beside bending down quickly.
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
"""Number of kinds of evidence of a word, all log ratios per frame. The first is that of the clip.
Words with states of their own have three more: while the event begins, goes on and ends. Words that
are judged in the event of a verb have six more: the mean, best and worst in the event, and the same
relative to the words that could take their place."""

_SHARPNESS = 3.0  # how much more the best, or the worst, frames count than the others


def is_judged_in_event(word: WordModel) -> bool:
    """Whether a word is judged during the event of the verb: manner, direction, relation."""
    return word.follows or (word.num_states == 1 and word.arity > 1)


def num_evidence(word: WordModel) -> int:
    """Return the number of kinds of evidence that a word has."""
    if is_judged_in_event(word):
        return NUM_EVIDENCE
    return 4 if word.num_states > 1 else 1


def word_evidence(joined: JoinedSentence, words: CompoundTables, logs_of: LogsOf) -> Array:
    """Compute the evidence of all words of a sentence.

    Args:
        joined: The sentence as compounds.
        words: The words.
        logs_of: Given a word and its participants, returns ``(T, C, I)`` log ratios of its states
            on C assignments of objects.

    Returns:
        ``(C, L, NUM_EVIDENCE)``; times the number of frames, the first kind sums over words to the
        log ratio of the sentence on that assignment.
    """
    solved = [_solve(word, words[word.entry], logs_of) for word in joined.words]
    event = _event_posterior(solved)
    rows = [row for one in solved for row in _evidence_rows(one, event, words, logs_of)]
    return np.stack(joined.ordered(rows), axis=1)


@dataclass(frozen=True)
class _SolvedCompound:
    """A compound on C assignments of objects.

    Attributes:
        compound: The compound.
        participants: Per member its participants.
        logs: Per member ``(T, C, I)`` log ratios of its states.
        totals: ``(C, members)`` log ratios of the clip: followers have their expected sum over
            frames, the leading word the rest.
        states: ``(T, C, I)`` posteriors of states of the leading word.
        phases: ``(T, C, phases)`` the same, summed over its senses.
    """

    compound: Compound
    participants: list[tuple[int, ...]]
    logs: list[Array]
    totals: Array
    states: Array
    phases: Array


def _solve(word: Word, compound: Compound, logs_of: LogsOf) -> _SolvedCompound:
    participants = [tuple(word.participants[p] for p in places) for places in compound.places]
    logs = [logs_of(member, p) for member, p in zip(compound.members, participants, strict=True)]
    chain = compound.word.chain(len(logs[0]))
    whole = np.ascontiguousarray(np.sum([compound.for_senses(part) for part in logs], axis=0))
    total = chain_scores(whole, *chain)
    if whole.shape[2] == 1:
        ones = np.ones_like(whole)
        return _SolvedCompound(compound, participants, logs, total[:, None], ones, ones)
    states = chain_counts(whole, *chain, np.ones(whole.shape[1])).states
    phases = compound.word.by_phase(states)
    followers = [(phases * part).sum(axis=(0, 2)) for part in logs[1:]]
    totals = np.stack([total - np.sum(followers, axis=0), *followers], axis=1)
    return _SolvedCompound(compound, participants, logs, totals, states, phases)


def _event_posterior(solved: Sequence[_SolvedCompound]) -> Array:
    """Return ``(T, C)`` probability that the verb's event goes on; 1 if no verb has phases."""
    for one in solved:
        if one.compound.word.part is PartOfSpeech.VERB and one.phases.shape[2] > 2:
            return np.asarray(one.phases[:, :, 1:-1].sum(axis=2))
    return np.ones(solved[0].phases.shape[:2])


def _evidence_rows(
    solved: _SolvedCompound, event: Array, words: CompoundTables, logs_of: LogsOf
) -> Iterator[Array]:
    """Yield per member ``(C, NUM_EVIDENCE)``."""
    for number, member in enumerate(solved.compound.members):
        row = np.zeros((event.shape[1], NUM_EVIDENCE))
        row[:, 0] = solved.totals[:, number] / len(event)
        if is_judged_in_event(member.word):
            own = _per_frame(solved.logs[number], solved.phases)
            others = [
                _per_frame(logs_of(other, solved.participants[number]), solved.phases)
                for other in words.alternatives(member.word.entry)
            ]
            row[:, 1:4] = _in_event(own, event)
            row[:, 4:7] = _in_event(_relative_to(own, others), event)
        elif member.word.num_states > 1:
            row[:, 1:4] = _in_phases(solved.logs[number], solved.states, member.word.senses)
        yield row


def _relative_to(own: Array, others: Sequence[Array]) -> Array:
    """Return ``(T, C)`` log ratios of a word to the mean of all words in its place."""
    if not others:
        return own
    return np.asarray(own - np.logaddexp.reduce([own, *others], axis=0) + np.log(1 + len(others)))


def _per_frame(logs: Array, states: Array) -> Array:
    """Return ``(T, C)`` the expected log ratio of a word in each frame, given the event."""
    if logs.shape[2] < 3:
        return np.asarray((states * logs).sum(axis=2))
    inner = states[:, :, 1:-1]
    shares = inner / np.maximum(inner.sum(axis=2, keepdims=True), 1e-300)
    return np.asarray((shares * logs[:, :, 1:-1]).sum(axis=2))


def _in_phases(logs: Array, states: Array, senses: int = 1) -> Array:
    """Return ``(C, 3)`` mean log ratios while a word begins, goes on and ends, in any sense."""
    shape = (states.shape[1], senses, states.shape[2] // senses)  # also of no participants
    sums = (states * logs).sum(axis=0).reshape(shape).sum(axis=1)
    weights = states.sum(axis=0).reshape(shape).sum(axis=1)
    phases = (slice(0, 1), slice(1, -1), slice(-1, None))
    means = [sums[:, p].sum(axis=1) / np.maximum(weights[:, p].sum(axis=1), 1.0) for p in phases]
    return np.stack(means, axis=1)


def _in_event(logs: Array, event: Array) -> Array:
    """Return ``(C, 3)`` the mean of ``(T, C)`` log ratios in an event, near its best and worst."""
    mean = (logs * event).sum(axis=0) / np.maximum(event.sum(axis=0), 1.0)
    best, worst = _soft_maximum(logs, event, _SHARPNESS), _soft_maximum(logs, event, -_SHARPNESS)
    return np.stack([mean, best, worst], axis=1)


def _soft_maximum(logs: Array, event: Array, sharpness: float) -> Array:
    """Return a mean over frames that leans to the highest values, or lowest if negative."""
    weights, scaled = event + 1e-6, sharpness * logs
    top = scaled.max(axis=0)
    total = (weights * np.exp(scaled - top)).sum(axis=0) / weights.sum(axis=0)
    return np.asarray((np.log(total) + top) / sharpness)
