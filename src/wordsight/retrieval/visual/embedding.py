"""`EmbeddedBlocks`: blocks of a picture together with what a frozen network makes of the place.

The network is an ONNX file of the user's own: it takes one picture and gives a vector for the whole
of it, or one per place. Every block has its texture, colour and place, and then the vector of where
it lies, so that the same mixtures model both; without a network nothing changes.
"""

import threading
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.errors import FormatError, RetrievalError, WordsightError
from wordsight.files import sha256_of
from wordsight.retrieval.visual.block_dct import BlockDct
from wordsight.retrieval.visual.features import Array, Samples

__all__ = ["EmbeddedBlocks", "EmbeddingFile", "FrozenNetwork"]

EMBEDDED = 16
"""Dimensions that vectors are projected to, at random: few beside a vector's hundreds, so that they
do not outvote the 14 of a block."""

_LEAST = 1e-3  # of a vector of length 1: smaller differences are none
_SIDE = 224  # of the input, where the network leaves it open
_WINDOWS = 3  # in each direction, half the picture wide, where a network gives one vector
_GIGABYTES = 4.0


@dataclass(frozen=True)
class EmbeddingFile:
    """A network that an index was made with.

    Attributes:
        path: The ONNX file.
        sha256: Its hash, so that pictures are never described by another one.
    """

    path: str
    sha256: str

    @classmethod
    def of(cls, path: Path) -> Self:
        """Name a file.

        Raises:
            FormatError: If it is none.
        """
        if not path.is_file():
            raise FormatError(f"{path} is not a file; expected an ONNX model of pictures.")
        return cls(str(path.resolve()), sha256_of(path))

    @property
    def name(self) -> str:
        """The name of the file."""
        return Path(self.path).name

    def open(self) -> "FrozenNetwork":
        """Open the network, once per process.

        Raises:
            RetrievalError: If the file is gone or has changed.
            WordsightError: If it cannot be run, or gives no vectors.
        """
        return _opened(self)


@lru_cache(maxsize=2)
def _opened(file: EmbeddingFile) -> "FrozenNetwork":
    path = Path(file.path)
    if not path.is_file() or sha256_of(path) != file.sha256:
        what = "has changed" if path.is_file() else "is not there"
        raise RetrievalError(
            f"the index describes pictures with the network {path}, which {what}; put it back, or "
            "delete the index to make a new one without --embedding."
        )
    return FrozenNetwork(path)


class FrozenNetwork:
    """Describes places of pictures by vectors of length 1.

    It runs in a process of its own with a limit of memory, as detectors do.

    Args:
        path: The ONNX file. Its first input is one RGB picture (values as in ImageNet); of its
            outputs, the first counts that has a vector per place: a grid ``(1, D, h, w)`` or
            ``(1, h, w, D)``, or tokens ``(1, N, D)`` of a square grid, after any others; if
            there is none, the first vector ``(1, D)``, of nine overlapping windows.
    """

    def __init__(self, path: Path) -> None:
        from wordsight.perception.detectors.network_input import InputFormat, Preparation
        from wordsight.perception.detectors.network_process import open_network

        self._name = path.name
        self._network = open_network(path, 1, "cpu", _GIGABYTES)
        self._lock = threading.Lock()
        image, *others = self._network.inputs
        if others:
            raise FormatError(
                f"{path.name} also wants {others[0].name!r}; export the part that takes a picture "
                "as its only input."
            )
        self._format = InputFormat.of(image, _SIDE)
        self._way = Preparation(values="imagenet")
        self._vector_of(np.full((32, 32, 3), 114, np.uint8))  # what cannot be read fails here

    def grid(self, image: NDArray[np.uint8]) -> Array:
        """Return ``(h, w, D)`` vectors of length 1, at even steps over a picture."""
        found = self._vector_of(image)
        if found.shape[:2] == (1, 1):
            height, width = image.shape[:2]
            rows, columns = _windows(height), _windows(width)
            found = np.stack(
                [
                    np.stack([self._vector_of(image[row, column])[0, 0] for column in columns])
                    for row in rows
                ]
            )
        length = np.linalg.norm(found, axis=2, keepdims=True)
        grid: Array = found / np.maximum(length, 1e-12)
        return grid

    def _vector_of(self, image: NDArray[np.uint8]) -> Array:
        from wordsight.video import Frame

        frame = Frame.from_array(np.ascontiguousarray(image), 0.0)
        values, _ = self._format.prepare(frame, self._way)
        with self._lock:
            outputs = self._network.run({self._format.name: values})
        grids = [grid for value in outputs.values() if (grid := _grid_of(value)) is not None]
        if not grids:
            shapes = ", ".join(f"{name} {list(v.shape)}" for name, v in outputs.items())
            raise FormatError(
                f"{self._name} gives {shapes}; expected a vector [1, D], or one per place: "
                "[1, D, h, w], [1, h, w, D] or [1, N, D]."
            )
        found = next((grid for grid in grids if grid.shape[0] * grid.shape[1] > 1), grids[0])
        if not np.isfinite(found).all():
            raise WordsightError(f"{self._name} gives numbers that are none (NaN or infinity).")
        return found


