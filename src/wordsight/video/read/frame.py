"""`Frame`: one frame of a video with its time, converted to RGB only when needed.

The decoder's picture is kept as it is: an unused frame costs no conversion, and a small copy is
scaled directly from it.
"""

import threading
from typing import Self

import av
import cv2
import numpy as np
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

__all__ = ["Converter", "Frame"]


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
