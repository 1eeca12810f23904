"""Small plays drawn with OpenCV whose every box is known, to measure detectors on real video files.

Nothing here knows how a detector works: things are painted over one another from the back to the
front, compressed as H.264 like any other video, and the truth is what remained visible of each.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.video import VideoWriter

__all__ = ["SIZE", "Play", "Thing", "film", "perform"]

SIZE = (640, 480)
FRAME_RATE = 25.0
_LEAST_VISIBLE = 0.5  # a thing more hidden than this is not asked for

Image = NDArray[np.uint8]
Colour = tuple[int, int, int]


class Brush:
    """Paints one thing into the picture and notes where."""

    def __init__(self, picture: Image, light: float) -> None:
        self.picture = picture
        self.light = light
        self.stencil = np.zeros(picture.shape[:2], np.uint8)

    def shape(self, points: list[tuple[float, float]], colour: Colour) -> None:
        """Fill a polygon."""
        corners = np.array(points).round().astype(np.int32)
        cv2.fillPoly(self.picture, [corners], self._lit(colour), cv2.LINE_AA)
        cv2.fillPoly(self.stencil, [corners], (255,))

    def stroke(self, *points: tuple[float, float], width: float, colour: Colour) -> None:
        """Draw a bent line with round ends."""
        corners = np.array(points).round().astype(np.int32)
        thickness = max(1, round(width))
        cv2.polylines(self.picture, [corners], False, self._lit(colour), thickness, cv2.LINE_AA)
        cv2.polylines(self.stencil, [corners], False, (255,), thickness)

    def disc(self, x: float, y: float, radii: tuple[float, float], colour: Colour) -> None:
        """Fill an ellipse."""
        where = (round(x), round(y)), (max(1, round(radii[0])), max(1, round(radii[1])))
        cv2.ellipse(self.picture, *where, 0, 0, 360, self._lit(colour), -1, cv2.LINE_AA)
        cv2.ellipse(self.stencil, *where, 0, 0, 360, (255,), -1)

    def _lit(self, colour: Colour) -> Colour:
        red, green, blue = (round(min(255, part * self.light)) for part in colour)
        return red, green, blue


Look = Callable[[Brush, float, float, float, float], None]
"""Paints a thing with its foot at x, y in a given size at a given time."""
Path2D = Callable[[float], tuple[float, float] | None]
"""Where the foot of a thing is at a time; None while it is away."""


@dataclass(frozen=True)
class Thing:
    """Something on the stage.

    Attributes:
        kind: What it is.
        look: How it is painted.
        size: Its height in pixels.
        path: Where it is when.
        ever_moves: Whether it is still all the time.
    """

    kind: str
    look: Look
    size: float
    path: Path2D
    ever_moves: bool = True


@dataclass(frozen=True)
class Play:
    """A scene with its things, painted in their order.

    Attributes:
        name: What it is about.
        scenery: Makes the background, larger than the picture where the camera pans.
        things: From the back to the front.
        seconds: How long it takes.
        pan: Camera motion in pixels per second.
        flicker: How much the light changes, as a share.
        noise: Standard deviation of the camera's noise, 0 to 255.
        shadows: Whether things cast a soft shadow.
    """

    name: str
    scenery: Callable[[], Image]
    things: tuple[Thing, ...]
    seconds: float = 8.0
    pan: float = 0.0
    flicker: float = 0.0
    noise: float = 2.0
    shadows: bool = False


@dataclass(frozen=True)
class Truth:
    """What is visible in one frame: kinds, ``(N, 4)`` boxes, and ``(N,)`` whether each moves."""

    kinds: tuple[str, ...]
    boxes: NDArray[np.float64]
    moving: NDArray[np.bool_]
    ever_moves: NDArray[np.bool_]


def perform(play: Play) -> Iterator[tuple[float, Image, Truth]]:
    """Yield time, picture and truth of each frame; the same on every run."""
    rng = np.random.default_rng(0)
    scenery = play.scenery()
    for number in range(round(play.seconds * FRAME_RATE)):
        time = number / FRAME_RATE
        yield time, *_paint(play, scenery, time, rng)


def film(play: Play, path: Path) -> list[Truth]:
    """Write the play as a video and return the truth of its frames."""
    truths = []
    with VideoWriter(path, SIZE, frame_rate=FRAME_RATE) as writer:
        for _, picture, truth in perform(play):
            writer.write(picture)
            truths.append(truth)
    return truths


def _paint(
    play: Play, scenery: Image, time: float, rng: np.random.Generator
) -> tuple[Image, Truth]:
    width, height = SIZE
    shift = round(play.pan * time)
    light = 1.0 + play.flicker * np.sin(2 * np.pi * time / 5.0)
    view = scenery[:height, shift : shift + width]
    picture = np.asarray(cv2.convertScaleAbs(view, alpha=light), np.uint8)
    present = [(thing, foot) for thing in play.things if (foot := thing.path(time)) is not None]
    if play.shadows:
        for thing, (x, y) in present:
            _cast_shadow(picture, x - shift, y, thing.size)
    stencils = []
    for thing, (x, y) in present:
        brush = Brush(picture, light)
        thing.look(brush, x - shift, y, thing.size, time)
        stencils.append(brush.stencil > 0)
    truth = _truth(present, stencils, time)
    grain = rng.normal(0, play.noise, (height, width, 1))
    return np.clip(picture + grain, 0, 255).astype(np.uint8), truth


def _cast_shadow(picture: Image, x: float, y: float, size: float) -> None:
    depth = np.zeros(picture.shape[:2], np.float32)
    centre = round(x + 0.15 * size), round(y)
    cv2.ellipse(depth, centre, (round(0.3 * size), round(0.06 * size)), 0, 0, 360, (0.35,), -1)
    soft = cv2.GaussianBlur(depth, (0, 0), 4)[..., None]
    picture[:] = (picture * (1 - soft)).astype(np.uint8)


def _truth(
    present: list[tuple[Thing, tuple[float, float]]], stencils: list[NDArray[np.bool_]], time: float
) -> Truth:
    hidden = np.zeros((SIZE[1], SIZE[0]), bool)
    rows = []
    for (thing, foot), stencil in reversed(list(zip(present, stencils, strict=True))):
        visible = stencil & ~hidden
        hidden |= stencil
        if visible.sum() < max(60, _LEAST_VISIBLE * stencil.sum()):
            continue
        ys, xs = np.nonzero(visible)
        box = [xs.min(), ys.min(), xs.max() + 1, ys.max() + 1]
        before = thing.path(time - 0.1)
        moving = before is not None and np.hypot(foot[0] - before[0], foot[1] - before[1]) > 0.5
        rows.append((thing.kind, box, moving, thing.ever_moves))
    return Truth(
        kinds=tuple(row[0] for row in rows),
        boxes=np.array([row[1] for row in rows], float).reshape(-1, 4),
        moving=np.array([row[2] for row in rows], bool),
        ever_moves=np.array([row[3] for row in rows], bool),
    )
