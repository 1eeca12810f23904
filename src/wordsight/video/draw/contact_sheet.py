"""Contact sheets: images with titles in a grid, such as the shots of a video."""

import math
import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.errors import VideoError
from wordsight.records import Moment
from wordsight.video.draw.text import (
    DARK,
    Colour,
    draw_text,
    drawable,
    line_height,
    shortened,
    wrapped,
)
from wordsight.video.images import MAX_PIXELS, checked_image, write_image
from wordsight.video.read.reader import VideoReader

__all__ = ["clock_time", "contact_sheet", "shot_sheet", "write_contact_sheet"]

_PAPER: Colour = (247, 247, 245)
_MOUNT: Colour = (226, 227, 226)  # behind images of another aspect ratio than their cell
_GREY: Colour = (98, 102, 110)  # second lines; contrast 5.6 to 1 with the paper
_MOST_COLUMNS = 6
_MOST_TITLE_LINES = 3


def contact_sheet(
    images: Sequence[NDArray[np.uint8]],
    titles: Sequence[str] | None = None,
    columns: int | None = None,
    *,
    heading: str = "",
    cell_width: int = 320,
) -> NDArray[np.uint8]:
    """Lay images out in a grid of equal cells with a title under each.

    Cells have the median aspect ratio; other images are fitted into the middle of their cell.

    Args:
        images: At least one, each ``(H, W, 3)`` RGB, of any size.
        titles: One per image; the first line of a title is dark, the others are grey. Long titles
            are wrapped and cut after three lines.
        columns: Images per row; by default about as many as rows, up to six.
        heading: A line at the top; may be empty.
        cell_width: Width of the cells in pixels.

    Returns:
        ``(H, W, 3)`` RGB.

    Raises:
        VideoError: If there is no image, an argument is out of range, or the sheet is too large.
    """
    titles = [""] * len(images) if titles is None else list(titles)
    _check(images, titles, columns, cell_width)
    size = max(8.0, cell_width / 34)
    blocks = [_title_lines(title, size, cell_width) for title in titles]
    grid = _Grid(
        columns=columns or min(_MOST_COLUMNS, math.ceil(math.sqrt(len(images)))),
        cell=(cell_width, _cell_height(images, cell_width)),
        under=max(map(len, blocks)) * line_height(size) + round(size * 0.9) if any(blocks) else 0,
        over=round(size * 3.6) if heading else 0,
        gap=round(cell_width * 0.07),
    )
    page = _blank(grid.size(len(images)))
    if heading:
        room = page.shape[1] - 2 * grid.gap
        words = shortened(drawable(heading).replace("\n", " "), size * 1.5, room)
        draw_text(page, words, grid.gap, grid.gap + round(size * 1.5), size * 1.5, DARK)
    for index, (image, lines) in enumerate(zip(images, blocks, strict=True)):
        left, top = grid.corner(index)
        bottom = top + grid.cell[1]
        _fit_into(page[top:bottom, left : left + cell_width], image)
        _draw_title(page, lines, left, bottom + round(size * 0.9), size)
    return page


def write_contact_sheet(
    path: str | os.PathLike[str],
    images: Sequence[NDArray[np.uint8]],
    titles: Sequence[str] | None = None,
    columns: int | None = None,
    *,
    heading: str = "",
    cell_width: int = 320,
    overwrite: bool = False,
) -> None:
    """Write a `contact_sheet` atomically, as PNG or JPEG by the file name's suffix.

    Args:
        path: The file.
        images: As for `contact_sheet`.
        titles: As for `contact_sheet`.
        columns: As for `contact_sheet`.
        heading: As for `contact_sheet`.
        cell_width: As for `contact_sheet`.
        overwrite: Whether an existing file may be replaced.

    Raises:
        VideoError: As `contact_sheet`, or if the file exists or cannot be written.
    """
    page = contact_sheet(images, titles, columns, heading=heading, cell_width=cell_width)
    write_image(path, page, overwrite=overwrite)


def shot_sheet(
    video: VideoReader | str | os.PathLike[str],
    shots: Sequence[Moment],
    *,
    at: str = "middle",
    columns: int | None = None,
    heading: str | None = None,
    cell_width: int = 320,
    most: int = 120,
) -> NDArray[np.uint8]:
    """Show one frame of each shot (or of any time spans) of a video with its times.

    Args:
        video: The video, or its file.
        shots: Time spans of the video, at least one.
        at: Which frame to show, ``"first"`` or ``"middle"``.
        columns: As for `contact_sheet`.
        heading: A line at the top; by default the file name and the number of shots.
        cell_width: As for `contact_sheet`.
        most: Largest number of shots to show; of more, an evenly spaced selection is shown.

    Returns:
        ``(H, W, 3)`` RGB; write it with `write_image`.

    Raises:
        VideoError: If the video cannot be read or an argument is out of range.
    """
    with ExitStack() as stack:
        if not isinstance(video, VideoReader):
            video = stack.enter_context(VideoReader(video))
        if at not in ("first", "middle"):
            raise VideoError(f"at must be 'first' or 'middle', got {at!r}.")
        if not shots or most < 1 or cell_width < 1:
            raise VideoError("a sheet needs at least one shot, and most and cell_width above 0.")
        chosen = np.linspace(0, len(shots) - 1, min(most, len(shots))).round().astype(int)
        chosen = np.unique(chosen)
        info = video.info
        size = (cell_width, max(1, round(cell_width * info.height / info.width)))
        images, titles = [], []
        for number in chosen.tolist():
            shot = shots[number]
            time = shot.start if at == "first" else (shot.start + shot.end) / 2
            images.append(video.frame_at(time).scaled(*size))
            titles.append(f"{number + 1}\n{clock_time(shot.start)} - {clock_time(shot.end)}")
    if heading is None:
        part = "" if len(chosen) == len(shots) else f"{len(chosen)} of "
        heading = f"{info.path.name}: {part}{len(shots)} shot{'s' * (len(shots) != 1)}"
    return contact_sheet(images, titles, columns, heading=heading, cell_width=cell_width)


