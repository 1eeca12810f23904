"""Scenes: neighbouring shots grouped by similar appearance; `Thumbnail`: a tiny copy of a frame.

Two similar shots that are close in time belong to one scene, and so does everything between them:
in a conversation filmed from two sides, both views keep returning. This is the method of
overlapping links (Hanjalic, Lagendijk and Biemond, 1999) on colours and layout.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.records import Scene, Shot
from wordsight.video.read.frame import Frame

__all__ = [
    "FLAT",
    "HEIGHT",
    "VIEWS",
    "WIDTH",
    "FadeFinder",
    "FadeMiddle",
    "ShotAppearance",
    "Thumbnail",
    "aligned_difference",
    "change",
    "describe",
    "group_scenes",
    "is_relit",
    "likeness",
    "shared_colours",
]

WIDTH, HEIGHT = 64, 36
"""Small enough to suppress noise and small motion, large enough to distinguish scenes."""

_DARK_LEVEL = 11.0
"""Mean brightness (0-255) below which a frame counts as faded out."""

_BLANK_LEVEL, _BLANK_CONTRAST = 5.0, 6.0
"""Mean and contrast below which nothing is visible but perhaps a caption."""

FLAT = 8.0
"""Contrast below which a frame has too little structure to be recognised."""

_RELIT_LIKENESS, _RELIT_REST = 0.9, 0.3
"""Least correlation after a change of light, and largest share of the change left unexplained."""

_JOLT = 2
"""Largest camera shake in thumbnail pixels, 1/32 of the width."""

_WIDESPREAD = int(0.6 * (WIDTH - 2 * _JOLT) * (HEIGHT - 2 * _JOLT))
"""Number of pixels that need not change in a change of the whole frame."""


_BLINK_FRAMES = 5
"""A shorter dark interval separates two shots only if the scene after it is another one."""

_FADE_SECONDS = 0.5
"""Longest time between a dark frame and a blank one of the same fade."""

VIEWS = 3
"""Number of views kept of a shot: early, in the middle, late."""

_HUE_BINS, _SATURATION_BINS, _VALUE_BINS = 12, 4, 4
_LAYOUT = (8, 5)
_COLOURS = _HUE_BINS * _SATURATION_BINS * _VALUE_BINS
_LENGTH = _COLOURS + 3 * _LAYOUT[0] * _LAYOUT[1]

_INTERVAL_SECONDS = 0.2
"""Sampling interval: shorter than the shortest shot."""

_MAX_OPEN = 64
"""Largest number of samples of an open shot; every other one is dropped beyond it."""


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A small copy of a frame.

    Attributes:
        index: Number of the frame.
        time: Presentation time in seconds.
        pixels: ``(36, 64, 3)`` RGB.
        level: Mean over all pixels and colours, 0 to 255.
        contrast: Standard deviation over all pixels and colours.
        step: Change from the frame before; 0 for the first.
    """

    index: int
    time: float
    pixels: NDArray[np.uint8]
    level: float
    contrast: float
    step: float

    @classmethod
    def of(cls, frame: Frame, previous: "Thumbnail | None") -> Self:
        """Scale a frame down and compare it with the previous one."""
        pixels = frame.scaled(WIDTH, HEIGHT)
        # As one row, since OpenCV computes mean and deviation per channel.
        mean, deviation = cv2.meanStdDev(pixels.reshape(1, -1))
        step = 0.0 if previous is None else _difference(previous.pixels, pixels)
        return cls(frame.index, frame.time, pixels, float(mean[0, 0]), float(deviation[0, 0]), step)

    @property
    def dark(self) -> bool:
        """Whether it belongs to a fade-out or fade-in."""
        return self.level < _DARK_LEVEL

    @property
    def blank(self) -> bool:
        """Whether nothing is visible."""
        return self.level < _BLANK_LEVEL and self.contrast < _BLANK_CONTRAST


def change(first: Thumbnail, second: Thumbnail) -> float:
    """Return the mean absolute difference of two thumbnails, 0 to 255."""
    return _difference(first.pixels, second.pixels)


