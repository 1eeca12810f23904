"""What pictures are described by: sets of samples, and the scale on which they are compared."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.retrieval.errors import RetrievalError

__all__ = ["FeatureScale", "Samples", "VisualFeatures"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Samples:
    """A picture as a bag of samples.

    Attributes:
        values: ``(N, n)`` one row per sample.
        boxes: ``(N, 4)`` where each was taken: corners x1, y1, x2, y2 in pixels of the picture.
    """

    values: Array
    boxes: Array

    def __len__(self) -> int:
        return len(self.values)

    def inside(self, x: float, y: float, width: float, height: float) -> Self:
        """Return the samples whose middle lies in a rectangle, the nearest one if none does.

        Args:
            x: Left edge in pixels.
            y: Upper edge in pixels.
            width: In pixels, above 0.
            height: In pixels, above 0.
        """
        if not (width > 0 and height > 0):
            raise RetrievalError(
                f"a region needs a width and a height above 0, got {width} x {height}."
            )
        middle = (self.boxes[:, :2] + self.boxes[:, 2:]) / 2
        low, high = np.array([x, y]), np.array([x + width, y + height])
        if np.any(high <= 0) or np.any(low >= self.boxes[:, 2:].max(axis=0)):
            raise RetrievalError(
                f"the region {x:g},{y:g},{width:g},{height:g} lies outside the picture of about "
                "{:.0f} x {:.0f} pixels.".format(*self.boxes[:, 2:].max(axis=0))
            )
        chosen = np.all((middle >= low) & (middle < high), axis=1)
        if not chosen.any():
            away = np.maximum(np.maximum(low - middle, middle - high), 0.0)
            chosen[int(np.argmin((away**2).sum(axis=1)))] = True
        return type(self)(self.values[chosen], self.boxes[chosen])

    @classmethod
    def together(cls, several: Sequence["Samples"]) -> "Samples":
        """Return all samples of several pictures as one bag."""
        if not several:
            raise RetrievalError("a query needs at least one picture, got none.")
        return cls(
            np.concatenate([each.values for each in several]),
            np.concatenate([each.boxes for each in several]),
        )


class VisualFeatures(Protocol):
    """Turns pictures into samples."""

    @property
    def names(self) -> tuple[str, ...]:
        """What each dimension is called."""

    @property
    def resolution(self) -> Array:
        """``(n,)`` the least difference that means anything, in units of each dimension."""

    @property
    def places(self) -> tuple[int, ...]:
        """Which dimensions say where a sample is, not what it looks like."""

    def samples(self, image: NDArray[np.uint8]) -> Samples:
        """Describe a picture ``(H, W, 3)`` RGB."""

    def pictured(self, values: ArrayLike) -> NDArray[np.uint8]:
        """Draw samples ``(N, n)``: ``(N, h, w, 3)`` RGB, as far as they tell."""

    def settings(self) -> dict[str, Any]:
        """Return what it was made with, as JSON can hold it."""


@dataclass(frozen=True, eq=False)
class FeatureScale:
    """Where the samples of a collection lie: models are fitted in units of its spread.

    Attributes:
        center: ``(n,)`` mean of each dimension.
        spread: ``(n,)`` standard deviation of each, at least the features' resolution.
    """

    center: Array
    spread: Array

    @classmethod
    def of(cls, collection: Iterable[ArrayLike], resolution: ArrayLike) -> Self:
        """Measure it over bags of samples, one in memory at a time.

        Args:
            collection: Arrays ``(N, n)``.
            resolution: ``(n,)`` the least spread to assume.

        Raises:
            RetrievalError: If there are no samples.
        """
        count, total, squares = 0, np.zeros(np.shape(resolution)), np.zeros(np.shape(resolution))
        for each in collection:
            values = np.asarray(each, dtype=np.float64)
            count += len(values)
            total += values.sum(axis=0)
            squares += (values**2).sum(axis=0)
        if count == 0:
            raise RetrievalError("a collection without samples has no scale; give it pictures.")
        center = total / count
        spread = np.sqrt(np.maximum(squares / count - center**2, 0.0))
        return cls(center, np.maximum(spread, resolution))

    def standardised(self, values: ArrayLike) -> Array:
        """Return samples in units of the spread; NaN stays NaN."""
        scaled: Array = (np.asarray(values, dtype=np.float64) - self.center) / self.spread
        return scaled

    def restored(self, values: ArrayLike) -> Array:
        """Undo :meth:`standardised`."""
        raw: Array = np.asarray(values, dtype=np.float64) * self.spread + self.center
        return raw

    def to_json(self) -> dict[str, list[float]]:
        """Return it as JSON can hold it, to the last digit."""
        return {"center": self.center.tolist(), "spread": self.spread.tolist()}

    @classmethod
    def from_json(cls, values: dict[str, list[float]]) -> Self:
        """Read what :meth:`to_json` wrote."""
        return cls(np.array(values["center"]), np.array(values["spread"]))
