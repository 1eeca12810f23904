"""The E-step: expected counts of all words over a corpus, with the same sums wherever it runs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from wordsight.engine import Engine
from wordsight.inference import Limits, collect_losses, current_limits, report_losses, using_limits
from wordsight.meaning.model.word import WordModel
from wordsight.meaning.scoring.lattice_scorer import compute_on_device
from wordsight.meaning.scoring.scorer import CountsByWord, TrackPrior, make_scorer
from wordsight.meaning.scoring.tables import Background, WordTables
from wordsight.meaning.training.corpus import TrainingExample

__all__ = [
    "EStepInputs",
    "EngineExamples",
    "WordSmoothing",
    "expected_counts",
    "expected_counts_of",
    "log_prior",
    "m_step",
    "map_chunks",
    "split_chunks",
    "zero_counts",
]


Array = NDArray[np.float64]
Item = TypeVar("Item")
Result = TypeVar("Result")

CHUNK = 16
"""Clips whose counts are summed before they are added to the whole, or more in a large corpus: told
by the corpus alone, so that the order of additions, and with it every last digit, does not depend
on the number of threads or workers."""

_MOST_CHUNKS, _LARGEST_CHUNK = 64, 128

DEVICE_CHUNK = 512
"""Clips whose lattices go to a device at once: enough to fill it."""


def zero_counts(tables: Mapping[str, WordTables]) -> CountsByWord:
    """Return counts of nothing for all words."""
    return {entry: table.no_counts() for entry, table in tables.items()}


def split_chunks(items: Sequence[Item], size: int | None = None) -> list[Sequence[Item]]:
    """Cut a corpus into chunks; how large they are follows from its size if left out."""
    if size is None:
        # Sums of a chunk travel as one: large chunks cost less, many are shared out evenly.
        size = max(CHUNK, min(_LARGEST_CHUNK, len(items) // _MOST_CHUNKS))
    return [items[first : first + size] for first in range(0, len(items), size)]


def map_chunks(
    items: Sequence[Item], work: Callable[[Sequence[Item]], Result], threads: int
) -> list[Result]:
    """Do work on chunks of examples or the like, in threads; results in their order."""
    chunks = split_chunks(items)
    if threads <= 1 or len(chunks) <= 1:
        return [work(chunk) for chunk in chunks]
    # Threads know nothing of the limits and notes of who started them, unless they are told.
    calls = [partial(copy_context().run, work, chunk) for chunk in chunks]
    with ThreadPoolExecutor(max_workers=threads) as pool:
        return [done.result() for done in [pool.submit(call) for call in calls]]


@dataclass(frozen=True)
class EStepInputs:
    """What a round of EM is done with; this travels to where the clips are.

    Attributes:
        tables: The words.
        sight: How things are weighed.
        noise: Probability that a pair of clip and sentence is a mistake; then the background
            explains the clip, and the pair teaches that much less.
        device: Where lattices are computed; the processor if left out.
        limits: What one lattice may use.
    """

    tables: Mapping[str, WordTables]
    sight: TrackPrior
    noise: float = 0.0
    device: str | None = None
    limits: Limits = field(default_factory=current_limits)


def expected_counts_of(
    chunk: Sequence[TrainingExample], words: EStepInputs
) -> tuple[float, CountsByWord]:
    """Compute the log likelihood and the expected counts of some clips."""
    total, counts = 0.0, zero_counts(words.tables)
    readings = [make_scorer(example.seen, words.tables, words.sight) for example in chunk]
    if words.device is not None:
        compute_on_device(readings, [example.sentences for example in chunk], words.device)
    for example, reading in zip(chunk, readings, strict=True):
        ratios = reading.log_ratios(example.sentences)
        likely = np.log1p(-words.noise) + ratios
        mixed = np.logaddexp(likely, np.log(words.noise)) if words.noise else likely
        total += float(mixed[np.isfinite(mixed)].sum())
        shares = np.exp(np.where(np.isfinite(likely), likely - mixed, -np.inf))
        reading.add_counts(example.sentences, shares, counts)
    return total, counts


def expected_counts(
    examples: Sequence[TrainingExample],
    tables: Mapping[str, WordTables],
    sight: TrackPrior,
    *,
    noise: float = 0.0,
    threads: int = 1,
) -> tuple[float, CountsByWord]:
    """Compute the log likelihood of a corpus and the expected counts of its words.

    Returns:
        The sum over pairs of log((1 - noise) ratio + noise), and the counts.
    """
    words = EStepInputs(tables, sight, noise)
    return _summed(tables, map_chunks(examples, partial(expected_counts_of, words=words), threads))


class EngineExamples:
    """A corpus held where an engine works, so that only words and sums travel.

    Args:
        engine: Who works.
        examples: The corpus.
        device: Where lattices are computed; larger chunks go there at once.
    """

    def __init__(
        self, engine: Engine, examples: Sequence[TrainingExample], *, device: str | None = None
    ) -> None:
        self._device = device
        size = None if device is None else DEVICE_CHUNK
        # Sentences to choose among are of no use here and need not travel.
        told = [TrainingExample(example.seen, example.sentences) for example in examples]
        self._held = engine.hold(split_chunks(told, size)).__enter__()

    def expected(
        self, tables: Mapping[str, WordTables], sight: TrackPrior, *, noise: float = 0.0
    ) -> tuple[float, CountsByWord]:
        """Do what :func:`expected_counts` does; without a device to the same digits."""
        words = EStepInputs(dict(tables), sight, noise, self._device)
        return _summed(
            tables, _reporting_losses(self._held.map(_expected_counts_with_losses, words))
        )

    def close(self) -> None:
        """Let the corpus go."""
        self._held.__exit__(None, None, None)


def _expected_counts_with_losses(
    chunk: Sequence[TrainingExample], words: EStepInputs
) -> tuple[tuple[float, CountsByWord], list[float]]:
    """Do what :func:`expected_counts_of` does within the words' limits, and tell what that lost."""
    with using_limits(words.limits), collect_losses() as losses:
        return expected_counts_of(chunk, words), losses


