"""`DynamicBlockDct`: blocks of a second of video, with their time as one dimension more."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.visual.block_dct import BlockDct
from wordsight.retrieval.visual.features import Array, Samples

__all__ = ["DynamicBlockDct", "as_sequence"]

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
