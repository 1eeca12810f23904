"""`ClipView`: a clip as features see it, at the frames that are looked at, in picture diagonals."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.features.columns import Columns, columns_of, motion_of, track_rates
from wordsight.records import Clip

__all__ = ["PARTS", "ClipView", "view_clip"]

PARTS = ("hand", "head")
"""Labels of body parts: boxes that features measure against, but that no noun speaks of."""

Array = NDArray[np.float64]

_HEAD_SHARE = 0.4  # of a person's box, from the top: where the head is, also when sitting


@dataclass(frozen=True)
class ClipView:
    """T chosen frames of J things that words may speak of; lengths in picture diagonals.

    The last thing is always the unseen one: it is never present, nothing can be measured of it, and
    it stands for whatever the detector missed.

    Attributes:
        clip: The clip itself.
        frames: ``(T,)`` which of the clip's frames are looked at.
        places: ``(T, J)`` where each thing stands in the clip's own arrays, -1 where filled in.
        present: ``(T, J)`` whether the thing has a box in the frame.
        tracked: Whether a column is one thing throughout.
        boxes: ``(T, J, 4)`` corners in diagonals; undefined where not present.
        labels: ``(T, J)`` index into the clip's label names.
        scores: ``(T, J)`` the detector's confidence.
        velocity: ``(T, J, 2)`` diagonals per second, y downward; NaN where unknown.
        growth: ``(T, J, 2)`` rate of the logs of width and height per second; NaN where unknown.
        hands: ``(T, H, 2)`` centres of hands; NaN where not seen.
        hand_velocity: ``(T, H, 2)`` diagonals per second.
        heads: ``(T, K, 2)`` centres of heads.
    """

    clip: Clip
    frames: NDArray[np.int64]
    places: NDArray[np.int64]
    present: NDArray[np.bool_]
    tracked: bool
    boxes: Array
    labels: NDArray[np.int64]
    scores: Array
    velocity: Array
    growth: Array
    hands: Array
    hand_velocity: Array
    heads: Array

    @property
    def centres(self) -> Array:
        """``(T, J, 2)`` centres of the boxes."""
        return (self.boxes[..., :2] + self.boxes[..., 2:]) / 2

    @property
    def sides(self) -> Array:
        """``(T, J, 2)`` widths and heights, never 0."""
        return np.maximum(self.boxes[..., 2:] - self.boxes[..., :2], 1e-6)

    @property
    def has_head(self) -> NDArray[np.bool_]:
        """``(T, J)`` whether a head lies at the top of the box: people, where heads are seen."""
        upper = self.boxes.copy()
        upper[..., 3] = upper[..., 1] + _HEAD_SHARE * (upper[..., 3] - upper[..., 1])
        return np.asarray(_contains(upper, self.heads).any(axis=2))

    @property
    def times(self) -> Array:
        """``(T,)`` seconds of the chosen frames."""
        return self.clip.times[self.frames]


def view_clip(
    clip: Clip,
    *,
    rate: float | None = 6.0,
    most: int | None = None,
    least_seen: float = 0.25,
    tracked: bool | None = None,
) -> ClipView:
    """Look at a clip.

    Args:
        clip: The clip; it may be empty.
        rate: Frames per second to look at, evenly spread; all if None.
        most: Keep at most this many things, those seen longest and surest.
        least_seen: Tracks in sight for a smaller share of the frames are left out.
        tracked: Whether columns are identities; if not given, where all detections have one.
    """
    columns = columns_of(clip, tracked=tracked)
    velocity, growth = motion_of(clip, columns)
    diagonal = float(np.hypot(*clip.detections.frame_size))
    frames = _chosen(clip, rate)
    names = np.array([*clip.detections.label_names, ""])
    parts = {part: _is_part(columns, names, part) for part in PARTS}
    hands, hand_velocity = _points(columns, velocity, parts["hand"], frames, diagonal)
    heads, _ = _points(columns, velocity, parts["head"], frames, diagonal)
    things = ~np.logical_or.reduce(list(parts.values()))
    things &= columns.present[frames].any(axis=0)
    if columns.tracked and len(frames):
        things &= columns.present[frames].mean(axis=0) >= least_seen
    kept = _surest(columns, np.flatnonzero(things), frames, most)
    columns, velocity, growth = _with_unseen(columns, velocity, growth)
    rows = np.ix_(frames, np.append(kept, columns.present.shape[1] - 1))
    return ClipView(
        clip,
        frames,
        columns.places[rows],
        columns.present[rows],
        columns.tracked,
        columns.boxes[rows] / diagonal,
        columns.labels[rows],
        columns.scores[rows],
        velocity[rows],
        growth[rows],
        hands,
        hand_velocity,
        heads,
    )


def _with_unseen(columns: Columns, velocity: Array, growth: Array) -> tuple[Columns, Array, Array]:
    def widened(array: NDArray[Any], value: Any) -> NDArray[Any]:
        width = [(0, 0), (0, 1)] + [(0, 0)] * (array.ndim - 2)
        return np.pad(array, width, constant_values=value)

    wider = Columns(
        columns.times,
        widened(columns.boxes, 0.0),
        widened(columns.scores, 0.0),
        widened(columns.labels, -1),
        widened(columns.present, False),
        widened(columns.places, -1),
        columns.tracked,
    )
    return wider, widened(velocity, np.nan), widened(growth, np.nan)


def _chosen(clip: Clip, rate: float | None) -> NDArray[np.int64]:
    """Return the frames nearest to moments spread evenly over the clip."""
    count = len(clip)
    if rate is None or count == 0:
        return np.arange(count)
    wanted = max(2, round((clip.end - clip.start) * rate))
    if wanted >= count:
        return np.arange(count)
    places = (np.arange(wanted) + 0.5) / wanted * count - 0.5
    return np.round(places).astype(np.int64)


def _is_part(columns: Columns, names: NDArray[np.str_], part: str) -> NDArray[np.bool_]:
    """Tell which columns are body parts by what they are labelled most of the time."""
    labelled = (names[columns.labels] == part) & columns.present
    return np.asarray(labelled.sum(axis=0) * 2 > columns.present.sum(axis=0))


def _surest(
    columns: Columns, things: NDArray[np.int64], frames: NDArray[np.int64], most: int | None
) -> NDArray[np.int64]:
    if most is None or len(things) <= most:
        return things
    weight = (columns.present[frames] * np.maximum(columns.scores[frames], 1e-3)).mean(axis=0)
    best = np.argsort(-weight[things], kind="stable")[:most]
    return np.sort(things[best])


def _points(
    columns: Columns,
    velocity: Array,
    which: NDArray[np.bool_],
    frames: NDArray[np.int64],
    diagonal: float,
) -> tuple[Array, Array]:
    boxes = columns.boxes[:, which]
    centres = (boxes[..., :2] + boxes[..., 2:]) / 2 / diagonal
    seen = columns.present[:, which, None]
    # A part that is not tracked across frames still moves from frame to frame.
    rates = (
        velocity[:, which]
        if columns.tracked
        else track_rates(columns.times, centres, columns.present[:, which])
    )
    return np.where(seen, centres, np.nan)[frames], np.where(seen, rates, np.nan)[frames]


def _contains(boxes: Array, points: Array) -> NDArray[np.bool_]:
    """Return ``(T, J, K)``: whether point k lies inside box j."""
    x, y = points[:, None, :, 0], points[:, None, :, 1]
    left, top, right, bottom = (boxes[:, :, None, side] for side in range(4))
    return np.asarray((x >= left) & (x <= right) & (y >= top) & (y <= bottom))
