"""`BlockDct`: the 8x8 blocks of a picture by colour, coarse texture and place (14 dimensions)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.visual.features import Array, Samples

__all__ = ["BlockDct", "DynamicBlockDct", "as_sequence"]


BLOCK = 8
"""Side of a block in pixels, as JPEG has it."""

NUM_TEXTURE = 10
"""Coefficients of the luminance that are kept: the coarsest, in zig-zag order."""

_KNEE = 8.0
"""Coefficients well above it (one grey level over the whole block) count by their logarithm."""

_LARGEST = float(np.log1p(1024 / _KNEE))  # of the compressed coefficients a block can have
_TEXTURE_SPREAD = 2.4
"""Spread that compressed coefficients are taken to have, two to three times what they have: nine of
them would otherwise outvote brightness and colour, which tell more."""

_ROUNDING_NOISE = 0.3  # standard deviation that rounding pixels to whole numbers leaves behind
_LEAST_SHARE = 0.02  # of the picture's width or height: places closer than this are the same


class BlockDct:
    """Describes blocks of 8x8 pixels by texture, colour and place.

    The dimensions are ten DCT coefficients of the luminance, the mean of both chromas (as the DC
    coefficient), and x and y of the block's middle as shares of the picture. Coefficients other
    than the mean are mostly tiny and sometimes huge, as no Gaussian is; their logarithm is tamer.

    Pictures are shrunk until their longer side is at most ``longest`` pixels, so that a huge one
    costs no more than a small one; those with fewer than ``fewest`` blocks are cut into overlapping
    blocks, and if that is not enough enlarged, so that there is something to fit a model to.

    Args:
        longest: Pixels of the longer side at which blocks are taken.
        stride: Pixels from block to block; 8 means side by side.
        fewest: How many blocks a picture should give.
        compress: Whether texture coefficients are taken by their logarithm, signs kept.
    """

    def __init__(
        self,
        longest: int = 352,
        stride: int = BLOCK,
        fewest: int = 200,
        *,
        compress: bool = True,
    ) -> None:
        if longest < BLOCK or not 1 <= stride <= BLOCK or fewest < 1:
            raise RetrievalError(
                f"longest must be {BLOCK} or more, stride 1 to {BLOCK} and fewest 1 or more, got "
                f"{longest}, {stride} and {fewest}."
            )
        self.longest, self.stride, self.fewest = longest, stride, fewest
        self.compress = compress
        self._basis = _zigzag_basis()

    @property
    def names(self) -> tuple[str, ...]:
        """What each dimension is called."""
        return (*(f"y{i}" for i in range(NUM_TEXTURE)), "cb", "cr", "x", "y")

    @property
    def resolution(self) -> Array:
        """``(14,)`` the least difference that means anything."""
        level = _ROUNDING_NOISE * BLOCK
        texture = _TEXTURE_SPREAD if self.compress else level
        looks = [level] + [texture] * (NUM_TEXTURE - 1) + [level] * 2
        return np.array(looks + [_LEAST_SHARE] * 2)

    @property
    def places(self) -> tuple[int, ...]:
        """The dimensions of x and y."""
        return (NUM_TEXTURE + 2, NUM_TEXTURE + 3)

    def samples(self, image: NDArray[np.uint8]) -> Samples:
        """Describe a picture.

        Args:
            image: ``(H, W, 3)`` RGB.

        Returns:
            One sample per block, row by row; boxes in pixels of the picture as given.
        """
        import cv2  # here, so that searching for words alone need not wait for it

        from wordsight.video.images import checked_image

        height, width = checked_image(image).shape[:2]
        small, stride = self._fitted(image)
        rows = np.arange(0, small.shape[0] - BLOCK + 1, stride)
        columns = np.arange(0, small.shape[1] - BLOCK + 1, stride)
        # Halves instead of OpenCV's 8-bit conversion: rounding would make flat areas look alike.
        planes = cv2.cvtColor(small.astype(np.float32), cv2.COLOR_RGB2YCrCb)
        grid = np.lib.stride_tricks.sliding_window_view(planes, (BLOCK, BLOCK), axis=(0, 1))
        blocks = grid[rows][:, columns].reshape(-1, 3, BLOCK * BLOCK)
        texture = blocks[:, 0] @ self._basis.T
        if self.compress:
            texture[:, 1:] = np.copysign(np.log1p(np.abs(texture[:, 1:]) / _KNEE), texture[:, 1:])
        chroma = blocks[:, 2:0:-1].sum(axis=2) / BLOCK
        top, left = (each.ravel() for each in np.meshgrid(rows, columns, indexing="ij"))
        boxes = np.stack([left, top, left + BLOCK, top + BLOCK], axis=1).astype(np.float64)
        boxes /= np.array([small.shape[1], small.shape[0]] * 2)
        places = (boxes[:, :2] + boxes[:, 2:]) / 2
        values = np.concatenate([texture, chroma, places], axis=1).astype(np.float64)
        return Samples(values, boxes * np.array([width, height] * 2))

    def pictured(self, values: ArrayLike) -> NDArray[np.uint8]:
        """Draw samples ``(N, 14)`` as blocks ``(N, 8, 8, 3)`` RGB of the texture that is known."""
        import cv2

        array = np.asarray(values, dtype=np.float64)
        planes = np.empty((len(array), BLOCK * BLOCK, 3), dtype=np.float32)
        texture = array[:, :NUM_TEXTURE].copy()
        if self.compress:
            # Drawn samples may lie beyond any coefficient there is; a block's range ends there.
            size = _KNEE * np.expm1(np.minimum(np.abs(texture[:, 1:]), _LARGEST))
            texture[:, 1:] = np.copysign(size, texture[:, 1:])
        planes[:, :, 0] = texture @ self._basis
        # The mean over a block is its DC coefficient divided by the side.
        planes[:, :, 2] = array[:, [NUM_TEXTURE]] / BLOCK
        planes[:, :, 1] = array[:, [NUM_TEXTURE + 1]] / BLOCK
        rgb = cv2.cvtColor(planes, cv2.COLOR_YCrCb2RGB)
        rounded: NDArray[np.uint8] = np.clip(np.rint(rgb), 0, 255).astype(np.uint8)
        return rounded.reshape(-1, BLOCK, BLOCK, 3)

    def settings(self) -> dict[str, Any]:
        """Return what it was made with."""
        return {
            "kind": "block-dct",
            "longest": self.longest,
            "stride": self.stride,
            "fewest": self.fewest,
            "compress": self.compress,
        }

    def _fitted(self, image: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], int]:
        """Shrink or enlarge a picture; return it and how far apart its blocks are."""
        import cv2

        factor = min(1.0, self.longest / max(image.shape[:2]))
        height, width = (max(BLOCK, round(side * factor)) for side in image.shape[:2])
        stride = self.stride
        while _count(height, width, stride) < self.fewest and stride > BLOCK // 4:
            stride = max(1, stride // 2)
        while _count(height, width, stride) < self.fewest and max(height, width) < self.longest:
            height, width = (min(self.longest, math.ceil(side * 1.2)) for side in (height, width))
        if (height, width) == image.shape[:2]:
            return image, stride
        smaller = height * width < image.shape[0] * image.shape[1]
        method = cv2.INTER_AREA if smaller else cv2.INTER_LINEAR
        return np.asarray(cv2.resize(image, (width, height), interpolation=method)), stride


def _count(height: int, width: int, stride: int) -> int:
    return ((height - BLOCK) // stride + 1) * ((width - BLOCK) // stride + 1)


def _zigzag_basis() -> NDArray[np.float32]:
    """Return ``(10, 64)``: the orthonormal DCT of a flattened block, coarsest coefficients."""
    places = np.arange(BLOCK)
    wave = np.cos(np.pi * (2 * places[None] + 1) * places[:, None] / (2 * BLOCK))
    wave *= np.sqrt(np.where(places == 0, 1.0, 2.0) / BLOCK)[:, None]
    # Diagonals of growing frequency, every second one walked upwards.
    order = sorted(
        ((u, v) for u in range(BLOCK) for v in range(BLOCK)),
        key=lambda uv: (sum(uv), uv[0] if sum(uv) % 2 else uv[1]),
    )
    chosen = [np.outer(wave[u], wave[v]).ravel() for u, v in order[:NUM_TEXTURE]]
    return np.array(chosen, dtype=np.float32)


# `DynamicBlockDct`: blocks of a second of video, with their time as one dimension more.


SECONDS = 1.0
"""How much video around the key frame a model is made from."""

_LEAST_TIME = 0.02  # of a second: times closer than this are the same


class DynamicBlockDct:
    """Describes blocks of several frames by texture, colour, place and time.

    Time runs from 0 to 1 over the second around the key frame and is the last dimension. Of a
    single picture the time is unknown (NaN), which scoring integrates out; :func:`as_sequence`
    spreads it over the second instead, as the paper does.

    Args:
        blocks: How single pictures are described.
        num_frames: How many frames of a second are looked at.
    """

    def __init__(self, blocks: BlockDct | None = None, num_frames: int = 5) -> None:
        if num_frames < 1:
            raise RetrievalError(f"num_frames must be 1 or more, got {num_frames}.")
        self.blocks = blocks or BlockDct()
        self.num_frames = num_frames

    @property
    def names(self) -> tuple[str, ...]:
        """What each dimension is called."""
        return (*self.blocks.names, "t")

    @property
    def resolution(self) -> Array:
        """``(15,)`` the least difference that means anything."""
        return np.append(self.blocks.resolution, _LEAST_TIME)

    @property
    def places(self) -> tuple[int, ...]:
        """The dimensions of x, y and t."""
        return (*self.blocks.places, len(self.names) - 1)

    def samples(self, image: NDArray[np.uint8]) -> Samples:
        """Describe a single picture, whose time is unknown."""
        still = self.blocks.samples(image)
        return _timed(still, np.nan)

    def clip_samples(
        self, images: Sequence[NDArray[np.uint8]], times: Sequence[float], key_time: float
    ) -> Samples:
        """Describe frames of a second around a key frame.

        Args:
            images: Frames ``(H, W, 3)`` RGB.
            times: When each is shown, in seconds.
            key_time: When the middle is.
        """
        if len(images) != len(times) or not images:
            raise RetrievalError(f"each frame needs a time, got {len(images)} and {len(times)}.")
        start = key_time - SECONDS / 2
        shares = np.clip((np.asarray(times) - start) / SECONDS, 0.0, 1.0)
        return Samples.together(
            [
                _timed(self.blocks.samples(image), float(share))
                for image, share in zip(images, shares, strict=True)
            ]
        )

    def pictured(self, values: ArrayLike) -> NDArray[np.uint8]:
        """Draw samples as blocks; their time does not show."""
        return self.blocks.pictured(np.asarray(values)[:, :-1])

    def settings(self) -> dict[str, Any]:
        """Return what it was made with."""
        return self.blocks.settings() | {"kind": "dynamic", "num_frames": self.num_frames}


def as_sequence(samples: ArrayLike, num_frames: int = 29) -> Array:
    """Turn samples of a still picture into an artificial sequence with times from 0 to 1.

    Args:
        samples: ``(N, 15)`` with any times.
        num_frames: How many frames the still stands for.

    Returns:
        ``(N * num_frames, 15)``.
    """
    values = np.asarray(samples, dtype=np.float64)
    times = np.linspace(0.0, 1.0, num_frames) if num_frames > 1 else np.array([0.5])
    sequence = np.tile(values, (num_frames, 1))
    sequence[:, -1] = np.repeat(times, len(values))
    return sequence


def _timed(samples: Samples, time: float) -> Samples:
    column = np.full((len(samples), 1), time)
    return Samples(np.concatenate([samples.values, column], axis=1), samples.boxes)
