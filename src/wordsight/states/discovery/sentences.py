r"""Facts learned from sentences instead of labels.

When something is held is not labelled; people say *the person moved the cup*. Whether a fact holds
at a moment is therefore a latent variable between what is measured then and the words that are said
of its things: it generates both, and it seldom changes. The model of one fact, with moments
:math:`t`, measured bins :math:`x_{td}` and the role :math:`r_t` of its things in what is said,

.. math:: p(z_1) \prod_t p(z_t \mid z_{t-1}) \, p(r_t \mid z_t)
          \prod_d p(x_{td} \mid z_t)^{\lambda},

is learned by expectation maximisation with forward and backward passes, as word meanings are, from
the one assumption that what is mentioned more often takes part in the fact than what is not.
:math:`\lambda` makes measurements, which depend on each other, count as a few independent ones. The
facts found this way are labels from which rules are learned as from any others.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import StateError
from wordsight.progress import Progress, report
from wordsight.states.discovery.samples import (
    UNKNOWN,
    SampleSettings,
    SampleTable,
    gather_samples,
)
from wordsight.states.grounding.observations import StateObservations
from wordsight.states.rules.facts import Fact, StateSequence
from wordsight.states.rules.vocabulary import Predicate, StateVocabulary

__all__ = ["FactsFromSentences", "SentenceSettings", "TimedSentence", "WordRole", "facts_said"]

Array = NDArray[np.float64]

_ARTICLES = frozenset({"a", "an", "the"})
_SILENT, _RARE = "", "mentioned"


class TimedSentence(NamedTuple):
    """What is said of a stretch of a video, in seconds."""

    start: float
    end: float
    text: str


@dataclass(frozen=True)
class SentenceSettings:
    """How facts are learned from sentences.

    Attributes:
        iterations: Rounds of expectation maximisation.
        listening: From which round on words are believed: before, only where they are said counts,
            since what they say must first show in what is measured.
        evidence: All measurements of a moment count as so many independent ones.
        num_thresholds: Thresholds per feature, at quantiles.
        mentioned: Probability that the fact holds where its things are mentioned, at first.
        silent: The same where they are not.
        stays: Probability at first that a fact stays as it is from moment to moment.
        least_said: Sentences of a role that is said less often are lumped together.
    """

    iterations: int = 20
    listening: int = 6
    evidence: float = 7.0
    num_thresholds: int = 9
    mentioned: float = 0.9
    silent: float = 0.02
    stays: float = 0.97
    least_said: int = 3

    def __post_init__(self) -> None:
        shares = (self.mentioned, self.silent, self.stays)
        if self.iterations < 1 or not self.evidence > 0 or not all(0 < s < 1 for s in shares):
            raise StateError(
                "iterations and evidence must be positive, probabilities between 0 and 1, got "
                f"{self}."
            )


class WordRole(NamedTuple):
    """A role that the last thing of a fact has in what is said, such as ``_ moved``.

    Attributes:
        words: The words before it, other things as ``_``; empty where it is not mentioned.
        moments: At how many moments it has this role.
        holds: At which share of them the fact holds, as learned.
    """

    words: str
    moments: int
    holds: float


@dataclass(frozen=True, eq=False)
class FactsFromSentences:
    """Facts over time that sentences and measurements imply.

    Attributes:
        states: Per video when facts hold.
        roles: What the words came to mean, the most frequent first.
        history: Mean log of the objective per moment in each iteration, which rises.
    """

    states: list[StateSequence]
    roles: tuple[WordRole, ...]
    history: tuple[float, ...]


def facts_said(
    predicate: Predicate,
    observations: Sequence[StateObservations],
    sentences: Sequence[Sequence[TimedSentence]],
    vocabulary: StateVocabulary,
    settings: SentenceSettings | None = None,
    *,
    progress: Progress | None = None,
) -> FactsFromSentences:
    """Learn when facts hold from what is said.

    Args:
        predicate: The fact, with the kinds of its things; sentences tell of the last of these.
        observations: The videos.
        sentences: Per video what is said of it when.
        vocabulary: The features.
        settings: How to learn.
        progress: Called after each iteration.

    Raises:
        StateError: If there is nothing to learn from.
    """
    chosen = settings or SentenceSettings()
    blank = [
        StateSequence(v.video_id, v.times, (), np.zeros((len(v), 0), bool)) for v in observations
    ]
    table = gather_samples(
        predicate,
        observations,
        blank,
        vocabulary,
        SampleSettings(num_thresholds=chosen.num_thresholds, most_rows=10**9),
    )
    if not len(table):
        raise StateError(
            f"no video shows things of the kinds {', '.join(predicate.types)} together; say what "
            "labels are with --kind LABEL=KIND or --hand WORD, and name the kinds of the fact."
        )
    words, roles = _roles(table, observations, sentences, chosen)
    if not roles.any():
        names = sorted({thing.name for video in observations for thing in video.objects})
        raise StateError(
            "no sentence mentions one of the things by its name, so nothing can be learned from "
            f"them; things are called {', '.join(names[:8])}."
        )
    learner = _Learner(table, roles, len(words), chosen)
    history = [
        learner.iterate()
        for _ in report(range(chosen.iterations), progress, "learning facts", chosen.iterations)
    ]
    holds = learner.holds[:, 1]
    moments = np.bincount(roles, minlength=len(words))
    shares = np.bincount(roles, holds, minlength=len(words)) / np.maximum(moments, 1)
    order = np.argsort(-moments, kind="stable").tolist()
    return FactsFromSentences(
        _sequences(predicate, table, observations, holds > 0.5),
        tuple(
            WordRole(words[k], int(moments[k]), round(float(shares[k]), 4))
            for k in order
            if moments[k]
        ),
        tuple(history),
    )


def spoken_roles(text: str, names: Sequence[str]) -> dict[str, str]:
    """Return the role of each thing that a sentence mentions: the words before it.

    A thing is mentioned by its name; *the cup* may be any of cup-1 and cup-2. Other things are
    written ``_``; what is mentioned first of all has the words after it, up to the next thing, as
    its role.

    Examples:
        >>> spoken_roles("The person placed the box in the oven", ["person", "box", "oven"])
        {'person': '* placed', 'box': '_ placed', 'oven': '_ placed _ in'}
    """
    whole = {name.lower() for name in names}
    calls = {name: {name.lower()} for name in names}
    for name, called in calls.items():
        plain = re.sub(r"[\s_#-]*\d+$", "", name).lower()
        called |= {plain} - whole - {""}
    known = sorted(set().union(*calls.values()), key=lambda word: (-len(word), word))
    if not known:
        return {}
    pieces = re.split(rf"\b({'|'.join(map(re.escape, known))})(?:e?s)?\b", text.lower())
    gaps = [[w for w in re.findall(r"\w+", p) if w not in _ARTICLES] for p in pieces[::2]]
    found: dict[str, str] = {}
    for k, word in enumerate(pieces[1::2]):
        before = [w for gap in gaps[:k] for w in (*gap, "_")] + gaps[k]
        role = " ".join(before) if before else " ".join(("*", *gaps[k + 1]))
        found.setdefault(word, role)
    return {name: found[word] for name, called in calls.items() for word in called & found.keys()}


def _roles(
    table: SampleTable,
    observations: Sequence[StateObservations],
    sentences: Sequence[Sequence[TimedSentence]],
    settings: SentenceSettings,
) -> tuple[list[str], NDArray[np.int64]]:
    """Return the roles, the first that of what is not mentioned, and ``(N,)`` those of samples."""
    said: list[list[tuple[TimedSentence, dict[str, str]]]] = []
    counts: dict[str, int] = {}
    for video, lines in zip(observations, sentences, strict=True):
        names = [thing.name for thing in video.objects]
        said.append([(line, spoken_roles(line.text, names)) for line in lines])
        for _, found in said[-1]:
            for role in found.values():
                counts[role] = counts.get(role, 0) + 1
    common = sorted(role for role, count in counts.items() if count >= settings.least_said)
    words = [_SILENT, _RARE, *common]
    numbers = {role: k for k, role in enumerate(words)}
    roles = np.zeros(len(table), dtype=np.int64)
    for number, (video, told) in enumerate(zip(observations, said, strict=True)):
        rows = np.flatnonzero(table.video == number)
        times, last = video.times[table.frame[rows]], table.places[rows, -1]
        for line, found in told:
            during = (times >= line.start) & (times < line.end)
            for place, thing in enumerate(video.objects):
                if thing.name in found:
                    known = numbers.get(found[thing.name], numbers[_RARE])
                    roles[rows[during & (last == place)]] = known
    return words, roles


def _sequences(
    predicate: Predicate,
    table: SampleTable,
    observations: Sequence[StateObservations],
    holds: NDArray[np.bool_],
) -> list[StateSequence]:
    sequences = []
    for number, video in enumerate(observations):
        rows = np.flatnonzero(table.video == number)
        places, column = np.unique(table.places[rows], axis=0, return_inverse=True)
        values = np.zeros((len(video), len(places)), dtype=np.bool_)
        values[table.frame[rows], column.ravel()] = holds[rows]
        facts = [
            Fact(predicate.name, tuple(video.objects[k].name for k in place))
            for place in places.tolist()
        ]
        sequences.append(StateSequence(video.video_id, video.times, tuple(facts), values))
    return sequences


class _Learner:
    """Expectation maximisation over chains of moments, one chain per video and things."""

    def __init__(
        self, table: SampleTable, roles: NDArray[np.int64], count: int, settings: SentenceSettings
    ):
        self._bins = np.where(table.bins == UNKNOWN, settings.num_thresholds + 1, table.bins)
        self._roles, self._count = roles, count
        self._weight = settings.evidence / max(1, len(table.bins))
        keys = np.column_stack([table.video, table.places])
        first = np.concatenate([[True], (keys[1:] != keys[:-1]).any(axis=1)])
        starts = np.flatnonzero(first)
        chain = np.cumsum(first) - 1
        # Chains side by side, so that all of them take a step in time together.
        self._at = (chain, np.arange(len(table)) - starts[chain])
        self._shape = (len(starts), int(self._at[1].max()) + 1)
        self._real = np.zeros(self._shape, dtype=np.bool_)
        self._real[self._at] = True
        said = np.where(roles > 0, settings.mentioned, settings.silent)
        self.holds = np.stack([1 - said, said], axis=1)
        stays = settings.stays
        self._steps = np.array([[stays, 1 - stays], [1 - stays, stays]])
        self._first = self.holds[starts].mean(axis=0)
        self._words: Array | None = None  # at first nothing is known of them
        self._unheard = settings.listening

    def iterate(self) -> float:
        """Do one round; return the mean log of the objective per moment."""
        odds = self._weight * self._measured()
        if self._words is not None:
            odds = odds + self._words[self._roles]
        self.holds, steps, objective = self._passed(odds)
        self._first = self.holds[self._at[1] == 0].mean(axis=0) + 1e-6
        self._first /= self._first.sum()
        self._steps = (steps + 1e-3) / (steps + 1e-3).sum(axis=1, keepdims=True)
        self._unheard -= 1
        if self._unheard <= 0:
            self._words = _log_shares(self._roles, self.holds, self._count)
        return objective / len(self.holds)

    def _measured(self) -> Array:
        """Return ``(N, 2)`` the log-probability of what is measured, summed over features."""
        total = np.zeros((len(self.holds), 2))
        unknown = int(self._bins.max(initial=0)) + 1
        for column in self._bins:
            logs = _log_shares(column, self.holds, unknown)
            total += logs[column]
        return total

    def _passed(self, logs: Array) -> tuple[Array, Array, float]:
        """Return posteriors ``(N, 2)``, expected steps ``(2, 2)`` and the log of the objective."""
        top = logs.max(axis=1, keepdims=True)
        seen = np.ones((*self._shape, 2))
        seen[self._at] = np.exp(logs - top)
        length, real = self._shape[1], self._real
        forward, scale = np.zeros((*self._shape, 2)), np.ones(self._shape)
        now = self._first * seen[:, 0]
        for t in range(length):
            if t:
                now = (forward[:, t - 1] @ self._steps) * seen[:, t]
            scale[:, t] = np.where(real[:, t], now.sum(axis=1), 1.0)
            forward[:, t] = now / now.sum(axis=1, keepdims=True)
        backward, steps = np.ones((*self._shape, 2)), np.zeros((2, 2))
        for t in range(length - 2, -1, -1):
            ahead = seen[:, t + 1] * backward[:, t + 1] / scale[:, t + 1, None]
            ahead = np.where(real[:, t + 1, None], ahead, 0.0)
            steps += self._steps * (forward[:, t].T @ ahead)
            backward[:, t] = np.where(real[:, t + 1, None], ahead @ self._steps.T, 1.0)
        both = (forward * backward)[self._at]
        objective = float(np.log(scale[real]).sum() + top.sum())
        return both / both.sum(axis=1, keepdims=True), steps, objective


def _log_shares(values: NDArray[np.integer], holds: Array, count: int) -> Array:
    """Return ``(count, 2)`` the log-probability of each value given the fact, and its absence."""
    counts = np.stack([np.bincount(values, holds[:, z], minlength=count) for z in (0, 1)], axis=1)
    return np.asarray(np.log((counts + 1) / (counts + 1).sum(axis=0)))
