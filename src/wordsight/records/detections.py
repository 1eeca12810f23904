"""`Detections`: what detectors saw in a stretch of video, as arrays with a mask."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.errors import RecordError
from wordsight.records.arrays import ArrayRecord, frozen_array

__all__ = ["BODY_PARTS", "NAMELESS", "Detections", "FrameDetections", "blocks_of", "spread"]


# Ragged rows packed as they come, so that an hour of video takes its bytes and hardly more.
#
# Tens of thousands of frames with a few small arrays each cost several times their content in
# allocations; a block of frames joined into one array per field does not.

_BLOCK = 256  # frames

Item = TypeVar("Item")
Packed = TypeVar("Packed")


def blocks_of(items: Iterable[Item], pack: Callable[[list[Item]], Packed]) -> Iterator[Packed]:
    """Take items a block at a time and yield each block packed; only one is held unpacked."""
    following = iter(items)
    while block := list(islice(following, _BLOCK)):
        yield pack(block)


def spread(
    blocks: Iterable[NDArray[Any] | None], mask: NDArray[np.bool_], width: int | None, dtype: Any
) -> NDArray[Any]:
    """Fill the true places of a mask, row by row, with the rows of packed blocks.

    Args:
        blocks: Per block of rows of the mask the values of its true places, ``(n,)`` or
            ``(n, width)``; ``None`` leaves them zero.
        mask: ``(T, J)`` where values belong.
        width: Size of the last axis, or ``None`` if there is none.
        dtype: Type of the result.

    Returns:
        ``(T, J)`` or ``(T, J, width)``, zero outside the mask.
    """
    shape = mask.shape if width is None else (*mask.shape, width)
    array = np.zeros(shape, dtype=dtype)
    for number, values in enumerate(blocks):
        rows = slice(number * _BLOCK, (number + 1) * _BLOCK)
        if values is not None and len(values):
            array[rows][mask[rows]] = values
    return array


BODY_PARTS = ("hand", "head")
"""Labels of body parts: boxes that features measure against, but that no noun refers to."""

NAMELESS = ("region", "thing")
"""Labels of boxes that only say that something is there."""

NO_ID = -1
"""The track identity of a detection that belongs to no track."""


@dataclass(frozen=True, eq=False)
class FrameDetections:
    """What a detector says of one frame: J boxes, in any order.

    Attributes:
        time: Presentation time of the frame in seconds.
        boxes: ``(J, 4)`` corners x1, y1, x2, y2 in pixels.
        scores: ``(J,)`` how sure the detector is, higher is surer.
        labels: ``(J,)`` index of the class into the detector's label names.
        appearance: ``(J, D)`` what each box looks like, or ``None``.
        ids: ``(J,)`` identity of the object where known, ``-1`` where not; or ``None``.
    """

    time: float
    boxes: NDArray[np.float64]
    scores: NDArray[np.float64]
    labels: NDArray[np.int32]
    appearance: NDArray[np.float32] | None = None
    ids: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Detections(ArrayRecord):
    """T frames of up to J detections each; ``mask`` says which of the T x J places are filled.

    Checked once here, so that everything further in may trust it: times rise strictly, boxes are
    finite and not inside out, labels have names. Places outside the mask hold zeros. The arrays
    are read-only.

    Attributes:
        times: ``(T,)`` presentation times in seconds.
        boxes: ``(T, J, 4)`` corners x1, y1, x2, y2 in pixels, x to the right, y downward; 0-based,
            end-exclusive, so that width is x2 - x1. Boxes may reach beyond the frame.
        scores: ``(T, J)`` the detector's confidence.
        labels: ``(T, J)`` which class fired, an index into ``label_names``.
        mask: ``(T, J)`` true where there is a detection.
        label_names: The classes, in the order of their index.
        frame_size: Width and height of the video in pixels.
        ids: ``(T, J)`` identity of the object, ``-1`` where unknown; ``None`` if none is known.
        flow: ``(T, J, 2)`` mean optical flow inside the box towards the next frame, in pixels per
            second; ``None`` if it was not computed.
        appearance: ``(T, J, D)`` what each box looks like, or ``None``.

    Examples:
        >>> seen = Detections.from_frames(
        ...     [FrameDetections(0.0, np.array([[0, 0, 4, 8.0]]), np.ones(1), np.zeros(1, int)),
        ...      FrameDetections(0.1, np.zeros((0, 4)), np.zeros(0), np.zeros(0, int))],
        ...     label_names=["person"], frame_size=(64, 48))
        >>> seen
        Detections(2 frames, 1 box, 0.00-0.10 s, labels: person)
    """

    times: NDArray[np.float64]
    boxes: NDArray[np.float64]
    scores: NDArray[np.float64]
    labels: NDArray[np.int32]
    mask: NDArray[np.bool_]
    label_names: tuple[str, ...]
    frame_size: tuple[int, int]
    ids: NDArray[np.int64] | None = None
    flow: NDArray[np.float64] | None = None
    appearance: NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        times, mask = frozen_array(self.times, np.float64), frozen_array(self.mask, np.bool_)
        _check_times(times)
        if mask.ndim != 2 or len(mask) != len(times):
            raise RecordError(
                f"mask must have shape (T, J) with T = {len(times)} frames, got {mask.shape}."
            )
        set_ = object.__setattr__
        set_(self, "times", times)
        set_(self, "mask", mask)
        set_(self, "label_names", tuple(str(name) for name in self.label_names))
        set_(self, "frame_size", _checked_size(self.frame_size))
        for name, width, dtype in _FIELDS:
            value = getattr(self, name)
            if value is not None or name in ("boxes", "scores", "labels"):
                set_(self, name, _masked(name, value, mask, width, dtype))
        _check_boxes(self.boxes, mask, times)
        _check_labels(self.labels, mask, len(self.label_names))

    @classmethod
    def from_frames(
        cls,
        frames: Iterable[FrameDetections],
        *,
        label_names: Sequence[str],
        frame_size: tuple[int, int],
        flow: Iterable[ArrayLike] | None = None,
    ) -> Self:
        """Gather ragged frames into masked arrays.

        Args:
            frames: One per frame, in order of time.
            label_names: The classes the labels index.
            frame_size: Width and height in pixels.
            flow: One ``(J, 2)`` array per frame, looked at after the frames; or ``None``.

        Returns:
            The detections, J being the largest number of boxes in a frame.
        """
        packed = list(blocks_of(frames, _Block.of))
        counts = np.concatenate([np.zeros(0, int), *(block.counts for block in packed)])
        mask = np.arange(counts.max(initial=0))[None, :] < counts[:, None]
        depths = [b.appearance.shape[1] for b in packed if b.appearance is not None]
        flows = None if flow is None else list(blocks_of(flow, _joined_flow))
        return cls(
            times=np.concatenate([np.zeros(0), *(block.times for block in packed)]),
            boxes=spread((block.boxes for block in packed), mask, 4, np.float64),
            scores=spread((block.scores for block in packed), mask, None, np.float64),
            labels=spread((block.labels for block in packed), mask, None, np.int32),
            mask=mask,
            label_names=tuple(label_names),
            frame_size=frame_size,
            ids=spread((_ids(block) for block in packed), mask, None, np.int64)
            if any(block.ids is not None for block in packed)
            else None,
            flow=None if flows is None else spread(flows, mask, 2, np.float64),
            appearance=spread((b.appearance for b in packed), mask, depths[0], np.float32)
            if depths
            else None,
        )

    def frame(self, index: int) -> FrameDetections:
        """Return frame ``index`` without its empty places."""
        here = self.mask[index]
        return FrameDetections(
            time=float(self.times[index]),
            boxes=self.boxes[index, here],
            scores=self.scores[index, here],
            labels=self.labels[index, here],
            appearance=None if self.appearance is None else self.appearance[index, here],
            ids=None if self.ids is None else self.ids[index, here],
        )

    def between(self, start: float, end: float) -> Self:
        """Return the frames with ``start <= time < end`` as a new record."""
        return self.take(np.flatnonzero((self.times >= start) & (self.times < end)))

    def every(self, step: int) -> Self:
        """Return every ``step``-th frame, the first included; flow stays in pixels per second."""
        if step < 1:
            raise RecordError(f"step must be 1 or more, got {step}.")
        return self.take(np.arange(0, len(self.times), step))

    def relabelled(self, labels: ArrayLike, label_names: Sequence[str]) -> Self:
        """Return the same boxes under other labels, ``(T, J)`` indices into ``label_names``."""
        return replace(self, labels=np.asarray(labels), label_names=tuple(label_names))

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Return some frames, by their ascending indices."""
        names = ("times", "boxes", "scores", "labels", "mask", "ids", "flow", "appearance")
        arrays: dict[str, Any] = {name: getattr(self, name) for name in names}
        chosen: Any = {k: None if v is None else v[rows] for k, v in arrays.items()}
        return replace(self, **chosen)

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        boxes = int(self.mask.sum())
        span = f"{self.times[0]:.2f}-{self.times[-1]:.2f} s" if len(self.times) else "no time"
        names = ", ".join(self.label_names[:6]) + (", ..." if len(self.label_names) > 6 else "")
        return (
            f"{type(self).__name__}({len(self)} frame{'s' * (len(self) != 1)}, "
            f"{boxes} box{'es' * (boxes != 1)}, {span}, labels: {names or 'none'})"
        )


