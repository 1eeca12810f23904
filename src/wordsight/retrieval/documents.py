"""Documents (one per shot) stored in columns, and the ranking of documents by score."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import RecordError, RetrievalError

__all__ = [
    "Document",
    "DocumentHit",
    "DocumentSource",
    "DocumentTable",
    "document_columns",
    "kth_largest",
    "merge_columns",
    "pack_strings",
    "top_k",
]

Columns = dict[str, NDArray[Any]]
STRINGS = ("id", "video", "text")
"""The columns of strings, each stored as UTF-8 bytes and offsets."""


@dataclass(frozen=True, slots=True)
class Document:
    """A unit of retrieval: a shot of a video, or a single picture.

    Attributes:
        id: Unique name, without spaces as run files require.
        video_id: The video it belongs to.
        start: Start in seconds.
        end: End in seconds (exclusive).
        key_time: Time of the key frame in seconds.
        scene: Index of its scene within the video.
    """

    id: str
    video_id: str
    start: float = 0.0
    end: float = 0.0
    key_time: float = 0.0
    scene: int = 0

    def __post_init__(self) -> None:
        if not self.id or any(character.isspace() for character in self.id):
            raise RecordError(
                f"a document needs an id without spaces, got {self.id!r}; replace them by '_'."
            )


@dataclass(frozen=True)
class DocumentSource:
    """The content of a document before it is indexed.

    Attributes:
        document: The document.
        text: Captions and sentences spoken during the shot.
        video_text: Texts about the whole video, without times.
        frames: Pictures ``(H, W, 3)`` RGB: the key frame, or for the dynamic model the frames of a
            second around it.
        times: Times of the frames in seconds.
        stills: Small frames at even steps over the whole shot.
    """

    document: Document
    text: tuple[str, ...] = ()
    video_text: tuple[str, ...] = ()
    frames: tuple[NDArray[np.uint8], ...] = ()
    times: tuple[float, ...] = ()
    stills: tuple[NDArray[np.uint8], ...] = ()


@dataclass(frozen=True)
class DocumentHit:
    """A document in a ranking.

    Attributes:
        document: The document.
        score: Its score; higher is better, comparable within one ranking.
        position: Its position in the index.
    """

    document: Document
    score: float
    position: int


def document_columns(
    documents: Sequence[Document], texts: Sequence[str] | None = None
) -> dict[str, NDArray[Any]]:
    """Convert documents to arrays that can be memory-mapped.

    Args:
        documents: ``D`` documents.
        texts: The text to display for each; empty by default.

    Returns:
        ``times (D, 3)`` start, end and key time; ``scenes (D,)``; and for ids, video ids and texts
        the concatenated UTF-8 bytes with ``(D + 1,)`` offsets.
    """
    times = [(each.start, each.end, each.key_time) for each in documents]
    columns: Columns = {
        "times": np.array(times, dtype=np.float64).reshape(-1, 3),
        "scenes": np.array([each.scene for each in documents], dtype=np.int32),
    }
    strings = (
        [each.id for each in documents],
        [each.video_id for each in documents],
        list(texts) if texts is not None else [""] * len(documents),
    )
    for name, values in zip(STRINGS, strings, strict=True):
        columns[f"{name}_bytes"], columns[f"{name}_offsets"] = pack_strings(values)
    return columns


def pack_strings(values: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the concatenated UTF-8 bytes of strings, and ``(N + 1,)`` their offsets."""
    encoded = [value.encode("utf-8", "replace") for value in values]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(each) for each in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets


def merge_columns(tables: Sequence[Columns], rows: Sequence[NDArray[np.int64]]) -> Columns:
    """Return one table of columns that holds some rows of each of several tables."""
    pairs = list(zip(tables, rows, strict=True))
    merged = {name: np.concatenate([t[name][r] for t, r in pairs]) for name in ("times", "scenes")}
    strings = {name: [_take_strings(t, name, r) for t, r in pairs] for name in STRINGS}
    for name, taken in strings.items():
        merged[f"{name}_bytes"] = np.concatenate([data for data, _ in taken])
    for name, taken in strings.items():
        lengths = np.concatenate([np.diff(offsets) for _, offsets in taken])
        merged[f"{name}_offsets"] = np.concatenate([[0], np.cumsum(lengths)])
    return merged


