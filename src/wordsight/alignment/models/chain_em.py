"""Expectation–maximisation for chains over lines: what HMM1, HMM2, LHMM1 and LHMM2 share.

A fit is a sequence of phases, each started from the tables of the one before. The objective is the
log likelihood of the observations and never falls within a phase.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.encoding import Encoded, Vocabulary
from wordsight.alignment.errors import AlignmentError
from wordsight.alignment.models.base import Bias, Model, require_chunks
from wordsight.alignment.models.emissions import (
    FLOOR,
    Realisations,
    latent_counts,
    noun_counts,
    noun_logs,
)
from wordsight.inference.chains.jumps import JumpChain, JumpCounts, jump_counts, jump_path

__all__ = ["STEPS_AHEAD", "STEPS_BOTH_WAYS", "ChainModel", "Phase"]

Array = NDArray[np.float64]

STEPS_AHEAD = (0, 1)
STEPS_BOTH_WAYS = (0, 1, -1, 2, -2)


@dataclass(frozen=True)
class Phase:
    """One stretch of a fit.

    Attributes:
        offsets: How many lines a jump may move.
        iterations: How long.
        latent: Whether nouns may stay unrealised.
    """

    offsets: tuple[int, ...]
    iterations: int
    latent: bool = False


@dataclass(frozen=True, eq=False)
class _Latent:
    """A text's sets of nouns and a video's distinct sets of things: many chunks show the same."""

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


class ChainModel(Model):
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

    def phases(self) -> tuple[Phase, ...]:
        """Return the phases of a fit."""
        raise NotImplementedError

    def state(self) -> dict[str, Array]:
        """Return all learned arrays by name, for storage."""
        return super().state() | {"jumps": self.jumps_, "realised": self.realised_}

    def restore(self, vocabulary: Vocabulary, arrays: dict[str, Array]) -> None:
        """Take learned values from storage."""
        super().restore(vocabulary, arrays)
        self.jumps_, self.realised_ = arrays["jumps"], arrays["realised"]

    def _fit(self, pairs: list[Encoded]) -> None:
        nouns, things = pairs[0].things.words.shape[1], pairs[0].things.tokens.shape[1]
        self.table_ = np.full((nouns, things), 1.0 / things)
        self.realised_ = np.ones(nouns)
        self.objectives_ = []
        before: tuple[int, ...] = ()
        for phase in self.phases():
            if phase.offsets != before:
                self.jumps_ = np.full(len(phase.offsets), 1.0 / len(phase.offsets))
            if phase.latent:
                self.realised_ = np.full(nouns, 0.9)
            before = phase.offsets
            self.objectives_.append(self._run(phase, pairs))

    def _run(self, phase: Phase, pairs: list[Encoded]) -> list[float]:
        sets = {id(pair): _Latent.of(pair) for pair in pairs} if phase.latent else {}
        history = []
        for _ in range(phase.iterations):
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

    def _expect(self, pair: Encoded, phase: Phase, statistics: _Statistics) -> None:
        if phase.latent:
            latent = statistics.sets[id(pair)]
            logs = latent.sets.logs(latent.tokens, self.table_, self.realised_)
            lines = latent.sets.line_logs(logs)[latent.which]
            counts = self._counts(lines, pair, phase, statistics)
            together = np.zeros((len(latent.tokens), pair.num_lines))
            np.add.at(together, latent.which, counts.states)
            found = latent_counts(latent.sets, logs, latent.tokens, self.table_, together)
            statistics.table += found.table
            statistics.present += found.present
            statistics.possible += found.possible
        else:
            counts = self._counts(noun_logs(pair, self.table_), pair, phase, statistics)
            statistics.table += noun_counts(pair, self.table_, counts.states)

    def _counts(
        self, logs: Array, pair: Encoded, phase: Phase, statistics: _Statistics
    ) -> JumpCounts:
        chain = self._chain(pair.num_lines, phase.offsets, max(phase.offsets))
        counts = jump_counts(logs, chain)
        if counts.log_likelihood == -np.inf:
            require_chunks(pair, pair.num_lines - max(phase.offsets), type(self).__name__)
            raise AlignmentError(f"{type(self).__name__} finds no way through the text.")
        statistics.objective += counts.log_likelihood
        statistics.jumps += counts.jumps
        # The first chunk is a jump too: from before the text to its first line.
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
        seen = statistics.possible > 0
        self.realised_ = np.where(
            seen, statistics.present / np.where(seen, statistics.possible, 1.0), self.realised_
        )

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
