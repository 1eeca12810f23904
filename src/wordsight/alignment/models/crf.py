"""Shared parts of the discriminative aligners: features, weights and a generative initialisation.

Features overlap freely: every noun of a line with every thing in hand, verbs on request, each jump
from line to line, the distance of a line from when it is due, and features of the user, which may
look at the words, at what is touched and at the previous line. LCRF, the latent structured
perceptron and the latent structural SVM differ only in the loss they minimise. Training starts from
a few EM iterations of HMM1 with a clock.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.models.base import AlignmentModel, Bias
from wordsight.alignment.models.clock import lateness
from wordsight.alignment.models.encoding import AlignmentVocabulary, Encoded
from wordsight.alignment.models.set_features import (
    AlignmentFeature,
    SetFeatures,
    Sets,
    evaluate_features,
)
from wordsight.alignment.records import Instructions, Observed
from wordsight.errors import AlignmentError
from wordsight.inference.chains.segments import JumpChain, jump_counts
from wordsight.progress import Progress

__all__ = [
    "CrfExample",
    "CrfModel",
    "CrfTraining",
    "CrfWeights",
    "crf_example",
    "generative_start",
    "longest_jump",
    "pair_mask",
]

Array = NDArray[np.float64]


_LARGEST = 6.0  # nats; log ratios beyond it mean "never" or "always"
_RARE = 2.0  # nats by which a jump that was never learned is less probable than the rarest one


@dataclass(frozen=True, eq=False)
class CrfWeights:
    """One weight per feature.

    Attributes:
        pairs: ``(X, V)`` of each word (nouns, then verbs) with each token (things, then moves).
        tokens: ``(V,)`` of each token, independent of the line.
        jumps: ``(D,)`` of each kind of jump.
        linear: ``(F,)`` of being on time, then of the user's features.
    """

    pairs: Array
    tokens: Array
    jumps: Array
    linear: Array

    @property
    def vector(self) -> Array:
        """All weights as one vector."""
        return np.concatenate([self.pairs.ravel(), self.tokens, self.jumps, self.linear])

    @property
    def clock(self) -> int:
        """Position of the weight of being on time in the vector."""
        return self.pairs.size + len(self.tokens) + len(self.jumps)

    def like(self, vector: Array) -> "CrfWeights":
        """Return the weights of a vector, with the shapes of these."""
        sizes = [self.pairs.size, len(self.tokens), len(self.jumps)]
        pairs, tokens, jumps, linear = np.split(vector, np.cumsum(sizes))
        return CrfWeights(pairs.reshape(self.pairs.shape), tokens, jumps, linear)


@dataclass(frozen=True, eq=False)
class CrfExample:
    """One text and video as arrays.

    Attributes:
        words: ``(N, X)`` words of each line.
        tokens: ``(T, V)`` tokens of each chunk.
        linear: ``(F, T, N)`` values of the features with one weight.
        offsets: ``(D,)`` kinds of jump.
        initial: ``(N,)`` log weight of each line at the first chunk, 0 or -inf.
        final: ``(N,)`` the same at the last chunk.
        seen: ``(S, V)`` distinct sets of tokens.
        set_features: Those that depend on what is touched, or on the jump; their rows in linear
            are zero.
    """

    words: Array
    tokens: Array
    linear: Array
    offsets: NDArray[np.int64]
    initial: Array
    final: Array
    seen: Array
    set_features: SetFeatures | None = None

    def scores(self, weights: CrfWeights) -> Array:
        """Return ``(N, V)`` the score of each token under each line."""
        return np.asarray(self.words @ weights.pairs + weights.tokens)

    def timing(self, weights: CrfWeights) -> Array:
        """Return ``(T, N)`` the part of the score that does not depend on the tokens."""
        return np.asarray(np.tensordot(weights.linear, self.linear, axes=1))

    def observed_logs(self, weights: CrfWeights) -> Array:
        """Return ``(T, N)`` or ``(T, N, D)`` the score of the actual observations."""
        logs = self.tokens @ self.scores(weights).T + self.timing(weights)
        further = self.set_features
        if further is None:
            return np.asarray(logs)
        own = np.tensordot(weights.linear[further.places], further.actual, axes=1)
        return np.asarray(logs[:, :, None] + own)

    def chain(self, weights: CrfWeights) -> JumpChain:
        """Return the chain of transitions between lines."""
        return JumpChain(self.offsets, weights.jumps, self.initial, self.final)

    def gradient(
        self, tokens: Array, jumps: Array, difference: Array, further: Array | None = None
    ) -> CrfWeights:
        """Return the gradient by all weights.

        Args:
            tokens: ``(N, V)`` derivatives by the score of each token under each line.
            jumps: ``(D,)`` derivatives by the jumps.
            difference: ``(T, N)`` derivatives by the timing.
            further: ``(G,)`` derivatives by the weights of the set features, if there are any.
        """
        linear = np.tensordot(self.linear, difference, axes=2)
        if self.set_features is not None and further is not None:
            linear[self.set_features.places] = further
        return CrfWeights(self.words.T @ tokens, tokens.sum(axis=0), jumps, linear)


@dataclass(frozen=True, eq=False)
class CrfTraining:
    """What weights are learned from.

    Attributes:
        examples: The texts and videos.
        start: Weights to start from.
        free: 1 for each weight that is learned, 0 for the others.
        progress: Called with the number of iterations done.
    """

    examples: Sequence[CrfExample]
    start: CrfWeights
    free: Array
    progress: Progress | None


def crf_example(
    encoded: Encoded,
    *,
    offsets: tuple[int, ...],
    growth: float,
    shape: str,
    features: Sequence[AlignmentFeature] = (),
    vocabulary: AlignmentVocabulary | None = None,
    sets: Sets = "all",
) -> CrfExample:
    """Return an example whose alignments begin in the first step and end in the last.

    Args:
        encoded: A text and a video.
        offsets: Kinds of jump.
        growth: How the time of a step grows with its lines.
        shape: How lateness is measured.
        features: Features of the user; they need the source of the text and video.
        vocabulary: Names of the tokens, for the features.
        sets: Which sets of tokens were possible, for the features.
    """
    lines = encoded.num_lines
    initial, final = np.full(lines, -np.inf), np.full(lines, -np.inf)
    initial[encoded.steps == 0] = 0.0
    final[encoded.steps == encoded.num_steps - 1] = 0.0
    if encoded.num_chunks == 1:
        initial[:] = final[:] = 0.0
    tokens = np.concatenate([encoded.things.tokens, encoded.moves.tokens], axis=1)
    seen, actual = np.unique(tokens, axis=0, return_inverse=True)
    linear, further = np.empty((0, encoded.num_chunks, lines)), None
    if features and vocabulary is not None:
        linear, further = evaluate_features(
            encoded, features, vocabulary, offsets, sets, seen, actual.ravel()
        )
    return CrfExample(
        np.concatenate([encoded.things.words, encoded.moves.words], axis=1),
        tokens,
        np.concatenate([-lateness(encoded, growth, shape)[None], linear]),
        np.array(offsets, dtype=np.int64),
        initial,
        final,
        seen,
        further,
    )


def longest_jump(encoded: Encoded) -> int:
    """Return the length of jumps needed to go through all lines within the number of chunks."""
    return max(1, -(-(encoded.num_lines - 1) // max(encoded.num_chunks - 1, 1)))


def pair_mask(encoded: Encoded, verbs: bool) -> Array:
    """Return ``(X, V)`` 1 for pairs of word and token that have a weight.

    Args:
        encoded: Any text and video of the vocabulary.
        verbs: Whether verbs are paired with things as well as with ways of moving.
    """
    nouns, actions = encoded.things.words.shape[1], encoded.moves.words.shape[1]
    things, moves = encoded.things.tokens.shape[1], encoded.moves.tokens.shape[1]
    return np.block(
        [
            [np.ones((nouns, things)), np.zeros((nouns, moves))],
            [np.full((actions, things), float(verbs)), np.ones((actions, moves))],
        ]
    )


def generative_start(
    examples: Sequence[CrfExample],
    mask: Array,
    *,
    iterations: int,
    null: float,
    smoothing: float,
    clock: float,
    scale: float,
) -> CrfWeights:
    """Return weights that score pairs by how much more often they co-occur than by chance.

    Args:
        examples: The texts and videos.
        mask: ``(X, V)`` 1 for pairs that have a weight.
        iterations: Iterations of EM.
        null: Probability that a token is named by no word.
        smoothing: Pseudo-counts of each word.
        clock: Weight of being on time, both during EM and in the result.
        scale: Share of the log ratio that becomes the weight; below one because the scores of a
            line's words add up.
    """
    tokens = np.sum([example.tokens.sum(axis=0) for example in examples], axis=0)
    chunks = sum(len(example.tokens) for example in examples)
    background = np.maximum(tokens / max(tokens.sum(), 1.0), 1e-9)
    prior = mask / np.maximum(mask.sum(axis=1, keepdims=True), 1.0)
    table, jumps = prior.copy(), np.full(len(examples[0].offsets), 1.0 / len(examples[0].offsets))
    for _ in range(iterations):
        counts, jump_totals = smoothing * prior, np.zeros(len(jumps))
        for example in examples:
            expected = _expected(example, table, mask, background, null, clock, np.log(jumps))
            counts = counts + expected[0]
            jump_totals += expected[1]
        table = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
        jumps = np.maximum(jump_totals, 1e-3) / np.maximum(jump_totals, 1e-3).sum()
    ratios = np.log(np.maximum(table, 1e-9) / background)
    frequency = np.clip(tokens / chunks, 1e-3, 1 - 1e-3)
    return CrfWeights(
        scale * np.clip(ratios, -_LARGEST, _LARGEST) * mask,
        np.log(frequency / (1 - frequency)),
        np.log(jumps),
        np.concatenate([[clock], np.zeros(len(examples[0].linear) - 1)]),
    )


def _expected(
    example: CrfExample,
    table: Array,
    mask: Array,
    background: Array,
    null: float,
    clock: float,
    jumps: Array,
) -> tuple[Array, Array]:
    """Return expected counts of words naming tokens, and of jumps."""
    able = example.words @ mask  # number of words of a line that may name a token
    named = np.where(able > 0, example.words @ table / np.maximum(able, 1.0), background)
    rates = (1 - null) * named + null * background
    logs = example.tokens @ np.log(np.maximum(rates, 1e-40)).T + clock * example.linear[0]
    counts = jump_counts(logs, JumpChain(example.offsets, jumps, example.initial, example.final))
    if counts.log_likelihood == -np.inf:
        raise AlignmentError(
            f"there is no path through {len(example.words)} lines in {len(example.tokens)} chunks; "
            "cut the video into shorter chunks or allow longer jumps."
        )
    shown = counts.states.T @ example.tokens / rates / np.maximum(able, 1.0)
    return (1 - null) * table * (example.words.T @ shown) * mask, counts.jumps


@dataclass
class CrfModel(AlignmentModel):
    """Weights of overlapping features on chunks and lines.

    Args:
        offsets: How many lines a jump may move; longer jumps are added for short videos.
        growth: How the time of a step grows with its lines, 0 to 1.
        shape: How lateness is measured, see :func:`wordsight.alignment.models.clock.lateness`.
        verbs: Whether verbs are paired with things.
        clock: Initial weight of being on time.
        warm_up: Iterations of the generative initialisation.
        null: Probability, in the initialisation, that a thing is named by no word.
        smoothing: Pseudo-counts of the initialisation.
        scale: Share of the initial log ratios that becomes the weights.
        features: Further features, each with one weight to learn.
    """

    offsets: tuple[int, ...] = (0, 1, 2)
    growth: float = 0.75
    shape: Literal["centre", "outside", "widths"] = "centre"
    verbs: bool = False
    clock: float = 5.0
    warm_up: int = 15
    null: float = 0.15
    smoothing: float = 0.3
    scale: float = 0.4
    features: tuple[AlignmentFeature, ...] = ()

    def state(self) -> dict[str, Array]:
        """Return all learned arrays by name, for storage."""
        weights = self.weights_
        return super().state() | {
            "pairs": weights.pairs,
            "tokens": weights.tokens,
            "jumps": weights.jumps,
            "linear": weights.linear,
            "offsets": np.array(self.offsets_, dtype=np.float64),
        }

    def restore(self, vocabulary: AlignmentVocabulary, arrays: dict[str, Array]) -> None:
        """Set all learned values from storage."""
        super().restore(vocabulary, arrays)
        self.weights_ = CrfWeights(
            arrays["pairs"], arrays["tokens"], arrays["jumps"], arrays["linear"]
        )
        self.offsets_ = tuple(int(offset) for offset in arrays["offsets"])

    def _fit(self, pairs: list[Encoded], progress: Progress | None) -> None:
        longest = max(longest_jump(pair) for pair in pairs)
        self.offsets_ = tuple(sorted({*self.offsets, *range(1, longest + 1)}))
        sets = self._possible_sets(pairs)
        examples = [self._example(pair, self.offsets_, sets) for pair in pairs]
        mask = pair_mask(pairs[0], self.verbs)
        start = generative_start(
            examples,
            mask,
            iterations=self.warm_up,
            null=self.null,
            smoothing=self.smoothing,
            clock=self.clock,
            scale=self.scale,
        )
        free = np.ones(len(start.vector))
        free[: mask.size] = mask.ravel()
        self.weights_ = self._train(CrfTraining(examples, start, free, progress))
        self.table_ = self._dictionary_table(pairs[0])

    @abstractmethod
    def _train(self, task: CrfTraining) -> CrfWeights:
        """Return the weights that suit the texts and videos."""

    def _posterior(self, encoded: Encoded, bias: Bias) -> Array:
        example, weights = self._with_long_jumps(encoded)
        logs = example.observed_logs(weights)
        given = np.asarray(bias)
        logs = logs + (given[:, :, None] if logs.ndim == 3 and given.ndim == 2 else given)
        counts = jump_counts(logs, example.chain(weights))
        if counts.log_likelihood == -np.inf:
            raise AlignmentError(
                f"there is no path through {encoded.num_lines} lines in {encoded.num_chunks} "
                "chunks; cut the video into shorter chunks."
            )
        return counts.states

    def _with_long_jumps(self, encoded: Encoded) -> tuple[CrfExample, CrfWeights]:
        """Return an example, and weights with jumps long enough to get through it."""
        weights, offsets = self.weights_, self.offsets_
        further = tuple(j for j in range(1, longest_jump(encoded) + 1) if j not in offsets)
        if further:
            rare = np.full(len(further), weights.jumps.min() - _RARE)
            weights = replace(weights, jumps=np.concatenate([weights.jumps, rare]))
        return self._example(encoded, offsets + further), weights

    def _example(
        self, encoded: Encoded, offsets: tuple[int, ...], sets: Sets = "observed"
    ) -> CrfExample:
        return crf_example(
            encoded,
            offsets=offsets,
            growth=self.growth,
            shape=self.shape,
            features=self.features,
            vocabulary=self._vocabulary(),
            sets=sets,
        )

    def _possible_sets(self, pairs: Sequence[Encoded]) -> Sets:
        """Return which sets of tokens are compared where features look at whole sets."""
        return "observed"

    def _encode(self, instructions: Instructions, observed: Observed) -> Encoded:
        encoded = super()._encode(instructions, observed)
        return replace(encoded, source=(instructions, observed))

    def _dictionary_table(self, encoded: Encoded) -> Array:
        """Return the probability of each thing given each noun."""
        nouns, things = encoded.things.words.shape[1], encoded.things.tokens.shape[1]
        weights = self.weights_
        logs = (weights.pairs + weights.tokens)[:nouns, :things]
        table = np.exp(logs - logs.max(axis=1, keepdims=True, initial=-np.inf))
        return np.asarray(table / table.sum(axis=1, keepdims=True))