@dataclass(frozen=True, eq=False)
class _Block:
    """Some frames' detections, joined."""

    counts: NDArray[np.int64]
    times: NDArray[np.float64]
    boxes: NDArray[np.float64]
    scores: NDArray[np.float64]
    labels: NDArray[np.int32]
    ids: NDArray[np.int64] | None
    appearance: NDArray[np.float32] | None

    @classmethod
    def of(cls, frames: list[FrameDetections]) -> Self:
        counts = [len(frame.boxes) for frame in frames]
        depth = next((f.appearance.shape[1] for f in frames if f.appearance is not None), None)
        return cls(
            np.array(counts, dtype=np.int64),
            np.array([frame.time for frame in frames], dtype=np.float64),
            np.concatenate([np.reshape(frame.boxes, (-1, 4)) for frame in frames]),
            np.concatenate([frame.scores for frame in frames]),
            np.concatenate([frame.labels for frame in frames]),
            np.concatenate(
                [
                    np.full(n, NO_ID) if f.ids is None else f.ids
                    for f, n in zip(frames, counts, strict=True)
                ]
            )
            if any(frame.ids is not None for frame in frames)
            else None,
            np.concatenate(
                [
                    np.zeros((n, depth), np.float32) if f.appearance is None else f.appearance
                    for f, n in zip(frames, counts, strict=True)
                ]
            )
            if depth is not None
            else None,
        )


