"""HSMM: a hidden semi-Markov model over steps, with durations in clock time.

The duration of a step follows a gamma distribution in proportion to the length of its text; steps
change where touches change. A step shows a mixture of its lines: each thing is named by a noun of a
line or by no word, each chunk belongs to one line of the step or to none. Verbs and ways of moving
follow the same rules where they were observed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.constraints import FORBIDDEN
from wordsight.alignment.models.base import AlignmentModel, Bias, require_chunks
from wordsight.alignment.models.clock import (
    CHANGE_KINDS,
    ChangePoints,
    duration_weights,
    find_change_points,
    num_ticks,
    order_weights,
    step_shares,
)
from wordsight.alignment.models.encoding import AlignmentVocabulary, Channel, Encoded, Pair
from wordsight.alignment.records import Instructions, Observed
from wordsight.errors import AlignmentError
from wordsight.inference.chains.segments import SegmentChain, SegmentCounts, segment_counts
from wordsight.progress import Progress, report

__all__ = [
    "HSMM",
    "DistinctChunks",
    "StepEmission",
    "StepGain",
    "StepWordTables",
    "background_of",
    "mix_lines",
]

Array = NDArray[np.float64]

_UNSEEN = 0.1  # pseudo-counts of each token in the background
# Where steps may well be left out.
_TOLERANT: dict[str, Any] = {"disorder": 0.5, "skip": 0.1, "back": 0.05}


@dataclass(frozen=True, eq=False)
class StepWordTables:
    """Probabilities of observations given words, and independent of them.

    Attributes:
        nouns: ``(X, V)`` probability of each thing given each noun.
        verbs: ``(Xv, Vv)`` probability of each way of moving given each verb.
        things: ``(V,)`` background probability of each thing.
        moves: ``(Vv,)`` background probability of each way of moving.
    """

    nouns: Array
    verbs: Array
    things: Array
    moves: Array


def background_of(channels: list[Channel]) -> Array:
    """Return ``(V,)`` the frequency of each token over all videos."""
    counts = np.sum([channel.tokens.sum(axis=0) for channel in channels], axis=0) + _UNSEEN
    return np.asarray(counts / max(counts.sum(), _UNSEEN))


@dataclass(frozen=True, eq=False)
class DistinctChunks:
    """The distinct chunks of a video; equal ones are computed only once.

    Attributes:
        things: ``(S, V)`` distinct rows of things, with the words of the text.
        moves: ``(S, Vv)`` ways of moving of the same rows.
        which: ``(T,)`` row of each chunk.
        steps: ``(N,)`` step of each line.
    """

    things: Channel
    moves: Channel
    which: NDArray[np.int64]
    steps: NDArray[np.int64]

    @classmethod
    def of(cls, encoded: Encoded) -> "DistinctChunks":
        """Return the distinct chunks of a video."""
        things = encoded.things.tokens
        rows, which = np.unique(
            np.concatenate([things, encoded.moves.tokens], axis=1), axis=0, return_inverse=True
        )
        width = things.shape[1]
        return cls(
            Channel(encoded.things.words, np.ascontiguousarray(rows[:, :width])),
            Channel(encoded.moves.words, np.ascontiguousarray(rows[:, width:])),
            which.ravel(),
            encoded.steps,
        )


def mix_lines(
    lines: Array, nothing: Array, steps: NDArray[np.int64], drop: float
) -> tuple[Array, Array]:
    """Return log probabilities of chunks under steps, and the share of each line in its step.

    Args:
        lines: ``(S, N)`` log probability of each chunk under each line.
        nothing: ``(S,)`` log probability of each chunk if it belongs to no line.
        steps: ``(N,)`` step of each line.
        drop: Probability that a chunk belongs to no line.

    Returns:
        ``(S, K)`` log probabilities, and ``(S, N)`` shares; one minus the shares of a step's lines
        belongs to no line.
    """
    first = np.searchsorted(steps, np.arange(int(steps[-1]) + 1))
    top = np.maximum.reduceat(lines, first, axis=1)
    weights = np.exp(lines - top[:, steps])
    sums = np.add.reduceat(weights, first, axis=1)
    mixed = top + np.log(sums / np.bincount(steps))
    with np.errstate(divide="ignore"):
        away = np.log(drop) + nothing[:, None]
    logs = np.logaddexp(np.log1p(-drop) + mixed, away)
    kept = np.exp(np.log1p(-drop) + mixed - logs)
    return logs, weights * (kept / sums)[:, steps]


class StepEmission:
    """Log probabilities of one video's chunks under its steps, and expected counts from them.

    Args:
        chunks: The text and the video.
        tables: Probabilities of observations.
        null: Probability that a token is named by no word.
        drop: Probability that a chunk belongs to no line.

    Attributes:
        steps: ``(T, K)`` log probability of each chunk under each step.
        background: ``(T,)`` log probability of each chunk independent of all words.
    """

    def __init__(
        self, chunks: DistinctChunks, tables: StepWordTables, null: float, drop: float
    ) -> None:
        self._chunks, self._tables, self._null = chunks, tables, null
        self._noun_rates = self._rates(chunks.things, tables.nouns, tables.things)
        self._verb_rates = self._rates(chunks.moves, tables.verbs, tables.moves)
        lines = chunks.things.tokens @ np.log(self._noun_rates).T
        lines += chunks.moves.tokens @ np.log(self._verb_rates).T
        nothing = chunks.things.tokens @ np.log(tables.things)
        nothing += chunks.moves.tokens @ np.log(tables.moves)
        steps, self._shares = mix_lines(lines, nothing, chunks.steps, drop)
        self.steps = steps[chunks.which]
        self.background = nothing[chunks.which]

    def line_posterior(self, steps: Array) -> Array:
        """Return posteriors of lines ``(T, N)`` from those of steps ``(T, K)``."""
        chunks = self._chunks
        return np.asarray(self._shares[chunks.which] * steps[:, chunks.steps])

    def counts(self, steps: Array) -> tuple[Array, Array]:
        """Return expected counts of nouns naming things and of verbs naming moves.

        Args:
            steps: ``(T, K)`` weight of each chunk for each step.
        """
        chunks = self._chunks
        rows = np.zeros((len(self._shares), steps.shape[1]))
        np.add.at(rows, chunks.which, steps)
        lines = self._shares * rows[:, chunks.steps]
        pairs = (
            (chunks.things, self._tables.nouns, self._noun_rates),
            (chunks.moves, self._tables.verbs, self._verb_rates),
        )
        named = 1.0 - self._null
        nouns, verbs = (
            channel.word_counts(table, named * (lines.T @ channel.tokens) / rates)
            for channel, table, rates in pairs
        )
        return nouns, verbs

    def _rates(self, channel: Channel, table: Array, background: Array) -> Array:
        named = channel.rates(table, background)
        return np.asarray((1.0 - self._null) * named + self._null * background)


@dataclass(frozen=True, eq=False)
class StepGain:
    """How well a text explains a video, per weighted observation, in nats.

    Attributes:
        over_clock: Log likelihood beyond a model that knows durations and change points only.
        log_likelihood: Log likelihood; only differences between orders of steps mean anything.
        evidence: ``(K,)`` log ratio of what was seen during each step to the background, where
            steps may well be left out.
        visits: ``(K,)`` expected number of times that each step happens then.
    """

    over_clock: float
    log_likelihood: float
    evidence: Array
    visits: Array


@dataclass(frozen=True, eq=False)
class _Example:
    """The part of one text and video that does not depend on the parameters."""

    encoded: Encoded
    chunks: DistinctChunks
    edges: ChangePoints
    ticks: NDArray[np.int64]
    chains: tuple[tuple[float, SegmentChain], ...]  # log prior and chain, in order and not
    weights: Array  # (E - 1, 1), weight of each chunk of a unit as evidence
    bias: Bias  # of constraints, or of labels while the model learns


@dataclass
class HSMM(AlignmentModel):
    r"""Steps with durations in clock time.

    The weight of a segmentation of the video into steps :math:`k_1, k_2, \dots` is
    :math:`\prod_s p(k_s \mid k_{s-1})\,\Gamma(d_s; c K w_{k_s})\,\rho(e_s)\,
    \prod_{n \in s} p(Y_n \mid k_s)^{\tau |u|^{g-1}}`: the order of steps, their durations
    :math:`d` as shares of the time from the first to the last touch, the kind of change point
    :math:`e` where a step begins, and what is touched. Fitted by EM from uniform tables, so that
    at first the clock alone decides.

    Args:
        concentration: c, how closely durations follow the expected shares, per step.
        growth: How a step's share of time grows with its number of lines, 0 to 1.
        temperature: :math:`\tau`, weight of a chunk as evidence.
        dependence: g, how the evidence of a unit grows with its number of chunks: 1 as if they
            were independent, 0 not at all. Chunks of one touch are strongly dependent.
        smoothing: Pseudo-counts of each noun, spread over all things.
        null: Probability that a thing is named by no word.
        drop: Probability that a chunk belongs to no line.
        disorder: Probability that a video leaves steps out, repeats or swaps some.
        skip: Probability in such a video that a step is left out.
        back: Probability in such a video of a return to the step before.
        iterations: Iterations of EM.

    Attributes:
        verb_table_: ``(Xv, Vv)`` probability of each way of moving given each verb.
        edge_logs_: ``(CHANGE_KINDS,)`` log ratio of how often steps change at each kind of change
            point.
        objectives_: Penalised log likelihood before each iteration; never decreases.
    """

    concentration: float = 4.0
    growth: float = 0.75
    temperature: float = 0.6
    dependence: float = 0.5
    smoothing: float = 0.3
    null: float = 0.1
    drop: float = 0.02
    disorder: float = 0.05
    skip: float = 0.05
    back: float = 0.05
    iterations: int = 20

    def state(self) -> dict[str, Array]:
        """Return all learned arrays by name, for storage."""
        return super().state() | {
            "verb_table": self.verb_table_,
            "edge_logs": self.edge_logs_,
            "things": self.background_[0],
            "moves": self.background_[1],
        }

    def restore(self, vocabulary: AlignmentVocabulary, arrays: dict[str, Array]) -> None:
        """Set all learned values from storage."""
        super().restore(vocabulary, arrays)
        self.verb_table_, self.edge_logs_ = arrays["verb_table"], arrays["edge_logs"]
        self.background_ = arrays["things"], arrays["moves"]

    def _fit(self, pairs: list[Encoded], progress: Progress | None) -> None:
        self.background_ = (
            background_of([pair.things for pair in pairs]),
            background_of([pair.moves for pair in pairs]),
        )
        self.table_ = _uniform(pairs[0].things.words, pairs[0].things.tokens)
        self.verb_table_ = _uniform(pairs[0].moves.words, pairs[0].moves.tokens)
        self.edge_logs_ = np.zeros(CHANGE_KINDS)
        self._edge_rates = np.full((2, CHANGE_KINDS), 1.0 / CHANGE_KINDS)
        self.objectives_: list[float] = []
        examples = [self._example(pair, _label_bias(pair)) for pair in pairs]
        for _ in report(range(self.iterations), progress, "learning", self.iterations):
            self._iterate(examples)

    def _iterate(self, examples: list[_Example]) -> None:
        nouns, verbs = np.zeros_like(self.table_), np.zeros_like(self.verb_table_)
        changes = np.ones(
            (2, CHANGE_KINDS)
        )  # one pseudo-count of each kind, with and without change
        objective = self._log_prior()
        for example in examples:
            emission, counts = self._expect(example)
            objective += counts.log_likelihood
            inner = example.edges.kinds[1:-1]
            objective += float(np.log(self._edge_rates[1])[inner].sum())
            expected = emission.counts((counts.states * example.weights)[example.edges.units])
            nouns += expected[0]
            verbs += expected[1]
            here = counts.boundaries[1:-1]
            changes[0] += np.bincount(inner, here, CHANGE_KINDS)
            changes[1] += np.bincount(inner, 1.0 - here, CHANGE_KINDS)
        self.objectives_.append(objective)
        self.table_, self.verb_table_ = self._smoothed(nouns), self._smoothed(verbs)
        self._edge_rates = changes / changes.sum(axis=1, keepdims=True)
        self.edge_logs_ = np.log(self._edge_rates[0] / self._edge_rates[1])

    def _expect(self, example: _Example) -> tuple[StepEmission, SegmentCounts]:
        """Return emissions of the chunks, and expected counts of the segmentation."""
        tables = StepWordTables(self.table_, self.verb_table_, *self.background_)
        emission = StepEmission(example.chunks, tables, self.null, self.drop)
        emission.steps = emission.steps + example.encoded.fits
        return emission, self._segment(example, emission.steps)

    def _segment(self, example: _Example, steps: Array) -> SegmentCounts:
        """Return expected counts of the segmentation, given log probabilities ``(T, K)``."""
        bias = example.bias
        logs = np.add.reduceat(steps, example.edges.first, axis=0) * example.weights
        if not isinstance(bias, float):
            first = np.searchsorted(example.encoded.steps, np.arange(example.encoded.num_steps))
            allowed = np.maximum.reduceat(bias, first, axis=1)  # a step is allowed if a line is
            logs = logs + np.minimum.reduceat(allowed, example.edges.first, axis=0)
        edges = self.edge_logs_[example.edges.kinds]
        counts = _mixed(
            [
                (prior, segment_counts(logs, example.ticks, edges, chain))
                for prior, chain in example.chains
            ]
        )
        if counts.log_likelihood == -np.inf:
            require_chunks(example.encoded, example.encoded.num_steps, "HSMM")
            raise AlignmentError(
                "HSMM finds no path through the steps; a step may be too long or too short for its "
                "text. Use a smaller concentration."
            )
        return counts

    def fit_tolerantly(self, pairs: Sequence[Pair]) -> Self:
        """Learn from texts of which several steps may not happen in their videos.

        How probable that is elsewhere stays as it is set.
        """
        learned = replace(self, **_TOLERANT).fit(pairs)
        self.restore(learned.vocabulary_, learned.state())
        return self

    def tolerant_posterior(self, encoded: Encoded) -> Array:
        """Return ``(T, N)`` posteriors of lines where steps may well be left out."""
        model = replace(self, **_TOLERANT)
        model.restore(self.vocabulary_, self.state())
        return model._posterior(encoded, 0.0)

    def gain(self, instructions: Instructions, observed: Observed) -> StepGain:
        """Return how much better the text explains a video than the clock alone does.

        Meaningful for a pair that was left out of the fit: EM gives the words of any text some
        meaning that suits the video it is fitted on.
        """
        encoded, bias = self._prepared(instructions, observed, ())
        example = self._example(encoded, bias)
        emission, counts = self._expect(example)
        nothing = np.repeat(emission.background[:, None], encoded.num_steps, axis=1)
        clock = self._segment(example, nothing)
        weight = float(example.weights[:, 0] @ example.edges.sizes)
        tolerant = replace(self, **_TOLERANT)._example(encoded, bias)
        mistaken = self._segment(tolerant, emission.steps)
        ratios = emission.steps - emission.background[:, None]
        units = np.add.reduceat(ratios, example.edges.first, axis=0) * example.weights
        return StepGain(
            (counts.log_likelihood - clock.log_likelihood) / weight,
            counts.log_likelihood / weight,
            (mistaken.states * units).sum(axis=0),
            mistaken.starts.sum(axis=0),
        )

    def _example(self, encoded: Encoded, bias: Bias) -> _Example:
        steps = encoded.num_steps
        edges = find_change_points(encoded, fewest=2 * steps, bias=bias)
        shares = step_shares(encoded, self.growth)
        durations = duration_weights(shares, self.concentration, len(edges.first))
        orders = [(1.0 - self.disorder, 0.0, 0.0), (self.disorder, self.skip, self.back)]
        chains = tuple(
            (float(np.log(prior)), SegmentChain(durations, *order_weights(steps, skip, back)))
            for prior, skip, back in orders
            if prior > 0
        )
        weights = self.temperature * edges.sizes ** (self.dependence - 1)
        ticks = np.round(edges.moments * num_ticks(steps)).astype(np.int64)
        chunks = DistinctChunks.of(encoded)
        return _Example(encoded, chunks, edges, ticks, chains, weights[:, None], bias)

    def _posterior(self, encoded: Encoded, bias: Bias) -> Array:
        example = self._example(encoded, bias)
        emission, counts = self._expect(example)
        return emission.line_posterior(counts.states[example.edges.units])

    def _smoothed(self, counts: Array) -> Array:
        prior = self.temperature * self.smoothing / max(counts.shape[1], 1)
        table = counts + max(prior, 1e-12)
        return np.asarray(table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300))

    def _log_prior(self) -> float:
        weight = self.temperature * self.smoothing
        nouns, verbs = (
            weight * float(np.log(np.maximum(table, 1e-300)).sum()) / max(table.shape[1], 1)
            for table in (self.table_, self.verb_table_)
        )
        return float(nouns + verbs + np.log(self._edge_rates).sum())


def _mixed(parts: list[tuple[float, SegmentCounts]]) -> SegmentCounts:
    """Return the expectations over several chains, each with a log prior."""
    logs = np.array([prior + counts.log_likelihood for prior, counts in parts])
    total = float(np.logaddexp.reduce(logs))
    if total == -np.inf:
        return parts[0][1]
    shares = np.exp(logs - total)
    return SegmentCounts(
        total,
        np.tensordot(shares, np.stack([counts.states for _, counts in parts]), axes=1),
        np.tensordot(shares, np.stack([counts.starts for _, counts in parts]), axes=1),
        np.tensordot(shares, np.stack([counts.boundaries for _, counts in parts]), axes=1),
    )


def _label_bias(encoded: Encoded) -> Bias:
    """Return ``(T, N)`` log weights that keep chunks to their true lines, where these are known."""
    if encoded.labels is None:
        return 0.0
    other = encoded.labels[:, None] != np.arange(encoded.num_lines)
    return np.where(other & (encoded.labels >= 0)[:, None], FORBIDDEN, 0.0)


def _uniform(words: Array, tokens: Array) -> Array:
    return np.full((words.shape[1], tokens.shape[1]), 1.0 / max(tokens.shape[1], 1))