class DocumentTable(Sequence[Document]):
    """A sequence of documents over one or several tables of columns.

    Args:
        tables: Results of :func:`document_columns`, one per segment.
        rows: Per table the rows to include; all by default.
    """

    def __init__(
        self, tables: Sequence[Columns], rows: Sequence[NDArray[np.int64]] | None = None
    ) -> None:
        self._tables = list(tables)
        self._rows = [np.arange(len(t["scenes"])) for t in tables] if rows is None else list(rows)
        self._starts = np.cumsum([0, *(len(each) for each in self._rows)])

    def __len__(self) -> int:
        return int(self._starts[-1])

    @overload
    def __getitem__(self, index: int) -> Document: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Document]: ...

    def __getitem__(self, index: int | slice) -> Document | Sequence[Document]:
        if isinstance(index, slice):
            return tuple(self[each] for each in range(*index.indices(len(self))))
        columns, row = self._locate(index)
        start, end, key_time = (float(value) for value in columns["times"][row])
        name, video = (_string(columns, column, row) for column in ("id", "video"))
        return Document(name, video, start, end, key_time, int(columns["scenes"][row]))

    def __iter__(self) -> Iterator[Document]:
        return (self[index] for index in range(len(self)))

    def id_of(self, index: int) -> str:
        """Return the id of a document without reading its other columns."""
        columns, row = self._locate(index)
        return _string(columns, "id", row)

    def text_of(self, index: int) -> str:
        """Return the display text of a document."""
        columns, row = self._locate(index)
        return _string(columns, "text", row)

    def position_of(self, document_id: str) -> int:
        """Return the position of a document.

        Raises:
            RecordError: If no document has this id.
        """
        wanted = document_id.encode("utf-8", "replace")
        for columns, rows, start in zip(self._tables, self._rows, self._starts, strict=False):
            data, offsets = columns["id_bytes"], columns["id_offsets"]
            candidates = rows[np.diff(offsets)[rows] == len(wanted)]
            for row in candidates.tolist():
                if data[offsets[row] : offsets[row + 1]].tobytes() == wanted:
                    return int(start) + int(np.searchsorted(rows, row))
        raise RecordError(f"there is no document {document_id!r} among {len(self)}.")

    def scenes(self) -> NDArray[np.int32]:
        """Return ``(D,)`` the scene index of each document within its video."""
        parts = [t["scenes"][rows] for t, rows in zip(self._tables, self._rows, strict=True)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)

    def video_numbers(self) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Return ``(D,)`` the number of each document's video, and the ids of the videos."""
        names: dict[bytes, int] = {}
        numbers = []
        for columns, rows in zip(self._tables, self._rows, strict=True):
            # Only the first document of a run of the same video is looked up.
            values = _fixed_width(columns, "video", rows)
            starts = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])
            videos = [names.setdefault(values[row], len(names)) for row in starts.tolist()]
            numbers.append(np.repeat(videos, np.diff(np.append(starts, len(values)))))
        joined = np.concatenate(numbers) if numbers else np.zeros(0)
        return joined.astype(np.int64), tuple(name.decode("utf-8") for name in names)

    def _locate(self, index: int) -> tuple[Columns, int]:
        if not -len(self) <= index < len(self):
            raise IndexError(f"document {index} of {len(self)}")
        index %= len(self)
        table = int(np.searchsorted(self._starts, index, side="right")) - 1
        return self._tables[table], int(self._rows[table][index - self._starts[table]])


def top_k(
    scores: NDArray[np.float64], k: int, name_of: Callable[[int], str] | None = None
) -> NDArray[np.int64]:
    """Return the positions of the ``k`` highest scores.

    Args:
        scores: ``(D,)`` without NaN; ``-inf`` excludes a document.
        k: Maximum number of positions.
        name_of: Returns the name of a position. Ties are broken by name, so that a ranking does
            not depend on how documents are stored; by position if None.

    Returns:
        ``(min(k, D),)`` positions of finite scores, best first.
    """
    if k < 1:
        raise RetrievalError(f"k must be at least one, got {k}.")
    if np.isnan(scores).any():
        raise RetrievalError("a score is not a number; the query or the index is damaged.")
    if k < len(scores):
        # More than k if the last place is tied.
        positions = np.flatnonzero(scores >= kth_largest(scores, k))
    else:
        positions = np.arange(len(scores))
    positions = positions[np.isfinite(scores[positions])]
    positions = positions[np.argsort(-scores[positions], kind="stable")]
    if name_of is not None and len(np.unique(scores[positions])) < len(positions):
        order = sorted(positions.tolist(), key=lambda at: (-scores[at], name_of(at)))
        positions = np.array(order, dtype=np.int64)
    return positions[:k]


def kth_largest(values: NDArray[Any], k: int) -> float:
    """Return the ``k``-th largest of at least ``k`` numbers.

    Of very many, only those can count that reach the ``k``-th largest maximum of a part of them:
    with these maxima, at least ``k`` numbers do.
    """
    width = len(values) // (4 * k)
    if width > 1:
        tops = values[: len(values) // width * width].reshape(-1, width).max(axis=1)
        values = values[values >= np.partition(tops, len(tops) - k)[len(tops) - k]]
    return float(np.partition(values, len(values) - k)[len(values) - k])


def _take_strings(
    columns: Columns, name: str, rows: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the bytes and the offsets of a column of strings for some rows."""
    offsets = columns[f"{name}_offsets"]
    starts, lengths = offsets[:-1][rows], np.diff(offsets)[rows]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    # The source of every byte: its place in the new column, shifted to the old one.
    places = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths)
    return columns[f"{name}_bytes"][places], ends


def _fixed_width(columns: Columns, name: str, rows: NDArray[np.int64]) -> NDArray[np.bytes_]:
    """Return strings of some rows as an array of bytes padded to one width."""
    data, ends = _take_strings(columns, name, rows)
    lengths = np.diff(ends)
    width = max(1, int(lengths.max(initial=0)))
    table = np.zeros((len(rows), width), dtype=np.uint8)
    within = np.arange(len(data)) - np.repeat(ends[:-1], lengths)
    table[np.repeat(np.arange(len(rows)), lengths), within] = data
    return table.view(f"S{width}")[:, 0]


def _string(columns: Columns, name: str, row: int) -> str:
    offsets = columns[f"{name}_offsets"]
    data = columns[f"{name}_bytes"][int(offsets[row]) : int(offsets[row + 1])]
    return data.tobytes().decode("utf-8")
