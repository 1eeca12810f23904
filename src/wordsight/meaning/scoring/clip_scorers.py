"""Scorers of clips: one chain per word where objects are tracks, else one lattice of everything.

Given an assignment of one track to each participant, the words of a sentence are independent. So
every word is scored once on every assignment of its own arguments, and a sentence is an exact sum
of such tables, whatever its length; all sentences of a clip share the tables of their words.

Where detections have no identities, a track may take any detection in any frame; detection scores
and temporal coherence weigh it, as in Eqs. 1 and 3 of the paper, and a participant may be unseen
for a while.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.inference import (
    Lattice,
    LatticeCounts,
    LatticeScore,
    WordChain,
    counts_within_limits,
    paths_within_limits,
    scores_within_limits,
    weights_from_logs,
)
from wordsight.inference.chains.hmm import chain_counts, chain_paths, chain_scores
from wordsight.inference.lattice.choices import Choices, weigh_choices
from wordsight.meaning.features import ClipView, Observation
from wordsight.meaning.scoring.evidence import NUM_EVIDENCE, word_evidence
from wordsight.meaning.scoring.scorer import BestPath, CountsByWord, TrackPrior
from wordsight.meaning.scoring.tables import CompoundTables, WordTables
from wordsight.records import Sentence, Word

__all__ = [
    "LatticeScorer",
    "TrackScorer",
    "compute_on_device",
    "distinct_arguments",
    "track_weights",
]

Array = NDArray[np.float64]

_NEGLIGIBLE = 1e-10  # an assignment less likely than this adds nothing to counts


_FRAME = 1 / 40
"""Seconds between frames of the paper's videos, for which reach and softness hold."""


