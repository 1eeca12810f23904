"""A contact sheet of a world: some stills of some films, with what was written about them."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from wordsight.video.contact_sheet import contact_sheet
from wordsight.worlds.asking import checked_count
from wordsight.worlds.errors import WorldError
from wordsight.worlds.film import Film

__all__ = ["world_sheet"]


def world_sheet(
    films: Iterable[Film], *, stills: int = 4, heading: str = "", cell_width: int = 240
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
