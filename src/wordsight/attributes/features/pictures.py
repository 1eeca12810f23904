r"""Picture features: one class per kind of feature, with a common interface.

The features of the paper are higher-order local autocorrelations: for pixel values f and two
offsets within a 3 x 3 window, the means over all pixels r of :math:`f(r)`, :math:`f(r)f(r+a)` and
:math:`f(r)f(r+a)f(r+b)`, each pattern once up to translation. They are invariant to translation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from typing import Any, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.features.figures import Figure, gradient_histograms
from wordsight.errors import TeachingError

__all__ = [
    "Autocorrelation",
    "Colours",
    "Frequencies",
    "Gradients",
    "HlacMask",
    "PictureFeature",
    "autocorrelation",
    "feature_from_json",
    "feature_to_json",
    "hlac_masks",
    "picture_features",
]

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]
HlacMask = tuple[tuple[int, int], ...]
"""The pixels that are multiplied: row and column offsets, the first being the centre."""

_WINDOW = tuple((row, column) for row in (-1, 0, 1) for column in (-1, 0, 1))
_CENTRE = _WINDOW.index((0, 0))
_HLAC_PIXELS = 1 << 15  # the neighbourhoods of a block fit the cache
_STACK_PIXELS = 1 << 19  # in a stack; more would only wait for memory
_LIGHTNESS = np.array([0.299, 0.587, 0.114], dtype=np.float32)
# Rows: the I and Q chroma of the NTSC standard, which the paper used.
_CHROMA = np.array([[0.596, -0.274, -0.322], [0.211, -0.523, 0.312]], dtype=np.float32)


class PictureFeature(Protocol):
    """Converts pictures to rows of numbers."""

    @property
    def name(self) -> str:
        """The name for display."""

    def describe(self, pictures: Sequence[Picture]) -> Array:
        """Return ``(N, D)`` for N RGB pictures ``(H, W, 3)`` of any sizes."""


@dataclass(frozen=True)
class Autocorrelation:
    """Higher-order local autocorrelation at several resolutions; invariant to translation.

    Attributes:
        channels: "chroma" (I and Q, as in the paper) or "light" (lightness, contrast normalised).
        num_masks: 25 or 35.
        resolutions: Number of resolutions.
        step: Every how many-th row and column of one resolution the next keeps.
        size: Width and height to resize pictures to; ``None`` to keep their size.
    """

    channels: str = "chroma"
    num_masks: int = 25
    resolutions: int = 3
    step: int = 4
    size: tuple[int, int] | None = None

    @property
    def name(self) -> str:
        """The name for display."""
        return f"autocorrelation of {self.channels}"

    def describe(self, pictures: Sequence[Picture]) -> Array:
        """Return ``(N, channels x resolutions x masks)``; 150 by default."""
        return _by_size(pictures, self.size, self._describe)

    def _describe(self, pictures: Picture) -> Array:
        if self.channels == "chroma":
            planes = [pictures.astype(np.float32) @ row / 128 for row in _CHROMA]
        elif self.channels == "light":
            planes = [_normalised_lightness(pictures)]
        else:
            raise TeachingError(f"channels must be 'chroma' or 'light', got {self.channels!r}.")
        steps = [self.step**level for level in range(self.resolutions)]
        return np.hstack(
            [
                autocorrelation(plane[:, ::step, ::step], self.num_masks)
                for plane in planes
                for step in steps
            ]
        )


@dataclass(frozen=True)
class Colours:
    """Colours as log ratios, by lightness and relative to the brightest part of the picture.

    Dim or tinted light shifts the log ratios of a whole picture alike. The brightest part is often
    white or a highlight, so that colours relative to it are robust to illumination.

    Attributes:
        bands: Number of bands of equal size into which pixels are sorted by lightness.
        brightest: Share of the pixels that count as brightest.
        side: Width and height to which pictures are resized.
    """

    bands: int = 8
    brightest: float = 0.1
    side: int = 32

    name = "colours"

    def describe(self, pictures: Sequence[Picture]) -> Array:
        """Return ``(N, 2 x bands + 20)``."""
        return _by_size(pictures, (self.side, self.side), self._describe)

    def _describe(self, pictures: Picture) -> Array:
        pixels = pictures.reshape(len(pictures), -1, 3).astype(np.float32)
        order = np.argsort(pixels @ _LIGHTNESS, axis=1, kind="stable")
        pixels = np.take_along_axis(pixels, order[..., None], axis=1)
        ratios = _log_ratios(pixels)
        bands = np.stack([part.mean(axis=1) for part in np.array_split(ratios, self.bands, axis=1)])
        count = max(1, round(self.brightest * pixels.shape[1]))
        white = _log_ratios(pixels[:, -count:].mean(axis=1))
        relative = ratios - white[:, None]
        percentiles = np.percentile(relative, [5, 10, 25, 50, 75, 90, 95], axis=1)
        moments = [relative.mean(axis=1), relative.std(axis=1), white]
        return np.hstack([*bands, *percentiles, *moments]).astype(np.float64)


@dataclass(frozen=True)
class Gradients:
    """Histograms of oriented gradients: the shape of what fills the picture.

    Attributes:
        side: Width and height to which pictures are resized; a multiple of 16.
    """

    side: int = 64

    name = "gradients"

    def describe(self, pictures: Sequence[Picture]) -> Array:
        """Return ``(N, D)``; D is 576 for a side of 64."""
        side = self.side
        if side < 16 or side % 16:
            raise TeachingError(f"the side must be a multiple of 16, got {side}.")

        def histograms(stack: Picture) -> Array:
            grey = (cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY) for picture in stack)
            return gradient_histograms(grey, side)

        return _by_size(pictures, (side, side), histograms)


@dataclass(frozen=True)
class Frequencies:
    """Low spatial frequencies (DCT) of lightness, normalised in brightness and contrast.

    Attributes:
        count: Frequencies kept along each side.
        side: Width and height to which pictures are resized.
    """

    count: int = 12
    side: int = 32

    name = "frequencies"

    def describe(self, pictures: Sequence[Picture]) -> Array:
        """Return ``(N, count ** 2 - 1)``."""
        return _by_size(pictures, (self.side, self.side), self._describe)

    def _describe(self, pictures: Picture) -> Array:
        from scipy.fft import dctn

        waves = dctn(_normalised_lightness(pictures), axes=(1, 2), norm="ortho")
        low = waves[:, : self.count, : self.count].reshape(len(pictures), -1)
        return np.asarray(low[:, 1:], dtype=np.float64)


_KINDS: dict[str, type[Any]] = {
    "figure": Figure,
    "autocorrelation": Autocorrelation,
    "colours": Colours,
    "gradients": Gradients,
    "frequencies": Frequencies,
}
_SETS: dict[str, tuple[PictureFeature, ...]] = {
    "recommended": (Colours(), Gradients(), Figure()),
    "figures": (Figure(),),
    "paper": (Autocorrelation(),),
}


def picture_features(features: str | Sequence[PictureFeature]) -> tuple[PictureFeature, ...]:
    """Return a named set of features; given features are returned as they are.

    "recommended" describes the whole picture and the object that stands out from its background,
    "figures" only that object, "paper" is the published set.

    Raises:
        TeachingError: If there is no set of that name, or no feature.
    """
    if isinstance(features, str):
        if features not in _SETS:
            raise TeachingError(
                f"there are no picture features {features!r}; known are {', '.join(_SETS)}."
            )
        return _SETS[features]
    if not features:
        raise TeachingError("pictures need at least one feature.")
    return tuple(features)


def feature_to_json(feature: PictureFeature) -> dict[str, Any]:
    """Return the kind and the settings of a feature as JSON values."""
    for kind, kind_class in _KINDS.items():
        if type(feature) is kind_class:
            return {"kind": kind, **vars(feature)}
    raise TeachingError(
        f"features of {type(feature).__name__} cannot be saved; known are {', '.join(_KINDS)}."
    )


def feature_from_json(values: dict[str, Any]) -> PictureFeature:
    """Create a feature from the result of :func:`feature_to_json`."""
    settings = dict(values)
    kind = settings.pop("kind")
    if settings.get("size") is not None:
        settings["size"] = tuple(settings["size"])
    feature: PictureFeature = _KINDS[kind](**settings)
    return feature


@cache
def hlac_masks(number: int = 25) -> tuple[HlacMask, ...]:
    """Enumerate the patterns of one, two or three pixels around a centre.

    Args:
        number: 25 for patterns of distinct pixels (enough for binary pictures), or 35 for patterns
            in which a pixel may be multiplied with itself.

    Returns:
        The patterns, those of fewer pixels first; no two are the same up to translation.

    Raises:
        TeachingError: If ``number`` is neither.

    Examples:
        >>> [sum(len(mask) == order for mask in hlac_masks(25)) for order in (1, 2, 3)]
        [1, 4, 20]
    """
    if number not in (25, 35):
        raise TeachingError(f"the number of masks must be 25 or 35, got {number}.")
    masks: dict[frozenset[tuple[int, int, int]], HlacMask] = {}
    for order in (0, 1, 2):
        for others in combinations_with_replacement(_WINDOW, order):
            mask = ((0, 0), *others)
            if number == 25 and len(set(mask)) < len(mask):
                continue
            masks.setdefault(_shape(mask), mask)
    return tuple(masks.values())


def _shape(mask: HlacMask) -> frozenset[tuple[int, int, int]]:
    """Return the translation invariant of a mask: offsets from its corner, with multiplicity."""
    top, left = (min(point[axis] for point in mask) for axis in (0, 1))
    return frozenset((row - top, column - left, mask.count((row, column))) for row, column in mask)


def autocorrelation(pictures: NDArray[np.floating], number: int = 25) -> Array:
    """Compute the local autocorrelations of grey pictures of one size.

    All products of three pixels around a centre are one matrix product: the neighbourhoods weighted
    by their centre, times the neighbourhoods.

    Args:
        pictures: ``(N, H, W)`` values of about unit size.
        number: 25 or 35 masks.

    Returns:
        ``(N, number)`` means over the pixels whose window lies within the picture; zeros if the
        picture is smaller than the window.
    """
    patterns = hlac_masks(number)
    means = np.zeros((len(pictures), number))
    if min(pictures.shape[1:]) < 3:
        return means
    places: list[tuple[Any, ...]] = [
        (slice(None), *(_WINDOW.index(point) for point in mask[1:])) for mask in patterns
    ]
    step = max(1, _HLAC_PIXELS // (pictures.shape[1] * pictures.shape[2]))
    for start in range(0, len(pictures), step):
        block = slice(start, start + step)
        near = _neighbourhoods(np.asarray(pictures[block], dtype=np.float32))
        centre = near[:, _CENTRE]
        threes = (near * centre[:, None]) @ near.transpose(0, 2, 1)
        twos = (near @ centre[..., None])[..., 0]
        ones = centre.sum(axis=1)
        for column, place in enumerate(places):
            means[block, column] = (ones, twos, threes)[len(place) - 1][place]
    return np.asarray(means / ((pictures.shape[1] - 2) * (pictures.shape[2] - 2)))


def _neighbourhoods(pictures: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ``(N, 9, pixels)`` the window around every inner pixel."""
    rows, columns = pictures.shape[1] - 2, pictures.shape[2] - 2
    shifted = [
        pictures[:, 1 + row : 1 + row + rows, 1 + column : 1 + column + columns]
        for row, column in _WINDOW
    ]
    return np.stack(shifted, axis=1).reshape(len(pictures), len(_WINDOW), -1)


