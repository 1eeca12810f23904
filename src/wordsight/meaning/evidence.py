"""What speaks for each word of a sentence, once it is chosen who is who.

The log ratio of a word over the whole clip hides what people look at: a long walk that fits makes
up for a lift that never comes, and a chair that stands aside later for one that did not when it
mattered. So a verb brings evidence for the clip and for each of its phases, and words that go with
a verb bring evidence for the time of the event alone: on average, where they fit best and worst.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.chains import chain_counts, chain_scores
from wordsight.language import PartOfSpeech
from wordsight.meaning.compounds import Compound, Compounds, Joined
from wordsight.meaning.word import WordModel

__all__ = ["TRAITS", "evidence_of_words", "in_event", "num_traits"]

Array = NDArray[np.float64]

TRAITS = 4
"""Kinds of evidence a word brings, all log ratios per frame. The first is that of the clip. Then
for words with states of their own: while it begins, goes on and ends. For words that go with an
event: its mean there, where it fits best and where worst. For the rest: nothing."""

_SHARPNESS = 3.0  # how much more the best, or the worst, frames count than the others


def in_event(word: WordModel) -> bool:
    """Tell whether a word is judged while the verb's event lasts: manner, direction, relation."""
    return word.follows or (word.num_states == 1 and word.arity > 1)


def num_traits(word: WordModel) -> int:
    """Return how many kinds of evidence a word brings."""
    return TRAITS if in_event(word) or word.num_states > 1 else 1


def evidence_of_words(joined: Joined, words: Compounds, logs: Sequence[Sequence[Array]]) -> Array:
    """Gather the evidence of all words of a sentence.

    Args:
        joined: The sentence as compounds.
        words: The words.
        logs: Per compound and member ``(T, C, I)`` its log ratios on C choices of things.

    Returns:
        ``(C, L, TRAITS)``; times the number of frames, the first of all words add up to the log
        ratio of the sentence on that choice.
    """
    compounds = [words[word.entry] for word in joined.words]
    parts = [_solved(compound, own) for compound, own in zip(compounds, logs, strict=True)]
    event = np.ones(logs[0][0].shape[:2])
    for compound, (_, states) in zip(compounds, parts, strict=True):
        if compound.word.part is PartOfSpeech.VERB and states.shape[2] > 2:
            event = states[:, :, 1:-1].sum(axis=2)
            break
    rows = [
        row
        for compound, own, (totals, states) in zip(compounds, logs, parts, strict=True)
        for row in _rows(compound, own, totals, states, event)
    ]
    return np.stack(joined.ordered(rows), axis=1)


def _solved(compound: Compound, logs: Sequence[Array]) -> tuple[Array, Array]:
    """Return per member ``(C, members)`` log ratios, and ``(T, C, I)`` posteriors of states.

    Those that follow have their expected sum over frames, the leading one all the rest.
    """
    chain = compound.word.chain(len(logs[0]))
    whole = np.ascontiguousarray(np.sum(logs, axis=0))
    total = chain_scores(whole, *chain)
    if whole.shape[2] == 1:
        return total[:, None], np.ones_like(whole)
    states = chain_counts(whole, *chain, np.ones(whole.shape[1])).states
    others = [(states * part).sum(axis=(0, 2)) for part in logs[1:]]
    return np.stack([total - np.sum(others, axis=0), *others], axis=1), states


def _rows(
    compound: Compound, logs: Sequence[Array], totals: Array, states: Array, event: Array
) -> list[Array]:
    """Return per member ``(C, TRAITS)``."""
    frames, found = len(event), []
    for member, own, total in zip(compound.members, logs, totals.T, strict=True):
        row = np.zeros((len(total), TRAITS))
        row[:, 0] = total / frames
        if in_event(member.word):
            row[:, 1:] = _during(_in_frames(own, states), event)
        elif member.word.num_states > 1:
            row[:, 1:] = _phases(own, states)
        found.append(row)
    return found


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
