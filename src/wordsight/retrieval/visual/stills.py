"""Small frames of every shot, and finding a picture, or a cut-out of one, in them.

A mixture knows which colours and textures a shot has and roughly where, which is too little to tell
one purple backpack from another. So an index also keeps small frames of every shot, two a second,
and a picture without words is laid over those of the likeliest shots, at every place: how well it
fits is the correlation of the pixels. A whole picture is laid over a whole frame; one that is
smaller than the frames of a video may also be a part that was cut out of one, in its pixels.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wordsight.engine.processes import usable_cores
from wordsight.errors import IndexDamagedError, RetrievalError
from wordsight.retrieval.documents import DocumentSource, DocumentTable
from wordsight.retrieval.index.segments import LiveSegment, PartData

if TYPE_CHECKING:
    from wordsight.retrieval.visual.features import Region

__all__ = ["STILLS", "Sighting", "SoughtPicture", "Stills", "StillsPart", "shrunk", "still_times"]

STILLS = "stills"

Image = NDArray[np.uint8]

_LONGEST = 160  # pixels of the longer side
_MULTIPLE = 16  # of the sides: what JPEG codes at once, so that no still bleeds into the next
_QUALITY = 80
_RATE = 2.0  # stills per second
_MOST = 32  # of one shot
_LOOKED_AT = 20  # shots that are looked at in full after a look at half the size
_LEAST_CONTRAST = 3.0  # grey levels; correlations with flatter pictures mean nothing
_LEAST_SIDE = 3  # pixels of a part at half the size
_SAME_SHAPE = 1.05  # ratio of the proportions of a picture and of a frame that show the same
_ARRAYS = ("pixels", "lengths", "shapes")


@dataclass(frozen=True, eq=False)
class SoughtPicture:
    """A picture to be found in frames, or a rectangle of one.

    Attributes:
        image: ``(H, W, 3)`` RGB, the rectangle only.
        whole: Width and height of the picture it is part of.
        cut_out: Whether the picture may itself be a part of a frame, in the frame's pixels.
    """

    image: Image
    whole: tuple[int, int]
    cut_out: bool = True

    @classmethod
    def of(cls, picture: Image, region: "Region | None" = None) -> "SoughtPicture":
        """Take a picture, or a rectangle of it: left, top, width and height in pixels."""
        height, width = picture.shape[:2]
        if region is None:
            return cls(picture, (width, height))
        x, y = (max(0, round(value)) for value in region[:2])
        right, bottom = round(region[0] + region[2]), round(region[1] + region[3])
        part = picture[y : max(bottom, y + 1), x : max(right, x + 1)]
        if not part.size:
            raise RetrievalError(f"the region lies outside the picture of {width} x {height}.")
        return cls(part, (width, height), cut_out=False)

    def scales(self, frame: tuple[int, int]) -> list[tuple[float, float]]:
        """Return by how much it may have to be stretched to be part of a frame of some size."""
        across, down = frame[0] / self.whole[0], frame[1] / self.whole[1]
        scales = []
        if 1 / _SAME_SHAPE < across / down < _SAME_SHAPE:
            scales.append((across, down))
        fits = self.whole[0] <= frame[0] and self.whole[1] <= frame[1]
        if self.cut_out and fits and (across, down) != (1.0, 1.0):
            scales.append((1.0, 1.0))
        return scales


@dataclass(frozen=True)
class Sighting:
    """Where in a shot a picture fits best.

    Attributes:
        likeness: Correlation of the pixels, at most 1.
        time: In seconds.
        box: Corners x1, y1, x2, y2 in pixels of the video.
    """

    likeness: float
    time: float
    box: tuple[float, float, float, float]

    @property
    def evidence(self) -> float:
        """What the frame tells of a pixel of the picture, in nats: -log(1 - r^2) / 2."""
        likeness = min(max(self.likeness, 0.0), 0.999)
        return float(-0.5 * np.log1p(-(likeness**2)))


def still_times(start: float, end: float) -> list[float]:
    """Return the times of a shot's stills."""
    number = int(np.clip(round((end - start) * _RATE), 1, _MOST))
    step = (end - start) / number
    return [start + (at + 0.5) * step for at in range(number)]


class StillsPart:
    """The part of an index that keeps small frames of shots: one JPEG each, frame under frame."""

    name = STILLS
    batched = True

    def build(self, sources: Sequence[DocumentSource]) -> PartData:
        """Shrink and code the stills of every document, or its frames if it has none."""
        coded = [_coded(source) for source in sources]
        arrays: dict[str, NDArray[Any]] = {
            "pixels": np.concatenate([each for each, _ in coded]),
            "lengths": np.array([len(each) for each, _ in coded], np.int32),
            "shapes": np.array([shape for _, shape in coded], np.int32).reshape(-1, 3),
        }
        return PartData(arrays)

    def merge(self, segments: Sequence[LiveSegment]) -> PartData:
        """Copy the stills of the documents that are left; older segments have none."""
        coded, shapes = [np.zeros(0, np.uint8)], [np.zeros((0, 3), np.int32)]
        lengths = [np.zeros(0, np.int32)]
        for live in segments:
            held = _SegmentStills(live)
            coded += [held.coded(row) for row in live.rows.tolist()]
            lengths.append(held.lengths[live.rows])
            shapes.append(held.shapes[live.rows])
        values = (np.concatenate(coded), np.concatenate(lengths), np.concatenate(shapes))
        return PartData(dict(zip(_ARRAYS, values, strict=True)))


