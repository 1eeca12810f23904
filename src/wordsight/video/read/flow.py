"""`FlowMeter`: mean optical flow inside boxes, measured on a small gray copy of the frames."""

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.video.read.frame import Frame

__all__ = ["FlowMeter", "mean_in_boxes"]


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
