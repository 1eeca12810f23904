"""What is searched: one document per shot, kept in columns: a million load in milliseconds."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import RecordError
from wordsight.retrieval.errors import RetrievalError

__all__ = [
    "Document",
    "DocumentHit",
    "DocumentSource",
    "DocumentTable",
    "document_columns",
    "top_k",
]


@dataclass(frozen=True, slots=True)
class Document:
    """One thing that can be found: a shot of a video, or a single picture.

    Attributes:
        id: Its name, unlike that of every other document; without spaces, as run files need it.
        video_id: Which video.
        start: When it starts, in seconds.
        end: When it has ended, in seconds (exclusive).
        key_time: When the frame is shown that stands for it, in seconds.
        scene: Number of the scene it belongs to, counting from 0 within its video.
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
    """What a document is made from, before it is indexed.

    Attributes:
        document: Which document.
        text: What is said while it lasts: captions, sentences with times.
        video_text: What is said of its whole video, without times.
        frames: Pictures ``(H, W, 3)`` RGB: the key frame, or for the dynamic model the frames of a
            second around it.
        times: When the frames are shown, in seconds.
    """

    document: Document
    text: tuple[str, ...] = ()
    video_text: tuple[str, ...] = ()
    frames: tuple[NDArray[np.uint8], ...] = ()
    times: tuple[float, ...] = ()


def document_columns(
    documents: Sequence[Document], texts: Sequence[str] | None = None
) -> dict[str, NDArray[Any]]:
    """Turn documents into arrays that can be mapped into memory.

    Args:
        documents: The documents, ``D`` of them.
        texts: What to show of each, if there is something.

    Returns:
        ``times (D, 3)`` start, end and key time; ``scenes (D,)``; and for ids, video ids and texts
        the UTF-8 bytes of all one after the other with ``(D + 1,)`` offsets.
    """
    times = [(each.start, each.end, each.key_time) for each in documents]
    columns: dict[str, NDArray[Any]] = {
        "times": np.array(times, dtype=np.float64).reshape(-1, 3),
        "scenes": np.array([each.scene for each in documents], dtype=np.int32),
    }
    strings = {
        "id": [each.id for each in documents],
        "video": [each.video_id for each in documents],
        "text": list(texts) if texts is not None else [""] * len(documents),
    }
    for name, values in strings.items():
        columns[f"{name}_bytes"], columns[f"{name}_offsets"] = _packed(values)
    return columns


