"""Texts and videos as matrices: which line holds which word, which chunk shows which token.

Words and tokens are sorted, so that the order in which things are listed does not change any digit
of a result.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.errors import AlignmentError
from wordsight.alignment.records import Instructions, Observed

__all__ = ["AlignmentVocabulary", "Channel", "Encoded", "Pair", "encode", "vocabulary_of"]

Array = NDArray[np.float64]
Pair = tuple[Instructions, Observed]


@dataclass(frozen=True)
class AlignmentVocabulary:
    """The words of the texts and the tokens of the videos, sorted.

    Attributes:
        nouns: Nouns of the lines.
        things: Things in the chunks.
        verbs: Verbs of the lines.
        moves: Ways of moving in the chunks.
    """

    nouns: tuple[str, ...]
    things: tuple[str, ...]
    verbs: tuple[str, ...] = ()
    moves: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Channel:
    """One kind of words with one kind of observations.

    Attributes:
        words: ``(N, X)`` 1 where a line has a word.
        tokens: ``(T, V)`` 1 where a chunk shows a token.
    """

    words: Array
    tokens: Array

    @property
    def counts(self) -> Array:
        """``(N, 1)`` number of words of each line, at least 1."""
        return np.asarray(np.maximum(self.words.sum(axis=1, keepdims=True), 1.0))

    def rates(self, table: Array, fallback: Array) -> Array:
        """Return ``(N, V)`` probability of each token under each line, mean over its words.

        Args:
            table: ``(X, V)`` probability of each token given each word.
            fallback: ``(V,)`` probability of each token under a line without words.
        """
        means = self.words @ table / self.counts
        return np.where(self.words.any(axis=1, keepdims=True), means, fallback)

    def word_counts(self, table: Array, weights: Array) -> Array:
        """Return ``(X, V)`` expected counts of words naming tokens.

        Args:
            table: ``(X, V)`` probability of each token given each word.
            weights: ``(N, V)`` expected count of each token under each line, divided by the
                probability of the token there.
        """
        return np.asarray(table * (self.words.T @ (weights / self.counts)))


@dataclass(frozen=True, eq=False)
class Encoded:
    """One text with one video.

    Attributes:
        things: Nouns with things.
        moves: Verbs with ways of moving.
        times: ``(T, 2)`` start and end of each chunk in seconds.
        steps: ``(N,)`` step of each line, counted from 0 without gaps.
        extra: Further features, each ``(T, N)``.
    """

    things: Channel
    moves: Channel
    times: Array
    steps: NDArray[np.int64]
    extra: tuple[Array, ...] = ()

    @property
    def num_chunks(self) -> int:
        """T, the number of chunks."""
        return len(self.times)

    @property
    def num_lines(self) -> int:
        """N, the number of lines."""
        return len(self.steps)

    @property
    def num_steps(self) -> int:
        """K, the number of steps."""
        return int(self.steps[-1]) + 1

    @property
    def lines_per_step(self) -> NDArray[np.int64]:
        """``(K,)`` number of lines of each step."""
        return np.bincount(self.steps)


def vocabulary_of(pairs: Sequence[Pair]) -> AlignmentVocabulary:
    """Return the words of all texts and the tokens of all videos."""
    return AlignmentVocabulary(
        _sorted(noun for text, _ in pairs for line in text.lines for noun in line.nouns),
        _sorted(thing for _, seen in pairs for chunk in seen.chunks for thing in chunk.things),
        _sorted(verb for text, _ in pairs for line in text.lines for verb in line.verbs),
        _sorted(move for _, seen in pairs for chunk in seen.chunks for move in chunk.verbs),
    )


def encode(
    instructions: Instructions, observed: Observed, vocabulary: AlignmentVocabulary
) -> Encoded:
    """Return a text and a video as matrices; words and tokens not in the vocabulary are omitted.

    Raises:
        AlignmentError: If the video has no chunk.
    """
    if not observed.chunks:
        raise AlignmentError(
            f"nothing was observed in {observed.video_id}: it has no chunks to align."
        )
    lines, chunks = instructions.lines, observed.chunks
    things = Channel(
        _incidence([line.nouns for line in lines], vocabulary.nouns),
        _incidence([chunk.things for chunk in chunks], vocabulary.things),
    )
    moves = Channel(
        _incidence([line.verbs for line in lines], vocabulary.verbs),
        _incidence([chunk.verbs for chunk in chunks], vocabulary.moves),
    )
    _, steps = np.unique(instructions.steps, return_inverse=True)
    return Encoded(things, moves, observed.times, steps)


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))


def _incidence(rows: Sequence[Iterable[str]], names: tuple[str, ...]) -> Array:
    place = {name: column for column, name in enumerate(names)}
    matrix = np.zeros((len(rows), len(names)))
    for number, row in enumerate(rows):
        for name in row:
            if name in place:
                matrix[number, place[name]] = 1.0
    return matrix
