"""Fitting how comparable sentences are: scales, biases, durations and the weight of role priors.

They make the true sentence most probable among its candidates, asked of words as they would be
without the clip.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.model.calibration import Calibration, Durations
from wordsight.meaning.training.corpus import TrainingExample, with_rivals
from wordsight.meaning.training.em import map_chunks
from wordsight.meaning.training.leave_one_out import LeaveOneOut

__all__ = [
    "Question",
    "bounded",
    "fit_calibration",
    "fit_durations",
    "fit_role_prior_weight",
    "make_questions",
]

Array = NDArray[np.float64]

_SCALE_PRIOR = 1.0  # keeps the log scales of verbs near each other, in clips
_MEAN_SCALE_PRIOR = 1.0  # of the mean log scale, in clips
_BIAS_PRIOR = 0.1
_FARTHEST = 500.0  # below the best candidate of a question, in log ratio
_SCALE_BOUNDS = (-7.0, 3.0)  # of the log of a scale
_START_SCALE = 0.1  # what correlated features leave of a log ratio, before anything is fitted


@dataclass(frozen=True)
class Question:
    """A clip with candidate sentences, one of them true.

    Attributes:
        ratios: ``(K,)`` log ratios of the candidates.
        verbs: Their verbs.
        duration: Duration of the clip in seconds.
        truth: Index of the true candidate.
        role_ratios: Log ratio of each candidate by role priors of all other clips; empty if role
            priors are not used.
    """

    ratios: Array
    verbs: tuple[str, ...]
    duration: float
    truth: int
    role_ratios: tuple[float, ...] = ()


def make_questions(
    examples: Sequence[TrainingExample], held_out: LeaveOneOut, *, threads: int = 1
) -> list[Question]:
    """Score all candidates; every true sentence of an example is a question of its own.

    Words fit the clips they were learned from so well that hardly any question would be left open:
    each clip is judged by the words as they would be without it. Verbs that a single clip taught
    are not asked about, since without it they mean nothing.
    """
    taught = Counter(
        verb for example in examples for verb in {example.verbs[n] for n in example.truths}
    )
    known = {verb for verb, clips in taught.items() if clips > 1}

    def work(numbers: Sequence[int]) -> list[Question]:
        questions = []
        for number in numbers:
            example = examples[number]
            scorer = held_out.without(number).scorer(example.observation)
            ratios = scorer.log_ratios(example.candidates)
            asked_of = [_question(example, ratios, truth, known) for truth in example.truths]
            questions += [one for one in asked_of if one is not None]
        return questions

    asked = [number for number, one in enumerate(examples) if with_rivals([one])]
    return [question for part in map_chunks(asked, work, threads) for question in part]


def fit_durations(
    durations: Sequence[float], verbs: Sequence[str], *, bins: int = 5, smoothing: float = 3.0
) -> Durations:
    """Learn how long the events of each verb last.

    Args:
        durations: Seconds of each training clip.
        verbs: The verb of its true sentence.
        bins: Number of bins, with equally many clips in each.
        smoothing: Number of pseudo-clips of each verb, distributed like all clips.
    """
    values = np.asarray(durations, dtype=np.float64)
    edges = np.quantile(values, np.arange(1, bins) / bins) if len(values) else np.zeros(0)
    places = np.digitize(values, edges)
    total = np.bincount(places, minlength=bins)
    share = total / max(1, len(values)) + 1e-9
    ratios = {}
    for verb in sorted(set(verbs)):
        own = places[[v == verb for v in verbs]]
        counts = np.bincount(own, minlength=bins) + smoothing * share
        ratio = np.log(counts / counts.sum()) - np.log(share / share.sum())
        ratios[verb] = np.where(total > 0, ratio, 0.0)
    return Durations(np.asarray(edges, dtype=np.float64), ratios, 1.0)


def fit_calibration(
    questions: Sequence[Question], durations: Durations
) -> tuple[Calibration, float]:
    """Fit scales, biases and the weight of durations by the likelihood of the true candidates.

    Returns:
        The calibration and the mean log probability it gives to the true candidate, priors
        included: the criterion by which restarts are compared.
    """
    if not questions:
        return Calibration(durations=durations, other_scale=_START_SCALE), -np.inf
    from scipy.optimize import minimize  # slow to import

    problem = _CalibrationProblem(questions, durations)
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
    """Fit the weight of role priors, from 0 to 1, given a calibration without them.

    At 1 they count as Bayes' rule has it; less if they would mislead more often than they help.
    """
    used = [question for question in questions if question.role_ratios]
    if not used:
        return 0.0
    from scipy.optimize import minimize_scalar

    known = [calibration.preferences(bounded(q.ratios), q.verbs, q.duration) for q in used]

    def loss(weight: float) -> float:
        total = 0.0
        for question, values in zip(used, known, strict=True):
            x = values + weight * np.asarray(question.role_ratios)
            total += float(np.logaddexp.reduce(x) - x[question.truth])
        return total

    return float(minimize_scalar(loss, bounds=(0.0, 1.0), method="bounded").x)


def bounded(ratios: Array) -> Array:
    """Return log ratios that are finite, the lowest not too far below the best."""
    best = float(np.max(ratios, initial=-np.inf))
    if not np.isfinite(best):
        return np.zeros_like(ratios)
    return np.maximum(ratios, best - _FARTHEST)


class _CalibrationProblem:
    """Questions padded into arrays ``(N, K)``, and the loss of log scales, biases and weight."""

    def __init__(self, questions: Sequence[Question], durations: Durations) -> None:
        self.verbs = sorted({verb for question in questions for verb in question.verbs})
        number = {verb: index for index, verb in enumerate(self.verbs)}
        shape = len(questions), max(len(q.verbs) for q in questions)
        self.ratios, self.lasting = np.zeros(shape), np.zeros(shape)
        self.verb, self.present = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool)
        for row, q in enumerate(questions):
            here = slice(len(q.verbs))
            # Impossible candidates are never chosen anyway; as numbers they would swamp the rest.
            self.ratios[row, here] = bounded(q.ratios)
            self.lasting[row, here] = durations(q.verbs, q.duration)
            self.verb[row, here] = [number[verb] for verb in q.verbs]
            self.present[row, here] = True
        self.truth = np.array([q.truth for q in questions])
        self.durations = durations

    def start(self) -> Array:
        count = len(self.verbs)
        return np.concatenate([np.full(count, np.log(_START_SCALE)), np.zeros(count), [0.5]])

    def bounds(self) -> list[tuple[float | None, float | None]]:
        count = len(self.verbs)
        # Durations count at most as Bayes' rule has it: few clips would let the weight diverge.
        return [*[_SCALE_BOUNDS] * count, *[(None, None)] * count, (0.0, 1.0)]

    def loss(self, values: Array) -> tuple[float, Array]:
        count, questions = len(self.verbs), len(self.truth)
        logs, biases, weight = values[:count], values[count : 2 * count], values[-1]
        scaled = np.exp(logs)[self.verb] * self.ratios
        x = np.where(self.present, scaled + biases[self.verb] + weight * self.lasting, -np.inf)
        x -= x.max(axis=1, keepdims=True)
        x -= np.log(np.exp(x).sum(axis=1, keepdims=True))
        rows = np.arange(questions)
        error = np.exp(x)
        error[rows, self.truth] -= 1
        spread = logs - logs.mean()
        loss = -x[rows, self.truth].sum() + _SCALE_PRIOR / 2 * (spread**2).sum()
        loss += _BIAS_PRIOR / 2 * (biases**2).sum()
        # Where few clips leave no doubt, the mean scale would diverge.
        excess = logs.mean() - np.log(_START_SCALE)
        loss += _MEAN_SCALE_PRIOR / 2 * excess**2
        slopes = [
            self._per_verb(error * scaled)
            + _SCALE_PRIOR * spread
            + _MEAN_SCALE_PRIOR * excess / count,
            self._per_verb(error) + _BIAS_PRIOR * biases,
            [(error * self.lasting).sum()],
        ]
        return float(loss), np.concatenate(slopes)

    def calibration(self, values: Array) -> Calibration:
        count = len(self.verbs)
        scales, biases = np.exp(values[:count]).tolist(), values[count:-1].tolist()
        return Calibration(
            dict(zip(self.verbs, scales, strict=True)),
            dict(zip(self.verbs, biases, strict=True)),
            replace(self.durations, weight=float(values[-1])),
            # Not the mean: verbs of long events at rest have much smaller scales than others.
            float(np.exp(np.median(values[:count]))),
        )

    def _per_verb(self, values: Array) -> Array:
        return np.asarray(np.bincount(self.verb.ravel(), values.ravel(), len(self.verbs)), float)


def _question(
    example: TrainingExample, ratios: Array, truth: int, known: Collection[str]
) -> Question | None:
    """Return the question for one true sentence, without the other true ones."""
    kept = [
        n
        for n, verb in enumerate(example.verbs)
        if verb in known and (n == truth or n not in example.truths)
    ]
    if truth not in kept or len(kept) < 2:
        return None
    return Question(
        ratios[kept],
        tuple(example.verbs[n] for n in kept),
        example.observation.duration,
        kept.index(truth),
        tuple(example.role_ratios[n] for n in kept) if example.role_ratios else (),
    )