class _SegmentStills:
    """The stills of a segment; without any if it was written before there were stills."""

    def __init__(self, live: LiveSegment) -> None:
        if live.segment.has(STILLS):
            arrays = live.segment.arrays(STILLS)
            self._pixels, self.lengths, self.shapes = (arrays[name] for name in _ARRAYS)
        else:
            count = int(live.rows.max(initial=-1)) + 1
            self._pixels, self.lengths = np.zeros(0, np.uint8), np.zeros(count, np.int32)
            self.shapes = np.zeros((count, 3), np.int32)
        self._ends = np.cumsum(self.lengths, dtype=np.int64)

    def coded(self, row: int) -> NDArray[np.uint8]:
        """Return the JPEG of a document; empty if it has none."""
        end = int(self._ends[row])
        return self._pixels[end - int(self.lengths[row]) : end]


class Stills:
    """The stills of an index.

    Args:
        segments: The segments of the index.
        documents: Their documents, in the same order.
    """

    def __init__(self, segments: Sequence[LiveSegment], documents: DocumentTable) -> None:
        self._segments = tuple(segments)
        self._held: dict[int, _SegmentStills] = {}
        self._starts = np.cumsum([0, *(len(each.rows) for each in segments)])
        self._documents = documents

    def find(self, part: SoughtPicture, positions: NDArray[np.int64]) -> dict[int, Sighting]:
        """Look for a picture in some documents.

        All are looked at in half the size, and the best of them in full.

        Args:
            part: The picture.
            positions: The documents.

        Returns:
            Where it fits best in each document; documents without stills are left out, and so are
            all if the picture is nearly of one colour.
        """
        if part.image.std(axis=(0, 1)).max() < _LEAST_CONTRAST:
            return {}
        # OpenCV works without the interpreter's lock.
        with ThreadPoolExecutor(max(1, min(usable_cores(), len(positions)))) as pool:
            rough = list(pool.map(lambda at: self._look(part, at, True), positions.tolist()))
            seen = {at: one for at, one in zip(positions.tolist(), rough, strict=True) if one}
            best = sorted(seen, key=lambda at: -seen[at].likeness)[:_LOOKED_AT]
            closer = list(pool.map(lambda at: self._look(part, at, False), best))
        # What was seen in half the size only is less sure than the least of the others.
        least = min((one.likeness for one in closer if one), default=0.0)
        seen = {
            at: Sighting(min(one.likeness, least), one.time, one.box) for at, one in seen.items()
        }
        return seen | {at: one for at, one in zip(best, closer, strict=True) if one}

    def _look(self, part: SoughtPicture, position: int, halved: bool) -> Sighting | None:
        """Find the best place of a picture in a document, perhaps at half the size."""
        import cv2

        owner = int(np.searchsorted(self._starts, position, side="right")) - 1
        row = int(self._segments[owner].rows[position - self._starts[owner]])
        held = self._held.get(owner)
        if held is None:
            held = self._held[owner] = _SegmentStills(self._segments[owner])
        width, height, number = held.shapes[row].tolist()
        if not number:
            return None
        mode = cv2.IMREAD_REDUCED_COLOR_2 if halved else cv2.IMREAD_COLOR
        strip = cv2.imdecode(held.coded(row), mode | cv2.IMREAD_IGNORE_ORIENTATION)
        if strip is None:
            raise IndexDamagedError("the stills of a shot cannot be read; make the index again.")
        tall, wide = strip.shape[0] // number, strip.shape[1]
        best: tuple[float, int, tuple[float, float, float, float]] | None = None
        for across, down in part.scales((width, height)):
            x, y = wide / width, tall / height
            shape = part.image.shape
            size = (
                min(wide, max(_LEAST_SIDE, round(shape[1] * across * x))),
                min(tall, max(_LEAST_SIDE, round(shape[0] * down * y))),
            )
            sample = cv2.resize(part.image, size, interpolation=cv2.INTER_AREA)[:, :, ::-1].copy()
            for at in range(number):
                fit = cv2.matchTemplate(
                    strip[at * tall : (at + 1) * tall], sample, cv2.TM_CCOEFF_NORMED
                )
                _, likeness, _, (left, top) = cv2.minMaxLoc(fit)
                if np.isfinite(likeness) and (best is None or likeness > best[0]):
                    box = (left / x, top / y, (left + size[0]) / x, (top + size[1]) / y)
                    best = (float(likeness), at, box)
        if best is None:
            return None
        document = self._documents[position]
        step = (document.end - document.start) / number
        return Sighting(best[0], document.start + (best[1] + 0.5) * step, best[2])


def shrunk(image: Image) -> Image:
    """Return a still of a frame."""
    import cv2

    height, width = image.shape[:2]
    factor = min(1.0, _LONGEST / max(height, width))
    size = (_whole(width * factor), _whole(height * factor))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA))


def _coded(source: DocumentSource) -> tuple[NDArray[np.uint8], tuple[int, int, int]]:
    """Return the stills of a document as one JPEG, with the size of its frames and their number."""
    import cv2

    if not source.frames:
        return np.zeros(0, np.uint8), (0, 0, 0)
    height, width = source.frames[0].shape[:2]
    stills = source.stills or [shrunk(each) for each in source.frames]
    strip = np.concatenate(stills)[:, :, ::-1]
    _, coded = cv2.imencode(".jpg", strip, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    return coded.ravel(), (width, height, len(stills))


def _whole(side: float) -> int:
    return max(_MULTIPLE, round(side / _MULTIPLE) * _MULTIPLE)
