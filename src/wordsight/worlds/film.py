"""`RenderedFilm`: frames on demand, sentences and ground truth of one rendered video."""

import hashlib
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wordsight.video.contact_sheet import contact_sheet
from wordsight.video.writer import VideoWriter
from wordsight.worlds.checks import WorldError, checked_count

__all__ = ["Picture", "RenderedFilm", "Truth", "generator", "world_sheet"]


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
class RenderedFilm:
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


# MERGED FROM wordsight.worlds.film:
# Where the chance in a film comes from: its own generator, so that films do not disturb another.
#
# Film number 7 is the same whether ten films are made or a thousand, and what a film looks like can
# change without changing what happens in it.


def generator(
    random_state: int, world: str, index: int, purpose: str = "script"
) -> np.random.Generator:
    """Return the random generator of one film for one purpose.

    Args:
        random_state: The seed of the whole world, 0 or more.
        world: The world's name.
        index: Which film, counting from 0.
        purpose: What the chance is for; ``script`` and ``picture`` do not disturb each other.
    """
    try:
        seed = operator.index(random_state)
    except TypeError:
        seed = -1
    if seed < 0:
        raise WorldError(f"random_state must be a whole number of 0 or more, got {random_state!r}.")
    digest = hashlib.sha256(f"{world}/{purpose}".encode()).digest()
    # Read in a fixed byte order, so that machines agree.
    words = np.frombuffer(digest[:8], dtype="<u4").astype(int)
    return np.random.default_rng([seed, index, *words.tolist()])


# MERGED FROM wordsight.worlds.film:
# A contact sheet of a world: some stills of some films, with what was written about them.


def world_sheet(
    films: Iterable[RenderedFilm], *, stills: int = 4, heading: str = "", cell_width: int = 240
) -> NDArray[np.uint8]:
    """Show each film as a row of stills spread evenly over it.

    The first still of a row has the film's name under it, the others its sentences.

    Args:
        films: One or more.
        stills: Pictures per film.
        heading: A line over everything, or nothing.
        cell_width: Width of a still in pixels.

    Returns:
        ``(H, W, 3)`` RGB; write it with ``wordsight.video.write_image``.
    """
    count = checked_count("stills", stills, unit="still")
    images: list[NDArray[np.uint8]] = []
    titles: list[str] = []
    for film in films:
        picture = film.make_picture()
        images.extend(picture(index) for index in _spread(film.num_frames, count))
        words = [film.name, *film.sentences][:count]
        titles.extend([*words, *[""] * (count - len(words))])
    if not images:
        raise WorldError("a contact sheet needs at least one film, got none.")
    return contact_sheet(images, titles, count, heading=heading, cell_width=cell_width)


def _spread(num_frames: int, count: int) -> list[int]:
    """Return frame numbers in the middle of ``count`` equal parts."""
    return [int((2 * part + 1) * num_frames / (2 * count)) for part in range(count)]
