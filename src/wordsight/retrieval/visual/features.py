"""What pictures are described by: sets of samples, and the scale on which they are compared."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.retrieval.errors import RetrievalError

__all__ = [
    "FeatureScale",
    "Region",
    "Samples",
    "VisualFeatures",
    "picture_query",
    "picture_samples",
]

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


# Queries by picture: one, several, or a rectangle of one.


Region = tuple[float, float, float, float]
"""A rectangle of a picture: left edge, upper edge, width and height in pixels."""


def picture_samples(
    features: VisualFeatures,
    picture: NDArray[np.uint8] | str | os.PathLike[str],
    region: Region | None = None,
) -> Samples:
    """Describe a picture or a rectangle of it.

    Args:
        features: How.
        picture: ``(H, W, 3)`` RGB, or a PNG or JPEG file.
        region: The rectangle; the whole picture if left out. One smaller than a block stands for
            the block it lies in.

    Raises:
        VideoError: If the file cannot be read as a picture.
        RetrievalError: If the region lies outside the picture or is empty.
    """
    if not isinstance(picture, np.ndarray):
        from wordsight.video.images import read_image

        picture = read_image(picture)
    samples = features.samples(picture)
    if region is None:
        return samples
    x, y, width, height = region
    if x >= picture.shape[1] or y >= picture.shape[0] or x + width <= 0 or y + height <= 0:
        raise RetrievalError(
            f"the region {x:g},{y:g},{width:g},{height:g} (left, top, width, height) lies outside "
            f"the picture of {picture.shape[1]} x {picture.shape[0]} pixels."
        )
    return samples.inside(x, y, width, height)


def picture_query(
    features: VisualFeatures,
    pictures: Sequence[NDArray[np.uint8] | str | os.PathLike[str]],
    region: Region | None = None,
    *,
    anywhere: bool | None = None,
) -> Array:
    """Make one query of one or several pictures.

    Args:
        features: The features of the index.
        pictures: At least one; every picture counts alike, whatever its size.
        region: A rectangle of the first picture; the others count whole.
        anywhere: Whether what is shown may lie anywhere in a found shot, so that places are left
            out of the comparison; by default so for a region, and not for whole pictures.

    Returns:
        ``(N, n)`` samples; places that do not count are NaN.
    """
    if not pictures:
        raise RetrievalError("a query by picture needs at least one picture, got none.")
    first = picture_samples(features, pictures[0], region)
    bags = [first, *(picture_samples(features, picture) for picture in pictures[1:])]
    values = Samples.together(_of_one_size(bags)).values.copy()
    if anywhere if anywhere is not None else region is not None:
        values[:, list(features.places)] = np.nan
    return values


def _of_one_size(bags: Sequence[Samples]) -> list[Samples]:
    """Repeat the samples of smaller bags, so that a large picture does not outvote a region."""
    most = max(len(bag) for bag in bags)
    filled = []
    for bag in bags:
        rows = np.linspace(0, len(bag) - 1, most).round().astype(np.int64)
        filled.append(bag if len(bag) == most else Samples(bag.values[rows], bag.boxes[rows]))
    return filled
