"""Scoring a clip whose detections have no identities: tracks and words solved in one lattice.

A track may take any detection in any frame; detection scores and temporal coherence weigh it, as in
Eqs. 1 and 3 of the paper, and a participant may be unseen for a while.
"""

from collections.abc import Mapping, Sequence

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
from wordsight.meaning.features import ClipView, Observation
from wordsight.meaning.scoring.evidence import NUM_EVIDENCE, word_evidence
from wordsight.meaning.scoring.scorer import BestPath, CountsByWord, TrackPrior
from wordsight.meaning.scoring.tables import CompoundTables, WordTables
from wordsight.meaning.scoring.track_scorer import distinct_arguments
from wordsight.records import Sentence

__all__ = ["LatticeScorer", "compute_on_device", "track_weights"]

Array = NDArray[np.float64]

_FRAME = 1 / 40
"""Seconds between frames of the paper's videos, for which reach and softness hold."""


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


def _sigmoid(values: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -700, 700))))
