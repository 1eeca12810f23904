"""A detector that was taught colours: finds hand and blocks of the tabletop by their paint.

The published experiment tracked blocks by their known colours; this is its counterpart. Films of
another seed, with true boxes, teach how often each shade belongs to which thing, and how often to
none. A film's pixels are then given to the likeliest thing on the table, and patches of one thing
become boxes. What never rests, the hand, is looked for only where the picture differs from the
still scene.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.files import atomic_path
from wordsight.records import FrameDetections
from wordsight.video import Frame

__all__ = ["SMALL", "ColourDetector", "ColourTable", "shades_of"]

OTHER = "other"

_BITS = 3  # of each channel that are dropped: shades within 8 levels are one
_LEVELS = 256 >> _BITS
SMALL = (320, 240)
"""Width and height at which pictures are looked at; areas are averaged, which takes noise out."""

_SPREAD = 1.0  # levels over which what is seen of one shade speaks for its neighbours
_FAINT = 1e-7  # share of every shade in every thing, so that none is impossible
_LEAST_AREA = 20  # pixels; smaller patches are noise
_MOVED = 14  # grey levels from the still scene; shadows and noise stay below
_MOST_PATCHES = 8  # of one thing in a frame
_LARGEST = 100  # pixels; wider or higher patches are walls and tables

Image = NDArray[np.uint8]


class ColourTable:
    """How often each shade is seen of each thing, learned from pictures with true boxes.

    Attributes:
        names: The things, and ``other`` last.
        shares: ``(len(names), shades)`` rows that sum to one.
    """

    def __init__(self, names: Iterable[str]):
        self.names = (*names, OTHER)
        self._counts = np.zeros((len(self.names), _LEVELS**3))

    def see(self, image: Image, boxes: dict[str, NDArray[np.float64]]) -> None:
        """Count the shades of one picture; where boxes overlap nothing is learned."""
        shades = shades_of(image)
        owner = np.full(shades.shape, len(self.names) - 1)
        for name, box in boxes.items():
            if np.isnan(box).any():
                continue
            x1, y1, x2, y2 = np.clip(np.round(box).astype(int), 0, [*shades.shape[::-1]] * 2)
            patch = owner[y1:y2, x1:x2]
            taken = patch != len(self.names) - 1
            patch[...] = np.where(taken, -1, self.names.index(name))
        for number in range(len(self.names)):
            self._counts[number] += np.bincount(shades[owner == number], minlength=_LEVELS**3)

    def save(self, path: Path) -> None:
        """Keep what was counted."""
        with atomic_path(path) as temporary:
            np.savez_compressed(temporary, counts=self._counts)

    def load(self, path: Path) -> None:
        """Take up what was counted before."""
        with np.load(path) as arrays:
            self._counts = arrays["counts"]

    @property
    def shares(self) -> NDArray[np.float64]:
        """``(len(names), shades)`` the share of each shade in what is seen of each thing."""
        from scipy.ndimage import gaussian_filter

        cubes = self._counts.reshape(-1, _LEVELS, _LEVELS, _LEVELS)
        smooth = np.stack([gaussian_filter(cube, _SPREAD, mode="nearest") for cube in cubes])
        rows = smooth.reshape(len(self.names), -1)
        total = np.maximum(rows.sum(axis=1, keepdims=True), 1e-12)
        return np.asarray(rows / total + _FAINT, dtype=np.float64)


class ColourDetector:
    """Finds things by their colours.

    Args:
        table: What things look like.
        names: Those on the table of this film.
        restless: Those that never rest.
        still: ``(240, 320, 3)`` the scene without them.
    """

    name = "colours"

    def __init__(
        self, table: ColourTable, names: Iterable[str], restless: Iterable[str], still: Image
    ):
        self.label_names = tuple(names)
        rows = [table.names.index(name) for name in (*self.label_names, OTHER)]
        shares = table.shares[rows]
        self._which = shares.argmax(axis=0).astype(np.uint8)
        self._chance = (shares.max(axis=0) / shares.sum(axis=0)).astype(np.float32)
        self._restless = {self.label_names.index(name) for name in restless}
        self._still = still

    def detect(self, frames: Iterable[Frame]) -> Iterator[FrameDetections]:
        """Yield the patches of each frame, largest first for each thing.

        Their look is the logarithms of width and height, how surely and how densely the colour
        fills the box, and the row of the lower edge.
        """
        for frame in frames:
            image = frame.scaled(*SMALL)
            shades = shades_of(image)
            which, chance = self._which[shades], self._chance[shades]
            moved = cv2.absdiff(image, self._still).max(axis=2) > _MOVED
            found = [
                (number, patch)
                for number in range(len(self.label_names))
                for patch in _patches(
                    self._mask(which, moved, number),
                    chance,
                    _FINE if number in self._restless else _COARSE,
                )
            ]
            scale = np.array([frame.size[0] / SMALL[0], frame.size[1] / SMALL[1]] * 2)
            boxes = np.array([patch[:4] for _, patch in found], dtype=np.float64).reshape(-1, 4)
            boxes *= scale
            sizes = np.log(np.maximum(boxes[:, 2:] - boxes[:, :2], 1.0))
            shape = np.array([patch[4:] for _, patch in found]).reshape(-1, 2)
            yield FrameDetections(
                frame.time,
                boxes,
                shape[:, 0],
                np.array([number for number, _ in found], dtype=np.int32),
                np.concatenate([sizes, shape, boxes[:, 3:]], axis=1).astype(np.float32),
            )

    def _mask(self, which: Image, moved: NDArray[np.bool_], number: int) -> Image:
        mask = which == number
        return np.asarray(mask & moved if number in self._restless else mask, dtype=np.uint8)

    def settings(self) -> dict[str, Any]:
        """Return what shapes the results."""
        return {"names": list(self.label_names)}


def _patches(
    mask: Image, chance: NDArray[np.float32], brush: NDArray[Any]
) -> Iterator[tuple[float, ...]]:
    """Yield x1, y1, x2, y2, the mean chance of the pixels and the share of the box they fill."""
    # Thin lines between two colours are mixtures of both and belong to neither.
    solid = cv2.morphologyEx(mask, cv2.MORPH_OPEN, brush)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(solid, connectivity=4)
    fits = np.flatnonzero((stats[1:, 2:4] <= _LARGEST).all(axis=1)) + 1
    areas = stats[fits, cv2.CC_STAT_AREA]
    for number in fits[np.argsort(-areas, kind="stable")[:_MOST_PATCHES]].tolist():
        x, y, width, height, area = stats[number].tolist()
        if area < _LEAST_AREA:
            break
        here = labels[y : y + height, x : x + width] == number
        sure = float(chance[y : y + height, x : x + width][here].mean())
        yield x, y, x + width, y + height, sure, area / (width * height)


_FINE = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (3, 3))  # keeps fingers
_COARSE = cv2.getStructuringElement(cv2.MORPH_RECT, (5, 5))  # keeps blocks, not lines


def shades_of(image: Image) -> NDArray[np.uint16]:
    """Return the number of the shade of every pixel of an RGB picture."""
    levels = (image >> _BITS).astype(np.uint16)
    shades = (levels[..., 0] << 10) | (levels[..., 1] << 5) | levels[..., 2]
    return np.asarray(shades, dtype=np.uint16)
