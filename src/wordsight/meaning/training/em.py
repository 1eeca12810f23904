"""The steps of EM: expected counts of all words over a corpus, and new tables from counts.

Sums do not depend on the number of threads or workers, to the last digit. The pseudo-counts of the
M-step are Dirichlet priors: EM raises the sum of log likelihood and log prior.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

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
from wordsight.language import PartOfSpeech
from wordsight.meaning.features import LABEL, FeatureSet, Slot
from wordsight.meaning.model.word import WordModel
from wordsight.meaning.scoring.clip_scorers import compute_on_device
from wordsight.meaning.scoring.scorer import CountsByWord, TrackPrior, make_scorer
from wordsight.meaning.scoring.tables import Background, WordTables
from wordsight.meaning.training.corpus import IMPOSSIBLE, TrainingExample
from wordsight.meaning.training.settings import WordSmoothing

__all__ = [
    "EStepInputs",
    "EngineExamples",
    "expected_counts",
    "expected_counts_of",
    "log_prior",
    "m_step",
    "map_chunks",
    "shared_distributions",
    "split_chunks",
    "zero_counts",
]

Array = NDArray[np.float64]
Shared = Mapping[tuple[PartOfSpeech, int, Slot], Array]
"""Per part of speech, number of phases and feature the ``(I, Z)`` mean of its words."""
Item = TypeVar("Item")
Result = TypeVar("Result")

CHUNK = 16
"""Clips whose counts are summed before they are added to the whole, or more in a large corpus. It
depends on the corpus alone, so that the order of additions, and with it every last digit, does not
depend on the number of threads or workers."""

_MOST_CHUNKS, _LARGEST_CHUNK = 64, 128

DEVICE_CHUNK = 512
"""Clips whose lattices are computed on a device at once: enough to fill it."""


def zero_counts(tables: Mapping[str, WordTables]) -> CountsByWord:
    """Return counts of zero for all words."""
    return {entry: table.zero_counts() for entry, table in tables.items()}


def split_chunks(items: Sequence[Item], size: int | None = None) -> list[Sequence[Item]]:
    """Split a corpus into chunks, whose size depends on the corpus if not given."""
    if size is None:
        # Sums of a chunk travel as one: large chunks cost less, many are distributed evenly.
        size = max(CHUNK, min(_LARGEST_CHUNK, len(items) // _MOST_CHUNKS))
    return [items[first : first + size] for first in range(0, len(items), size)]


def map_chunks(
    items: Sequence[Item], work: Callable[[Sequence[Item]], Result], threads: int
) -> list[Result]:
    """Call a function on chunks of items in threads; results are in order."""
    chunks = split_chunks(items)
    if threads <= 1 or len(chunks) <= 1:
        return [work(chunk) for chunk in chunks]
    # Limits and collected losses are context variables, which threads do not inherit.
    calls = [partial(copy_context().run, work, chunk) for chunk in chunks]
    with ThreadPoolExecutor(max_workers=threads) as pool:
        return [done.result() for done in [pool.submit(call) for call in calls]]


@dataclass(frozen=True)
class EStepInputs:
    """Inputs of an E-step besides the clips; they are sent to where the clips are.

    Attributes:
        tables: The words.
        prior: Weights of objects and tracks.
        noise: Probability that a pair of clip and sentence is a mistake; then the background
            explains the clip, and the pair counts that much less.
        device: Device for lattices; the processor if None.
        limits: Limits of one lattice.
    """

    tables: Mapping[str, WordTables]
    prior: TrackPrior
    noise: float = 0.0
    device: str | None = None
    limits: Limits = field(default_factory=current_limits)


def expected_counts_of(
    chunk: Sequence[TrainingExample], inputs: EStepInputs
) -> tuple[float, CountsByWord]:
    """Compute the log likelihood and the expected counts of some clips."""
    total, counts = 0.0, zero_counts(inputs.tables)
    scorers = [make_scorer(example.observation, inputs.tables, inputs.prior) for example in chunk]
    if inputs.device is not None:
        compute_on_device(scorers, [example.sentences for example in chunk], inputs.device)
    for example, scorer in zip(chunk, scorers, strict=True):
        likely = np.log1p(-inputs.noise) + scorer.log_ratios(example.sentences)
        mixed = np.logaddexp(likely, np.log(inputs.noise)) if inputs.noise else likely
        total += float(mixed[np.isfinite(mixed)].sum())
        shares = np.exp(np.where(np.isfinite(likely), likely - mixed, -np.inf))
        scorer.add_counts(example.sentences, shares, counts)
    return total, counts


def expected_counts(
    examples: Sequence[TrainingExample],
    tables: Mapping[str, WordTables],
    prior: TrackPrior,
    *,
    noise: float = 0.0,
    threads: int = 1,
) -> tuple[float, CountsByWord]:
    """Compute the log likelihood of a corpus and the expected counts of its words.

    Returns:
        The sum over pairs of log((1 - noise) ratio + noise), and the counts.
    """
    inputs = EStepInputs(tables, prior, noise)
    return _summed(
        tables, map_chunks(examples, partial(expected_counts_of, inputs=inputs), threads)
    )


class EngineExamples:
    """A corpus held by the workers of an engine, so that only words and sums travel.

    Args:
        engine: The engine.
        examples: The corpus.
        device: Device for lattices; chunks are then larger.
    """

    def __init__(
        self, engine: Engine, examples: Sequence[TrainingExample], *, device: str | None = None
    ) -> None:
        self._device = device
        size = None if device is None else DEVICE_CHUNK
        # Candidates are not needed in the E-step and are not sent.
        needed = [TrainingExample(example.observation, example.sentences) for example in examples]
        self._held = engine.hold(split_chunks(needed, size)).__enter__()

    def expected_counts(
        self, tables: Mapping[str, WordTables], prior: TrackPrior, *, noise: float = 0.0
    ) -> tuple[float, CountsByWord]:
        """Return what :func:`expected_counts` returns; without a device, identical."""
        inputs = EStepInputs(dict(tables), prior, noise, self._device)
        return _summed(tables, _reporting_losses(self._held.map(_counts_and_losses, inputs)))

    def close(self) -> None:
        """Release the corpus."""
        self._held.__exit__(None, None, None)


def _counts_and_losses(
    chunk: Sequence[TrainingExample], inputs: EStepInputs
) -> tuple[tuple[float, CountsByWord], list[float]]:
    with using_limits(inputs.limits), collect_losses() as losses:
        return expected_counts_of(chunk, inputs), losses


def _reporting_losses(
    parts: Iterable[tuple[tuple[float, CountsByWord], list[float]]],
) -> Iterator[tuple[float, CountsByWord]]:
    for part, losses in parts:
        report_losses(losses)
        yield part


def _summed(
    tables: Mapping[str, WordTables], parts: Iterable[tuple[float, CountsByWord]]
) -> tuple[float, CountsByWord]:
    total, counts = 0.0, zero_counts(tables)
    for part, part_counts in parts:
        total += part
        for entry, own in part_counts.items():
            counts[entry].add(own)
    return total, counts


def m_step(
    tables: dict[str, WordTables],
    counts: CountsByWord,
    background: Background,
    smoothing: WordSmoothing,
    noun_labels: Mapping[str, NDArray[np.bool_]] | None = None,
    *,
    shared: Shared | None = None,
) -> dict[str, WordModel]:
    """Return the words that maximise the likelihood of counts and pseudo-counts.

    Args:
        tables: The words.
        counts: Their expected counts.
        background: Per feature the distribution of its bins over the corpus.
        smoothing: The pseudo-counts.
        noun_labels: Which labels a noun may have, where not all.
        shared: From :func:`shared_distributions`, where words share what they have in common.
    """
    admitted = noun_labels or {}
    words = {}
    for entry, table in tables.items():
        word, own = table.word, counts[table.word.entry]
        pseudo, emissions = smoothing.of(word), list[Array]()
        for slot, observed in zip(word.slots, table.emission_counts(own), strict=True):
            prior = background[slot.feature]
            if shared and (mean := shared.get(_kind(word, slot))) is not None:
                whole = np.tile(mean, (word.senses, 1))
                prior = prior + smoothing.shared * (whole - prior)
            emissions.append(_admitted(observed + pseudo * prior, admitted.get(entry), slot))
        # Impossible transitions stay impossible: this keeps left-to-right words so.
        initial = _normalised((own.initial + smoothing.transition) * (word.initial > 0))
        steps = _normalised((own.transition + smoothing.transition) * (word.transition > 0))
        words[entry] = replace(word, initial=initial, transition=steps, emissions=tuple(emissions))
    return words


def shared_distributions(
    tables: Mapping[str, WordTables],
    counts: CountsByWord,
    background: Background,
    smoothing: WordSmoothing,
) -> Shared:
    """Return what words of several states have in common; each counts as far as it was observed."""
    sums: dict[tuple[PartOfSpeech, int, Slot], tuple[Array, Array]] = {}
    for entry, table in tables.items():
        word, pseudo = table.word, smoothing.of(table.word)
        if not smoothing.shared or word.num_states == 1:
            continue
        observed = table.emission_counts(counts[entry])
        for slot, each in zip(word.slots, observed, strict=True):
            own = word.by_phase(each.T).T
            total = own.sum(axis=1, keepdims=True)
            weight = total / (total + pseudo)
            mean = weight * (own + pseudo * background[slot.feature]) / (total + pseudo)
            so_far = sums.get(_kind(word, slot), (0.0, 0.0))
            sums[_kind(word, slot)] = so_far[0] + mean, so_far[1] + weight
    return {
        kind: np.where(weight > 0, mean / np.maximum(weight, 1e-300), background[kind[2].feature])
        for kind, (mean, weight) in sums.items()
    }


def _kind(word: WordModel, slot: Slot) -> tuple[PartOfSpeech, int, Slot]:
    return word.part, word.num_phases, slot


def log_prior(
    words: dict[str, WordModel],
    background: Background,
    smoothing: WordSmoothing,
    noun_labels: Mapping[str, NDArray[np.bool_]] | None = None,
    *,
    temper: float = 1.0,
    features: FeatureSet | None = None,
) -> float:
    """Return the log prior of all tables, up to a constant.

    Under a temper the emissions of words with several states count less, and so does their prior;
    the same holds for features that weigh less.
    """
    total, admitted = 0.0, noun_labels or {}
    for word in words.values():
        power = temper if word.num_states > 1 else 1.0
        pseudo = power * smoothing.of(word)
        for slot, emission in zip(word.slots, word.emissions, strict=True):
            weights = background[slot.feature]
            if slot.feature == LABEL and word.entry in admitted:
                weights = weights * admitted[word.entry]
            weight = features.parts[word.part].weight(slot.feature) if features else 1.0
            total += weight * pseudo * float((np.log(emission) @ weights).sum())
        for table in (word.initial, word.transition):
            total += float((smoothing.transition * np.log(table[table > 0])).sum())
    return total


def _admitted(counts: Array, labels: NDArray[np.bool_] | None, slot: Slot) -> Array:
    """Normalise counts; labels that a noun may not have are next to impossible."""
    if labels is None or slot.feature != LABEL:
        return _normalised(counts)
    kept = np.where(labels, counts, 0.0)
    return _normalised(kept + IMPOSSIBLE * kept.sum(axis=-1, keepdims=True))


def _normalised(counts: Array) -> Array:
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))
