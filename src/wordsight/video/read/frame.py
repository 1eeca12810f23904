"""`Frame`: one frame of a video, converted to RGB only when needed; and the flow between frames.

The decoder's picture is kept as it is: an unused frame costs no conversion, and a small copy is
scaled directly from it.
"""

import threading
from typing import Self

import av
import cv2
import numpy as np
from av.video.reformatter import VideoReformatter
from numpy.typing import ArrayLike, NDArray

__all__ = ["Converter", "FlowMeter", "Frame", "mean_in_boxes"]


class Converter:
    """Converts decoder pictures into arrays, with one scaling context for each output format.

    Creating a context costs more than scaling a small picture, so all frames of a reader share a
    converter. It is thread-safe.
    """

    def __init__(self) -> None:
        self._reformatters: dict[tuple[int, int, str], VideoReformatter] = {}
        self._lock = threading.Lock()

    def convert(
        self, picture: av.VideoFrame, width: int, height: int, pixel_format: str
    ) -> NDArray[np.uint8]:
        """Return ``(height, width)`` or ``(height, width, 3)`` pixels in FFmpeg's format name."""
        key = (width, height, pixel_format)
        with self._lock:
            reformatter = self._reformatters.setdefault(key, VideoReformatter())
            # One thread: passing a small picture to a thread pool takes longer than scaling it.
            scaled = reformatter.reformat(
                picture,
                width=width,
                height=height,
                format=pixel_format,
                interpolation="AREA",
                threads=1,
            )
            return np.asarray(scaled.to_ndarray(), dtype=np.uint8)


class Frame:
    """One frame of a video.

    Attributes:
        index: Number of the frame in the video, counting from 0.
        time: Presentation time in seconds.
        size: Width and height of ``image`` in pixels.
    """

    __slots__ = (
        "_converter",
        "_image",
        "_picture",
        "_quarter_turns",
        "_scaled",
        "_scaled_as",
        "index",
        "size",
        "time",
    )

    def __init__(
        self,
        picture: av.VideoFrame | None,
        time: float,
        index: int,
        size: tuple[int, int],
        *,
        converter: Converter | None = None,
        quarter_turns: int = 0,
    ) -> None:
        """Wrap a decoder picture; use `VideoReader` or `from_array` to make frames.

        Args:
            picture: The decoder's picture; None if ``from_array`` sets the image.
            time: Presentation time in seconds.
            index: Number of the frame in the video, counting from 0.
            size: Width and height of ``image``.
            converter: Converter shared by the frames of a reader.
            quarter_turns: Counter-clockwise quarter turns that make the stored picture upright.
        """
        self.index = index
        self.time = time
        self.size = size
        self._picture = picture
        self._converter = converter if converter is not None else Converter()
        self._quarter_turns = quarter_turns
        self._image: NDArray[np.uint8] | None = None
        self._scaled: NDArray[np.uint8] | None = None
        self._scaled_as: tuple[int, int, bool] | None = None

    @classmethod
    def from_array(cls, image: NDArray[np.uint8], time: float, index: int = 0) -> Self:
        """Make a frame from pixels.

        Args:
            image: ``(H, W, 3)`` RGB; copied.
            time: Presentation time in seconds.
            index: Number of the frame in the video, counting from 0.
        """
        pixels = np.array(image, copy=True)
        if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8 or not pixels.size:
            raise ValueError(
                f"image must be an (H, W, 3) array of uint8 in RGB, got shape {pixels.shape} of "
                f"{pixels.dtype}."
            )
        frame = cls(None, float(time), int(index), (pixels.shape[1], pixels.shape[0]))
        frame._image = _locked(pixels)
        return frame

    @property
    def image(self) -> NDArray[np.uint8]:
        """``(H, W, 3)`` RGB pixels, converted on first use and cached; read-only."""
        if self._image is None:
            self._image = self._from_picture(*self.size, "rgb24")
        return self._image

    def scaled(self, width: int, height: int, *, gray: bool = False) -> NDArray[np.uint8]:
        """Return the frame in another size without converting the full RGB image first.

        The last result is cached, so that several users of one size share the work.

        Args:
            width: Width of the result in pixels.
            height: Height of the result in pixels.
            gray: Whether to return brightness only.

        Returns:
            ``(height, width, 3)`` RGB or ``(height, width)`` gray pixels, read-only.
        """
        wanted = (int(width), int(height), bool(gray))
        if self._scaled is None or self._scaled_as != wanted:
            self._scaled = self._scale(*wanted)
            self._scaled_as = wanted
        return self._scaled

    def _scale(self, width: int, height: int, gray: bool) -> NDArray[np.uint8]:
        if width < 1 or height < 1:
            raise ValueError(f"width and height must be 1 or more, got {width} x {height}.")
        if self._picture is not None:
            return self._from_picture(width, height, "gray" if gray else "rgb24")
        image = self.image
        if gray:
            image = np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), dtype=np.uint8)
        if (width, height) != self.size:
            resized = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
            image = np.asarray(resized, dtype=np.uint8)
        return _locked(image)

    def _from_picture(self, width: int, height: int, pixel_format: str) -> NDArray[np.uint8]:
        if self._picture is None:
            raise ValueError("this frame has no picture; make it with Frame.from_array.")
        if self._quarter_turns % 2:  # scale first, then rotate the smaller result
            width, height = height, width
        pixels = self._converter.convert(self._picture, width, height, pixel_format)
        if self._quarter_turns:
            pixels = np.ascontiguousarray(np.rot90(pixels, self._quarter_turns))
        return _locked(pixels)

    def __repr__(self) -> str:
        return f"Frame({self.index}, {self.time:.3f} s, {self.size[0]} x {self.size[1]})"


