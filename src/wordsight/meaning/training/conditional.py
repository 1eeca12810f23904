"""The conditional objective: the probability of the true sentence among its candidates.

Restarts are compared by it; calibration and discriminative training maximise it. The gradient with
respect to a log probability of a word is an expected count, so it needs no other inference.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from wordsight.engine import Engine
from wordsight.inference import (
    Limits,
    collect_losses,
    current_limits,
    report_losses,
    using_limits,
)
from wordsight.meaning.model.calibration import Calibration, Durations
from wordsight.meaning.scoring.scorer import CountsByWord, TrackPrior, make_scorer
from wordsight.meaning.scoring.tables import WordTables
from wordsight.meaning.training.corpus import TrainingExample
from wordsight.meaning.training.em import map_chunks, split_chunks, zero_counts
from wordsight.meaning.training.leave_one_out import LeaveOneOut

__all__ = [
    "ConditionalGradient",
    "EngineGradients",
    "GradientInputs",
    "Question",
    "conditional_gradient",
    "fit_calibration",
    "fit_durations",
    "fit_role_prior_weight",
    "make_questions",
    "with_rivals",
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


def with_rivals(examples: Sequence[TrainingExample]) -> list[TrainingExample]:
    """Return the examples that have both true and false candidates."""
    return [e for e in examples if 0 < len(e.truths) < len(e.candidates)]


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


@dataclass
class ConditionalGradient:
    """Value and gradient of the conditional objective over some examples.

    Attributes:
        value: Sum of the log probabilities of true sentences.
        counts: Expected counts of all words, of true sentences less those of their rivals: the
            gradient with respect to log probabilities, were they free.
        scales: Per verb the gradient with respect to the log of its scale.
        biases: Per verb the gradient with respect to its bias.
        durations: Per verb ``(D,)`` the gradient with respect to its duration ratios.
        duration_weight: The gradient with respect to the weight of durations.
    """

    value: float
    counts: CountsByWord
    scales: dict[str, float]
    biases: dict[str, float]
    durations: dict[str, Array]
    duration_weight: float


def conditional_gradient(
    examples: Sequence[TrainingExample],
    tables: Mapping[str, WordTables],
    prior: TrackPrior,
    calibration: Calibration,
    *,
    posterior: bool = True,
    threads: int = 1,
) -> ConditionalGradient:
    """Compute the conditional objective and its gradient.

    Args:
        examples: Clips with candidates.
        tables: The words.
        prior: Weights of objects and tracks.
        calibration: Makes sentences comparable.
        posterior: Whether the true sentence is among its own rivals, which bounds the objective by
            0; the AAAI 2015 objective leaves it out.
        threads: Number of clips to work on at once.
    """
    inputs = GradientInputs(tables, prior, calibration, posterior)
    work = partial(_chunk_gradient, inputs=inputs)
    return _total(inputs, map_chunks(with_rivals(examples), work, threads))


@dataclass(frozen=True)
class GradientInputs:
    """Inputs of a gradient besides the clips; they are sent to where the clips are.

    Attributes:
        tables: The words.
        prior: Weights of objects and tracks.
        calibration: Makes sentences comparable.
        posterior: Whether the true sentence is among its own rivals.
        chunks: Numbers of the clips of each chunk, where not all are wanted.
        limits: Limits of one lattice.
    """

    tables: Mapping[str, WordTables]
    prior: TrackPrior
    calibration: Calibration
    posterior: bool = True
    chunks: tuple[tuple[int, ...], ...] = ()
    limits: Limits = field(default_factory=current_limits)


class EngineGradients:
    """Clips with candidates held by the workers of an engine, so that only words and sums travel.

    Every worker holds all clips, because each step takes others; chunks are those of
    :func:`conditional_gradient`, and so are the digits.

    Args:
        engine: The engine.
        examples: Clips with candidates.
    """

    def __init__(self, engine: Engine, examples: Sequence[TrainingExample]) -> None:
        self.examples = with_rivals(examples)
        count = int(getattr(engine, "workers", 1))
        parts = [(number, count, self.examples) for number in range(count)]
        self._held = engine.hold(parts).__enter__()

    def gradient(
        self,
        tables: Mapping[str, WordTables],
        prior: TrackPrior,
        calibration: Calibration,
        *,
        posterior: bool = True,
        places: Sequence[int] | None = None,
    ) -> ConditionalGradient:
        """Return what :func:`conditional_gradient` returns of all clips, or of some."""
        wanted = range(len(self.examples)) if places is None else [int(n) for n in places]
        chunks = tuple(tuple(chunk) for chunk in split_chunks(wanted))
        inputs = GradientInputs(dict(tables), prior, calibration, posterior, chunks)
        found: dict[int, ConditionalGradient] = {}
        for parts, losses in self._held.map(_own_chunks, inputs):
            report_losses(losses)
            found |= parts
        return _total(inputs, [found[number] for number in range(len(chunks))])

    def close(self) -> None:
        """Release the clips."""
        self._held.__exit__(None, None, None)


def _own_chunks(
    part: tuple[int, int, Sequence[TrainingExample]], inputs: GradientInputs
) -> tuple[dict[int, ConditionalGradient], list[float]]:
    """Return the gradients of every n-th chunk, by its number."""
    first, count, examples = part
    with using_limits(inputs.limits), collect_losses() as losses:
        found = {
            number: _chunk_gradient([examples[place] for place in inputs.chunks[number]], inputs)
            for number in range(first, len(inputs.chunks), count)
        }
        return found, losses


def _chunk_gradient(
    chunk: Sequence[TrainingExample], inputs: GradientInputs
) -> ConditionalGradient:
    part = _zero_gradient(inputs.tables)
    for example in chunk:
        _add_example(
            example, inputs.tables, inputs.prior, inputs.calibration, inputs.posterior, part
        )
    return part


def _total(inputs: GradientInputs, parts: Iterable[ConditionalGradient]) -> ConditionalGradient:
    total = _zero_gradient(inputs.tables)
    for part in parts:
        _accumulate(total, part)
    return total


def _add_example(
    example: TrainingExample,
    tables: Mapping[str, WordTables],
    prior: TrackPrior,
    calibration: Calibration,
    posterior: bool,
    gradient: ConditionalGradient,
) -> None:
    scorer = make_scorer(example.observation, tables, prior)
    ratios = bounded(scorer.log_ratios(example.candidates))
    verbs, duration = example.verbs, example.observation.duration
    preferences = calibration.preferences(ratios, verbs, duration)
    shares = np.zeros(len(ratios))
    for truth in example.truths:
        value, pull = _log_probability(preferences, example.truths, truth, posterior)
        gradient.value += value
        shares += pull
    scale = np.array([calibration.scales.get(v, calibration.other_scale) for v in verbs])
    scorer.add_counts(example.candidates, shares * scale, gradient.counts)
    lasting = calibration.durations(verbs, duration)
    place = int(np.digitize(duration, calibration.durations.edges))
    gradient.duration_weight += float(shares @ lasting)
    for verb, share, slope in zip(verbs, shares, shares * scale * ratios, strict=True):
        gradient.scales[verb] = gradient.scales.get(verb, 0.0) + float(slope)
        gradient.biases[verb] = gradient.biases.get(verb, 0.0) + float(share)
        if verb in calibration.durations.ratios:
            row = np.zeros(len(calibration.durations.edges) + 1)
            row = gradient.durations.setdefault(verb, row)
            row[place] += share * calibration.durations.weight


def _log_probability(
    preferences: Array, truths: tuple[int, ...], truth: int, posterior: bool
) -> tuple[float, Array]:
    """Return the log probability of one true sentence, and its gradient by preferences."""
    rivals = np.array(
        [n not in truths or (posterior and n == truth) for n in range(len(preferences))]
    )
    logs = np.where(rivals, preferences, -np.inf)
    top = logs.max()
    total = top + np.log(np.exp(logs - top).sum())
    share = -np.exp(logs - total)
    share[truth] += 1.0
    return float(preferences[truth] - total), share


def _zero_gradient(tables: Mapping[str, WordTables]) -> ConditionalGradient:
    return ConditionalGradient(0.0, zero_counts(tables), {}, {}, {}, 0.0)


def _accumulate(total: ConditionalGradient, part: ConditionalGradient) -> None:
    total.value += part.value
    total.duration_weight += part.duration_weight
    for entry, counts in part.counts.items():
        total.counts[entry].add(counts)
    for verb, value in part.scales.items():
        total.scales[verb] = total.scales.get(verb, 0.0) + value
    for verb, value in part.biases.items():
        total.biases[verb] = total.biases.get(verb, 0.0) + value
    for verb, row in part.durations.items():
        total.durations[verb] = total.durations.get(verb, np.zeros_like(row)) + row
