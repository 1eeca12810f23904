"""`Clip`: a stretch of one video with what was detected in it; `Sentence`: what is said of one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import RecordError
from wordsight.records.arrays import ArrayRecord, load_npz, save_npz
from wordsight.records.detections import Detections
from wordsight.records.html import frames_html

__all__ = ["Clip", "Sentence", "Word"]

_LAYOUT_VERSION = 1
_SHOWN = 5  # frames of a clip in a notebook


@dataclass(frozen=True)
class Word:
    """One lexicon entry with its arguments, such as ``picked-up(p0, p1)``.

    Attributes:
        entry: The entry's name in the lexicon.
        participants: Which participants fill its roles, by number, in the order of its roles.
    """

    entry: str
    participants: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "participants", tuple(int(p) for p in self.participants))
        if not self.entry:
            raise RecordError("a word needs the name of its lexicon entry, got an empty text.")
        if not self.participants or min(self.participants) < 0:
            raise RecordError(
                f"{self.entry} needs participants numbered from 0, got {self.participants}."
            )

    def __str__(self) -> str:
        return f"{self.entry}({','.join(f'p{p}' for p in self.participants)})"


@dataclass(frozen=True)
class Sentence:
    """What a person wrote, and its words over shared participants.

    Attributes:
        text: The sentence as written.
        words: Its content words in order; empty if it has not been parsed.

    Examples:
        >>> Sentence("The person picked up the backpack.",
        ...          (Word("person", (0,)), Word("picked-up", (0, 1)), Word("backpack", (1,)))
        ...          ).meaning
        'person(p0) picked-up(p0,p1) backpack(p1)'
    """

    text: str
    words: tuple[Word, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", str(self.text))
        object.__setattr__(self, "words", tuple(self.words))
        used = {p for word in self.words for p in word.participants}
        if used != set(range(len(used))):
            raise RecordError(
                f"participants must be numbered 0, 1, 2, ... without a gap, got {sorted(used)} in "
                f"{self.text!r}."
            )

    @property
    def num_participants(self) -> int:
        """How many different things the sentence mentions."""
        return len({p for word in self.words for p in word.participants})

    @property
    def meaning(self) -> str:
        """The words with their participants, ``person(p0) picked-up(p0,p1) backpack(p1)``."""
        return " ".join(str(word) for word in self.words)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the sentence atomically to an ``.npz`` file without pickle."""
        words = [[word.entry, list(word.participants)] for word in self.words]
        save_npz(path, "Sentence", _LAYOUT_VERSION, {}, {"text": self.text, "words": words})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a sentence that :meth:`save` wrote; the result equals the original."""
        values: dict[str, Any] = load_npz(path, "Sentence", _LAYOUT_VERSION)[1]
        words = (Word(entry, tuple(participants)) for entry, participants in values["words"])
        return cls(values["text"], tuple(words))

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False, repr=False)
class Clip(ArrayRecord):
    """Detections of one video between two times.

    The arrays of :class:`Detections` can be read from the clip itself: ``clip.boxes`` is
    ``clip.detections.boxes``.

    Attributes:
        video_id: Which video, as the library calls it.
        start: First moment, in seconds.
        end: The moment at which the clip has ended, in seconds (exclusive).
        detections: What was seen; all its times lie in ``[start, end)``.
        pictures: Gives a JPEG of the film at each of some times, for notebooks; not kept in files.
    """

    video_id: str
    start: float
    end: float
    detections: Detections
    pictures: Callable[[Sequence[float]], Sequence[bytes]] | None = field(
        default=None, kw_only=True
    )

    def __post_init__(self) -> None:
        start, end = float(self.start), float(self.end)
        if not (np.isfinite(start) and np.isfinite(end) and start <= end):
            raise RecordError(f"a clip must start before it ends, got {start} to {end} s.")
        times = self.detections.times
        if len(times) and not (start <= times[0] and times[-1] < end):
            raise RecordError(
                f"the frames of a clip must lie in [{start}, {end}) s, but they run from "
                f"{times[0]} to {times[-1]} s; cut them with Detections.between(start, end)."
            )
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "end", end)

    @classmethod
    def cut(cls, video_id: str, detections: Detections, start: float, end: float) -> Self:
        """Cut a clip out of a whole video's detections."""
        return cls(video_id, start, end, detections.between(start, end))

    def part(self, start: float, end: float) -> "Clip":
        """Return what was seen from ``start`` to ``end`` seconds, with all that is known of it."""
        return replace(self, start=start, end=end, detections=self.detections.between(start, end))

    @property
    def times(self) -> NDArray[np.float64]:
        """``(T,)`` presentation times in seconds."""
        return self.detections.times

    @property
    def boxes(self) -> NDArray[np.float64]:
        """``(T, J, 4)`` corners x1, y1, x2, y2 in pixels."""
        return self.detections.boxes

    @property
    def scores(self) -> NDArray[np.float64]:
        """``(T, J)`` the detector's confidence."""
        return self.detections.scores

    @property
    def labels(self) -> NDArray[np.int32]:
        """``(T, J)`` which detector fired."""
        return self.detections.labels

    @property
    def mask(self) -> NDArray[np.bool_]:
        """``(T, J)`` true where there is a detection."""
        return self.detections.mask

    @property
    def flow(self) -> NDArray[np.float64] | None:
        """``(T, J, 2)`` mean optical flow inside the box, in pixels per second."""
        return self.detections.flow

    @property
    def appearance(self) -> NDArray[np.float32] | None:
        """``(T, J, D)`` what each box looks like."""
        return self.detections.appearance

    def save(self, path: str | PathLike[str]) -> None:
        """Write the clip atomically to an ``.npz`` file without pickle."""
        arrays, values = self.detections.parts()
        values.update(video_id=self.video_id, start=self.start, end=self.end)
        self._write(path, arrays, values)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a clip that :meth:`save` wrote; the result equals the original."""
        parts: dict[str, Any] = cls._read(path)
        own = {name: parts.pop(name, None) for name in ("video_id", "start", "end")}
        return cls(**own, detections=Detections.from_parts(parts, path))

    def __len__(self) -> int:
        return len(self.detections)

    def __repr__(self) -> str:
        return f"Clip({self.video_id!r}, {self.start:.2f}-{self.end:.2f} s, {self.detections!r})"

    def _repr_html_(self) -> str:
        """Show some frames with their boxes, in notebooks."""
        rows = np.unique(np.linspace(0, max(0, len(self) - 1), _SHOWN).round().astype(int))
        shown = rows.tolist() if len(self) else []
        taken: Sequence[bytes] = ()
        if self.pictures is not None:
            taken = self.pictures([float(self.times[row]) for row in shown])
        return frames_html(repr(self), self.detections, shown, taken)
