"""`Clip`: a stretch of one video with what was detected in it; the unit all learners take."""

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import RecordError
from wordsight.records.arrays import ArrayRecord
from wordsight.records.detections import Detections

__all__ = ["Clip"]


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
    """

    video_id: str
    start: float
    end: float
    detections: Detections

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