def _by_size(
    pictures: Sequence[Picture],
    size: tuple[int, int] | None,
    describe: Callable[[Picture], Array],
) -> Array:
    """Describe pictures in stacks of one size, much faster than one by one."""
    scaled = [_resized(picture, size) for picture in pictures]
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, picture in enumerate(scaled):
        groups.setdefault(picture.shape, []).append(number)
    rows: list[Array] = [np.zeros(0)] * len(scaled)
    for shape, numbers in groups.items():
        step = max(1, _STACK_PIXELS // (shape[0] * shape[1]))
        for start in range(0, len(numbers), step):
            block = numbers[start : start + step]
            described = describe(np.stack([scaled[number] for number in block]))
            for row, number in zip(described, block, strict=True):
                rows[number] = row
    return np.stack(rows) if rows else np.zeros((0, 0))


def _resized(picture: Picture, size: tuple[int, int] | None) -> Picture:
    if size is None or picture.shape[1::-1] == size:
        return picture
    shrinking = picture.shape[1] >= size[0] and picture.shape[0] >= size[1]
    method = cv2.INTER_AREA if shrinking else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(picture, size, interpolation=method), dtype=np.uint8)


def _normalised_lightness(pictures: Picture) -> NDArray[np.float32]:
    light = pictures.astype(np.float32) @ _LIGHTNESS
    light -= light.mean(axis=(1, 2), keepdims=True)
    # Two grey levels added: uniform pictures are not amplified to noise.
    return np.asarray(light / (light.std(axis=(1, 2), keepdims=True) + 2), dtype=np.float32)


def _log_ratios(pixels: NDArray[np.float32]) -> NDArray[np.float32]:
    # Eight grey levels added: the ratios of nearly black pixels are noise.
    red, green, blue = np.moveaxis(np.log(pixels + 8), -1, 0)
    return np.stack([red - green, (red + green) / 2 - blue], axis=-1)
