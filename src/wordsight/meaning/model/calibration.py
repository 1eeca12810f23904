"""Making sentences with different verbs comparable: one scale and one bias per verb.

Features of a verb depend on one another, and some verbs have more of them than others, so that raw
log ratios are too sure by a different factor for every verb. Scales and biases are fitted so that
the true sentence is preferred among candidates; how long the event lasts and how usual it is to say
such a thing add their own evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar

from wordsight.meaning.checks import require_number, require_numbers
from wordsight.meaning.errors import MeaningError
from wordsight.meaning.model.role_priors import RolePriors

__all__ = [
    "Calibration",
    "Durations",
    "Question",
    "bounded",
    "fit_calibration",
    "fit_durations",
    "fit_role_prior_weight",
]

Array = NDArray[np.float64]

_SCALE_PRIOR = 2e-3  # per question: keeps the log scales of verbs near each other
_BIAS_PRIOR = 0.1
_FARTHEST = 500.0  # below the best candidate of a question, in log ratio
_SCALE_BOUNDS = (-7.0, 3.0)  # of the log of a scale
_START_SCALE = 0.3  # what correlated features leave of a log ratio, before anything is fitted


@dataclass(frozen=True)
class Durations:
    """How long events last, as log ratios against all clips.

    Attributes:
        edges: ``(D - 1,)`` cuts in seconds; empty if durations are not used.
        ratios: Per verb ``(D,)`` log ratio of its clips to all clips.
        weight: What the ratios are multiplied by.
    """

    edges: Array = field(default_factory=lambda: np.zeros(0))
    ratios: dict[str, Array] = field(default_factory=dict)
    weight: float = 0.0

    def __call__(self, verbs: Sequence[str], duration: float) -> Array:
        """Return the unweighted log ratio of each verb for a clip that lasts so many seconds."""
        place = int(np.digitize(duration, self.edges))
        known = self.ratios
        return np.array([known[v][place] if v in known else 0.0 for v in verbs])


@dataclass(frozen=True)
class Calibration:
    """What makes the log ratios of sentences comparable.

    Attributes:
        scales: Per verb the factor of the log ratio; :attr:`other_scale` for verbs not listed.
        biases: Per verb what is added; 0 for verbs not listed.
        durations: Evidence of how long the clip lasts.
        other_scale: The factor for sentences whose verb is not listed.
        habits: Evidence of how usual it is to say such a thing.
    """

    scales: dict[str, float] = field(default_factory=dict)
    biases: dict[str, float] = field(default_factory=dict)
    durations: Durations = field(default_factory=Durations)
    other_scale: float = 1.0
    habits: RolePriors = field(default_factory=RolePriors)

    def preferences(
        self,
        ratios: Array,
        verbs: Sequence[str],
        duration: float | None,
        usual: Array | Sequence[float] = (),
    ) -> Array:
        """Return ``(K,)`` calibrated scores of sentences about one clip.

        Args:
            ratios: Their log ratios.
            verbs: Their verbs.
            duration: Seconds the clip lasts; None where its bounds are arbitrary.
            usual: How usual they are, by :attr:`habits`; nothing where that does not count.
        """
        scale = np.array([self.scales.get(verb, self.other_scale) for verb in verbs])
        bias = np.array([self.biases.get(verb, 0.0) for verb in verbs])
        lasting = np.zeros(len(verbs))
        if duration is not None and self.durations.weight:
            lasting = self.durations.weight * self.durations(verbs, duration)
        said = self.habits.weight * np.asarray(usual, dtype=np.float64) if len(usual) else 0.0
        return np.asarray(scale * ratios + bias + lasting + said)

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can hold of it."""
        ratios = {verb: row.tolist() for verb, row in self.durations.ratios.items()}
        return {
            "scales": dict(self.scales),
            "biases": dict(self.biases),
            "other_scale": self.other_scale,
            "duration_edges": self.durations.edges.tolist(),
            "duration_ratios": ratios,
            "duration_weight": self.durations.weight,
            "habits": self.habits.to_json(),
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Calibration":
        """Undo :meth:`to_json`."""
        durations = Durations(
            np.array(values["duration_edges"], dtype=np.float64),
            {
                verb: np.array(row, dtype=np.float64)
                for verb, row in values["duration_ratios"].items()
            },
            float(values["duration_weight"]),
        )
        most = len(durations.edges) + 1
        if not all(row.shape == (most,) for row in durations.ratios.values()):
            raise MeaningError(f"{most - 1} edges of durations make {most} log ratios per verb.")
        if not (np.diff(durations.edges) >= 0).all():
            raise MeaningError("edges of durations are rising numbers.")
        scales = require_numbers("the scale", values["scales"])
        biases = require_numbers("the bias", values["biases"])
        require_number("other_scale", values["other_scale"], above=0.0)
        # Lexicons of earlier versions have no habits.
        habits = RolePriors.from_json(values["habits"]) if "habits" in values else RolePriors()
        return cls(scales, biases, durations, float(values["other_scale"]), habits)


@dataclass(frozen=True)
class Question:
    """A clip with candidate sentences, one of them true.

    Attributes:
        ratios: ``(K,)`` log ratios of the candidates.
        verbs: Their verbs.
        duration: Seconds the clip lasts.
        truth: Which candidate is true.
        usual: How usual each candidate is by all other questions; empty if that is not asked.
    """

    ratios: Array
    verbs: tuple[str, ...]
    duration: float
    truth: int
    usual: tuple[float, ...] = ()


def fit_durations(
    durations: Sequence[float], verbs: Sequence[str], *, bins: int = 5, smoothing: float = 3.0
) -> Durations:
    """Learn how long the events of each verb last.

    Args:
        durations: Seconds of each training clip.
        verbs: The verb of its true sentence.
        bins: Into how many bins durations are cut, with equally many clips in each.
        smoothing: How many imagined clips, spread like all clips, each verb has behind it.
    """
    values = np.asarray(durations, dtype=np.float64)
    edges = np.quantile(values, np.arange(1, bins) / bins) if len(values) else np.zeros(0)
    places = np.digitize(values, edges)
    found = np.bincount(places, minlength=bins)
    share = found / max(1, len(values)) + 1e-9
    ratios = {}
    for verb in sorted(set(verbs)):
        mine = places[[v == verb for v in verbs]]
        counts = np.bincount(mine, minlength=bins) + smoothing * share
        ratio = np.log(counts / counts.sum()) - np.log(share / share.sum())
        ratios[verb] = np.where(found > 0, ratio, 0.0)
    return Durations(np.asarray(edges, dtype=np.float64), ratios, 1.0)


def fit_calibration(
    questions: Sequence[Question], durations: Durations
) -> tuple[Calibration, float]:
    """Fit scales, biases and the weight of durations by the likelihood of the true candidates.

    Returns:
        The calibration and the mean log probability it gives to the true candidate, priors
        included: the measure by which restarts are compared.
    """
    if not questions:
        return Calibration(durations=durations), -np.inf
    problem = _Problem(questions, durations)
    found = minimize(
        problem.loss,
        problem.start(),
        jac=True,
        method="L-BFGS-B",
        bounds=problem.bounds(),
        options={"maxiter": 300},
    )
    return problem.calibration(found.x), -float(found.fun) / len(questions)


def fit_role_prior_weight(questions: Sequence[Question], calibration: Calibration) -> float:
    """Fit what habits count for, from 0 to 1, beside a calibration that knows nothing of them.

    At 1 they count as Bayes' rule has it; less if they would mislead more often than they help.
    """
    told = [question for question in questions if question.usual]
    if not told:
        return 0.0
    sure = [calibration.preferences(bounded(q.ratios), q.verbs, q.duration) for q in told]

    def loss(weight: float) -> float:
        total = 0.0
        for question, values in zip(told, sure, strict=True):
            x = values + weight * np.asarray(question.usual)
            total += float(np.logaddexp.reduce(x) - x[question.truth])
        return total

    found = minimize_scalar(loss, bounds=(0.0, 1.0), method="bounded")
    return float(found.x)


def bounded(ratios: Array) -> Array:
    """Return log ratios that are finite, the least not too far below the best."""
    best = float(np.max(ratios, initial=-np.inf))
    if not np.isfinite(best):
        return np.zeros_like(ratios)
    return np.maximum(ratios, best - _FARTHEST)


class _Problem:
    """The questions padded into arrays ``(N, K)``, and the loss of log scales, biases, weight."""

    def __init__(self, questions: Sequence[Question], durations: Durations) -> None:
        self.verbs = sorted({verb for question in questions for verb in question.verbs})
        number = {verb: index for index, verb in enumerate(self.verbs)}
        shape = len(questions), max(len(q.verbs) for q in questions)
        self.ratios, self.lasting = np.zeros(shape), np.zeros(shape)
        self.verb, self.asked = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool)
        for row, q in enumerate(questions):
            here = slice(len(q.verbs))
            # Impossible candidates are never chosen anyway; as numbers they would swamp the rest.
            self.ratios[row, here] = bounded(q.ratios)
            self.lasting[row, here] = durations(q.verbs, q.duration)
            self.verb[row, here] = [number[verb] for verb in q.verbs]
            self.asked[row, here] = True
        self.truth = np.array([q.truth for q in questions])
        self.durations = durations

    def start(self) -> Array:
        count = len(self.verbs)
        return np.concatenate([np.full(count, np.log(_START_SCALE)), np.zeros(count), [0.5]])

    def bounds(self) -> list[tuple[float | None, float | None]]:
        count = len(self.verbs)
        return [_SCALE_BOUNDS] * count + [(None, None)] * (count + 1)

    def loss(self, values: Array) -> tuple[float, Array]:
        count, questions = len(self.verbs), len(self.truth)
        logs, biases, weight = values[:count], values[count : 2 * count], values[-1]
        scaled = np.exp(logs)[self.verb] * self.ratios
        x = np.where(self.asked, scaled + biases[self.verb] + weight * self.lasting, -np.inf)
        x -= x.max(axis=1, keepdims=True)
        x -= np.log(np.exp(x).sum(axis=1, keepdims=True))
        rows = np.arange(questions)
        error = np.exp(x)
        error[rows, self.truth] -= 1
        spread = logs - logs.mean()
        loss = -x[rows, self.truth].sum() + _SCALE_PRIOR / 2 * questions * (spread**2).sum()
        loss += _BIAS_PRIOR / 2 * (biases**2).sum()
        slopes = [
            self._per_verb(error * scaled) + _SCALE_PRIOR * questions * spread,
            self._per_verb(error) + _BIAS_PRIOR * biases,
            [(error * self.lasting).sum()],
        ]
        return float(loss), np.concatenate(slopes)

    def calibration(self, values: Array) -> Calibration:
        count = len(self.verbs)
        scales = np.exp(values[:count])
        durations = Durations(self.durations.edges, self.durations.ratios, float(values[-1]))
        return Calibration(
            {verb: float(scale) for verb, scale in zip(self.verbs, scales, strict=True)},
            {verb: float(b) for verb, b in zip(self.verbs, values[count:-1], strict=True)},
            durations,
            float(np.exp(values[:count].mean())),
        )

    def _per_verb(self, values: Array) -> Array:
        return np.asarray(np.bincount(self.verb.ravel(), values.ravel(), len(self.verbs)), float)
