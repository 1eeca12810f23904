"""Texts and videos as matrices: which line holds which word, which chunk shows which token.

Where things were followed, how they move is a token like what is touched, and verbs are words like
nouns: every model then learns that "pour" goes with a sinking thing as it learns that "milk" goes
with a carton. What a line says of each thing, its role, is kept for models of motion.

Words and tokens are sorted, so that the order in which things are listed does not change any digit
of a result.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.records import Instructions, Line, LineSpan, Observed
from wordsight.alignment.text.tagging import plain_name
from wordsight.errors import AlignmentError

__all__ = [
    "AlignmentVocabulary",
    "Channel",
    "Encoded",
    "Pair",
    "encode",
    "label_chunks",
    "vocabulary_of",
]

Array = NDArray[np.float64]
Pair = tuple[Instructions, Observed]

_NO_ROLE = ""
"""The role of a thing in a line about others; sorts before all others."""


@dataclass(frozen=True)
class AlignmentVocabulary:
    """The words of the texts and the tokens of the videos, sorted.

    Attributes:
        nouns: Nouns of the lines.
        things: Things in the chunks.
        verbs: Verbs of the lines.
        moves: Ways of moving in the chunks.
        roles: What lines say of things that were followed: ``pour`` of the first thing that the
            line names, ``pour 2`` of the second, nothing of a thing that it does not name.
    """

    nouns: tuple[str, ...]
    things: tuple[str, ...]
    verbs: tuple[str, ...] = ()
    moves: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()


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
        source: The text and the video themselves, for features of the user.
        motion: ``(O, T, F)`` how each thing moves, where things were followed.
        roles: ``(N, O)`` role of each thing in each line, a place among those of the vocabulary;
            -1 if it is unknown.
        labels: ``(T,)`` true line of each chunk, -1 if none, where the user gave it.
        fits: ``(T, K)`` how well each step fits each chunk by words learned elsewhere, or 0.
    """

    things: Channel
    moves: Channel
    times: Array
    steps: NDArray[np.int64]
    source: Pair | None = None
    motion: Array | None = None
    roles: NDArray[np.int64] | None = None
    labels: NDArray[np.int64] | None = None
    fits: Array | float = 0.0

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
    roles = {role for pair in pairs for row in _roles(*pair) for role in row}
    pairs = [_pooled(pair) for pair in pairs]
    return AlignmentVocabulary(
        _sorted(noun for text, _ in pairs for line in text.lines for noun in line.nouns),
        _sorted(thing for _, seen in pairs for chunk in seen.chunks for thing in chunk.things),
        _sorted(verb for text, _ in pairs for line in text.lines for verb in line.verbs),
        _sorted(move for _, seen in pairs for chunk in seen.chunks for move in chunk.verbs),
        _sorted({_NO_ROLE} | roles) if roles else (),
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
    motion = roles = None
    if observed.motion is not None and vocabulary.roles:
        place = {role: number for number, role in enumerate(vocabulary.roles)}
        rows = [[place.get(role, -1) for role in row] for row in _roles(instructions, observed)]
        motion, roles = observed.motion.values, np.array(rows, dtype=np.int64)
    instructions, observed = _pooled((instructions, observed))
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
    fits = _step_fits(instructions, observed, steps) if observed.fits else 0.0
    return Encoded(things, moves, observed.times, steps, motion=motion, roles=roles, fits=fits)


def _step_fits(instructions: Instructions, observed: Observed, steps: NDArray[np.int64]) -> Array:
    """Return ``(T, K)`` how well each step fits each chunk: as its best line does."""
    nothing = np.zeros(len(observed.chunks))
    lines = np.stack([observed.fits.get(line.text, nothing) for line in instructions.lines], axis=1)
    return np.asarray(np.maximum.reduceat(lines, np.unique(steps, return_index=True)[1], axis=1))


def label_chunks(observed: Observed, spans: Sequence[LineSpan]) -> NDArray[np.int64]:
    """Return ``(T,)`` the line whose span holds the middle of each chunk, -1 for none."""
    middles = observed.times.mean(axis=1)
    labels = np.full(len(middles), -1, dtype=np.int64)
    for span in spans:
        labels[(middles >= span.start) & (middles < span.end)] = span.line
    return labels


def _roles(instructions: Instructions, observed: Observed) -> list[list[str]]:
    """Return for each line the role of each thing that was followed."""
    if observed.motion is None:
        return []
    names = [plain_name(name) for name in observed.motion.names]
    return [_roles_in(line, names) for line in instructions.lines]


def _roles_in(line: Line, names: Sequence[str]) -> list[str]:
    verb = line.verbs[0] if line.verbs else "do"
    nouns = [noun for noun in map(plain_name, line.nouns) if noun in names]
    if not nouns:  # "The person ate" may be about any of them
        return [verb] * len(names)
    places = [nouns.index(name) + 1 if name in nouns else 0 for name in names]
    return [(_NO_ROLE, verb)[n] if n < 2 else f"{verb} {n}" for n in places]


def _pooled(pair: Pair) -> Pair:
    """Return verbs among the nouns and manners among the things, where things were followed.

    A verb is written ``to pour``, a manner ``~rising``.
    """
    text, seen = pair
    if seen.motion is None:
        return pair
    lines = []
    for line in text.lines:
        # A line without a noun has its verbs in their place.
        nouns = tuple(noun for noun in line.nouns if noun not in line.verbs)
        verbs = tuple(f"to {verb}" for verb in line.verbs)
        lines.append(replace(line, nouns=nouns + verbs, verbs=()))
    chunks = [
        replace(
            chunk,
            things=chunk.things | {f"~{manner}" for manner in chunk.verbs},
            verbs=frozenset(),
        )
        for chunk in seen.chunks
    ]
    return replace(text, lines=tuple(lines)), replace(seen, chunks=tuple(chunks))


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
