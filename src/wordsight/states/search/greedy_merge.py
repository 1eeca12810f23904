"""Forward greedy merge (FGM): states by rules that are assumed to be always right; a baseline.

Frames are read from left to right and pooled while their constraints are consistent; the state of a
pool is the least model of its constraints. One wrong constraint splits a pool, so rules are pruned
to few sound ones, and frames that contradict themselves or their neighbours can be removed first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.states.grounding.clauses import pack_bits, unpack_bits
from wordsight.states.grounding.grounder import Grounding, ground
from wordsight.states.grounding.observations import StateObservations
from wordsight.states.model import check_pairs, state_sequence
from wordsight.states.rules.facts import StateSequence
from wordsight.states.rules.rule import Rule
from wordsight.states.rules.vocabulary import StateVocabulary

__all__ = ["GreedyMerge", "greedy_merge"]


def greedy_merge(grounding: Grounding, *, patience: int = 0) -> NDArray[np.bool_]:
    """Infer states by pooling frames as long as their constraints are consistent.

    Args:
        grounding: A video with its rules; their weights are ignored.
        patience: Sequence cleaning: frames that contradict themselves are skipped, and so are up to
            this many in a row that contradict the pool, if the frame after them is consistent
            again. 0 for no cleaning.

    Returns:
        ``(T, F)`` which facts hold at which frame; skipped frames have the state of their pool.
    """
    from wordsight.states.kernels.greedy_merge import merge

    clauses = grounding.clauses
    active = np.zeros((len(grounding.observations), len(clauses)), dtype=np.bool_)
    for instance, clause in enumerate(grounding.clause_of):
        active[:, clause] |= grounding.fired[:, instance]
    words = merge(clauses.body_words, clauses.heads, active, patience)
    return unpack_bits(words, clauses.num_facts)


@dataclass
class GreedyMerge:
    """FGM as a model: prunes rules on labelled videos, then merges.

    Args:
        rules: Rules to choose from.
        vocabulary: Their predicates and features.
        patience: Most frames in a row that cleaning may skip; 0 for no cleaning.
        soundness: Least share of its applications in which a rule must be right.

    Attributes:
        rules_: The selected rules.
    """

    rules: Sequence[Rule]
    vocabulary: StateVocabulary
    patience: int = 0
    soundness: float = 0.995

    def __post_init__(self) -> None:
        self.rules_: tuple[Rule, ...] = tuple(self.rules)

    def fit(
        self,
        observations: Sequence[StateObservations],
        states: Sequence[StateSequence],
        *,
        prune: bool = True,
    ) -> "GreedyMerge":
        """Select a small set of sound rules that still predicts the labelled videos.

        Rules are added one by one, the one that corrects most frames first, as long as one does;
        then rules are dropped without which as many videos and frames are right.

        Args:
            observations: The videos.
            states: Their labels.
            prune: Whether to select few rules; otherwise all sound ones are kept.
        """
        check_pairs(observations, states)
        videos = [
            _LabelledVideo(ground(self.rules, video, self.vocabulary), labels)
            for video, labels in zip(observations, states, strict=True)
        ]
        kept = self._sound(videos)
        if prune:
            kept = self._thinned(videos, _chosen(videos, kept))
        self.rules_ = tuple(self.rules[k] for k in kept)
        return self

    def predict(self, observations: StateObservations) -> StateSequence:
        """Infer which facts hold at which time."""
        grounding = ground(self.rules_, observations, self.vocabulary)
        return state_sequence(grounding, greedy_merge(grounding, patience=self.patience))

    def _sound(self, videos: list["_LabelledVideo"]) -> list[int]:
        count = len(self.rules)
        applied = sum((video.applied(count) for video in videos), np.zeros(count))
        broken = sum((video.broken(count) for video in videos), np.zeros(count))
        share = 1.0 - broken / np.maximum(applied, 1.0)
        return np.flatnonzero((share >= self.soundness) & (applied > 0)).tolist()

    def _thinned(self, videos: list["_LabelledVideo"], chosen: list[int]) -> list[int]:
        best = self._score(videos, chosen)
        for rule in list(chosen):
            rest = [k for k in chosen if k != rule]
            score = self._score(videos, rest)
            if score >= best:
                best, chosen = score, rest
        return chosen

    def _score(self, videos: list["_LabelledVideo"], chosen: list[int]) -> tuple[int, int]:
        """Return the numbers of videos and of frames that are right."""
        each = [video.score(chosen, self.patience) for video in videos]
        return sum(right for right, _ in each), sum(frames for _, frames in each)


class _LabelledVideo:
    """One video with all rules and its labels."""

    def __init__(self, grounding: Grounding, truth: StateSequence):
        self._grounding = grounding
        self._truth = truth.table(grounding.facts)
        self._broken = grounding.broken(self._truth)
        self.heads = grounding.clauses.heads[grounding.clause_of]

    def applied(self, count: int) -> NDArray[np.float64]:
        """Return ``(R,)`` how often each rule applies."""
        g = self._grounding
        counts = np.bincount(g.rule_of, weights=g.fired.sum(axis=0), minlength=count)
        return counts.astype(np.float64)

    def broken(self, count: int) -> NDArray[np.float64]:
        """Return ``(R,)`` how often each rule is wrong."""
        wrong = self._broken.sum(axis=0)
        counts = np.bincount(self._grounding.rule_of, weights=wrong, minlength=count)
        return counts.astype(np.float64)

    def gain(self, rule: int, asserted: NDArray[np.bool_]) -> int:
        """Return how many true facts a rule asserts that are not asserted yet."""
        g = self._grounding
        gained = np.zeros_like(asserted)
        for instance in np.flatnonzero((g.rule_of == rule) & (self.heads >= 0)):
            gained[:, self.heads[instance]] |= g.fired[:, instance] & ~self._broken[:, instance]
        return int((gained & self._truth & ~asserted).sum())

    def add(self, rule: int, asserted: NDArray[np.bool_]) -> None:
        """Add the facts that a rule asserts."""
        g = self._grounding
        for instance in np.flatnonzero((g.rule_of == rule) & (self.heads >= 0)):
            asserted[:, self.heads[instance]] |= g.fired[:, instance]

    def asserts(self, rule: int) -> bool:
        """Return whether the head of a rule is a fact here, rather than *false*."""
        return bool((self.heads[self._grounding.rule_of == rule] >= 0).any())

    def none_asserted(self) -> NDArray[np.bool_]:
        """Return ``(T, F)`` false values to start from."""
        return np.zeros_like(self._truth)

    def score(self, chosen: list[int], patience: int) -> tuple[bool, int]:
        """Return whether the sequence of states is right, and how many frames are."""
        g = self._grounding
        kept = np.isin(g.rule_of, chosen)
        part = Grounding(
            g.observations, g.rules, g.facts, g.clauses, g.fired[:, kept], g.rule_of[kept],
            g.clause_of[kept], (),
        )  # fmt: skip
        states = greedy_merge(part, patience=patience)
        frames = int((states == self._truth).all(axis=1).sum())
        return _runs(states) == _runs(self._truth), frames


def _runs(values: NDArray[np.bool_]) -> bytes:
    words = pack_bits(values)
    changed = np.concatenate([[True], (words[1:] != words[:-1]).any(axis=1)])
    return bytes(words[changed].tobytes())


def _chosen(videos: list[_LabelledVideo], sound: list[int]) -> list[int]:
    """Choose all sound constraints, and greedily those rules that assert facts."""
    asserted = [video.none_asserted() for video in videos]
    asserting = [k for k in sound if any(video.asserts(k) for video in videos)]
    chosen = [k for k in sound if k not in set(asserting)]

    def gain(rule: int) -> int:
        return sum(v.gain(rule, table) for v, table in zip(videos, asserted, strict=True))

    gains = {k: gain(k) for k in asserting}
    while gains:
        # Lazy greedy selection: a gain never grows, so only the best candidate is counted again.
        best = max(gains, key=lambda k: (gains[k], -k))
        if gains[best] == 0:
            break
        now = gain(best)
        if now < gains[best]:
            gains[best] = now
            continue
        chosen.append(best)
        for video, table in zip(videos, asserted, strict=True):
            video.add(best, table)
        del gains[best]
    return chosen
