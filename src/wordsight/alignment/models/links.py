"""Links between nouns and things, learned from when steps take place.

Given the steps, lines are placed within them in order, and nouns and things are linked so that
either explains the other. Links compete: a noun mostly names one thing and a thing mostly has one
name, or else the first noun of a step would claim everything touched there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.models.decoding import step_posterior
from wordsight.alignment.models.encoding import Encoded
from wordsight.inference.chains.jumps import JumpChain, jump_counts

__all__ = ["learn_links"]

Array = NDArray[np.float64]

# Chosen on rendered workbench videos, whose things have names. Halving or doubling each one costs
# .01 of F1 or less there, except for the exponent, where 1 costs .015.
_EXPONENT = 3.0  # of links while they compete; 1 does not sharpen them
_COMPETING = 19  # iterations, followed by one without competition
_NULL = 0.1  # share of things that no noun names, and of nouns that no thing shows
_SMOOTHING = 0.3  # pseudo-counts of each noun and of each thing
_STAY = 0.5  # probability that the next chunk belongs to the same line
_FARTHER = 0.4  # ratio of the probabilities of neighbouring lines ahead
_FARTHEST = 6  # lines ahead
_LEAST = 0.05  # least probability of a step for a chunk to count for it
_UNSEEN = 0.1  # pseudo-counts in the background


@dataclass(frozen=True, eq=False)
class _Passage:
    """One step of one video: the chunks that may belong to it, and its lines.

    Attributes:
        tokens: ``(C, V)`` things in the chunks.
        words: ``(L, X)`` nouns of the lines.
        shares: ``(C,)`` probability that each chunk belongs to the step.
        chain: Transitions between lines.
    """

    tokens: Array
    words: Array
    shares: Array
    chain: JumpChain

    def lines(self, rates: Array) -> Array:
        """Return ``(C, L)`` the probability that each chunk belongs to each line.

        Args:
            rates: ``(L, V)`` expected count of each thing in a chunk of each line. Counts, not
                shares, so that a line with many nouns is not penalised.
        """
        if len(rates) == 1:
            return self.shares[:, None]
        logs = self.tokens @ np.log(rates).T - rates.sum(axis=1)
        counts = jump_counts(logs * self.shares[:, None], self.chain)
        return counts.states * self.shares[:, None]


@dataclass(frozen=True, eq=False)
class _Background:
    """Mean counts per chunk of things ``(V,)`` and nouns ``(X,)``, independent of the step."""

    things: Array
    nouns: Array


def learn_links(
    pairs: Sequence[Encoded],
    posteriors: Sequence[Array],
    naming: NDArray[np.bool_] | None = None,
) -> Array:
    """Return ``(X, V)`` the strength of the link between each noun and each thing, 0 to 1.

    It is the geometric mean of the probability of the thing given the noun and of the noun given
    the thing.

    Args:
        pairs: Texts with videos.
        posteriors: ``(T, N)`` posteriors of lines, one per pair; only their steps are used.
        naming: ``(X,)`` which nouns may name a thing; by default all. Others get no link.
    """
    things = pairs[0].things
    able = np.ones(things.words.shape[1], dtype=bool) if naming is None else naming
    passages = [
        passage
        for pair, posterior in zip(pairs, posteriors, strict=True)
        for passage in _passages(pair, posterior, able)
    ]
    background = _background(pairs, passages, int(able.sum()))
    links = np.ones((int(able.sum()), things.tokens.shape[1]))
    pace = background.things.sum() / 4  # things per noun and chunk; learned from here on
    for exponent in [*[_EXPONENT] * _COMPETING, 1.0]:
        links, pace = _relinked(passages, links**exponent, pace, background)
    table = np.zeros((len(able), links.shape[1]))
    table[able] = links
    return table


def _passages(pair: Encoded, posterior: Array, able: NDArray[np.bool_]) -> list[_Passage]:
    steps = step_posterior(posterior, pair.steps)
    passages = []
    for step in range(pair.num_steps):
        chunks = np.flatnonzero(steps[:, step] > _LEAST)
        words = pair.things.words[pair.steps == step][:, able]
        if len(chunks):
            shares, chain = steps[chunks, step], _chain(len(words))
            passages.append(_Passage(pair.things.tokens[chunks], words, shares, chain))
    return passages


def _chain(lines: int) -> JumpChain:
    """Return a chain that starts and ends anywhere and never goes back."""
    offsets = np.arange(min(_FARTHEST, lines - 1) + 1, dtype=np.int64)
    ahead = _FARTHER ** np.arange(len(offsets) - 1)
    jumps = np.concatenate([[_STAY], (1.0 - _STAY) * ahead / max(ahead.sum(), 1.0)])
    return JumpChain(offsets, np.log(jumps), np.zeros(lines), np.zeros(lines))


def _background(pairs: Sequence[Encoded], passages: Sequence[_Passage], nouns: int) -> _Background:
    chunks = max(sum(pair.num_chunks for pair in pairs), 1)
    things = np.sum([pair.things.tokens.sum(axis=0) for pair in pairs], axis=0)
    said = np.zeros(nouns)
    for passage in passages:
        said += passage.shares.sum() * passage.words.mean(axis=0)
    return _Background((things + _UNSEEN) / chunks, (said + _UNSEEN) / chunks)


def _relinked(
    passages: Sequence[_Passage], links: Array, pace: float, background: _Background
) -> tuple[Array, float]:
    """Return updated links and pace: one step of EM in either direction."""
    by_noun, by_thing = _scaled(links), _scaled(links.T)
    things, nouns = np.zeros_like(by_noun), np.zeros_like(by_thing)
    said = 0.0
    null = background.nouns / max(background.nouns.sum(), _UNSEEN)
    for passage in passages:
        rates = pace * (passage.words @ by_noun) + _NULL * background.things
        lines = passage.lines(rates)
        shown = (lines.T @ passage.tokens) / rates
        things += pace * by_noun * (passage.words.T @ shown)
        said += float((lines @ passage.words).sum())
        mix = _scaled(passage.tokens)
        heard = (1.0 - _NULL) * (mix @ by_thing) + _NULL * null
        nouns += (1.0 - _NULL) * by_thing * (mix.T @ ((lines @ passage.words) / heard))
    pace = float(things.sum()) / max(said, _UNSEEN)
    smooth = [table + _SMOOTHING / max(table.shape[1], 1) for table in (things, nouns)]
    return np.sqrt(_scaled(smooth[0]) * _scaled(smooth[1]).T), pace


def _scaled(table: Array) -> Array:
    """Return a table with rows that sum to one, or to zero where they did."""
    return np.asarray(table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300))
