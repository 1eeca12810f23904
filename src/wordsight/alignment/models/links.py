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

# Chosen on rendered benches, whose things have names; each may be halved or doubled there at a cost
# of .01 of F1 or less, but for the exponent, where 1 costs .015.
_EXPONENT = 3.0  # of links while they compete; 1 does not sharpen them
_COMPETING = 19  # iterations, and a last one without competition
_NULL = 0.1  # share of what is seen that no noun names, and of what is said that nothing shows
_SMOOTHING = 0.3  # pseudo-counts of each noun and of each thing
_STAY = 0.5  # probability that the next chunk belongs to the same line
_FARTHER = 0.4  # how much less probable each further line is
_FARTHEST = 6  # lines ahead
_LEAST = 0.05  # probability of a step from which on a chunk counts for it
_UNSEEN = 0.1  # pseudo-counts in the background


@dataclass(frozen=True, eq=False)
class _Passage:
    """One step of one video: the chunks that may belong to it, and its lines.

    Attributes:
        tokens: ``(C, V)`` what the chunks show.
        words: ``(L, X)`` the nouns of the lines.
        shares: ``(C,)`` how likely each chunk belongs to the step.
        chain: How lines follow each other.
    """

    tokens: Array
    words: Array
    shares: Array
    chain: JumpChain

    def lines(self, rates: Array) -> Array:
        """Return ``(C, L)`` how likely each chunk belongs to each line.

        Args:
            rates: ``(L, V)`` how often each line shows each thing in a chunk. They are rates, not
                shares, so that a line is not worse for naming much.
        """
        if len(rates) == 1:
            return self.shares[:, None]
        logs = self.tokens @ np.log(rates).T - rates.sum(axis=1)
        found = jump_counts(logs * self.shares[:, None], self.chain)
        return found.states * self.shares[:, None]


@dataclass(frozen=True, eq=False)
class _Background:
    """What is seen and said whatever the step: ``(V,)`` and ``(X,)``, counts per chunk."""

    things: Array
    nouns: Array


def learn_links(
    pairs: Sequence[Encoded],
    posteriors: Sequence[Array],
    naming: NDArray[np.bool_] | None = None,
) -> Array:
    """Return ``(X, V)`` how strongly each noun and each thing are linked, 0 to 1.

    The geometric mean of the probability of the thing given the noun and of the noun given the
    thing.

    Args:
        pairs: Texts with videos.
        posteriors: ``(T, N)`` of each, how likely chunks belong to lines; used for steps only.
        naming: ``(X,)`` which nouns may name a thing; all if left out. Others get no link.
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
    pace = background.things.sum() / 4  # things a noun shows per chunk; soon learned
    for exponent in [*[_EXPONENT] * _COMPETING, 1.0]:
        links, pace = _relinked(passages, links**exponent, pace, background)
    found = np.zeros((len(able), links.shape[1]))
    found[able] = links
    return found


def _passages(pair: Encoded, posterior: Array, able: NDArray[np.bool_]) -> list[_Passage]:
    steps = step_posterior(posterior, pair.steps)
    found = []
    for step in range(pair.num_steps):
        chunks = np.flatnonzero(steps[:, step] > _LEAST)
        words = pair.things.words[pair.steps == step][:, able]
        if len(chunks):
            shares, chain = steps[chunks, step], _chain(len(words))
            found.append(_Passage(pair.things.tokens[chunks], words, shares, chain))
    return found


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
    """Return links and pace that follow from earlier ones: one step of EM in either direction."""
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
