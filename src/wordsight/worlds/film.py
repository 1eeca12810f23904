"""`RenderedFilm`: frames on demand, sentences and ground truth of one rendered video."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wordsight.video.draw.contact_sheet import contact_sheet
from wordsight.video.write import VideoWriter
from wordsight.worlds.checks import WorldError, require_count
from wordsight.worlds.painter import Floats, Image
from wordsight.worlds.truth import FilmTruth

__all__ = ["FramePainter", "RenderedFilm", "world_sheet"]

FramePainter = Callable[[int], Image]
"""Returns frame ``index`` as ``(H, W, 3)`` RGB that the caller may keep."""


@dataclass(frozen=True)
class RenderedFilm:
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
    truth: FilmTruth[Any]
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
    films: Iterable[RenderedFilm], *, stills: int = 4, heading: str = "", cell_width: int = 240
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
