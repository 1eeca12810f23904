"""The conditional objective: how probable the true sentence is among its candidates.

Restarts are compared by it, calibration and discriminative training raise it. The gradient with
respect to a log probability of a word is an expected count, so no new inference is needed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.calibration import Calibration, Question, bounded
from wordsight.meaning.corpus import Example
from wordsight.meaning.expectation import in_chunks, no_counts
from wordsight.meaning.reading import Counts, Sight, read
from wordsight.meaning.tables import WordTables

__all__ = ["Slopes", "asked", "contrast", "questions"]

Array = NDArray[np.float64]


@dataclass
class Slopes:
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
    counts: Counts
    scales: dict[str, float]
    biases: dict[str, float]
    durations: dict[str, Array]
    duration_weight: float


def asked(examples: Sequence[Example]) -> list[Example]:
    """Return the examples that pose a question: some candidate is true and some is not."""
    return [e for e in examples if 0 < len(e.truths) < len(e.candidates)]


def questions(
    examples: Sequence[Example],
    tables: Mapping[str, WordTables],
    sight: Sight,
    *,
    threads: int = 1,
) -> list[Question]:
    """Score all candidates; an example with several true sentences asks one question for each."""

    def work(chunk: Sequence[Example]) -> list[Question]:
        found = []
        for example in chunk:
            ratios = read(example.seen, tables, sight).log_ratios(example.candidates)
            found += [_without_others(example, ratios, truth) for truth in example.truths]
        return found

    return [question for part in in_chunks(asked(examples), work, threads) for question in part]


def _without_others(example: Example, ratios: Array, truth: int) -> Question:
    """Ask for one true sentence; the other true ones do not compete with it."""
    kept = [n for n in range(len(ratios)) if n == truth or n not in example.truths]
    return Question(
        ratios[kept],
        tuple(example.verbs[n] for n in kept),
        example.seen.duration,
        kept.index(truth),
        tuple(example.usual[n] for n in kept) if example.usual else (),
    )


def contrast(
    examples: Sequence[Example],
    tables: Mapping[str, WordTables],
    sight: Sight,
    calibration: Calibration,
    *,
    posterior: bool = True,
    threads: int = 1,
) -> Slopes:
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

    def work(chunk: Sequence[Example]) -> Slopes:
        slopes = _nothing(tables)
        for example in chunk:
            _add_example(example, tables, sight, calibration, posterior, slopes)
        return slopes

    total = _nothing(tables)
    for part in in_chunks(asked(examples), work, threads):
        _add(total, part)
    return total


def _add_example(
    example: Example,
    tables: Mapping[str, WordTables],
    sight: Sight,
    calibration: Calibration,
    posterior: bool,
    slopes: Slopes,
) -> None:
    reading = read(example.seen, tables, sight)
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


def _nothing(tables: Mapping[str, WordTables]) -> Slopes:
    return Slopes(0.0, no_counts(tables), {}, {}, {}, 0.0)


def _add(total: Slopes, part: Slopes) -> None:
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
