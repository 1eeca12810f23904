"""The E-step: expected counts of all words over a corpus, with the same sums wherever it runs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from wordsight.engine import Engine
from wordsight.inference import Limits, collect_losses, current_limits, report_losses, using_limits
from wordsight.meaning.corpus import Example
from wordsight.meaning.joint_tracks import look_on_device
from wordsight.meaning.reading import Counts, Sight, read
from wordsight.meaning.tables import WordTables

__all__ = [
    "HeldExamples",
    "Words",
    "chunks_of",
    "expected",
    "expected_of",
    "in_chunks",
    "no_counts",
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


def no_counts(tables: Mapping[str, WordTables]) -> Counts:
    """Return counts of nothing for all words."""
    return {entry: table.no_counts() for entry, table in tables.items()}


def chunks_of(items: Sequence[Item], size: int | None = None) -> list[Sequence[Item]]:
    """Cut a corpus into chunks; how large they are follows from its size if left out."""
    if size is None:
        # Sums of a chunk travel as one: large chunks cost less, many are shared out evenly.
        size = max(CHUNK, min(_LARGEST_CHUNK, len(items) // _MOST_CHUNKS))
    return [items[first : first + size] for first in range(0, len(items), size)]


def in_chunks(
    items: Sequence[Item], work: Callable[[Sequence[Item]], Result], threads: int
) -> list[Result]:
    """Do work on chunks of examples or the like, in threads; results in their order."""
    chunks = chunks_of(items)
    if threads <= 1 or len(chunks) <= 1:
        return [work(chunk) for chunk in chunks]
    # Threads know nothing of the limits and notes of who started them, unless they are told.
    calls = [partial(copy_context().run, work, chunk) for chunk in chunks]
    with ThreadPoolExecutor(max_workers=threads) as pool:
        return [done.result() for done in [pool.submit(call) for call in calls]]


@dataclass(frozen=True)
class Words:
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
    sight: Sight
    noise: float = 0.0
    device: str | None = None
    limits: Limits = field(default_factory=current_limits)


def expected_of(chunk: Sequence[Example], words: Words) -> tuple[float, Counts]:
    """Compute the log likelihood and the expected counts of some clips."""
    total, counts = 0.0, no_counts(words.tables)
    readings = [read(example.seen, words.tables, words.sight) for example in chunk]
    if words.device is not None:
        look_on_device(readings, [example.sentences for example in chunk], words.device)
    for example, reading in zip(chunk, readings, strict=True):
        ratios = reading.log_ratios(example.sentences)
        likely = np.log1p(-words.noise) + ratios
        mixed = np.logaddexp(likely, np.log(words.noise)) if words.noise else likely
        total += float(mixed[np.isfinite(mixed)].sum())
        shares = np.exp(np.where(np.isfinite(likely), likely - mixed, -np.inf))
        reading.add_counts(example.sentences, shares, counts)
    return total, counts


def expected(
    examples: Sequence[Example],
    tables: Mapping[str, WordTables],
    sight: Sight,
    *,
    noise: float = 0.0,
    threads: int = 1,
) -> tuple[float, Counts]:
    """Compute the log likelihood of a corpus and the expected counts of its words.

    Returns:
        The sum over pairs of log((1 - noise) ratio + noise), and the counts.
    """
    words = Words(tables, sight, noise)
    return _added_up(tables, in_chunks(examples, partial(expected_of, words=words), threads))


class HeldExamples:
    """A corpus held where an engine works, so that only words and sums travel.

    Args:
        engine: Who works.
        examples: The corpus.
        device: Where lattices are computed; larger chunks go there at once.
    """

    def __init__(
        self, engine: Engine, examples: Sequence[Example], *, device: str | None = None
    ) -> None:
        self._device = device
        size = None if device is None else DEVICE_CHUNK
        # Sentences to choose among are of no use here and need not travel.
        told = [Example(example.seen, example.sentences) for example in examples]
        self._held = engine.hold(chunks_of(told, size)).__enter__()

    def expected(
        self, tables: Mapping[str, WordTables], sight: Sight, *, noise: float = 0.0
    ) -> tuple[float, Counts]:
        """Do what :func:`expected` does; without a device to the same digits."""
        words = Words(dict(tables), sight, noise, self._device)
        return _added_up(tables, _noted(self._held.map(_expected_elsewhere, words)))

    def close(self) -> None:
        """Let the corpus go."""
        self._held.__exit__(None, None, None)


def _expected_elsewhere(
    chunk: Sequence[Example], words: Words
) -> tuple[tuple[float, Counts], list[float]]:
    """Do what :func:`expected_of` does within the words' limits, and tell what that lost."""
    with using_limits(words.limits), collect_losses() as losses:
        return expected_of(chunk, words), losses


def _noted(
    parts: Iterable[tuple[tuple[float, Counts], list[float]]],
) -> Iterator[tuple[float, Counts]]:
    for part, lost in parts:
        report_losses(lost)
        yield part


def _added_up(
    tables: Mapping[str, WordTables], parts: Iterable[tuple[float, Counts]]
) -> tuple[float, Counts]:
    total, counts = 0.0, no_counts(tables)
    for part, mine in parts:
        total += part
        for entry, found in mine.items():
            counts[entry].add(found)
    return total, counts