def _reporting_losses(
    parts: Iterable[tuple[tuple[float, CountsByWord], list[float]]],
) -> Iterator[tuple[float, CountsByWord]]:
    for part, lost in parts:
        report_losses(lost)
        yield part


def _summed(
    tables: Mapping[str, WordTables], parts: Iterable[tuple[float, CountsByWord]]
) -> tuple[float, CountsByWord]:
    total, counts = 0.0, zero_counts(tables)
    for part, mine in parts:
        total += part
        for entry, found in mine.items():
            counts[entry].add(found)
    return total, counts


# The M-step: new tables from expected counts, with imagined counts that keep rare words sane.
#
# The imagined counts are those of Dirichlet priors, so the sum of log likelihood and log prior is
# what EM raises; both are given here, so that the rise can be watched.


@dataclass(frozen=True)
class WordSmoothing:
    """Imagined counts.

    Attributes:
        emission: Imagined sights per state and feature of words that change in time, spread like
            the background.
        static: The same for words of one state, such as nouns.
        transition: Imagined steps between any two states that may follow each other.
    """

    emission: float = 5.0
    static: float = 5.0
    transition: float = 1.0

    def of(self, word: WordModel) -> float:
        """Return the imagined sights of a word."""
        return self.static if word.num_states == 1 else self.emission


def m_step(
    tables: dict[str, WordTables],
    counts: CountsByWord,
    background: Background,
    smoothing: WordSmoothing,
) -> dict[str, WordModel]:
    """Return the words whose tables fit the counts best."""
    return {
        entry: _refitted(table, counts, background, smoothing) for entry, table in tables.items()
    }


def _refitted(
    table: WordTables, counts: CountsByWord, background: Background, smoothing: WordSmoothing
) -> WordModel:
    word, mine = table.word, counts[table.word.entry]
    imagined = smoothing.of(word)
    emissions = tuple(
        _shares(found + imagined * background[slot.feature])
        for slot, found in zip(word.slots, table.emission_counts(mine), strict=True)
    )
    # What is impossible stays so: left to right is a matter of zeros.
    initial = (mine.initial + smoothing.transition) * (word.initial > 0)
    steps = (mine.transition + smoothing.transition) * (word.transition > 0)
    return replace(word, initial=_shares(initial), transition=_shares(steps), emissions=emissions)


def _imagined_steps(word: WordModel, smoothing: WordSmoothing) -> tuple[Array, Array]:
    """Return imagined first states and steps; what is impossible stays so."""
    count = np.float64(smoothing.transition)
    return np.where(word.initial > 0, count, 0.0), np.where(word.transition > 0, count, 0.0)


def log_prior(
    words: dict[str, WordModel],
    background: Background,
    smoothing: WordSmoothing,
    *,
    temper: float = 1.0,
) -> float:
    """Return the log prior of all tables, up to a constant.

    Under a temper the emissions of words with several states count less, and so does their prior.
    """
    total = 0.0
    for word in words.values():
        power = temper if word.num_states > 1 else 1.0
        imagined = power * smoothing.of(word)
        for slot, emission in zip(word.slots, word.emissions, strict=True):
            total += imagined * float((np.log(emission) @ background[slot.feature]).sum())
        pairs = zip((word.initial, word.transition), _imagined_steps(word, smoothing), strict=True)
        for table, counts in pairs:
            known = table > 0
            total += float((counts[known] * np.log(table[known])).sum())
    return total


def _shares(counts: Array) -> Array:
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))