def _packed(values: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    encoded = [value.encode("utf-8", "replace") for value in values]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(each) for each in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets


class DocumentTable(Sequence[Document]):
    """Documents in one or several tables of columns, made into objects only when asked for.

    Args:
        tables: What :func:`document_columns` made, one per segment.
        rows: Per table the rows that count; all if left out.
    """

    def __init__(
        self,
        tables: Sequence[dict[str, NDArray[Any]]],
        rows: Sequence[NDArray[np.int64]] | None = None,
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
        columns, row = self._find(index)
        start, end, key_time = (float(value) for value in columns["times"][row])
        return Document(
            _unpacked(columns, "id", row),
            _unpacked(columns, "video", row),
            start,
            end,
            key_time,
            int(columns["scenes"][row]),
        )

    def __iter__(self) -> Iterator[Document]:
        return (self[index] for index in range(len(self)))

    def id_of(self, index: int) -> str:
        """Return the id of a document alone, which is quicker than the whole."""
        return _unpacked(*self._named(index, "id"))

    def text_of(self, index: int) -> str:
        """Return what is said in a document, for people to read."""
        return _unpacked(*self._named(index, "text"))

    def position_of(self, document_id: str) -> int:
        """Return where a document stands.

        Raises:
            RecordError: If there is none of this id.
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
        """Return ``(D,)`` the number of each document's scene within its video."""
        return self._column("scenes", np.int32)

    def times(self) -> NDArray[np.float64]:
        """Return ``(D, 3)`` start, end and key time of each document in seconds."""
        return self._column("times", np.float64).reshape(-1, 3)

    def video_numbers(self) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Return ``(D,)`` which video each document belongs to, and the ids of the videos."""
        names: dict[bytes, int] = {}
        numbers = []
        for columns, rows in zip(self._tables, self._rows, strict=True):
            # A document of the same video as the one before needs no look at its name.
            values = _fixed_width(columns, "video", rows)
            starts = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])
            found = [names.setdefault(values[row], len(names)) for row in starts.tolist()]
            numbers.append(np.repeat(found, np.diff(np.append(starts, len(values)))))
        together = np.concatenate(numbers) if numbers else np.zeros(0)
        return together.astype(np.int64), tuple(name.decode("utf-8") for name in names)

    def _column(self, name: str, dtype: Any) -> NDArray[Any]:
        parts = [t[name][rows] for t, rows in zip(self._tables, self._rows, strict=True)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=dtype)

    def _named(self, index: int, name: str) -> tuple[dict[str, NDArray[Any]], str, int]:
        columns, row = self._find(index)
        return columns, name, row

    def _find(self, index: int) -> tuple[dict[str, NDArray[Any]], int]:
        if not -len(self) <= index < len(self):
            raise IndexError(f"document {index} of {len(self)}")
        index %= len(self)
        table = int(np.searchsorted(self._starts, index, side="right")) - 1
        return self._tables[table], int(self._rows[table][index - self._starts[table]])


def _fixed_width(
    columns: dict[str, NDArray[Any]], name: str, rows: NDArray[np.int64]
) -> NDArray[np.bytes_]:
    """Return strings of some rows as an array of bytes padded to one width."""
    offsets = columns[f"{name}_offsets"]
    starts, lengths = offsets[:-1][rows], np.diff(offsets)[rows]
    width = max(1, int(lengths.max(initial=0)))
    table = np.zeros((len(rows), width), dtype=np.uint8)
    ends = np.cumsum(lengths)
    within = np.arange(int(lengths.sum())) - np.repeat(ends - lengths, lengths)
    data = columns[f"{name}_bytes"][np.repeat(starts, lengths) + within]
    table[np.repeat(np.arange(len(rows)), lengths), within] = data
    return table.view(f"S{width}")[:, 0]


def _unpacked(columns: dict[str, NDArray[Any]], name: str, row: int) -> str:
    offsets = columns[f"{name}_offsets"]
    data = columns[f"{name}_bytes"][int(offsets[row]) : int(offsets[row + 1])]
    return data.tobytes().decode("utf-8")


# The best of many scores, exactly: highest first, equal ones in the order of their names.


@dataclass(frozen=True)
class DocumentHit:
    """A document that was found.

    Attributes:
        document: Which one.
        score: How well it fits; higher is better, comparable within one answer.
        position: Where it stands in the index.
    """

    document: Document
    score: float
    position: int


def top_k(
    scores: NDArray[np.float64], k: int, name_of: Callable[[int], str] | None = None
) -> NDArray[np.int64]:
    """Return the positions of the ``k`` highest scores.

    Args:
        scores: ``(D,)``; ``-inf`` for what must not be found, never NaN.
        k: How many at most.
        name_of: Gives the name of a position; equal scores stand in the order of their names, so
            that an answer does not depend on where documents happen to lie. By position if left
            out.

    Returns:
        ``(min(k, D),)`` positions, the best first, those of ``-inf`` left out.
    """
    if k < 1:
        raise RetrievalError(f"at least one hit must be asked for, got {k}.")
    if np.isnan(scores).any():
        raise RetrievalError("a score is not a number; the query or the index is damaged.")
    if k < len(scores):
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        positions = np.flatnonzero(scores >= least)  # more than k where the last place is shared
    else:
        positions = np.arange(len(scores))
    positions = positions[np.isfinite(scores[positions])]
    positions = positions[np.argsort(-scores[positions], kind="stable")]
    if name_of is not None and len(np.unique(scores[positions])) < len(positions):
        order = sorted(positions.tolist(), key=lambda at: (-scores[at], name_of(at)))
        positions = np.array(order, dtype=np.int64)
    return positions[:k]
