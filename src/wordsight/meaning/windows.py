"""`Windows`: how long films are cut into moments, and which moments are different ones."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from wordsight.meaning.errors import MeaningError
from wordsight.records import Clip

__all__ = ["Windows"]


class _Timed(Protocol):
    @property
    def start(self) -> float: ...

    @property
    def end(self) -> float: ...


_Moment = TypeVar("_Moment", bound=_Timed)


@dataclass(frozen=True)
class Windows:
    """How long films are looked through.

    Attributes:
        lengths: Lengths of windows in seconds; clips not longer than the longest are taken whole.
        step: From window to window, as a share of the length.
        overlap: Hits in one film that share more than this of their time with a better one are
            dropped.
    """

    lengths: tuple[float, ...] = (2.0, 4.0)
    step: float = 0.5
    overlap: float = 0.3

    def __post_init__(self) -> None:
        if not self.lengths or min(self.lengths) <= 0 or not 0 < self.step <= 1:
            raise MeaningError(
                "windows need lengths above 0 seconds and a step above 0 and up to 1, got "
                f"{self.lengths} and {self.step}."
            )

    def spans(self, clip: Clip) -> list[tuple[float, float]]:
        """Return from when to when, in seconds, each window of a clip lasts."""
        if clip.end - clip.start <= max(self.lengths):
            return [(clip.start, clip.end)]
        return [
            (float(start), min(float(start) + length, clip.end))
            for length in self.lengths
            for start in np.arange(
                clip.start, clip.end - length * (1 - self.step), self.step * length
            )
        ]

    def apart(self, ranked: Iterable[_Moment]) -> list[_Moment]:
        """Leave out moments that share too much of their time with a better one.

        Args:
            ranked: Moments of one film, best first.
        """
        kept: list[_Moment] = []
        for one in ranked:
            if all(_shared(one, other) <= self.overlap for other in kept):
                kept.append(one)
        return kept


def _shared(one: _Timed, other: _Timed) -> float:
    common = min(one.end, other.end) - max(one.start, other.start)
    shorter = min(one.end - one.start, other.end - other.start)
    return max(0.0, common) / max(shorter, 1e-9)
