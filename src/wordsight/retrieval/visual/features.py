"""Bags of samples that describe pictures, the scale on which they are compared, and queries."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.errors import RetrievalError

__all__ = [
    "FeatureScale",
    "Region",
    "Samples",
    "VisualFeatures",
    "picture_query",
    "picture_samples",
]

Array = NDArray[np.float64]

Region = tuple[float, float, float, float]
"""A rectangle of a picture: left edge, upper edge, width and height in pixels."""


@dataclass(frozen=True, eq=False)
class Samples:
    """A picture as a bag of samples.

    Attributes:
        values: ``(N, n)`` one row per sample.
        boxes: ``(N, 4)`` where each was taken: corners x1, y1, x2, y2 in pixels.
    """

    values: Array
    boxes: Array

    def __len__(self) -> int:
        return len(self.values)

    def crop(self, x: float, y: float, width: float, height: float) -> Self:
        """Return the samples whose centre lies in a rectangle, the nearest one if none does.

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
    def concatenate(cls, bags: Sequence["Samples"]) -> "Samples":
        """Return the samples of several pictures as one bag."""
        if not bags:
            raise RetrievalError("a query needs at least one picture, got none.")
        return cls(
            np.concatenate([each.values for each in bags]),
            np.concatenate([each.boxes for each in bags]),
        )


class VisualFeatures(Protocol):
    """Converts pictures into samples."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the dimensions."""

    @property
    def resolution(self) -> Array:
        """``(n,)`` the smallest meaningful difference, in units of each dimension."""

    @property
    def places(self) -> tuple[int, ...]:
        """The dimensions that say where a sample is, not what it looks like."""

    def samples(self, image: NDArray[np.uint8]) -> Samples:
        """Describe a picture ``(H, W, 3)`` RGB."""

    def render(self, values: ArrayLike) -> NDArray[np.uint8]:
        """Render samples ``(N, n)`` as ``(N, h, w, 3)`` RGB, as far as they determine it."""


@dataclass(frozen=True, eq=False)
class FeatureScale:
    """Mean and spread of the samples of a collection, by which samples are standardised.

    Attributes:
        center: ``(n,)`` mean of each dimension.
        spread: ``(n,)`` standard deviation of each, at least the features' resolution.
    """

    center: Array
    spread: Array

    @classmethod
    def measure(cls, collection: Iterable[ArrayLike], resolution: ArrayLike) -> Self:
        """Measure the scale over bags of samples, one in memory at a time.

        Args:
            collection: Arrays ``(N, n)``.
            resolution: ``(n,)`` the smallest spread.

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
            raise RetrievalError("the scale cannot be measured without samples; add pictures.")
        center = total / count
        spread = np.sqrt(np.maximum(squares / count - center**2, 0.0))
        return cls(center, np.maximum(spread, resolution))

    def standardise(self, values: ArrayLike) -> Array:
        """Return samples in units of the spread; NaN stays NaN."""
        scaled: Array = (np.asarray(values, dtype=np.float64) - self.center) / self.spread
        return scaled

    def restore(self, values: ArrayLike) -> Array:
        """Invert :meth:`standardise`."""
        raw: Array = np.asarray(values, dtype=np.float64) * self.spread + self.center
        return raw

    def to_json(self) -> dict[str, list[float]]:
        """Return the scale as JSON values, to the last digit."""
        return {"center": self.center.tolist(), "spread": self.spread.tolist()}

    @classmethod
    def from_json(cls, values: dict[str, list[float]]) -> Self:
        """Create a scale from the result of :meth:`to_json`."""
        return cls(np.array(values["center"]), np.array(values["spread"]))


def picture_samples(
    features: VisualFeatures,
    picture: NDArray[np.uint8] | str | os.PathLike[str],
    region: Region | None = None,
) -> Samples:
    """Describe a picture or a rectangle of it.

    Args:
        features: The features.
        picture: ``(H, W, 3)`` RGB, or a PNG or JPEG file.
        region: The rectangle; the whole picture by default. One smaller than a block stands for
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
    return samples.crop(x, y, width, height)


def picture_query(
    features: VisualFeatures,
    pictures: Sequence[NDArray[np.uint8] | str | os.PathLike[str]],
    region: Region | None = None,
    *,
    anywhere: bool | None = None,
) -> Array:
    """Combine one or several pictures into a query.

    Args:
        features: The features of the index.
        pictures: At least one; each has the same weight, whatever its size.
        region: A rectangle of the first picture; the others are used whole.
        anywhere: Whether the content may lie anywhere in a shot, so that places are ignored; by
            default for a region, and not for whole pictures.

    Returns:
        ``(N, n)`` samples; ignored places are NaN.
    """
    if not pictures:
        raise RetrievalError("a query by picture needs at least one picture, got none.")
    first = picture_samples(features, pictures[0], region)
    bags = [first, *(picture_samples(features, picture) for picture in pictures[1:])]
    values = Samples.concatenate(_equal_sizes(bags)).values.copy()
    if anywhere if anywhere is not None else region is not None:
        values[:, list(features.places)] = np.nan
    return values


def _equal_sizes(bags: Sequence[Samples]) -> list[Samples]:
    """Repeat the samples of smaller bags, so that a large picture does not outweigh a region."""
    most = max(len(bag) for bag in bags)
    filled = []
    for bag in bags:
        rows = np.linspace(0, len(bag) - 1, most).round().astype(np.int64)
        filled.append(bag if len(bag) == most else Samples(bag.values[rows], bag.boxes[rows]))
    return filled