def _locked(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    pixels.setflags(write=False)
    return pixels


class FlowMeter:
    """Measures the mean optical flow inside boxes, frame by frame.

    The flow of a frame leads to the next one, so it is known when the next one is pushed. Dense
    inverse search (Kroeger et al., 2016) runs on a gray copy; sums over boxes come from an integral
    image, so that many boxes cost no more than one. Nothing is computed for frames without boxes.

    Args:
        long_side: Longer side of the gray copy in pixels; smaller frames are not scaled.
        fine: Whether to search at the full resolution of the gray copy: three to four times slower
            and more accurate in boxes narrower than an eighth of the frame.

    Examples:
        >>> import numpy
        >>> from wordsight.video import FlowMeter, Frame
        >>> texture = numpy.random.default_rng(0).integers(0, 255, (60, 80), dtype=numpy.uint8)
        >>> texture = cv2.GaussianBlur(texture, (0, 0), 3)
        >>> image = numpy.repeat(texture[..., None], 3, axis=2)
        >>> meter, boxes = FlowMeter(), [[10, 10, 70, 50]]
        >>> meter.push(Frame.from_array(image, 0.0, 0), boxes)
        >>> moved = Frame.from_array(numpy.roll(image, 2, axis=1), 0.1, 1)
        >>> meter.push(moved, boxes).round().astype(int).tolist()
        [[20, 0]]
        >>> meter.finish().tolist()
        [[0.0, 0.0]]
    """

    def __init__(self, *, long_side: int = 320, fine: bool = False) -> None:
        if long_side < 16:
            raise ValueError(f"long_side must be at least 16 pixels, got {long_side}.")
        self.long_side = long_side
        self._search = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_ULTRAFAST)
        # Measured on rendered motion: one scale finer than the preset with a wider stride and no
        # refinement is faster than the next preset and twice as accurate.
        self._search.setFinestScale(0 if fine else 1)
        self._search.setPatchStride(6)
        self._search.setVariationalRefinementIterations(0)
        self._boxes: NDArray[np.float64] | None = None
        self._frame: Frame | None = None

    def push(self, frame: Frame, boxes: ArrayLike) -> NDArray[np.float64] | None:
        """Add the next frame with its boxes and return the flow of the previous one.

        Args:
            frame: The next frame; all frames must have the same size.
            boxes: ``(J, 4)`` corners x1, y1, x2, y2 in pixels of ``frame.image``.

        Returns:
            ``(J', 2)`` mean flow in x and y inside each box of the previous frame, in pixels per
            second; None for the first frame. Boxes are clipped to the frame; a box outside it has
            flow 0.
        """
        own = np.asarray(boxes, dtype=np.float64).reshape(-1, 4)
        before, before_boxes = self._frame, self._boxes
        if before is not None and before.size != frame.size:
            raise ValueError(
                f"all frames must have the same size, got {before.size}, then {frame.size}."
            )
        self._frame, self._boxes = frame, own
        if before is None or before_boxes is None:
            return None
        seconds = frame.time - before.time
        if not len(before_boxes) or seconds <= 0:
            return np.zeros((len(before_boxes), 2))
        flow = self._flow(before, frame)
        scale = np.array(frame.size) / (flow.shape[1], flow.shape[0])
        means = mean_in_boxes(flow, before_boxes / np.tile(scale, 2))
        return means * scale / seconds

    def finish(self) -> NDArray[np.float64] | None:
        """Return ``(J', 2)`` zeros as the flow of the last frame; None if there was no frame."""
        boxes, self._boxes, self._frame = self._boxes, None, None
        return None if boxes is None else np.zeros((len(boxes), 2))

    def _flow(self, before: Frame, after: Frame) -> NDArray[np.float32]:
        width, height = before.size
        shrink = min(self.long_side / max(width, height), 1.0)
        # The search needs a minimum size, however narrow the frame is.
        size = max(round(width * shrink), 16), max(round(height * shrink), 16)
        first, second = (frame.scaled(*size, gray=True) for frame in (before, after))
        flow = np.zeros((size[1], size[0], 2), np.float32)
        return np.asarray(self._search.calc(first, second, flow), dtype=np.float32)