class EmbeddedBlocks:
    """Describes blocks as :class:`BlockDct` does, and by a network.

    Args:
        blocks: Features of the blocks.
        file: The network; opened when the first picture is described.
    """

    def __init__(self, blocks: BlockDct, file: EmbeddingFile) -> None:
        self.blocks, self.file = blocks, file

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the dimensions."""
        return (*self.blocks.names, *(f"network{number}" for number in range(EMBEDDED)))

    @property
    def resolution(self) -> Array:
        """``(30,)`` the smallest meaningful difference."""
        return np.concatenate([self.blocks.resolution, np.full(EMBEDDED, _LEAST)])

    @property
    def places(self) -> tuple[int, ...]:
        """The dimensions of x and y."""
        return self.blocks.places

    @property
    def kinds(self) -> dict[str, tuple[int, ...]]:
        """The dimensions that say what something looks like, by where they come from."""
        own = len(self.blocks.names)
        looks = tuple(at for at in range(own) if at not in self.places)
        return {"blocks": looks, self.file.name: tuple(range(own, own + EMBEDDED))}

    def samples(self, image: NDArray[np.uint8]) -> Samples:
        """Describe a picture ``(H, W, 3)`` RGB: one sample per block."""
        found = self.blocks.samples(image)
        grid = self._network.grid(image)
        size = np.array([grid.shape[1], grid.shape[0]])
        middle = (found.boxes[:, :2] + found.boxes[:, 2:]) / 2
        shares = middle / np.array([image.shape[1], image.shape[0]])
        columns, rows = np.clip((shares * size).astype(int), 0, size - 1).T
        vectors = grid[rows, columns] @ _projection(grid.shape[2])
        return Samples(np.concatenate([found.values, vectors], axis=1), found.boxes)

    def render(self, values: ArrayLike) -> NDArray[np.uint8]:
        """Render samples as blocks; the network's numbers show nothing."""
        return self.blocks.render(np.asarray(values)[:, : len(self.blocks.names)])

    @cached_property
    def _network(self) -> FrozenNetwork:
        return self.file.open()


def _grid_of(value: NDArray[Any]) -> Array | None:
    """Return an output as ``(h, w, D)`` vectors; None if it is something else."""
    if value.dtype.kind != "f" or not value.size or value.ndim < 2 or len(value) != 1:
        return None
    array: Array = value[0].astype(np.float64)
    if array.ndim == 1 and len(array) > 1:
        return array[None, None]
    if array.ndim == 2:  # tokens: those of the places come last
        side = int(np.sqrt(len(array)))
        return array[-(side**2) :].reshape(side, side, -1)
    if array.ndim == 3:
        # Grids are square, as the inputs of such networks; of others D is the longest.
        first, middle, last = array.shape
        channels_first = middle == last or (first != middle and first > last)
        return array.transpose(1, 2, 0) if channels_first else array
    return None


def _windows(side: int) -> list[slice]:
    """Return stretches of half a side at even steps; their middles divide it into equal parts."""
    width = max(1, side // 2)
    starts = np.linspace(0, side - width, _WINDOWS).astype(int)
    return [slice(int(start), int(start) + width) for start in starts]


@lru_cache(maxsize=4)
def _projection(dimensions: int) -> Array:
    """Return ``(D, 16)``: directions drawn at random, the same for every picture and index."""
    drawn = np.random.default_rng(0).standard_normal((dimensions, EMBEDDED))
    return np.asarray(drawn / np.sqrt(EMBEDDED))
