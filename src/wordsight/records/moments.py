"""Results with a place in time: where, from when to when, how sure; all times in seconds."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import RecordError
from wordsight.records.arrays import ArrayRecord, frozen_array

__all__ = ["Moment", "Scene", "Shot", "Track"]


@dataclass(frozen=True, eq=False)
class Moment(ArrayRecord):
    """A stretch of a video that something was said of.

    Attributes:
        video_id: Which video.
        start: When it starts, in seconds.
        end: When it has ended, in seconds (exclusive).
        score: How well it fits; higher is better, comparable within one answer.
    """

    video_id: str
    start: float
    end: float
    score: float

    def __post_init__(self) -> None:
        for name in ("start", "end", "score"):
            object.__setattr__(self, name, float(getattr(self, name)))
        if not self.start <= self.end:
            raise RecordError(f"a moment must start before it ends: {self.start} to {self.end} s.")


@dataclass(frozen=True, eq=False)
class Shot(Moment):
    """Frames between two cuts or fades.

    Attributes:
        start_frame: Index of the first frame, counting from 0.
        end_frame: Index one past the last frame.
    """

    start_frame: int
    end_frame: int


@dataclass(frozen=True, eq=False)
class Scene(Moment):
    """Neighbouring shots that belong together.

    Attributes:
        first_shot: Index of its first shot, counting from 0.
        end_shot: Index one past its last shot.
    """

    first_shot: int
    end_shot: int


@dataclass(frozen=True, eq=False, repr=False)
class Track(Moment):
    """One object followed through time.

    Attributes:
        times: ``(N,)`` presentation times of its boxes, rising, in seconds.
        boxes: ``(N, 4)`` corners x1, y1, x2, y2 in pixels.
        scores: ``(N,)`` the detector's confidence; 0 where the box was filled in.
        observed: ``(N,)`` true where a detector saw it, false where the box was filled in.
        label: What it is, in the detector's words.
        track_id: Its number, unlike that of every other track of the video.
    """

    times: NDArray[np.float64]
    boxes: NDArray[np.float64]
    scores: NDArray[np.float64]
    observed: NDArray[np.bool_]
    label: str
    track_id: int

    def __post_init__(self) -> None:
        super().__post_init__()
        shapes = {"times": (), "boxes": (4,), "scores": (), "observed": ()}
        n = len(self.times)
        for name, last in shapes.items():
            dtype = np.bool_ if name == "observed" else np.float64
            array = frozen_array(getattr(self, name), dtype)
            if array.shape != (n, *last):
                raise RecordError(f"{name} must have shape {(n, *last)}, got {array.shape}.")
            object.__setattr__(self, name, array)

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return (
            f"Track({self.video_id!r}, {self.start:.2f}-{self.end:.2f} s, score {self.score:.3g}, "
            f"{self.label} {self.track_id}, {len(self)} boxes)"
        )
