"""HMM1, HMM2, LHMM1 and LHMM2: lines as the states of a hidden Markov chain, fitted by EM.

The generative models of Naim et al. (AAAI 2014): the nouns of a line generate the things touched
while it is carried out, each with a distribution of its own (IBM model 1), and jumps from line to
line have learned probabilities. In LHMM1 and LHMM2 a noun may stay unrealised: "write the name on
the label" mentions a name that no hand touches; the sum over the realised sets is exact. A fit is a
sequence of phases, each started from the tables of the one before. The objective is the log
likelihood of the observations and never decreases within a phase.
"""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations, count, islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.models.base import AlignmentModel, Bias, require_chunks
from wordsight.alignment.models.encoding import AlignmentVocabulary, Channel, Encoded
from wordsight.errors import AlignmentError
from wordsight.inference.chains.segments import JumpChain, JumpCounts, jump_counts, jump_path
from wordsight.progress import Progress, report

__all__ = [
    "FLOOR",
    "HMM1",
    "HMM2",
    "LHMM1",
    "LHMM2",
    "STEPS_AHEAD",
    "STEPS_BOTH_WAYS",
    "ChainModel",
    "EMPhase",
    "LatentCounts",
    "Realisations",
    "latent_counts",
    "noun_counts",
    "noun_logs",
]


Array = NDArray[np.float64]

FLOOR = 1e-40
"""The least probability, as in the published program."""

STEPS_AHEAD = (0, 1)

STEPS_BOTH_WAYS = (0, 1, -1, 2, -2)

_MOST_SETS = 512  # per line; beyond, only the smaller sets of nouns are summed over


def noun_logs(encoded: Encoded, table: Array) -> Array:
    """Return ``(T, N)`` log probabilities of what each chunk shows under each line."""
    things = encoded.things
    return np.asarray(things.tokens @ np.log(np.maximum(_rates(things, table), FLOOR)).T)


def noun_counts(encoded: Encoded, table: Array, posterior: Array) -> Array:
    """Return ``(X, V)`` expected counts of nouns naming things, given posteriors ``(T, N)``."""
    things = encoded.things
    shown = posterior.T @ things.tokens
    return things.word_counts(table, shown / np.maximum(_rates(things, table), FLOOR))


def _rates(things: Channel, table: Array) -> Array:
    columns = table.shape[1]
    return things.rates(table, np.full(columns, 1.0 / columns))


@dataclass(frozen=True, eq=False)
class Realisations:
    """All sets of nouns that the lines of a text may realise.

    Attributes:
        sets: ``(R, X)`` 1 where a set has a noun; sets of one line are contiguous.
        absent: ``(R, X)`` 1 where a noun of the line is not in the set.
        first: ``(N,)`` number of each line's first set.
        line: ``(R,)`` line of each set.
    """

    sets: Array
    absent: Array
    first: NDArray[np.int64]
    line: NDArray[np.int64]

    @classmethod
    def of(cls, encoded: Encoded) -> "Realisations":
        """List the sets of each line; only lines without nouns have the empty set."""
        rows: list[Array] = []
        absent: list[Array] = []
        lines: list[int] = []
        for number, words in enumerate(encoded.things.words):
            for chosen in _subsets(np.flatnonzero(words)):
                row = np.zeros(len(words))
                row[chosen] = 1.0
                rows.append(row)
                absent.append(words - row)
                lines.append(number)
        line = np.array(lines, dtype=np.int64)
        first = np.searchsorted(line, np.arange(encoded.num_lines))
        return cls(np.array(rows), np.array(absent), first, line)

    def logs(self, tokens: Array, table: Array, realised: Array) -> Array:
        """Return ``(T, R)`` joint log probabilities of each set and what each chunk shows."""
        present = np.log(np.maximum(realised, FLOOR))
        hidden = np.log(np.maximum(1.0 - realised, FLOOR))
        prior = self.sets @ present + self.absent @ hidden
        rates = np.maximum(Channel(self.sets, tokens).rates(table, _uniform(table)), FLOOR)
        return np.asarray(tokens @ np.log(rates).T + prior)

    def line_logs(self, logs: Array) -> Array:
        """Return ``(T, N)`` log probabilities summed over the sets of each line."""
        top = np.maximum.reduceat(logs, self.first, axis=1)
        mass = np.add.reduceat(np.exp(logs - top[:, self.line]), self.first, axis=1)
        return np.asarray(np.log(mass) + top)


