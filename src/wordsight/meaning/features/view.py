"""`ClipView`: the objects of a clip at the sampled frames, in units of picture diagonals.

`Chains` joins tracks that may show the same thing, where boxes were linked by a program.
"""

from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.features.columns import (
    WIDE_WINDOW,
    WINDOW,
    Columns,
    columns_of,
    motion_of,
    runs,
    track_rates,
)
from wordsight.records import BODY_PARTS, Clip

__all__ = [
    "BODY_PARTS",
    "CARRIED",
    "Chains",
    "ClipView",
    "Participants",
    "carried_on",
    "chains_of",
    "most_visible",
    "view_clip",
    "with_pooled_labels",
]


CARRIED = 0.8
"""Seconds for which a tracklet is carried on before its first and after its last box."""

REACH = 0.2
"""Diagonals per root of a second that an object may move while it is not detected."""

_LONGEST = 3  # tracklets of a chain
_MOST = 12  # chains of several tracklets, of a clip


@dataclass(frozen=True)
class Chains:
    """K chains of the J tracklets of a clip.

    Attributes:
        sources: ``(T, K)`` the tracklet of each chain in each frame.
        members: ``(K, J)`` which tracklets a chain has.
    """

    sources: NDArray[np.intp]
    members: NDArray[np.bool_]

    @classmethod
    def single(cls, which: NDArray[np.intp], frames: int) -> "Chains":
        """Return some of the tracklets, each as a chain of its own."""
        sources = np.broadcast_to(which, (frames, len(which)))
        return cls(sources, np.eye(len(which), dtype=np.bool_))

    @property
    def overlap(self) -> NDArray[np.bool_]:
        """``(K, K)`` whether two chains have a tracklet in common."""
        return np.asarray((self.members.astype(int) @ self.members.T) > 0)

    def columns(self, tracklets: Columns) -> Columns:
        """Return the columns of all chains."""
        return replace(
            tracklets,
            boxes=self.of(tracklets.boxes),
            scores=self.of(tracklets.scores),
            labels=self.of(tracklets.labels),
            present=self.of(tracklets.present),
            indices=self.of(tracklets.indices),
            carried=self.of(tracklets.carried),
        )

    def of(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return ``(T, K, ...)`` of values ``(T, J, ...)`` of the tracklets."""
        return np.asarray(values[np.arange(len(values))[:, None], self.sources])


def carried_on(columns: Columns) -> Columns:
    """Carry tracklets on for a while before and after each run of boxes.

    A detector that misses an object does not move it: until it is found again it is most likely
    where it was seen last, and before it was found, where it was seen first. How it moves there is
    not known.
    """
    boxes, labels, carried = columns.boxes.copy(), columns.labels.copy(), columns.carried.copy()
    for j in range(carried.shape[1]):
        present = columns.present[:, j]
        edges = np.array([n for run in runs(present) for n in (run[0], run[1] - 1)], dtype=np.intp)
        if not len(edges):
            continue
        apart = np.abs(columns.times[:, None] - columns.times[edges])
        carried[:, j] = ~present & (apart.min(axis=1) <= CARRIED)
        nearest = edges[apart.argmin(axis=1)][carried[:, j]]
        boxes[carried[:, j], j] = boxes[nearest, j]
        labels[carried[:, j], j] = labels[nearest, j]
    present = columns.present | carried
    return replace(columns, boxes=boxes, labels=labels, present=present, carried=carried)


def with_pooled_labels(columns: Columns) -> Columns:
    """Give all boxes of a tracklet the class that its detections have most, by their scores.

    A tracklet is one thing, whatever single boxes are taken for; and tracklets of one thing are
    only joined where they agree on what it is.
    """
    labels = columns.labels.copy()
    for j in range(labels.shape[1]):
        detected = columns.indices[:, j] >= 0
        if detected.any():
            weights = np.maximum(columns.scores[detected, j], 1e-3)
            labels[columns.present[:, j], j] = np.bincount(labels[detected, j], weights).argmax()
    return replace(columns, labels=labels)


def chains_of(columns: Columns, diagonal: float) -> Chains:
    """Return every tracklet as a chain, and chains of tracklets that can be one object.

    Args:
        columns: The tracklets.
        diagonal: Of the picture, in pixels.
    """
    there = [np.flatnonzero(column) for column in columns.present.T]
    count = len(there)
    after = {
        a: [b for b in range(count) if _can_follow(columns, a, b, there, diagonal)]
        for a in range(count)
    }
    joined: list[tuple[int, ...]] = []
    longest: list[tuple[int, ...]] = [(j,) for j in range(count)]
    for _ in range(_LONGEST - 1):
        longest = [(*chain, b) for chain in longest for b in after[chain[-1]]]
        joined += longest
    chains = [*((j,) for j in range(count)), *joined[:_MOST]]
    members = np.zeros((len(chains), count), dtype=np.bool_)
    sources = np.zeros((len(columns.times), len(chains)), dtype=np.intp)
    for number, chain in enumerate(chains):
        members[number, list(chain)] = True
        sources[:, number] = chain[0]
        for a, b in pairwise(chain):
            sources[(there[a][-1] + there[b][0] + 1) // 2 :, number] = b
    return Chains(sources, members)


def _can_follow(
    columns: Columns, a: int, b: int, there: list[NDArray[np.intp]], diagonal: float
) -> bool:
    """Whether one tracklet can be what another was: soon after it, near it, of the same class."""
    if not len(there[a]) or not len(there[b]) or there[a][-1] >= there[b][0]:
        return False
    last, first = there[a][-1], there[b][0]
    gap = float(columns.times[first] - columns.times[last])
    if gap > 2 * CARRIED or columns.labels[last, a] != columns.labels[first, b]:
        return False
    boxes = np.stack([columns.boxes[last, a], columns.boxes[first, b]])
    step = np.diff((boxes[:, :2] + boxes[:, 2:]) / 2, axis=0)[0]
    return bool(np.hypot(*step) <= REACH * np.sqrt(gap) * diagonal)


Participants = Literal["tracks", "tracklets", "boxes"]
"""What a participant may be: one track throughout; a chain of tracklets that are carried on where
they are not detected; or any boxes, one in each frame."""

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
        columns: ``(J,)`` which of the clip's columns each object is; see :mod:`.columns`.
        indices: ``(T, J)`` column of each object in the clip's own arrays, -1 where filled in.
        present: ``(T, J)`` whether the object has a box in the frame.
        carried: ``(T, J)`` where that box is the nearest one of a tracklet that was not detected.
        participants: What a participant may be.
        overlap: ``(J, J)`` which objects are the same, or have a part in common; the unseen one
            is none of them.
        boxes: ``(T, J, 4)`` corners in diagonals; undefined where not present.
        labels: ``(T, J)`` index into the clip's label names.
        scores: ``(T, J)`` the detector's confidence.
        velocity: ``(T, J, 2)`` diagonals per second, y downward; NaN where unknown.
        growth: ``(T, J, 2)`` rate of the logs of width and height per second; NaN where unknown.
        hands: ``(T, H, 2)`` centres of hands; NaN where not detected.
        hand_velocity: ``(T, H, 2)`` diagonals per second.
        heads: ``(T, K, 2)`` centres of heads.
        parts: Body parts that are objects as well.
    """

    clip: Clip
    frames: NDArray[np.int64]
    columns: NDArray[np.int64]
    indices: NDArray[np.int64]
    present: NDArray[np.bool_]
    carried: NDArray[np.bool_]
    participants: Participants
    overlap: NDArray[np.bool_]
    boxes: Array
    labels: NDArray[np.int64]
    scores: Array
    velocity: Array
    growth: Array
    hands: Array
    hand_velocity: Array
    heads: Array
    parts: tuple[str, ...] = ()

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
    def tracked(self) -> bool:
        """Whether a participant is one column throughout."""
        return self.participants != "boxes"

    @property
    def times(self) -> Array:
        """``(T,)`` seconds of the sampled frames."""
        return self.clip.times[self.frames]

    def all_columns(self) -> Columns:
        """Return the objects, and others, in all frames of the clip; ``columns`` numbers them."""
        columns = columns_of(self.clip, tracked=self.tracked)
        still = np.zeros((*columns.present.shape, 2))
        which = _things(_body_parts(self.clip, columns), self.parts)
        diagonal = float(np.hypot(*self.clip.detections.frame_size))
        return _objects(columns, still, still, which, self.participants, diagonal)[0]

    def cut(self, frames: slice, objects: NDArray[Any]) -> "ClipView":
        """Return some of the frames with some of the objects."""
        per_frame = ("frames", "hands", "hand_velocity", "heads")
        parts = {name: getattr(self, name)[frames] for name in per_frame}
        parts |= {"columns": self.columns[objects], "overlap": self.overlap[objects][:, objects]}
        for field in fields(self):
            if field.name not in (*parts, "clip", "participants", "parts"):
                parts[field.name] = getattr(self, field.name)[frames][:, objects]
        return replace(self, **parts)


def view_clip(
    clip: Clip,
    *,
    rate: float | None = 6.0,
    max_objects: int | None = None,
    min_visible: float = 0.25,
    participants: Participants | None = None,
    parts: Collection[str] = (),
) -> ClipView:
    """Sample the frames of a clip and select its objects.

    Args:
        clip: The clip; it may be empty.
        rate: Frames per second to sample, evenly spread; all frames if None.
        max_objects: Keep at most this many objects, those visible longest with highest scores.
        min_visible: Tracks that are visible in a smaller share of the frames are left out.
        participants: Whether identities are those of tracks or of tracklets, or are not looked
            at; if None, tracks where all detections have one, else boxes.
        parts: Body parts that are objects as well, because sentences mention them.
    """
    columns = columns_of(clip, tracked=None if participants is None else participants != "boxes")
    if participants is None or not columns.tracked:
        participants = "tracks" if columns.tracked else "boxes"
    diagonal = float(np.hypot(*clip.detections.frame_size))
    frames = _sampled_frames(clip, rate)
    window = WIDE_WINDOW if participants == "tracklets" else WINDOW
    velocity, growth = motion_of(clip, columns, window)
    of_body = _body_parts(clip, columns)
    hands, hand_velocity = _part_centres(columns, velocity, of_body["hand"], frames, diagonal)
    heads, _ = _part_centres(columns, velocity, of_body["head"], frames, diagonal)
    things = _things(of_body, parts)
    columns, velocity, growth, overlap = _objects(
        columns, velocity, growth, things, participants, diagonal
    )
    seen = (columns.present & ~columns.carried)[frames]
    objects = seen.any(axis=0)
    if columns.tracked and len(frames):
        objects &= seen.mean(axis=0) >= min_visible
    kept = most_visible(np.flatnonzero(objects), seen, columns.scores[frames], max_objects)
    columns, velocity, growth = _with_unseen(columns, velocity, growth)
    kept = np.append(kept, columns.present.shape[1] - 1)
    rows = np.ix_(frames, kept)
    return ClipView(
        clip,
        frames,
        kept,
        columns.indices[rows],
        columns.present[rows],
        columns.carried[rows],
        participants,
        np.pad(overlap, (0, 1))[np.ix_(kept, kept)],
        columns.boxes[rows] / diagonal,
        columns.labels[rows],
        columns.scores[rows],
        velocity[rows],
        growth[rows],
        hands,
        hand_velocity,
        heads,
        tuple(parts),
    )


def _body_parts(clip: Clip, columns: Columns) -> dict[str, NDArray[np.bool_]]:
    names = np.array([*clip.detections.label_names, ""])
    return {part: _is_part(columns, names, part) for part in BODY_PARTS}


def _things(of_body: dict[str, NDArray[np.bool_]], parts: Collection[str]) -> NDArray[np.bool_]:
    """Return which columns are no body part, or one that sentences mention."""
    return ~np.logical_or(*(of_body[part] & (part not in parts) for part in BODY_PARTS))


def _objects(
    columns: Columns,
    velocity: Array,
    growth: Array,
    which: NDArray[np.bool_],
    participants: Participants,
    diagonal: float,
) -> tuple[Columns, Array, Array, NDArray[np.bool_]]:
    """Return columns of what participants may be, their motion, and which are not distinct."""
    tracklets = Chains.single(np.flatnonzero(which), len(columns.times))
    columns, velocity, growth = (
        tracklets.columns(columns),
        tracklets.of(velocity),
        tracklets.of(growth),
    )
    if participants != "tracklets":
        return columns, velocity, growth, np.eye(columns.present.shape[1], dtype=np.bool_)
    columns = with_pooled_labels(columns)
    chains = chains_of(columns, diagonal)
    columns = chains.columns(carried_on(columns))
    return columns, chains.of(velocity), chains.of(growth), chains.overlap


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
        widened(columns.carried, False),
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