def aligned_difference(first: Thumbnail, second: Thumbnail) -> tuple[float, float]:
    """Compare two thumbnails after shifting one to where they agree best.

    Returns:
        Their mean absolute difference, and the difference that two fifths of the pixels exceed.
    """
    inner = second.pixels[_JOLT:-_JOLT, _JOLT:-_JOLT]
    height, width = inner.shape[:2]
    shifted = [
        first.pixels[y : y + height, x : x + width]
        for y in range(2 * _JOLT + 1)
        for x in range(2 * _JOLT + 1)
    ]
    nearest = min(shifted, key=lambda pixels: _difference(pixels, inner))
    differences = cv2.absdiff(nearest, inner)
    widespread = np.partition(differences.mean(axis=2), _WIDESPREAD, axis=None)[_WIDESPREAD]
    return float(differences.mean()), float(widespread)


def is_relit(first: Thumbnail, second: Thumbnail) -> bool:
    """Return whether two thumbnails differ only by brightness or contrast."""
    faint, strong = sorted((first, second), key=lambda thumb: thumb.contrast)
    if faint.contrast < FLAT:
        return False
    a = strong.pixels.ravel() - np.float32(strong.level)
    b = faint.pixels.ravel() - np.float32(faint.level)
    alike = float(a @ b) / (a.size * strong.contrast * faint.contrast)
    if alike < _RELIT_LIKENESS:
        return False
    gain = alike * faint.contrast / strong.contrast
    unexplained = float(np.abs(b - gain * a).mean())
    return unexplained < _RELIT_REST * _difference(first.pixels, second.pixels)