@dataclass(frozen=True)
class LatentCounts:
    """Expected counts with unrealised nouns.

    Attributes:
        table: ``(X, V)`` nouns naming things.
        present: ``(X,)`` how often each noun was realised.
        possible: ``(X,)`` how often each noun could have been realised.
    """

    table: Array
    present: Array
    possible: Array


def latent_counts(
    sets: Realisations, logs: Array, tokens: Array, table: Array, posterior: Array
) -> LatentCounts:
    """Return expected counts, given log weights ``(T, R)`` and posteriors of lines ``(T, N)``."""
    shares = np.exp(logs - sets.line_logs(logs)[:, sets.line]) * posterior[:, sets.line]
    channel = Channel(sets.sets, tokens)
    rates = np.maximum(channel.rates(table, _uniform(table)), FLOOR)
    used = shares.sum(axis=0)
    present = used @ sets.sets
    return LatentCounts(
        channel.word_counts(table, (shares.T @ tokens) / rates),
        present,
        present + used @ sets.absent,
    )


def _subsets(nouns: NDArray[np.int64]) -> list[list[int]]:
    """Return non-empty sets of nouns, without the large ones if there are too many."""
    chosen: list[list[int]] = []
    for size in range(1, len(nouns) + 1):
        groups = [list(group) for group in combinations(nouns.tolist(), size)]
        if len(chosen) + len(groups) > _MOST_SETS:
            break
        chosen += groups
    return chosen or [[]]


def _uniform(table: Array) -> Array:
    return np.full(table.shape[1], 1.0 / table.shape[1])


@dataclass(frozen=True)
class EMPhase:
    """One phase of a fit.

    Attributes:
        offsets: How many lines a jump may move.
        iterations: Number of iterations.
        latent: Whether nouns may stay unrealised.
    """

    offsets: tuple[int, ...]
    iterations: int
    latent: bool = False


@dataclass(frozen=True, eq=False)
class _Latent:
    """Sets of nouns of a text, and the distinct sets of things of a video."""

    sets: Realisations
    tokens: Array  # (S, V)
    which: NDArray[np.int64]  # (T,)

    @classmethod
    def of(cls, encoded: Encoded) -> "_Latent":
        tokens, which = np.unique(encoded.things.tokens, axis=0, return_inverse=True)
        return cls(Realisations.of(encoded), tokens, which.ravel())


@dataclass
class _Statistics:
    table: Array
    jumps: Array
    present: Array
    possible: Array
    objective: float = 0.0
    sets: dict[int, _Latent] = field(default_factory=dict)


