"""The conditional objective: the probability of the true sentence among its candidates.

Restarts are compared by it, and discriminative training maximises it. The gradient with
respect to a log probability of a word is an expected count, so it needs no other inference.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
from wordsight.meaning.model.calibration import Calibration
from wordsight.meaning.scoring.scorer import CountsByWord, TrackPrior, make_scorer
from wordsight.meaning.scoring.tables import WordTables
from wordsight.meaning.training.calibration import bounded
from wordsight.meaning.training.corpus import TrainingExample, with_rivals
from wordsight.meaning.training.em import map_chunks, split_chunks, zero_counts

__all__ = ["ConditionalGradient", "EngineGradients", "GradientInputs", "conditional_gradient"]

Array = NDArray[np.float64]


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
