"""Forward greedy merge (FGM): states by rules that are assumed to be always right; a baseline.

Frames are read from left to right and pooled while their constraints are consistent; the state of a
pool is the least model of its constraints. One wrong constraint splits a pool, so rules are pruned
to few sound ones, and frames that contradict themselves or their neighbours can be removed first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.states.errors import StateError
from wordsight.states.grounding.clauses import pack_bits, unpack_bits
from wordsight.states.grounding.grounder import Grounding, ground
from wordsight.states.grounding.observations import StateObservations
from wordsight.states.model import state_sequence
from wordsight.states.rules.facts import StateSequence
from wordsight.states.rules.rule import Rule
from wordsight.states.rules.vocabulary import StateVocabulary

__all__ = ["GreedyMerge", "greedy_merge"]


def greedy_merge(grounding: Grounding, *, patience: int = 0) -> NDArray[np.bool_]:
    """Infer states by pooling moments as long as their constraints can hold together.

    Args:
        grounding: A video with its rules; weights do not matter.
        patience: Sequence cleaning: moments that contradict themselves are left out, and so are up
            to this many in a row that contradict the pool, if the moment after them fits again. 0
            for none.

    Returns:
        ``(T, F)`` which facts hold when; moments left out take the state of their pool.
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
        vocabulary: Predicates and features they speak of.
        patience: Moments that cleaning may leave out in a row; 0 for no cleaning.
        soundness: Share of its applications in which a rule must be right to be looked at.

    Attributes:
        rules_: The rules that are left.
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
        """Keep a small set of sound rules that still gets the labelled videos right.

        Rules are added one by one, the one first that corrects most moments, as long as one does;
        then those are dropped without which as many videos come out right, and as many moments.

        Args:
            observations: What is measured in each video.
            states: What holds when.
            prune: Whether to keep few rules; else all that are sound.
        """
        if not observations or len(observations) != len(states):
            raise StateError(
                f"{len(observations)} videos and {len(states)} labels came; give as many labels as "
                "videos, and at least one."
            )
        videos = [
            _Labelled(ground(self.rules, seen, self.vocabulary), truth)
            for seen, truth in zip(observations, states, strict=True)
        ]
        kept = self._sound(videos)
        if prune:
            kept = self._thinned(videos, _chosen(videos, kept))
        self.rules_ = tuple(self.rules[k] for k in kept)
        return self

    def predict(self, observations: StateObservations) -> StateSequence:
        """Infer which facts hold when."""
        grounding = ground(self.rules_, observations, self.vocabulary)
        return state_sequence(grounding, greedy_merge(grounding, patience=self.patience))

    def _sound(self, videos: list["_Labelled"]) -> list[int]:
        count = len(self.rules)
        applied = sum((video.applied(count) for video in videos), np.zeros(count))
        broken = sum((video.broken(count) for video in videos), np.zeros(count))
        share = 1.0 - broken / np.maximum(applied, 1.0)
        return np.flatnonzero((share >= self.soundness) & (applied > 0)).tolist()

    def _thinned(self, videos: list["_Labelled"], chosen: list[int]) -> list[int]:
        best = self._score(videos, chosen)
        for rule in list(chosen):
            rest = [k for k in chosen if k != rule]
            score = self._score(videos, rest)
            if score >= best:
                best, chosen = score, rest
        return chosen

    def _score(self, videos: list["_Labelled"], chosen: list[int]) -> tuple[int, int]:
        """Return how many videos are right, and how many moments: while no video is, those tell."""
        each = [video.score(chosen, self.patience) for video in videos]
        return sum(right for right, _ in each), sum(moments for _, moments in each)


class _Labelled:
    """One video with all rules, and what is true of it."""

    def __init__(self, grounding: Grounding, truth: StateSequence):
        self._grounding = grounding
        self._truth = truth.table(grounding.facts)
        self._broken = grounding.broken(self._truth)
        self.heads = grounding.clauses.heads[grounding.clause_of]

    def applied(self, count: int) -> NDArray[np.float64]:
        """Return ``(R,)`` how often each rule's observed part holds."""
        g = self._grounding
        counts = np.bincount(g.rule_of, weights=g.fired.sum(axis=0), minlength=count)
        return counts.astype(np.float64)

    def broken(self, count: int) -> NDArray[np.float64]:
        """Return ``(R,)`` how often each rule is wrong."""
        wrong = self._broken.sum(axis=0)
        counts = np.bincount(self._grounding.rule_of, weights=wrong, minlength=count)
        return counts.astype(np.float64)

    def gain(self, rule: int, told: NDArray[np.bool_]) -> int:
        """Return how many true facts, not told yet, a rule tells of the moments it applies to."""
        g = self._grounding
        mine = np.flatnonzero((g.rule_of == rule) & (self.heads >= 0))
        gained = np.zeros_like(told)
        for instance in mine:
            gained[:, self.heads[instance]] |= g.fired[:, instance] & ~self._broken[:, instance]
        return int((gained & self._truth & ~told).sum())

    def tell(self, rule: int, told: NDArray[np.bool_]) -> None:
        """Note what a rule tells."""
        g = self._grounding
        for instance in np.flatnonzero((g.rule_of == rule) & (self.heads >= 0)):
            told[:, self.heads[instance]] |= g.fired[:, instance]

    def tells(self, rule: int) -> bool:
        """Whether the rule has a fact as its head here, rather than *false*."""
        return bool((self.heads[self._grounding.rule_of == rule] >= 0).any())

    def nothing_told(self) -> NDArray[np.bool_]:
        """Return ``(T, F)`` falsehoods to start from."""
        return np.zeros_like(self._truth)

    def score(self, chosen: list[int], patience: int) -> tuple[bool, int]:
        """Whether the chosen rules give the labels' compressed sequence, and how many moments."""
        g = self._grounding
        kept = np.isin(g.rule_of, chosen)
        part = Grounding(
            g.observations, g.rules, g.facts, g.clauses, g.fired[:, kept], g.rule_of[kept],
            g.clause_of[kept], (),
        )  # fmt: skip
        found = greedy_merge(part, patience=patience)
        moments = int((found == self._truth).all(axis=1).sum())
        return _runs(found) == _runs(self._truth), moments


def _runs(values: NDArray[np.bool_]) -> bytes:
    words = pack_bits(values)
    changed = np.concatenate([[True], (words[1:] != words[:-1]).any(axis=1)])
    return bytes(words[changed].tobytes())


def _chosen(videos: list[_Labelled], sound: list[int]) -> list[int]:
    """Choose all sound constraints, and of the rules that tell facts the most telling first."""
    told = [video.nothing_told() for video in videos]
    telling = [k for k in sound if any(video.tells(k) for video in videos)]
    chosen = [k for k in sound if k not in set(telling)]
    gains = {k: sum(v.gain(k, t) for v, t in zip(videos, told, strict=True)) for k in telling}
    while gains:
        # Lazy greed: what a rule adds never grows, so only the front runner is counted again.
        best = max(gains, key=lambda k: (gains[k], -k))
        if gains[best] == 0:
            break
        now = sum(v.gain(best, t) for v, t in zip(videos, told, strict=True))
        if now < gains[best]:
            gains[best] = now
            continue
        chosen.append(best)
        for video, table in zip(videos, told, strict=True):
            video.tell(best, table)
        del gains[best]
    return chosen
