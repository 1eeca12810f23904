"""`Film`: one rendered video: its pictures on demand, its sentences, and the truth about it."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wordsight.video.writer import VideoWriter

__all__ = ["Film", "Picture", "Truth"]


class Truth(Protocol):
    """What is known about a film from its script and its physics, never from its pixels."""

    @property
    def boxes(self) -> Mapping[str, NDArray[np.float64]]:
        """For every thing in the film ``(T, 4)`` x1, y1, x2, y2 pixels; NaN while out of sight."""

    def record(self) -> dict[str, Any]:
        """Everything worth writing down, as JSON can hold it, with the settings of the picture.

        Two films with equal records are taken to be the same film when a run is resumed.
        """


class Picture(Protocol):
    """Paints any frame of one film."""

    def __call__(self, index: int) -> NDArray[np.uint8]:
        """Return frame ``index`` as ``(H, W, 3)`` RGB that the caller may keep."""


@dataclass(frozen=True)
class Film:
    """One film of a world.

    Attributes:
        name: File name without ending, such as ``street-007``; unique in its world.
        world: Name of the world.
        index: Which film of the world, counting from 0.
        random_state: The seed the world was made with.
        frame_rate: Frames per second.
        size: Width and height in pixels.
        num_frames: Number of frames.
        sentences: What a person wrote about it; all true.
        truth: What is known about it.
        crf: Quality number for the encoder.
        make_picture: Sets up the painting; called once for each pass over the frames.
        companions: Texts to be written beside the video, by the ending of their file: ``.txt``.
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
    make_picture: Callable[[], Picture] = field(repr=False)
    companions: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return self.num_frames / self.frame_rate

    @property
    def times(self) -> NDArray[np.float64]:
        """``(T,)`` presentation time of every frame in seconds."""
        return np.arange(self.num_frames) / self.frame_rate

    def frames(self) -> Iterator[NDArray[np.uint8]]:
        """Paint the frames one after the other, each ``(H, W, 3)`` RGB."""
        picture = self.make_picture()
        for index in range(self.num_frames):
            yield picture(index)

    def still(self, index: int) -> NDArray[np.uint8]:
        """Paint one frame, ``(H, W, 3)`` RGB; negative numbers count from the end."""
        if not -self.num_frames <= index < self.num_frames:
            raise IndexError(f"{self.name} has frames 0 to {self.num_frames - 1}, got {index}.")
        return self.make_picture()(index % self.num_frames)

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Render the film into an mp4 file, atomically."""
        with VideoWriter(
            path,
            self.size,
            self.frame_rate,
            crf=self.crf,
            preset="superfast",
            overwrite=overwrite,
        ) as writer:
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
