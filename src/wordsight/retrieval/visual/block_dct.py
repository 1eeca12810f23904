"""`BlockDct`: 8x8 blocks by colour, coarse texture and place; `DynamicBlockDct`: also by time."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.errors import RetrievalError
from wordsight.retrieval.visual.features import Array, Samples

__all__ = ["BlockDct", "DynamicBlockDct"]

BLOCK = 8
"""Side of a block in pixels, as JPEG has it."""

NUM_TEXTURE = 10
"""Luminance coefficients that are kept: the coarsest, in zig-zag order."""

_KNEE = 8.0
"""Coefficients well above it (one grey level over the block) are compressed logarithmically."""

_LARGEST = float(np.log1p(1024 / _KNEE))  # largest compressed coefficient of a block
_TEXTURE_SPREAD = 2.4
"""Assumed spread of compressed coefficients, two to three times the actual one: nine of them would
otherwise outweigh brightness and colour, which are more informative."""

_ROUNDING_NOISE = 0.3  # standard deviation of the rounding of pixels
_LEAST_SHARE = 0.02  # of the picture's width or height: closer places are the same

SECONDS = 1.0
"""Length of video around the key frame that a dynamic model describes."""

_LEAST_TIME = 0.02  # of a second: closer times are the same


class BlockDct:
    """Describes blocks of 8x8 pixels by texture, colour and place.

    The 14 dimensions are ten DCT coefficients of the luminance, the mean of both chromas (as the DC
    coefficient), and x and y of the block's centre as shares of the picture. Coefficients other
    than the mean are heavy-tailed; their logarithm is closer to Gaussian.

    Pictures are shrunk until their longer side is at most ``longest`` pixels, which bounds the
    cost; those with fewer than ``fewest`` blocks are cut into overlapping blocks, and if necessary
    enlarged, so that there are enough samples to fit a model.

    Args:
        longest: Pixels of the longer side at which blocks are taken.
        stride: Pixels from block to block; 8 for adjacent blocks.
        fewest: The minimum number of blocks of a picture.
        compress: Whether texture coefficients are replaced by their signed logarithm.
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
        """The names of the dimensions."""
        return (*(f"y{i}" for i in range(NUM_TEXTURE)), "cb", "cr", "x", "y")

    @property
    def resolution(self) -> Array:
        """``(14,)`` the smallest meaningful difference."""
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
            One sample per block, row by row; boxes in pixels of the original picture.
        """
        import cv2  # here, so that searches by words alone do not import it

        from wordsight.video.images import checked_image

        height, width = checked_image(image).shape[:2]
        small, stride = self._fitted(image)
        rows = np.arange(0, small.shape[0] - BLOCK + 1, stride)
        columns = np.arange(0, small.shape[1] - BLOCK + 1, stride)
        # Floats instead of OpenCV's 8-bit conversion: rounding would make flat areas look alike.
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

    def render(self, values: ArrayLike) -> NDArray[np.uint8]:
        """Render samples ``(N, 14)`` as blocks ``(N, 8, 8, 3)`` RGB of the coarse texture."""
        import cv2

        array = np.asarray(values, dtype=np.float64)
        planes = np.empty((len(array), BLOCK * BLOCK, 3), dtype=np.float32)
        texture = array[:, :NUM_TEXTURE].copy()
        if self.compress:
            # Random samples may exceed the range of coefficients; clip them to it.
            size = _KNEE * np.expm1(np.minimum(np.abs(texture[:, 1:]), _LARGEST))
            texture[:, 1:] = np.copysign(size, texture[:, 1:])
        planes[:, :, 0] = texture @ self._basis
        # The mean of a block is its DC coefficient divided by the side.
        planes[:, :, 2] = array[:, [NUM_TEXTURE]] / BLOCK
        planes[:, :, 1] = array[:, [NUM_TEXTURE + 1]] / BLOCK
        rgb = cv2.cvtColor(planes, cv2.COLOR_YCrCb2RGB)
        rounded: NDArray[np.uint8] = np.clip(np.rint(rgb), 0, 255).astype(np.uint8)
        return rounded.reshape(-1, BLOCK, BLOCK, 3)

    def _fitted(self, image: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], int]:
        """Resize a picture; return it with the stride of its blocks."""
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
    """Return ``(10, 64)``: the coarsest basis functions of the orthonormal DCT of a block."""
    places = np.arange(BLOCK)
    wave = np.cos(np.pi * (2 * places[None] + 1) * places[:, None] / (2 * BLOCK))
    wave *= np.sqrt(np.where(places == 0, 1.0, 2.0) / BLOCK)[:, None]
    # Diagonals of increasing frequency in alternating directions.
    order = sorted(
        ((u, v) for u in range(BLOCK) for v in range(BLOCK)),
        key=lambda uv: (sum(uv), uv[0] if sum(uv) % 2 else uv[1]),
    )
    chosen = [np.outer(wave[u], wave[v]).ravel() for u, v in order[:NUM_TEXTURE]]
    return np.array(chosen, dtype=np.float32)


class DynamicBlockDct:
    """Describes blocks of several frames by texture, colour, place and time.

    Time runs from 0 to 1 over the second around the key frame and is the last dimension. The time
    of a single picture is unknown (NaN) and integrated out in scores.

    Args:
        blocks: Features of single pictures.
        num_frames: Frames per second that are used.
    """

    def __init__(self, blocks: BlockDct | None = None, num_frames: int = 5) -> None:
        if num_frames < 1:
            raise RetrievalError(f"num_frames must be 1 or more, got {num_frames}.")
        self.blocks = blocks or BlockDct()
        self.num_frames = num_frames

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the dimensions."""
        return (*self.blocks.names, "t")

    @property
    def resolution(self) -> Array:
        """``(15,)`` the smallest meaningful difference."""
        return np.append(self.blocks.resolution, _LEAST_TIME)

    @property
    def places(self) -> tuple[int, ...]:
        """The dimensions of x, y and t."""
        return (*self.blocks.places, len(self.names) - 1)

    def samples(self, image: NDArray[np.uint8]) -> Samples:
        """Describe a single picture, whose time is unknown."""
        return _timed(self.blocks.samples(image), np.nan)

    def clip_samples(
        self, images: Sequence[NDArray[np.uint8]], times: Sequence[float], key_time: float
    ) -> Samples:
        """Describe frames of a second around a key frame.

        Args:
            images: Frames ``(H, W, 3)`` RGB.
            times: The time of each, in seconds.
            key_time: The centre of the second.
        """
        if len(images) != len(times) or not images:
            raise RetrievalError(f"each frame needs a time, got {len(images)} and {len(times)}.")
        start = key_time - SECONDS / 2
        shares = np.clip((np.asarray(times) - start) / SECONDS, 0.0, 1.0)
        return Samples.concatenate(
            [
                _timed(self.blocks.samples(image), float(share))
                for image, share in zip(images, shares, strict=True)
            ]
        )

    def render(self, values: ArrayLike) -> NDArray[np.uint8]:
        """Render samples as blocks, without their time."""
        return self.blocks.render(np.asarray(values)[:, :-1])


def _timed(samples: Samples, time: float) -> Samples:
    column = np.full((len(samples), 1), time)
    return Samples(np.concatenate([samples.values, column], axis=1), samples.boxes)
