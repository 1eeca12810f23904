"""`RenderedFilm`: frames, sentences and `FilmTruth`; `Picture`: what worlds paint with."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from wordsight.video.draw.contact_sheet import contact_sheet
from wordsight.video.write import VideoWriter
from wordsight.worlds.camera import Effects, FilmCamera
from wordsight.worlds.checks import Rng, WorldError, require_count
from wordsight.worlds.painter import Floats, Image, lay_over
from wordsight.worlds.sketch import SIZE, Point, Sprite, View

__all__ = [
    "FilmTruth",
    "FramePainter",
    "FrameSequence",
    "Picture",
    "RenderedFilm",
    "runs",
    "shoot",
    "visible",
    "world_sheet",
]

_LEAST = 2.0  # pixels a box must keep inside the picture to count as visible

Value = TypeVar("Value")


class FrameSequence(Protocol):
    """What all recordings have in common."""

    @property
    def num_frames(self) -> int:
        """Number of frames."""

    @property
    def frame_rate(self) -> float:
        """Frames per second."""


Recording = TypeVar("Recording", bound=FrameSequence)


class FilmTruth(ABC, Generic[Recording]):
    """Ground truth of one film, taken from script and physics, never from pixels.

    Args:
        recording: What happened, from script and physics.
        effects: Strengths of the effects on the picture; kept in the record.
        offsets: ``(T, 2)`` pixels by which the camera's shake moves each frame; 0 if not given.
    """

    def __init__(
        self, recording: Recording, effects: Effects | None = None, offsets: Floats | None = None
    ) -> None:
        self.recording = recording
        self._effects = Effects.at(0.0) if effects is None else effects
        self._offsets = np.zeros((recording.num_frames, 2)) if offsets is None else offsets

    @property
    @abstractmethod
    def boxes(self) -> Mapping[str, Floats]:
        """For every individual ``(T, 4)`` pixels x1, y1, x2, y2; NaN while out of the picture."""

    @abstractmethod
    def record(self) -> dict[str, Any]:
        """Return the truth and the effects for ``truth.jsonl``; the guide lists the fields.

        Two films with equal records are taken to be the same film when a run is resumed.
        """

    def _framed(self, view: View, points: ArrayLike) -> Floats:
        """Turn ``(T, N, 2)`` metres into ``(T, 4)`` visible boxes that follow the shake."""
        return visible(view.box(points) + np.tile(self._offsets, 2), SIZE)

    def _boxes_record(self) -> dict[str, list[list[float] | None]]:
        """Round boxes to tenths of a pixel, so that machines that differ in the last bit agree."""
        return {
            name: [None if np.isnan(box[0]) else box for box in np.round(boxes, 1).tolist()]
            for name, boxes in self.boxes.items()
        }

    def _span(self, first: int, last: int) -> dict[str, Any]:
        """Describe a span of frames, both included, with its times in seconds, the end excluded."""
        rate = self.recording.frame_rate
        return {
            "frames": [int(first), int(last)],
            "start": round(first / rate, 3),
            "end": round((last + 1) / rate, 3),
        }


def visible(boxes: Floats, size: tuple[int, int]) -> Floats:
    """Cut ``(T, 4)`` boxes at the edges of the picture; those that are outside become NaN."""
    clipped = np.clip(boxes, 0.0, np.tile(size, 2))
    clipped[(clipped[:, 2:] - clipped[:, :2]).min(axis=1) < _LEAST] = np.nan
    return clipped


def runs(values: Iterable[Value]) -> Iterator[tuple[Value, int, int]]:
    """Yield each run of equal values with its first and its last position.

    Examples:
        >>> list(runs("aab"))
        [('a', 0, 1), ('b', 2, 2)]
    """
    first = 0
    for value, group in groupby(values):
        end = first + sum(1 for _ in group)
        yield value, first, end - 1
        first = end


Truth = TypeVar("Truth", bound=FilmTruth[Any], covariant=True)

_MOST_LIGHT = 1.4  # shading at which light and dark sides are fully drawn is 1 / this


class Picture(ABC):
    """Paints any frame of one film.

    What never moves is painted once, by the subclasses.

    Args:
        effects: Strengths of the effects on the picture.
        camera: Shake, exposure and grain.
        view: How metres become pixels.
        light: Where the light comes from: -1 left, 1 right.
        shutter: Share of the time between two frames that the shutter is open at full blur.
    """

    _UNSEEN = 0.0  # metres; smaller movements are not painted
    _state: Floats  # (T, K) all numbers that a frame depends on
    _background: Image  # (480, 640, 3) all that never changes
    _occluders: Sequence[tuple[Image, tuple[int, int]]] = ()  # sheets and corners

    def __init__(
        self, effects: Effects, camera: FilmCamera, view: View, light: float, shutter: float = 1.0
    ) -> None:
        self._camera = camera
        self._view = view
        self._light = light * min(_MOST_LIGHT * effects.shading, 1.0)
        self._blur = view.scale * (shutter * effects.blur)
        self._last: tuple[int, Image] | None = None

    def __call__(self, index: int) -> Image:
        """Return frame ``index`` as ``(480, 640, 3)`` RGB."""
        # People and hands often keep still; then the last painting is used again.
        if self._last is None or self._differ(index, self._last[0]):
            image = self._paint(index)
            for sheet, corner in self._occluders:
                lay_over(image, sheet, corner)
            self._last = (index, image)
        return self._camera.develop(self._last[1].copy(), index)

    @abstractmethod
    def _paint(self, index: int) -> Image:
        """Paint a frame as a perfect camera would see it, without what stands before the scene."""

    def _differ(self, one: int, other: int) -> bool:
        """Whether two frames look different before the camera adds its own."""
        return bool(np.abs(self._state[one] - self._state[other]).max() > self._UNSEEN)

    def _motion(self, track: Floats, index: int) -> tuple[float, float]:
        """Return the pixels a point moves while the shutter is open; ``track`` is in metres."""
        before, after = max(index - 1, 0), min(index + 1, len(track) - 1)
        across, up = (track[after] - track[before]) / max(after - before, 1) * self._blur
        return float(across), -float(up)

    def _place(self, image: Image, sprite: Sprite, track: Floats, index: int) -> None:
        """Lay a thing over ``image`` where it is; ``track`` is ``(T, 3)`` x, y and angle."""
        x, y, angle = track[index]
        motion = self._motion(track[:, :2], index)
        sprite.place(image, self._view, (x, y), float(angle), motion)

    def _place_shadow(
        self, image: Image, shadow: Sprite, spot: Point, above: float, shrink: float
    ) -> None:
        """Darken the ground under a thing; the higher it is, the smaller the spot."""
        size = round(1.0 / (1.0 + shrink * max(above, 0.0)), 2)
        shadow.place(image, self._view, spot, stretch=size)


def shoot(
    recording: Recording,
    effects: Effects,
    rng: Callable[[str], Rng],
    make_truth: Callable[[Recording, Effects, Floats], FilmTruth[Recording]],
    make_picture: Callable[[Recording, Effects, FilmCamera, Rng], Picture],
) -> dict[str, Any]:
    """Return the fields of a `RenderedFilm` that follow from its recording.

    The film's generator for a purpose is ``rng(purpose)``; ``make_truth`` and ``make_picture`` are
    the classes of the world's truth and pictures.
    """
    camera = FilmCamera(effects, SIZE, recording.num_frames, rng("camera"))
    return {
        "frame_rate": recording.frame_rate,
        "size": SIZE,
        "num_frames": recording.num_frames,
        "truth": make_truth(recording, effects, camera.offsets),
        "crf": effects.crf,
        "make_picture": lambda: make_picture(recording, effects, camera, rng("picture")),
    }


FramePainter = Callable[[int], Image]
"""Returns frame ``index`` as ``(H, W, 3)`` RGB that the caller may keep."""


@dataclass(frozen=True)
class RenderedFilm(Generic[Truth]):
    """One film of a world.

    Attributes:
        name: File name without ending, such as ``street-007``; unique in its world.
        world: Name of the world.
        index: Number of the film in its world, counting from 0.
        random_state: Seed of the world.
        frame_rate: Frames per second.
        size: Width and height in pixels.
        num_frames: Number of frames.
        sentences: Sentences given with the film for training; all are true.
        truth: Ground truth.
        crf: Quality number for the encoder.
        make_picture: Prepares the painting; called once for each pass over the frames.
        companions: Texts to write beside the video, by the ending of their file: ``.txt``.
    """

    name: str
    world: str
    index: int
    random_state: int
    frame_rate: float
    size: tuple[int, int]
    num_frames: int
    sentences: tuple[str, ...]
    truth: Truth
    crf: int
    make_picture: Callable[[], FramePainter] = field(repr=False)
    companions: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return self.num_frames / self.frame_rate

    @property
    def times(self) -> Floats:
        """``(T,)`` presentation time of every frame in seconds."""
        return np.arange(self.num_frames) / self.frame_rate

    def frames(self) -> Iterator[Image]:
        """Paint the frames one after the other, each ``(H, W, 3)`` RGB."""
        picture = self.make_picture()
        for index in range(self.num_frames):
            yield picture(index)

    def still(self, index: int) -> Image:
        """Paint one frame, ``(H, W, 3)`` RGB; negative numbers count from the end."""
        if not -self.num_frames <= index < self.num_frames:
            raise IndexError(f"{self.name} has frames 0 to {self.num_frames - 1}, got {index}.")
        return self.make_picture()(index % self.num_frames)

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Render the film into an mp4 file, atomically."""
        options: dict[str, Any] = {"crf": self.crf, "preset": "superfast", "overwrite": overwrite}
        with VideoWriter(path, self.size, self.frame_rate, **options) as writer:
            for image in self.frames():
                writer.write(image)

    def record(self) -> dict[str, Any]:
        """Return the film's line of ``truth.jsonl``."""
        beside = [f"{self.name}{ending}" for ending in self.companions]
        return {
            "name": self.name,
            "file_name": f"{self.name}.mp4",
            "world": self.world,
            "index": self.index,
            "random_state": self.random_state,
            "frame_rate": self.frame_rate,
            "size": list(self.size),
            "num_frames": self.num_frames,
            "sentences": list(self.sentences),
            **({"companions": beside} if beside else {}),
            **self.truth.record(),
        }


def world_sheet(
    films: Iterable[RenderedFilm[Any]], *, stills: int = 4, heading: str = "", cell_width: int = 240
) -> Image:
    """Draw a contact sheet: each film is a row of stills spread evenly over it.

    The film's name stands under its first still, its sentences under the others.

    Args:
        films: One or more.
        stills: Stills per film.
        heading: A line above everything, or nothing.
        cell_width: Width of a still in pixels.

    Returns:
        ``(H, W, 3)`` RGB; write it with ``wordsight.video.write_image``.
    """
    count = require_count("stills", stills, unit="still")
    images: list[Image] = []
    titles: list[str] = []
    for film in films:
        picture = film.make_picture()
        # The middles of ``count`` equal parts of the film.
        images.extend(
            picture(int((2 * part + 1) * film.num_frames / (2 * count))) for part in range(count)
        )
        words = [film.name, *film.sentences][:count]
        titles.extend([*words, *[""] * (count - len(words))])
    if not images:
        raise WorldError("a contact sheet needs at least one film, got none.")
    return contact_sheet(images, titles, count, heading=heading, cell_width=cell_width)