def clock_time(seconds: float) -> str:
    """Format a time as hours, minutes, seconds and hundredths.

    Examples:
        >>> clock_time(75.5), clock_time(3723.456)
        ('1:15.50', '1:02:03.46')
    """
    hundredths = round(seconds * 100)
    minutes, rest = divmod(abs(hundredths), 6000)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours}:{minutes:02d}" if hours else f"{minutes}"
    return f"{'-' * (hundredths < 0)}{clock}:{rest // 100:02d}.{rest % 100:02d}"


def _check(
    images: Sequence[NDArray[np.uint8]], titles: list[str], columns: int | None, cell_width: int
) -> None:
    if not images:
        raise VideoError("a contact sheet needs at least one image, got none.")
    if len(titles) != len(images):
        raise VideoError(
            f"each image needs one title, got {len(titles)} titles and {len(images)} images."
        )
    if (columns is not None and columns < 1) or cell_width < 32:
        raise VideoError(
            f"columns must be 1 or more and cell_width 32 or more, got {columns} and {cell_width}."
        )
    for image in images:
        checked_image(image)


@dataclass(frozen=True)
class _Grid:
    """Layout of a sheet in pixels; ``under`` and ``over`` are the height of titles and heading."""

    columns: int
    cell: tuple[int, int]
    under: int
    over: int
    gap: int

    def corner(self, index: int) -> tuple[int, int]:
        """Return left and top of the image with that index, row by row."""
        row, column = divmod(index, self.columns)
        left = self.gap + column * (self.cell[0] + self.gap)
        return left, self.gap + self.over + row * (self.cell[1] + self.under + self.gap)

    def size(self, count: int) -> tuple[int, int]:
        """Return width and height of a sheet of ``count`` images."""
        _, bottom = self.corner(math.ceil(count / self.columns) * self.columns)
        return self.gap + self.columns * (self.cell[0] + self.gap), bottom


def _blank(size: tuple[int, int]) -> NDArray[np.uint8]:
    if size[0] * size[1] > MAX_PIXELS:
        raise VideoError(
            f"the sheet would have {size[0]} x {size[1]} pixels, more than {MAX_PIXELS:,}; use "
            "fewer images or a smaller cell_width."
        )
    return np.full((size[1], size[0], 3), _PAPER, np.uint8)


def _cell_height(images: Sequence[NDArray[np.uint8]], cell_width: int) -> int:
    usual: float = median(image.shape[0] / image.shape[1] for image in images)
    # A sheet of very tall or flat images would be mostly margin.
    return max(1, round(cell_width * min(max(usual, 0.3), 1.8)))


def _title_lines(title: str, size: float, room: int) -> list[tuple[str, Colour]]:
    lines: list[tuple[str, Colour]] = []
    for index, paragraph in enumerate(drawable(title).split("\n")):
        colour = _GREY if index else DARK
        lines.extend((line, colour) for line in wrapped(paragraph, size, room))
    if len(lines) > _MOST_TITLE_LINES:
        lines = lines[:_MOST_TITLE_LINES]
        lines[-1] = (shortened(lines[-1][0] + " ...", size, room), lines[-1][1])
    return lines


def _draw_title(
    page: NDArray[np.uint8], lines: list[tuple[str, Colour]], left: int, top: int, size: float
) -> None:
    for index, (line, colour) in enumerate(lines):
        draw_text(page, line, left, top + round(size) + index * line_height(size), size, colour)


def _fit_into(cell: NDArray[np.uint8], image: NDArray[np.uint8]) -> None:
    """Put an image into the middle of its cell, as large as it fits, in place."""
    height, width = cell.shape[:2]
    scale = min(width / image.shape[1], height / image.shape[0])
    fitted_width = min(width, max(1, round(image.shape[1] * scale)))
    fitted_height = min(height, max(1, round(image.shape[0] * scale)))
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    cell[:] = _MOUNT
    left, top = (width - fitted_width) // 2, (height - fitted_height) // 2
    cell[top : top + fitted_height, left : left + fitted_width] = cv2.resize(
        image, (fitted_width, fitted_height), interpolation=how
    )
