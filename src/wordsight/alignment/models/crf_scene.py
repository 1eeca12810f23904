"""The features of a discriminative aligner, and one video's scores under their weights.

Features overlap freely: every noun of a line with every thing in hand, verbs if asked for, each
jump from line to line, how far a line is from when it is due, and whatever the user defines.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.clock import lateness
from wordsight.alignment.encoding import Encoded
from wordsight.inference.chains.jumps import JumpChain

__all__ = ["CrfScene", "CrfWeights", "crf_scene", "longest_jump", "pair_mask"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CrfWeights:
    """One weight per feature.

    Attributes:
        pairs: ``(X, V)`` of each word (nouns, then verbs) with each token (things, then moves).
        tokens: ``(V,)`` of each token, whatever the line.
        jumps: ``(D,)`` of each kind of jump.
        linear: ``(F,)`` of being on time, then of the user's features.
    """

    pairs: Array
    tokens: Array
    jumps: Array
    linear: Array

    @property
    def vector(self) -> Array:
        """All weights in one row."""
        return np.concatenate([self.pairs.ravel(), self.tokens, self.jumps, self.linear])

    def like(self, vector: Array) -> "CrfWeights":
        """Return the weights that a row of them holds, in the shapes of these."""
        sizes = [self.pairs.size, len(self.tokens), len(self.jumps)]
        pairs, tokens, jumps, linear = np.split(vector, np.cumsum(sizes))
        return CrfWeights(pairs.reshape(self.pairs.shape), tokens, jumps, linear)


@dataclass(frozen=True, eq=False)
class CrfScene:
    """One text and video, ready to be scored.

    Attributes:
        words: ``(N, X)`` words of each line.
        tokens: ``(T, V)`` what each chunk shows.
        linear: ``(F, T, N)`` values of the features with one weight.
        offsets: ``(D,)`` kinds of jump.
        initial: ``(N,)`` log weight of each line at the first chunk, 0 or -inf.
        final: ``(N,)`` the same at the last chunk.
        seen: ``(S, V)`` distinct sets of tokens.
    """

    words: Array
    tokens: Array
    linear: Array
    offsets: NDArray[np.int64]
    initial: Array
    final: Array
    seen: Array

    def scores(self, weights: CrfWeights) -> Array:
        """Return ``(N, V)`` the score of each token under each line."""
        return np.asarray(self.words @ weights.pairs + weights.tokens)

    def timing(self, weights: CrfWeights) -> Array:
        """Return ``(T, N)`` the part of the score that does not depend on what is seen."""
        return np.asarray(np.tensordot(weights.linear, self.linear, axes=1))

    def chain(self, weights: CrfWeights) -> JumpChain:
        """Return how lines follow each other."""
        return JumpChain(self.offsets, weights.jumps, self.initial, self.final)

    def gradient(self, tokens: Array, jumps: Array, difference: Array) -> CrfWeights:
        """Gather a gradient.

        Args:
            tokens: ``(N, V)`` derivatives by the score of each token under each line.
            jumps: ``(D,)`` derivatives by the jumps.
            difference: ``(T, N)`` derivatives by the timing.
        """
        linear = np.tensordot(self.linear, difference, axes=2)
        return CrfWeights(self.words.T @ tokens, tokens.sum(axis=0), jumps, linear)


def crf_scene(encoded: Encoded, *, offsets: tuple[int, ...], growth: float, shape: str) -> CrfScene:
    """Make the scene of a text and a video: it begins in the first step and ends in the last."""
    lines = encoded.num_lines
    initial, final = np.full(lines, -np.inf), np.full(lines, -np.inf)
    initial[encoded.steps == 0] = 0.0
    final[encoded.steps == encoded.num_steps - 1] = 0.0
    if encoded.num_chunks == 1:
        initial[:] = final[:] = 0.0
    tokens = np.concatenate([encoded.things.tokens, encoded.moves.tokens], axis=1)
    return CrfScene(
        np.concatenate([encoded.things.words, encoded.moves.words], axis=1),
        tokens,
        np.stack([-lateness(encoded, growth, shape), *encoded.extra]),
        np.array(offsets, dtype=np.int64),
        initial,
        final,
        np.unique(tokens, axis=0),
    )


def longest_jump(encoded: Encoded) -> int:
    """Return how far jumps must reach to go through all lines within the chunks there are."""
    return max(1, -(-(encoded.num_lines - 1) // max(encoded.num_chunks - 1, 1)))


def pair_mask(encoded: Encoded, verbs: bool) -> Array:
    """Return ``(X, V)`` 1 for pairs of word and token that have a weight.

    Args:
        encoded: Any text and video of the vocabulary.
        verbs: Whether verbs are paired with things, too, not only with ways of moving.
    """
    nouns, doings = encoded.things.words.shape[1], encoded.moves.words.shape[1]
    things, moves = encoded.things.tokens.shape[1], encoded.moves.tokens.shape[1]
    return np.block(
        [
            [np.ones((nouns, things)), np.zeros((nouns, moves))],
            [np.full((doings, things), float(verbs)), np.ones((doings, moves))],
        ]
    )