def _ids(block: _Block) -> NDArray[np.int64]:
    return np.full(len(block.boxes), NO_ID) if block.ids is None else block.ids


def _joined_flow(flows: list[ArrayLike]) -> NDArray[np.float64]:
    return np.concatenate([np.reshape(np.asarray(one, np.float64), (-1, 2)) for one in flows])


# Fields shaped like the mask: name, size of the last axis (None: there is none, -1: any), type.
_FIELDS: tuple[tuple[str, int | None, Any], ...] = (
    ("boxes", 4, np.float64),
    ("scores", None, np.float64),
    ("labels", None, np.int32),
    ("ids", None, np.int64),
    ("flow", 2, np.float64),
    ("appearance", -1, np.float32),
)


def _check_times(times: NDArray[np.float64]) -> None:
    if times.ndim != 1:
        raise RecordError(f"times must have shape (T,), got {times.shape}.")
    if not np.isfinite(times).all():
        raise RecordError(f"times must be finite, got {times[~np.isfinite(times)][0]}.")
    late = np.flatnonzero(np.diff(times) <= 0)
    if len(late):
        t = late[0]
        raise RecordError(
            f"times must rise from frame to frame, but frame {t + 1} at {times[t + 1]} s does not "
            f"come after frame {t} at {times[t]} s; sort the frames and drop repeated ones."
        )


def _checked_size(size: Sequence[int]) -> tuple[int, int]:
    width, height = (int(side) for side in size)
    if width < 1 or height < 1:
        raise RecordError(f"frame_size must be a positive width and height, got {tuple(size)}.")
    return width, height


def _masked(
    name: str, value: ArrayLike | None, mask: NDArray[np.bool_], width: int | None, dtype: Any
) -> NDArray[Any]:
    array = np.array(value, dtype=dtype)
    if width == -1:
        fits = array.ndim == 3 and array.shape[:2] == mask.shape
    else:
        fits = array.shape == (mask.shape if width is None else (*mask.shape, width))
    if not fits:
        last = "" if width is None else f" and last axis {'D' if width == -1 else width}"
        raise RecordError(f"{name} must match mask {mask.shape}{last}, got {array.shape}.")
    if np.issubdtype(array.dtype, np.floating) and not np.isfinite(array[mask]).all():
        frame = int(np.argwhere(~np.isfinite(array) & _widened(mask, array.ndim))[0][0])
        raise RecordError(
            f"{name} must be finite, but frame {frame} holds NaN or infinity; leave the detection "
            "out of the mask instead."
        )
    array[~mask] = NO_ID if name == "ids" else 0
    array.setflags(write=False)
    return array


def _widened(mask: NDArray[np.bool_], ndim: int) -> NDArray[np.bool_]:
    return mask.reshape(mask.shape + (1,) * (ndim - mask.ndim))


def _check_boxes(
    boxes: NDArray[np.float64], mask: NDArray[np.bool_], times: NDArray[np.float64]
) -> None:
    bad = mask & ~((boxes[..., 2] > boxes[..., 0]) & (boxes[..., 3] > boxes[..., 1]))
    if bad.any():
        t, j = np.argwhere(bad)[0]
        raise RecordError(
            f"boxes must have x1 < x2 and y1 < y2, but box {j} of frame {t} ({times[t]:.3f} s) is "
            f"{boxes[t, j].tolist()}; is it x, y, width, height?"
        )


def _check_labels(labels: NDArray[np.int32], mask: NDArray[np.bool_], names: int) -> None:
    used = labels[mask]
    if len(used) and not 0 <= used.min() <= used.max() < names:
        bad = used.min() if used.min() < 0 else used.max()
        raise RecordError(f"labels must index the {names} label names, got {bad}.")