class ChainModel(AlignmentModel):
    """A hidden Markov chain over the lines of a text.

    Attributes:
        jumps_: ``(D,)`` probability of each jump of the last phase.
        realised_: ``(X,)`` probability that a noun is realised; ones without latent phases.
        objectives_: Log likelihood before each iteration, one list per phase.
    """

    opening: Literal["exact", "published"] = "exact"
    jumps_: Array
    realised_: Array
    objectives_: list[list[float]]

    @abstractmethod
    def phases(self) -> tuple[EMPhase, ...]:
        """Return the phases of a fit."""

    def state(self) -> dict[str, Array]:
        """Return all learned arrays by name, for storage."""
        return super().state() | {"jumps": self.jumps_, "realised": self.realised_}

    def restore(self, vocabulary: AlignmentVocabulary, arrays: dict[str, Array]) -> None:
        """Set all learned values from storage."""
        super().restore(vocabulary, arrays)
        self.jumps_, self.realised_ = arrays["jumps"], arrays["realised"]

    def _fit(self, pairs: list[Encoded], progress: Progress | None) -> None:
        nouns, things = pairs[0].things.words.shape[1], pairs[0].things.tokens.shape[1]
        self.table_ = np.full((nouns, things), 1.0 / things)
        self.realised_ = np.ones(nouns)
        self.objectives_ = []
        before: tuple[int, ...] = ()
        rounds = report(count(), progress, "learning", sum(p.iterations for p in self.phases()))
        for phase in self.phases():
            if phase.offsets != before:
                self.jumps_ = np.full(len(phase.offsets), 1.0 / len(phase.offsets))
            if phase.latent:
                self.realised_ = np.full(nouns, 0.9)
            before = phase.offsets
            self.objectives_.append(self._run(phase, pairs, islice(rounds, phase.iterations)))

    def _run(self, phase: EMPhase, pairs: list[Encoded], rounds: Iterable[int]) -> list[float]:
        sets = {id(pair): _Latent.of(pair) for pair in pairs} if phase.latent else {}
        history = []
        for _ in rounds:
            statistics = _Statistics(
                np.zeros_like(self.table_),
                np.zeros(len(phase.offsets)),
                np.zeros(len(self.realised_)),
                np.zeros(len(self.realised_)),
                sets=sets,
            )
            for pair in pairs:
                self._expect(pair, phase, statistics)
            self._maximise(statistics)
            history.append(statistics.objective)
        return history

    def _expect(self, pair: Encoded, phase: EMPhase, statistics: _Statistics) -> None:
        if phase.latent:
            latent = statistics.sets[id(pair)]
            logs = latent.sets.logs(latent.tokens, self.table_, self.realised_)
            lines = latent.sets.line_logs(logs)[latent.which]
            counts = self._counts(lines, pair, phase, statistics)
            together = np.zeros((len(latent.tokens), pair.num_lines))
            np.add.at(together, latent.which, counts.states)
            expected = latent_counts(latent.sets, logs, latent.tokens, self.table_, together)
            statistics.table += expected.table
            statistics.present += expected.present
            statistics.possible += expected.possible
        else:
            counts = self._counts(noun_logs(pair, self.table_), pair, phase, statistics)
            statistics.table += noun_counts(pair, self.table_, counts.states)

    def _counts(
        self, logs: Array, pair: Encoded, phase: EMPhase, statistics: _Statistics
    ) -> JumpCounts:
        chain = self._chain(pair.num_lines, phase.offsets, max(phase.offsets))
        counts = jump_counts(logs, chain)
        if counts.log_likelihood == -np.inf:
            require_chunks(pair, pair.num_lines - max(phase.offsets), type(self).__name__)
            raise AlignmentError(f"{type(self).__name__} finds no path through the text.")
        statistics.objective += counts.log_likelihood
        statistics.jumps += counts.jumps
        # The first chunk is also a jump: from before the text to its first line.
        statistics.jumps += self._opening_counts(logs, chain, phase.offsets)
        return counts

    def _opening_counts(self, logs: Array, chain: JumpChain, offsets: tuple[int, ...]) -> Array:
        counts = np.zeros(len(offsets))
        reachable = {jump: place for place, jump in enumerate(offsets) if jump > 0}
        if self.opening == "exact":
            counts[reachable[1]] = 1.0
            return counts
        # The published program counts the first jump as if the second line could come first,
        # which its own chain forbids.
        initial = np.full(len(chain.initial), -np.inf)
        for jump, place in reachable.items():
            if jump <= len(initial):
                initial[jump - 1] = chain.jumps[place]
        open_chain = JumpChain(chain.offsets, chain.jumps, initial, chain.final)
        first = jump_counts(logs, open_chain).states[0]
        for jump, place in reachable.items():
            if jump <= len(initial):
                counts[place] = first[jump - 1]
        return counts

    def _maximise(self, statistics: _Statistics) -> None:
        sums = statistics.table.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            table = np.where(sums > 0, statistics.table / sums, self.table_)
        self.table_ = np.maximum(table, FLOOR)
        self.jumps_ = np.maximum(statistics.jumps / statistics.jumps.sum(), FLOOR)
        counted = statistics.possible > 0
        shares = statistics.present / np.where(counted, statistics.possible, 1.0)
        self.realised_ = np.where(counted, shares, self.realised_)

    def _chain(self, lines: int, offsets: tuple[int, ...], early: int) -> JumpChain:
        """Return the chain: from the first line to at most ``early`` lines before the last."""
        initial, final = np.full(lines, -np.inf), np.full(lines, -np.inf)
        jumps = np.log(self.jumps_)
        initial[0] = jumps[offsets.index(1)]
        final[max(0, lines - 1 - early) :] = 0.0
        return JumpChain(np.array(offsets, dtype=np.int64), jumps, initial, final)

    def _logs(self, encoded: Encoded) -> Array:
        if not self.phases()[-1].latent:
            return noun_logs(encoded, self.table_)
        latent = _Latent.of(encoded)
        logs = latent.sets.logs(latent.tokens, self.table_, self.realised_)
        return latent.sets.line_logs(logs)[latent.which]

    def _last_chain(self, encoded: Encoded) -> JumpChain:
        return self._chain(encoded.num_lines, self.phases()[-1].offsets, 0)

    def _posterior(self, encoded: Encoded, bias: Bias) -> Array:
        counts = jump_counts(self._logs(encoded) + bias, self._last_chain(encoded))
        if counts.log_likelihood == -np.inf:
            longest = max(self.phases()[-1].offsets)
            require_chunks(encoded, -(-encoded.num_lines // longest), type(self).__name__)
        return counts.states

    def _best(self, encoded: Encoded, bias: Bias, posterior: Array) -> NDArray[np.int64]:
        _, path = jump_path(self._logs(encoded) + bias, self._last_chain(encoded))
        return path


@dataclass
class HMM1(ChainModel):
    """Each chunk stays at the line of the previous one or moves to the next.

    Needs at least as many chunks as lines.

    Args:
        iterations: Iterations of EM.

    Examples:
        >>> from wordsight.alignment import Chunk, Instructions, Line, Observed
        >>> text = Instructions("tea", (Line("Boil the kettle", 1, ("kettle",)),
        ...                             Line("Fill the cup", 2, ("cup",))))
        >>> seen = [Chunk(t, t + 1.0, frozenset({"K" if t < 3 else "C"})) for t in range(5)]
        >>> video = Observed("tea.mp4", tuple(seen), 5.0)
        >>> HMM1().fit([(text, video)]).predict(text, video).tolist()
        [0, 0, 0, 1, 1]
    """

    iterations: int = 50

    def phases(self) -> tuple[EMPhase, ...]:
        """Return the phases of a fit."""
        return (EMPhase(STEPS_AHEAD, self.iterations),)


@dataclass
class HMM2(ChainModel):
    """Each chunk may move up to two lines forward or back.

    Args:
        warm_up: Iterations of HMM1 to start from.
        iterations: Iterations of EM with all jumps.
        opening: How the jump to the first line is counted: "exact", or as in the "published"
            program, whose update is not exactly EM.
    """

    warm_up: int = 10
    iterations: int = 40
    opening: Literal["exact", "published"] = "exact"

    def phases(self) -> tuple[EMPhase, ...]:
        """Return the phases of a fit."""
        return (EMPhase(STEPS_AHEAD, self.warm_up), EMPhase(STEPS_BOTH_WAYS, self.iterations))


@dataclass
class LHMM1(ChainModel):
    """HMM1 with unrealised nouns.

    Args:
        warm_up: Iterations of HMM1 to start from.
        iterations: Iterations of EM with unrealised nouns.
    """

    warm_up: int = 50
    iterations: int = 50

    def phases(self) -> tuple[EMPhase, ...]:
        """Return the phases of a fit."""
        return (
            EMPhase(STEPS_AHEAD, self.warm_up),
            EMPhase(STEPS_AHEAD, self.iterations, latent=True),
        )


@dataclass
class LHMM2(ChainModel):
    """HMM2 with unrealised nouns.

    Args:
        warm_up: Iterations of HMM1 to start from, then of HMM2.
        iterations: Iterations of EM with unrealised nouns.
        opening: How the jump to the first line is counted, see :class:`HMM2`.
    """

    warm_up: tuple[int, int] = (15, 35)
    iterations: int = 50
    opening: Literal["exact", "published"] = "exact"

    def phases(self) -> tuple[EMPhase, ...]:
        """Return the phases of a fit."""
        ahead, both = self.warm_up
        return (
            EMPhase(STEPS_AHEAD, ahead),
            EMPhase(STEPS_BOTH_WAYS, both),
            EMPhase(STEPS_BOTH_WAYS, self.iterations, latent=True),
        )
