"""Queries by picture: one, several, or a rectangle of one."""

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.visual.features import Array, Samples, VisualFeatures

__all__ = ["Region", "picture_query", "picture_samples"]

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
