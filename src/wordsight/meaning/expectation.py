"""The E-step: expected counts of all words over a corpus, in threads, with the same sums always."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.corpus import Example
from wordsight.meaning.reading import Counts, Sight, read
from wordsight.meaning.tables import WordTables

__all__ = ["expected", "in_chunks", "no_counts"]

Array = NDArray[np.float64]
Item = TypeVar("Item")
Result = TypeVar("Result")

CHUNK = 16
"""Clips whose counts are summed before they are added to the whole: fixed, so that the order of
additions, and with it every last digit, does not depend on the number of threads."""


def no_counts(tables: Mapping[str, WordTables]) -> Counts:
    """Return counts of nothing for all words."""
    return {entry: table.no_counts() for entry, table in tables.items()}


def in_chunks(
    items: Sequence[Item], work: Callable[[Sequence[Item]], Result], threads: int
) -> list[Result]:
    """Do work on chunks of examples or the like, in threads; results in their order."""
    chunks = [items[first : first + CHUNK] for first in range(0, len(items), CHUNK)]
    if threads <= 1 or len(chunks) <= 1:
        return [work(chunk) for chunk in chunks]
    with ThreadPoolExecutor(max_workers=threads) as pool:
        return list(pool.map(work, chunks))


def expected(
    examples: Sequence[Example],
    tables: Mapping[str, WordTables],
    sight: Sight,
    *,
    noise: float = 0.0,
    threads: int = 1,
) -> tuple[float, Counts]:
    """Compute the log likelihood of a corpus and the expected counts of its words.

    A pair of clip and sentence is taken to be a mistake with probability ``noise``; then the
    background explains the clip, and the pair teaches that much less.

    Returns:
        The sum over pairs of log((1 - noise) ratio + noise), and the counts.
    """

    def work(chunk: Sequence[Example]) -> tuple[float, Counts]:
        total, counts = 0.0, no_counts(tables)
        for example in chunk:
            reading = read(example.seen, tables, sight)
            ratios = reading.log_ratios(example.sentences)
            likely = np.log1p(-noise) + ratios
            mixed = np.logaddexp(likely, np.log(noise)) if noise else likely
            total += float(mixed[np.isfinite(mixed)].sum())
            shares = np.exp(np.where(np.isfinite(likely), likely - mixed, -np.inf))
            reading.add_counts(example.sentences, shares, counts)
        return total, counts

    total, counts = 0.0, no_counts(tables)
    for part, mine in in_chunks(examples, work, threads):
        total += part
        for entry, found in mine.items():
            counts[entry].add(found)
    return total, counts
