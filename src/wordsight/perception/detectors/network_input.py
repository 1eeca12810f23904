"""Preparing frames as network input, and mapping boxes back to pixels of the frame."""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError
from wordsight.video import Frame

__all__ = ["VALUES", "InputFormat", "Placement", "Preparation", "preparations"]

VALUES = ("0-1", "0-255", "imagenet")
"""Ranges of the values of a picture; the last is 0-1 less ImageNet's mean, over its deviation."""

_DTYPES: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
    "tensor(uint8)": np.uint8,
}
_GREY = 114  # letterbox colour in the training of YOLO networks
_DEFAULT_SIDE = 640
# Mean and standard deviation of ImageNet, as shares of 255.
_MEAN = np.array([0.485, 0.456, 0.406], np.float32)
_SPREAD = np.array([0.229, 0.224, 0.225], np.float32)


@dataclass(frozen=True)
class Placement:
    """Position of the frame in the network's input image.

    Attributes:
        scale: Pixels of the input per pixel of the frame, in x and y.
        offset: Upper left corner of the frame, in pixels of the input.
    """

    scale: tuple[float, float]
    offset: tuple[float, float]

    def to_frame(self, boxes: NDArray[np.float64], size: tuple[int, int]) -> NDArray[np.float64]:
        """Convert ``(N, 4)`` boxes of the network into boxes of the frame, clipped to it."""
        moved = (boxes - np.tile(self.offset, 2)) / np.tile(self.scale, 2)
        cut: NDArray[np.float64] = np.clip(moved, 0, np.tile(np.array(size, np.float64), 2))
        return cut


@dataclass(frozen=True)
class Preparation:
    """How pictures are given to a network.

    Attributes:
        letterbox: Whether to keep the aspect ratio and pad with grey instead of stretching.
        values: One of :data:`VALUES`.
        bgr: Whether blue comes first instead of red.
    """

    letterbox: bool = False
    values: str = "0-1"
    bgr: bool = False


def preparations(
    usual: Preparation, letterbox: bool | None, values: str | None, bgr: bool | None
) -> list[Preparation]:
    """Return the ways to try, the usual one first; what is given is not varied."""
    ways = [
        Preparation(*way)
        for way in product(
            (False, True) if letterbox is None else (letterbox,),
            VALUES if values is None else (values,),
            (False, True) if bgr is None else (bgr,),
        )
    ]
    return sorted(ways, key=lambda way: _differences(way, usual))


def _differences(one: Preparation, other: Preparation) -> int:
    pairs = zip(vars(one).values(), vars(other).values(), strict=True)
    return sum(a != b for a, b in pairs)


@dataclass(frozen=True)
class InputFormat:
    """Image input of a network.

    Attributes:
        name: The name of the input.
        size: Width and height in pixels.
        channels_last: Whether the shape is ``(1, H, W, 3)`` instead of ``(1, 3, H, W)``.
        dtype: Type of the values; integers always range from 0 to 255.
    """

    name: str
    size: tuple[int, int]
    channels_last: bool
    dtype: Any

    @classmethod
    def of(cls, declared: Any, wanted: int | tuple[int, int] | None) -> "InputFormat":
        """Return the format of an input declared by onnxruntime.

        Args:
            declared: The input, with ``name``, ``shape`` and ``type``.
            wanted: Side, or width and height, for networks with a variable input size.

        Raises:
            FormatError: If it is not an input for one RGB image.
        """
        shape = list(declared.shape)
        problem = f"the model's input {declared.name!r} has shape {shape} of {declared.type}"
        if declared.type not in _DTYPES or len(shape) != 4 or 3 not in (shape[1], shape[3]):
            raise FormatError(f"{problem}; expected one RGB image, such as [1, 3, 640, 640].")
        if isinstance(shape[0], int) and shape[0] > 1:
            raise FormatError(f"{problem}; export it with a batch of 1.")
        channels_last = shape[1] != 3
        sides = shape[1:3] if channels_last else shape[2:4]
        default = wanted or _DEFAULT_SIDE
        width, height = default if isinstance(default, tuple) else (default, default)
        if isinstance(sides[0], int) and sides[0] > 0:
            height = sides[0]
        if isinstance(sides[1], int) and sides[1] > 0:
            width = sides[1]
        return cls(declared.name, (width, height), channels_last, _DTYPES[declared.type])

    def prepare(self, frame: Frame, way: Preparation) -> tuple[NDArray[Any], Placement]:
        """Return the frame as network input, and its position there."""
        width, height = self.size
        if way.letterbox:
            picture, placement = self._letterbox(frame)
        else:
            picture = frame.scaled(width, height)
            placement = Placement((width / frame.size[0], height / frame.size[1]), (0.0, 0.0))
        return self._numbers(picture, way), placement

    def _letterbox(self, frame: Frame) -> tuple[NDArray[np.uint8], Placement]:
        width, height = self.size
        ratio = min(width / frame.size[0], height / frame.size[1])
        inner = max(1, round(frame.size[0] * ratio)), max(1, round(frame.size[1] * ratio))
        left, top = (width - inner[0]) // 2, (height - inner[1]) // 2
        canvas = np.full((height, width, 3), _GREY, np.uint8)
        canvas[top : top + inner[1], left : left + inner[0]] = frame.scaled(*inner)
        scale = inner[0] / frame.size[0], inner[1] / frame.size[1]
        return canvas, Placement(scale, (float(left), float(top)))

    def _numbers(self, picture: NDArray[np.uint8], way: Preparation) -> NDArray[Any]:
        values: NDArray[Any] = picture
        if self.dtype is not np.uint8 and way.values != "0-255":
            values = picture.astype(np.float32) / 255
            if way.values == "imagenet":
                values = (values - _MEAN) / _SPREAD
        if way.bgr:
            values = values[..., ::-1]
        if not self.channels_last:
            values = values.transpose(2, 0, 1)
        return np.ascontiguousarray(values[None], dtype=self.dtype)