def _difference(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> float:
    return float(cv2.norm(first, second, cv2.NORM_L1)) / first.size


@dataclass(frozen=True)
class FadeMiddle:
    """The frame in the middle of a dark interval.

    Attributes:
        index: Number of the frame.
        time: Presentation time in seconds.
    """

    index: int
    time: float


class FadeFinder:
    """Finds dark intervals between a fade-out and a fade-in.

    An interval runs from the first dark frame to the last and must contain blank frames: a night
    scene is dark, but not faded out. Dark frames more than half a second away from the blank ones
    belong to such a scene, not to the fade.
    """

    def __init__(self) -> None:
        self._indices: array[int] = array("q")
        self._times: array[float] = array("d")
        self._blank: tuple[float, float] | None = None
        self._before: Thumbnail | None = None

    def push(self, frame: Thumbnail) -> FadeMiddle | None:
        """Add the next frame; return the middle of the dark interval that it ends, if any."""
        if frame.dark:
            self._indices.append(frame.index)
            self._times.append(frame.time)
            if frame.blank:
                self._blank = (self._blank[0] if self._blank else frame.time, frame.time)
            return None
        middle = None if self._blank is None or self._blink(frame) else self._middle(*self._blank)
        self._indices, self._times, self._blank = array("q"), array("d"), None
        self._before = frame
        return middle

    def _blink(self, after: Thumbnail) -> bool:
        if len(self._indices) >= _BLINK_FRAMES or self._before is None:
            return False
        return change(self._before, after) < 0.5 * after.contrast

    def _middle(self, first_blank: float, last_blank: float) -> FadeMiddle:
        start = bisect_left(self._times, first_blank - _FADE_SECONDS)
        end = bisect_right(self._times, last_blank + _FADE_SECONDS)
        at = min((start + end + 1) // 2, end - 1)
        return FadeMiddle(self._indices[at], self._times[at])


def describe(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Describe a small RGB image by its colours and their layout.

    Args:
        pixels: ``(H, W, 3)`` RGB.

    Returns:
        ``(D,)``: square roots of a hue-saturation-value histogram, so that a dot product is the
        Bhattacharyya coefficient, then a coarse RGB layout in 0..1.
    """
    layout = cv2.resize(pixels, _LAYOUT, interpolation=cv2.INTER_AREA).ravel()
    return np.concatenate([_colours(pixels), layout / 255.0]).astype(np.float32)


def shared_colours(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> float:
    """Return the overlap of the colour histograms of two small RGB images, 0 to 1."""
    return float(_colours(first) @ _colours(second))


def _colours(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    hsv = cv2.cvtColor(pixels, cv2.COLOR_RGB2HSV)
    bins = [_HUE_BINS, _SATURATION_BINS, _VALUE_BINS]
    counts = cv2.calcHist([hsv], [0, 1, 2], None, bins, [0, 180, 0, 256, 0, 256]).ravel()
    roots: NDArray[np.float32] = np.sqrt(counts / counts.sum(), dtype=np.float32)
    return roots


def likeness(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    """Return the similarity of two shots: that of their most similar views.

    Args:
        first: ``(V, D)`` views of one shot.
        second: ``(V', D)`` views of the other.

    Returns:
        0 to 1: colour overlap times agreement of the layout; 0 if one is black throughout.
    """
    colours = first[:, :_COLOURS] @ second[:, :_COLOURS].T
    difference = first[:, None, _COLOURS:] - second[None, :, _COLOURS:]
    layout = 1.0 - np.abs(difference).mean(axis=2)
    return min(float((colours * layout).max()), 1.0)  # equal views are a rounding above


class ShotAppearance:
    """Samples the appearance of shots while frames are processed."""

    def __init__(self) -> None:
        self._open: list[tuple[int, NDArray[np.float32]]] = []
        self._closed: list[NDArray[np.float32]] = []
        self._due = -np.inf

    def push(self, frame: Thumbnail) -> None:
        """Sample the frame if a sample is due; black frames are skipped."""
        if frame.dark or frame.time < self._due:
            return
        self._due = frame.time + _INTERVAL_SECONDS
        self._open.append((frame.index, describe(frame.pixels)))
        if len(self._open) > _MAX_OPEN:
            del self._open[1 : _MAX_OPEN // 2 : 2]

    def close(self, index: int | None = None) -> None:
        """End the oldest open shot before frame ``index``, or with the video."""
        inside = [view for at, view in self._open if index is None or at < index]
        self._open = self._open[len(inside) :]
        if not inside:
            self._closed.append(np.zeros((VIEWS, _LENGTH), np.float32))
            return
        chosen = np.linspace(0, len(inside) - 1, VIEWS).round().astype(int)
        self._closed.append(np.stack([inside[at] for at in chosen]))

    @property
    def descriptors(self) -> NDArray[np.float32]:
        """``(S, V, D)`` views of each closed shot; zeros for a shot of black frames only."""
        return np.stack(self._closed) if self._closed else np.zeros((0, VIEWS, _LENGTH), np.float32)


def group_scenes(
    shots: Sequence[Shot],
    descriptors: NDArray[np.float32],
    *,
    min_likeness: float = 0.75,
    max_gap: float = 20.0,
    max_shots: int = 8,
) -> list[Scene]:
    """Group neighbouring shots into scenes.

    Shot ``j`` is linked to an earlier shot ``i`` if their similarity is high enough and at most
    ``max_gap`` seconds and ``max_shots`` shots are between them. A scene ends where no link
    crosses. A shot of black frames is a scene of its own unless a link passes over it.

    Args:
        shots: Shots of one video, in order.
        descriptors: ``(S, V, D)`` appearance of each shot: ``ShotFinder.descriptors``.
        min_likeness: Least similarity of two linked shots, 0 to 1; see `likeness`.
        max_gap: Longest time between the end of one shot and the start of the other, in seconds.
        max_shots: Largest number of shots between two linked ones.

    Returns:
        Scenes in order, without gaps. The score is the least similarity among the links that hold
        the scene together, 1 for a single shot.

    Raises:
        ValueError: If there is not one descriptor per shot.
    """
    if len(shots) != len(descriptors):
        raise ValueError(
            f"expected one descriptor per shot, got {len(descriptors)} for {len(shots)} shots; "
            "take both from the same ShotFinder."
        )
    # crossing[k] is the strongest link over the gap between shots k - 1 and k.
    crossing = np.zeros(len(shots) + 1)
    for later in range(len(shots)):
        for earlier in range(max(0, later - max_shots - 1), later):
            if shots[later].start - shots[earlier].end > max_gap:
                continue
            alike = likeness(descriptors[earlier], descriptors[later])
            if alike >= min_likeness:
                between = slice(earlier + 1, later + 1)
                crossing[between] = np.maximum(crossing[between], alike)
    if not shots:
        return []
    firsts = [at for at in range(len(shots)) if crossing[at] == 0.0]
    return [
        _scene(shots, first, end, crossing)
        for first, end in zip(firsts, [*firsts[1:], len(shots)], strict=True)
    ]


def _scene(shots: Sequence[Shot], first: int, end: int, crossing: NDArray[np.float64]) -> Scene:
    held_by = crossing[first + 1 : end]
    return Scene(
        video_id=shots[first].video_id,
        start=shots[first].start,
        end=shots[end - 1].end,
        score=float(held_by.min()) if len(held_by) else 1.0,
        first_shot=first,
        end_shot=end,
    )
