"""The conditional objective: how probable the true sentence is among its candidates.

Restarts are compared by it, calibration and discriminative training raise it. The gradient with
respect to a log probability of a word is an expected count, so no new inference is needed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.model.calibration import Calibration, Question, bounded
from wordsight.meaning.scoring.scorer import CountsByWord, TrackPrior, make_scorer
from wordsight.meaning.scoring.tables import WordTables
from wordsight.meaning.training.corpus import TrainingExample
from wordsight.meaning.training.em import map_chunks, zero_counts

__all__ = ["ConditionalGradient", "conditional_gradient", "make_questions", "with_rivals"]

Array = NDArray[np.float64]


@dataclass
class ConditionalGradient:
    """Value and gradient of the conditional objective over some examples.

    Attributes:
        value: Sum of the log probabilities of true sentences.
        counts: Expected counts of all words, true ones less those of the competition: the
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


def with_rivals(examples: Sequence[TrainingExample]) -> list[TrainingExample]:
    """Return the examples that pose a question: some candidate is true and some is not."""
    return [e for e in examples if 0 < len(e.truths) < len(e.candidates)]


def make_questions(
    examples: Sequence[TrainingExample],
    tables: Mapping[str, WordTables],
    sight: TrackPrior,
    *,
    threads: int = 1,
) -> list[Question]:
    """Score all candidates; an example with several true sentences asks one question for each."""

    def work(chunk: Sequence[TrainingExample]) -> list[Question]:
        found = []
        for example in chunk:
            ratios = make_scorer(example.seen, tables, sight).log_ratios(example.candidates)
            found += [_without_others(example, ratios, truth) for truth in example.truths]
        return found

    return [
        question for part in map_chunks(with_rivals(examples), work, threads) for question in part
    ]


def _without_others(example: TrainingExample, ratios: Array, truth: int) -> Question:
    """Ask for one true sentence; the other true ones do not compete with it."""
    kept = [n for n in range(len(ratios)) if n == truth or n not in example.truths]
    return Question(
        ratios[kept],
        tuple(example.verbs[n] for n in kept),
        example.seen.duration,
        kept.index(truth),
        tuple(example.usual[n] for n in kept) if example.usual else (),
    )


def conditional_gradient(
    examples: Sequence[TrainingExample],
    tables: Mapping[str, WordTables],
    sight: TrackPrior,
    calibration: Calibration,
    *,
    posterior: bool = True,
    threads: int = 1,
) -> ConditionalGradient:
    """Compute the conditional objective and its gradient.

    Args:
        examples: Clips with candidates.
        tables: The words.
        sight: How things are weighed.
        calibration: What makes sentences comparable.
        posterior: Whether the true sentence itself is part of the competition, which bounds the
            objective by 0; the AAAI 2015 objective leaves it out.
        threads: How many to work on at once.
    """

    def work(chunk: Sequence[TrainingExample]) -> ConditionalGradient:
        slopes = _zero_gradient(tables)
        for example in chunk:
            _add_example(example, tables, sight, calibration, posterior, slopes)
        return slopes

    total = _zero_gradient(tables)
    for part in map_chunks(with_rivals(examples), work, threads):
        _accumulate(total, part)
    return total


def _add_example(
    example: TrainingExample,
    tables: Mapping[str, WordTables],
    sight: TrackPrior,
    calibration: Calibration,
    posterior: bool,
    slopes: ConditionalGradient,
) -> None:
    reading = make_scorer(example.seen, tables, sight)
    ratios = bounded(reading.log_ratios(example.candidates))
    verbs, duration = example.verbs, example.seen.duration
    preferences = calibration.preferences(ratios, verbs, duration)
    shares = np.zeros(len(ratios))
    for truth in example.truths:
        value, pull = _share(preferences, example.truths, truth, posterior)
        slopes.value += value
        shares += pull
    scale = np.array([calibration.scales.get(v, calibration.other_scale) for v in verbs])
    reading.add_counts(example.candidates, shares * scale, slopes.counts)
    lasting = calibration.durations(verbs, duration)
    place = int(np.digitize(duration, calibration.durations.edges))
    slopes.duration_weight += float(shares @ lasting)
    for verb, share, slope in zip(verbs, shares, shares * scale * ratios, strict=True):
        slopes.scales[verb] = slopes.scales.get(verb, 0.0) + float(slope)
        slopes.biases[verb] = slopes.biases.get(verb, 0.0) + float(share)
        if verb in calibration.durations.ratios:
            row = np.zeros(len(calibration.durations.edges) + 1)
            row = slopes.durations.setdefault(verb, row)
            row[place] += share * calibration.durations.weight


def _share(
    preferences: Array, truths: tuple[int, ...], truth: int, posterior: bool
) -> tuple[float, Array]:
    """Return the log probability of one true sentence and how each candidate pulls at it."""
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