class TrackScorer:
    """Scorer of a clip with tracks.

    Args:
        observation: The clip.
        tables: The words.
        prior: Weights of objects and tracks.
    """

    def __init__(
        self, observation: Observation, tables: Mapping[str, WordTables], prior: TrackPrior
    ) -> None:
        self.observation = observation
        self.words = CompoundTables(tables)
        weights = np.ones(observation.num_objects)
        weights[-1] = prior.unseen
        self.log_prior = np.log(weights / weights.sum())
        self._logs: dict[str, Array] = {}
        self._scores: dict[str, Array] = {}
        self._choices: dict[tuple[Word, ...], Choices] = {}

    def log_ratios(self, sentences: Sequence[Sentence]) -> Array:
        """Return ``(K,)`` log likelihood ratios of sentences against the background."""
        if not self.observation.num_frames:
            return np.zeros(len(sentences))
        return np.array([_log_sum(self.choices(sentence).logs) for sentence in sentences])

    def choices(self, sentence: Sentence) -> Choices:
        """Return the log weight of each assignment of one track to each participant."""
        choices = self._choices.get(sentence.words)
        if choices is None:
            words = self.words.joined(sentence).words
            factors = [(word.participants, self._scores_of(word.entry)) for word in words]
            choices = weigh_choices(self.log_prior, factors, sentence.num_participants)
            self._choices[sentence.words] = choices
        return choices

    def add_counts(
        self, sentences: Sequence[Sentence], shares: Array, counts: CountsByWord
    ) -> None:
        """Add the expected counts of every sentence, times its share, to ``counts``."""
        if not self.observation.num_frames:
            return
        weights: dict[str, Array] = {}
        for sentence, share in zip(sentences, shares, strict=True):
            if share == 0.0:
                continue
            choices = self.choices(sentence)
            posterior = share * _normalised(choices.logs)
            for word in self.words.joined(sentence).words:
                part = _summed(posterior, word.participants)
                part = choices.whole(part, word.participants)
                known = weights.get(word.entry)
                weights[word.entry] = part if known is None else known + part
        for entry, part in weights.items():
            posterior, steps = self._chain_posteriors(entry, part)
            self.words[entry].add_counts(posterior, steps, self.observation, counts)

    def posteriors(self, sentence: Sentence) -> tuple[Array, list[Array]]:
        """Return ``(T, P, J)`` of the participants' objects, and per word ``(T, J, .., J, I)``."""
        choices = self.choices(sentence)
        posterior = _normalised(choices.logs)
        participants = range(sentence.num_participants)
        objects = np.stack([choices.whole(_summed(posterior, (p,)), (p,)) for p in participants])
        joined, states = self.words.joined(sentence), []
        for word in joined.words:
            share = choices.whole(_summed(posterior, word.participants), word.participants)
            whole, _ = self._chain_posteriors(word.entry, share)
            states += self.words[word.entry].member_posteriors(whole)
        shape = (self.observation.num_frames, *objects.shape)
        return np.broadcast_to(objects, shape), joined.ordered(states)

    def evidence(self, sentence: Sentence, most: int) -> Array:
        """Return ``(C, L, NUM_EVIDENCE)`` evidence of each word on the best assignments."""
        if not self.observation.num_frames:
            return np.zeros((1, len(sentence.words), NUM_EVIDENCE))
        choices = self.choices(sentence)
        order = np.argsort(-choices.logs, axis=None, kind="stable")[:most]
        assigned = choices.things(order[np.isfinite(choices.logs.ravel()[order])])

        def logs_of(tables: WordTables, participants: tuple[int, ...]) -> Array:
            chosen: tuple[Any, ...] = (slice(None), *(assigned[p] for p in participants))
            return np.asarray(self._logs_of(tables.word.entry)[chosen])

        return word_evidence(self.words.joined(sentence), self.words, logs_of)

    def best_path(self, sentence: Sentence) -> BestPath:
        """Return the single best assignment of tracks, and the states of each word on them."""
        participants, frames = sentence.num_participants, self.observation.num_frames
        joined = self.words.joined(sentence)
        paths = [self._best_states(word.entry) for word in joined.words]
        factors = [
            (word.participants, scores)
            for word, (scores, _) in zip(joined.words, paths, strict=True)
        ]
        choices = weigh_choices(self.log_prior, factors, participants, heaviest=True)
        best = [int(each[0]) for each in choices.things(np.array([choices.logs.argmax()]))]
        states = []
        for word, (_, path) in zip(joined.words, paths, strict=True):
            for participant in word.participants:
                path = path[:, best[participant]]
            states += self.words[word.entry].member_states(path)
        objects = np.broadcast_to(np.array(best, dtype=np.int64), (frames, participants))
        return BestPath(
            float(choices.logs.max()), objects, np.stack(joined.ordered(states), axis=1)
        )

    def _logs_of(self, entry: str) -> Array:
        """Return ``(T, J, .., J, I)`` log ratios of a word on every choice of its arguments."""
        logs = self._logs.get(entry)
        if logs is None:
            logs = self._logs[entry] = self.words[entry].logs(self.observation)
        return logs

    def _scores_of(self, entry: str) -> Array:
        """Return ``(J, .., J)`` log scores of a word on every choice of its arguments."""
        scores = self._scores.get(entry)
        if scores is None:
            logs = self._logs_of(entry)
            chain = self.words[entry].word.chain(self.observation.num_frames)
            scores = chain_scores(_flat(logs), *chain).reshape(logs.shape[1:-1])
            scores = self._scores[entry] = scores + self._barrier(scores.ndim)
        return scores

    def _chain_posteriors(self, entry: str, share: Array) -> tuple[Array, Array]:
        """Return posteriors ``(T, J, .., J, I)`` and steps of a word, weighted by choices."""
        logs = self._logs_of(entry)
        kept = np.where(np.abs(share) > _NEGLIGIBLE, share, 0.0)
        chain = self.words[entry].word.chain(self.observation.num_frames)
        counted = chain_counts(_flat(logs), *chain, kept.ravel())
        return counted.states.reshape(logs.shape), counted.steps

    def _best_states(self, entry: str) -> tuple[Array, NDArray[np.int64]]:
        logs = self.words[entry].logs(self.observation)
        chain = self.words[entry].word.chain(self.observation.num_frames)
        scores, states = chain_paths(_flat(logs), *chain)
        shape = logs.shape[1:-1]
        return scores.reshape(shape) + self._barrier(len(shape)), states.reshape(logs.shape[:-1])

    def _barrier(self, arity: int) -> Array:
        """Return 0, but ``-inf`` where two arguments have a part in common."""
        overlap = self.observation.view.overlap
        if self.observation.view.participants != "tracklets":
            return distinct_arguments((len(overlap),) * arity)
        return _barrier(overlap, arity)


def _flat(logs: Array) -> Array:
    return logs.reshape(len(logs), -1, logs.shape[-1])


@lru_cache(maxsize=256)
def distinct_arguments(shape: tuple[int, ...]) -> Array:
    """Return 0, but ``-inf`` where two arguments of a word are the same visible object."""
    same = np.eye(shape[0], dtype=bool)
    same[-1, -1] = False
    barrier = _barrier(same, len(shape))
    barrier.setflags(write=False)
    return barrier


