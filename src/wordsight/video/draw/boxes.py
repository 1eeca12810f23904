"""Drawing detections, tracks and captions on images; every function returns a new image.

Colours come from a palette that is safe for colour-blind viewers; lines and letters scale with the
frame. Labels are placed beside boxes, inside the frame, without overlap.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.records import FrameDetections, Track
from wordsight.video.draw.text import (
    DARK,
    LIGHT,
    Colour,
    blend,
    colour_of,
    draw_text,
    drawable,
    line_height,
    shortened,
    text_colour_on,
    text_width,
    wrapped,
)
from wordsight.video.images import checked_image

__all__ = [
    "ColouredText",
    "Rectangle",
    "box_at",
    "draw_caption",
    "draw_detections",
    "draw_sentence",
    "draw_tag",
    "draw_tracks",
    "letter_size",
    "place_tag",
]


Rectangle = tuple[int, int, int, int]
"""x1, y1, x2, y2 in whole pixels, end-exclusive."""

_MOST_OF_FRAME = 0.4  # share of the frame's height a tag may take

_SMALLEST_LETTERS = 7.5  # pixels; smaller capitals are hard to read


def letter_size(frame_size: tuple[int, int]) -> float:
    """Return a readable height of capitals for frames of that width and height."""
    diagonal = float(np.hypot(*frame_size))
    return max(_SMALLEST_LETTERS, diagonal / 105)


def draw_tag(
    canvas: NDArray[np.uint8],
    label: str,
    box: Rectangle,
    colour: Colour,
    taken: list[Rectangle],
) -> None:
    """Draw a label beside ``box`` onto ``canvas``, in place, and add its rectangle to ``taken``.

    Nothing is drawn on frames too small for readable text.

    Args:
        canvas: ``(H, W, 3)`` RGB.
        label: Any text; drawn on one line.
        box: The box that the label belongs to.
        colour: Fill colour of the tag.
        taken: Rectangles of the tags drawn before, which are avoided as far as possible.
    """
    frame = (canvas.shape[1], canvas.shape[0])
    size = letter_size(frame)
    inset, above = round(size * 0.6), round(size * 0.5)
    words = shortened(drawable(label).replace("\n", " "), size, frame[0] - 2 * inset)
    if 2 * above + size > _MOST_OF_FRAME * frame[1] or words == "..":
        return
    extent = (text_width(words, size) + 2 * inset, round(size) + 2 * above)
    tag = place_tag(box, extent, frame, taken)
    blend(canvas, _rounded(extent, max(1, round(size * 0.3))), colour, tag[0], tag[1])
    draw_text(canvas, words, tag[0] + inset, tag[3] - above, size, text_colour_on(colour))
    taken.append(tag)


def place_tag(
    box: Rectangle, extent: tuple[int, int], frame: tuple[int, int], taken: list[Rectangle]
) -> Rectangle:
    """Choose where a tag goes: above its box, else below, beside or inside it.

    Args:
        box: The box, which may extend beyond the frame.
        extent: Width and height of the tag.
        frame: Width and height of the frame; the tag lies inside it if it fits.
        taken: Rectangles to avoid.

    Returns:
        The first candidate, in the order above, that covers least of its box and of ``taken``.
    """
    places = [_inside(place, frame) for place in _candidates(box, extent)]

    def hidden(place: Rectangle) -> int:
        # Covering the box hides the object itself, covering another tag only a word.
        return 4 * _overlap(place, box) + sum(_overlap(place, other) for other in taken)

    return min(places, key=hidden)


def _candidates(box: Rectangle, extent: tuple[int, int]) -> Iterator[Rectangle]:
    x1, y1, x2, y2 = box
    width, height = extent
    corners = [
        (x1, y1 - height),  # above, from the left edge
        (x2 - width, y1 - height),  # above, up to the right edge
        (x1, y2),  # below
        (x2 - width, y2),
        (x2, y1),  # to the right
        (x1 - width, y1),  # to the left
        (x2, y2 - height),
        (x1 - width, y2 - height),
        (x1, y1),  # inside: the box fills the frame
        (x1, y2 - height),
    ]
    for left, top in corners:
        yield left, top, left + width, top + height


def _inside(place: Rectangle, frame: tuple[int, int]) -> Rectangle:
    x1, y1, x2, y2 = place
    dx = max(0, -x1) - max(0, x2 - frame[0])
    dy = max(0, -y1) - max(0, y2 - frame[1])
    return x1 + dx, y1 + dy, x2 + dx, y2 + dy


def _overlap(one: Rectangle, other: Rectangle) -> int:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(width, 0) * max(height, 0)


def _rounded(extent: tuple[int, int], radius: int) -> NDArray[np.uint8]:
    # Per axis, the distance of each pixel centre from the rectangle shrunk by the radius.
    away = [
        np.maximum(np.abs(np.arange(side) - (side - 1) / 2) - (side / 2 - radius), 0)
        for side in extent
    ]
    distance = np.hypot(away[0][None, :], away[1][:, None])
    return np.asarray(np.clip(radius - distance + 0.5, 0, 1) * 255, dtype=np.uint8)


_CASING_OPACITY = 110  # of 255: the dark edge around coloured lines, for light backgrounds

_BAND_OPACITY = 200  # of 255: the band behind a caption

_SMALLEST_CAPTION = 7.5  # height of capitals in pixels

_CAPTION_ROOM = 0.5  # share of the frame's height a caption may take before it is cut


def draw_detections(
    image: NDArray[np.uint8],
    detections: FrameDetections,
    label_names: Sequence[str],
    *,
    show_scores: bool = True,
) -> NDArray[np.uint8]:
    """Draw the boxes of one frame with their labels.

    A box with a track id has the colour of that id, others that of their label.

    Args:
        image: ``(H, W, 3)`` RGB; not changed.
        detections: The boxes, in pixels of ``image``.
        label_names: The classes that the labels index.
        show_scores: Whether to write the score after each label.

    Returns:
        ``(H, W, 3)`` RGB.
    """
    canvas = checked_image(image).copy()
    tags = []
    for index, box in enumerate(detections.boxes):
        label = int(detections.labels[index])
        track_id = -1 if detections.ids is None else int(detections.ids[index])
        text = label_names[label] if 0 <= label < len(label_names) else str(label)
        text += f" {track_id}" * (track_id >= 0)
        text += f" {detections.scores[index]:.2f}" * show_scores
        colour = colour_of(track_id if track_id >= 0 else label)
        tags.append((text, _draw_box(canvas, box, colour), colour))
    _draw_tags(canvas, tags)
    return canvas


def draw_tracks(
    image: NDArray[np.uint8],
    tracks: Iterable[Track],
    time: float,
    *,
    trail_seconds: float = 1.5,
) -> NDArray[np.uint8]:
    """Draw the box of each track at a time, and the recent path of its centre, fading out.

    Boxes that are interpolated, not detected, have dashed outlines.

    Args:
        image: ``(H, W, 3)`` RGB; not changed.
        tracks: Tracks in pixels of ``image``; those without a box at ``time`` are left out.
        time: Time in seconds.
        trail_seconds: Length of the path in seconds; 0 for none.

    Returns:
        ``(H, W, 3)`` RGB.
    """
    canvas = checked_image(image).copy()
    present = [(track, at) for track in tracks if (at := box_at(track, time)) is not None]
    if trail_seconds > 0:
        for track, (box, _) in present:
            _draw_trail(canvas, track, box, time, trail_seconds)
    tags = []
    for track, (box, observed) in present:
        colour = colour_of(track.track_id)
        rectangle = _draw_box(canvas, box, colour, dashed=not observed)
        tags.append((f"{track.label} {track.track_id}", rectangle, colour))
    _draw_tags(canvas, tags)
    return canvas


def draw_caption(image: NDArray[np.uint8], text: str) -> NDArray[np.uint8]:
    """Draw a caption over a dark band at the bottom, wrapped into lines.

    A long text gets smaller letters, then is cut at half the height of the frame. Nothing is drawn
    on frames too small for a readable line.

    Args:
        image: ``(H, W, 3)`` RGB; not changed.
        text: Any text; may be empty.

    Returns:
        ``(H, W, 3)`` RGB.
    """
    canvas = checked_image(image).copy()
    words = drawable(text)
    if not words.strip():
        return canvas
    lines, size = _fit_caption(words, canvas.shape[1], canvas.shape[0])
    for line, left, base in _band(canvas, lines, size):
        draw_text(canvas, line, left, base, size, LIGHT)
    return canvas


def _band(
    canvas: NDArray[np.uint8], lines: Sequence[str], size: float
) -> Iterator[tuple[str, int, int]]:
    """Draw a dark band for lines at the bottom; yield each with its left end and its base line."""
    if not lines:
        return
    step, padding = line_height(size), round(size * 0.95)
    band = (len(lines) - 1) * step + round(size) + 2 * padding
    top = canvas.shape[0] - band
    shade = np.full((band, canvas.shape[1]), _BAND_OPACITY, np.uint8)
    blend(canvas, shade, DARK, 0, top)
    for place, line in enumerate(lines):
        left = (canvas.shape[1] - text_width(line, size)) // 2
        yield line, left, top + padding + round(size) + place * step


@dataclass(frozen=True)
class ColouredText:
    """A piece of a sentence that is drawn in the colour of what it refers to.

    Attributes:
        text: The piece.
        thing: The number of the track it refers to; ``None`` for plain ink.
        belief: How true it is, from 0 (dim) to 1 (in full colour).
        failing: Whether it is underlined.
    """

    text: str
    thing: int | None = None
    belief: float = 0.0
    failing: bool = False


def draw_sentence(image: NDArray[np.uint8], pieces: Sequence[ColouredText]) -> NDArray[np.uint8]:
    """Draw a sentence over a dark band at the bottom, each piece as bright as it is true.

    Args:
        image: ``(H, W, 3)`` RGB; not changed.
        pieces: The sentence.

    Returns:
        ``(H, W, 3)`` RGB.
    """
    canvas = checked_image(image).copy()
    words = [drawable(piece.text).strip() for piece in pieces]
    lines, size = _fit_caption(" ".join(words), canvas.shape[1], canvas.shape[0])
    remaining = iter(zip(words, pieces, strict=True))
    for line, left, base in _band(canvas, lines, size):
        # A line holds whole words, unless one alone was too long for it or the text was cut.
        for shown in line.split():
            _, piece = next(remaining, (shown, ColouredText(shown)))
            _draw_piece(canvas, shown, piece, (left, base), size)
            left += text_width(f"{shown} ", size)
    return canvas


def _draw_piece(
    canvas: NDArray[np.uint8],
    text: str,
    piece: ColouredText,
    place: tuple[int, int],
    size: float,
) -> None:
    own = LIGHT if piece.thing is None else colour_of(piece.thing)
    share = 0.75 if piece.thing is None else 0.3 + 0.7 * min(max(piece.belief, 0.0), 1.0)
    red, green, blue = (round(share * one + (1 - share) * 90) for one in own)
    draw_text(canvas, text, *place, size, (red, green, blue))
    if piece.failing:
        left, base = place
        line = np.full((max(2, round(size / 7)), text_width(text, size)), 255, np.uint8)
        blend(canvas, line, LIGHT, left, base + round(size * 0.3))


def box_at(track: Track, time: float) -> tuple[NDArray[np.float64], bool] | None:
    """Return the box of a track at a time, interpolated linearly between its own times.

    Args:
        track: The track.
        time: Time in seconds.

    Returns:
        The box ``(4,)`` and whether it is observed; ``None`` before the track starts and after it
        ends.
    """
    if len(track) == 0 or time < track.times[0] or (time > track.times[-1] and time >= track.end):
        return None
    after = int(np.searchsorted(track.times, time, side="right"))
    before = after - 1
    if after == len(track) or track.times[before] == time:
        return track.boxes[before], bool(track.observed[before])
    share = (time - track.times[before]) / (track.times[after] - track.times[before])
    box = (1 - share) * track.boxes[before] + share * track.boxes[after]
    return box, bool(track.observed[before] and track.observed[after])


def _draw_tags(canvas: NDArray[np.uint8], tags: list[tuple[str, Rectangle, Colour]]) -> None:
    # After all boxes, so that no outline crosses a word.
    taken: list[Rectangle] = []
    for text, rectangle, colour in tags:
        draw_tag(canvas, text, rectangle, colour, taken)


def _line_width(canvas: NDArray[np.uint8]) -> int:
    diagonal = float(np.hypot(*canvas.shape[:2]))
    return max(2, round(diagonal / 480))


def _draw_box(
    canvas: NDArray[np.uint8], box: NDArray[np.float64], colour: Colour, *, dashed: bool = False
) -> Rectangle:
    """Draw an outline whose outer edge is the box; return the box in whole pixels."""
    height, width = canvas.shape[:2]
    line = _line_width(canvas)
    # Boxes may extend far beyond the frame, and OpenCV accepts no large coordinates.
    limits = np.array([width, height, width, height], dtype=np.float64)
    x1, y1, x2, y2 = (round(v) for v in np.clip(box, -limits, 2 * limits).tolist())
    x2, y2 = max(x2, x1 + 1), max(y2, y1 + 1)
    _outline(canvas, (x1 - 1, y1 - 1, x2 + 1, y2 + 1), line + 2, DARK, _CASING_OPACITY, 0)
    _outline(canvas, (x1, y1, x2, y2), line, colour, 255, 5 * line if dashed else 0)
    return x1, y1, x2, y2


def _outline(
    canvas: NDArray[np.uint8], box: Rectangle, line: int, colour: Colour, opacity: int, dash: int
) -> None:
    x1, y1, x2, y2 = box
    line = max(1, min(line, (x2 - x1) // 2, (y2 - y1) // 2))
    across = np.full((line, x2 - x1), opacity, np.uint8)
    down = np.full((max(0, y2 - y1 - 2 * line), line), opacity, np.uint8)
    if dash:
        across[:, np.arange(x2 - x1) // dash % 2 == 1] = 0
        down[(np.arange(len(down)) + line) // dash % 2 == 1] = 0
    blend(canvas, across, colour, x1, y1)
    blend(canvas, across, colour, x1, y2 - line)
    blend(canvas, down, colour, x1, y1 + line)
    blend(canvas, down, colour, x2 - line, y1 + line)


def _draw_trail(
    canvas: NDArray[np.uint8],
    track: Track,
    box: NDArray[np.float64],
    time: float,
    seconds: float,
) -> None:
    recent = (track.times > time - seconds) & (track.times < time)
    boxes = np.vstack([track.boxes[recent], box])
    ages = (time - np.append(track.times[recent], time)) / seconds
    centres = (boxes[:, :2] + boxes[:, 2:]) / 2
    limits = np.array([canvas.shape[1], canvas.shape[0]], dtype=np.float64)
    points = np.clip(centres, -limits, 2 * limits)
    line = _line_width(canvas)
    corner = np.floor(points.min(axis=0)).astype(int) - 2 * line
    width, height = (np.ceil(points.max(axis=0)).astype(int) + 2 * line - corner).tolist()
    mask = np.zeros((height, width), np.uint8)
    shift = 4  # OpenCV's points in sixteenths of a pixel
    path = np.round((points - corner) * (1 << shift)).astype(int).tolist()
    for index, (start, end) in enumerate(pairwise(path)):
        opacity = int(255 * (1 - ages[index]))
        cv2.line(mask, start, end, opacity, line, cv2.LINE_AA, shift)
    cv2.circle(mask, path[-1], (line + 1) << shift, 255, -1, cv2.LINE_AA, shift)
    colour = colour_of(track.track_id)
    halo = np.asarray(cv2.dilate(mask, np.ones((3, 3), np.uint8)), dtype=np.uint16)
    left, top = int(corner[0]), int(corner[1])
    blend(canvas, (halo * _CASING_OPACITY // 255).astype(np.uint8), DARK, left, top)
    blend(canvas, mask, colour, left, top)


@lru_cache(maxsize=64)  # a caption stays for many frames
def _fit_caption(words: str, width: int, height: int) -> tuple[tuple[str, ...], float]:
    largest = max(_SMALLEST_CAPTION, width / 68, height / 46)
    room = max(1, round(width * 0.92))
    for share in (1.0, 0.85, 0.7):
        size = max(_SMALLEST_CAPTION, largest * share)
        lines = wrapped(words, size, room)
        most = int(_CAPTION_ROOM * height / line_height(size))
        if len(lines) <= most:
            return _balanced(words, size, room, lines), size
    if most == 0:
        return (), size
    last = lines[most - 1]
    while text_width(last + " ..", size) > room and last:
        last = last.rpartition(" ")[0] or last[:-1]
    return (*lines[: most - 1], last.rstrip() + " .."), size


def _balanced(words: str, size: float, room: int, lines: list[str]) -> tuple[str, ...]:
    """Make the lines about equally long, so that no word is left alone on the last line."""
    for share in np.arange(0.95, 0.5, -0.05):
        narrower = wrapped(words, size, max(1, round(room * share)))
        if len(narrower) > len(lines):
            break
        lines = narrower
    return tuple(lines)
