"""Forward greedy merge (FGM): states by rules that are assumed to be always right.

Frames are read from left to right and pooled while their constraints are consistent; the state of a
pool is the least model of its constraints. One wrong constraint splits a pool, so rules are pruned
to few sound ones, and frames that contradict themselves or their neighbours can be removed first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.states.grounding.clauses import pack_bits
from wordsight.states.grounding.grounder import Grounding, ground
from wordsight.states.grounding.observations import StateObservations
from wordsight.states.rules.facts import StateSequence
from wordsight.states.rules.rule import Rule
from wordsight.states.rules.vocabulary import StateVocabulary
from wordsight.states.search.inference import greedy_merge

__all__ = ["MergeSettings", "select_for_merging"]


@dataclass(frozen=True)
class MergeSettings:
    """How rules for merging are chosen.

    Attributes:
        soundness: Least share of its applications in which a rule must be right.
        prune: Whether to keep few rules; otherwise all sound ones are kept.
        patiences: How many frames in a row cleaning may skip; the best on the labelled videos is
            chosen, 0 for no cleaning.
    """

    soundness: float = 1.0
    prune: bool = True
    patiences: tuple[int, ...] = (0, 1, 2, 4, 8)


def select_for_merging(
    rules: Sequence[Rule],
    observations: Sequence[StateObservations],
    states: Sequence[StateSequence],
    vocabulary: StateVocabulary,
    settings: MergeSettings | None = None,
) -> tuple[tuple[Rule, ...], int]:
    """Select a small set of sound rules that still predicts labelled videos.

    Rules are added one by one, the one that corrects most frames first, as long as one does; then
    rules are dropped without which as many videos and frames are right.

    Args:
        rules: Rules to choose from.
        observations: The videos.
        states: Their labels.
        vocabulary: Predicates and features of the rules.
        settings: How to choose.

    Returns:
        The rules, and how many frames in a row cleaning may skip.
    """
    chosen = settings or MergeSettings()
    videos = [
        _LabelledVideo(ground(rules, video, vocabulary), labels)
        for video, labels in zip(observations, states, strict=True)
    ]
    kept = _sound(videos, len(rules), chosen.soundness)
    if chosen.prune:
        kept = _thinned(videos, _chosen(videos, kept))
    patience = max(chosen.patiences, key=lambda p: (_score(videos, kept, p), -p))
    return tuple(rules[k] for k in kept), patience


def _sound(videos: list["_LabelledVideo"], count: int, soundness: float) -> list[int]:
    applied = sum((video.applied(count) for video in videos), np.zeros(count))
    broken = sum((video.broken(count) for video in videos), np.zeros(count))
    share = 1.0 - broken / np.maximum(applied, 1.0)
    return np.flatnonzero((share >= soundness) & (applied > 0)).tolist()


def _thinned(videos: list["_LabelledVideo"], chosen: list[int]) -> list[int]:
    best = _score(videos, chosen, 0)
    for rule in list(chosen):
        rest = [k for k in chosen if k != rule]
        score = _score(videos, rest, 0)
        if score >= best:
            best, chosen = score, rest
    return chosen


def _score(videos: list["_LabelledVideo"], chosen: list[int], patience: int) -> tuple[int, int]:
    """Return the numbers of videos and of frames that are right."""
    each = [video.score(chosen, patience) for video in videos]
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