class LatticeScorer:
    """Scorer of a clip without tracks.

    Args:
        observation: The clip.
        tables: The words.
        prior: Weights of detections and of steps between them.
        threads: Number of lattices to compute at once.
    """

    def __init__(
        self,
        observation: Observation,
        tables: Mapping[str, WordTables],
        prior: TrackPrior,
        *,
        threads: int = 1,
    ) -> None:
        self.observation = observation
        self.words = CompoundTables(tables)
        self.threads = threads
        if observation.num_frames:
            self.unary, self.coherence = track_weights(observation.view, prior)
        self._emissions: dict[str, tuple[Array, float]] = {}
        self._counted: dict[Sentence, LatticeCounts] = {}

    def log_ratios(self, sentences: Sequence[Sentence]) -> Array:
        """Return ``(K,)`` log likelihood ratios of sentences against the background."""
        if not self.observation.num_frames:
            return np.zeros(len(sentences))
        scores: Sequence[LatticeScore]
        if all(sentence in self._counted for sentence in sentences):
            scores = [self._counted[sentence] for sentence in sentences]
        else:
            scores = scores_within_limits(list(map(self.lattice, sentences)), threads=self.threads)
        return np.array([score.log_likelihood for score in scores])

    def add_counts(
        self, sentences: Sequence[Sentence], shares: Array, counts: CountsByWord
    ) -> None:
        """Add the expected counts of every sentence, times its share, to ``counts``."""
        weighted = [(s, share) for s, share in zip(sentences, shares, strict=True) if share != 0.0]
        if not self.observation.num_frames or not weighted:
            return
        if all(sentence in self._counted for sentence, _ in weighted):
            counted = [self._counted[sentence] for sentence, _ in weighted]
        else:
            lattices = [self.lattice(sentence) for sentence, _ in weighted]
            counted = counts_within_limits(lattices, threads=self.threads)
        for (sentence, share), result in zip(weighted, counted, strict=True):
            for number, word in enumerate(self.words.joined(sentence).words):
                posterior = share * np.moveaxis(result.tables[number], 1, -1)
                steps = share * result.transitions[number]
                self.words[word.entry].add_counts(posterior, steps, self.observation, counts)

    def posteriors(self, sentence: Sentence) -> tuple[Array, list[Array]]:
        """Return ``(T, P, J)`` of the participants' objects, and per word ``(T, J, .., J, I)``."""
        (counted,) = counts_within_limits([self.lattice(sentence)], participants=True)
        assert counted.participants is not None  # requested above
        objects = np.moveaxis(counted.participants, 0, 1)
        joined = self.words.joined(sentence)
        parts = [
            part
            for word, table in zip(joined.words, counted.tables, strict=True)
            for part in self.words[word.entry].member_posteriors(np.moveaxis(table, 1, -1))
        ]
        return objects, joined.ordered(parts)

    def evidence(self, sentence: Sentence, most: int) -> Array:
        """Return ``(1, L, NUM_EVIDENCE)`` evidence of each word on the best assignment."""
        if not self.observation.num_frames:
            return np.zeros((1, len(sentence.words), NUM_EVIDENCE))
        path = self.best_path(sentence)
        frames = np.arange(self.observation.num_frames)

        def logs_of(tables: WordTables, participants: tuple[int, ...]) -> Array:
            chosen = (frames, *(path.objects[:, p] for p in participants))
            return np.asarray(tables.logs(self.observation)[chosen][:, None])

        return word_evidence(self.words.joined(sentence), self.words, logs_of)

    def best_path(self, sentence: Sentence) -> BestPath:
        """Return the single best assignment of detections and states."""
        (path,) = paths_within_limits([self.lattice(sentence)])
        joined = self.words.joined(sentence)
        states = [
            states
            for number, word in enumerate(joined.words)
            for states in self.words[word.entry].member_states(path.states[:, number])
        ]
        return BestPath(path.log_score, path.tracks, np.stack(joined.ordered(states), axis=1))

    def lattice(self, sentence: Sentence) -> Lattice:
        """Return the lattice of the clip and a sentence."""
        chains = []
        for word in self.words.joined(sentence).words:
            initial, transition, final = self.words[word.entry].word.chain(
                self.observation.num_frames
            )
            emission, scale = self._emission(word.entry)
            chains.append(WordChain(word.participants, initial, transition, emission, final, scale))
        return Lattice(sentence.num_participants, self.unary, self.coherence, tuple(chains))

    def _emission(self, entry: str) -> tuple[Array, float]:
        if entry not in self._emissions:
            logs = self.words[entry].logs(self.observation)
            logs = logs + distinct_arguments(logs.shape[1:-1])[None, ..., None]
            self._emissions[entry] = weights_from_logs(np.moveaxis(logs, -1, 1))
        return self._emissions[entry]


