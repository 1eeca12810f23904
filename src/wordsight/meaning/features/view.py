"""`ClipView`: the objects of a clip at the sampled frames, in units of picture diagonals."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.features.columns import Columns, columns_of, motion_of, track_rates
from wordsight.records import Clip

__all__ = ["BODY_PARTS", "ClipView", "most_visible", "view_clip"]

BODY_PARTS = ("hand", "head")
"""Labels of body parts: boxes that features measure against, but that no noun refers to."""

Array = NDArray[np.float64]

_HEAD_SHARE = 0.4  # of a person's box, from the top: where the head is, also when sitting


@dataclass(frozen=True)
class ClipView:
    """T sampled frames of J objects that words may refer to; lengths in picture diagonals.

    The last object is always the unseen one: it is never present, nothing can be measured of it,
    and it stands for whatever the detector missed.

    Attributes:
        clip: The clip.
        frames: ``(T,)`` indices of the sampled frames.
        indices: ``(T, J)`` column of each object in the clip's own arrays, -1 where filled in.
        present: ``(T, J)`` whether the object has a box in the frame.
        tracked: Whether a column is one object throughout.
        boxes: ``(T, J, 4)`` corners in diagonals; undefined where not present.
        labels: ``(T, J)`` index into the clip's label names.
        scores: ``(T, J)`` the detector's confidence.
        velocity: ``(T, J, 2)`` diagonals per second, y downward; NaN where unknown.
        growth: ``(T, J, 2)`` rate of the logs of width and height per second; NaN where unknown.
        hands: ``(T, H, 2)`` centres of hands; NaN where not detected.
        hand_velocity: ``(T, H, 2)`` diagonals per second.
        heads: ``(T, K, 2)`` centres of heads.
    """

    clip: Clip
    frames: NDArray[np.int64]
    indices: NDArray[np.int64]
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
        x, y = self.heads[:, None, :, 0], self.heads[:, None, :, 1]
        left, top, right, bottom = (upper[:, :, None, side] for side in range(4))
        return np.asarray(((x >= left) & (x <= right) & (y >= top) & (y <= bottom)).any(axis=2))

    @property
    def times(self) -> Array:
        """``(T,)`` seconds of the sampled frames."""
        return self.clip.times[self.frames]


def view_clip(
    clip: Clip,
    *,
    rate: float | None = 6.0,
    max_objects: int | None = None,
    min_visible: float = 0.25,
    tracked: bool | None = None,
) -> ClipView:
    """Sample the frames of a clip and select its objects.

    Args:
        clip: The clip; it may be empty.
        rate: Frames per second to sample, evenly spread; all frames if None.
        max_objects: Keep at most this many objects, those visible longest with highest scores.
        min_visible: Tracks that are visible in a smaller share of the frames are left out.
        tracked: Whether columns follow identities; if None, where all detections have one.
    """
    columns = columns_of(clip, tracked=tracked)
    velocity, growth = motion_of(clip, columns)
    diagonal = float(np.hypot(*clip.detections.frame_size))
    frames = _sampled_frames(clip, rate)
    names = np.array([*clip.detections.label_names, ""])
    parts = {part: _is_part(columns, names, part) for part in BODY_PARTS}
    hands, hand_velocity = _part_centres(columns, velocity, parts["hand"], frames, diagonal)
    heads, _ = _part_centres(columns, velocity, parts["head"], frames, diagonal)
    objects = ~np.logical_or.reduce(list(parts.values()))
    objects &= columns.present[frames].any(axis=0)
    if columns.tracked and len(frames):
        objects &= columns.present[frames].mean(axis=0) >= min_visible
    kept = most_visible(
        np.flatnonzero(objects), columns.present[frames], columns.scores[frames], max_objects
    )
    columns, velocity, growth = _with_unseen(columns, velocity, growth)
    rows = np.ix_(frames, np.append(kept, columns.present.shape[1] - 1))
    return ClipView(
        clip,
        frames,
        columns.indices[rows],
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


def most_visible(
    objects: NDArray[np.int64], present: NDArray[np.bool_], scores: Array, most: int | None
) -> NDArray[np.int64]:
    """Return at most ``most`` of some columns, those visible longest with the highest scores."""
    if most is None or len(objects) <= most:
        return objects
    weight = (present * np.maximum(scores, 1e-3)).mean(axis=0)
    return np.sort(objects[np.argsort(-weight[objects], kind="stable")[:most]])


def _with_unseen(columns: Columns, velocity: Array, growth: Array) -> tuple[Columns, Array, Array]:
    """Append the column of the unseen object."""

    def widened(array: NDArray[Any], value: Any) -> NDArray[Any]:
        width = [(0, 0), (0, 1)] + [(0, 0)] * (array.ndim - 2)
        return np.pad(array, width, constant_values=value)

    wider = Columns(
        columns.times,
        widened(columns.boxes, 0.0),
        widened(columns.scores, 0.0),
        widened(columns.labels, -1),
        widened(columns.present, False),
        widened(columns.indices, -1),
        columns.tracked,
    )
    return wider, widened(velocity, np.nan), widened(growth, np.nan)


def _sampled_frames(clip: Clip, rate: float | None) -> NDArray[np.int64]:
    """Return the frames nearest to times spread evenly over the clip."""
    count = len(clip)
    if rate is None or count == 0:
        return np.arange(count)
    wanted = max(2, round((clip.end - clip.start) * rate))
    if wanted >= count:
        return np.arange(count)
    positions = (np.arange(wanted) + 0.5) / wanted * count - 0.5
    return np.round(positions).astype(np.int64)


def _is_part(columns: Columns, names: NDArray[np.str_], part: str) -> NDArray[np.bool_]:
    """Return which columns have the label of a body part in most of their frames."""
    labelled = (names[columns.labels] == part) & columns.present
    return np.asarray(labelled.sum(axis=0) * 2 > columns.present.sum(axis=0))


def _part_centres(
    columns: Columns,
    velocity: Array,
    which: NDArray[np.bool_],
    frames: NDArray[np.int64],
    diagonal: float,
) -> tuple[Array, Array]:
    boxes = columns.boxes[:, which]
    centres = (boxes[..., :2] + boxes[..., 2:]) / 2 / diagonal
    present = columns.present[:, which, None]
    # A part that is not tracked across frames still moves from frame to frame.
    rates = (
        velocity[:, which]
        if columns.tracked
        else track_rates(columns.times, centres, columns.present[:, which])
    )
    return np.where(present, centres, np.nan)[frames], np.where(present, rates, np.nan)[frames]