def mean_in_boxes(field: NDArray[np.float32], boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average a field over boxes; pixels on an edge count by the share that is inside.

    Args:
        field: ``(H, W, C)`` values per pixel.
        boxes: ``(J, 4)`` corners x1, y1, x2, y2 in pixels of the field.

    Returns:
        ``(J, C)`` means over the part of each box inside the field; 0 where there is none.
    """
    height, width, channels = field.shape
    integral = cv2.integral(field, sdepth=cv2.CV_64F).reshape(height + 1, width + 1, channels)
    sums = np.asarray(integral, dtype=np.float64)
    x1, x2 = np.clip(boxes[:, [0, 2]], 0, width).T
    y1, y2 = np.clip(boxes[:, [1, 3]], 0, height).T
    inside = _at(sums, x2, y2) - _at(sums, x1, y2) - _at(sums, x2, y1) + _at(sums, x1, y1)
    area = ((x2 - x1) * (y2 - y1))[:, None]
    means: NDArray[np.float64] = np.divide(
        inside, area, out=np.zeros_like(inside), where=area > 1e-9
    )
    return means


def _at(
    sums: NDArray[np.float64], x: NDArray[np.float64], y: NDArray[np.float64]
) -> NDArray[np.float64]:
    # An integral image of constant pixels is bilinear between grid points, so this is exact.
    left = np.minimum(x.astype(np.intp), sums.shape[1] - 2)
    top = np.minimum(y.astype(np.intp), sums.shape[0] - 2)
    right_part, lower_part = (x - left)[:, None], (y - top)[:, None]
    upper = sums[top, left] * (1 - right_part) + sums[top, left + 1] * right_part
    lower = sums[top + 1, left] * (1 - right_part) + sums[top + 1, left + 1] * right_part
    interpolated: NDArray[np.float64] = upper * (1 - lower_part) + lower * lower_part
    return interpolated