def compute_on_device(
    scorers: Sequence[object], sentences: Sequence[Sequence[Sentence]], device: str
) -> None:
    """Compute the lattices of many clips on a device at once, and keep the counts in the scorers.

    Args:
        scorers: The scorers of the clips; those with tracks are left as they are.
        sentences: Per clip its sentences.
        device: As for :func:`wordsight.inference.gpu.expected_counts_on`.
    """
    from wordsight.inference.gpu import expected_counts_on

    pairs = [
        (scorer, sentence)
        for scorer, several in zip(scorers, sentences, strict=True)
        if isinstance(scorer, LatticeScorer) and scorer.observation.num_frames
        for sentence in several
    ]
    results = expected_counts_on([scorer.lattice(sentence) for scorer, sentence in pairs], device)
    for (scorer, sentence), counts in zip(pairs, results, strict=True):
        scorer._counted[sentence] = counts


def track_weights(view: ClipView, prior: TrackPrior) -> tuple[Array, Array]:
    """Return the weights of detections ``(T, J)`` and of steps between them ``(T - 1, J, J)``.

    A detection of score s has weight sigma(scale * s), a step sigma((reach - d) / softness) where
    d is the distance of the new box from the predicted position of the old one. The unseen object
    has its own weight; steps to and from it have weight 1.
    """
    unary = np.where(view.present, _sigmoid(prior.detection_scale * view.scores), 0.0)
    unary[:, -1] = prior.unseen
    steps = np.diff(view.times)
    heading = np.nan_to_num(view.velocity[:-1]) * steps[:, None, None]
    expected = view.centres[:-1] + heading
    offset = view.centres[1:, None] - expected[:, :, None]
    stretch = np.sqrt(np.maximum(steps / _FRAME, 1.0))[:, None, None]
    distance = np.hypot(offset[..., 0], offset[..., 1]) / stretch
    coherence = _sigmoid((prior.reach - distance) / prior.softness)
    changed = view.labels[:-1, :, None] != view.labels[1:, None]
    coherence = np.where(changed, prior.label_change * coherence, coherence)
    coherence[:, -1, :] = 1.0
    coherence[:, :, -1] = 1.0
    return unary, coherence


def _barrier(same: NDArray[np.bool_], arity: int) -> Array:
    shape = same.shape[:1] * arity
    barrier = np.zeros(shape)
    for first in range(arity):
        for second in range(first):
            axes = [shape[axis] if axis in (first, second) else 1 for axis in range(arity)]
            barrier = barrier + np.where(same, -np.inf, 0.0).reshape(axes)
    return barrier


def _summed(table: Array, axes: tuple[int, ...]) -> Array:
    """Sum a table over all axes but the given ones, and put those in the given order."""
    rest, order = _rest_and_order(axes, table.ndim)
    total = np.asarray(table.sum(axis=rest) if rest else table)
    return total if order is None else total.transpose(order)


@lru_cache(maxsize=1024)
def _rest_and_order(
    axes: tuple[int, ...], count: int
) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """Return the axes that are not given, and how to transpose the given ones, if at all."""
    rest = tuple(axis for axis in range(count) if axis not in axes)
    ranks = tuple(int(rank) for rank in np.argsort(np.argsort(axes)))
    return rest, None if ranks == tuple(range(len(axes))) else ranks


# scipy's logsumexp differs in the last digits and takes many times as long on such short rows.
def _log_sum(logs: Array) -> float:
    top = float(logs.max())
    return top + float(np.log(np.exp(logs - top).sum())) if np.isfinite(top) else -np.inf


def _normalised(logs: Array) -> Array:
    top = logs.max()
    weights = np.exp(logs - top) if np.isfinite(top) else np.zeros_like(logs)
    return weights / max(float(weights.sum()), 1e-300)


def _sigmoid(values: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -700, 700))))
